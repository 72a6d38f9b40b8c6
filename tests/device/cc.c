/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of kernels: all kinds, launches of different sizes, teams, mixed kernels, two launches at once. */
#include "cc.h"

#include <sched.h>

#include "device.h"

static void meet(const char *kernel, uint32_t blocks, int32_t cores, cc_words_t *words, aclshmem_team_t team,
                 int rounds, int kind)
{
    struct {
        cc_words_t *words;
        aclshmem_team_t team;
        int rounds, kind;
    } args = {words, team, rounds, kind};
    memset(words, 0, sizeof *words);
    words->cores = cores;
    aclshmem_barrier_all();
    if (team != ACLSHMEM_TEAM_INVALID)
        device_run(kernel, blocks, &args, sizeof args);
    aclshmem_barrier_all();
    for (int core = 0; core < cores; core++)
        CHECK_INT(words->counts[core], team != ACLSHMEM_TEAM_INVALID ? rounds : 0);
}

static void teams(cc_words_t *words)
{
    int n = aclshmem_n_pes();
    for (int pass = 0; pass < 3; pass++) { /* slots of teams are used again */
        aclshmem_team_t odd = ACLSHMEM_TEAM_INVALID, low = ACLSHMEM_TEAM_INVALID;
        if (n > 1)
            CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 2, n / 2, &odd), 0);
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n == 1 ? 1 : (n + pass) / 2, &low),
                  0);
        meet("meet_cores", 3, 3, words, odd, 5, CC_BARRIER);
        meet("meet_cores", 2, 2, words, low, 4 + pass, CC_SYNC);
        meet("meet_cores", 2, 2, words, low, 3, CC_BARRIER_VEC);
        struct {
            cc_words_t *words;
            aclshmem_team_t one, other;
        } args = {words, odd, low};
        memset(words, 0, sizeof *words);
        words->cores = 2;
        aclshmem_barrier_all();
        device_run("meet_in_turn", 2, &args, sizeof args);
        aclshmem_barrier_all();
        if (odd != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(odd);
        if (pass == 2)
            break; /* the last stays for finalize */
        if (low != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(low);
    }
}

/* A launch that finds another one inside a barrier of the same team ends with a report; the other one goes on. */
static void two_at_once(int32_t *gate)
{
    aclrtFuncHandle function = NULL;
    aclrtStream stream = NULL;
    aclshmem_team_t world = ACLSHMEM_TEAM_WORLD;
    gate[0] = gate[1] = 0;
    aclshmem_barrier_all();
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "meet_late", &function));
    CHECK_ACL(aclrtCreateStream(&stream));
    CHECK_ACL(aclrtLaunchKernel(function, 2, &gate, sizeof gate, stream));
    while (__atomic_load_n(&gate[1], __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    device_fails("meet_team", &world, sizeof world, "another launch is inside a barrier of that team");
    aclshmemx_signal_op(gate, 1, ACLSHMEM_SIGNAL_SET, aclshmem_my_pe());
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtDestroyStream(stream));
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 0;
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    cc_words_t *words = aclshmem_calloc(1, sizeof *words);
    CHECK(words != NULL);
    if (blocks != 0) { /* many more cores than processors */
        meet("meet_cores", (uint32_t)blocks, blocks, words, ACLSHMEM_TEAM_WORLD, 20, CC_BARRIER_ALL);
        pe_finalize();
        return 0;
    }
    int rounds = aclshmem_n_pes() > 3 ? 5 : 20;
    for (int kind = 0; kind < CC_KINDS; kind++) {
        meet("meet_cores", 1, 1, words, ACLSHMEM_TEAM_WORLD, rounds, kind);
        uint32_t cores = 1 + ((uint32_t)aclshmem_my_pe() + (uint32_t)kind) % 4;
        meet("meet_cores", cores, (int32_t)cores, words, ACLSHMEM_TEAM_WORLD, rounds, kind);
        meet("meet_mixed", cores, 2 * (int32_t)cores, words, ACLSHMEM_TEAM_WORLD, 5, kind);
    }
    teams(words);
    aclshmem_team_t none = ACLSHMEM_TEAM_INVALID, strange = 99;
    device_run("meet_team", 3, &none, sizeof none);
    device_fails("meet_team", &strange, sizeof strange, "barrier: 99 is no team of PE");
    strange = ACLSHMEM_MAX_TEAMS;
    device_fails("meet_team", &strange, sizeof strange, "barrier: 2048 is no team of PE");
    aclshmem_barrier_all();
    two_at_once((int32_t *)words->counts);
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
