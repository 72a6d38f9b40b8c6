/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PE's place in the tree that carries payloads when there are too many PEs for PE 0 to send each of them everything.
 *
 * A PE with children listens on the address its own link to PE 0 has, which its children can reach if PE 0 can; PE 0
 * tells each PE its parent. A PE that cannot reach its parent asks PE 0 to stand in, so a firewall costs speed, not
 * the job. Pieces go up when those of the children are in; the result comes down and is passed on unread.
 */
#define LOG_MODULE "store"
#include "host/bootstrap/store/client_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARENT_CONNECT_MS 3000
#define PARENT_ANSWER_MS  10000
#define PARENT_TOTAL_MS   5000     /* then PE 0 stands in */
#define JOIN_ANSWER_MS    86400000 /* the parent may come late; collectives have deadlines of their own */
#define CHILDREN_WAITING  64

static aclshmemi_store_link_t *up_link(const aclshmemi_store_client_t *client)
{
    return client->tree.parent ? client->tree.parent : client->link;
}

/* --- Up --- */

static bool children_delivered(const tree_t *tree)
{
    for (int i = 0; i < tree->n_children; i++) {
        if (!tree->children[i].delivered && !tree->children[i].orphan)
            return false;
    }
    return true;
}

static void send_bundle_if_complete(aclshmemi_store_client_t *client)
{
    tree_t *tree = &client->tree;
    bundle_t *bundle = &tree->bundle;
    if (!tree->ready || bundle->sent || !bundle->own || bundle->body.bad || !children_delivered(tree))
        return;
    aclshmemi_store_piece_t head = {
        .round = bundle->round, .chunk = bundle->chunk, .bytes = bundle->bytes, .count = bundle->count};
    aclshmemi_store_piece_encode(&head, bundle->body.data);
    aclshmemi_store_link_send(up_link(client), ACLSHMEMI_STORE_UP, 0, 0, bundle->body.data,
                              bundle->body.size);
    bundle->sent = true;
    aclshmemi_writer_reset(&bundle->body);
}

/* True when pieces of this round and chunk belong in the bundle; a newer one pushes out what is left of an older. */
static bool open_bundle(aclshmemi_store_client_t *client, uint64_t round, uint32_t chunk, uint32_t bytes)
{
    bundle_t *bundle = &client->tree.bundle;
    if (round < bundle->round || (round == bundle->round && chunk < bundle->chunk))
        return false;
    bool empty =
        bundle->body.size < ACLSHMEMI_STORE_PIECE_PREFIX; /* nothing was ever put in, or it was sent */
    if (round == bundle->round && chunk == bundle->chunk && (bundle->sent || !empty))
        return bytes == bundle->bytes && !bundle->sent; /* another size: the arrivals tell everybody */
    aclshmemi_writer_reset(&bundle->body);
    bundle->body.bad = false;
    (void)aclshmemi_write_space(&bundle->body, ACLSHMEMI_STORE_PIECE_PREFIX);
    bundle->round = round;
    bundle->chunk = chunk;
    bundle->bytes = bytes;
    bundle->count = 0;
    bundle->own = bundle->sent = false;
    for (int i = 0; i < client->tree.n_children; i++)
        client->tree.children[i].delivered = false;
    return true;
}

void aclshmemi_store_tree_contribute(aclshmemi_store_client_t *client, uint64_t round, uint32_t chunk,
                                     const uint8_t *data, uint32_t bytes)
{
    bundle_t *bundle = &client->tree.bundle;
    if (!open_bundle(client, round, chunk, bytes) || bundle->own)
        return;
    aclshmemi_write_u32(&bundle->body, (uint32_t)client->params.pe);
    aclshmemi_write_bytes(&bundle->body, data, bytes);
    bundle->count++;
    bundle->own = true;
    send_bundle_if_complete(client);
}

static int child_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    child_t *child = owner;
    aclshmemi_store_client_t *client = child->client;
    bundle_t *bundle = &client->tree.bundle;
    aclshmemi_store_piece_t piece;
    if (frame->header.type != ACLSHMEMI_STORE_UP)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(aclshmemi_store_piece_decode(frame->body, frame->header.length, true, &piece));
    if (piece.count > (uint32_t)client->params.n_pes)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (!open_bundle(client, piece.round, piece.chunk, piece.bytes) || child->delivered)
        return 0;
    aclshmemi_write_bytes(&bundle->body, piece.data, (size_t)piece.count * (sizeof(uint32_t) + piece.bytes));
    bundle->count += piece.count;
    child->delivered = true;
    send_bundle_if_complete(client);
    return 0;
}

