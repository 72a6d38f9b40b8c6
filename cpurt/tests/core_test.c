/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives of a core, from kernels in the binary that the command line names: copies, adds, flags, the rest. */
#include "support.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "acl/acl_cpu.h"
#include "core_kernels.h"
#include "core_run.h"

static uint32_t between(uint64_t *seed, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(core_random(seed) % (high - low + 1));
}

/* --- Copies --- */

enum { UB = 192 << 10, MEMORY = 1 << 20 };

static void fill(unsigned char *memory, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)core_random(&seed);
}

static uint32_t rounded(uint32_t bytes)
{
    return (bytes + 31) / 32 * 32;
}

/* What the rows should do, on plain arrays. */
static void expect_rows(const core_rows_args_t *args, const unsigned char *from, unsigned char *to)
{
    static unsigned char buffer[UB];

    for (uint64_t row = 0; row < args->in.count; row++)
        memcpy(buffer + args->ub + row * (rounded(args->in.bytes) + 32 * args->in.ub_gap),
               from + row * (args->in.bytes + args->in.memory_gap), args->in.bytes);
    for (uint64_t row = 0; row < args->out.count; row++)
        memcpy(to + row * (args->out.bytes + args->out.memory_gap),
               buffer + args->ub + row * (rounded(args->out.bytes) + 32 * args->out.ub_gap), args->out.bytes);
}

typedef struct {
    unsigned char *source, *target, *expected;
} areas_t;

static areas_t areas(void)
{
    const areas_t area = {malloc(MEMORY), malloc(MEMORY), malloc(MEMORY)};

    assert_true(area.source != NULL && area.target != NULL && area.expected != NULL);
    fill(area.source, MEMORY, 1);
    return area;
}

static void free_areas(areas_t area)
{
    free(area.source);
    free(area.target);
    free(area.expected);
}

static void check(areas_t area, size_t shift, uint64_t ub, aicore_rows_t in, aicore_rows_t out)
{
    const core_rows_args_t args = {area.source + shift, area.target + shift, ub, in, out};

    memset(area.target, 0x5a, MEMORY);
    memset(area.expected, 0x5a, MEMORY);
    expect_rows(&args, area.source + shift, area.expected + shift);
    core_run("core_rows", 1, &args, sizeof args);
    assert_memory_equal(area.target, area.expected, MEMORY);
}

static void check_rows(areas_t area, uint32_t count, uint32_t bytes, uint32_t gap_in, uint32_t gap_out,
                       uint32_t ub_gap, uint64_t ub, size_t shift)
{
    check(area, shift, ub, (aicore_rows_t){count, bytes, gap_in, ub_gap},
          (aicore_rows_t){count, bytes, gap_out, ub_gap});
}

static void rows_as_the_hardware_lays_them(void **state)
{
    const areas_t area = areas();
    uint64_t seed = 5;

    (void)state;
    check_rows(area, 4095, 1, 0, 0, 0, 0, 3);
    check_rows(area, 4095, 1, 7, 100, 0, 0, 1);
    check_rows(area, 4095, 32, 0, 1, 0, 0, 0);
    check_rows(area, 1, UB, 0, 0, 0, 0, 13);
    check_rows(area, 2, UB / 2, 1, 2, 0, 0, 13);
    check_rows(area, 48, 33, 5, 9, 126, 32, 7);
    /* Rows that come out are pieces of those that went in. */
    check(area, 9, 64, (aicore_rows_t){50, 64, 3, 2}, (aicore_rows_t){50, 32, 5, 3});
    check(area, 0, 0, (aicore_rows_t){20, 320, 0, 0}, (aicore_rows_t){200, 31, 1, 0});
    for (int i = 0; i < 60; i++) {
        const uint32_t bytes = between(&seed, 1, 700), ub_gap = between(&seed, 0, 3);
        const uint32_t most = (UB - 64) / (rounded(bytes) + 32 * ub_gap);

        check_rows(area, between(&seed, 1, most < 300 ? most : 300), bytes, between(&seed, 0, 999),
                   between(&seed, 0, 999), ub_gap, 32 * between(&seed, 0, 2), between(&seed, 0, 63));
    }
    free_areas(area);
}

