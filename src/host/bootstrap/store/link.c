/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links. Reading: one read fills the loop's scratch buffer, small frames are delivered from there, a large body
 * collects in a blob that grows with the bytes that came, never with the length that was claimed. Writing: frames
 * queue up during a turn and go out at its end, small ones together; a piece that was offered to the channel once is
 * offered again unchanged, as TLS demands.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/link.h"
#include "host/bootstrap/store/stall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define JOIN_BYTES       2048        /* small frames share buffers of this size */
#define WRITE_BYTES      65536       /* offered to the channel at once */
#define TURN_BYTES       (1u << 20)  /* moved per link and direction in one turn, for fairness */
#define FIRST_BODY_BYTES (1u << 16)  /* allocated for a body before more of it has come */
#define UNSENT_MAX       (64u << 20) /* beyond this we stop listening to a peer that does not read */

typedef struct piece {
    struct piece *next;
    aclshmemi_store_blob_t *blob;
    size_t from, to;
    bool frozen; /* was offered, or is shared: nothing may be added */
} piece_t;

struct aclshmemi_store_link {
    aclshmemi_store_loop_t *loop;
    aclshmemi_channel_t *channel;
    aclshmemi_store_source_t source;
    aclshmemi_store_task_t flush, again, reap;
    const aclshmemi_store_link_ops_t *ops;
    void *owner;
    uint32_t epoch;
    uint32_t body_max;
    uint64_t heard_ns;
    bool open, dead, broken, finishing, shut;
    bool mute; /* the peer takes nothing any more; what it said before is still read */
    bool write_waits, read_wants_write; /* for room in the socket */
    /* in */
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    size_t head_have;
    aclshmemi_store_header_t header; /* valid while a body is awaited */
    aclshmemi_store_blob_t *body;
    size_t body_have;
    /* out */
    piece_t *first, *last;
    size_t unsent;
    aclshmemi_store_stall_t stall;
};

/* --- Blobs --- */

aclshmemi_store_blob_t *aclshmemi_store_blob_create(size_t size)
{
    aclshmemi_store_blob_t *blob = malloc(sizeof *blob + size);
    if (blob) {
        blob->refs = 1;
        blob->size = size;
    }
    return blob;
}

aclshmemi_store_blob_t *aclshmemi_store_blob_ref(aclshmemi_store_blob_t *blob)
{
    blob->refs++;
    return blob;
}

void aclshmemi_store_blob_unref(aclshmemi_store_blob_t *blob)
{
    if (blob && --blob->refs == 0)
        free(blob);
}

/* --- Ends --- */

static void tell_closed(aclshmemi_store_link_t *link, int code, const char *why)
{
    if (link->dead || link->broken)
        return;
    link->broken = true;
    aclshmemi_store_stall_end(&link->stall);
    aclshmemi_store_loop_remove(link->loop, &link->source);
    link->ops->closed(link->owner, code, why);
}

static void reap(void *owner)
{
    aclshmemi_store_link_t *link = owner;
    while (link->first) {
        piece_t *piece = link->first;
        link->first = piece->next;
        aclshmemi_store_blob_unref(piece->blob);
        free(piece);
    }
    aclshmemi_store_blob_unref(link->body);
    free(link);
}

void aclshmemi_store_link_destroy(aclshmemi_store_link_t *link)
{
    if (!link || link->dead)
        return;
    link->dead = true;
    aclshmemi_store_stall_end(&link->stall);
    aclshmemi_store_loop_remove(link->loop, &link->source);
    aclshmemi_channel_destroy(link->channel, false);
    link->channel = NULL;
    aclshmemi_store_loop_later(link->loop, &link->reap); /* callers up the stack still look at it */
}

/* --- Out --- */

static void watch(aclshmemi_store_link_t *link)
{
    uint32_t events = link->unsent > UNSENT_MAX ? 0 : EPOLLIN;
    if (link->write_waits || link->read_wants_write)
        events |= EPOLLOUT;
    aclshmemi_store_loop_watch(link->loop, &link->source, events);
}

