/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: all blocks at once however few CPUs there are, and a report for each that goes wrong. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aicore/aicore.h"
#include "runtime/rt_ffts.h"

typedef _Atomic(uint32_t) word_t;

/* Block i waits for block i + 1; the last one starts the chain. */
ACL_KERNEL_VECTOR(chain, word_t *, flags, uint32_t, round)
{
    const uint32_t me = aicore_block_index();

    if (me + 1 < aicore_block_count())
        while (atomic_load(&flags[me + 1]) < round)
            aicore_poll(&flags[me + 1], 4);
    atomic_store(&flags[me], round);
}

/* The same, but the last block waits for a word, too. */
ACL_KERNEL(chain_after, word_t *, flags, word_t *, first)
{
    const uint32_t me = aicore_block_index();
    word_t *const before = me + 1 < aicore_block_count() ? &flags[me + 1] : first;

    while (atomic_load(before) == 0)
        aicore_poll(before, 4);
    atomic_store(&flags[me], 1);
}

ACL_KERNEL_MIXED(mixed_chain, word_t *, flags, uint32_t, round)
{
    const uint32_t me = aicore_block_index(), cores = aicore_block_count() * aicore_self()->sub_count;

    if (me + 1 < cores)
        while (atomic_load(&flags[me + 1]) < round)
            aicore_poll(&flags[me + 1], 4);
    atomic_store(&flags[me], round);
}

/* Says its own word, then waits for another. */
ACL_KERNEL(meet, word_t *, mine, word_t *, other)
{
    atomic_store(mine, 1);
    while (atomic_load(other) == 0)
        aicore_poll(other, 4);
}

ACL_KERNEL(look_at_many, word_t *, words, uint32_t, count)
{
    aicore_wait_t wait;
    uint32_t found = 0;

    aicore_wait_begin(&wait);
    while (found == 0)
        for (uint32_t i = 0; i < count && found == 0; i++) {
            found = atomic_load(&words[i]);
            if (found == 0)
                aicore_wait_step(&wait, &words[i], 4);
        }
}

ACL_KERNEL(rounds, word_t *, counter, uint32_t, count, word_t *, errors)
{
    for (uint32_t i = 1; i <= count; i++) {
        (void)atomic_fetch_add(counter, 1);
        aicore_sync_all();
        if (atomic_load(counter) != i * aicore_block_count())
            (void)atomic_fetch_add(errors, 1);
        aicore_sync_all();
    }
}

ACL_KERNEL(fall, uint32_t, which, int32_t, value)
{
    if (aicore_block_index() == which)
        aicore_trap("value %d is not good", value);
    aicore_sync_all(); /* the others wait here for one that will not come */
}

ACL_KERNEL(count_blocks, word_t *, counters)
{
    (void)atomic_fetch_add(&counters[aicore_block_index()], 1);
}

ACL_KERNEL(own_buffer, word_t *, errors, uint32_t, value)
{
    uint32_t *const ub = aicore_ub();
    const uint32_t words = aicore_ub_bytes() / 4, mark = value * 1000 + aicore_block_index();

    if (ub == NULL || (uintptr_t)ub % 512 != 0 || aicore_ub_bytes() < 192 << 10)
        (void)atomic_fetch_add(errors, 1);
    for (uint32_t i = 0; i < words; i++)
        ub[i] = mark;
    aicore_sync_all();
    for (uint32_t i = 0; i < words; i++)
        if (ub[i] != mark)
            (void)atomic_fetch_add(errors, 1);
}

typedef struct pair {
    uint64_t left;
    float right;
} pair_t;

ACL_KERNEL(many_arguments, word_t *, errors, uint8_t, a, int64_t, b, float, c, pair_t, d, const char *, e,
           uint16_t, f)
{
    if (a != 200 || b != -5 || c != 1.5f || d.left != 7 || d.right != 2.5f || strcmp(e, "text") != 0 ||
        f != 65535)
        (void)atomic_fetch_add(errors, 1);
}

ACL_KERNEL(nothing) {}

ACL_KERNEL(who_am_i, __gm__ uint32_t *, out)
{
    *out = 1;
}

ACL_KERNEL(cycles, __gm__ uint64_t *, out)
{
    const uint64_t begin = aicore_cycles();

    while (aicore_cycles() - begin < 50 * 1000) /* a millisecond */
        continue;
    *out = aicore_cycles() - begin;
}

