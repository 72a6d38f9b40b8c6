/* SPDX-License-Identifier: Apache-2.0 */
/* The server's peers: who may join, who is refused and why, and which frame goes where. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/server_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "host/bootstrap/uid/uid.h"

void aclshmemi_store_server_push(aclshmemi_store_server_t *server, const aclshmemi_store_note_t *note,
                                 int except)
{
    for (int pe = 0; pe < server->n_pes; pe++) {
        if (pe != except && server->peers[pe].state == PEER_JOINED)
            aclshmemi_store_link_send_note(server->peers[pe].link, ACLSHMEMI_STORE_EVENT, 0, 0, note);
    }
}

void aclshmemi_store_server_reply(peer_t *peer, int type, int result, uint32_t sequence, int culprit,
                                  const char *text)
{
    aclshmemi_store_note_t note = {.pe = culprit, .value = result};
    snprintf(note.text, sizeof note.text, "%s", text);
    aclshmemi_store_link_send_note(peer->link, type, result, sequence, &note);
}

/* --- Frames of those who joined --- */

static int peer_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    peer_t *peer = owner;
    if (peer->state != PEER_JOINED)
        return 0; /* said goodbye and has nothing more to say */
    switch (frame->header.type) {
    case ACLSHMEMI_STORE_TABLE:
        return aclshmemi_store_server_table(peer, frame);
    case ACLSHMEMI_STORE_ARRIVE:
        return aclshmemi_store_server_arrive(peer, frame);
    case ACLSHMEMI_STORE_UP:
        return aclshmemi_store_server_up(peer, frame);
    case ACLSHMEMI_STORE_JOIN:
        return aclshmemi_store_server_join(peer, frame);
    case ACLSHMEMI_STORE_ADOPT:
        return aclshmemi_store_server_adopt(peer, frame);
    case ACLSHMEMI_STORE_LOST:
        return aclshmemi_store_server_lost(peer, frame);
    case ACLSHMEMI_STORE_GOODBYE:
        return aclshmemi_store_server_goodbye(peer, frame);
    case ACLSHMEMI_STORE_EXIT:
        return aclshmemi_store_server_exit(peer, frame);
    default:
        return ACLSHMEMI_STORE_BAD_REQUEST;
    }
}

static const aclshmemi_store_link_ops_t peer_ops = {.frame = peer_frame,
                                                    .closed = aclshmemi_store_server_broke};

/* --- HELLO --- */

static void print_fingerprint(const aclshmemi_fingerprint_t *mine, const aclshmemi_fingerprint_t *theirs,
                              int pe, char *out, size_t size)
{
    char both[400];
    aclshmemi_fingerprint_explain(mine, 0, theirs, pe, both, sizeof both);
    snprintf(out, size, "the PEs do not agree: %s", both);
}

/* Why a process that belongs to this job cannot be part of it; false when it can. */
static bool incompatible(const aclshmemi_store_server_t *server, const aclshmemi_store_hello_t *h, char *out,
                         size_t size)
{
    if (h->n_pes != (uint32_t)server->n_pes)
        snprintf(out, size, "PE %u (host %s, process %u) was started for %u PEs, PE 0 for %d", h->rank,
                 h->host, h->pid, h->n_pes, server->n_pes);
    else if (h->rank >= (uint32_t)server->n_pes)
        snprintf(out, size, "a process (host %s, process %u) claims to be PE %u, but the PEs are 0..%d",
                 h->host, h->pid, h->rank, server->n_pes - 1);
    else if (strcmp(h->build, server->build) != 0)
        snprintf(out, size, "PE %u (host %s, process %u) uses build %s of the library, PE 0 uses %s", h->rank,
                 h->host, h->pid, h->build, server->build);
    else if (memcmp(&h->agree, &server->agree, sizeof h->agree) != 0)
        print_fingerprint(&server->agree, &h->agree, (int)h->rank, out, size);
    else if (server->peers[h->rank].state != PEER_ABSENT)
        snprintf(out, size, "two processes claim to be PE %u: host %s, process %u, and host %s, process %u",
                 h->rank, server->peers[h->rank].host, server->peers[h->rank].pid, h->host, h->pid);
    else
        return false;
    return true;
}

/* One PE that does not fit spoils the job for all, so all are told, now. */
static void refuse_job(aclshmemi_store_server_t *server, aclshmemi_store_caller_t *caller,
                       const aclshmemi_store_hello_t *hello, uint32_t sequence, const char *why)
{
    aclshmemi_store_caller_refuse(caller, sequence, ACLSHMEM_INVALID_PARAM, why);
    server->refused = true;
    aclshmemi_store_server_condemn(server, ACLSHMEM_INVALID_PARAM, (int)hello->rank, why);
    for (int pe = 0; pe < server->n_pes; pe++)
        server->peers[pe].told = server->peers[pe].state == PEER_JOINED || pe == (int)hello->rank;
}

