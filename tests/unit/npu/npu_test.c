/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device port on a fake AscendCL: which runtime is taken, how failures are passed on, what is asked of the runtime.
 *
 * A process keeps the runtime it found, so every test runs in a child of its own.
 */
#define LOG_MODULE "test"

#include "fake_acl.h"
#include "host/npu/acl_table.h"
#include "host/utils/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h> /* behind our headers: both have a macro called fail */

#define check(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s; last failure: %s; reason: %s\n", __FILE__, __LINE__, #condition,     \
                    aclshmemi_status_last_text(), npu_runtime_reason());                                     \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)
#define check_has(text, part)                                                                                \
    do {                                                                                                     \
        if (!strstr((text), (part))) {                                                                       \
            fprintf(stderr, "%s:%d: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, (text), (part));             \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static char home[PATH_MAX]; /* a CANN made of a fake, in a folder of this test */
static int warnings, errors;

static void count_line(int level, const char *message)
{
    (void)message;
    warnings += level == ACLSHMEMI_LOG_WARN;
    errors += level >= ACLSHMEMI_LOG_ERROR;
}

static void in_child(void (*body)(void))
{
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        aclshmemi_log_set_callback(count_line);
        body();
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void place_fake(const char *file)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib64/libascendcl.so", home);
    check(unlink(path) == 0 || errno == ENOENT);
    if (file)
        check(symlink(file, path) == 0);
}

static aclshmemi_env_t settings(void)
{
    return (aclshmemi_env_t){.ascend_home_path = home, .npu_fail = ""};
}

static fake_acl_t *open_fake(const char *file)
{
    aclshmemi_env_t env = settings();
    place_fake(file);
    check(npu_open(&env) == 0);
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib64/libascendcl.so", home);
    check(strcmp(npu_runtime_path(), path) == 0);
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    check(handle != NULL);
    fake_acl_t *fake = dlsym(handle, "fake_acl");
    check(fake != NULL);
    return fake;
}

static fake_acl_t *load_before(const char *file, int scope)
{
    void *handle = dlopen(file, RTLD_NOW | scope);
    check(handle != NULL);
    fake_acl_t *fake = dlsym(handle, "fake_acl");
    check(fake != NULL);
    return fake;
}

/* --- Which one --- */

static void cann(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    aclshmemi_env_t env = settings();
    check_has(npu_runtime_reason(), "named by ASCEND_HOME_PATH");
    check(strcmp(npu_soc_name(), "Ascend910B1") == 0);
    check(!npu_host_can_touch());
    check(fake->inits == 1);
    check(npu_open(&env) == 0); /* counted */
    check(fake->inits == 1);
    npu_close();
    check(fake->finalizes == 0);
    npu_close();
    check(fake->finalizes == 1);
    npu_close(); /* one too many is harmless */
    check(fake->finalizes == 1);
    for (int i = 2; i < 50; i++) { /* and again: the same one for the same reason */
        check(npu_open(&env) == 0);
        check(fake->inits == i);
        check_has(npu_runtime_reason(), "named by ASCEND_HOME_PATH");
        check_has(npu_runtime_path(), "/lib64/libascendcl.so");
        npu_close();
        check(fake->finalizes == i);
    }
    check(warnings == 0 && errors == 0);
}

/* Whether another runtime is found behind it depends on the build; what was said about CANN must not. */
static void refused(const char *why)
{
    aclshmemi_env_t env = settings();
    int rc = npu_open(&env);
    check(rc == 0 || rc == ACLSHMEM_UNDER_API_UNLOAD);
    check_has(rc == 0 ? npu_runtime_reason() : aclshmemi_status_last_text(), why);
    check_has(rc == 0 ? npu_runtime_reason() : aclshmemi_status_last_text(), home);
    check(warnings == 1);
    check(errors == (rc != 0));
    if (rc == 0) {
        check(strncmp(npu_runtime_path(), home, strlen(home)) != 0);
        npu_close();
    }
}

/* [I-36] */
static void cann_is_writable_by_others(void)
{
    char path[PATH_MAX + 64];
    place_fake(FAKE_ACL);
    snprintf(path, sizeof path, "%s/lib64", home);
    check(chmod(path, 0777) == 0);
    refused("group or others may write there");
}

static void cann_is_writable_by_group(void)
{
    char path[PATH_MAX + 64];
    place_fake(FAKE_ACL);
    snprintf(path, sizeof path, "%s/lib64", home);
    check(chmod(path, 0775) == 0);
    refused("group or others may write there");
}

static void cann_belongs_to_another(void)
{
    char path[PATH_MAX + 64];
    place_fake(FAKE_ACL);
    snprintf(path, sizeof path, "%s/lib64", home);
    check(chown(path, 12345, 12345) == 0);
    refused("belongs neither to this user nor to root");
}

/* [I-36] */
static void cann_is_not_there(void)
{
    place_fake(NULL);
    refused("no such file");
}

static void cann_has_no_folder(void)
{
    char path[PATH_MAX + 64];
    place_fake(NULL);
    snprintf(path, sizeof path, "%s/lib64", home);
    check(rmdir(path) == 0);
    refused("no such directory");
}

static void cann_is_not_absolute(void)
{
    place_fake(FAKE_ACL);
    check(chdir(home) == 0);
    home[0] = '.';
    home[1] = '\0';
    refused("not an absolute path");
}

static void cann_is_not_a_library(void)
{
    char path[PATH_MAX + 64];
    place_fake(NULL);
    snprintf(path, sizeof path, "%s/lib64/libascendcl.so", home);
    FILE *file = fopen(path, "w");
    check(file && fputs("not a library\n", file) >= 0 && fclose(file) == 0);
    refused("libascendcl.so: ");
}

static void cann_lacks_a_function(void)
{
    place_fake(FAKE_ACL_LACKING);
    refused("aclrtMalloc");
}

/* [E-02] */
static void no_runtime_at_all(void)
{
    aclshmemi_env_t env = settings();
    env.ascend_home_path = "";
    int rc = npu_open(&env);
    const char *text = rc == 0 ? npu_runtime_reason() : aclshmemi_status_last_text();
    check_has(text, "none in the process");
    check_has(text, "ASCEND_HOME_PATH is not set");
    if (rc == 0) {
        npu_close();
        return;
    }
    check(rc == ACLSHMEM_UNDER_API_UNLOAD);
    check_has(text, "/libascendcl.so: no such file");
    int device;
    check(npu_device_current(&device) == ACLSHMEM_NOT_INITED);
}

static void in_process(int scope)
{
    place_fake(NULL);
    fake_acl_t *fake = load_before(FAKE_ACL, scope);
    aclshmemi_env_t env = settings();
    for (int i = 1; i < 20; i++) {
        check(npu_open(&env) == 0);
        check(strcmp(npu_runtime_path(), "") == 0);
        check_has(npu_runtime_reason(), "was in the process already");
        check_has(npu_runtime_reason(), FAKE_ACL);
        check(fake->inits == i);
        npu_close();
        check(fake->finalizes == i);
    }
    check(warnings == 0 && errors == 0); /* CANN was not looked at, so nothing is wrong with it */
}

static void in_process_for_everybody(void)
{
    in_process(RTLD_GLOBAL);
}

static void in_process_for_its_owner(void)
{
    in_process(RTLD_LOCAL);
}

/* No second runtime beside one that cannot be used: the caller's pointers come from the first. */
static void in_process_but_lacking(void)
{
    aclshmemi_env_t env = settings();
    place_fake(FAKE_ACL);
    load_before(FAKE_ACL_LACKING, RTLD_GLOBAL);
    check(npu_open(&env) == ACLSHMEM_UNDER_API_UNLOAD);
    check_has(aclshmemi_status_last_text(), "aclrtMalloc");
    check_has(aclshmemi_status_last_text(), FAKE_ACL_LACKING);
    check(errors == 1);
}

static void host_touches_cpu_memory(void)
{
    aclshmemi_env_t env = settings();
    fake_acl_t *fake = load_before(FAKE_ACL, RTLD_LOCAL);
    fake->soc_name = "Ascend910B-cpu";
    check(npu_open(&env) == 0);
    check(npu_host_can_touch());
    npu_close();
    fake->soc_name = NULL; /* a runtime may not know yet */
    check(npu_open(&env) == 0);
    check(!npu_host_can_touch());
    check(strcmp(npu_soc_name(), "") == 0);
}

/* --- Starting it --- */

static void initialized_by_the_program(void)
{
    aclshmemi_env_t env = settings();
    fake_acl_t *fake = load_before(FAKE_ACL, RTLD_LOCAL);
    *fake = (fake_acl_t){.fail_function = "aclInit", .fail_code = 100002, .fail_times = -1};
    check(npu_open(&env) == 0);
    npu_close();
    check(fake->finalizes == 0); /* it is not ours to end */
    check(warnings == 0 && errors == 0);
}

static void cannot_be_initialized(void)
{
    aclshmemi_env_t env = settings();
    fake_acl_t *fake = load_before(FAKE_ACL, RTLD_LOCAL);
    *fake =
        (fake_acl_t){.fail_function = "aclInit", .fail_code = 507899, .fail_times = 1, .text = "no driver"};
    check(npu_open(&env) == 507899);
    check_has(aclshmemi_status_last_text(), "aclInit failed with code 507899");
    check_has(aclshmemi_status_last_text(), "no driver");
    check_has(aclshmemi_status_last_text(), FAKE_ACL " was in the process already");
    check(errors == 1);
    void *address;
    check(npu_alloc(16, &address) == ACLSHMEM_NOT_INITED);
    check(npu_open(&env) == 0); /* a later try is a new one */
    check(npu_alloc(16, &address) == 0);
    npu_close();
    check(fake->finalizes == 1);
}

static void nothing_before_open(void)
{
    int device = 77;
    void *address = &device;
    aclshmemi_npu_mem_t mem = &device;
    check(npu_device_current(&device) == ACLSHMEM_NOT_INITED);
    check(npu_alloc(16, &address) == ACLSHMEM_NOT_INITED);
    check(npu_mem_create(16, ACLSHMEMI_NPU_ON_HOST, false, &mem) == ACLSHMEM_NOT_INITED);
    check_has(aclshmemi_status_last_text(), "npu_mem_create before npu_open");
    check(npu_stream_sync(NULL, 1) == ACLSHMEM_NOT_INITED);
    check(device == 77 && address == &device && mem == &device); /* outputs are written on success only */
    npu_free(&device);
    npu_host_free(NULL);
    npu_mem_destroy(&device);
    npu_unmap(&device);
    npu_release(&device);
    npu_stream_destroy(&device);
    npu_event_destroy(&device);
    npu_binary_unload(&device);
    npu_close();
    check(npu_sync_config() == 0);
    check(!npu_host_can_touch());
    check(strcmp(npu_runtime_path(), "") == 0 && strcmp(npu_soc_name(), "") == 0);
}

/* --- Passing failures on --- */

static void codes_of_the_runtime(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    void *address = &fake;
    *fake = (fake_acl_t){
        .fail_function = "aclrtMalloc", .fail_code = 207001, .fail_times = -1, .text = "out of HBM"};
    check(npu_alloc(4096, &address) == 207001);
    check(address == &fake);
    check_has(aclshmemi_status_last_text(), "aclrtMalloc failed with code 207001, 4096 bytes");
    check_has(aclshmemi_status_last_text(), "out of HBM");
    check(errors == 1);
    fake->text = NULL;
    fake->fail_code = -7; /* not one of AscendCL's */
    check(npu_alloc(4096, &address) == ACLSHMEM_DL_FUNC_FAILED);
    check_has(aclshmemi_status_last_text(), "aclrtMalloc failed with code -7");
    check(errors == 2);

    int device = 5;
    *fake = (fake_acl_t){.fail_function = "aclrtGetDevice", .fail_code = 107002, .fail_times = -1};
    check(npu_device_current(&device) == 107002); /* quiet: the caller decides */
    check(device == 5 && errors == 2);
    check_has(aclshmemi_status_last_text(), "aclrtSetDevice");

    *fake = (fake_acl_t){.fail_function = "aclrtFree", .fail_code = 107000, .fail_times = 1};
    npu_free(&device);
    check(warnings == 1 && errors == 2);
    npu_free(NULL);
    check(warnings == 1);
}

static void an_old_runtime(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL_OLD);
    size_t free_bytes, total_bytes;
    void *address;
    aclshmemi_npu_handle_t handle = {{0}};
    check(npu_device_memory(&free_bytes, &total_bytes) == ACLSHMEM_NOT_SUPPORTED);
    check_has(aclshmemi_status_last_text(), "no aclrtGetMemInfo");
    check(npu_device_sync(10) == 0); /* there is nothing to wait with, and nothing is said */
    check(npu_peer_enable(1) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_fill_async(&handle, 0, 4, NULL) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_export(&handle, &handle) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_import(&handle, &address) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_stream_call(NULL, NULL, NULL) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_binary_load("x", &address) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_kernel_get(NULL, "x", &address) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_kernel_launch(&handle, 1, &handle, 4, NULL) == ACLSHMEM_NOT_SUPPORTED);
    check(npu_sync_config() == 0);
    npu_binary_unload(&handle);
    check(npu_map(&handle, 4, &handle) == 0); /* nothing to grant */
    check(npu_alloc(16, &address) == 0);      /* the rest works */
    fake->fail_function = "aclrtMalloc";
    fake->fail_times = -1;
    fake->fail_code = 207001;
    check(npu_alloc(16, &address) == 207001);
}

/* --- What is asked of the runtime --- */

static void properties_of_memory(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    aclshmemi_npu_mem_t mem = NULL;
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_DEVICE, true, &mem) == 0);
    check(mem != NULL);
    check(fake->property.memAttr == ACL_HBM_MEM_HUGE);
    check(fake->property.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && fake->property.location.id == 3);
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_DEVICE, false, &mem) == 0);
    check(fake->property.memAttr == ACL_HBM_MEM_NORMAL);
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_HOST, true, &mem) == 0);
    check(fake->property.memAttr == ACL_DDR_MEM_HUGE);
    check(fake->property.location.type == ACL_MEM_LOCATION_TYPE_HOST && fake->property.location.id == 0);
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_HOST, false, &mem) == 0);
    check(fake->property.memAttr == ACL_DDR_MEM_NORMAL);

    fake->fail_function = "aclrtMallocPhysical";
    fake->fail_code = 207001;
    fake->fail_times = 1; /* no huge pages: ordinary ones, and no noise */
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_DEVICE, true, &mem) == 0);
    check(fake->property.memAttr == ACL_HBM_MEM_NORMAL);
    check(warnings == 0 && errors == 0);
    fake->fail_times = 2;
    check(npu_mem_create(4096, ACLSHMEMI_NPU_ON_DEVICE, true, &mem) == 207001);
    check(errors == 1);
}

