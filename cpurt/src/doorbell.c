/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that somebody may sleep on. Who wants to sleep notes the value, sets sleepers, looks once more at what it waits
 * for, then sleeps while the value is the one noted. Who rings takes sleepers back and, if it was set, wakes: however
 * many ring, one pays for the system call. Both sides use sequentially consistent operations, so that one of the two
 * sees the other.
 */
#include "doorbell.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core_state.h"

#define NS_PER_S UINT64_C(1000000000)

static bool somebody_sleeps(aicore_doorbell_t *bell)
{
    return __atomic_load_n(&bell->sleepers, __ATOMIC_SEQ_CST) != 0 &&
           __atomic_exchange_n(&bell->sleepers, 0, __ATOMIC_SEQ_CST) != 0;
}

/* Doorbells may lie in memory that processes share, so the futex is not private to one. */
static void wake(aicore_doorbell_t *bell)
{
    (void)syscall(SYS_futex, &bell->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void check(const char *call, const aicore_doorbell_t *bell)
{
    if (bell == NULL || (uintptr_t)bell % sizeof(uint64_t) != 0)
        cpurt_core_refuse("%s: %p is not the address of a doorbell", call, (const void *)bell);
}

static void ring(aicore_doorbell_t *bell)
{
    if (!somebody_sleeps(bell))
        return;
    (void)__atomic_fetch_add(&bell->value, 1, __ATOMIC_SEQ_CST);
    wake(bell);
}

void aicore_doorbell_store(aicore_doorbell_t *bell, uint32_t value)
{
    check("aicore_doorbell_store", bell);
    __atomic_store_n(&bell->value, value, __ATOMIC_SEQ_CST);
    if (bell->at != 0)
        ring((aicore_doorbell_t *)(void *)((char *)bell + bell->at));
    else if (somebody_sleeps(bell))
        wake(bell);
}

void aicore_doorbell_ring(aicore_doorbell_t *bell)
{
    check("aicore_doorbell_ring", bell);
    ring((aicore_doorbell_t *)(void *)((char *)bell + bell->at));
}

uint32_t cpurt_doorbell_announce(aicore_doorbell_t *bell)
{
    const uint32_t seen = __atomic_load_n(&bell->value, __ATOMIC_SEQ_CST);

    (void)__atomic_exchange_n(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
    return seen;
}

void cpurt_doorbell_withdraw(aicore_doorbell_t *bell)
{
    __atomic_store_n(&bell->sleepers, 0, __ATOMIC_SEQ_CST);
}

void cpurt_doorbell_sleep(aicore_doorbell_t *bell, uint32_t seen, uint64_t timeout_ns)
{
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
                                     .tv_nsec = (long)(timeout_ns % NS_PER_S)};

    /* Early returns are the caller's to find out: it looks for work again in any case. */
    (void)syscall(SYS_futex, &bell->value, FUTEX_WAIT, seen, &timeout, NULL, 0);
    cpurt_doorbell_withdraw(bell);
}
