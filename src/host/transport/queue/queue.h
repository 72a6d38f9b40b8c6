/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transports made of work queues: host threads and kernels post requests, one proxy thread per engine carries them out. The
 * queues are in bank.c, the thread in proxy.c, the transport's operations in ops.c.
 *
 * What lies behind the proxy is a road: the seam where a network library is plugged in. The only road so far stays inside the host
 * and copies between mapped heaps (loop.c). A road's post and reap are called by the proxy thread alone.
 */
#ifndef ACLSHMEMI_TRANSPORT_QUEUE_H
#define ACLSHMEMI_TRANSPORT_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/transport/transport.h"
#include "host_device/post.h"

typedef struct aclshmemi_proxy aclshmemi_proxy_t;

typedef struct aclshmemi_road_ops {
    const char *name;
    /* init only, as in the table of transports. state is the road's. */
    int (*open)(aclshmemi_transport_t *t, void **state);
    void (*close)(void *state);
    int (*export_blob)(void *state, void *blob, size_t *bytes);
    int (*import_blob)(void *state, int pe, const void *blob, size_t bytes, bool *reached);
    /* Starts a request. 0 and *pending: reap will tell of it; 0: it is over; a failure: it is over too and had no or some
     * effect. Requests to one PE take effect in the order of the calls. */
    int (*post)(void *state, int pe, const aclshmemi_work_t *work, bool *pending);
    /* Tells of one request that was pending, of each PE in the order they were posted; false: nothing new. */
    bool (*reap)(void *state, int *pe, int *code);
} aclshmemi_road_ops_t;

extern const aclshmemi_road_ops_t aclshmemi_road_loop;

/* How an engine differs from the others. */
typedef struct aclshmemi_queue_kind {
    const char *name;
    uint32_t depth; /* of a queue, a power of two */
    uint32_t request_bytes_log2;
    const aclshmemi_road_ops_t *road;
} aclshmemi_queue_kind_t;

/* What an open transport of this sort has. */
typedef struct aclshmemi_queue_set {
    const aclshmemi_queue_kind_t *kind;
    aclshmemi_transport_t *transport;
    void *road;             /* the road's state */
    void *block;            /* the memory of bank, bell, ready bits, cells and queues; kernels reach it */
    aclshmemi_bank_t *bank; /* at its start */
    int n_pes;
    uint64_t *started; /* by PE: next ticket to start; the proxy's */
    pthread_t thread;
    bool running;
    _Atomic bool stop;
} aclshmemi_queue_set_t;

/* The memory of the queues: none has a ring yet. */
int aclshmemi_bank_create(aclshmemi_queue_set_t *set) ACLSHMEMI_MUST_CHECK;
void aclshmemi_bank_destroy(aclshmemi_queue_set_t *set);
/* Gives the queue of a PE its ring; before anything is posted to it. */
int aclshmemi_bank_connect(aclshmemi_queue_set_t *set, int pe) ACLSHMEMI_MUST_CHECK;

int aclshmemi_proxy_start(aclshmemi_queue_set_t *set) ACLSHMEMI_MUST_CHECK;
/* Ends the thread; requests that are left stay undone. */
void aclshmemi_proxy_stop(aclshmemi_queue_set_t *set);
void aclshmemi_proxy_wake(const aclshmemi_queue_set_t *set);

/* The operations of the transport. */
int aclshmemi_queue_open(aclshmemi_transport_t *t, const aclshmemi_queue_kind_t *kind) ACLSHMEMI_MUST_CHECK;
void aclshmemi_queue_close(aclshmemi_transport_t *t);
int aclshmemi_queue_export(aclshmemi_transport_t *t, void *blob, size_t *bytes);
int aclshmemi_queue_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached);
int aclshmemi_queue_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes);
int aclshmemi_queue_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes);
int aclshmemi_queue_start_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from,
                              size_t bytes);
int aclshmemi_queue_start_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes);
int aclshmemi_queue_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to,
                        const aclshmemi_amo_request_t *request, uint64_t *old);
int aclshmemi_queue_quiet(aclshmemi_transport_t *t);
uint64_t aclshmemi_queue_describe(aclshmemi_transport_t *t);

#endif