static void mapping_and_access(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    check(npu_map(fake, 4096, fake) == 0);
    check(fake->maps == 1 && fake->unmaps == 0);
    fake->fail_function = "aclrtMemSetAccess";
    fake->fail_times = -1;
    fake->fail_code = 207000; /* a runtime that needs no rights */
    check(npu_map(fake, 4096, fake) == 0);
    check(fake->maps == 2 && fake->unmaps == 0 && errors == 0);
    fake->fail_code = 107000;
    check(npu_map(fake, 4096, fake) == 107000);
    check(fake->maps == 3 && fake->unmaps == 1); /* nothing stays behind */
    check(errors == 1);
}

static void importing(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    aclshmemi_npu_handle_t handle = {{1}};
    aclshmemi_npu_mem_t mem = &handle;
    fake->fail_function = "aclrtMemImportFromShareableHandleV2";
    fake->fail_times = -1;
    fake->fail_code = 107000;
    fake->text = "another container";
    check(npu_import(&handle, &mem) == ACLSHMEM_NOT_SUPPORTED);
    check_has(aclshmemi_status_last_text(), "another container");
    check(warnings == 0 && errors == 0 && mem == &handle);
    fake->fail_code = 207001; /* that is about us, not about the peer */
    check(npu_import(&handle, &mem) == 207001);
    check(errors == 1);
}

