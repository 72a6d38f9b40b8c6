/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives on the server. Each has a number, and every PE passes through all numbers in order. One that failed is
 * remembered until all have been there, so a PE that comes late gets the verdict the others got, and all go on with
 * the same next number.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/server_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED_MAX 1024 /* failed collectives that somebody has not come to */
#define LIST_MAX       380  /* bytes of a list of PEs in a text */

/* --- Who is missing --- */

typedef struct text {
    char *data;
    size_t size, length;
    int left_out;
} text_t;

static void put(text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text_t *text, const char *format, ...)
{
    char one[160];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(one, sizeof one, format, args);
    va_end(args);
    if (length < 0 || text->left_out > 0 || text->length + (size_t)length + 1 > text->size) {
        text->left_out++;
        return;
    }
    memcpy(text->data + text->length, one, (size_t)length + 1);
    text->length += (size_t)length;
}

static void put_peer(text_t *text, const peer_t *peer, uint64_t now)
{
    double ago = (double)(now - peer->last_ns) / (double)ACLSHMEMI_NS_PER_S;
    const char *comma = text->length > 0 ? ", " : "";
    if (peer->state == PEER_LEFT)
        put(text, "%sPE %d (left %.1f s ago)", comma, peer_rank(peer), ago);
    else if (peer->state == PEER_DEAD)
        put(text, "%sPE %d (died %.1f s ago)", comma, peer_rank(peer), ago);
    else if (peer->last[0] == 0)
        put(text, "%sPE %d (connected %.1f s ago, nothing since)", comma, peer_rank(peer), ago);
    else
        put(text, "%sPE %d (last seen in %s, number %" PRIu64 ", %.1f s ago)", comma, peer_rank(peer),
            peer->last, peer->round, ago);
}

/* Those that have not arrived, each with what it did last; neighbours that never came are drawn together. */
static void list_missing(const collective_t *c, char *out, size_t size)
{
    const aclshmemi_store_server_t *server = c->server;
    uint64_t now = aclshmemi_clock_ns();
    text_t text = {.data = out, .size = size};
    out[0] = 0;
    for (int pe = 0; pe < server->n_pes; pe++) {
        const peer_t *peer = &server->peers[pe];
        if (peer->round >= c->round)
            continue;
        if (peer->state != PEER_ABSENT) {
            put_peer(&text, peer, now);
            continue;
        }
        int last = pe;
        while (last + 1 < server->n_pes && server->peers[last + 1].state == PEER_ABSENT)
            last++;
        const char *comma = text.length > 0 ? ", " : "";
        if (last == pe)
            put(&text, "%sPE %d (never connected)", comma, pe);
        else
            put(&text, "%sPEs %d-%d (never connected)", comma, pe, last);
        pe = last;
    }
    if (text.left_out > 0)
        snprintf(out + text.length, size - text.length, " and more");
}

static const char *kind_text(const collective_t *c)
{
    return c->kind == ACLSHMEMI_STORE_ALLGATHER ? "exchange" : "barrier";
}

