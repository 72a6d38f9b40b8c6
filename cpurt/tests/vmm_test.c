/* SPDX-License-Identifier: Apache-2.0 */
/* Address space and physical memory: what fits where, and what is left behind (nothing). */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB2 ((size_t)2 << 20)

static const aclrtPhysicalMemProp on_device = {.memAttr = ACL_HBM_MEM,
                                               .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
static const aclrtPhysicalMemProp on_host = {.memAttr = ACL_DDR_MEM,
                                             .location = {0, ACL_MEM_LOCATION_TYPE_HOST}};

static size_t free_bytes(void)
{
    size_t left = 0, total = 0;

    ok(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    return left;
}

static void maps_and_unmaps(void **state)
{
    aclrtMemAccessDesc access = {.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
                                 .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    const size_t before = free_bytes();
    aclrtDrvMemHandle memory = NULL;
    char *range = NULL;

    (void)state;
    ok(aclrtReserveMemAddress((void **)&range, 8 * MIB2, 0, NULL, 1));
    assert_int_equal((uintptr_t)range % MIB2, 0);
    ok(aclrtMallocPhysical(&memory, 2 * MIB2, &on_device, 0));
    assert_int_equal(free_bytes(), before - 2 * MIB2);
    ok(aclrtMapMem(range + 2 * MIB2, 2 * MIB2, 0, memory, 0));
    ok(aclrtMapMem(range + 6 * MIB2, 2 * MIB2, 0, memory, 0)); /* the same memory again */
    ok(aclrtMemSetAccess(range + 2 * MIB2, 2 * MIB2, &access, 1));
    range[2 * MIB2] = 42;
    assert_int_equal(range[6 * MIB2], 42);
    ok(aclrtFreePhysical(memory)); /* mappings stay */
    range[6 * MIB2 + 1] = 43;
    assert_int_equal(range[2 * MIB2 + 1], 43);
    assert_int_equal(free_bytes(), before - 2 * MIB2);
    ok(aclrtMemMapSelectedLink(range, MIB2, range + 2 * MIB2, 0)); /* no descriptor needed */
    assert_int_equal(range[1], 43);
    ok(aclrtUnmapMem(range + 2 * MIB2));
    ok(aclrtUnmapMem(range));
    assert_int_equal(range[6 * MIB2 + 1], 43);
    fails(aclrtReleaseMemAddress(range), ACL_ERROR_INVALID_PARAM, "still mapped");
    ok(aclrtUnmapMem(range + 6 * MIB2));
    assert_int_equal(free_bytes(), before);
    ok(aclrtReleaseMemAddress(range));
    fails(aclrtReleaseMemAddress(range), ACL_ERROR_INVALID_PARAM, "no reservation");
}

static void refuses(void **state)
{
    aclrtMemAccessDesc access = {.flags = (aclrtMemAccessFlags)2,
                                 .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtPhysicalMemProp wrong = on_device;
    aclrtDrvMemHandle memory = NULL;
    char *range = NULL, *other = NULL;
    void *plain = NULL;

    (void)state;
    fails(aclrtReserveMemAddress(NULL, MIB2, 0, NULL, 0), ACL_ERROR_INVALID_PARAM, "cannot reserve");
    fails(aclrtReserveMemAddress((void **)&range, 0, 0, NULL, 0), ACL_ERROR_INVALID_PARAM,
          "cannot reserve 0");
    fails(aclrtReserveMemAddress((void **)&range, MIB2, 3, NULL, 0), ACL_ERROR_INVALID_PARAM, "power of two");
    fails(aclrtReserveMemAddress((void **)&range, MIB2, 0, NULL, 9), ACL_ERROR_INVALID_PARAM, "flags 9");
    fails(aclrtReserveMemAddress((void **)&range, SIZE_MAX - 5, 0, NULL, 0), ACL_ERROR_INVALID_PARAM,
          "cannot reserve");
    fails(aclrtReserveMemAddress((void **)&range, (size_t)1 << 60, 0, NULL, 0),
          ACL_ERROR_RT_MEMORY_ALLOCATION, "address space");
    fails(aclrtMallocPhysical(&memory, MIB2 + 4096, &on_device, 0), ACL_ERROR_INVALID_PARAM,
          "multiple of 2 MiB");
    fails(aclrtMallocPhysical(&memory, 0, &on_device, 0), ACL_ERROR_INVALID_PARAM, "multiple of 2 MiB");
    fails(aclrtMallocPhysical(&memory, MIB2, NULL, 0), ACL_ERROR_INVALID_PARAM, "NULL");
    wrong.location.id = 999;
    fails(aclrtMallocPhysical(&memory, MIB2, &wrong, 0), ACL_ERROR_RT_INVALID_DEVICEID, "999");
    fails(aclrtMallocPhysical(&memory, (size_t)1 << 50, &on_device, 0), ACL_ERROR_RT_MEMORY_ALLOCATION,
          "SHMEM_CPU_HBM_SIZE");

    ok(aclrtReserveMemAddress((void **)&range, 4 * MIB2, 0, NULL, 0));
    ok(aclrtReserveMemAddress((void **)&other, 4 * MIB2, 0, NULL, 0));
    ok(aclrtMallocPhysical(&memory, 2 * MIB2, &on_host, 0));
    ok(aclrtMalloc(&plain, 2 * MIB2, ACL_MEM_MALLOC_HUGE_FIRST));
    fails(aclrtMapMem(plain, MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "not inside one reservation");
    fails(aclrtMapMem(NULL, MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "not inside one reservation");
    fails(aclrtMapMem(range + 3 * MIB2, 2 * MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM,
          "not inside one reservation");
    fails(aclrtMapMem(range + 4096, MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "multiples of 2 MiB");
    fails(aclrtMapMem(range, 4096, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "multiples of 2 MiB");
    fails(aclrtMapMem(range, 3 * MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "the memory has");
    fails(aclrtMapMem(range, MIB2, MIB2, memory, 0), ACL_ERROR_INVALID_PARAM, "offset");
    fails(aclrtMapMem(range, MIB2, 0, range, 0), ACL_ERROR_RT_INVALID_HANDLE, "no physical memory");
    ok(aclrtMapMem(range, 2 * MIB2, 0, memory, 0));
    fails(aclrtMapMem(range + MIB2, 2 * MIB2, 0, memory, 0), ACL_ERROR_INVALID_PARAM, "overlap");
    fails(aclrtUnmapMem(range + MIB2), ACL_ERROR_INVALID_PARAM, "nothing that was mapped");
    fails(aclrtUnmapMem(other), ACL_ERROR_INVALID_PARAM, "nothing that was mapped");
    fails(aclrtUnmapMem(NULL), ACL_ERROR_INVALID_PARAM, "nothing that was mapped");
    fails(aclrtReleaseMemAddress(range + MIB2), ACL_ERROR_INVALID_PARAM, "no reservation");
    fails(aclrtReleaseMemAddress(plain), ACL_ERROR_INVALID_PARAM, "no reservation");
    fails(aclrtMemSetAccess(range, 2 * MIB2, &access, 1), ACL_ERROR_INVALID_PARAM, "access 2");
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    fails(aclrtMemSetAccess(range, 3 * MIB2, &access, 1), ACL_ERROR_INVALID_PARAM, "nothing is mapped");
    ok(aclrtMemSetAccess(range, 2 * MIB2, &access, 1));
    fails(aclrtMemMapSelectedLink(range, MIB2, range, 0), ACL_ERROR_INVALID_PARAM, "overlap");
    fails(aclrtMemMapSelectedLink(other, MIB2, plain, 0), ACL_ERROR_INVALID_PARAM, "no mapping");
    ok(aclrtUnmapMem(range));
    ok(aclrtFreePhysical(memory));
    fails(aclrtFreePhysical(memory), ACL_ERROR_RT_INVALID_HANDLE, "destroyed");
    fails(aclrtMapMem(range, MIB2, 0, memory, 0), ACL_ERROR_RT_INVALID_HANDLE, "destroyed");
    ok(aclrtReleaseMemAddress(range));
    ok(aclrtReleaseMemAddress(other));
    ok(aclrtFree(plain));
}

static void honours_the_wish(void **state)
{
    char *first = NULL, *second = NULL, *third = NULL;

    (void)state;
    ok(aclrtReserveMemAddress((void **)&first, 16 * MIB2, 0, NULL, 0));
    ok(aclrtReleaseMemAddress(first));
    ok(aclrtReserveMemAddress((void **)&second, 4 * MIB2, 0, first, 0));
    assert_ptr_equal(second, first);
    ok(aclrtReserveMemAddress((void **)&third, 4 * MIB2, (size_t)1 << 30, first, 0)); /* taken */
    assert_ptr_not_equal(third, first);
    assert_int_equal((uintptr_t)third % ((size_t)1 << 30), 0);
    ok(aclrtReleaseMemAddress(second));
    ok(aclrtReleaseMemAddress(third));
}

static void costs_nothing_untouched(void **state)
{
    const size_t slots = 64, slot = (size_t)4 << 30;
    aclrtDrvMemHandle memory[8];
    struct rusage usage;
    char *range = NULL;

    (void)state;
    (void)setenv("SHMEM_CPU_HBM_SIZE", "64G", 1);
    ok(aclFinalize());
    ok(aclInit(NULL));
    ok(aclrtSetDevice(0));
    ok(aclrtReserveMemAddress((void **)&range, slots * slot, 0, NULL, 0));
    for (size_t i = 0; i < 8; i++) {
        ok(aclrtMallocPhysical(&memory[i], slot, &on_device, 0));
        ok(aclrtMapMem(range + i * slot, slot, 0, memory[i], 0));
        range[i * slot + slot - 1] = 1;
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < 1 << 20); /* KiB */
    for (size_t i = 0; i < 8; i++) {
        ok(aclrtUnmapMem(range + i * slot));
        ok(aclrtFreePhysical(memory[i]));
    }
    ok(aclrtReleaseMemAddress(range));
    (void)unsetenv("SHMEM_CPU_HBM_SIZE");
}

static void leaves_nothing(void **state)
{
    const t_holdings_t before = t_holdings();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        aclrtDrvMemHandle memory = NULL;
        char *range = NULL;

        ok(aclrtReserveMemAddress((void **)&range, 4 * MIB2, 0, NULL, 0));
        ok(aclrtMallocPhysical(&memory, MIB2, i % 2 == 0 ? &on_device : &on_host, 0));
        ok(aclrtMapMem(range + MIB2, MIB2, 0, memory, 0));
        range[MIB2] = 1;
        if (i % 3 == 0)
            ok(aclrtFreePhysical(memory));
        ok(aclrtUnmapMem(range + MIB2));
        if (i % 3 != 0)
            ok(aclrtFreePhysical(memory));
        ok(aclrtReleaseMemAddress(range));
    }
    const t_holdings_t after = t_holdings();
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.mappings, before.mappings);
}

/* A program may end the runtime before somebody else in the process is done with shared memory. */
static void outlives_finalize(void **state)
{
    aclrtDrvMemHandle memory = NULL;
    char *range = NULL;

    (void)state;
    ok(aclrtReserveMemAddress((void **)&range, 2 * MIB2, 0, NULL, 0));
    ok(aclrtMallocPhysical(&memory, 2 * MIB2, &on_device, 0));
    ok(aclrtMapMem(range, 2 * MIB2, 0, memory, 0));
    range[5] = 6;
    ok(aclFinalize());
    assert_int_equal(range[5], 6);
    ok(aclrtUnmapMem(range));
    ok(aclrtReleaseMemAddress(range));
    ok(aclInit(NULL));
    ok(aclrtSetDevice(0));
    size_t left = 0, total = 0;
    ok(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    assert_int_equal(left, total);
}

static void huge_pages_are_a_wish(void **state)
{
    aclrtPhysicalMemProp huge = on_device;
    aclrtDrvMemHandle memory = NULL;
    char *range = NULL;

    (void)state;
    huge.memAttr = ACL_HBM_MEM_HUGE;
    ok(aclrtReserveMemAddress((void **)&range, 8 * MIB2, 0, NULL, 1));
    ok(aclrtMallocPhysical(&memory, 8 * MIB2, &huge, 0)); /* with reserved pages or without */
    ok(aclrtMapMem(range, 8 * MIB2, 0, memory, 0));
    memset(range, 1, 8 * MIB2);
    ok(aclrtUnmapMem(range));
    ok(aclrtFreePhysical(memory));
    ok(aclrtReleaseMemAddress(range));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(maps_and_unmaps, t_begin, t_end),
        cmocka_unit_test_setup_teardown(refuses, t_begin, t_end),
        cmocka_unit_test_setup_teardown(honours_the_wish, t_begin, t_end),
        cmocka_unit_test_setup_teardown(costs_nothing_untouched, t_begin, t_end),
        cmocka_unit_test_setup_teardown(leaves_nothing, t_begin, t_end),
        cmocka_unit_test_setup_teardown(outlives_finalize, t_begin, t_end),
        cmocka_unit_test_setup_teardown(huge_pages_are_a_wish, t_begin, t_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
