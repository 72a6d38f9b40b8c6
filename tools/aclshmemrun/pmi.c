/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMI-1 server each PE talks to over its own socket: one line of text per request, one per answer. Enough of it
 * for our library and for programs of MPICH and its relatives. What a PE sends is never trusted: lines, keys, values
 * and their sum are bounded, and what cannot be understood is answered with an error or ends the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

enum { LINE_MOST = 4096, IN_BYTES = 16 << 10, OUT_BYTES = 16 << 10, KEY_MOST = 64, VALUE_MOST = 1024 };
enum { BYTES_PER_PE = 1 << 20 }; /* of the key-value space */

typedef struct pair {
    char *key;
    char *value;
} pair_t;

static int compare_pairs(const void *a, const void *b)
{
    return strcmp(((const pair_t *)a)->key, ((const pair_t *)b)->key);
}

static void free_pair(void *pair)
{
    free(((pair_t *)pair)->key);
    free(((pair_t *)pair)->value);
    free(pair);
}

static const char *kvs_get(const kvs_t *kvs, char *key)
{
    pair_t wanted = {.key = key};
    void *found = tfind(&wanted, (void *const *)&kvs->root, compare_pairs);
    return found ? (*(pair_t **)found)->value : NULL;
}

/* A key that exists gets the new value: a library that starts again in the same process uses its names again. */
static int kvs_put(kvs_t *kvs, const char *key, const char *value, size_t limit)
{
    size_t bytes = strlen(key) + strlen(value) + sizeof(pair_t);
    if (kvs->bytes + bytes > limit)
        return -1;
    pair_t *pair = calloc(1, sizeof(*pair));
    if (!pair || !(pair->key = strdup(key)) || !(pair->value = strdup(value))) {
        if (pair)
            free_pair(pair);
        return -1;
    }
    void *found = tsearch(pair, &kvs->root, compare_pairs);
    if (!found) {
        free_pair(pair);
        return -1;
    }
    pair_t *there = *(pair_t **)found;
    if (there != pair) {
        char *old = there->value;
        there->value = pair->value;
        pair->value = old;
        kvs->bytes -= strlen(old) + strlen(key) + sizeof(pair_t);
        free_pair(pair);
    }
    kvs->bytes += bytes;
    return 0;
}

void pmi_reset(job_t *job)
{
    tdestroy(job->kvs.root, free_pair);
    job->kvs = (kvs_t){0};
}

/* --- Answers --- */

