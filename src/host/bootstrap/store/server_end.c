/* SPDX-License-Identifier: Apache-2.0 */
/* Ends: a PE dies, a PE leaves, the job is ended with a status, PE 0 itself closes. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/server_inside.h"

#include <stdio.h>
#include <string.h>

#define DEATHS_TOLD_MAX 16   /* when a job is killed, its PEs need not hear of each of the others */
#define FLUSH_MS        2000 /* for the word of the end to leave */
#define LEAVE_MS        200  /* for the goodbye to those who stay */
#define REFUSED_MS      1000
#define LOOK_MS         2

/* --- Death --- */

static void died(peer_t *peer, const char *why)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_note_t note = {.kind = ACLSHMEMI_STORE_EVENT_DEATH, .pe = peer_rank(peer)};
    snprintf(note.text, sizeof note.text, "PE %d (host %s, process %u) is gone without a goodbye: %s",
             note.pe, peer->host, peer->pid, why);
    if (server->deaths++ <
        DEATHS_TOLD_MAX) /* first, so that who is told of a failure knows the dead PE already */
        aclshmemi_store_server_push(server, &note, note.pe);
    aclshmemi_store_server_condemn(server, ACLSHMEM_SMEM_ERROR, note.pe, note.text);
}

static void look_soon(aclshmemi_store_server_t *server)
{
    aclshmemi_store_timer_set(server->loop, &server->end, aclshmemi_clock_ns());
}

void aclshmemi_store_server_broke(void *owner, int code, const char *why)
{
    peer_t *peer = owner;
    aclshmemi_store_server_t *server = peer->server;
    (void)code;
    bool was_joined = peer->state == PEER_JOINED;
    aclshmemi_store_server_drop_requests(peer);
    aclshmemi_store_link_destroy(peer->link);
    peer->link = NULL;
    peer->waits = false;
    if (was_joined) {
        peer->state = PEER_DEAD;
        peer->last_ns = aclshmemi_clock_ns();
        server->joined--;
        if (!server->exiting && !server->leaving)
            died(peer, why);
    }
    if (server->closing || server->exiting)
        look_soon(server);
}

/* --- Goodbye --- */

/* Who waits for this PE waits in vain. In good order nobody does, and nothing happens here. */
static void left(peer_t *peer, const char *reason)
{
    aclshmemi_store_server_t *server = peer->server;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    snprintf(text, sizeof text, "PE %d (host %s, process %u) has left%s%.300s", peer_rank(peer), peer->host,
             peer->pid, reason[0] ? "; its last error: " : "", reason);
    aclshmemi_store_server_condemn(server, ACLSHMEM_SMEM_ERROR, peer_rank(peer), text);
}

int aclshmemi_store_server_goodbye(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_note_t note;
    TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    aclshmemi_store_server_reply(peer, ACLSHMEMI_STORE_GOODBYE, 0, frame->header.sequence, -1, "");
    aclshmemi_store_server_drop_requests(peer);
    peer->state = PEER_LEFT;
    peer->waits = false;
    peer->last_ns = aclshmemi_clock_ns();
    server->joined--;
    left(peer, note.text);
    if (server->closing)
        look_soon(server);
    return 0;
}

/* --- Exit with a status: the word goes out first, then the one who asked is answered, PE 0's process is last --- */

static bool all_sent(const aclshmemi_store_server_t *server)
{
    for (int pe = 0; pe < server->n_pes; pe++) {
        if (aclshmemi_store_link_unsent(server->peers[pe].link) > 0)
            return false;
    }
    return true;
}

int aclshmemi_store_server_exit(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_note_t note;
    TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    int pe = peer_rank(peer);
    if (pe != 0 || server->exiting)
        aclshmemi_store_server_reply(peer, ACLSHMEMI_STORE_EXIT, 0, frame->header.sequence, -1, "");
    if (server->exiting)
        return 0; /* the first status counts */
    server->exiting = true;
    server->exit_status = note.value;
    server->exit_by = pe;
    server->exit_sequence = frame->header.sequence;
    note =
        (aclshmemi_store_note_t){.kind = ACLSHMEMI_STORE_EVENT_EXIT, .pe = pe, .value = server->exit_status};
    for (int other = 1; other < server->n_pes; other++) {
        if (other != pe && server->peers[other].state == PEER_JOINED)
            aclshmemi_store_link_send_note(server->peers[other].link, ACLSHMEMI_STORE_EVENT, 0, 0, &note);
    }
    server->end_deadline = aclshmemi_deadline_after_ms(FLUSH_MS);
    look_soon(server);
    return 0;
}

static void exit_here(aclshmemi_store_server_t *server)
{
    peer_t *own = &server->peers[0];
    if (own->state != PEER_JOINED || server->exit_done)
        return;
    server->exit_done = true;
    aclshmemi_store_note_t note = {
        .kind = ACLSHMEMI_STORE_EVENT_EXIT, .pe = server->exit_by, .value = server->exit_status};
    if (server->exit_by == 0)
        aclshmemi_store_server_reply(own, ACLSHMEMI_STORE_EXIT, 0, server->exit_sequence, -1, "");
    else
        aclshmemi_store_link_send_note(own->link, ACLSHMEMI_STORE_EVENT, 0, 0, &note);
}

/* --- Close --- */

static bool everybody_knows(const aclshmemi_store_server_t *server)
{
    for (int pe = 0; pe < server->n_pes; pe++) {
        if (server->peers[pe].state == PEER_JOINED || (server->refused && !server->peers[pe].told))
            return false;
    }
    return all_sent(server);
}

static void leave(aclshmemi_store_server_t *server)
{
    aclshmemi_store_note_t note = {.kind = ACLSHMEMI_STORE_EVENT_LEAVING, .pe = 0};
    server->leaving = true;
    aclshmemi_store_server_push(server, &note, 0);
    server->end_deadline = aclshmemi_deadline_after_ms(LEAVE_MS);
}

static void look_at_close(aclshmemi_store_server_t *server)
{
    bool passed = aclshmemi_deadline_passed(server->end_deadline);
    if (!server->leaving && (passed || everybody_knows(server))) {
        leave(server);
        passed = false;
    }
    if (server->leaving && (passed || all_sent(server))) {
        void (*closed)(void *) = server->closed;
        server->closed = NULL;
        if (closed) /* once, though links may still end */
            closed(server->closed_owner);
        return;
    }
    aclshmemi_store_timer_set(server->loop, &server->end, aclshmemi_deadline_after_ms(LOOK_MS));
}

void aclshmemi_store_server_look_at_end(void *owner)
{
    aclshmemi_store_server_t *server = owner;
    if (server->exiting && !server->closing) {
        if (all_sent(server) || aclshmemi_deadline_passed(server->end_deadline))
            exit_here(server);
        else
            aclshmemi_store_timer_set(server->loop, &server->end, aclshmemi_deadline_after_ms(LOOK_MS));
        return;
    }
    if (server->closing)
        look_at_close(server);
}

void aclshmemi_store_server_close(aclshmemi_store_server_t *server, aclshmemi_deadline_t deadline,
                                  void (*done)(void *owner), void *owner)
{
    server->closing = true;
    server->closed = done;
    server->closed_owner = owner;
    server->end_deadline = deadline;
    if (server->refused) /* those that are still to come and be told come soon, or never */
        server->end_deadline = aclshmemi_deadline_earlier(deadline, aclshmemi_deadline_after_ms(REFUSED_MS));
    look_soon(server);
}