/* --- Down --- */

static void pass_on(aclshmemi_store_client_t *client, const aclshmemi_store_frame_t *frame)
{
    tree_t *tree = &client->tree;
    for (int i = 0; i < tree->n_children; i++) {
        aclshmemi_store_link_t *link = tree->children[i].link;
        if (link && frame->blob)
            aclshmemi_store_link_send_blob(link, ACLSHMEMI_STORE_DOWN, 0, 0, frame->blob);
        else if (link)
            aclshmemi_store_link_send(link, ACLSHMEMI_STORE_DOWN, 0, 0, frame->body, frame->header.length);
    }
}

int aclshmemi_store_tree_down(aclshmemi_store_client_t *client, const aclshmemi_store_frame_t *frame)
{
    aclshmemi_store_piece_t piece;
    TRY(aclshmemi_store_piece_decode(frame->body, frame->header.length, false, &piece));
    if (piece.count != (uint32_t)client->params.n_pes)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    pass_on(client, frame);
    aclshmemi_store_client_down(client, &piece);
    return 0;
}

/* --- Broken links of the tree: the server judges, since it knows who left and who died --- */

static void tell_lost(aclshmemi_store_client_t *client, int pe)
{
    aclshmemi_store_note_t note = {.pe = pe};
    if (!client->leaving)
        aclshmemi_store_link_send_note(client->link, ACLSHMEMI_STORE_LOST, 0, 0, &note);
}

static void child_closed(void *owner, int code, const char *why)
{
    child_t *child = owner;
    (void)code, (void)why;
    aclshmemi_store_link_destroy(child->link);
    child->link = NULL;
    tell_lost(child->client, child->pe);
}

static int parent_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    return frame->header.type == ACLSHMEMI_STORE_DOWN ? aclshmemi_store_tree_down(owner, frame)
                                                      : ACLSHMEMI_STORE_BAD_REQUEST;
}

static void parent_closed(void *owner, int code, const char *why)
{
    aclshmemi_store_client_t *client = owner;
    (void)code, (void)why;
    aclshmemi_store_link_destroy(client->tree.parent);
    client->tree.parent = NULL;
    client->tree.ready = false;
    tell_lost(client, client->tree.parent_pe);
}

static const aclshmemi_store_link_ops_t child_ops = {.frame = child_frame, .closed = child_closed};
static const aclshmemi_store_link_ops_t parent_ops = {.frame = parent_frame, .closed = parent_closed};

/* --- Children --- */

static void shut_door_when_complete(tree_t *tree)
{
    for (int i = 0; i < tree->n_children; i++) {
        if (!tree->children[i].link && !tree->children[i].orphan)
            return;
    }
    aclshmemi_store_door_destroy(tree->door);
    tree->door = NULL;
}

static child_t *find_child(tree_t *tree, uint32_t pe)
{
    for (int i = 0; i < tree->n_children; i++) {
        if ((uint32_t)tree->children[i].pe == pe)
            return &tree->children[i];
    }
    return NULL;
}

static void welcome_child(child_t *child, uint32_t sequence)
{
    aclshmemi_store_client_t *client = child->client;
    aclshmemi_store_welcome_t answer = {.epoch = client->epoch, .fanout = client->fanout};
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_welcome_encode(&answer, &body);
    if (!body.bad)
        aclshmemi_store_link_send(child->link, ACLSHMEMI_STORE_HELLO, 0, sequence, body.data, body.size);
    aclshmemi_writer_fini(&body);
    aclshmemi_store_link_set_epoch(child->link, client->epoch);
}

