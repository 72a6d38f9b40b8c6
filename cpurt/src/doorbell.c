/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that somebody may sleep on. Who wants to sleep notes the value, sets sleepers, looks once more at what it waits
 * for, then sleeps while the value is the one noted. Who rings takes sleepers back and, if it was set, wakes: however
 * many ring, one pays for the system call.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core_state.h"

static bool somebody_sleeps(aicore_doorbell_t *bell)
{
    /* What was stored before must not be seen later than the look at sleepers. */
    atomic_thread_fence(memory_order_seq_cst);
    return __atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) != 0 &&
           __atomic_exchange_n(&bell->sleepers, 0, __ATOMIC_ACQ_REL) != 0;
}

static void wake(aicore_doorbell_t *bell)
{
    (void)syscall(SYS_futex, &bell->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void check(const char *call, const aicore_doorbell_t *bell)
{
    if (bell == NULL || (uintptr_t)bell % sizeof(uint32_t) != 0)
        cpurt_core_refuse("%s: %p is not the address of a doorbell", call, (const void *)bell);
}

void aicore_doorbell_store(aicore_doorbell_t *bell, uint32_t value)
{
    check("aicore_doorbell_store", bell);
    __atomic_store_n(&bell->value, value, __ATOMIC_RELEASE);
    if (somebody_sleeps(bell))
        wake(bell);
}

void aicore_doorbell_ring(aicore_doorbell_t *bell)
{
    check("aicore_doorbell_ring", bell);
    if (!somebody_sleeps(bell))
        return;
    (void)__atomic_fetch_add(&bell->value, 1, __ATOMIC_RELEASE);
    wake(bell);
}
