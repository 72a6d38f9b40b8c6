/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store bootstrap: PEs meet at PE 0, by address or by unique id. One thread per process runs the loop with all
 * connections; PE 0's own client talks to its server over a socket pair, which no stranger can delay or take, and
 * which needs neither the network nor encryption.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/store_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/bootstrap/uid/uid.h"

#define JOIN_SLACK_MS 2000 /* the loop keeps the deadline; this is for a loop that does not run */
#define GOODBYE_MS    2000
#define CLOSE_MS      2000 /* PE 0 waits for the goodbyes of others */
#define EXIT_MS       2500 /* the server takes up to 2 s to send the word */
#define ENDING_MS     500  /* PEs that end on their own at the same time are not disturbed, nor cried over */
#define EXPIRY_MS     3600000
#define OTHER_FDS     16 /* epoll, eventfd, listener, socket pair and so on */

/* --- What happens unasked --- */

static void joined(void *owner, int code, const char *text)
{
    store_t *store = owner;
    pthread_mutex_lock(&store->lock);
    store->joined = true;
    store->join_code = code;
    snprintf(store->join_text, sizeof store->join_text, "%s", text);
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

static void end_process(void *owner)
{
    store_t *store = owner;
    log_fatal("%s; this PE ends as well (SHMEM_ON_PEER_DEATH=error would keep it running)", store->death);
    _exit(1);
}

static void end_soon(store_t *store)
{
    if (store->armed && store->stop_on_death && store->death[0] != 0 && !store->ending.set)
        aclshmemi_store_timer_set(store->loop, &store->ending, aclshmemi_deadline_after_ms(ENDING_MS));
}

static void death(void *owner, int pe, const char *text)
{
    store_t *store = owner;
    int none = -1;
    atomic_compare_exchange_strong(&store->bs->failed_pe, &none, pe);
    if (store->death[0] == 0)
        snprintf(store->death, sizeof store->death, "%s", text);
    end_soon(store);
}

static void arm(void *owner)
{
    store_t *store = owner;
    store->armed = true;
    end_soon(store); /* somebody may have died between the last collective and this */
}

/* Nothing of the application runs any more: its handlers and buffers belong to threads we know nothing about. */
static void exit_asked(void *owner, int pe, int status)
{
    (void)owner;
    log_info("PE %d ends the job with status %d", pe, status);
    _exit(status);
}

static void look_at_certificates(void *owner)
{
    store_t *store = owner;
    aclshmemi_tls_context_check_expiry(store->tls);
    aclshmemi_store_timer_set(store->loop, &store->expiry, aclshmemi_deadline_after_ms(EXPIRY_MS));
}

static const aclshmemi_store_client_ops_t client_ops = {.joined = joined, .death = death, .exit = exit_asked};

/* --- Open --- */

static int init_waiting(store_t *store)
{
    pthread_condattr_t attr;
    int error = pthread_condattr_init(&attr);
    if (error == 0) {
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        error = pthread_cond_init(&store->changed, &attr);
        pthread_condattr_destroy(&attr);
    }
    if (error == 0)
        error = pthread_mutex_init(&store->lock, NULL);
    errno = error;
    return error == 0 ? 0 : fail(ACLSHMEM_INNER_ERROR, "cannot create a condition to wait on: %m");
}

static void warn_plain(const store_t *store)
{
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    if (!store->tls && !aclshmemi_addr_is_loopback(&store->listener.addr))
        log_warn(
            "PE 0 listens on %s without TLS: everybody who reaches that address can take part in this job",
            aclshmemi_addr_print(&store->listener.addr, text));
}

/* The server, and the other end of the pair it has been given. */
static int open_server(store_t *store, const aclshmemi_bootstrap_params_t *params,
                       const aclshmemi_store_meeting_t *meeting, int *client_fd)
{
    int pair[2];
    char what[64];
    aclshmemi_store_server_params_t server = {.n_pes = params->n_pes,
                                              .magic = meeting->magic,
                                              .agree = params->agree,
                                              .build = ACLSHMEMI_VERSION_TEXT,
                                              .tree_above = (uint32_t)params->env->tree_above,
                                              .fanout = (uint32_t)params->env->tree_fanout,
                                              .wait_report_ms = params->env->wait_report_ms,
                                              .tls = store->tls};
    snprintf(what, sizeof what, "PE 0 of %d PEs", params->n_pes);
    TRY(aclshmemi_store_reserve_descriptors((uint64_t)params->n_pes + OTHER_FDS, what,
                                            ACLSHMEMI_STORE_WAITING_MAX, &server.waiting_max));
    server.waiting_max = server.waiting_max > 0 ? server.waiting_max : 1;
    TRY(aclshmemi_store_listener_open(params, meeting, &store->listener));
    server.listen_fd = store->listener.fd;
    warn_plain(store);
    TRY(aclshmemi_store_server_create(store->loop, &server, &store->server));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot create a socket pair: %m");
    if (aclshmemi_store_fd_keep_high(&pair[0]) != 0 || aclshmemi_store_fd_keep_high(&pair[1]) != 0) {
        aclshmemi_net_close(&pair[0]);
        aclshmemi_net_close(&pair[1]);
        return fail(ACLSHMEM_INNER_ERROR, "cannot move a socket to a free descriptor: %m");
    }
    int rc = aclshmemi_store_server_admit(store->server, pair[0]);
    if (rc != 0) {
        aclshmemi_net_close(&pair[1]);
        return rc;
    }
    *client_fd = pair[1];
    return 0;
}

static int open_client(store_t *store, const aclshmemi_bootstrap_params_t *params,
                       const aclshmemi_store_meeting_t *meeting, int fd)
{
    aclshmemi_store_client_params_t client = {.pe = params->pe,
                                              .n_pes = params->n_pes,
                                              .magic = meeting->magic,
                                              .agree = params->agree,
                                              .build = ACLSHMEMI_VERSION_TEXT,
                                              .tls = store->tls,
                                              .n_addrs = meeting->n_addrs,
                                              .fd = fd,
                                              .join_deadline =
                                                  aclshmemi_deadline_after_ms(store->init_timeout_ms),
                                              .operation_timeout_ms = store->operation_timeout_ms};
    memcpy(client.addrs, meeting->addrs, sizeof client.addrs);
    return aclshmemi_store_client_create(store->loop, &client, &client_ops, store, &store->client);
}

static int wait_joined(store_t *store, const aclshmemi_store_meeting_t *meeting)
{
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(store->init_timeout_ms + JOIN_SLACK_MS);
    uint64_t since_ns = aclshmemi_clock_ns();
    struct timespec at = {.tv_sec = (time_t)(deadline / ACLSHMEMI_NS_PER_S),
                          .tv_nsec = (long)(deadline % ACLSHMEMI_NS_PER_S)};
    int rc = 0;
    pthread_mutex_lock(&store->lock);
    while (!store->joined && rc == 0)
        rc = pthread_cond_timedwait(&store->changed, &store->lock, &at);
    bool answered = store->joined;
    int code = store->join_code;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    memcpy(text, store->join_text, sizeof text);
    pthread_mutex_unlock(&store->lock);
    if (!answered)
        return fail(ACLSHMEM_INNER_ERROR, "the thread of the control plane does not answer");
    if (code == ACLSHMEM_INNER_ERROR)
        return fail(code, "cannot join PE 0 at %s: %s (gave up after %.1f s of %.1f)", meeting->name, text,
                    (double)(aclshmemi_clock_ns() - since_ns) / (double)ACLSHMEMI_NS_PER_S,
                    (double)store->init_timeout_ms / 1000);
    return code == 0 ? 0 : fail(code, "%s", text);
}

/* Undoes whatever was done; no thread runs the loop. */
static void destroy(store_t *store, bool id_again)
{
    if (store->loop) {
        aclshmemi_store_timer_clear(store->loop, &store->ending);
        aclshmemi_store_timer_clear(store->loop, &store->expiry);
    }
    aclshmemi_store_client_destroy(store->client);
    aclshmemi_store_server_destroy(store->server);
    aclshmemi_store_loop_destroy(store->loop);
    aclshmemi_store_listener_release(&store->listener, id_again);
    aclshmemi_tls_context_destroy(store->tls);
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* An id made on another PE than 0 leads everybody to a place where nobody will ever listen. */
static int check_maker(const aclshmemi_bootstrap_params_t *params, const aclshmemi_store_meeting_t *meeting)
{
    int fd = meeting->by_id && params->pe != 0 ? aclshmemi_uid_take_socket(meeting->magic) : -1;
    if (fd < 0)
        return 0;
    aclshmemi_uid_return_socket(meeting->magic, fd);
    return fail(
        ACLSHMEM_INVALID_PARAM,
        "the unique id was made by this process, which is PE %d; the process that makes it must be PE 0",
        params->pe);
}

static int open_parts(store_t *store, const aclshmemi_bootstrap_params_t *params,
                      const aclshmemi_store_meeting_t *meeting)
{
    int fd = -1;
    uint32_t unused = 0;
    TRY(check_maker(params, meeting));
    TRY(aclshmemi_tls_context_create(params->env, meeting->by_id ? meeting->secret : NULL, &store->tls));
    TRY(aclshmemi_store_loop_create(&store->loop));
    if (params->pe == 0)
        TRY(open_server(store, params, meeting, &fd));
    else
        TRY(aclshmemi_store_reserve_descriptors((uint64_t)params->env->tree_fanout + OTHER_FDS, "a PE", 64,
                                                &unused));
    TRY(open_client(store, params, meeting, fd));
    if (store->tls) /* plain has nothing that could expire */
        aclshmemi_store_timer_set(store->loop, &store->expiry, aclshmemi_deadline_after_ms(EXPIRY_MS));
    return aclshmemi_store_loop_start(store->loop);
}

static int store_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params)
{
    aclshmemi_store_meeting_t meeting;
    TRY(aclshmemi_store_meeting_find(params, &meeting));
    store_t *store = calloc(1, sizeof *store);
    int rc = store ? 0 : fail(ACLSHMEM_MALLOC_FAILED, "no memory for the control plane");
    if (rc == 0)
        rc = init_waiting(store);
    if (rc != 0) {
        free(store);
        goto wipe;
    }
    store->bs = bs;
    store->listener.fd = store->listener.origin_fd = -1;
    store->init_timeout_ms = params->init_timeout_ms;
    store->operation_timeout_ms = params->operation_timeout_ms;
    store->stop_on_death = params->env->on_peer_death == 0;
    store->ending = (aclshmemi_store_timer_t){.expire = end_process, .owner = store};
    store->expiry = (aclshmemi_store_timer_t){.expire = look_at_certificates, .owner = store};
    rc = open_parts(store, params, &meeting);
    if (rc == 0)
        rc = wait_joined(store, &meeting);
    if (rc != 0) {
        aclshmemi_store_loop_stop(store->loop);
        destroy(store, true);
        goto wipe;
    }
    bs->state = store;
    snprintf(bs->describe, sizeof bs->describe, "store %.90s, %s", meeting.name,
             aclshmemi_tls_context_describe(store->tls));
wipe:
    explicit_bzero(meeting.secret, sizeof meeting.secret);
    return rc;
}

/* --- The other operations --- */

static int store_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes)
{
    uint64_t args[] = {bytes};
    aclshmemi_fingerprint_t print = aclshmemi_fingerprint("allgather", "bytes", 1, args);
    return aclshmemi_store_collective(bs->state, ACLSHMEMI_STORE_ALLGATHER, &print, send, recv, bytes);
}

