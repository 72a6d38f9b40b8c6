/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of the scalar unit. The caches of this machine are coherent, so what remains of write back and
 * invalidate is order. Loads acquire and stores release, which costs nothing on x86-64 and lets checkers that know no
 * fences see the order, too.
 */
#include "core_state.h"
#include "word.h"

static void check_word(const char *call, const volatile void *address, uint32_t bytes)
{
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        cpurt_core_refuse("%s: %u bytes; allowed are 1, 2, 4 and 8", call, bytes);
    if (address == NULL || (uintptr_t)address % bytes != 0)
        cpurt_core_refuse("%s: address %p is not one of a word of %u bytes", call,
                          (const void *)(uintptr_t)address, bytes);
}

uint64_t aicore_load(const volatile void *address, uint32_t bytes)
{
    check_word("aicore_load", address, bytes);
    return cpurt_word_load(address, bytes);
}

void aicore_store(volatile void *address, uint64_t value, uint32_t bytes)
{
    check_word("aicore_store", address, bytes);
    cpurt_word_store(address, value, bytes);
}

void aicore_cache_line(const volatile void *address)
{
    (void)address;
    atomic_thread_fence(memory_order_seq_cst);
}

void aicore_cache_range(const volatile void *address, uint64_t bytes)
{
    (void)address;
    (void)bytes;
    atomic_thread_fence(memory_order_seq_cst);
}

void aicore_cache_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

void aicore_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