/* Computes, and looks now and then whether it should stop: that is no waiting. */
ACL_KERNEL(compute, word_t *, stop, uint32_t, steps)
{
    for (uint32_t i = 0; i < steps && atomic_load(stop) == 0; i++) {
        const uint64_t begin = aicore_cycles();

        aicore_poll(stop, 4);
        while (aicore_cycles() - begin < 20 * 50) /* 20 microseconds */
            continue;
    }
}

static aclrtFuncHandle kernel(const char *name)
{
    aclrtFuncHandle function = NULL;

    ok(aclrtBinaryGetFunction(NULL, name, &function));
    return function;
}

static void *words(size_t count)
{
    void *memory = NULL;

    ok(aclrtMalloc(&memory, count * sizeof(word_t), ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMemset(memory, count * sizeof(word_t), 0, count * sizeof(word_t)));
    return memory;
}

#define launch(name, blocks, args, stream)                                                                   \
    aclrtLaunchKernel(kernel(name), (blocks), &(args), sizeof(args), (stream))

static void chains_of_all_cores(void **state)
{
    word_t *const flags = words(64);

    (void)state;
    for (uint32_t round = 1; round <= 20; round++) {
        const struct chain_args args = {flags, round};

        ok(launch("chain", 48, args, NULL));
        ok(aclrtSynchronizeStream(NULL));
        assert_int_equal(flags[0], round);
        assert_int_equal(flags[47], round);
    }
    ok(aclrtMemset(flags, 64 * sizeof(word_t), 0, 64 * sizeof(word_t)));
    for (uint32_t round = 1; round <= 20; round++) {
        const struct mixed_chain_args args = {flags, round};

        ok(launch("mixed_chain", 20, args, NULL));
        ok(aclrtSynchronizeStream(NULL));
        assert_int_equal(flags[0], round);
        assert_int_equal(flags[39], round);
        assert_int_equal(flags[40], 0);
    }
    ok(aclrtFree(flags));
}

static void streams_wait_for_each_other(void **state)
{
    aclrtStream streams[8];
    word_t *const flags = words(16);

    (void)state;
    for (int i = 0; i < 8; i++)
        ok(aclrtCreateStream(&streams[i]));
    for (int round = 0; round < 20; round++) {
        ok(aclrtMemset(flags, 16 * sizeof(word_t), 0, 16 * sizeof(word_t)));
        for (int i = 0; i < 8; i++) { /* a ring: nobody ends before all have begun */
            const struct meet_args args = {&flags[i], &flags[(i + 1) % 8]};

            ok(launch("meet", 24, args, streams[i]));
        }
        for (int i = 0; i < 8; i++)
            ok(aclrtSynchronizeStream(streams[i]));
    }
    for (int i = 0; i < 8; i++)
        ok(aclrtDestroyStream(streams[i]));
    ok(aclrtFree(flags));
}

/* Three launches of all cores at once, each waiting for the whole of the next. */
static void launches_do_not_share_cores(void **state)
{
    word_t *const flags = words(3 * 64);
    aclrtStream streams[2];

    (void)state;
    ok(aclrtCreateStream(&streams[0]));
    ok(aclrtCreateStream(&streams[1]));
    const struct chain_after_args first = {flags, flags + 64}, second = {flags + 64, flags + 128};
    const struct chain_args third = {flags + 128, 1};
    ok(launch("chain_after", 48, first, streams[0]));
    ok(launch("chain_after", 48, second, streams[1]));
    ok(launch("chain", 48, third, NULL));
    ok(aclrtSynchronizeDevice());
    assert_int_equal(flags[0], 1);
    ok(aclrtDestroyStream(streams[0]));
    ok(aclrtDestroyStream(streams[1]));
    ok(aclrtFree(flags));
}

static int same_stream(void *argument)
{
    word_t flags[2] = {0, 0};
    const struct meet_args first = {&flags[0], &flags[1]}, second = {&flags[1], &flags[0]};
    aclrtFuncHandle function = NULL;

    (void)argument;
    (void)setenv("SHMEM_CPU_KERNEL_TIMEOUT", "0.5", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, "meet", &function) != ACL_SUCCESS)
        return 1;
    const uint64_t before = t_now_ms();
    if (aclrtLaunchKernel(function, 1, &first, sizeof first, NULL) != ACL_SUCCESS ||
        aclrtLaunchKernel(function, 1, &second, sizeof second, NULL) != ACL_SUCCESS)
        return 2;
    if (aclrtSynchronizeStream(NULL) != ACL_ERROR_RT_VECTOR_CORE_TIMEOUT)
        return 3;
    const char *const text = aclGetRecentErrMsg();
    if (strstr(text, "kernel meet") == NULL || strstr(text, "block 0 of 1") == NULL ||
        strstr(text, "4-byte word") == NULL || strstr(text, "value is 0") == NULL)
        return 4;
    const uint64_t took = t_now_ms() - before;
    /* The second one found what it wanted, and the stream is as good as new. */
    if (took < 500 || took > 10000 || atomic_load(&flags[1]) != 1 ||
        aclrtSynchronizeStream(NULL) != ACL_SUCCESS)
        return 5;
    return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 6;
}

