/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline: spans of time written to a file that chrome://tracing and Perfetto show. Off unless SHMEM_TRACE names a
 * file; then a span costs a lock and some hundred nanoseconds. Off, it costs one branch.
 */
#ifndef CPURT_TRACE_H
#define CPURT_TRACE_H

#include "runtime.h"

#define CPURT_TRACE_WAIT_NS UINT64_C(5000) /* shorter waits are not worth a span */

typedef struct cpurt_span {
    const char *category, *name;
    const char *key; /* of a number that goes with it, NULL: none */
    uint64_t value;
    uint64_t lane;   /* row it is shown in; 0: the calling thread's */
    uint64_t end_ns; /* 0: now */
} cpurt_span_t;

extern atomic_bool cpurt_trace_on;
extern pthread_mutex_t cpurt_trace_lock;

static inline bool cpurt_tracing(void)
{
    return __builtin_expect(atomic_load_explicit(&cpurt_trace_on, memory_order_relaxed), false);
}

/* 0 when nothing is traced. */
static inline uint64_t cpurt_trace_begin(void)
{
    return cpurt_tracing() ? cpurt_now_ns() : 0;
}

/* Ends what began then; does nothing when that is 0. */
void cpurt_trace_span(uint64_t begin_ns, const cpurt_span_t *span);
/* The same for a wait, which is left out when it was short. */
void cpurt_trace_wait(uint64_t begin_ns, const char *name);
/* What the row of the calling thread is called: what and a number. */
void cpurt_trace_name_thread(const char *what, int number);
/* Rows that are no thread's; numbers that no thread has. */
#define CPURT_TRACE_LANE_DMA UINT64_C(0x40000000)
void cpurt_trace_name_lane(uint64_t lane, const char *name);

/* Opens the file if there is to be one. */
aclError cpurt_trace_start(void);
/* Makes what is written so far a whole file; a later start goes on behind it. */
void cpurt_trace_stop(void);
/* The child of a fork leaves its parent's file alone; true when there is one. With the lock held. */
bool cpurt_trace_after_fork(void);

#endif
