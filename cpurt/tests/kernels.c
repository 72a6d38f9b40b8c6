/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel binary for the tests: loaded at run time, with a name of its own and one the program has, too. */
#include <stdatomic.h>

#include "aicore/aicore.h"

ACL_KERNEL(loaded_fill, __gm__ uint32_t *, out, uint32_t, value)
{
    out[aicore_block_index()] = value + aicore_block_index();
}

ACL_KERNEL(who_am_i, __gm__ uint32_t *, out)
{
    *out = 2; /* the program's own answers 1 */
}

ACL_KERNEL(loaded_wait, _Atomic(uint32_t) *, word, _Atomic(uint32_t) *, out)
{
    while (atomic_load(word) == 0)
        aicore_poll(word, 4);
    (void)atomic_fetch_add(out, 1);
}