/* A kernel that looks at hundreds of words in turn is as much of a waiter as one that looks at one. */
static int many_words(void *argument)
{
    enum { WORDS = 1000 };
    static word_t flags[WORDS];
    const struct look_at_many_args args = {flags, WORDS};
    aclrtFuncHandle function = NULL;

    (void)argument;
    (void)setenv("SHMEM_CPU_KERNEL_TIMEOUT", "0.3", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, "look_at_many", &function) != ACL_SUCCESS ||
        aclrtLaunchKernel(function, 4, &args, sizeof args, NULL) != ACL_SUCCESS ||
        aclrtSynchronizeStream(NULL) != ACL_ERROR_RT_VECTOR_CORE_TIMEOUT)
        return 1;
    return strstr(aclGetRecentErrMsg(), "kernel look_at_many") != NULL && aclFinalize() == ACL_SUCCESS ? 0
                                                                                                       : 2;
}

static int compute_for_long(void *argument)
{
    word_t stop = 0;
    const struct compute_args args = {&stop, 30000};
    aclrtFuncHandle function = NULL;

    (void)argument;
    (void)setenv("SHMEM_CPU_KERNEL_TIMEOUT", "0.1", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, "compute", &function) != ACL_SUCCESS ||
        aclrtLaunchKernel(function, 1, &args, sizeof args, NULL) != ACL_SUCCESS)
        return 1;
    return aclrtSynchronizeStream(NULL) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 2;
}

static void work_is_no_waiting(void **state)
{
    (void)state;
    assert_int_equal(t_fork(compute_for_long, NULL), 0);
}

/* Fewer cores than blocks that wait for each other: as on a card, that cannot work, and the report says why. */
static int few_cores(void *argument)
{
    static word_t flags[16];
    const struct chain_args args = {flags, 1};
    aclrtFuncHandle function = NULL;
    aclrtLaunchKernelAttr attribute = {.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, .value.timeout = 1};
    aclrtLaunchKernelCfg config = {&attribute, 1};

    (void)argument;
    (void)setenv("SHMEM_CPU_CORES", "4", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, "chain", &function) != ACL_SUCCESS)
        return 1;
    if (aclrtLaunchKernelV2(function, 8, &args, sizeof args, &config, NULL) != ACL_SUCCESS ||
        aclrtSynchronizeStream(NULL) != ACL_ERROR_RT_VECTOR_CORE_TIMEOUT ||
        strstr(aclGetRecentErrMsg(), "only 4 of its 8 cores") == NULL)
        return 2;
    return aclFinalize() == ACL_SUCCESS ? 0 : 3;
}

static void deadlocks_are_reported(void **state)
{
    (void)state;
    assert_int_equal(t_fork(same_stream, NULL), 0);
    assert_int_equal(t_fork(many_words, NULL), 0);
    assert_int_equal(t_fork(few_cores, NULL), 0);
}

static void traps_name_the_place(void **state)
{
    const struct fall_args args = {5, -3};
    aclrtStream stream = NULL;

    (void)state;
    ok(aclrtCreateStream(&stream));
    for (int i = 0; i < 20; i++) {
        ok(launch("fall", 12, args, stream));
        ok(launch("nothing", 1, args, NULL) == ACL_ERROR_INVALID_PARAM ? ACL_SUCCESS : ACL_ERROR_FAILURE);
        fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION,
              "kernel fall, block 5 of 12: value -3 is not good");
        ok(aclrtSynchronizeStream(stream));
    }
    /* A stopped stream runs nothing after the first failure. */
    word_t *const counters = words(8);
    const struct count_blocks_args count = {counters};
    ok(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    ok(launch("fall", 6, args, stream));
    ok(launch("count_blocks", 8, count, stream));
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, "kernel fall");
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, "kernel fall");
    assert_int_equal(counters[0], 0);
    ok(aclrtDestroyStream(stream));
    ok(aclrtFree(counters));
}