static void plain_copies_of_any_length(void **state)
{
    const areas_t area = areas();
    const uint64_t lengths[] = {1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 4095, 4096, 65537, UB - 32, UB};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t shift = 0; shift < 3; shift++) {
            const struct {
                const void *from;
                void *to;
                uint64_t ub, bytes;
            } args = {area.source + 8 * shift, area.target + 8 + shift, lengths[i] == UB ? 0 : 32,
                      lengths[i]};

            memset(area.target, 0x5a, MEMORY);
            memset(area.expected, 0x5a, MEMORY);
            memcpy(area.expected + 8 + shift, args.from, args.bytes);
            core_run("core_plain", 1, &args, sizeof args);
            assert_memory_equal(area.target, area.expected, MEMORY);
        }
    free_areas(area);
}

static void copies_past_the_buffer(void **state)
{
    const areas_t area = areas();
    const char *const checked = getenv("SHMEM_CPU_CHECK");
    uint32_t errors = 0;

    (void)state;
    for (uint64_t bytes = 0; bytes < MEMORY - 1; bytes = bytes * 3 + 1) {
        const struct {
            const void *from;
            void *to;
            uint64_t bytes;
            uint32_t *errors;
        } args = {area.source, area.target + 1, bytes, &errors};

        memset(area.target, 0x5a, MEMORY);
        memset(area.expected, 0x5a, MEMORY);
        memcpy(area.expected + 1, area.source, bytes);
        if (checked != NULL && bytes > 0) {
            core_launch("core_through", 1, &args, sizeof args);
            fails(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "checked mode");
            break;
        }
        core_run("core_through", 1, &args, sizeof args);
        assert_memory_equal(area.target, area.expected, MEMORY);
    }
    assert_true(errors == 0 || checked != NULL);
    free_areas(area);
}

/* --- What a core refuses --- */

static void refused(core_call_args_t args, aclError code, const char *words)
{
    char whole[160];

    (void)snprintf(whole, sizeof whole, "kernel core_call, block 1 of 3: %s", words);
    core_launch("core_call", 3, &args, sizeof args);
    fails(aclrtSynchronizeStream(NULL), code, whole);
    ok(aclrtSynchronizeStream(NULL));
}

#define REFUSED(words, ...)                                                                                  \
    refused((core_call_args_t){__VA_ARGS__}, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, (words))

static void bad_copies_are_refused(void **state)
{
    static unsigned char memory[64];

    (void)state;
    REFUSED("aicore_copy_in: 0 bytes; allowed are 1 to 2097151", .call = CALL_COPY_IN, .memory = memory);
    REFUSED("aicore_copy_out: 2097152 bytes", .call = CALL_COPY_OUT, .memory = memory, .bytes = 1 << 21);
    REFUSED("aicore_copy_out: 4294967297 bytes", .call = CALL_COPY_OUT, .memory = memory,
            .bytes = (UINT64_C(1) << 32) + 1);
    REFUSED("aicore_copy_in: the address in global memory is NULL", .call = CALL_COPY_IN, .bytes = 8);
    REFUSED("aicore_copy_in: address 8 of the unified buffer is not a multiple of 32", .call = CALL_COPY_IN,
            .memory = memory, .bytes = 8, .ub = 8);
    REFUSED("aicore_copy_out: address 33 of", .call = CALL_COPY_OUT, .memory = memory, .bytes = 8, .ub = 33);
    REFUSED("aicore_copy_in: 64 bytes at 196576 of the unified buffer, which has 196608",
            .call = CALL_COPY_IN, .memory = memory, .bytes = 33, .ub = UB - 32);
    REFUSED("aicore_copy_out: 33 bytes at 196576", .call = CALL_COPY_OUT, .memory = memory, .bytes = 33,
            .ub = UB - 32);
    REFUSED("aicore_copy_out: 1 bytes at 18446744073709551584", .call = CALL_COPY_OUT, .memory = memory,
            .bytes = 1, .ub = UINT64_MAX - 31);
    REFUSED("aicore_copy_in_rows: 0 rows; allowed are 1 to 4095", .call = CALL_COPY_IN_ROWS, .memory = memory,
            .rows = {0, 1, 0, 0});
    REFUSED("aicore_copy_out_rows: 4096 rows", .call = CALL_COPY_OUT_ROWS, .memory = memory,
            .rows = {4096, 1, 0, 0});
    REFUSED("aicore_copy_in_rows: 0 bytes", .call = CALL_COPY_IN_ROWS, .memory = memory,
            .rows = {1, 0, 0, 0});
    REFUSED("aicore_copy_out_rows: 196609 bytes at 0", .call = CALL_COPY_OUT_ROWS, .memory = memory,
            .rows = {2, 1, 0, UB / 32 - 1});
    REFUSED("aicore_copy_in_rows: 549755813920 bytes at 0", .call = CALL_COPY_IN_ROWS, .memory = memory,
            .rows = {5, 1, 0, UINT32_MAX});
    REFUSED("aicore_copy_out: address", .call = CALL_COPY_OUT, .memory = memory + 1, .bytes = 8,
            .element = AICORE_ADD_FLOAT);
    REFUSED("aicore_copy_out: address", .call = CALL_COPY_OUT, .memory = memory, .bytes = 3,
            .element = AICORE_ADD_HALF);
    REFUSED("aicore_copy_out_rows: address", .call = CALL_COPY_OUT_ROWS, .memory = memory,
            .element = AICORE_ADD_INT32, .rows = {2, 4, 2, 0});
    REFUSED("aicore_atomic_mode: there is no kind of element 7", .call = CALL_ATOMIC_MODE, .element = 7);
}