/* The CPU runtime's codes are known: a broken handle is an error there, not a road that is closed. */
static void importing_on_a_cpu(void)
{
    aclshmemi_env_t env = settings();
    aclshmemi_npu_handle_t handle = {{1}};
    aclshmemi_npu_mem_t mem = &handle;
    fake_acl_t *fake = load_before(FAKE_ACL, RTLD_LOCAL);
    *fake = (fake_acl_t){.soc_name = "some-cpu",
                         .fail_function = "aclrtMemImportFromShareableHandleV2",
                         .fail_times = -1,
                         .fail_code = 207000};
    check(npu_open(&env) == 0);
    check(npu_import(&handle, &mem) == ACLSHMEM_NOT_SUPPORTED);
    check(errors == 0);
    fake->fail_code = 107017;
    check(npu_import(&handle, &mem) == 107017);
    check(errors == 1 && mem == &handle);
}

static void waiting_for_a_stream(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    check(npu_stream_sync(NULL, 1234) == 0);
    check(fake->timeout_ms > 1000 && fake->timeout_ms <= 1234);
    fake->fail_function = "aclrtSynchronizeStreamWithTimeout";
    fake->fail_code = 507046;
    fake->fail_times = -1;
    uint64_t before = aclshmemi_clock_ns();
    check(npu_stream_sync(NULL, 5) == ACLSHMEM_TIMEOUT_ERROR);
    check(aclshmemi_clock_ns() - before >= 5 * ACLSHMEMI_NS_PER_MS);
    check_has(aclshmemi_status_last_text(), "after 5 ms");
    check(npu_stream_sync(NULL, 0) == ACLSHMEM_TIMEOUT_ERROR);
    check(fake->timeout_ms == 0); /* a look, not for ever */
    fake->fail_times = 2;
    fake->sync_calls = 0;
    check(npu_stream_sync(NULL, UINT64_MAX) == 0); /* longer than one call of the runtime can wait */
    check(fake->timeout_ms == INT32_MAX && fake->sync_calls == 3);
    fake->fail_code = 507015;
    fake->fail_times = 1;
    check(npu_stream_sync(NULL, 1000) == 507015); /* a kernel's error */
}