static void drop_first(aclshmemi_store_link_t *link)
{
    piece_t *piece = link->first;
    link->first = piece->next;
    if (!link->first)
        link->last = NULL;
    aclshmemi_store_blob_unref(piece->blob);
    free(piece);
}

/* A peer that said a last word and closed: the word may still lie in our socket, so reading decides when it is over. */
static void fall_silent(aclshmemi_store_link_t *link)
{
    link->mute = true;
    while (link->first)
        drop_first(link);
    link->unsent = 0;
    aclshmemi_store_loop_later(link->loop, &link->again);
}

/* Writes until the queue is empty, the channel wants to wait, or this turn's share is used up. */
static void write_out(aclshmemi_store_link_t *link)
{
    size_t moved = 0;
    link->write_waits = false;
    while (link->first && moved < TURN_BYTES) {
        piece_t *piece = link->first;
        size_t size = piece->to - piece->from < WRITE_BYTES ? piece->to - piece->from : WRITE_BYTES;
        piece->frozen = true;
        ssize_t sent = aclshmemi_channel_write(link->channel, piece->blob->data + piece->from, size);
        if (sent == ACLSHMEMI_CHANNEL_WANT_WRITE) {
            link->write_waits = true;
            aclshmemi_store_stall_begin(&link->stall);
            return;
        }
        if (sent == ACLSHMEMI_CHANNEL_WANT_READ)
            return; /* readable is always watched and writes again */
        if (sent <= 0) {
            fall_silent(link);
            return;
        }
        piece->from += (size_t)sent;
        link->unsent -= (size_t)sent;
        moved += (size_t)sent;
        if (piece->from == piece->to)
            drop_first(link);
    }
    link->write_waits = link->first != NULL;
    if (link->first) /* this turn's share is used up: there may be room for more, or not */
        aclshmemi_store_stall_begin(&link->stall);
    else
        aclshmemi_store_stall_end(&link->stall);
}

static void flush(void *owner)
{
    aclshmemi_store_link_t *link = owner;
    if (link->dead || link->broken || link->mute || !link->open)
        return;
    write_out(link);
    if (link->dead || link->broken)
        return;
    if (link->finishing && !link->first && !link->shut) {
        link->shut = true;
        shutdown(aclshmemi_channel_fd(link->channel), SHUT_WR);
    }
    watch(link);
}

static piece_t *add_piece(aclshmemi_store_link_t *link, aclshmemi_store_blob_t *blob, bool frozen)
{
    piece_t *piece = calloc(1, sizeof *piece);
    if (!piece)
        return NULL;
    piece->blob = blob;
    piece->frozen = frozen;
    if (link->last)
        link->last->next = piece;
    else
        link->first = piece;
    link->last = piece;
    return piece;
}

/* Room for small bytes at the end of the queue. */
static uint8_t *room(aclshmemi_store_link_t *link, size_t size)
{
    piece_t *piece = link->last;
    if (!piece || piece->frozen || piece->blob->size - piece->to < size) {
        aclshmemi_store_blob_t *blob = aclshmemi_store_blob_create(size > JOIN_BYTES ? size : JOIN_BYTES);
        piece = blob ? add_piece(link, blob, false) : NULL;
        if (!piece) {
            aclshmemi_store_blob_unref(blob);
            return NULL;
        }
    }
    uint8_t *at = piece->blob->data + piece->to;
    piece->to += size;
    link->unsent += size;
    return at;
}

/* As good as a lost connection; told at the end of the turn, since the owner is in the middle of something. */
static void out_of_memory(aclshmemi_store_link_t *link)
{
    log_error("out of memory for a message of the control plane");
    fall_silent(link);
}

static bool may_send(const aclshmemi_store_link_t *link)
{
    return link && !link->dead && !link->broken && !link->finishing && !link->mute;
}