static void cores_meet(void **state)
{
    word_t *const memory = words(2);

    (void)state;
    for (uint32_t blocks = 1; blocks <= 48; blocks = blocks * 2 + 1) {
        const struct rounds_args args = {&memory[0], 50, &memory[1]};

        ok(aclrtMemset(memory, 8, 0, 8));
        ok(launch("rounds", blocks, args, NULL));
        ok(aclrtSynchronizeStream(NULL));
        assert_int_equal(memory[0], 50 * blocks);
        assert_int_equal(memory[1], 0);
    }
    const struct rounds_args args = {&memory[0], 1, &memory[1]};
    ok(launch("rounds", 49, args, NULL));
    fails(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, "needs all 49 cores");
    ok(aclrtFree(memory));
}

static void more_blocks_than_cores(void **state)
{
    enum { BLOCKS = 1000 };
    word_t *const counters = words(BLOCKS);
    const struct count_blocks_args args = {counters};

    (void)state;
    ok(launch("count_blocks", BLOCKS, args, NULL));
    ok(aclrtSynchronizeStream(NULL));
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(counters[i], 1);
    ok(aclrtFree(counters));
}

static void buffers_are_private(void **state)
{
    word_t *const errors = words(1);
    aclrtStream other = NULL;

    (void)state;
    ok(aclrtCreateStream(&other));
    for (uint32_t i = 0; i < 5; i++) {
        const struct own_buffer_args args = {errors, i}, more = {errors, i + 100};

        ok(launch("own_buffer", 16, args, NULL));
        ok(launch("own_buffer", 16, more, other));
    }
    ok(aclrtSynchronizeStream(NULL));
    ok(aclrtDestroyStream(other));
    assert_int_equal(*errors, 0);
    ok(aclrtFree(errors));
}

