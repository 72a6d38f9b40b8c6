/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roads between PEs. One folder per transport, all answering one table; copy self/ to start a new one.
 *
 * At init the set opens what was asked for, every transport publishes a blob, init carries the blobs, and every
 * transport looks at each peer's blob and says whether it reaches that PE. The answers become the reach byte per PE. A PE
 * reached by load and store (mte) is served without this table; it is for the others, and for cards.
 */
#ifndef ACLSHMEMI_TRANSPORT_H
#define ACLSHMEMI_TRANSPORT_H

#include "host/npu/npu.h"
#include "host_device/amo.h"

#define ACLSHMEMI_TRANSPORT_BLOB_MAX 512 /* bytes a transport may publish */
#define ACLSHMEMI_TRANSPORT_COUNT    4

typedef struct aclshmemi_transport aclshmemi_transport_t;

/* What every transport may know of the job. */
typedef struct aclshmemi_transport_site {
    int pe;
    int n_pes;
    const aclshmemi_env_t *env;
    const char *const
        *device_base;             /* by PE: start of its device heap as mapped here, NULL where not mapped */
    const char *const *host_base; /* the same for the host heap; entries NULL until that heap exists */
    const uint64_t *control_offset; /* of aclshmemi_control_t in every device heap; 0 until it has a place */
    aclshmemi_npu_stream_t stream;  /* the instance's own */
} aclshmemi_transport_site_t;

/* An address on a PE: which heap, and how far into it. */
typedef struct aclshmemi_remote {
    int pe;
    aclshmemi_npu_place_t place;
    uint64_t offset;
} aclshmemi_remote_t;

/* An atomic operation; values are bits, as in host_device/amo.h. */
typedef struct aclshmemi_amo_request {
    aclshmemi_amo_op_t op;
    aclshmemi_amo_type_t type;
    uint64_t value, condition;
    bool wanted; /* the old value is: the operation is complete on return */
} aclshmemi_amo_request_t;

/*
 * The operations. A backend lists only what it has; the framework fills the blanks with one that fails with
 * NOT_SUPPORTED, so no caller tests for NULL. put and amo of one PE to one target arrive in order after fence, and are
 * complete after quiet; the source of a put may be used again on return, and get is complete.
 */
typedef struct aclshmemi_transport_ops {
    const char *name;
    uint8_t bit; /* ACLSHMEM_TRANSPORT_* */
    /* init only: takes hold of the device or network. */
    int (*open)(aclshmemi_transport_t *t);
    void (*close)(aclshmemi_transport_t *t);
    /* init only: blob for all peers, at most ACLSHMEMI_TRANSPORT_BLOB_MAX bytes. */
    int (*export_blob)(aclshmemi_transport_t *t, void *blob, size_t *bytes);
    /* init only: *reached tells whether pe can be served. */
    int (*import_blob)(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached);
    int (*put)(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes);
    int (*get)(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes);
    /* The same two, complete after quiet only; by default the two above. */
    int (*start_put)(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes);
    int (*start_get)(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes);
    /* *old is written when the request wants it. The object is aligned to its width. */
    int (*amo)(aclshmemi_transport_t *t, aclshmemi_remote_t to, const aclshmemi_amo_request_t *request,
               uint64_t *old);
    int (*fence)(aclshmemi_transport_t *t);
    int (*quiet)(aclshmemi_transport_t *t);
    void (*progress)(aclshmemi_transport_t *t); /* any thread; never blocks */
    /* What kernels need: address of the engine's record (host_device/engine.h), 0: kernels have no use for it. */
    uint64_t (*describe)(aclshmemi_transport_t *t);
    /* Handle of the notify that a vector core's queue records, NULL: there is none. */
    void *(*notify)(aclshmemi_transport_t *t, uint32_t core);
} aclshmemi_transport_ops_t;

struct aclshmemi_transport {
    aclshmemi_transport_ops_t ops; /* a filled copy */
    const aclshmemi_transport_site_t *site;
    void *state; /* the backend's */
    bool opened;
};

/* put and get of every transport whose peers are mapped: copies by the device runtime, done on return. */
int aclshmemi_transport_mapped_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from,
                                   size_t bytes);
