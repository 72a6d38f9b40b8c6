/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the client share. */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_CLIENT_INSIDE_H
#define ACLSHMEMI_BOOTSTRAP_STORE_CLIENT_INSIDE_H

#include "host/bootstrap/store/accept.h"
#include "host/bootstrap/store/client.h"

typedef struct child {
    aclshmemi_store_client_t *client;
    int pe;
    aclshmemi_store_link_t *link; /* NULL until it came, and after it is gone */
    bool orphan;                  /* exchanges by way of PE 0 */
    bool delivered;               /* its pieces of the chunk under way are here */
} child_t;

/* The pieces of this PE and of those below it, as they come together. */
typedef struct bundle {
    uint64_t round;
    uint32_t chunk;
    uint32_t bytes;
    uint32_t count;
    bool own; /* this PE's is in it */
    bool sent;
    aclshmemi_writer_t body; /* prefix and pieces */
} bundle_t;

/* This PE's place in the tree; client_tree.c. Without a tree its parent is PE 0, and it has no children. */
typedef struct tree {
    bool ready;                     /* up may be used */
    aclshmemi_store_link_t *parent; /* NULL: the link to PE 0 */
    int parent_pe;
    aclshmemi_store_dial_t *dial;
    aclshmemi_store_call_t call; /* JOIN, then ADOPT */
    bool call_busy;
    aclshmemi_store_door_t *door;
    child_t *children;
    int n_children;
    bundle_t bundle;
} tree_t;

struct aclshmemi_store_client {
    aclshmemi_store_loop_t *loop;
    const aclshmemi_store_client_ops_t *ops;
    void *owner;
    aclshmemi_store_client_params_t params;
    char build[ACLSHMEMI_STORE_BUILD_MAX];
    aclshmemi_store_dial_t *dial;
    aclshmemi_store_link_t *link; /* to the server, once joined */
    uint32_t epoch;
    uint32_t fanout;
    uint32_t sequence;
    aclshmemi_store_call_t *calls;
    uint64_t round;
    aclshmemi_store_collect_t *collect; /* under way */
    tree_t tree;
    /* Once set, every collective fails with it at once. */
    int code;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    char last_report[ACLSHMEMI_STORE_TEXT_MAX]; /* who was missing, as PE 0 saw it */
    bool leaving;                               /* said goodbye: what breaks now is no news */
    /* goodbye */
    aclshmemi_store_call_t *goodbye;
    aclshmemi_store_call_t goodbye_call;
    aclshmemi_store_timer_t goodbye_timer;
    aclshmemi_deadline_t goodbye_deadline;
};

/* client.c */
void aclshmemi_store_client_call(aclshmemi_store_client_t *client, aclshmemi_store_call_t *call, int type,
                                 const void *body, size_t size, aclshmemi_deadline_t deadline);
void aclshmemi_store_client_fill_hello(const aclshmemi_store_client_t *client,
                                       aclshmemi_store_hello_t *hello);
void aclshmemi_store_client_condemn(aclshmemi_store_client_t *client, int code, const char *text);
/* client_collect.c */
void aclshmemi_store_client_down(aclshmemi_store_client_t *client, const aclshmemi_store_piece_t *piece);
void aclshmemi_store_client_fail_collect(aclshmemi_store_client_t *client);
void aclshmemi_store_client_drop_collect(aclshmemi_store_client_t *client);
/* client_tree.c */
void aclshmemi_store_tree_init(
    aclshmemi_store_client_t *client); /* at creation: what is contributed early is kept */
void aclshmemi_store_tree_start(aclshmemi_store_client_t *client); /* joined: fanout is known */
void aclshmemi_store_tree_stop(aclshmemi_store_client_t *client);
void aclshmemi_store_tree_contribute(aclshmemi_store_client_t *client, uint64_t round, uint32_t chunk,
                                     const uint8_t *data, uint32_t bytes);
int aclshmemi_store_tree_down(aclshmemi_store_client_t *client,
                              const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_tree_orphan(aclshmemi_store_client_t *client, int pe);
size_t aclshmemi_store_tree_unsent(const aclshmemi_store_client_t *client);

#endif