static void arguments(void **state)
{
    word_t *const errors = words(1);
    struct many_arguments_args args = {errors, 200, -5, 1.5f, {7, 2.5f}, "text", 65535};
    aclrtFuncHandle function = kernel("many_arguments");

    (void)state;
    for (int i = 0; i < 100; i++) {
        ok(aclrtLaunchKernel(function, 3, &args, sizeof args, NULL));
        args.a = 0; /* copied already */
        args.a = 200;
    }
    ok(aclrtLaunchKernel(function, 1, &args, offsetof(struct many_arguments_args, f) + 2,
                         NULL)); /* no padding */
    ok(aclrtLaunchKernel(kernel("nothing"), 7, NULL, 0, NULL));
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(*errors, 0);
    fails(aclrtLaunchKernel(function, 1, &args, 8, NULL), ACL_ERROR_INVALID_PARAM,
          "bytes of arguments, not 8");
    fails(aclrtLaunchKernel(function, 1, &args, sizeof args + 8, NULL), ACL_ERROR_INVALID_PARAM,
          "bytes of arguments");
    fails(aclrtLaunchKernel(function, 1, NULL, sizeof args, NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtLaunchKernel(function, 0, &args, sizeof args, NULL), ACL_ERROR_INVALID_PARAM, "0 blocks");
    fails(aclrtLaunchKernel(function, 65536, &args, sizeof args, NULL), ACL_ERROR_INVALID_PARAM,
          "65536 blocks");
    fails(aclrtLaunchKernel(errors, 1, &args, sizeof args, NULL), ACL_ERROR_RT_INVALID_HANDLE, "no kernel");
    fails(aclrtBinaryGetFunction(NULL, "no_such", &function), ACL_ERROR_INVALID_PARAM, "no kernel no_such");
    aclrtFuncHandle again = NULL;
    ok(aclrtBinaryGetFunction(NULL, "many_arguments", &again));
    assert_ptr_equal(again, kernel("many_arguments"));
    ok(aclrtFree(errors));
}

static void data_behind_the_arguments(void **state)
{
    struct {
        struct many_arguments_args args;
        char text[8];
    } packed = {{words(1), 200, -5, 1.5f, {7, 2.5f}, NULL, 65535}, "text"};
    word_t *const errors = packed.args.errors;
    aclrtPlaceHolderInfo holder = {offsetof(struct many_arguments_args, e), sizeof packed.args};
    aclrtLaunchKernelAttr attributes[2] = {
        {.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, .value.schemMode = 1},
        {.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, .value.engineType = ACL_RT_ENGINE_TYPE_AIV}};
    aclrtLaunchKernelCfg config = {attributes, 2};
    aclrtFuncHandle function = kernel("many_arguments");

    (void)state;
    ok(aclrtLaunchKernelWithHostArgs(function, 2, NULL, &config, &packed, sizeof packed, &holder, 1));
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(*errors, 0);
    holder.addrOffset = sizeof packed - 4;
    fails(aclrtLaunchKernelWithHostArgs(function, 2, NULL, &config, &packed, sizeof packed, &holder, 1),
          ACL_ERROR_INVALID_PARAM, "placeholder 0");
    attributes[0].id = (aclrtLaunchKernelAttrId)99;
    fails(aclrtLaunchKernelV2(function, 2, &packed, sizeof packed.args, &config, NULL),
          ACL_ERROR_INVALID_PARAM, "attribute 99");
    ok(aclrtFree(errors));
}

static void binaries(void **state)
{
    aclrtBinHandle binary = NULL, twice = NULL;
    aclrtFuncHandle function = NULL;
    uint32_t *const out = words(16);
    aclrtStream stream = NULL;
    struct {
        uint32_t *out;
        uint32_t value;
    } fill = {out, 70};
    struct {
        word_t *word;
        uint32_t *out;
    } wait = {(word_t *)(void *)&out[15], &out[14]};

    (void)state;
    fails(aclrtBinaryLoadFromFile("no_such_file.so", NULL, &binary), ACL_ERROR_INVALID_FILE,
          "no_such_file.so");
    fails(aclrtBinaryGetFunction(NULL, "loaded_fill", &function), ACL_ERROR_INVALID_PARAM, "no kernel");
    ok(aclrtBinaryLoadFromFile(KERNEL_BINARY, NULL, &binary));
    ok(aclrtBinaryLoadFromFile(KERNEL_BINARY, NULL, &twice));
    ok(aclrtBinaryUnLoad(twice));
    ok(aclrtBinaryGetFunction(binary, "loaded_fill", &function));
    ok(aclrtLaunchKernel(function, 10, &fill, sizeof fill, NULL));
    ok(aclrtSynchronizeStream(NULL));
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(out[i], 70 + i);
    /* One name, two kernels: each binary has its own. */
    uint32_t *where = out;
    ok(aclrtBinaryGetFunction(binary, "who_am_i", &function));
    ok(aclrtLaunchKernel(function, 1, &where, sizeof where, NULL));
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(*out, 2);
    ok(aclrtLaunchKernel(kernel("who_am_i"), 1, &where, sizeof where, NULL));
    ok(aclrtSynchronizeStream(NULL));
    assert_int_equal(*out, 1);
    fails(aclrtBinaryGetFunction(binary, "chain", &function), ACL_ERROR_INVALID_PARAM,
          "no kernel chain in the binary");
    /* Unloaded while it runs: it goes when it is done. */
    ok(aclrtCreateStream(&stream));
    ok(aclrtBinaryGetFunction(binary, "loaded_wait", &function));
    ok(aclrtLaunchKernel(function, 2, &wait, sizeof wait, stream));
    ok(aclrtBinaryUnLoad(binary));
    fails(aclrtLaunchKernel(function, 2, &wait, sizeof wait, stream), ACL_ERROR_RT_INVALID_HANDLE,
          "no kernel");
    atomic_store(wait.word, 1);
    ok(aclrtSynchronizeStream(stream));
    assert_int_equal(out[14], 2); /* once per block */
    fails(aclrtBinaryUnLoad(binary), ACL_ERROR_RT_INVALID_HANDLE, "no binary");
    fails(aclrtBinaryGetFunction(NULL, "loaded_wait", &function), ACL_ERROR_INVALID_PARAM, "no kernel");
    ok(aclrtDestroyStream(stream));
    ok(aclrtFree(out));
}

/* Bytes of data and stacks this process has asked for; 0 where a sanitizer keeps books of its own. */
static size_t data_bytes(void)
{
    size_t kilobytes = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    char line[128];
    FILE *const file = fopen("/proc/self/status", "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmData:", 7) == 0)
            kilobytes = strtoul(line + 7, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
#endif
    return kilobytes << 10;
}

static void nothing_grows(void **state)
{
    word_t *const counters = words(64);
    const struct count_blocks_args args = {counters};
    const struct rounds_args all = {&counters[0], 1, &counters[1]};
    t_holdings_t before = {0};
    size_t bytes = 0;

    (void)state;
    for (uint32_t i = 1; i <= 1100; i++) {
        const struct mixed_chain_args mixed = {counters, i};

        if (i == 100) { /* threads and what they allocate first are there */
            ok(launch("rounds", 48, all, NULL));
            ok(aclrtSynchronizeStream(NULL));
            ok(aclrtMemset(counters, 64 * sizeof(word_t), 0, 64 * sizeof(word_t)));
            before = t_holdings();
            bytes = data_bytes();
        }
        if (i % 10 == 0)
            ok(launch("mixed_chain", 20, mixed, NULL));
        else
            ok(launch("count_blocks", 48, args, NULL));
        if (i % 50 == 0)
            ok(aclrtSynchronizeStream(NULL));
    }
    ok(aclrtSynchronizeStream(NULL));
    const t_holdings_t after = t_holdings();
    assert_int_equal(after.threads, before.threads);
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.mappings, before.mappings);
    assert_true(data_bytes() <= bytes + ((size_t)4 << 20));
    ok(aclrtFree(counters));
}

