/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The top of the tree: payloads come together here and go back to those who sent them, who pass them on. Also the
 * tree itself: who is whose parent, and what happens when a PE cannot reach its own.
 *
 * Parent of PE p is PE (p - 1) / fanout; PE 0 stands for the server. Payloads of a collective that failed may still be
 * under way when the next one starts: a newer round replaces an older one, and what is older is thrown away.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/server_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JUDGE_MS 300 /* a PE whose link broke is usually dying, which its own link shows in a moment */

/* --- Payloads --- */

static bool newer(const aclshmemi_store_piece_t *piece, const assembly_t *a)
{
    return piece->round > a->round || (piece->round == a->round && piece->chunk > a->chunk);
}

static int start_assembly(aclshmemi_store_server_t *server, const aclshmemi_store_piece_t *piece)
{
    assembly_t *a = &server->assembly;
    aclshmemi_store_blob_unref(a->down);
    a->down = NULL;
    size_t size = ACLSHMEMI_STORE_PIECE_PREFIX + (size_t)server->n_pes * piece->bytes;
    if (size > ACLSHMEMI_STORE_BODY_MAX)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    a->down = aclshmemi_store_blob_create(size);
    if (!a->down)
        return 0; /* the round ends by its deadline */
    a->round = piece->round;
    a->chunk = piece->chunk;
    a->bytes = piece->bytes;
    a->count = 0;
    memset(a->have, 0, (size_t)server->n_pes);
    aclshmemi_store_piece_t head = {.round = piece->round,
                                    .chunk = piece->chunk,
                                    .bytes = piece->bytes,
                                    .count = (uint32_t)server->n_pes};
    aclshmemi_store_piece_encode(&head, a->down->data);
    return 0;
}

static void send_down(aclshmemi_store_server_t *server)
{
    assembly_t *a = &server->assembly;
    for (int pe = 0; pe < server->n_pes; pe++) {
        if (server->peers[pe].at_root && server->peers[pe].state == PEER_JOINED)
            aclshmemi_store_link_send_blob(server->peers[pe].link, ACLSHMEMI_STORE_DOWN, 0, 0, a->down);
    }
    aclshmemi_store_blob_unref(a->down);
    a->down = NULL;
}

static int take_payloads(aclshmemi_store_server_t *server, const aclshmemi_store_piece_t *piece)
{
    assembly_t *a = &server->assembly;
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, piece->data, (size_t)piece->count * (sizeof(uint32_t) + piece->bytes));
    for (uint32_t i = 0; i < piece->count; i++) {
        uint32_t pe = aclshmemi_read_u32(&in);
        const void *data = aclshmemi_read_view(&in, piece->bytes);
        if (in.bad || pe >= (uint32_t)server->n_pes)
            return ACLSHMEMI_STORE_BAD_REQUEST;
        memcpy(a->down->data + ACLSHMEMI_STORE_PIECE_PREFIX + (size_t)pe * piece->bytes, data, piece->bytes);
        a->count += a->have[pe] == 0;
        a->have[pe] = 1;
    }
    return 0;
}

int aclshmemi_store_server_up(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    assembly_t *a = &server->assembly;
    aclshmemi_store_piece_t piece;
    TRY(aclshmemi_store_piece_decode(frame->body, frame->header.length, true, &piece));
    if (!peer->at_root)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (server->code != 0)
        return 0;
    if (newer(&piece, a))
        TRY(start_assembly(server, &piece));
    /* Older, or of another size: its round failed or will, which the arrivals tell everybody. */
    if (!a->down || piece.round != a->round || piece.chunk != a->chunk || piece.bytes != a->bytes)
        return 0;
    TRY(take_payloads(server, &piece));
    if (a->count == (uint32_t)server->n_pes)
        send_down(server);
    return 0;
}

/* --- The tree --- */

static void tell_parent(peer_t *peer, const aclshmemi_store_place_t *place)
{
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 64);
    aclshmemi_store_place_encode(place, &body);
    if (!body.bad)
        aclshmemi_store_link_send(peer->link, ACLSHMEMI_STORE_JOIN, 0, peer->join_sequence, body.data,
                                  body.size);
    aclshmemi_writer_fini(&body);
    peer->asked_parent = false;
}

/* Answers a PE that asked for its parent, once the parent has said where it listens. */
static void introduce(aclshmemi_store_server_t *server, int pe)
{
    peer_t *peer = &server->peers[pe];
    if (!peer->asked_parent || peer->state != PEER_JOINED)
        return;
    int parent = pe == 0 ? 0 : (pe - 1) / (int)server->fanout;
    aclshmemi_store_place_t place = {.pe = (uint32_t)parent};
    if (parent == 0) {
        tell_parent(peer, &place);
    } else if (server->peers[parent].listens) {
        place.addr = server->peers[parent].place.addr;
        if (place.addr.length == 0) { /* it could not listen: PE 0 stands in */
            peer->at_root = true;
            place.pe = 0;
        }
        tell_parent(peer, &place);
    }
}

int aclshmemi_store_server_join(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    int pe = peer_rank(peer);
    if (server->fanout == 0 || peer->listens)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(aclshmemi_store_place_decode(frame->body, frame->header.length, &peer->place));
    peer->listens = true;
    peer->asked_parent = true;
    peer->join_sequence = frame->header.sequence;
    introduce(server, pe);
    uint64_t first = (uint64_t)pe * server->fanout + 1;
    for (uint64_t child = first; pe > 0 && child < first + server->fanout && child < (uint64_t)server->n_pes;
         child++)
        introduce(server, (int)child);
    return 0;
}

int aclshmemi_store_server_adopt(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_note_t note;
    TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    if (server->fanout == 0 || peer_rank(peer) == 0 || peer->at_root)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    int parent = (peer_rank(peer) - 1) / (int)server->fanout;
    peer->at_root = true;
    log_info("PE %d cannot reach PE %d (%s) and exchanges by way of PE 0", peer_rank(peer), parent,
             note.text);
    if (server->peers[parent].state == PEER_JOINED) {
        aclshmemi_store_note_t orphan = {.kind = ACLSHMEMI_STORE_EVENT_ORPHAN, .pe = peer_rank(peer)};
        aclshmemi_store_link_send_note(server->peers[parent].link, ACLSHMEMI_STORE_EVENT, 0, 0, &orphan);
    }
    aclshmemi_store_server_reply(peer, ACLSHMEMI_STORE_ADOPT, 0, frame->header.sequence, -1, "");
    return 0;
}

int aclshmemi_store_server_lost(peer_t *peer, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_server_t *server = peer->server;
    aclshmemi_store_note_t note;
    TRY(aclshmemi_store_note_decode(frame->body, frame->header.length, &note));
    if (note.pe < 0 || note.pe >= server->n_pes)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (server->lost.set || server->code != 0)
        return 0;
    server->lost_pe = note.pe;
    server->lost_by = peer_rank(peer);
    aclshmemi_store_timer_set(server->loop, &server->lost, aclshmemi_deadline_after_ms(JUDGE_MS));
    return 0;
}

void aclshmemi_store_server_judge_lost(void *owner)
{
    aclshmemi_store_server_t *server = owner;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    if (server->peers[server->lost_pe].state != PEER_JOINED ||
        server->peers[server->lost_by].state != PEER_JOINED)
        return; /* it left, or died, which was dealt with */
    snprintf(text, sizeof text, "the connection between PE %d and PE %d broke", server->lost_by,
             server->lost_pe);
    aclshmemi_store_server_condemn(server, ACLSHMEM_SMEM_ERROR, server->lost_pe, text);
}
