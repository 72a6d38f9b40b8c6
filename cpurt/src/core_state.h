/* SPDX-License-Identifier: Apache-2.0 */
/* What a core remembers, for the files that make up a core. */
#ifndef CPURT_CORE_STATE_H
#define CPURT_CORE_STATE_H

#include <setjmp.h>

#include "core.h"

#define CPURT_LOOK_SETS 32 /* words a core remembers having looked at, in sets of four */
#define CPURT_LOOK_WAYS 4

typedef struct cpurt_look {
    const volatile void *address;
    uint64_t value;
} cpurt_look_t;

typedef struct cpurt_core {
    aicore_core_t seen; /* what kernels see */
    cpurt_gang_t *gang; /* NULL between kernels */
    jmp_buf out;        /* where a failing block goes */
    void *map;          /* the buffer and the pages around it */
    size_t map_bytes;

    /* Its pipes, as the kernel has issued: a bit per flag that is up, and what copies out do. */
    uint8_t flags[AICORE_PIPE_COUNT][AICORE_PIPE_COUNT];
    aicore_element_t element;
    uint32_t slot;             /* in use */
    struct cpurt_check *check; /* checked mode; NULL else */
    _Alignas(16) unsigned char local[AICORE_LOCAL_BYTES];

    cpurt_look_t looks[CPURT_LOOK_SETS][CPURT_LOOK_WAYS];
    uint32_t next_way[CPURT_LOOK_SETS];
    uint32_t stale;        /* looks in a row that found nothing new */
    uint32_t looks_since;  /* of them since last_ns */
    uint32_t sleep_us;     /* next sleep, 0: still yielding */
    uint64_t last_ns;      /* when the clock was read last */
    uint64_t waited_ns;    /* time given away since something changed */
    uint64_t wait_from_ns; /* of the wait it is in or was in last, for the timeline; 0: none, or not traced */
    uint64_t wait_to_ns;
} cpurt_core_t;

/* The calling thread's core while it runs a kernel, NULL else. */
cpurt_core_t *cpurt_core_running(void);
/* Notes the failure, stops the launch, leaves the kernel. */
void cpurt_core_fail(cpurt_core_t *core, aclError code, const char *reason) __attribute__((noreturn));
/* The same for something the core's hardware would not do; ends the program on a thread that runs no kernel. */
void cpurt_core_refuse(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The calling thread's core, for a call that needs one. */
cpurt_core_t *cpurt_core_needed(const char *call);
/* Leaves the kernel. */
void cpurt_core_jump(cpurt_core_t *core) __attribute__((noreturn));
void cpurt_core_begin_looks(cpurt_core_t *core);
/* Writes the wait the core was in to the timeline. */
void cpurt_core_end_wait(cpurt_core_t *core);
/* Around the run of a block. The end does not return when something is left undone. */
void cpurt_core_begin_pipes(cpurt_core_t *core);
void cpurt_core_end_pipes(cpurt_core_t *core);
const char *cpurt_pipe_name(aicore_pipe_t pipe);
/* Points what kernels use as the segment of their buffer at it; NULL: at nothing. */
void cpurt_segment_set(void *ub);

#endif