static void on_a_plain_thread(void **state)
{
    uint64_t address = 1;
    uint32_t length = 1;
    int word = 0;

    (void)state;
    assert_int_equal(aicore_block_index(), 0);
    assert_int_equal(aicore_block_count(), 1);
    assert_null(aicore_ub());
    aicore_poll(&word, 4);
    aicore_sync_all();
    assert_int_equal(rtGetC2cCtrlAddr(&address, &length), RT_ERROR_NONE);
    assert_int_equal(address, 0);
    assert_int_equal(length, 0);
    uint64_t *const out = words(2);
    const struct cycles_args args = {out};
    ok(launch("cycles", 1, args, NULL));
    ok(aclrtSynchronizeStream(NULL));
    assert_true(*out >= 50000);
    ok(aclrtFree(out));
}

/* Threads launch at random on streams of their own while others do the same. */
static void *launcher(void *argument)
{
    word_t counter = 0, errors = 0;
    const struct rounds_args args = {&counter, 3, &errors};
    bool *const failed = argument;
    aclrtStream stream = NULL;
    aclrtFuncHandle function = NULL;

    if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS ||
        aclrtBinaryGetFunction(NULL, "rounds", &function) != ACL_SUCCESS)
        *failed = true;
    for (uint32_t i = 0; i < 60 && !*failed; i++) {
        atomic_store(&counter, 0);
        if (aclrtLaunchKernel(function, 1 + i % 16, &args, sizeof args, stream) != ACL_SUCCESS ||
            aclrtSynchronizeStream(stream) != ACL_SUCCESS || atomic_load(&counter) != 3 * (1 + i % 16))
            *failed = true;
    }
    if (atomic_load(&errors) != 0 || aclrtDestroyStream(stream) != ACL_SUCCESS ||
        aclrtResetDevice(0) != ACL_SUCCESS)
        *failed = true;
    return NULL;
}

static void from_many_threads(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launcher, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(failed[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlocks_are_reported),
        cmocka_unit_test(work_is_no_waiting),
        cmocka_unit_test_setup_teardown(chains_of_all_cores, t_begin, t_end),
        cmocka_unit_test_setup_teardown(streams_wait_for_each_other, t_begin, t_end),
        cmocka_unit_test_setup_teardown(launches_do_not_share_cores, t_begin, t_end),
        cmocka_unit_test_setup_teardown(traps_name_the_place, t_begin, t_end),
        cmocka_unit_test_setup_teardown(cores_meet, t_begin, t_end),
        cmocka_unit_test_setup_teardown(more_blocks_than_cores, t_begin, t_end),
        cmocka_unit_test_setup_teardown(buffers_are_private, t_begin, t_end),
        cmocka_unit_test_setup_teardown(arguments, t_begin, t_end),
        cmocka_unit_test_setup_teardown(data_behind_the_arguments, t_begin, t_end),
        cmocka_unit_test_setup_teardown(binaries, t_begin, t_end),
        cmocka_unit_test_setup_teardown(nothing_grows, t_begin, t_end),
        cmocka_unit_test_setup_teardown(on_a_plain_thread, t_begin, t_end),
        cmocka_unit_test_setup_teardown(from_many_threads, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