static void child_hello(void *owner, aclshmemi_store_caller_t *caller, const aclshmemi_store_hello_t *hello,
                        uint32_t sequence)
{
    aclshmemi_store_client_t *client = owner;
    child_t *child = find_child(&client->tree, hello->rank);
    if (hello->version != ACLSHMEMI_STORE_VERSION || hello->role != ACLSHMEMI_STORE_ROLE_TREE ||
        hello->magic != client->params.magic || hello->epoch != client->epoch) {
        aclshmemi_store_caller_count(caller, "it belongs to another job");
        aclshmemi_store_caller_refuse(caller, sequence, ACLSHMEM_INNER_ERROR,
                                      "this PE belongs to another job");
        return;
    }
    if (!child || child->link || child->orphan) {
        aclshmemi_store_caller_refuse(caller, sequence, ACLSHMEM_INNER_ERROR,
                                      "this PE expects no such child");
        return;
    }
    child->link = aclshmemi_store_caller_take(caller);
    aclshmemi_store_link_give(child->link, &child_ops, child, ACLSHMEMI_STORE_BODY_MAX);
    welcome_child(child, sequence);
    shut_door_when_complete(&client->tree);
}

static const aclshmemi_store_door_ops_t child_door_ops = {.hello = child_hello};

void aclshmemi_store_tree_orphan(aclshmemi_store_client_t *client, int pe)
{
    child_t *child = find_child(&client->tree, (uint32_t)pe);
    if (!child || child->orphan)
        return;
    child->orphan = true;
    aclshmemi_store_link_destroy(child->link);
    child->link = NULL;
    if (client->tree.door)
        shut_door_when_complete(&client->tree);
    send_bundle_if_complete(client);
}

/* Where this PE listens for its children; an address of length 0 when it cannot, and PE 0 takes them over. */
static void listen_for_children(aclshmemi_store_client_t *client, aclshmemi_store_place_t *place)
{
    aclshmemi_addr_t addr;
    int fd = -1;
    if (aclshmemi_net_local(aclshmemi_store_link_fd(client->link), &addr) != 0)
        return;
    aclshmemi_addr_set_port(&addr, 0);
    if (aclshmemi_net_try_bind(&addr, &fd) != 0) {
        log_info("%s; PE 0 serves the PEs below this one", aclshmemi_status_last_text());
        return;
    }
    if (aclshmemi_store_fd_keep_high(&fd) != 0)
        return;
    if (aclshmemi_net_listen(fd, CHILDREN_WAITING) != 0 || aclshmemi_net_local(fd, &addr) != 0) {
        aclshmemi_net_close(&fd);
        return;
    }
    if (aclshmemi_store_door_create(client->loop, client->params.tls, fd, CHILDREN_WAITING, &child_door_ops,
                                    client, &client->tree.door) == 0)
        place->addr = addr;
}

static int make_children(aclshmemi_store_client_t *client)
{
    tree_t *tree = &client->tree;
    uint64_t first = (uint64_t)client->params.pe * client->fanout + 1;
    uint64_t end = first + client->fanout;
    uint64_t n_pes = (uint64_t)client->params.n_pes;
    if (client->params.pe == 0 || first >= n_pes)
        return 0; /* the children of PE 0 are the server's */
    int count = (int)((end < n_pes ? end : n_pes) - first);
    tree->children = calloc((size_t)count, sizeof *tree->children);
    if (!tree->children)
        return ACLSHMEM_MALLOC_FAILED;
    for (int i = 0; i < count; i++) {
        tree->children[i].client = client;
        tree->children[i].pe = (int)first + i;
    }
    tree->n_children = count;
    return 0;
}

/* --- Parent --- */

static void parent_is_root(aclshmemi_store_client_t *client)
{
    client->tree.parent_pe = 0;
    client->tree.ready = true;
    send_bundle_if_complete(client);
}

static void adopted(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                    const char *text)
{
    aclshmemi_store_client_t *client = call->client;
    (void)body, (void)size, (void)text;
    client->tree.call_busy = false;
    if (result == 0)
        parent_is_root(client);
}

static void ask_adoption(aclshmemi_store_client_t *client, const char *why)
{
    tree_t *tree = &client->tree;
    aclshmemi_store_note_t note = {.pe = tree->parent_pe};
    aclshmemi_writer_t body;
    snprintf(note.text, sizeof note.text, "%s", why);
    aclshmemi_writer_init(&body, 2 * ACLSHMEMI_STORE_TEXT_MAX);
    aclshmemi_store_note_encode(&note, &body);
    tree->call.done = adopted;
    tree->call_busy = true;
    aclshmemi_store_client_call(client, &tree->call, ACLSHMEMI_STORE_ADOPT, body.data,
                                body.bad ? 0 : body.size, aclshmemi_deadline_after_ms(JOIN_ANSWER_MS));
    aclshmemi_writer_fini(&body);
}