int aclshmemi_transport_mapped_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes);
/* A copy by this processor. One element of 2, 4 or 8 bytes moves as one access, so nobody sees half of it. */
void aclshmemi_transport_move(char *to, const char *from, uint64_t bytes);
/* NULL: not mapped here. */
char *aclshmemi_transport_mapped_address(const aclshmemi_transport_t *t, aclshmemi_remote_t at);
/* An atomic operation on memory that host code can touch, done on return; fails on memory it cannot. */
int aclshmemi_transport_mapped_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to,
                                   const aclshmemi_amo_request_t *request, uint64_t *old);
/* After a change to memory of pe: wakes who sleeps there. */
void aclshmemi_transport_ring(const aclshmemi_transport_t *t, int pe);

extern const aclshmemi_transport_ops_t aclshmemi_transport_self; /* the own PE only */
extern const aclshmemi_transport_ops_t aclshmemi_transport_mte;  /* everything mapped */
extern const aclshmemi_transport_ops_t aclshmemi_transport_sdma; /* DMA queues of the device runtime */
extern const aclshmemi_transport_ops_t aclshmemi_transport_rdma; /* work queues and a proxy thread */
extern const aclshmemi_transport_ops_t aclshmemi_transport_udma; /* the same by jetties */

/* Everything one instance opened, and who serves whom. */
typedef struct aclshmemi_transport_set {
    aclshmemi_transport_site_t site;
    aclshmemi_transport_t item[ACLSHMEMI_TRANSPORT_COUNT];
    int count;
    bool direct;                   /* none of them has anything to wait for in fence and quiet */
    uint8_t allowed;               /* OR of ACLSHMEM_TRANSPORT_* that operations may take */
    uint8_t *reach_all;            /* by PE: what reaches it, allowed or not */
    uint8_t *reach;                /* by PE: OR of ACLSHMEM_TRANSPORT_*, the allowed ones */
    aclshmemi_transport_t **by_pe; /* first transport that reaches the PE and is allowed, NULL: none */
} aclshmemi_transport_set_t;

/* engines: bits of data_op_engine_type_t. MTE is always opened. An engine this build or machine does not have is left out
 * with one warning. */
int aclshmemi_transport_open(aclshmemi_transport_set_t *set, const aclshmemi_transport_site_t *site,
                             uint32_t engines) ACLSHMEMI_MUST_CHECK;
void aclshmemi_transport_close(aclshmemi_transport_set_t *set);              /* accepts a zeroed one */
size_t aclshmemi_transport_blob_bytes(const aclshmemi_transport_set_t *set); /* of one PE, equal on all PEs */
int aclshmemi_transport_export(aclshmemi_transport_set_t *set, void *blob) ACLSHMEMI_MUST_CHECK;
int aclshmemi_transport_import(aclshmemi_transport_set_t *set, int pe, const void *blob) ACLSHMEMI_MUST_CHECK;
/* Bits of data_op_engine_type_t named by a list like "mte,roce"; fails on other words and on none. */
int aclshmemi_transport_parse(const char *list, uint32_t *engines) ACLSHMEMI_MUST_CHECK;
/* Bits of the reach byte for those of data_op_engine_type_t, whose order differs. */
uint8_t aclshmemi_transport_bits(uint32_t engines);
/* From now on operations take engines of these only (bits of data_op_engine_type_t). Fails, and nothing changes, when that
 * cuts off a PE that is reached now. Nobody may be inside an operation. */
int aclshmemi_transport_allow(aclshmemi_transport_set_t *set, uint32_t engines) ACLSHMEMI_MUST_CHECK;
/* The one that was opened for a bit of the reach byte, NULL: none. */
aclshmemi_transport_t *aclshmemi_transport_find(const aclshmemi_transport_set_t *set, uint8_t bit);
int aclshmemi_transport_fence(aclshmemi_transport_set_t *set) ACLSHMEMI_MUST_CHECK;
int aclshmemi_transport_quiet(aclshmemi_transport_set_t *set) ACLSHMEMI_MUST_CHECK;

#endif