/* Not now: the caller tries again until its own deadline, by when another job may have this port. */
static void put_off(aclshmemi_store_caller_t *caller, uint32_t sequence, const char *why)
{
    aclshmemi_store_caller_refuse(caller, sequence, ACLSHMEM_BOOTSTRAP_ERROR, why);
}

/* The job has failed. A PE that hears it for the first time fails with the others; one that comes again has started
 * over, and we are only in its way. */
static void tell_verdict(aclshmemi_store_server_t *server, aclshmemi_store_caller_t *caller,
                         const aclshmemi_store_hello_t *hello, uint32_t sequence)
{
    peer_t *peer = hello->rank < (uint32_t)server->n_pes ? &server->peers[hello->rank] : NULL;
    if (!peer || peer->told || peer->state != PEER_ABSENT) {
        put_off(caller, sequence, "PE 0 has not yet left a job that failed");
        return;
    }
    peer->told = true;
    aclshmemi_store_caller_refuse(caller, sequence, server->code, server->text);
}

static void welcome(aclshmemi_store_server_t *server, peer_t *peer, uint32_t sequence)
{
    aclshmemi_store_welcome_t answer = {.epoch = server->epoch, .fanout = server->fanout};
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_welcome_encode(&answer, &body);
    /* Out of memory: no answer, the link ends with its caller's patience, which is all that can be done. */
    if (!body.bad)
        aclshmemi_store_link_send(peer->link, ACLSHMEMI_STORE_HELLO, 0, sequence, body.data, body.size);
    aclshmemi_writer_fini(&body);
}

static void join(aclshmemi_store_server_t *server, aclshmemi_store_caller_t *caller,
                 const aclshmemi_store_hello_t *hello, uint32_t sequence)
{
    peer_t *peer = &server->peers[hello->rank];
    log_debug("PE %u joined from %s, host %s, process %u", hello->rank, aclshmemi_store_caller_from(caller),
              hello->host, hello->pid);
    peer->link = aclshmemi_store_caller_take(caller);
    peer->state = PEER_JOINED;
    peer->pid = hello->pid;
    peer->last_ns = aclshmemi_clock_ns();
    memcpy(peer->host, hello->host, sizeof peer->host);
    server->joined++;
    server->joined_ever++;
    aclshmemi_store_link_give(peer->link, &peer_ops, peer, ACLSHMEMI_STORE_BODY_MAX);
    welcome(server, peer, sequence);
    aclshmemi_store_link_set_epoch(peer->link, server->epoch); /* after the answer, which carries none */
}

static void another_job(aclshmemi_store_server_t *server, aclshmemi_store_caller_t *caller, uint64_t magic,
                        uint32_t sequence)
{
    char why[ACLSHMEMI_STORE_TEXT_MAX];
    uint32_t theirs = aclshmemi_magic_hash(magic), ours = aclshmemi_magic_hash(server->magic);
    snprintf(why, sizeof why, "it belongs to another job (id %08x, ours is %08x)", theirs, ours);
    aclshmemi_store_caller_count(caller, why);
    snprintf(why, sizeof why, "PE 0 there belongs to another job (id %08x, ours is %08x)", ours, theirs);
    put_off(caller, sequence, why);
}

static void hello(void *owner, aclshmemi_store_caller_t *caller, const aclshmemi_store_hello_t *h,
                  uint32_t sequence)
{
    aclshmemi_store_server_t *server = owner;
    char why[ACLSHMEMI_STORE_TEXT_MAX];
    bool known = h->version == ACLSHMEMI_STORE_VERSION;
    if (known && (h->magic != server->magic || h->role != ACLSHMEMI_STORE_ROLE_CONTROL)) {
        another_job(server, caller, h->magic, sequence);
    } else if (server->exiting || (server->closing && !server->refused)) {
        put_off(caller, sequence, "PE 0 there is leaving its job");
    } else if (server->code != 0) {
        tell_verdict(server, caller, h, sequence);
    } else if (server->joined_ever == server->n_pes) {
        snprintf(why, sizeof why, "it wants to be PE %u of a job whose %d PEs are all here", h->rank,
                 server->n_pes);
        aclshmemi_store_caller_count(caller, why);
        put_off(caller, sequence, "the job that PE 0 there belongs to is complete without this PE");
    } else if (!known) {
        snprintf(why, sizeof why, "a PE at %s speaks version %u of the store's protocol, PE 0 speaks %d",
                 aclshmemi_store_caller_from(caller), h->version, ACLSHMEMI_STORE_VERSION);
        refuse_job(server, caller, h, sequence, why);
    } else if (incompatible(server, h, why, sizeof why)) {
        refuse_job(server, caller, h, sequence, why);
    } else {
        join(server, caller, h, sequence);
    }
}

