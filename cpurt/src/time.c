/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, waits with a deadline, and threads that leave the application's signals alone. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

uint64_t cpurt_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t cpurt_deadline_ms(int64_t timeout_ms)
{
    return timeout_ms < 0 ? CPURT_FOREVER : cpurt_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

int cpurt_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (error == 0)
        error = pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return error;
}

bool cpurt_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
    if (deadline_ns == CPURT_FOREVER)
        return pthread_cond_wait(condition, mutex) == 0;
    const struct timespec until = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                   .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

/* CPUs this process may use, not those of the machine: containers and taskset count. */
int cpurt_cpus(void)
{
    static atomic_int cached;
    int count = atomic_load_explicit(&cached, memory_order_relaxed);

    if (count == 0) {
        cpu_set_t set;

        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
        atomic_store_explicit(&cached, count, memory_order_relaxed);
    }
    return count;
}

aclError cpurt_thread_start(pthread_t *thread, const char *name, size_t stack_bytes, void *(*run)(void *),
                            void *argument)
{
    pthread_attr_t attributes;
    sigset_t blocked, before;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "cannot start thread %s: %s", name,
                          strerror(error));
    if (stack_bytes != 0)
        (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    /* Faults stay with the thread that makes them; everything else is for the application's own threads. */
    (void)sigfillset(&blocked);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        (void)sigdelset(&blocked, faults[i]);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(thread, &attributes, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (error != 0)
        return cpurt_fail(
            ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "cannot start thread %s: %s; look at the limits on processes (ulimit -u) and memory", name,
            strerror(error));
    (void)pthread_setname_np(*thread, name);
    return ACL_SUCCESS;
}