/* The name may come from any PE. */
static void name_of(const aclshmemi_fingerprint_t *print, char out[sizeof print->call + 1])
{
    memcpy(out, print->call, sizeof print->call);
    out[sizeof print->call] = 0;
    for (char *c = out; *c; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
}

/* --- Ends of a collective --- */

static void answer(peer_t *peer, int code, int culprit, const char *text)
{
    peer->waits = false;
    aclshmemi_store_server_reply(peer, ACLSHMEMI_STORE_ARRIVE, code, peer->arrive_sequence, culprit, text);
}

static void answer_all(collective_t *c, int code, int culprit, const char *text)
{
    aclshmemi_store_server_t *server = c->server;
    for (int pe = 0; pe < server->n_pes; pe++) {
        peer_t *peer = &server->peers[pe];
        if (peer->waits && peer->round == c->round && peer->state == PEER_JOINED)
            answer(peer, code, culprit, text);
    }
}

static void free_collective(collective_t *c)
{
    aclshmemi_store_server_t *server = c->server;
    collective_t **at = &server->collectives;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    server->n_collectives--;
    aclshmemi_store_timer_clear(server->loop, &c->deadline);
    aclshmemi_store_timer_clear(server->loop, &c->report);
    free(c);
}

static void fail_collective(collective_t *c, int code, int culprit, const char *text)
{
    c->code = code;
    snprintf(c->text, sizeof c->text, "%s", text);
    aclshmemi_store_timer_clear(c->server->loop, &c->deadline);
    aclshmemi_store_timer_clear(c->server->loop, &c->report);
    answer_all(c, code, culprit, text);
    if (c->arrived == c->server->n_pes)
        free_collective(c);
}

static void expired(void *owner)
{
    collective_t *c = owner;
    char missing[LIST_MAX], name[sizeof c->fingerprint.call + 1], text[ACLSHMEMI_STORE_TEXT_MAX];
    list_missing(c, missing, sizeof missing);
    name_of(&c->fingerprint, name);
    snprintf(text, sizeof text, "%s, number %" PRIu64 ", gave up after %.1f s, missing: %s", name, c->round,
             (double)(aclshmemi_clock_ns() - c->since_ns) / (double)ACLSHMEMI_NS_PER_S, missing);
    c->expired = true;
    fail_collective(c, ACLSHMEM_SMEM_ERROR, -1, text);
}

static void report(void *owner)
{
    collective_t *c = owner;
    char missing[LIST_MAX], name[sizeof c->fingerprint.call + 1];
    aclshmemi_store_note_t note = {.kind = ACLSHMEMI_STORE_EVENT_REPORT, .pe = -1};
    list_missing(c, missing, sizeof missing);
    name_of(&c->fingerprint, name);
    snprintf(note.text, sizeof note.text, "%s (%s, number %" PRIu64 ") waits for %.0f s, missing: %s", name,
             kind_text(c), c->round,
             (double)(aclshmemi_clock_ns() - c->since_ns) / (double)ACLSHMEMI_NS_PER_S, missing);
    log_info("%s", note.text);
    aclshmemi_store_server_push(c->server, &note, -1);
    c->report_ms *= 2;
    aclshmemi_store_timer_set(c->server->loop, &c->report, aclshmemi_deadline_after_ms(c->report_ms));
}

void aclshmemi_store_server_condemn(aclshmemi_store_server_t *server, int code, int culprit, const char *text)
{
    if (server->code != 0)
        return;
    server->code = code;
    server->culprit = culprit;
    snprintf(server->text, sizeof server->text, "%s", text);
    for (collective_t *c = server->collectives, *next; c; c = next) {
        next = c->next;
        answer_all(c, code, culprit, text);
        free_collective(c);
    }
    aclshmemi_store_note_t note = {.kind = ACLSHMEMI_STORE_EVENT_FAILED, .pe = culprit, .value = code};
    snprintf(note.text, sizeof note.text, "%s", text);
    /* Those in the middle of an exchange of data wait for no answer; the rest learn it a little early. */
    if (server->refused || server->assembly.down)
        aclshmemi_store_server_push(server, &note, -1);
}

/* --- Arrivals --- */

static collective_t *find_collective(aclshmemi_store_server_t *server, uint64_t round)
{
    collective_t *c = server->collectives;
    while (c && c->round != round)
        c = c->next;
    return c;
}

/* A PE that never comes must not make us remember for ever what it missed. */
static void forget_oldest(aclshmemi_store_server_t *server)
{
    collective_t *oldest = NULL;
    for (collective_t *c = server->collectives; c; c = c->next) {
        if (c->code != 0 && (!oldest || c->round < oldest->round))
            oldest = c;
    }
    if (!oldest)
        return;
    server->forgotten_round = oldest->round;
    free_collective(oldest);
}

static collective_t *start_collective(peer_t *peer, const aclshmemi_store_arrive_t *arrive)
{
    aclshmemi_store_server_t *server = peer->server;
    if (server->n_collectives >= REMEMBERED_MAX)
        forget_oldest(server);
    collective_t *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->server = server;
    c->round = arrive->round;
    c->kind = arrive->kind;
    c->first_pe = peer_rank(peer);
    c->fingerprint = arrive->fingerprint;
    c->since_ns = aclshmemi_clock_ns();
    c->report_ms = server->wait_report_ms;
    c->deadline = (aclshmemi_store_timer_t){.expire = expired, .owner = c};
    c->report = (aclshmemi_store_timer_t){.expire = report, .owner = c};
    c->next = server->collectives;
    server->collectives = c;
    server->n_collectives++;
    if (c->report_ms > 0)
        aclshmemi_store_timer_set(server->loop, &c->report, aclshmemi_deadline_after_ms(c->report_ms));
    return c;
}

/* The earliest deadline of those who wait counts for all, so that all get the same verdict. */
static void shorten_deadline(collective_t *c, uint64_t timeout_ms)
{
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms);
    if (!c->deadline.set || deadline < c->deadline.deadline)
        aclshmemi_store_timer_set(c->server->loop, &c->deadline, deadline);
}