static const aclshmemi_store_door_ops_t door_ops = {.hello = hello};

/* --- Life --- */

static int draw_epoch(uint32_t *epoch)
{
    *epoch = 0;
    while (*epoch == 0) { /* 0 means: none yet */
        ssize_t got = getrandom(epoch, sizeof *epoch, 0);
        if (got != (ssize_t)sizeof *epoch && errno != EINTR)
            return fail(ACLSHMEM_INNER_ERROR, "the system gives no random numbers: %m");
    }
    return 0;
}

static void set_up(aclshmemi_store_server_t *server, aclshmemi_store_loop_t *loop,
                   const aclshmemi_store_server_params_t *params)
{
    server->loop = loop;
    server->n_pes = params->n_pes;
    server->magic = params->magic;
    server->agree = params->agree;
    server->fanout = (uint32_t)params->n_pes > params->tree_above ? params->fanout : 0;
    server->wait_report_ms = params->wait_report_ms;
    server->culprit = server->exit_by = server->lost_pe = -1;
    snprintf(server->build, sizeof server->build, "%s", params->build);
    server->end = (aclshmemi_store_timer_t){.expire = aclshmemi_store_server_look_at_end, .owner = server};
    server->lost = (aclshmemi_store_timer_t){.expire = aclshmemi_store_server_judge_lost, .owner = server};
    for (int pe = 0; pe < params->n_pes; pe++) {
        server->peers[pe].server = server;
        server->peers[pe].at_root = server->fanout == 0 || (uint32_t)pe <= server->fanout;
    }
}

int aclshmemi_store_server_create(aclshmemi_store_loop_t *loop, const aclshmemi_store_server_params_t *params,
                                  aclshmemi_store_server_t **out)
{
    int listen_fd = params->listen_fd;
    int rc = ACLSHMEM_MALLOC_FAILED;
    aclshmemi_store_server_t *server = calloc(1, sizeof *server);
    if (!server) {
        aclshmemi_net_close(&listen_fd);
        return fail(rc, "no memory for the server of %d PEs", params->n_pes);
    }
    server->peers = calloc((size_t)params->n_pes, sizeof *server->peers);
    server->assembly.have = calloc((size_t)params->n_pes, sizeof *server->assembly.have);
    if (!server->peers || !server->assembly.have) {
        rc = fail(rc, "no memory for the server of %d PEs", params->n_pes);
        goto free_server;
    }
    set_up(server, loop, params);
    rc = draw_epoch(&server->epoch);
    if (rc == 0)
        rc = aclshmemi_store_table_create(loop, &server->table);
    if (rc != 0)
        goto free_server;
    rc = aclshmemi_store_door_create(loop, params->tls, listen_fd, params->waiting_max, &door_ops, server,
                                     &server->door);
    listen_fd = -1;
    if (rc != 0)
        goto free_server;
    *out = server;
    return 0;

free_server:
    aclshmemi_net_close(&listen_fd);
    aclshmemi_store_server_destroy(server);
    return rc;
}

int aclshmemi_store_server_admit(aclshmemi_store_server_t *server, int fd)
{
    return aclshmemi_store_door_admit(server->door, fd);
}

void aclshmemi_store_server_destroy(aclshmemi_store_server_t *server)
{
    if (!server)
        return;
    aclshmemi_store_door_destroy(server->door);
    for (int pe = 0; server->peers && pe < server->n_pes; pe++) {
        aclshmemi_store_server_drop_requests(&server->peers[pe]);
        aclshmemi_store_link_destroy(server->peers[pe].link);
    }
    aclshmemi_store_server_free_rounds(server);
    aclshmemi_store_timer_clear(server->loop, &server->end);
    aclshmemi_store_timer_clear(server->loop, &server->lost);
    aclshmemi_store_blob_unref(server->assembly.down);
    free(server->assembly.have);
    aclshmemi_store_table_destroy(server->table);
    free(server->peers);
    free(server);
}

size_t aclshmemi_store_server_joined(const aclshmemi_store_server_t *server)
{
    return server->joined;
}

size_t aclshmemi_store_server_keys(const aclshmemi_store_server_t *server)
{
    return aclshmemi_store_table_keys(server->table);
}