static uint8_t *put_header(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence, size_t size,
                           size_t inline_size)
{
    aclshmemi_store_header_t header = {.type = (int16_t)type,
                                       .result = (int16_t)result,
                                       .length = (uint32_t)size,
                                       .sequence = sequence,
                                       .epoch = link->epoch};
    uint8_t *at = room(link, ACLSHMEMI_STORE_HEADER_LEN + inline_size);
    if (!at) {
        out_of_memory(link);
        return NULL;
    }
    aclshmemi_store_header_encode(&header, at);
    aclshmemi_store_loop_later(link->loop, &link->flush);
    return at + ACLSHMEMI_STORE_HEADER_LEN;
}

void aclshmemi_store_link_send(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                               const void *body, size_t size)
{
    if (!may_send(link))
        return;
    uint8_t *at = put_header(link, type, result, sequence, size, size);
    if (at && size > 0)
        memcpy(at, body, size);
}

void aclshmemi_store_link_send_blob(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                                    aclshmemi_store_blob_t *blob)
{
    if (!may_send(link))
        return;
    if (!put_header(link, type, result, sequence, blob->size, 0))
        return;
    piece_t *piece = add_piece(link, blob, true);
    if (!piece) {
        out_of_memory(link);
        return;
    }
    aclshmemi_store_blob_ref(blob);
    piece->to = blob->size;
    link->unsent += blob->size;
}

void aclshmemi_store_link_send_note(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                                    const aclshmemi_store_note_t *note)
{
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_note_encode(note, &body);
    if (!body.bad)
        aclshmemi_store_link_send(link, type, result, sequence, body.data, body.size);
    else if (may_send(link))
        out_of_memory(link);
    aclshmemi_writer_fini(&body);
}

void aclshmemi_store_link_finish(aclshmemi_store_link_t *link)
{
    link->finishing = true;
    aclshmemi_store_loop_later(link->loop, &link->flush);
}

size_t aclshmemi_store_link_unsent(const aclshmemi_store_link_t *link)
{
    return link && !link->broken ? link->unsent : 0;
}

/* --- In --- */

static void deliver(aclshmemi_store_link_t *link, const uint8_t *body, aclshmemi_store_blob_t *blob)
{
    aclshmemi_store_frame_t frame = {.header = link->header, .body = body, .blob = blob};
    link->head_have = 0;
    int rc = link->ops->frame(link->owner, &frame);
    if (rc != 0)
        tell_closed(link, rc, "the peer sent a message that makes no sense");
}

static bool check_header(aclshmemi_store_link_t *link)
{
    aclshmemi_store_header_decode(link->head, &link->header);
    if (link->header.length > link->body_max)
        tell_closed(link, ACLSHMEMI_STORE_BAD_REQUEST, "the peer announced a message that is too long");
    else if (link->header.type < 0 || link->header.type >= ACLSHMEMI_STORE_TYPE_COUNT)
        tell_closed(link, ACLSHMEMI_STORE_BAD_REQUEST, "the peer sent a message of unknown type");
    else if (link->epoch != 0 && link->header.epoch != link->epoch)
        tell_closed(link, ACLSHMEMI_STORE_BAD_REQUEST, "the peer belongs to another run");
    return !link->dead && !link->broken;
}

/* Makes room for more of the awaited body: doubling, up to its length. */
static bool grow_body(aclshmemi_store_link_t *link)
{
    size_t length = link->header.length;
    size_t size = link->body ? link->body->size : 0;
    if (link->body_have < size)
        return true;
    size_t next = size == 0 ? FIRST_BODY_BYTES : size * 2;
    next = next < length ? next : length;
    aclshmemi_store_blob_t *grown = realloc(link->body, sizeof *grown + next);
    if (!grown) {
        tell_closed(link, ACLSHMEM_MALLOC_FAILED, "no memory for a message");
        return false;
    }
    if (size == 0)
        grown->refs = 1;
    grown->size = next;
    link->body = grown;
    return true;
}

