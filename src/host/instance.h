/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instance: everything an init made, and the table of all instances of the process.
 *
 * The first lines of the struct are what put, get, signals and waits read. The global `current` points at the current
 * instance, or at an empty one with no PEs and no bytes, so the fast path needs no test for "not initialized": every
 * range check fails there, and the slow path finds the words.
 *
 * Locks: `lock` of the table orders init, finalize and switching. An instance's heap_lock guards its allocators. Neither
 * is held across a wait for peers.
 */
#ifndef ACLSHMEMI_INSTANCE_H
#define ACLSHMEMI_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/bootstrap/bootstrap.h"
#include "host/hybm/hybm.h"
#include "host/mem/heap.h"
#include "host/shmem_host_def.h"
#include "host/transport/transport.h"
#include "host_device/sync.h"

typedef struct aclshmemi_instance aclshmemi_instance_t;

/* One symmetric heap, device or host side. */
typedef struct aclshmemi_space {
    char *base;     /* own part, NULL while it does not exist */
    uint64_t bytes; /* user size + ACLSHMEM_EXTRA_SIZE */
    char **peers;   /* by PE: the same memory of that PE, NULL where not mapped */
    aclshmemi_segment_t segment;
    aclshmemi_heap_t *heap;
} aclshmemi_space_t;

/* What the library has put on streams (sync/stream.c). */
typedef struct aclshmemi_streams {
    _Atomic uint64_t issued;                   /* operations on the instance's own stream */
    _Atomic uint64_t complete;                 /* of them, at least so many are over */
    _Atomic uint32_t tasks;                    /* host tasks that are queued or running, on all streams */
    _Atomic bool failed;                       /* there are failures nobody asked for */
    _Atomic bool closing;                      /* finalize: tasks end, those that come do nothing */
    pthread_mutex_t lock;                      /* guards the lists; never held across a call of the runtime */
    struct aclshmemi_stream_failure *failures; /* the first one of every stream */
    struct aclshmemi_stream_aid *aids;         /* those that no task uses */
    struct aclshmemi_stream_aid *aside; /* those that a stream may use without anybody knowing how long */
    bool device_idle;                   /* finalize: the device has nothing left to do on any stream */
} aclshmemi_streams_t;

enum { ACLSHMEMI_SPACE_DEVICE, ACLSHMEMI_SPACE_HOST, ACLSHMEMI_SPACE_COUNT };

struct aclshmemi_instance {
    /* Read by every operation. */
    aclshmemi_space_t space[ACLSHMEMI_SPACE_COUNT];
    int pe;                  /* -1 in the empty instance */
    int n_pes;               /* 0 in the empty instance */
    bool touch;              /* host code may load and store device memory */
    bool mte;                /* operations may take load and store, where there is a mapping */
    bool direct;             /* both: an operation on mapped device memory is done here and now */
    bool all_mapped;         /* every PE of the job shares memory with us */
    bool may_spin;           /* PEs of this host fit its cores */
    uint64_t control_offset; /* of aclshmemi_control_t in every device heap */
    uint64_t sync_offset;    /* of the sync pool in every device heap */

    /* Made by init, in this order. */
    aclshmem_instance_ctx ctx; /* what the public getter shows */
    aclshmemx_init_status_t status;
    aclshmemi_env_t env;
    bool npu_opened;
    bool device_chosen; /* init made the device current and the last finalize on it gives it back */
    int device;
    bool abandoned; /* work on streams outlived finalize: it stays where it is */
    aclshmemi_instance_t *next_abandoned;
    bool met_by_launcher; /* the launcher helped us meet and is told when we are done */
    uint64_t heap_bytes;  /* of the user, per PE */
    uint32_t engines;     /* asked for, bits of data_op_engine_type_t */
    aclshmemi_bootstrap_t bootstrap;
    aclshmemi_npu_stream_t stream;
    aclshmemi_streams_t streams;
    uint64_t operation_timeout_ms; /* of a collective on the control plane */
    int *slot;                     /* by PE: slot in the segments, -1 on another host */
    int slots;                     /* PEs of this host */
    aclshmemi_transport_set_t transports;
    pthread_mutex_t heap_lock;
    uint64_t signal_offset, counters_offset,
        bounce_offset;                   /* the library's other blocks in the device heap */
    struct aclshmemi_state_block *state; /* what kernels read, or its host image */
    struct aclshmemi_bridge *bridge;     /* how it gets to them */
    aclshmem_prof_pe_t *profile;         /* cycle counts as last copied; NULL unless this PE counts */
    void *profile_on_device;             /* where kernels count them */
    struct aclshmemi_team **teams;       /* by handle, ACLSHMEM_MAX_TEAMS of them; entry 0 is the world */
};

/* The current instance; never NULL. */
extern _Atomic(aclshmemi_instance_t *) aclshmemi_instance_current;

static inline aclshmemi_instance_t *aclshmemi_current(void)
{
    return atomic_load_explicit(&aclshmemi_instance_current, memory_order_acquire);
}

/* Takes and gives back the lock of the life cycle. */
void aclshmemi_instance_lock(void);
void aclshmemi_instance_unlock(void);

/* Under the lock: finds by id (NULL when unknown), enters a new one, makes one current (NULL: none), takes one out, after
 * which 0 is current. */
aclshmemi_instance_t *aclshmemi_instance_find(uint64_t id);
void aclshmemi_instance_enter(aclshmemi_instance_t *instance);
void aclshmemi_instance_select(aclshmemi_instance_t *instance);
void aclshmemi_instance_remove(aclshmemi_instance_t *instance);
bool aclshmemi_instance_any(void);     /* does one exist? */
bool aclshmemi_instance_several(void); /* do two? */

/* Under the lock: keeps one that work on streams still points to, until the process ends. */
void aclshmemi_instance_abandon(aclshmemi_instance_t *instance);

/* True in a process made by fork() while an instance existed: it has no business with the job. */
bool aclshmemi_instance_forked(void);

/* What the fast path goes by, after the set of allowed engines was made or changed. */
static inline void aclshmemi_instance_use_engines(aclshmemi_instance_t *in)
{
    in->mte = (in->transports.allowed & ACLSHMEM_TRANSPORT_MTE) != 0;
    in->direct = in->mte && in->touch;
}

/* The failure of a call that needs an instance and has none: says why (never made, finalized, forked). */
int aclshmemi_instance_missing(const char *call) __attribute__((cold));

#endif
