/* SPDX-License-Identifier: Apache-2.0 */
/* Engines chosen at init and changed while the job runs: what is there, what is refused, and that data goes on to arrive. */
#include <string.h>

#include "pe.h"

enum { WORDS = 20000, ALL = 15 };

static int me, n, next, previous;
static int32_t here[WORDS], back[WORDS];

static void around(int32_t *there, int64_t *count, uint32_t engines, int round)
{
    for (int i = 0; i < WORDS; i++)
        here[i] = me * 1000000 + round * WORDS + i;
    aclshmem_barrier_all();
    aclshmem_int32_put(there, here, WORDS, next);
    aclshmem_int64_atomic_add(count, 3, next);
    aclshmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        CHECK(there[i] == previous * 1000000 + round * WORDS + i);
    CHECK_INT(*count, 3 * (round + 1));
    aclshmem_int32_get(back, there, WORDS, next);
    for (int i = 0; i < WORDS; i++)
        CHECK(back[i] == here[i]);
    CHECK_INT(aclshmem_int64_atomic_fetch(count, next), 3 * (round + 1));
    CHECK(aclshmemx_get_engines() == engines);
    aclshmem_barrier_all();
}

int main(void)
{
    CHECK_ERROR(aclshmemx_set_engines(ACLSHMEM_DATA_OP_MTE), ACLSHMEM_NOT_INITED);
    CHECK(aclshmemx_get_engines() == 0);
    CHECK_ERROR(aclshmemx_sdma_notify(0), ACLSHMEM_NOT_INITED);
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 8 << 20;
    attr.option_attr.data_op_engine_type =
        (data_op_engine_type_t)(ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_ROCE | ACLSHMEM_DATA_OP_UDMA);
    CHECK_INT(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    int32_t *there = aclshmem_calloc(WORDS, sizeof *there);
    int64_t *count = aclshmem_calloc(1, sizeof *count);
    CHECK(there != NULL && count != NULL);
    CHECK(aclshmemx_get_engines() == ALL);
    CHECK(aclshmemx_sdma_notify(0) != NULL && aclshmemx_sdma_notify(5) == aclshmemx_sdma_notify(53));
    static const uint32_t sets[] = {ALL, 1, 2, 4, 8, 12, 1};
    for (int round = 0; round < (int)(sizeof sets / sizeof sets[0]); round++) {
        CHECK_INT(aclshmemx_set_engines(sets[round]), 0);
        around(there, count, sets[round], round);
    }
    CHECK_ERROR(aclshmemx_set_engines(0), ACLSHMEM_INVALID_VALUE);
    CHECK_ERROR(aclshmemx_set_engines(16), ACLSHMEM_INVALID_VALUE);
    CHECK(aclshmemx_get_engines() == 1);
    aclshmem_free(count);
    aclshmem_free(there);
    pe_finalize();
    /* What was not asked for cannot be chosen. */
    attr.option_attr.data_op_engine_type = ACLSHMEM_DATA_OP_ROCE;
    CHECK_INT(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    CHECK_ERROR(aclshmemx_set_engines(ACLSHMEM_DATA_OP_UDMA), ACLSHMEM_NOT_SUPPORTED);
    CHECK_ERROR(aclshmemx_sdma_notify(0), ACLSHMEM_NOT_SUPPORTED);
    CHECK(aclshmemx_get_engines() == (ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE));
    pe_finalize();
    return 0;
}