static void flush(pmi_t *pmi)
{
    while (pmi->out_len) {
        ssize_t sent = send(pmi->watch.fd, pmi->out, pmi->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            pmi->out_len = 0; /* the PE has closed its end; its death is noticed elsewhere */
        if (sent <= 0)
            break;
        memmove(pmi->out, pmi->out + sent, pmi->out_len - (size_t)sent);
        pmi->out_len -= (size_t)sent;
    }
}

static void answer(pmi_t *pmi, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void answer(pmi_t *pmi, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(pmi->out + pmi->out_len, OUT_BYTES - pmi->out_len, format, args);
    va_end(args);
    if (length > 0 && (size_t)length < OUT_BYTES - pmi->out_len)
        pmi->out_len += (size_t)length;
}

/* The value of name=value in a line of such words; cut at the next blank, or for rest at the end of the line. */
static const char *field(const char *line, const char *name, bool rest, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *word = line; *word;) {
        word += strspn(word, " \t");
        size_t end = strcspn(word, " \t");
        if (end > length && strncmp(word, name, length) == 0 && word[length] == '=') {
            const char *value = word + length + 1;
            size_t bytes = rest ? strlen(value) : end - length - 1;
            if (bytes >= size)
                return NULL;
            memcpy(out, value, bytes);
            out[bytes] = 0;
            return out;
        }
        word += end;
    }
    return NULL;
}

/* --- Commands --- */

static void do_init(pmi_t *pmi, const char *line)
{
    char version[16];
    const char *given = field(line, "pmi_version", false, version, sizeof(version));
    if (!given || strcmp(given, "1")) {
        answer(pmi, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
        return;
    }
    pmi->started = pmi->used = true;
    answer(pmi, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
}

static bool same_space(pmi_t *pmi, const char *line)
{
    char name[256];
    const char *given = field(line, "kvsname", false, name, sizeof(name));
    return given && strcmp(given, pmi->pe->job->kvsname) == 0;
}

static void do_put(pmi_t *pmi, const char *line)
{
    job_t *job = pmi->pe->job;
    char key[KEY_MOST + 1], value[VALUE_MOST + 1];
    const char *problem = NULL;
    if (!same_space(pmi, line))
        problem = "unknown_kvsname";
    else if (!field(line, "key", false, key, sizeof(key)) || !key[0])
        problem = "key_missing_or_longer_than_64";
    else if (!field(line, "value", true, value, sizeof(value)))
        problem = "value_missing_or_longer_than_1024";
    else if (kvs_put(&job->kvs, key, value, (size_t)job->n_pes * BYTES_PER_PE))
        problem = "no_space_left";
    answer(pmi, "cmd=put_result rc=%d msg=%s\n", problem ? -1 : 0, problem ? problem : "success");
}

static void do_get(pmi_t *pmi, const char *line)
{
    job_t *job = pmi->pe->job;
    char key[KEY_MOST + 1], mapping[64];
    const char *value = NULL;
    if (!same_space(pmi, line) || !field(line, "key", false, key, sizeof(key))) {
        answer(pmi, "cmd=get_result rc=-1 msg=unknown_kvsname_or_key_too_long value=unknown\n");
        return;
    }
    value = kvs_get(&job->kvs, key);
    if (!value && strcmp(key, "PMI_process_mapping") == 0) { /* all PEs on one node */
        snprintf(mapping, sizeof(mapping), "(vector,(0,1,%d))", job->n_pes);
        value = mapping;
    }
    if (value)
        answer(pmi, "cmd=get_result rc=0 msg=success value=%s\n", value);
    else
        answer(pmi, "cmd=get_result rc=-1 msg=key_%s_not_found value=unknown\n", key);
}

/* Whoever has ended will never come; a barrier that waits for him is answered with an error. */
static void check_barrier(job_t *job)
{
    int inside = 0, gone = -1;
    for (int i = 0; i < job->n_pes; i++) {
        inside += job->pes[i].pmi.in_barrier;
        if (job->pes[i].state == PE_ENDED)
            gone = i;
    }
    if (!inside || (inside < job->n_pes && gone < 0))
        return;
    for (int i = 0; i < job->n_pes; i++) {
        pmi_t *pmi = &job->pes[i].pmi;
        if (!pmi->in_barrier)
            continue;
        pmi->in_barrier = false;
        if (inside == job->n_pes)
            answer(pmi, "cmd=barrier_out rc=0\n");
        else
            answer(pmi, "cmd=barrier_out rc=-1 msg=pe_%d_has_ended\n", gone);
        flush(pmi);
        if (pmi->out_len)
            (void)watch_set(&pmi->watch, EPOLLIN | EPOLLOUT);
    }
}

void pmi_peer_ended(job_t *job)
{
    check_barrier(job);
}

static void do_barrier(pmi_t *pmi)
{
    pmi->in_barrier = true;
    pmi->since_ms = now_ms();
    check_barrier(pmi->pe->job);
}

static void do_abort(pmi_t *pmi, const char *line)
{
    job_t *job = pmi->pe->job;
    char text[16], message[128];
    const char *code = field(line, "exitcode", false, text, sizeof(text));
    char *end;
    long status = code ? strtol(code, &end, 10) : 1;
    if (code && (*end || end == code))
        status = 1;
    const char *words = field(line, "message", true, message, sizeof(message));
    snprintf(job->why_text, sizeof(job->why_text), "%s", words ? words : "");
    job_stop(job, WHY_ABORT, pmi->pe->rank, (int)(status & 255));
}

/* What a PE says it is waiting for, for --status and --progress; not answered. */
static void do_waiting(pmi_t *pmi, const char *line)
{
    if (!field(line, "for", true, pmi->waits, sizeof(pmi->waits)))
        pmi->waits[0] = 0;
    pmi->since_ms = now_ms();
}

/* Commands we know of and do not offer, under the names their callers wait for. */
static const char *refusal_of(const char *command)
{
    static const char *const names[][2] = {
        {"create_kvs", "newkvs"},
        {"destroy_kvs", "kvs_destroyed"},
        {"getbyidx", "getbyidx_results"},
        {"publish_name", "publish_result"},
        {"unpublish_name", "unpublish_result"},
        {"lookup_name", "lookup_result"},
        {"spawn", "spawn_result"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i][0], command) == 0)
            return names[i][1];
    return "error";
}

static void do_command(pmi_t *pmi, const char *line)
{
    const job_t *job = pmi->pe->job;
    char command[32] = "";
    (void)field(line, "cmd", false, command, sizeof(command));
    if (strcmp(command, "init") == 0)
        do_init(pmi, line);
    else if (strcmp(command, "get_maxes") == 0)
        answer(pmi, "cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d rc=0\n", KEY_MOST, VALUE_MOST);
    else if (strcmp(command, "get_my_kvsname") == 0)
        answer(pmi, "cmd=my_kvsname kvsname=%s rc=0\n", job->kvsname);
    else if (strcmp(command, "get_appnum") == 0)
        answer(pmi, "cmd=appnum appnum=%d rc=0\n", pmi->pe->appnum);
    else if (strcmp(command, "get_universe_size") == 0)
        answer(pmi, "cmd=universe_size size=%d rc=0\n", job->n_pes);
    else if (strcmp(command, "put") == 0)
        do_put(pmi, line);
    else if (strcmp(command, "get") == 0)
        do_get(pmi, line);
    else if (strcmp(command, "barrier_in") == 0)
        do_barrier(pmi);
    else if (strcmp(command, "waiting") == 0)
        do_waiting(pmi, line);
    else if (strcmp(command, "abort") == 0)
        do_abort(pmi, line);
    else if (strcmp(command, "finalize") == 0) {
        pmi->started = false;
        answer(pmi, "cmd=finalize_ack rc=0\n");
    } else {
        answer(pmi, "cmd=%s rc=-1 msg=%s info=not_supported\n", refusal_of(command),
               command[0] ? "unknown_command" : "malformed_line");
    }
}

static void do_line(pmi_t *pmi, char *line)
{
    if (pmi->in_multi) { /* a spawn request, several lines up to endcmd */
        if (strcmp(line, "endcmd") == 0) {
            pmi->in_multi = false;
            answer(pmi, "cmd=spawn_result rc=-1 msg=unknown_command info=not_supported\n");
        }
    } else if (strncmp(line, "mcmd=", 5) == 0) {
        pmi->in_multi = true;
    } else {
        do_command(pmi, line);
    }
}

/* --- The socket --- */

static void drop(pmi_t *pmi, const char *reason)
{
    say("PE %d sends what is not PMI (%s); it is not listened to any more", pmi->pe->rank, reason);
    watch_close(&pmi->watch);
}

/* Whole lines, as long as there is room for their answers. */
static void take_lines(pmi_t *pmi)
{
    size_t start = 0;
    while (pmi->watch.fd >= 0 && OUT_BYTES - pmi->out_len > LINE_MOST) {
        char *line = pmi->in + start, *newline = memchr(line, '\n', pmi->in_len - start);
        if (!newline) {
            if (pmi->in_len - start >= LINE_MOST)
                drop(pmi, "a line of more than 4096 bytes");
            break;
        }
        start = (size_t)(newline + 1 - pmi->in);
        if (newline - line >= LINE_MOST) {
            drop(pmi, "a line of more than 4096 bytes");
            break;
        }
        if (memchr(line, 0, (size_t)(newline - line))) {
            drop(pmi, "a line with a zero byte");
            break;
        }
        *newline = 0;
        do_line(pmi, line);
    }
    memmove(pmi->in, pmi->in + start, pmi->in_len - start);
    pmi->in_len -= start;
}

static void pmi_ready(watch_t *watch, uint32_t events)
{
    pmi_t *pmi = watch->owner;
    (void)events;
    if (!pmi->in && (!(pmi->in = malloc(IN_BYTES)) || !(pmi->out = malloc(OUT_BYTES)))) {
        drop(pmi, "no memory");
        return;
    }
    bool ended = false;
    if (pmi->in_len < IN_BYTES) {
        ssize_t got = recv(watch->fd, pmi->in + pmi->in_len, IN_BYTES - pmi->in_len, MSG_DONTWAIT);
        if (got > 0)
            pmi->in_len += (size_t)got;
        else
            ended = got == 0 || (errno != EAGAIN && errno != EINTR);
    }
    size_t before;
    do { /* answers leave, so more lines may be taken */
        before = pmi->in_len;
        take_lines(pmi);
        if (watch->fd >= 0)
            flush(pmi);
    } while (watch->fd >= 0 && pmi->in_len && pmi->in_len < before);
    if (watch->fd < 0)
        return;
    if (ended) {
        watch_close(watch);
        return;
    }
    (void)watch_set(watch, (pmi->in_len < IN_BYTES ? EPOLLIN : 0) | (pmi->out_len ? EPOLLOUT : 0));
}

/* The PE has ended: what it said before counts, abort and finalize above all. */
void pmi_catch_up(pe_t *pe)
{
    char byte;
    while (pe->pmi.pe && pe->pmi.watch.fd >= 0 &&
           recv(pe->pmi.watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
        size_t before = pe->pmi.in_len;
        pmi_ready(&pe->pmi.watch, EPOLLIN);
        if (pe->pmi.in_len == IN_BYTES && pe->pmi.in_len == before)
            break; /* it asked for more than it ever read; nobody waits for the answers */
    }
}

int pmi_open(job_t *job, pe_t *pe, int *child_fd)
{
    int pair[2];
    (void)job;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return -1;
    pe->pmi = (pmi_t){.watch = {.fd = pair[0], .ready = pmi_ready, .owner = &pe->pmi}, .pe = pe};
    if (watch_set(&pe->pmi.watch, EPOLLIN)) {
        close(pair[0]);
        close(pair[1]);
        pe->pmi.watch.fd = -1;
        return -1;
    }
    *child_fd = pair[1];
    return 0;
}

void pmi_close(job_t *job, pe_t *pe)
{
    (void)job;
    if (pe->pmi.pe)
        watch_close(&pe->pmi.watch);
    free(pe->pmi.in);
    free(pe->pmi.out);
    pe->pmi.in = pe->pmi.out = NULL;
    pe->pmi.pe = NULL;
}