static void bad_flags_are_refused(void **state)
{
    (void)state;
    REFUSED("flag 5 from MTE2 to MTE3 is still up at the end of the kernel", .call = CALL_FLAG_SET,
            .from = AICORE_PIPE_MTE2, .to = AICORE_PIPE_MTE3, .number = 5);
    REFUSED("aicore_flag_set: flag 0 from V to S is up already", .call = CALL_FLAG_TWICE,
            .from = AICORE_PIPE_V, .to = AICORE_PIPE_S);
    REFUSED("aicore_flag_wait: nobody has set flag 2 from S to MTE2", .call = CALL_FLAG_WAIT,
            .from = AICORE_PIPE_S, .to = AICORE_PIPE_MTE2, .number = 2);
    REFUSED("aicore_flag_set: flag 8 from S to V; allowed are 0 to 7", .call = CALL_FLAG_SET,
            .from = AICORE_PIPE_S, .to = AICORE_PIPE_V, .number = 8);
    REFUSED("aicore_flag_wait: flags go from one pipe to another, not from ALL", .call = CALL_FLAG_WAIT,
            .from = AICORE_PIPE_ALL, .to = AICORE_PIPE_V);
    REFUSED("aicore_flag_set: flags go from one pipe to another, not from V (1) to V (1)",
            .call = CALL_FLAG_SET, .from = AICORE_PIPE_V, .to = AICORE_PIPE_V);
    REFUSED("aicore_barrier: there is no pipe 7", .call = CALL_BARRIER, .from = 7);
}

static void bad_words_are_refused(void **state)
{
    static uint64_t memory[2];

    (void)state;
    REFUSED("aicore_load: 3 bytes; allowed are 1, 2, 4 and 8", .call = CALL_LOAD, .memory = memory,
            .bytes = 3);
    REFUSED("aicore_store: address", .call = CALL_STORE, .memory = (char *)memory + 2, .bytes = 4);
    REFUSED("aicore_load: address", .call = CALL_LOAD, .bytes = 4);
    REFUSED("aicore_touch: 2 bytes at 196607 of the unified buffer", .call = CALL_TOUCH, .bytes = 2,
            .ub = UB - 1);
    REFUSED("aicore_touch: there is no pipe 6", .call = CALL_TOUCH, .from = AICORE_PIPE_ALL);
    refused((core_call_args_t){.call = CALL_TRAP, .number = 9}, ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION,
            "number 9");
}

static int wait_too_long(void *argument)
{
    aclrtFuncHandle function = NULL;

    (void)argument;
    if (setenv("SHMEM_CPU_KERNEL_TIMEOUT", "0.2", 1) != 0 || core_begin(NULL) != 0 ||
        aclrtBinaryGetFunction(core_binary, "core_wait", &function) != ACL_SUCCESS ||
        aclrtLaunchKernel(function, 1, NULL, 0, NULL) != ACL_SUCCESS ||
        aclrtSynchronizeStream(NULL) != ACL_ERROR_RT_VECTOR_CORE_TIMEOUT)
        return 2;
    return strstr(aclGetRecentErrMsg(), "s for a word of the test") != NULL && t_end(NULL) == 0 ? 0 : 3;
}

