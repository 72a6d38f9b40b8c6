/* SPDX-License-Identifier: Apache-2.0 */
/* Device and host memory: alignment, accounts, bounds, and everything that must be refused. */
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static size_t free_bytes(void)
{
    size_t left = 0, total = 0;

    ok(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    assert_true(left <= total);
    return left;
}

static void aligned_and_counted(void **state)
{
    static const size_t sizes[] = {1,      511,     512,     513,           4096,   262144,
                                   262145, 1 << 20, 2 << 20, (2 << 20) + 1, 1 << 30};
    const size_t before = free_bytes();
    void *pieces[sizeof sizes / sizeof sizes[0]];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t left = free_bytes();

        ok(aclrtMalloc(&pieces[i], sizes[i], ACL_MEM_MALLOC_HUGE_FIRST));
        assert_int_equal((uintptr_t)pieces[i] % (sizes[i] >= 2 << 20 ? 2 << 20 : 512), 0);
        assert_true(left - free_bytes() >= sizes[i]);
        ((char *)pieces[i])[0] = 1;
        ((char *)pieces[i])[sizes[i] - 1] = 1;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ok(aclrtFree(pieces[i]));
    assert_int_equal(free_bytes(), before);
}

static void commits_when_touched(void **state)
{
    struct rusage usage;
    void *memory[8];

    (void)state;
    for (int i = 0; i < 8; i++)
        ok(aclrtMalloc(&memory[i], 1 << 30, ACL_MEM_MALLOC_NORMAL_ONLY));
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < 1 << 20); /* KiB */
    for (int i = 0; i < 8; i++)
        ok(aclrtFree(memory[i]));
}