static void parent_answered(void *owner, aclshmemi_store_link_t *link,
                            const aclshmemi_store_welcome_t *welcome)
{
    aclshmemi_store_client_t *client = owner;
    (void)welcome;
    aclshmemi_store_dial_destroy(client->tree.dial);
    client->tree.dial = NULL;
    client->tree.parent = link;
    client->tree.ready = true;
    aclshmemi_store_link_give(link, &parent_ops, client, ACLSHMEMI_STORE_BODY_MAX);
    send_bundle_if_complete(client);
}

static void parent_gave_up(void *owner, int code, const char *text)
{
    aclshmemi_store_client_t *client = owner;
    (void)code;
    aclshmemi_store_dial_destroy(client->tree.dial);
    client->tree.dial = NULL;
    ask_adoption(client, text);
}

static const aclshmemi_store_dial_ops_t parent_dial_ops = {.answered = parent_answered,
                                                           .gave_up = parent_gave_up};

static void introduced(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                       const char *text)
{
    aclshmemi_store_client_t *client = call->client;
    aclshmemi_store_place_t place;
    (void)text;
    client->tree.call_busy = false;
    if (result != 0 || aclshmemi_store_place_decode(body, size, &place) != 0)
        return; /* the link is gone, or an exchange will say what it misses */
    if (place.pe == 0 || place.addr.length == 0) {
        parent_is_root(client);
        return;
    }
    client->tree.parent_pe = (int)place.pe;
    aclshmemi_store_dial_params_t dial = {.tls = client->params.tls,
                                          .n_addrs = 1,
                                          .fd = -1,
                                          .deadline = aclshmemi_deadline_after_ms(PARENT_TOTAL_MS),
                                          .connect_ms = PARENT_CONNECT_MS,
                                          .answer_ms = PARENT_ANSWER_MS};
    dial.addrs[0] = place.addr;
    aclshmemi_store_client_fill_hello(client, &dial.hello);
    dial.hello.role = ACLSHMEMI_STORE_ROLE_TREE;
    dial.hello.epoch = client->epoch;
    if (aclshmemi_store_dial_create(client->loop, &dial, &parent_dial_ops, client, &client->tree.dial) != 0)
        ask_adoption(client, "out of memory");
}

/* --- Life --- */

void aclshmemi_store_tree_init(aclshmemi_store_client_t *client)
{
    aclshmemi_writer_init(&client->tree.bundle.body, ACLSHMEMI_STORE_BODY_MAX);
}

void aclshmemi_store_tree_start(aclshmemi_store_client_t *client)
{
    tree_t *tree = &client->tree;
    if (client->fanout == 0 || client->params.pe == 0) {
        parent_is_root(client);
        return;
    }
    aclshmemi_store_place_t place = {.pe = (uint32_t)client->params.pe};
    if (make_children(client) == 0 && tree->n_children > 0)
        listen_for_children(client, &place);
    if (!tree->door) {
        for (int i = 0; i < tree->n_children; i++)
            tree->children[i].orphan = true; /* PE 0 hears that we listen nowhere */
    }
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 64);
    aclshmemi_store_place_encode(&place, &body);
    tree->call.done = introduced;
    tree->call_busy = true;
    aclshmemi_store_client_call(client, &tree->call, ACLSHMEMI_STORE_JOIN, body.data,
                                body.bad ? 0 : body.size, aclshmemi_deadline_after_ms(JOIN_ANSWER_MS));
    aclshmemi_writer_fini(&body);
}

void aclshmemi_store_tree_stop(aclshmemi_store_client_t *client)
{
    tree_t *tree = &client->tree;
    aclshmemi_store_dial_destroy(tree->dial);
    aclshmemi_store_door_destroy(tree->door);
    for (int i = 0; i < tree->n_children; i++)
        aclshmemi_store_link_destroy(tree->children[i].link);
    free(tree->children);
    aclshmemi_store_link_destroy(tree->parent);
    aclshmemi_writer_fini(&tree->bundle.body);
}

size_t aclshmemi_store_tree_unsent(const aclshmemi_store_client_t *client)
{
    const tree_t *tree = &client->tree;
    size_t unsent = aclshmemi_store_link_unsent(tree->parent);
    for (int i = 0; i < tree->n_children; i++)
        unsent += aclshmemi_store_link_unsent(tree->children[i].link);
    return unsent;
}
