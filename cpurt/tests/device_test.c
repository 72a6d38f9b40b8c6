/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, settings: who has set what, and what it takes to be refused. */
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void counts(void **state)
{
    uint32_t count = 0;
    int32_t device = -1, parts[3] = {0};
    int64_t value = 0;
    aclrtRunMode mode = ACL_DEVICE;

    (void)state;
    ok(aclrtGetDeviceCount(&count));
    assert_int_equal(count, 16);
    ok(aclrtGetDevice(&device));
    assert_int_equal(device, 0);
    ok(aclrtGetRunMode(&mode));
    assert_int_equal(mode, ACL_HOST);
    ok(aclrtGetVersion(&parts[0], &parts[1], &parts[2]));
    assert_int_equal(parts[0], 1);
    assert_int_equal(parts[1], 15);
    assert_non_null(strstr(aclrtGetSocName(), "Ascend"));
    assert_null(strstr(aclrtGetSocName(), "Ascend950"));
    ok(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value));
    assert_int_equal(value, 48);
    ok(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, &value));
    assert_int_equal(value, 196608);
}

static void refuses(void **state)
{
    int32_t peer = 0;

    (void)state;
    fails(aclrtSetDevice(16), ACL_ERROR_RT_INVALID_DEVICEID, "SHMEM_CPU_DEVICES");
    fails(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID, "device -1");
    fails(aclrtResetDevice(5), ACL_ERROR_RT_INVALID_DEVICEID, "not set");
    fails(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtDeviceEnablePeerAccess(99, 0), ACL_ERROR_RT_INVALID_DEVICEID, "99");
    fails(aclrtDeviceEnablePeerAccess(1, 7), ACL_ERROR_INVALID_PARAM, "flags");
    ok(aclrtDeviceEnablePeerAccess(1, 0));
    ok(aclrtDeviceCanAccessPeer(&peer, 0, 1));
    assert_int_equal(peer, 1);
    fails(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE, "before");
}

static void *other_thread(void *argument)
{
    int32_t device = -1;

    (void)argument;
    if (aclrtGetDevice(&device) != ACL_ERROR_RT_CONTEXT_NULL)
        return (void *)1;
    if (aclrtSetDevice(3) != ACL_SUCCESS || aclrtGetDevice(&device) != ACL_SUCCESS || device != 3)
        return (void *)2;
    return aclrtResetDevice(3) == ACL_SUCCESS ? NULL : (void *)3;
}

static void belongs_to_threads(void **state)
{
    pthread_t thread;
    void *result = NULL;
    int32_t device = -1;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    ok(aclrtGetDevice(&device));
    assert_int_equal(device, 0);
}

static void counts_sets(void **state)
{
    int32_t device = -1;

    (void)state;
    ok(aclrtSetDevice(2));
    ok(aclrtSetDevice(2));
    ok(aclrtResetDevice(2));
    ok(aclrtGetDevice(&device));
    assert_int_equal(device, 2);
    ok(aclrtResetDevice(2));
    fails(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, "reset");
    ok(aclrtSetDevice(0));
    ok(aclrtResetDevice(0));
    ok(aclrtGetDevice(&device));
    assert_int_equal(device, 0);
}

static void switches_contexts(void **state)
{
    aclrtContext first = NULL, second = NULL, now = NULL;
    aclrtStream stream = NULL;
    int32_t device = -1;

    (void)state;
    ok(aclrtGetCurrentContext(&first));
    ok(aclrtCreateContext(&second, 1));
    ok(aclrtGetDevice(&device));
    assert_int_equal(device, 1);
    ok(aclrtCreateStream(&stream));
    ok(aclrtSetCurrentContext(first));
    ok(aclrtGetCurrentContext(&now));
    assert_ptr_equal(now, first);
    ok(aclrtDestroyContext(second)); /* with its stream */
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
    fails(aclrtDestroyContext(second), ACL_ERROR_RT_INVALID_HANDLE, "no context");
    fails(aclrtSetCurrentContext((aclrtContext)(uintptr_t)0x1234), ACL_ERROR_RT_INVALID_HANDLE, "no context");
}

static int with_setting(void *argument)
{
    const char *const *const setting = argument;

    (void)setenv(setting[0], setting[1], 1);
    if (setting[2] != NULL) /* must be refused, with the name in the text */
        return aclInit(NULL) == ACL_ERROR_INVALID_PARAM && strstr(aclGetRecentErrMsg(), setting[0]) != NULL
                   ? 0
                   : 1;
    return aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS ? 0 : 1;
}

static void reads_settings_strictly(void **state)
{
    static const char *const table[][3] = {
        {"SHMEM_CPU_DEVICES", "1", NULL},          {"SHMEM_CPU_DEVICES", "4096", NULL},
        {"SHMEM_CPU_DEVICES", "0", "no"},          {"SHMEM_CPU_DEVICES", "4097", "no"},
        {"SHMEM_CPU_DEVICES", "8x", "no"},         {"SHMEM_CPU_DEVICES", "-1", "no"},
        {"SHMEM_CPU_DEVICES", "1K", "no"},         {"SHMEM_CPU_CORES", "49", "no"},
        {"SHMEM_CPU_CORES", "48", NULL},           {"SHMEM_CPU_HBM_SIZE", "4g", NULL},
        {"SHMEM_CPU_HBM_SIZE", "17T", "no"},       {"SHMEM_CPU_HBM_SIZE", "99999999999999999999", "no"},
        {"SHMEM_CPU_HBM_SIZE", "1 G", "no"},       {"SHMEM_CPU_KERNEL_TIMEOUT", "0.25", NULL},
        {"SHMEM_CPU_KERNEL_TIMEOUT", "0", "no"},   {"SHMEM_CPU_KERNEL_TIMEOUT", "1e3", "no"},
        {"SHMEM_CPU_UB_SIZE", "256K", NULL},       {"SHMEM_CPU_UB_SIZE", "1M", "no"},
        {"SHMEM_CPU_SOC_NAME", "Ascend950", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (t_fork(with_setting, (void *)(uintptr_t)table[i]) != 0)
            fail_msg("%s %s", table[i][0], table[i][1]);
    }
}

static int more_devices(void *argument)
{
    (void)argument;
    (void)setenv("SHMEM_CPU_DEVICES", "40", 1);
    return aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(39) == ACL_SUCCESS &&
                   aclrtSetDevice(40) != ACL_SUCCESS
               ? 0
               : 1;
}

static void has_as_many_as_asked_for(void **state)
{
    (void)state;
    assert_int_equal(t_fork(more_devices, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest before[] = {
        cmocka_unit_test(reads_settings_strictly),
        cmocka_unit_test(has_as_many_as_asked_for),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts, t_begin, t_end),
        cmocka_unit_test_setup_teardown(refuses, t_begin, t_end),
        cmocka_unit_test_setup_teardown(belongs_to_threads, t_begin, t_end),
        cmocka_unit_test_setup_teardown(counts_sets, t_begin, t_end),
        cmocka_unit_test_setup_teardown(switches_contexts, t_begin, t_end),
    };
    const int failed = cmocka_run_group_tests(before, NULL, NULL);

    return failed + cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
