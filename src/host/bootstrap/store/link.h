/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection that carries frames: handshake, reassembly on the way in, a queue on the way out. Belongs to a loop.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_LINK_H
#define ACLSHMEMI_BOOTSTRAP_STORE_LINK_H

#include "host/bootstrap/store/frame.h"
#include "host/bootstrap/store/loop.h"
#include "host/bootstrap/tls/tls.h"

/* Bytes shared by counting, so that a result goes to many links without copies. Used inside one loop only. */
typedef struct aclshmemi_store_blob {
    size_t refs;
    size_t size;
    uint8_t data[];
} aclshmemi_store_blob_t;

aclshmemi_store_blob_t *aclshmemi_store_blob_create(size_t size); /* one reference; NULL when out of memory */
aclshmemi_store_blob_t *aclshmemi_store_blob_ref(aclshmemi_store_blob_t *blob);
void aclshmemi_store_blob_unref(aclshmemi_store_blob_t *blob); /* accepts NULL */

typedef struct aclshmemi_store_frame {
    aclshmemi_store_header_t header;
    const uint8_t *body; /* valid during the call */
    aclshmemi_store_blob_t
        *blob; /* holds the body of a large frame, may be kept by a reference; NULL for small ones */
} aclshmemi_store_frame_t;

typedef struct aclshmemi_store_link aclshmemi_store_link_t;

/* What the owner of a link is told. A link may be destroyed inside any of these. */
typedef struct aclshmemi_store_link_ops {
    void (*opened)(void *owner); /* handshake done; may be NULL */
    /* 0, or a code: the link is then broken, and closed() follows. */
    int (*frame)(void *owner, const aclshmemi_store_frame_t *frame);
    /* The link is of no use any more; the owner destroys it. why: for people. */
    void (*closed)(void *owner, int code, const char *why);
} aclshmemi_store_link_ops_t;

/* Takes over fd, also on failure. tls NULL: plain. */
int aclshmemi_store_link_create(aclshmemi_store_loop_t *loop, aclshmemi_tls_context_t *tls, int fd,
                                bool server, const aclshmemi_store_link_ops_t *ops, void *owner,
                                aclshmemi_store_link_t **link) ACLSHMEMI_MUST_CHECK;
/* Another owner from now on, e.g. once a caller has shown who it is. body_max: longest body accepted. */
void aclshmemi_store_link_give(aclshmemi_store_link_t *link, const aclshmemi_store_link_ops_t *ops,
                               void *owner, uint32_t body_max);
/* Epoch every frame carries from now on, in both directions; another one ends the link. */
void aclshmemi_store_link_set_epoch(aclshmemi_store_link_t *link, uint32_t epoch);
/* Queues a frame, body copied; out of memory breaks the link, as a lost connection would. */
void aclshmemi_store_link_send(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                               const void *body, size_t size);
/* The same with a shared body. */
void aclshmemi_store_link_send_blob(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                                    aclshmemi_store_blob_t *blob);
void aclshmemi_store_link_send_note(aclshmemi_store_link_t *link, int type, int result, uint32_t sequence,
                                    const aclshmemi_store_note_t *note);
size_t aclshmemi_store_link_unsent(const aclshmemi_store_link_t *link); /* bytes queued; 0 for NULL */
/* After the queue is empty: no more from us; input is thrown away until the peer closes, then closed() follows.
 * So a last word reaches a peer that is still talking. The owner bounds it by a timer. */
void aclshmemi_store_link_finish(aclshmemi_store_link_t *link);
bool aclshmemi_store_link_is_open(const aclshmemi_store_link_t *link); /* handshake done */
int aclshmemi_store_link_fd(const aclshmemi_store_link_t *link);
uint64_t aclshmemi_store_link_heard_ns(const aclshmemi_store_link_t *link); /* when bytes last came */
void aclshmemi_store_link_destroy(aclshmemi_store_link_t *link); /* accepts NULL; no callback follows */

#endif
