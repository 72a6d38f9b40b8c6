/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SDMA, ROCE and UDMA by name, from kernels: every function, with results checked; 48 cores that overrun one queue; two
 * launches at a time; notifies; meetings over ROCE; and failures that the stream reports.
 */
#include "device.h"
#include "engines.h"

static int me, n, next, previous;
static engines_t *e;

typedef struct engine_args {
    engines_t *e;
    int engine;
} engine_args_t;

static void fresh(void)
{
    aclshmem_barrier_all();
    memset(e, 0, sizeof *e);
    for (int i = 0; i < ENGINES_BYTES + 64; i++)
        e->source[i] = engines_pattern(me, i);
    for (int i = 0; i <= ENGINES_POSTS; i++)
        e->rounds[i] = (uint64_t)i;
    for (int i = 0; i < 8; i++)
        e->word[i] = i == 0 ? 100 + me : 0;
    aclshmem_barrier_all();
}

static void moves(void)
{
    for (int engine = ENGINES_SDMA; engine <= ENGINES_UDMA; engine++) {
        engine_args_t args = {e, engine};
        fresh();
        device_run("engines_move", 1, &args, sizeof args);
        aclshmem_barrier_all();
        for (int i = 0; i < ENGINES_BYTES; i++)
            CHECK(e->target[17 + i] == engines_pattern(previous, 3 + i));
        CHECK(e->target[16] == 0 && e->target[17 + ENGINES_BYTES] == 0);
        CHECK(e->back[0] == 0 && e->back[1 + ENGINES_BYTES] == 0);
        if (engine == ENGINES_SDMA)
            CHECK_INT(e->of_core[0][0], 100 + previous);
    }
    fresh();
    device_run("engines_udma_only", 1, &e, sizeof e);
    aclshmem_barrier_all();
    for (int i = 1; i < 4; i++)
        CHECK_INT(e->word[i], n < 3 ? 0 : 100 + previous);
    CHECK_INT(e->word[4], 0);
}

static void atomics(void)
{
    for (int engine = ENGINES_ROCE; engine <= ENGINES_UDMA; engine++) {
        engine_args_t args = {e, engine};
        fresh();
        device_run("engines_atomics", 1, &args, sizeof args);
    }
}

/* Two launches on two streams, all cores of both to the same queues. */
static void crowds(void)
{
    aclrtFuncHandle function = NULL;
    aclrtStream stream[2];
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "engines_crowd", &function));
    for (int engine = ENGINES_SDMA; engine <= ENGINES_UDMA; engine++) {
        engine_args_t args = {e, engine};
        uint32_t cores[2] = {ENGINES_CORES, n < 3 ? 5 : 1};
        fresh();
        for (int i = 0; i < 2; i++) {
            CHECK_ACL(aclrtCreateStream(&stream[i]));
            CHECK_ACL(aclrtLaunchKernel(function, cores[i], &args, sizeof args, stream[i]));
        }
        for (int i = 0; i < 2; i++) {
            CHECK_ACL(aclrtSynchronizeStream(stream[i]));
            CHECK_ACL(aclrtDestroyStream(stream[i]));
        }
        aclshmem_barrier_all();
        if (me == 0)
            CHECK_INT(e->count, (uint64_t)n * (cores[0] + cores[1]) * ENGINES_POSTS);
        for (int core = 0; core < ENGINES_CORES; core++)
            CHECK_INT(e->of_core[core][0], ENGINES_POSTS);
    }
}

static void notifies(void)
{
    enum { CORES = 8 };
    aclrtFuncHandle function = NULL;
    aclrtStream stream = NULL, waiter = NULL;
    fresh();
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "engines_notify", &function));
    CHECK_ACL(aclrtCreateStream(&stream));
    CHECK_ACL(aclrtCreateStream(&waiter));
    for (uint32_t core = 0; core < CORES; core++)
        CHECK_ACL(aclrtWaitAndResetNotify((aclrtNotify)aclshmemx_sdma_notify(core), waiter, 0));
    CHECK_ACL(aclrtLaunchKernel(function, CORES, &e, sizeof e, stream));
    CHECK_ACL(aclrtSynchronizeStream(waiter));
    for (int core = 0; core < CORES; core++)
        CHECK_INT(e->of_core[core][0], 77 + core);
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtDestroyStream(waiter));
}

static void meetings(void)
{
    struct {
        engines_t *e;
        aclshmem_team_t team;
        int rounds;
    } args = {e, ACLSHMEM_TEAM_INVALID, 6};
    fresh();
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &args.team), 0);
    device_run("engines_meet", 1, &args, sizeof args);
    aclshmem_barrier_all();
    aclshmem_team_destroy(args.team);
    /* The same slot, another set of PEs. */
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n - (n > 1), &args.team), 0);
    fresh();
    device_run("engines_meet", 1, &args, sizeof args);
    aclshmem_barrier_all();
    aclshmem_team_destroy(args.team);
}

/* Each ends its launch with words, and what comes afterwards works. */
static void mistakes(void)
{
    static const char *const words[] = {
        "at least 64", "does not exist", "not in the symmetric heap", "flag 8",
        "not aligned", "unified buffer", "stopped with code",         "does not exist"};
    CHECK_INT(aclshmemx_set_log_level(4), 0);
    for (int what = 0; what < (int)(sizeof words / sizeof words[0]); what++) {
        engine_args_t args = {e, what == 6 ? 100 : what};
        if (what == 6) /* breaks a queue for good: last */
            continue;
        device_fails("engines_wrong", &args, sizeof args, words[what]);
    }
    engine_args_t args = {e, ENGINES_UDMA};
    fresh();
    device_run("engines_atomics", 1, &args, sizeof args);
    aclshmem_barrier_all();
    args.engine = 6;
    device_fails("engines_wrong", &args, sizeof args, words[6]);
    CHECK(aclshmemx_set_log_level(2) == 0);
}

int main(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 16 << 20;
    attr.option_attr.data_op_engine_type =
        (data_op_engine_type_t)(ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_ROCE | ACLSHMEM_DATA_OP_UDMA);
    CHECK_INT(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    next = (me + 1) % n;
    previous = (me + n - 1) % n;
    e = aclshmem_malloc(sizeof *e);
    CHECK(e != NULL);
    moves();
    atomics();
    crowds();
    notifies();
    meetings();
    mistakes();
    aclshmem_barrier_all();
    aclshmem_free(e);
    (void)aclshmem_finalize(); /* says that a queue of the DMA engine is broken */
    return 0;
}