static void waits_say_what_for(void **state)
{
    (void)state;
    assert_int_equal(t_fork(wait_too_long, NULL), 0);
}

/* --- The rest --- */

static void pointers_into_the_buffer(void **state)
{
    enum { COUNT = 1000 };
    uint32_t *const out = calloc(48 * COUNT, sizeof *out), errors = 0;
    const struct {
        uint32_t *out, count, factor, *errors;
    } args = {out, COUNT, 3, &errors};

    (void)state;
    for (int round = 0; round < 5; round++) {
        memset(out, 0, 48 * COUNT * sizeof *out);
        core_run("core_pointers", 48, &args, sizeof args);
        for (uint32_t i = 0; i < 48 * COUNT; i++)
            assert_int_equal(out[i], i % COUNT * 3 + i / COUNT);
    }
    assert_int_equal(errors, 0);
    free(out);
}

static void scalar_words_go_round(void **state)
{
    static uint64_t words[8 * 12] __attribute__((aligned(64)));
    const struct {
        uint64_t *words;
        uint32_t rounds;
    } args = {words, 200};

    (void)state;
    memset(words, 0, sizeof words);
    core_run("core_ring", 12, &args, sizeof args);
    for (int i = 0; i < 12; i++)
        assert_int_equal(words[8 * i], 200);
}

static void local_memory(void **state)
{
    uint32_t errors = 0;
    const struct {
        uint32_t *errors;
    } args = {&errors};

    (void)state;
    for (int i = 0; i < 3; i++)
        core_run("core_local", 20, &args, sizeof args);
    assert_int_equal(errors, 0);
    void *const mine = aicore_local();
    assert_ptr_equal(mine, aicore_local());
    memset(mine, 1, AICORE_LOCAL_BYTES);
}

static void slots(void **state)
{
    uint64_t out[5] = {0};
    int a = 0, b = 0;
    const struct {
        uint64_t *out;
        uint32_t other;
    } args = {out, 255};

    (void)state;
    ok(aclcpuSlotPublish(0, &a));
    ok(aclcpuSlotPublish(255, &b));
    fails(aclcpuSlotPublish(256, &b), ACL_ERROR_INVALID_PARAM, "slot 256; allowed are 0 to 255");
    fails(aclcpuSlotSelect(256), ACL_ERROR_INVALID_PARAM, "slot 256");
    core_run("core_slots", 1, &args, sizeof args);
    const uint64_t first = (uint64_t)(uintptr_t)&a, second = (uint64_t)(uintptr_t)&b;
    assert_true(out[0] == first && out[1] == UINT64_MAX && out[2] == first && out[3] == 0 &&
                out[4] == second);
    /* The slot is that of the moment the launch was made, not of the moment it runs. */
    ok(aclcpuSlotSelect(255));
    core_launch("core_slots", 1, &args, sizeof args);
    ok(aclcpuSlotSelect(3));
    ok(aclrtSynchronizeStream(NULL));
    assert_true(out[0] == second);
    core_run("core_slots", 1, &args, sizeof args);
    assert_true(out[0] == 0 && out[2] == 0 && out[4] == second);
    /* A plain thread has a choice of its own. */
    assert_null(aicore_slot());
    assert_int_equal(aicore_slot_use(256), -1);
    assert_int_equal(aicore_slot_use(0), 0);
    assert_ptr_equal(aicore_slot(), &a);
    ok(aclcpuSlotSelect(255));
    assert_ptr_equal(aicore_slot(), &b);
    ok(aclcpuSlotPublish(255, NULL));
    assert_null(aicore_slot());
    ok(aclcpuSlotSelect(0));
}

static void nothing_is_left_in_slots(void **state)
{
    int a = 0;

    assert_int_equal(t_begin(state), 0);
    ok(aclcpuSlotPublish(2, &a));
    ok(aclcpuSlotSelect(2));
    assert_ptr_equal(aicore_slot(), &a);
    assert_int_equal(t_end(state), 0);
    assert_int_equal(t_begin(state), 0);
    assert_null(aicore_slot());
    ok(aclcpuSlotSelect(2));
    assert_null(aicore_slot());
    assert_int_equal(t_end(state), 0);
}

