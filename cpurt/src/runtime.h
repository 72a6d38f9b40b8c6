/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every file of the runtime shares: the settings, the check each call starts with, failures, clocks, threads.
 *
 * Nothing exists before the first call: no thread, no descriptor, no handler. Settings are read then, and again after
 * aclFinalize. Threads come with the work that needs them.
 */
#ifndef CPURT_RUNTIME_H
#define CPURT_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl.h"

#define CPURT_FOREVER   UINT64_MAX
#define CPURT_HUGE_PAGE ((size_t)2 << 20)
#define CPURT_TEXT_LEN  512

typedef struct cpurt_config {
    int devices;
    int cores; /* vector cores of one device */
    uint64_t hbm_bytes;
    uint64_t kernel_timeout_ns; /* longest wait inside a kernel */
    uint32_t ub_bytes;
    bool check;          /* checked mode: late, in pieces, out of order where that is allowed */
    uint64_t check_seed; /* of its random choices */
    char soc_name[64];
} cpurt_config_t;

/* Passes a failure on; the only macro here that hides a return. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        const aclError try_code = (call);                                                                    \
        if (try_code != ACL_SUCCESS)                                                                         \
            return try_code;                                                                                 \
    } while (0)

/* --- The process --- */

/* First line of every call: reads the settings if nobody has, refuses the child of a fork. */
aclError cpurt_enter(void);
const cpurt_config_t *cpurt_config(void); /* after cpurt_enter */
aclError cpurt_config_read(cpurt_config_t *config);
/* Counts what a forked child must not touch: objects, memory, threads. */
void cpurt_live_add(int delta);
/* Whether the calling thread is inside the runtime's own work, where it must not wait for that work. */
bool cpurt_on_worker(void);

/* Taken around fork in this order, so that a child never sees one held. */
extern pthread_mutex_t cpurt_device_lock, cpurt_dma_lock, cpurt_vmm_lock, cpurt_share_lock, cpurt_memory_lock,
    cpurt_kernel_lock, cpurt_pool_lock, cpurt_handle_lock; /* and cpurt_trace_lock */

/* What a child of fork closes: sockets and memory files of its parent. Called with the locks held. */
void cpurt_vmm_after_fork(void);
void cpurt_share_after_fork(void);

/* --- Failures --- */

/* Keeps the text for aclGetRecentErrMsg and returns the code. */
aclError cpurt_fail(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cpurt_error_set(const char *text);
const char *cpurt_error_text(void);

/* --- Time --- */

uint64_t cpurt_now_ns(void);
/* The moment so many milliseconds from now; negative: never. */
uint64_t cpurt_deadline_ms(int64_t timeout_ms);
int cpurt_cond_init(pthread_cond_t *condition); /* on the clock that does not jump */
/* False when the moment has come first. */
bool cpurt_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns);
int cpurt_cpus(void);

static inline void cpurt_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

/* --- Threads --- */

/* Starts a thread that takes none of the application's signals. stack_bytes 0 is the system's default. */
aclError cpurt_thread_start(pthread_t *thread, const char *name, size_t stack_bytes, void *(*run)(void *),
                            void *argument);

#endif