static void waiting_for_a_device(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    check(npu_device_sync(1234) == 0);
    check(fake->timeout_ms > 1000 && fake->timeout_ms <= 1234);
    fake->fail_function = "aclrtSynchronizeDeviceWithTimeout";
    fake->fail_code = 507046;
    fake->fail_times = -1;
    check(npu_device_sync(0) == ACLSHMEM_TIMEOUT_ERROR);
    check_has(aclshmemi_status_last_text(), "a device still has work");
}

static void copies_and_launches(void)
{
    fake_acl_t *fake = open_fake(FAKE_ACL);
    char a[8], b[8] = {0};
    check(npu_copy(a, b, sizeof a, ACLSHMEMI_NPU_HOST_TO_HOST) == 0 && fake->kind == ACL_MEMCPY_HOST_TO_HOST);
    check(npu_copy(a, b, sizeof a, ACLSHMEMI_NPU_HOST_TO_DEVICE) == 0 &&
          fake->kind == ACL_MEMCPY_HOST_TO_DEVICE);
    check(npu_copy(a, b, sizeof a, ACLSHMEMI_NPU_DEVICE_TO_HOST) == 0 &&
          fake->kind == ACL_MEMCPY_DEVICE_TO_HOST);
    check(npu_copy(a, b, sizeof a, ACLSHMEMI_NPU_DEVICE_TO_DEVICE) == 0 &&
          fake->kind == ACL_MEMCPY_DEVICE_TO_DEVICE);
    check(npu_kernel_launch(a, 8, b, sizeof b, NULL) == 0);
    check(fake->schedule_mode == 1); /* all blocks at the same time */
}

