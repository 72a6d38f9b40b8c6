/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of kernels: every function of every type with exact results, and storms in which host programs take part. */
#include "amo.h"

#include "device.h"

static void exact(char *heap)
{
    static const char *const kernels[] = {"exact_int32", "exact_uint32", "exact_int64", "exact_uint64",
                                          "exact_float"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        memset(heap, 0, 256);
        aclshmem_barrier_all();
        device_run(kernels[i], 1, &heap, sizeof heap);
        aclshmem_barrier_all();
    }
    memset(heap, 0, 256);
    aclshmem_barrier_all();
    device_run("exact_small", 1, &heap, sizeof heap);
    aclshmem_barrier_all();
    const int16_t *s = (const int16_t *)(const void *)(heap + 8);
    const uint16_t *h = (const uint16_t *)(const void *)(heap + 16), *f = h + 4;
    static const uint16_t halves[] = {0x6800, 0x6801, 0x6801,
                                      0x6802}; /* 2049 and 2051 lie between two halves */
    static const uint16_t bfloats[] = {0x4380, 0x4381, 0x4381, 0x4382};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(((int8_t *)heap)[i], (int8_t)(200 + i));
        CHECK_INT(s[i], (int16_t)(60000 + i + (i == 3 ? 2 : 0)));
        CHECK_INT(h[i], halves[i]);
        CHECK_INT(f[i], bfloats[i]);
    }
    CHECK(heap[4] == 1 && heap[5] == 2 && heap[6] == 0);
    CHECK(f[4] == 0x3c00 && f[5] == 0x3f80 && f[6] == 0);
}

/* Bits of whole numbers that the types hold exactly. */
static uint16_t half_of(int value)
{
    int log = 31 - __builtin_clz((unsigned)value);
    return (uint16_t)((log + 15) << 10 | (value << 10 >> log & 0x3ff));
}

static uint16_t bfloat16_of(int value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static aclrtStream start_storm(storm_t *words, int pe, int rounds, uint32_t blocks)
{
    struct {
        storm_t *words;
        int pe, rounds;
    } args = {words, pe, rounds};
    aclrtFuncHandle function = NULL;
    aclrtStream stream = NULL;
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "storm", &function));
    CHECK_ACL(aclrtCreateStream(&stream));
    CHECK_ACL(aclrtLaunchKernel(function, blocks, &args, sizeof args, stream));
    return stream;
}

static void storm(storm_t *words, uint32_t blocks)
{
    enum { ROUNDS = 64 };
    int pe = aclshmem_n_pes() - 1;
    memset(words, 0, sizeof *words);
    aclshmem_barrier_all();
    aclrtStream stream = start_storm(words, pe, ROUNDS, blocks);
    for (int i = 0; i < ROUNDS; i++) {
        aclshmem_int32_atomic_add(&words->i32, 3, pe);
        aclshmem_int64_atomic_add(&words->i64, -5, pe);
        aclshmem_float_atomic_add(&words->f32, 1, pe);
        aclshmem_uint32_atomic_inc(&words->u32, pe);
    }
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtDestroyStream(stream));
    aclshmem_barrier_all();
    if (aclshmem_my_pe() != pe)
        return;
    int cores = (int)blocks * aclshmem_n_pes(), all = (cores + aclshmem_n_pes()) * ROUNDS;
    CHECK_INT(words->i32, 3 * all);
    CHECK_INT(words->u32, all);
    CHECK_INT(words->i64, -5 * all);
    CHECK(words->u64 == (cores % 2 == 0 ? 0 : UINT64_MAX)); /* every core turns each bit once */
    CHECK(words->f32 == (float)all);
    CHECK_INT(words->cas, 7 * cores * ROUNDS);
    for (int i = 0; i < 4; i++)
        CHECK_INT(words->i8[i], (int8_t)(cores * ROUNDS / 4));
    for (int i = 0; i < 2; i++)
        CHECK_INT(words->i16[i], (int16_t)(-cores * ROUNDS / 2));
    CHECK_INT(words->half[0], half_of(cores * ROUNDS / 16));
    CHECK_INT(words->half[1], half_of(cores * ROUNDS / 16));
    CHECK_INT(words->bfloat16, bfloat16_of(cores));
}

static void mistakes(char *word)
{
    struct {
        char *word;
        int pe;
    } args = {word + 4, 0};
    device_fails("add_with", &args, sizeof args, "int64_atomic_add: the object");
    device_fails("mte_add_with", &args, sizeof args, "is not aligned to its 8 bytes");
    args.word = word;
    args.pe = aclshmem_n_pes();
    device_fails("add_with", &args, sizeof args, "does not exist");
    device_fails("mte_add_with", &args, sizeof args, "does not exist");
    args.pe = 0;
    args.word = (char *)&args;
    device_fails("add_with", &args, sizeof args, "not in the symmetric heap");
    device_fails("mte_add_with", &args, sizeof args, "not in the symmetric heap");
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    char *heap = aclshmem_calloc(1, 4096);
    CHECK(heap != NULL);
    exact(heap);
    storm((storm_t *)(void *)heap, 1);
    storm((storm_t *)(void *)heap, 16);
    mistakes(heap);
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