/* A collective that was given up, to which somebody still has not come; NULL: none. */
static const collective_t *given_up_before(const collective_t *c)
{
    const collective_t *at = c->server->collectives;
    while (at && !(at->expired && at->round < c->round))
        at = at->next;
    return at;
}

static bool is_farewell(const collective_t *c)
{
    aclshmemi_fingerprint_t farewell = aclshmemi_fingerprint_farewell();
    return memcmp(&c->fingerprint, &farewell, sizeof farewell) == 0;
}

static void join_collective(collective_t *c, peer_t *peer, const aclshmemi_store_arrive_t *arrive)
{
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    c->arrived++;
    if (c->code != 0) { /* it failed before this PE came */
        answer(peer, c->code, -1, c->text);
        if (c->arrived == c->server->n_pes)
            free_collective(c);
        return;
    }
    if (c->kind != arrive->kind ||
        memcmp(&c->fingerprint, &arrive->fingerprint, sizeof c->fingerprint) != 0) {
        aclshmemi_fingerprint_explain(&c->fingerprint, c->first_pe, &arrive->fingerprint, peer_rank(peer),
                                      text, sizeof text);
        fail_collective(c, ACLSHMEM_INVALID_PARAM, peer_rank(peer), text);
        return;
    }
    if (c->arrived == c->server->n_pes) {
        answer_all(c, 0, -1, "");
        free_collective(c);
        return;
    }
    /* Who has waited for a PE in vain wants to leave, not to wait for it once more. */
    const collective_t *missed = is_farewell(c) ? given_up_before(c) : NULL;
    if (missed) {
        snprintf(text, sizeof text, "finalize does not wait again for PEs that did not come: %.380s",
                 missed->text);
        fail_collective(c, ACLSHMEM_SMEM_ERROR, -1, text);
        return;
    }
    shorten_deadline(c, arrive->timeout_ms);
}

int aclshmemi_store_server_arrive(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_arrive_t arrive;
    TRY(aclshmemi_store_arrive_decode(frame->body, frame->header.length, &arrive));
    if (arrive.round != peer->round + 1) /* while it still waits: it has given up by itself and goes on */
        return ACLSHMEMI_STORE_BAD_REQUEST;
    peer->round = arrive.round;
    peer->arrive_sequence = frame->header.sequence;
    peer->waits = true;
    peer->last_ns = aclshmemi_clock_ns();
    name_of(&arrive.fingerprint, peer->last);
    if (server->code != 0) {
        answer(peer, server->code, server->culprit, server->text);
        return 0;
    }
    if (arrive.round <= server->forgotten_round) {
        answer(peer, ACLSHMEM_SMEM_ERROR, -1, "the other PEs gave up waiting for this PE here long ago");
        return 0;
    }
    collective_t *c = find_collective(server, arrive.round);
    if (!c)
        c = start_collective(peer, &arrive);
    if (!c) {
        answer(peer, ACLSHMEM_MALLOC_FAILED, 0, "PE 0 is out of memory");
        return 0;
    }
    join_collective(c, peer, &arrive);
    return 0;
}

void aclshmemi_store_server_free_rounds(aclshmemi_store_server_t *server)
{
    for (collective_t *c = server->collectives, *next; c; c = next) {
        next = c->next;
        free_collective(c);
    }
}