/* --- Failures made to order --- */

static int call_one(aclshmemi_npu_call_t call)
{
    static char memory[256];
    void *out = memory;
    int number;
    size_t one, two;
    aclshmemi_npu_handle_t handle = {{0}};
    aclshmemi_npu_dma_info_t dma;
    switch (call) {
    case ACLSHMEMI_NPU_device_count:
        return npu_device_count(&number);
    case ACLSHMEMI_NPU_device_current:
        return npu_device_current(&number);
    case ACLSHMEMI_NPU_device_set:
        return npu_device_set(0);
    case ACLSHMEMI_NPU_device_reset:
        return npu_device_reset(0);
    case ACLSHMEMI_NPU_device_memory:
        return npu_device_memory(&one, &two);
    case ACLSHMEMI_NPU_device_sync:
        return npu_device_sync(10);
    case ACLSHMEMI_NPU_peer_enable:
        return npu_peer_enable(0);
    case ACLSHMEMI_NPU_alloc:
        return npu_alloc(16, &out);
    case ACLSHMEMI_NPU_host_alloc:
        return npu_host_alloc(16, &out);
    case ACLSHMEMI_NPU_copy:
        return npu_copy(memory, memory, 16, ACLSHMEMI_NPU_HOST_TO_HOST);
    case ACLSHMEMI_NPU_copy_async:
        return npu_copy_async(memory, memory, 16, ACLSHMEMI_NPU_HOST_TO_HOST, NULL);
    case ACLSHMEMI_NPU_fill:
        return npu_fill(memory, 0, 16);
    case ACLSHMEMI_NPU_fill_async:
        return npu_fill_async(memory, 0, 16, NULL);
    case ACLSHMEMI_NPU_reserve:
        return npu_reserve(16, &out);
    case ACLSHMEMI_NPU_mem_create:
        return npu_mem_create(16, ACLSHMEMI_NPU_ON_DEVICE, false, &out);
    case ACLSHMEMI_NPU_map:
        return npu_map(memory, 16, out);
    case ACLSHMEMI_NPU_export:
        return npu_export(out, &handle);
    case ACLSHMEMI_NPU_import:
        return npu_import(&handle, &out);
    case ACLSHMEMI_NPU_stream_create:
        return npu_stream_create(&out);
    case ACLSHMEMI_NPU_stream_sync:
        return npu_stream_sync(NULL, 10);
    case ACLSHMEMI_NPU_stream_call:
        return npu_stream_call(NULL, free, NULL);
    case ACLSHMEMI_NPU_event_create:
        return npu_event_create(&out);
    case ACLSHMEMI_NPU_event_record:
        return npu_event_record(out, NULL);
    case ACLSHMEMI_NPU_event_wait:
        return npu_event_wait(out, NULL);
    case ACLSHMEMI_NPU_binary_load:
        return npu_binary_load("kernels", &out);
    case ACLSHMEMI_NPU_kernel_get:
        return npu_kernel_get(NULL, "kernel", &out);
    case ACLSHMEMI_NPU_kernel_launch:
        return npu_kernel_launch(out, 1, memory, 16, NULL);
    case ACLSHMEMI_NPU_state_publish:
        return npu_state_publish(3, memory);
    case ACLSHMEMI_NPU_notify_create:
        return npu_notify_create(&out, (uint32_t *)&number);
    case ACLSHMEMI_NPU_dma_queue_create:
        return npu_dma_queue_create(&out, &dma);
    case ACLSHMEMI_NPU_open:
    case ACLSHMEMI_NPU_CALLS:
        break;
    }
    return -12345;
}

