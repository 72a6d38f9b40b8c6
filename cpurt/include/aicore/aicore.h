/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a C kernel sees of the core it runs on, when the core is a thread of this machine.
 *
 *     ACL_KERNEL(scale, __gm__ float *, data, uint32_t, count, float, factor)
 *     {
 *         for (uint32_t i = aicore_block_index(); i < count; i += aicore_block_count())
 *             data[i] *= factor;
 *     }
 *
 * The host finds it with aclrtBinaryGetFunction(NULL, "scale", &f) and launches it with the arguments packed in a
 * struct of the same types in the same order. All blocks of a launch run at once, each on a core with its own unified
 * buffer; blocks may wait for each other, through memory and aicore_poll, or with aicore_sync_all.
 *
 * Valid C11 and C++17. Link kernels, in the program or in a shared object, with libascendcl.
 */
#ifndef AICORE_AICORE_H
#define AICORE_AICORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks of the vendor's compiler that mean nothing here; __ubuf__ is in aicore_ub.h. */
#define __gm__
#define __aicore__
#define __global__
#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t *
#endif

#define AICORE_ABI 1u

#if defined(__GNUC__)
#define AICORE_API             __attribute__((visibility("default")))
#define AICORE_NORETURN_PRINTF __attribute__((noreturn, format(printf, 1, 2)))
#else
#define AICORE_API
#define AICORE_NORETURN_PRINTF
#endif

/* --- The core --- */

typedef struct aicore_core {
    uint32_t block;       /* which block of the launch */
    uint32_t block_count; /* blocks of the launch, as the host asked */
    uint32_t sub;         /* which vector core of the block */
    uint32_t sub_count;   /* vector cores per block: 1, or 2 in mixed kernels */
    void *ub;             /* unified buffer of this core; NULL outside kernels */
    uint32_t ub_bytes;
    uint32_t launch; /* number of the launch in this process, from 1; 0 outside kernels */
} aicore_core_t;

/* The core that runs the calling thread; block 0 of 1 on a thread that runs no kernel. Never NULL. */
AICORE_API const aicore_core_t *aicore_self(void);

/* Number of this vector core among those of the launch, and how many blocks there are. */
static inline uint32_t aicore_block_index(void)
{
    const aicore_core_t *const self = aicore_self();

    return self->block * self->sub_count + self->sub;
}

static inline uint32_t aicore_block_count(void)
{
    return aicore_self()->block_count;
}

static inline void *aicore_ub(void)
{
    return aicore_self()->ub;
}

static inline uint32_t aicore_ub_bytes(void)
{
    return aicore_self()->ub_bytes;
}

/* Time in steps of 20 ns: 50 cycles are a microsecond. */
AICORE_API uint64_t aicore_cycles(void);

/* --- Waiting --- */

/*
 * Belongs into every loop that looks at a word others write: one call per look, after it. The first looks are free;
 * then the core gives way, then sleeps in growing steps, and a word that stays the same for longer than the deadline
 * ends the launch with a report. bytes is 1, 2, 4 or 8, address aligned to it.
 */
AICORE_API void aicore_poll(const volatile void *address, uint32_t bytes);

/* The same for loops that look at many words in turn: all looks between begin and the end of the loop are one wait. */
typedef struct aicore_wait aicore_wait_t;
/* Says what a wait is for, as a phrase that follows "waited 60 s for ". */
typedef void aicore_wait_describe_t(const aicore_wait_t *wait, char *out, size_t size);

struct aicore_wait {
    uint64_t start_ns;
    uint32_t looks;
    uint32_t sleep_us;
    aicore_wait_describe_t *describe; /* NULL: the report names the word */
    const void *subject;              /* for describe */
    uint64_t timeout_ns;              /* 0: as long as the launch may wait */
    struct aicore_doorbell *bell;     /* rung by those who write what is waited for; NULL: nobody rings */
    uint32_t rings_seen;
    uint32_t armed; /* the mark is left on the bell, the next step sleeps there */
};

static inline void aicore_wait_begin(aicore_wait_t *wait)
{
    wait->start_ns = 0;
    wait->looks = 0;
    wait->sleep_us = 0;
    wait->describe = NULL;
    wait->subject = NULL;
    wait->timeout_ns = 0;
    wait->bell = NULL;
    wait->rings_seen = 0;
    wait->armed = 0;
}
/* address names a word that is still missing, for the report; NULL when there is none. */
AICORE_API void aicore_wait_step(aicore_wait_t *wait, const volatile void *address, uint32_t bytes);

/* All vector cores of the launch meet here. A launch of more blocks than the device has cores cannot. */
AICORE_API void aicore_sync_all(void);

/* Ends the launch; the stream reports kernel, block and this text. Does not return. */
AICORE_API AICORE_NORETURN_PRINTF void aicore_trap(const char *format, ...);

/* --- Kernels --- */

typedef struct aicore_kernel {
    uint32_t abi;  /* AICORE_ABI */
    uint32_t subs; /* vector cores per block */
    const char *name;
    void (*entry)(const void *args); /* unpacks and calls the kernel */
    size_t args_bytes;               /* of the packed arguments */
    struct aicore_kernel *next;      /* the runtime's */
} aicore_kernel_t;

AICORE_API void aicore_kernel_add(aicore_kernel_t *kernel);
AICORE_API void aicore_kernel_remove(aicore_kernel_t *kernel);
/* Whether a kernel has this name; that none has is no failure. */
AICORE_API int aicore_kernel_known(const char *name);

#ifdef __cplusplus
}
#endif

#include "aicore_kernel.h"
#include "aicore_pipe.h"
#include "aicore_ub.h"

#endif