static void refuses_strangers(void **state)
{
    char here[64];
    void *memory = NULL;
    size_t left = 0;

    (void)state;
    fails(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtFree(here), ACL_ERROR_INVALID_PARAM, "not given out");
    fails(aclrtFreeHost(here), ACL_ERROR_INVALID_PARAM, "not given out");
    ok(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    fails(aclrtFree((char *)memory + 512), ACL_ERROR_INVALID_PARAM, "not given out");
    fails(aclrtFreeHost(memory), ACL_ERROR_INVALID_PARAM, "not given out");
    ok(aclrtFree(memory));
    fails(aclrtFree(memory), ACL_ERROR_INVALID_PARAM, "freed before");
    ok(aclrtMalloc(&memory, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    fails(aclrtFree((char *)memory + (2 << 20)), ACL_ERROR_INVALID_PARAM, "not given out");
    ok(aclrtFree(memory));
    fails(aclrtFree(memory), ACL_ERROR_INVALID_PARAM, "freed before");
    fails(aclrtMalloc(NULL, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM, "0 bytes");
    fails(aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM, "bytes");
    fails(aclrtMalloc(&memory, 8, (aclrtMemMallocPolicy)77), ACL_ERROR_INVALID_PARAM, "policy 77");
    fails(aclrtMalloc(&memory, (size_t)1 << 50, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION,
          "SHMEM_CPU_HBM_SIZE");
    fails(aclrtMallocHost(&memory, 0), ACL_ERROR_INVALID_PARAM, "0 bytes");
    fails(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &left), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtGetMemInfo((aclrtMemAttr)10, &left, &left), ACL_ERROR_INVALID_PARAM, "attribute 10");
}

static void copies_within_bounds(void **state)
{
    char pattern[2048], back[2048];
    char *memory = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (char)(i * 7 + 3);
    ok(aclrtMalloc((void **)&memory, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMemcpy(memory, 1024, pattern, 1024, ACL_MEMCPY_HOST_TO_DEVICE));
    ok(aclrtMemcpy(back, sizeof back, memory, 1024, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_memory_equal(back, pattern, 1024);
    fails(aclrtMemcpy(memory, 512, pattern, 513, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM,
          "513 bytes do not fit");
    fails(aclrtMemcpy(memory, 2048, pattern, 2048, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM,
          "ends after 1024");
    fails(aclrtMemcpy(back, 2048, memory + 1000, 25, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM,
          "ends after 24");
    fails(aclrtMemcpy(NULL, 8, pattern, 8, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM,
          "destination is NULL");
    fails(aclrtMemcpy(memory, 8, NULL, 8, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM, "source is NULL");
    fails(aclrtMemcpy(memory, 8, pattern, 8, (aclrtMemcpyKind)9), ACL_ERROR_INVALID_PARAM, "kind 9");
    ok(aclrtMemcpy(NULL, 0, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    ok(aclrtMemcpy(memory + 1, 1023, memory, 1023, ACL_MEMCPY_DEVICE_TO_DEVICE)); /* overlap */
    assert_memory_equal(memory + 1, pattern, 1023);
    ok(aclrtMemset(memory, 1024, 0x1a5, 16)); /* one byte of the value */
    assert_int_equal((unsigned char)memory[15], 0xa5);
    assert_int_equal(memory[16], pattern[15]);
    fails(aclrtMemset(memory, 10, 0, 11), ACL_ERROR_INVALID_PARAM, "11 bytes do not fit");
    fails(aclrtMemset(memory, 2000, 0, 2000), ACL_ERROR_INVALID_PARAM, "ends after 1024");
    fails(aclrtMemset(NULL, 10, 0, 10), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtMemcpyAsync(memory, 8, pattern, 9, ACL_MEMCPY_HOST_TO_DEVICE, NULL), ACL_ERROR_INVALID_PARAM,
          "9 bytes");
    ok(aclrtMemcpyAsync(memory, 8, pattern, 8, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    ok(aclrtMemsetAsync(memory + 8, 8, 1, 8, NULL));
    ok(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, NULL));
    fails(aclrtCmoAsync(memory, 64, (aclrtCmoType)6, NULL), ACL_ERROR_INVALID_PARAM, "type 6");
    ok(aclrtSynchronizeStream(NULL));
    assert_memory_equal(memory, pattern, 8);
    assert_int_equal(memory[8], 1);
    ok(aclrtFree(memory));
}

static void host_memory(void **state)
{
    static char mine[4096];
    void *memory = NULL, *device = NULL;

    (void)state;
    for (size_t size = 1; size < 1 << 22; size = size * 3 + 1) {
        ok(aclrtMallocHost(&memory, size));
        assert_int_equal((uintptr_t)memory % 64, 0);
        memset(memory, 1, size);
        ok(aclrtFreeHost(memory));
    }
    ok(aclrtHostRegister(mine, sizeof mine, ACL_HOST_REGISTER_MAPPED, &device));
    assert_ptr_equal(device, mine);
    fails(aclrtHostRegister(mine + 100, 8, ACL_HOST_REGISTER_MAPPED, &device), ACL_ERROR_INVALID_PARAM,
          "overlaps");
    fails(aclrtFreeHost(mine), ACL_ERROR_INVALID_PARAM, "not given out");
    ok(aclrtHostUnregister(mine));
    fails(aclrtHostUnregister(mine), ACL_ERROR_INVALID_PARAM, "not registered");
    fails(aclrtHostRegister(NULL, 8, ACL_HOST_REGISTER_MAPPED, &device), ACL_ERROR_INVALID_PARAM, "bytes at");
}

/* Random sizes against a model: no overlap, no leak, no piece that is not found again. */
static void many_pieces(void **state)
{
    enum { PIECES = 500, STEPS = 20000 };
    struct {
        unsigned char *at;
        size_t bytes;
        unsigned char mark;
    } pieces[PIECES] = {0};
    const size_t before = free_bytes();
    unsigned int seed = 12345;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        const size_t i = (size_t)rand_r(&seed) % PIECES;

        if (pieces[i].at != NULL) {
            assert_int_equal(pieces[i].at[0], pieces[i].mark);
            assert_int_equal(pieces[i].at[pieces[i].bytes - 1], pieces[i].mark);
            ok(aclrtFree(pieces[i].at));
            pieces[i].at = NULL;
        } else {
            pieces[i].bytes = 1 + (size_t)rand_r(&seed) % (rand_r(&seed) % 50 == 0 ? 400000 : 9000);
            pieces[i].mark = (unsigned char)rand_r(&seed);
            ok(aclrtMalloc((void **)&pieces[i].at, pieces[i].bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            memset(pieces[i].at, pieces[i].mark, pieces[i].bytes);
        }
    }
    for (size_t i = 0; i < PIECES; i++)
        if (pieces[i].at != NULL)
            ok(aclrtFree(pieces[i].at));
    assert_int_equal(free_bytes(), before);
    assert_int_equal(t_holdings().mappings, 0);
}

static void *allocate_and_free(void *failed)
{
    bool *const bad = failed;

    if (aclrtSetDevice(0) != ACL_SUCCESS)
        *bad = true;
    for (int i = 0; i < 500 && !*bad; i++) {
        void *memory = NULL, *host = NULL;
        const size_t size = 100 + (size_t)i * 700;

        if (aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
            aclrtMallocHost(&host, size) != ACL_SUCCESS ||
            aclrtMemset(memory, size, i, size) != ACL_SUCCESS ||
            aclrtMemcpy(host, size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS ||
            ((unsigned char *)host)[size - 1] != (unsigned char)i || aclrtFree(memory) != ACL_SUCCESS ||
            aclrtFreeHost(host) != ACL_SUCCESS)
            *bad = true;
    }
    (void)aclrtResetDevice(0);
    return NULL;
}

static void from_many_threads(void **state)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};
    const size_t before = free_bytes();

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_free, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(failed[i]);
    }
    assert_int_equal(free_bytes(), before);
}

static int with_little_memory(void *argument)
{
    void *memory = NULL;
    size_t left = 0, total = 0;

    (void)argument;
    (void)setenv("SHMEM_CPU_HBM_SIZE", "10M", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) != ACL_SUCCESS || total != 10 << 20 || left != total ||
        aclrtMalloc(&memory, 8 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        return 1;
    if (aclrtMalloc(&memory, 3 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_RT_MEMORY_ALLOCATION ||
        strstr(aclGetRecentErrMsg(), "8388608 of them in use") == NULL)
        return 2;
    return aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) == ACL_SUCCESS && left == 2 << 20 &&
                   aclrtSetDevice(1) == ACL_SUCCESS &&
                   aclrtMalloc(&memory, 10 << 20, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS
               ? 0
               : 3;
}

static int with_few_descriptors(void *argument)
{
    const struct rlimit none = {3, 3};
    void *memory = NULL;

    (void)argument;
    return aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS &&
                   setrlimit(RLIMIT_NOFILE, &none) == 0 &&
                   aclrtMalloc(&memory, 8 << 20, ACL_MEM_MALLOC_HUGE_FIRST) ==
                       ACL_ERROR_RT_MEMORY_ALLOCATION &&
                   strstr(aclGetRecentErrMsg(), "ulimit -n") != NULL
               ? 0
               : 1;
}

/* Nobody should rely on zeroes, which a card does not give either. */
static int filled_when_checked(void *argument)
{
    const size_t sizes[] = {100, 3 << 20};

    (void)argument;
    (void)setenv("SHMEM_CPU_CHECK", "yes", 1);
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
        return 1;
    for (size_t i = 0; i < 2; i++) {
        unsigned char *memory = NULL;

        if (aclrtMalloc((void **)&memory, sizes[i], ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
            memory[0] == 0 || memory[sizes[i] - 1] == 0)
            return 2;
    }
    return 0;
}

static void limits(void **state)
{
    (void)state;
    assert_int_equal(t_fork(with_little_memory, NULL), 0);
    assert_int_equal(t_fork(with_few_descriptors, NULL), 0);
    assert_int_equal(t_fork(filled_when_checked, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test_setup_teardown(aligned_and_counted, t_begin, t_end),
        cmocka_unit_test_setup_teardown(commits_when_touched, t_begin, t_end),
        cmocka_unit_test_setup_teardown(refuses_strangers, t_begin, t_end),
        cmocka_unit_test_setup_teardown(copies_within_bounds, t_begin, t_end),
        cmocka_unit_test_setup_teardown(host_memory, t_begin, t_end),
        cmocka_unit_test_setup_teardown(many_pieces, t_begin, t_end),
        cmocka_unit_test_setup_teardown(from_many_threads, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