static const char *const names[] = {
#define NAME(name) #name,
    ACLSHMEMI_NPU_CALL_MAP(NAME)
#undef NAME
};

static void every_call_can_be_made_to_fail(void)
{
    open_fake(FAKE_ACL);
    npu_close();
    for (int call = ACLSHMEMI_NPU_open + 1; call < ACLSHMEMI_NPU_CALLS; call++) {
        char text[64];
        aclshmemi_env_t env = settings();
        snprintf(text, sizeof text, call % 2 ? "%s:2" : "npu_%s:2", names[call]);
        env.npu_fail = text;
        check(npu_open(&env) == 0);
        check(call_one(call) == 0);
        check(call_one(call) == ACLSHMEM_INNER_ERROR);
        check_has(aclshmemi_status_last_text(), names[call]);
        check(call_one(call) == 0); /* once */
        npu_close();
    }
    aclshmemi_env_t env = settings();
    env.npu_fail = "open:1";
    check(npu_open(&env) == ACLSHMEM_INNER_ERROR);
    env.npu_fail = "alloc";
    void *out;
    check(npu_open(&env) == 0);
    check(npu_alloc(16, &out) == ACLSHMEM_INNER_ERROR); /* without a number: the first */
    npu_close();
    env.npu_fail = ""; /* and it does not outlive its setting */
    check(npu_open(&env) == 0);
    check(npu_alloc(16, &out) == 0);
}