/* Sleeps as users of doorbells do. A bell that does not wake leaves the test hanging, and its time-out fails it. */
static void *sleeper(void *argument)
{
    aicore_doorbell_t *const bell = argument;

    while (__atomic_load_n(&bell->value, __ATOMIC_ACQUIRE) == 5) {
        __atomic_store_n(&bell->sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&bell->value, __ATOMIC_ACQUIRE) == 5)
            (void)syscall(SYS_futex, &bell->value, FUTEX_WAIT, 5, NULL, NULL, 0);
    }
    return NULL;
}

static void doorbells(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        aicore_doorbell_t bells[2] = {{.value = 5}, {.value = 5}};
        const struct {
            aicore_doorbell_t *ring, *store;
            uint32_t value;
        } args = {&bells[0], &bells[1], 9};
        pthread_t threads[2];

        for (int bell = 0; bell < 2; bell++)
            assert_int_equal(pthread_create(&threads[bell], NULL, sleeper, &bells[bell]), 0);
        while (__atomic_load_n(&bells[0].sleepers, __ATOMIC_ACQUIRE) == 0)
            (void)sched_yield(); /* a ring is for those who sleep */
        core_run("core_bell", 1, &args, sizeof args);
        for (int bell = 0; bell < 2; bell++)
            assert_int_equal(pthread_join(threads[bell], NULL), 0);
        assert_int_equal(bells[0].value, 6);
        assert_int_equal(bells[1].value, 9);
    }
    aicore_doorbell_t quiet = {.value = 5};
    aicore_doorbell_ring(&quiet); /* nobody sleeps: nothing to do */
    assert_int_equal(quiet.value, 5);
    aicore_doorbell_store(&quiet, 7);
    assert_int_equal(quiet.value, 7);
}

/* What may be called by any thread works on this one; what may not ends the program. */
static int use_a_pipe(void *argument)
{
    (void)argument;
    if (freopen("/dev/null", "w", stderr) == NULL)
        return 1;
    aicore_barrier(AICORE_PIPE_ALL);
    return 0;
}

static void on_a_plain_thread(void **state)
{
    uint64_t word = 0, copy = 0;

    (void)state;
    aicore_store(&word, UINT64_C(0x1122334455667788), 8);
    assert_int_equal(aicore_load((const char *)&word + 4, 4), 0x11223344);
    assert_int_equal(aicore_load((const char *)&word + 6, 2), 0x1122);
    assert_int_equal(aicore_load((const char *)&word + 7, 1), 0x11);
    aicore_store(&word, 0xff, 1);
    aicore_cache_line(&word);
    aicore_cache_range(&word, 8);
    aicore_cache_all();
    aicore_fence();
    assert_true(aicore_copies_directly());
    aicore_copy_through(&copy, &word, sizeof copy);
    assert_true(copy == word && copy == UINT64_C(0x11223344556677ff));
    assert_int_equal(t_fork(use_a_pipe, NULL), -1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        /* Forks come first: once a device is in use, it is too late for them. */
        cmocka_unit_test(on_a_plain_thread),
        cmocka_unit_test(waits_say_what_for),
        cmocka_unit_test(nothing_is_left_in_slots),
        cmocka_unit_test_setup_teardown(plain_copies_of_any_length, core_begin, t_end),
        cmocka_unit_test_setup_teardown(rows_as_the_hardware_lays_them, core_begin, t_end),
        cmocka_unit_test_setup_teardown(copies_past_the_buffer, core_begin, t_end),
        cmocka_unit_test_setup_teardown(bad_copies_are_refused, core_begin, t_end),
        cmocka_unit_test_setup_teardown(bad_flags_are_refused, core_begin, t_end),
        cmocka_unit_test_setup_teardown(bad_words_are_refused, core_begin, t_end),
        cmocka_unit_test_setup_teardown(pointers_into_the_buffer, core_begin, t_end),
        cmocka_unit_test_setup_teardown(scalar_words_go_round, core_begin, t_end),
        cmocka_unit_test_setup_teardown(local_memory, core_begin, t_end),
        cmocka_unit_test_setup_teardown(slots, core_begin, t_end),
        cmocka_unit_test_setup_teardown(doorbells, core_begin, t_end),
    };

    if (!core_arguments(argc, argv))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