static void body_complete(aclshmemi_store_link_t *link)
{
    aclshmemi_store_blob_t *body = link->body;
    link->body = NULL;
    link->body_have = 0;
    deliver(link, body->data, body);
    aclshmemi_store_blob_unref(body);
}

/* Takes bytes as far as it can; false when the link ended meanwhile. */
static bool take(aclshmemi_store_link_t *link, const uint8_t *data, size_t size)
{
    while (size > 0) {
        if (link->head_have < sizeof link->head) {
            size_t step = sizeof link->head - link->head_have;
            step = step < size ? step : size;
            memcpy(link->head + link->head_have, data, step);
            link->head_have += step;
            data += step;
            size -= step;
            if (link->head_have < sizeof link->head)
                return true;
            if (!check_header(link))
                return false;
        }
        size_t length = link->header.length;
        if (!link->body && size >= length) {
            deliver(link, data, NULL);
            data += length;
            size -= length;
        } else {
            if (!grow_body(link))
                return false;
            size_t step = link->body->size - link->body_have;
            step = step < size ? step : size;
            memcpy(link->body->data + link->body_have, data, step);
            link->body_have += step;
            data += step;
            size -= step;
            if (link->body_have == length)
                body_complete(link);
        }
        if (link->dead || link->broken)
            return false;
    }
    return true;
}

/* A header without a body was complete, yet nothing more came: deliver it. */
static bool take_bodyless(aclshmemi_store_link_t *link)
{
    if (link->head_have == sizeof link->head && link->header.length == 0)
        deliver(link, link->head, NULL);
    return !link->dead && !link->broken;
}

static ssize_t read_some(aclshmemi_store_link_t *link)
{
    if (link->body && !link->finishing) { /* straight to where it belongs */
        if (!grow_body(link))
            return 0;
        size_t want = link->body->size - link->body_have;
        ssize_t got = aclshmemi_channel_read(link->channel, link->body->data + link->body_have, want);
        if (got > 0) {
            link->body_have += (size_t)got;
            if (link->body_have == link->header.length)
                body_complete(link);
        }
        return got;
    }
    uint8_t *scratch = aclshmemi_store_loop_scratch(link->loop);
    ssize_t got = aclshmemi_channel_read(link->channel, scratch, ACLSHMEMI_STORE_SCRATCH_BYTES);
    if (got > 0 && !link->finishing && take(link, scratch, (size_t)got))
        (void)take_bodyless(link);
    return got;
}

static void read_in(aclshmemi_store_link_t *link)
{
    size_t moved = 0;
    while (moved < TURN_BYTES) {
        ssize_t got = read_some(link);
        if (link->dead || link->broken)
            return;
        if (got == ACLSHMEMI_CHANNEL_WANT_READ && !link->mute)
            return;
        if (got == ACLSHMEMI_CHANNEL_WANT_WRITE && !link->mute) {
            link->read_wants_write = true;
            return;
        }
        if (got <= 0) {
            tell_closed(link, (int)got,
                        got == ACLSHMEMI_CHANNEL_CLOSED || link->mute ? "the connection ended"
                                                                      : aclshmemi_status_last_text());
            return;
        }
        link->heard_ns = aclshmemi_clock_ns();
        moved += (size_t)got;
    }
    if (aclshmemi_channel_pending(link->channel))
        aclshmemi_store_loop_later(link->loop, &link->again); /* epoll would not tell */
}