static void bad_orders(void)
{
    static const char *const bad[] = {"nothing:1", "alloc:",    "alloc:0", "alloc:-1",        "alloc:x", ":1",
                                      "npu_:1",    "alloc:1:2", "allo:1",  "npu_npu_alloc:1", "npu"};
    place_fake(FAKE_ACL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        aclshmemi_env_t env = settings();
        env.npu_fail = bad[i];
        check(npu_open(&env) == ACLSHMEM_INVALID_VALUE);
        check_has(aclshmemi_status_last_text(), "SHMEM_NPU_FAIL");
    }
}

/* --- Set-up --- */

static int set_up(void **state)
{
    (void)state;
    char folder[PATH_MAX + 64];
    const char *base = getenv("TMPDIR");
    snprintf(home, sizeof home, "%s/aclshmem-npu-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(home))
        return -1;
    snprintf(folder, sizeof folder, "%s/lib64", home);
    return mkdir(folder, 0755);
}

static int tear_down(void **state)
{
    (void)state;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib64/libascendcl.so", home);
    unlink(path);
    snprintf(path, sizeof path, "%s/lib64", home);
    rmdir(path);
    rmdir(home);
    return 0;
}

#define TEST(name)                                                                                           \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        in_child(name);                                                                                      \
    }
/* clang-format off */
#define TESTS(XX)                                                                                            \
    XX(cann) XX(cann_is_writable_by_others) XX(cann_is_writable_by_group) XX(cann_is_not_there)              \
    XX(cann_has_no_folder) XX(cann_is_not_absolute) XX(cann_is_not_a_library) XX(cann_lacks_a_function)      \
    XX(no_runtime_at_all) XX(in_process_for_everybody) XX(in_process_for_its_owner)                          \
    XX(in_process_but_lacking) XX(host_touches_cpu_memory) XX(initialized_by_the_program)                    \
    XX(cannot_be_initialized) XX(nothing_before_open) XX(codes_of_the_runtime) XX(an_old_runtime)            \
    XX(properties_of_memory) XX(mapping_and_access) XX(importing) XX(importing_on_a_cpu)                     \
    XX(waiting_for_a_stream) XX(waiting_for_a_device) XX(copies_and_launches)                                \
    XX(every_call_can_be_made_to_fail) XX(bad_orders)
/* clang-format on */
TESTS(TEST)

static void test_cann_belongs_to_another(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("giving a folder away takes root\n");
        skip();
    }
    in_child(cann_belongs_to_another);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down),
        TESTS(ROW) ROW(cann_belongs_to_another)
#undef ROW
    };
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
