/* SPDX-License-Identifier: Apache-2.0 */
/* [G-23] What kernels are told of PEs, teams, addresses and instances is what the host is told. */
#include "team.h"

#include "device.h"

enum { BLOCKS = 3 };

static struct {
    answers_t *out;
    aclshmem_team_t team;
} args_team;

static void check_answers(const answers_t *got, aclshmem_team_t team)
{
    CHECK_INT(got->my_pe, aclshmem_my_pe());
    CHECK_INT(got->n_pes, aclshmem_n_pes());
    CHECK_INT(got->team_my_pe, aclshmem_team_my_pe(team));
    CHECK_INT(got->team_n_pes, aclshmem_team_n_pes(team));
    for (int i = 0; i < ASKED; i++) {
        CHECK_INT(got->mapping[i], aclshmem_team_translate_pe(team, i - 1, ACLSHMEM_TEAM_WORLD));
        CHECK_INT(got->to_world[i], aclshmem_team_translate_pe(team, i - 1, ACLSHMEM_TEAM_WORLD));
        CHECK_INT(got->to_team[i], aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, i - 1, team));
    }
    CHECK(got->state != 0);
}

static void ask(answers_t *out, aclshmem_team_t team)
{
    memset(out, 0x5a, BLOCKS * sizeof *out);
    args_team.out = out;
    args_team.team = team;
    device_run("ask_team", BLOCKS, &args_team, sizeof args_team);
    for (int block = 0; block < BLOCKS; block++)
        check_answers(&out[block], team);
    memset(out, 0x5a, sizeof *out);
    ask_on_this_thread(team, out);
    check_answers(out, team);
}

static void teams(answers_t *out)
{
    static const aclshmem_team_t strange[] = {ACLSHMEM_TEAM_INVALID, -2,        7,
                                              ACLSHMEM_MAX_TEAMS,    INT32_MAX, INT32_MIN};
    ask(out, ACLSHMEM_TEAM_WORLD);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        ask(out, strange[i]);
    for (int round = 0; round < 3; round++) {
        aclshmem_team_t odd = ACLSHMEM_TEAM_INVALID, reversed = ACLSHMEM_TEAM_INVALID;
        int n = aclshmem_n_pes();
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, n > 1, n > 3 ? 2 : 1,
                                              (n + 1) / 2 - (n == 5), &odd),
                  0);
        ask(out, odd);
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &reversed), 0);
        ask(out, reversed);
        aclshmem_team_destroy(reversed);
        ask(out, reversed);
        if (odd != ACLSHMEM_TEAM_INVALID)
            aclshmem_team_destroy(odd);
        ask(out, odd);
    }
}

/* A kernel runs while a team is made and destroyed. */
static void teams_while_a_kernel_runs(void)
{
    static int sizes[2];
    struct {
        int *sizes;
        aclshmem_team_t team;
    } args = {sizes, 1};
    aclrtFuncHandle function = NULL;
    aclrtStream stream = NULL;
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "watch_team", &function));
    CHECK_ACL(aclrtCreateStream(&stream));
    CHECK_ACL(aclrtLaunchKernel(function, 1, &args, sizeof args, stream));
    aclshmem_team_t team = ACLSHMEM_TEAM_INVALID;
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, aclshmem_n_pes(), &team), 0);
    CHECK_INT(team, 1);
    while (__atomic_load_n(&sizes[0], __ATOMIC_ACQUIRE) <= 0)
        ;
    aclshmem_team_destroy(team);
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_INT(sizes[0], aclshmem_n_pes());
    CHECK_INT(sizes[1], aclshmem_my_pe());
    CHECK_ACL(aclrtDestroyStream(stream));
}

