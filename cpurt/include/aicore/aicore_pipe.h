/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core does besides arithmetic: copies between global memory and its unified buffer, flags between its pipes, its
 * scalar cache, and device registers. Buffer addresses are numbers (aicore_ub.h).
 *
 * A core feeds five pipes that run side by side. Within a pipe things happen in order; between two pipes only a flag or a
 * barrier orders them. By default every copy happens where it is issued, which is one of the orders allowed. With
 * SHMEM_CPU_CHECK=1 copies happen as late as the flags allow and in a random legal order, buffer bytes belong to the pipe
 * that works on them until its flag, and scalar accesses go through a cache that nobody else can see into; what a
 * kernel does wrong then ends the launch with a report.
 *
 * A wrong argument (length, alignment, outside the buffer, flag number) ends the launch in either mode, naming call and
 * value. All may be called by cores only, except where said.
 */
#ifndef AICORE_AICORE_PIPE_H
#define AICORE_AICORE_PIPE_H

#ifndef AICORE_AICORE_H
#error "include aicore/aicore.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aicore_pipe {
    AICORE_PIPE_S,    /* scalar unit: loads, stores, addresses */
    AICORE_PIPE_V,    /* vector arithmetic on the buffer */
    AICORE_PIPE_M,    /* cube; accepted, never busy */
    AICORE_PIPE_MTE1, /* cube's loads; accepted, never busy */
    AICORE_PIPE_MTE2, /* copies from global memory into the buffer */
    AICORE_PIPE_MTE3, /* copies from the buffer to global memory */
    AICORE_PIPE_ALL,
    AICORE_PIPE_COUNT = AICORE_PIPE_ALL
} aicore_pipe_t;

#define AICORE_FLAGS         8u  /* numbers 0..7 for each pair of pipes */
#define AICORE_UB_ALIGN      32u /* bytes; of buffer addresses in copies, and the unit of gaps in the buffer */
#define AICORE_COPY_MAX      2097151u /* bytes of a copy, and of a row */
#define AICORE_COPY_ROWS_MAX 4095u

/* --- Copies --- */

/* Global memory to buffer, on MTE2. 1..AICORE_COPY_MAX bytes from any address; the buffer is written in whole units of 32
 * bytes, the tail with unspecified values. */
AICORE_API void aicore_copy_in(uint64_t ub, const void *from, uint64_t bytes);
/* Buffer to global memory, on MTE3: exactly so many bytes. In atomic mode the elements are added to those in memory. */
AICORE_API void aicore_copy_out(void *to, uint64_t ub, uint64_t bytes);

/* Rows: in global memory the gap between the end of one and the start of the next is in bytes, in the buffer every row
 * starts on a unit of 32 bytes and the gap is in such units. */
typedef struct aicore_rows {
    uint32_t count; /* 1..AICORE_COPY_ROWS_MAX */
    uint32_t bytes; /* of one row, 1..AICORE_COPY_MAX */
    uint32_t memory_gap;
    uint32_t ub_gap;
} aicore_rows_t;

AICORE_API void aicore_copy_in_rows(uint64_t ub, const void *from, const aicore_rows_t *rows);
AICORE_API void aicore_copy_out_rows(void *to, uint64_t ub, const aicore_rows_t *rows);

/* True when a copy between two places in global memory may skip the buffer: copies happen where they are issued and
 * nobody checks the use of the buffer. Such a copy is complete on return; any length. Any thread. */
AICORE_API int aicore_copies_directly(void);
AICORE_API void aicore_copy_through(void *to, const void *from, uint64_t bytes);

/* What copies out of the buffer do with each element, until changed; a kernel starts with AICORE_PLAIN. */
typedef enum aicore_element {
    AICORE_PLAIN, /* store */
    AICORE_ADD_INT8,
    AICORE_ADD_INT16,
    AICORE_ADD_INT32,
    AICORE_ADD_FLOAT,
    AICORE_ADD_HALF,
    AICORE_ADD_BFLOAT16
} aicore_element_t;

AICORE_API void aicore_atomic_mode(aicore_element_t element);

/* --- Order between pipes --- */

/* Queued on pipe `from`: the flag is up when everything before it on that pipe is done. A flag that is up already is an
 * error, and so is one that is still up when the kernel ends. */
AICORE_API void aicore_flag_set(aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
/* Pipe `to` goes on when the flag is up, and takes it down. */
AICORE_API void aicore_flag_wait(aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
/* What comes after it on the pipe (AICORE_PIPE_ALL: on all of them) starts when what came before is done. */
AICORE_API void aicore_barrier(aicore_pipe_t pipe);

/* The vector unit is about to read or write these bytes of the buffer, or the scalar unit is. Free of charge unless
 * checking, where it shows who touches bytes that a copy still owns. */
AICORE_API void aicore_touch(aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, int writes);

/* --- Scalar unit and its cache --- */

/* Loads and stores of global memory by the scalar unit: 1, 2, 4 or 8 bytes, aligned, never torn. The cache behind them is
 * seen in checked mode only; a plain access through a pointer goes past it. Any thread. */
AICORE_API uint64_t aicore_load(const volatile void *address, uint32_t bytes);
AICORE_API void aicore_store(volatile void *address, uint64_t value, uint32_t bytes);

/* Writes back what the core stored into these 64-byte lines and forgets them, so that others see it and the next load
 * sees what others stored. Full fences as well. Any thread. */
AICORE_API void aicore_cache_line(const volatile void *address);
AICORE_API void aicore_cache_range(const volatile void *address, uint64_t bytes);
AICORE_API void aicore_cache_all(void);
/* Stores before it are visible before those after it. Any thread. */
AICORE_API void aicore_fence(void);

/* --- Others --- */

/*
 * A word that somebody may sleep on (futex): value is stored with release, and who sleeps is woken. The word behind it
 * tells whether anybody does, so that a store costs no system call otherwise. Several doorbells may have one sleeper:
 * their `at` leads to the doorbell he sleeps on, whose value then counts his wakes. Any thread.
 *
 * Who sleeps: read the value of the doorbell he sleeps on, set sleepers with a sequentially consistent exchange, look
 * for work once more, then wait on value with FUTEX_WAIT; afterwards set sleepers back.
 */
typedef struct aicore_doorbell {
    uint32_t value;
    uint32_t sleepers; /* set by who is about to sleep, taken back by who rings */
    int64_t at;        /* bytes from here to the doorbell that is slept on; 0: this one. Never changes */
} aicore_doorbell_t;

AICORE_API void aicore_doorbell_store(aicore_doorbell_t *bell, uint32_t value);
/* Adds one and wakes, when somebody sleeps. */
AICORE_API void aicore_doorbell_ring(aicore_doorbell_t *bell);

/* Memory of this core that lasts for one block of one launch and starts as zeroes; on a thread that runs no kernel, memory
 * of that thread. Any thread. */
#define AICORE_LOCAL_BYTES 512u
AICORE_API void *aicore_local(void);

/* Addresses that the host program left for kernels, by number (acl/acl_cpu.h): the one of the slot in use, NULL when
 * nothing is there. A launch uses the slot that was selected when it was enqueued, until the core asks for another one;
 * asking for a number past the last changes nothing and returns -1. Any thread. */
#define AICORE_SLOTS 256u
AICORE_API void *aicore_slot(void);
AICORE_API int aicore_slot_use(uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
