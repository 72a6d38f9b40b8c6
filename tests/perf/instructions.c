/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest calls, each many times, for a tool that counts instructions: one PE, whose own memory is as remote as
 * anybody's on the way there. Every call starts a new count and ends with a dump that has its name.
 */
#include <stdio.h>
#include <valgrind/callgrind.h>

#include "shmem.h"

enum { REPEATS = 1000 };

#define COUNT(name, call)                                                                                    \
    do {                                                                                                     \
        call; /* what is done once is done */                                                                \
        CALLGRIND_ZERO_STATS;                                                                                \
        for (int i = 0; i < REPEATS; i++) {                                                                  \
            call;                                                                                            \
            __asm__ volatile("" ::: "memory");                                                               \
        }                                                                                                    \
        CALLGRIND_DUMP_STATS_AT(name);                                                                       \
    } while (0)

int main(void)
{
    if (aclshmemx_init() != 0)
        return 1;
    int64_t *word = aclshmem_calloc(8, sizeof *word), local = 1;
    int32_t *signal = aclshmem_calloc(1, sizeof *signal);
    if (word == NULL || signal == NULL)
        return 1;
    COUNT("nothing", (void)0);
    COUNT("putmem", aclshmem_putmem(word, &local, sizeof local, 0));
    COUNT("getmem", aclshmem_getmem(&local, word, sizeof local, 0));
    COUNT("p", aclshmem_int64_p(word, 1, 0));
    COUNT("fetch_add", (void)aclshmem_int64_atomic_fetch_add(word + 1, 1, 0));
    COUNT("quiet", aclshmem_quiet());
    COUNT("fence", aclshmem_fence());
    COUNT("put_signal",
          aclshmemx_putmem_signal(word, &local, sizeof local, signal, 1, ACLSHMEM_SIGNAL_SET, 0));
    COUNT("wait_until", aclshmem_int64_wait_until(word, ACLSHMEM_CMP_EQ, 1));
    printf("%d\n", REPEATS);
    aclshmem_free(signal);
    aclshmem_free(word);
    return aclshmem_finalize() == 0 ? 0 : 1;
}