static void check_address(void *ptr, int pe)
{
    static uint64_t out[2];
    struct {
        void *ptr;
        int pe;
        uint64_t *out;
    } args = {ptr, pe, out};
    device_run("ask_address", 1, &args, sizeof args);
    CHECK((void *)(uintptr_t)out[0] == aclshmem_ptr(ptr, pe));
    CHECK(ptr_on_this_thread(ptr, pe) == aclshmem_ptr(ptr, pe));
    CHECK(out[1] == 0); /* no network adapter here */
}

static void addresses(void)
{
    int local = 0;
    char *device = aclshmem_malloc(100);
    CHECK(device != NULL);
    for (int pass = 0; pass < 2; pass++) {
        char *host = pass == 0 ? NULL : aclshmemx_malloc(100, HOST_SIDE);
        for (int pe = -1; pe <= aclshmem_n_pes(); pe++) {
            check_address(device, pe);
            check_address(device + 99, pe);
            check_address(&local, pe);
            check_address(host, pe); /* the heap of the host appears late */
            CHECK((aclshmem_ptr(host, pe) != NULL) == (pass == 1 && pe >= 0 && pe < aclshmem_n_pes()));
        }
    }
}

static void instances(answers_t *out)
{
    struct {
        answers_t *out;
        uint64_t id;
    } args = {out, 0};
    device_run("ask_instance", BLOCKS, &args, sizeof args);
    for (int block = 0; block < BLOCKS; block++)
        check_answers(&out[block], ACLSHMEM_TEAM_WORLD);
    args.id = 3;
    device_fails("ask_instance", &args, sizeof args, "instance 3 is not initialized");
    args.id = 1000;
    device_fails("ask_instance", &args, sizeof args, "instance 1000 is not initialized");
    CHECK_INT(use_instance_on_this_thread(3), -1);
    CHECK_INT(use_instance_on_this_thread(1000), -1);
    CHECK_INT(use_instance_on_this_thread(0), 0);
    ask(out, ACLSHMEM_TEAM_WORLD);

    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    aclshmemx_uniqueid_t uid;
    attr.n_pes = 1;
    attr.local_mem_size = 4 << 20;
    attr.instance_id = 3;
    attr.comm_args = &uid;
    CHECK_INT(aclshmemx_get_uniqueid(&uid), 0);
    int pe = aclshmem_my_pe(), n_pes = aclshmem_n_pes();
    CHECK_INT(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
    CHECK_INT(aclshmem_n_pes(), 1);
    args.id = 3;
    device_run("ask_instance", 1, &args, sizeof args);
    check_answers(out, ACLSHMEM_TEAM_WORLD);
    uint64_t third = out->state;
    args.id = 0;
    device_run("ask_instance", 1, &args, sizeof args);
    CHECK(out->my_pe == pe && out->n_pes == n_pes && out->state != third);
    /* A launch starts with the instance that was current when it was enqueued. */
    ask(out, ACLSHMEM_TEAM_WORLD);
    CHECK(out->state == third);
    CHECK_INT(aclshmemx_instance_ctx_set(0), 0);
    ask(out, ACLSHMEM_TEAM_WORLD);
    CHECK(out->state != third);
    CHECK_INT(aclshmemx_finalize(3), 0);
    args.id = 3;
    device_fails("ask_instance", &args, sizeof args, "instance 3 is not initialized");
    ask(out, ACLSHMEM_TEAM_WORLD);
}

int main(void)
{
    static answers_t out[BLOCKS];
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    args_team.out = out;
    args_team.team = ACLSHMEM_TEAM_WORLD;
    device_run("ask_team", 1, &args_team, sizeof args_team); /* before init */
    CHECK(out[0].my_pe == -1 && out[0].n_pes == -1 && out[0].team_my_pe == -1 && out[0].state == 0);
    pe_init(8 << 20);
    teams(out);
    teams_while_a_kernel_runs();
    addresses();
    instances(out);
    pe_finalize();
    device_run("ask_team", 1, &args_team, sizeof args_team);
    CHECK(out[0].my_pe == -1 && out[0].n_pes == -1 && out[0].state == 0);
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