static void shake_hands(aclshmemi_store_link_t *link)
{
    int rc = aclshmemi_channel_handshake(link->channel);
    if (rc == ACLSHMEMI_CHANNEL_WANT_READ || rc == ACLSHMEMI_CHANNEL_WANT_WRITE) {
        link->write_waits = rc == ACLSHMEMI_CHANNEL_WANT_WRITE;
        watch(link);
        return;
    }
    link->write_waits = false;
    if (rc != 0) {
        tell_closed(link, rc,
                    rc == ACLSHMEMI_CHANNEL_CLOSED ? "the connection ended during the handshake"
                                                   : aclshmemi_status_last_text());
        return;
    }
    link->open = true;
    link->heard_ns = aclshmemi_clock_ns();
    if (link->ops->opened)
        link->ops->opened(link->owner);
    if (link->dead || link->broken)
        return;
    aclshmemi_store_loop_later(link->loop, &link->flush);
    if (aclshmemi_channel_pending(link->channel))
        aclshmemi_store_loop_later(link->loop, &link->again);
    watch(link);
}

static void ready(void *owner, uint32_t events)
{
    aclshmemi_store_link_t *link = owner;
    (void)events; /* reading finds errors and hang-ups by itself */
    if (!link->open) {
        shake_hands(link);
        return;
    }
    link->read_wants_write = false;
    read_in(link);
    if (!link->dead && !link->broken && link->first)
        flush(link);
    else if (!link->dead && !link->broken)
        watch(link);
}

static void read_again(void *owner)
{
    aclshmemi_store_link_t *link = owner;
    if (!link->dead && !link->broken)
        ready(link, EPOLLIN);
}

/* --- Life --- */

static void host_gone(void *owner)
{
    tell_closed(owner, ACLSHMEMI_CHANNEL_CLOSED, "its host does not answer");
}

int aclshmemi_store_link_create(aclshmemi_store_loop_t *loop, aclshmemi_tls_context_t *tls, int fd,
                                bool server, const aclshmemi_store_link_ops_t *ops, void *owner,
                                aclshmemi_store_link_t **out)
{
    aclshmemi_channel_t *channel = NULL;
    TRY(aclshmemi_channel_create(tls, fd, server, &channel));
    aclshmemi_store_link_t *link = calloc(1, sizeof *link);
    if (!link) {
        aclshmemi_channel_destroy(channel, false);
        return fail_quietly(ACLSHMEM_MALLOC_FAILED, "no memory for a connection");
    }
    link->loop = loop;
    link->channel = channel;
    link->ops = ops;
    link->owner = owner;
    link->body_max = ACLSHMEMI_STORE_HELLO_MAX;
    link->heard_ns = aclshmemi_clock_ns();
    link->source.ready = ready;
    link->source.owner = link;
    link->flush = (aclshmemi_store_task_t){.run = flush, .owner = link};
    link->again = (aclshmemi_store_task_t){.run = read_again, .owner = link};
    link->stall = (aclshmemi_store_stall_t){.loop = loop, .fd = fd, .gone = host_gone, .owner = link};
    link->reap = (aclshmemi_store_task_t){.run = reap, .owner = link};
    /* Writable at once: starts the handshake of a client, and costs a server one idle look. */
    int rc = aclshmemi_store_loop_add(loop, &link->source, fd, EPOLLIN | EPOLLOUT);
    if (rc != 0) {
        aclshmemi_channel_destroy(channel, false);
        free(link);
        return rc;
    }
    *out = link;
    return 0;
}

void aclshmemi_store_link_give(aclshmemi_store_link_t *link, const aclshmemi_store_link_ops_t *ops,
                               void *owner, uint32_t body_max)
{
    link->ops = ops;
    link->owner = owner;
    link->body_max = body_max;
}

void aclshmemi_store_link_set_epoch(aclshmemi_store_link_t *link, uint32_t epoch)
{
    link->epoch = epoch;
}

bool aclshmemi_store_link_is_open(const aclshmemi_store_link_t *link)
{
    return link->open;
}

int aclshmemi_store_link_fd(const aclshmemi_store_link_t *link)
{
    return link->channel ? aclshmemi_channel_fd(link->channel) : -1;
}

uint64_t aclshmemi_store_link_heard_ns(const aclshmemi_store_link_t *link)
{
    return link->heard_ns;
}
