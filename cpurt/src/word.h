/* SPDX-License-Identifier: Apache-2.0 */
/* Words of 1, 2, 4 or 8 bytes that others read and write, too: never torn, and they order what comes with them. */
#ifndef CPURT_WORD_H
#define CPURT_WORD_H

#include <stdint.h>

static inline uint64_t cpurt_word_load(const volatile void *address, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n((const volatile uint8_t *)address, __ATOMIC_ACQUIRE);
    case 2:
        return __atomic_load_n((const volatile uint16_t *)address, __ATOMIC_ACQUIRE);
    case 4:
        return __atomic_load_n((const volatile uint32_t *)address, __ATOMIC_ACQUIRE);
    default:
        return __atomic_load_n((const volatile uint64_t *)address, __ATOMIC_ACQUIRE);
    }
}

static inline void cpurt_word_store(volatile void *address, uint64_t value, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        __atomic_store_n((volatile uint8_t *)address, (uint8_t)value, __ATOMIC_RELEASE);
        return;
    case 2:
        __atomic_store_n((volatile uint16_t *)address, (uint16_t)value, __ATOMIC_RELEASE);
        return;
    case 4:
        __atomic_store_n((volatile uint32_t *)address, (uint32_t)value, __ATOMIC_RELEASE);
        return;
    default:
        __atomic_store_n((volatile uint64_t *)address, value, __ATOMIC_RELEASE);
        return;
    }
}

#endif
