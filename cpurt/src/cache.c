/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of the scalar unit. The caches of this machine are coherent, so what remains of write back and
 * invalidate is order; checked mode has a cache of its own. Loads acquire and stores release, which costs nothing on x86-64 and lets checkers that know no
 * fences see the order, too.
 */
#include "check.h"
#include "word.h"

static void check_word(const char *call, const volatile void *address, uint32_t bytes)
{
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        cpurt_core_refuse("%s: %u bytes; allowed are 1, 2, 4 and 8", call, bytes);
    if (address == NULL || (uintptr_t)address % bytes != 0)
        cpurt_core_refuse("%s: address %p is not one of a word of %u bytes", call,
                          (const void *)(uintptr_t)address, bytes);
}

/* The calling thread's core when it is one with a cache. */
static cpurt_core_t *with_cache(void)
{
    cpurt_core_t *const core = cpurt_core_running();

    return core != NULL && core->check != NULL ? core : NULL;
}

uint64_t aicore_load(const volatile void *address, uint32_t bytes)
{
    cpurt_core_t *const core = with_cache();

    check_word("aicore_load", address, bytes);
    return core != NULL ? cpurt_check_load(core, address, bytes) : cpurt_word_load(address, bytes);
}

void aicore_store(volatile void *address, uint64_t value, uint32_t bytes)
{
    cpurt_core_t *const core = with_cache();

    check_word("aicore_store", address, bytes);
    if (core != NULL)
        cpurt_check_store(core, address, value, bytes);
    else
        cpurt_word_store(address, value, bytes);
}

void aicore_cache_line(const volatile void *address)
{
    aicore_cache_range(address, 1);
}

void aicore_cache_range(const volatile void *address, uint64_t bytes)
{
    cpurt_core_t *const core = with_cache();

    if (core != NULL)
        cpurt_check_cache_range(core, address, bytes);
    atomic_thread_fence(memory_order_seq_cst);
}

void aicore_cache_all(void)
{
    cpurt_core_t *const core = with_cache();

    if (core != NULL)
        cpurt_check_cache_all(core);
    atomic_thread_fence(memory_order_seq_cst);
}

void aicore_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