static int store_barrier(aclshmemi_bootstrap_t *bs, const aclshmemi_fingerprint_t *fingerprint)
{
    return aclshmemi_store_collective(bs->state, ACLSHMEMI_STORE_BARRIER, fingerprint, NULL, NULL, 0);
}

static void store_arm(aclshmemi_bootstrap_t *bs)
{
    store_t *store = bs->state;
    if (atomic_exchange(&store->arm_asked, true))
        return; /* the task is on its way, or was there */
    store->arm = (aclshmemi_store_task_t){.run = arm, .owner = store};
    aclshmemi_store_loop_post(store->loop, &store->arm);
}

static void store_abort(aclshmemi_bootstrap_t *bs, int status)
{
    aclshmemi_store_exit_all(bs->state, status, EXIT_MS);
}

static void store_close(aclshmemi_bootstrap_t *bs)
{
    store_t *store = bs->state;
    aclshmemi_store_goodbye(store, aclshmemi_status_last_text(), GOODBYE_MS);
    if (store->server)
        aclshmemi_store_close_server(store, CLOSE_MS);
    aclshmemi_store_loop_stop(store->loop);
    destroy(store, false);
}

/* The thread is gone and its locks may be held for ever: descriptors are closed, memory stays. */
static void store_forget(aclshmemi_bootstrap_t *bs)
{
    store_t *store = bs->state;
    aclshmemi_store_loop_forget(store->loop);
    if (store->listener.of_id && store->listener.origin_fd >= 0)
        close(store->listener.origin_fd);
}

const aclshmemi_bootstrap_ops_t aclshmemi_bootstrap_store = {
    .name = "store",
    .open = store_open,
    .allgather = store_allgather,
    .barrier = store_barrier,
    .arm = store_arm,
    .abort = store_abort,
    .close = store_close,
    .forget = store_forget,
};
