/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the runtime: nothing before it, nothing after it, any number of times, and fork on both sides of it. */
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl_cpu.h"
#include "aicore/aicore.h"

static void add_one(void *counter)
{
    (void)atomic_fetch_add((atomic_int *)counter, 1);
}

static aclError copy_by_dma(void *to, const void *from, size_t bytes, aclcpuDmaQueue *queue)
{
    aclcpuDmaQueueInfo info;
    const aclError error = aclcpuDmaQueueCreate(queue, &info);

    if (error != ACL_SUCCESS)
        return error;
    info.ring[0] = (aclcpuDmaEntry){
        .kind = ACLCPU_DMA_COPY, .bytes = bytes, .source = (uintptr_t)from, .dest = (uintptr_t)to};
    aicore_doorbell_store(info.doorbell, 1);
    return ACL_SUCCESS;
}

/* One of everything that has a thread, a descriptor or memory. */
static void use_it(bool tidy)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM,
                                       .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemFabricHandle shared;
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclrtNotify notify = NULL;
    aclrtDrvMemHandle memory = NULL;
    aclcpuDmaQueue queue = NULL;
    aclmdlRI model = NULL;
    void *device_memory = NULL, *host_memory = NULL, *range = NULL;
    static atomic_int counter; /* the last function may run after we have returned */

    ok(aclrtSetDevice(1));
    ok(aclrtCreateStream(&stream));
    ok(aclrtCreateEvent(&event));
    ok(aclrtCreateNotify(&notify, 0));
    ok(aclrtMalloc(&device_memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMallocHost(&host_memory, 100));
    ok(aclrtMallocPhysical(&memory, 2 << 20, &prop, 0));
    ok(aclrtMemExportToShareableHandleV2(memory, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared));
    ok(aclrtReserveMemAddress(&range, 4 << 20, 0, NULL, 1));
    ok(aclrtMapMem(range, 2 << 20, 0, memory, 0));
    ok(aclrtRecordEvent(event, stream));
    ok(aclrtLaunchCallback(add_one, &counter, ACL_CALLBACK_BLOCK, stream));
    ok(aclrtLaunchCallback(add_one, &counter, ACL_CALLBACK_NO_BLOCK, NULL));
    ok(aclrtSynchronizeStream(stream));
    ok(copy_by_dma(host_memory, device_memory, 50, &queue));
    ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    ok(aclrtMemsetAsync((char *)device_memory + 50, 50, 0, 50, stream));
    ok(aclmdlRICaptureEnd(stream, &model));
    ok(aclmdlRIExecuteAsync(model, stream));
    ok(aclrtUnmapMem(range));
    ok(aclrtReleaseMemAddress(range));
    if (!tidy)
        return;
    ok(aclmdlRIDestroy(model));
    ok(aclcpuDmaQueueDestroy(queue));
    ok(aclrtDestroyNotify(notify));
    ok(aclrtDestroyEvent(event));
    ok(aclrtDestroyStream(stream));
    ok(aclrtFreePhysical(memory));
    ok(aclrtFree(device_memory));
    ok(aclrtFreeHost(host_memory));
    ok(aclrtResetDevice(1));
}

/* A joined thread may stand in /proc for a moment longer, so the count of them gets some time. */
static void expect_same(t_holdings_t before)
{
    const uint64_t deadline = t_now_ms() + 10000;
    t_holdings_t after = t_holdings();

    while (after.threads > before.threads && t_now_ms() < deadline) {
        (void)sched_yield();
        after = t_holdings();
    }
    assert_int_equal(after.descriptors, before.descriptors);
    assert_true(after.threads <= before.threads);
    assert_int_equal(after.mappings, before.mappings);
}

static void *nothing(void *argument)
{
    return argument;
}

static void nothing_before_and_after(void **state)
{
    pthread_t thread;

    (void)state;
    /* Sanitizers add a thread of their own to the first one. */
    assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    const t_holdings_t before = t_holdings();
    ok(aclInit(NULL));
    expect_same(before);
    ok(aclrtSetDevice(0));
    expect_same(before);
    for (int i = 0; i < 100; i++) {
        if (i > 0)
            ok(aclInit("ignored"));
        use_it(i % 2 == 0);
        ok(aclFinalize());
        expect_same(before);
    }
    fails(aclFinalize(), ACL_ERROR_UNINITIALIZE, "without aclInit");
}

static void survives_stale_handles(void **state)
{
    aclrtStream stream = NULL;
    void *memory = NULL, *host = NULL;
    int32_t device = 0;

    (void)state;
    ok(aclInit(NULL));
    ok(aclrtSetDevice(0));
    ok(aclrtCreateStream(&stream));
    ok(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    ok(aclrtMallocHost(&host, 8));
    ok(aclFinalize());
    fails(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
    fails(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE, "no stream");
    fails(aclrtFree(memory), ACL_ERROR_INVALID_PARAM, "not given out");
    fails(aclrtFreeHost(host), ACL_ERROR_INVALID_PARAM, "not given out");
    fails(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
    fails(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice");
}

/* The end of a process that never finalises: with work queued and cores asleep. */
static int leave_without_a_word(void *argument)
{
    aclrtStream stream = NULL;
    aclcpuDmaQueue queue = NULL;
    void *memory = NULL, *other = NULL;

    (void)argument;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtCreateStream(&stream) != ACL_SUCCESS ||
        aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        aclrtMalloc(&other, 8 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        copy_by_dma((char *)other + (4 << 20), other, 4 << 20, &queue) != ACL_SUCCESS)
        return 1;
    for (int i = 0; i < 100; i++)
        if (aclrtMemsetAsync(memory, 1 << 20, i, 1 << 20, stream) != ACL_SUCCESS)
            return 2;
    return 0;
}

static int exit_in_full(void *argument)
{
    exit(leave_without_a_word(argument)); /* with exit handlers, unlike the helper's own end */
}

static void exits_without_finalize(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(t_fork(leave_without_a_word, NULL), 0);
        assert_int_equal(t_fork(exit_in_full, NULL), 0);
    }
}

static int live_on_device_0(void *argument)
{
    const int number = *(const int *)argument;
    uint32_t word = 0;
    void *memory = NULL;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        aclrtMemsetAsync(memory, 4096, number, 4096, NULL) != ACL_SUCCESS ||
        aclrtSynchronizeStream(NULL) != ACL_SUCCESS ||
        aclrtMemcpy(&word, sizeof word, memory, sizeof word, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
        return 1;
    return word == (uint32_t)number * 0x01010101u && aclrtFree(memory) == ACL_SUCCESS &&
                   aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS
               ? 0
               : 2;
}

static void fork_before_the_start(void **state)
{
    pid_t children[8];

    (void)state;
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(live_on_device_0(&i));
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < 8; i++) {
        int status = -1;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

/* A process that has only asked questions may fork, too. */
static void fork_after_questions(void **state)
{
    uint32_t count = 0;
    int number = 3;

    (void)state;
    ok(aclrtGetDeviceCount(&count));
    assert_int_equal(t_fork(live_on_device_0, &number), 0);
}

static int use_inherited(void *argument)
{
    void *const *const handles = argument;
    void *memory = NULL;

    if (aclrtSetDevice(0) == ACL_SUCCESS ||
        aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ||
        aclrtSynchronizeStream(handles[0]) == ACL_SUCCESS || aclrtFree(handles[1]) == ACL_SUCCESS ||
        aclInit(NULL) == ACL_SUCCESS || aclFinalize() == ACL_SUCCESS ||
        aclrtMemset(handles[1], 8, 1, 8) == ACL_SUCCESS)
        return 1;
    if (strstr(aclGetRecentErrMsg(), "forked") == NULL)
        return 2;
    /* No descriptor of the parent's runtime is left: what is open is the folder being read and what was before. */
    return t_holdings().descriptors == *(const size_t *)handles[2] ? 0 : 3;
}

static void fork_in_the_middle(void **state)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM,
                                       .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    size_t descriptors = t_holdings().descriptors;
    aclrtMemFabricHandle shared;
    aclrtDrvMemHandle memory = NULL, again = NULL;
    void *handles[3] = {NULL, NULL, &descriptors};
    char byte = 0;

    (void)state;
    ok(aclInit(NULL));
    ok(aclrtSetDevice(0));
    ok(aclrtCreateStream(&handles[0]));
    ok(aclrtMalloc(&handles[1], 8, ACL_MEM_MALLOC_HUGE_FIRST));
    ok(aclrtMemsetAsync(handles[1], 8, 5, 8, handles[0]));
    ok(aclrtMallocPhysical(&memory, 2 << 20, &prop, 0));
    ok(aclrtMemExportToShareableHandleV2(memory, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared));
    for (int i = 0; i < 5; i++)
        assert_int_equal(t_fork(use_inherited, handles), 0);
    /* The parent goes on as if nothing had been. */
    ok(aclrtSynchronizeStream(handles[0]));
    ok(aclrtMemcpy(&byte, 1, handles[1], 1, ACL_MEMCPY_DEVICE_TO_HOST));
    assert_int_equal(byte, 5);
    ok(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &again));
    ok(aclFinalize());
}

static void exec_inherits_nothing(void **state)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM,
                                       .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemFabricHandle shared;
    aclrtDrvMemHandle memory = NULL;

    (void)state;
    ok(aclInit(NULL));
    ok(aclrtMallocPhysical(&memory, 2 << 20, &prop, 0));
    ok(aclrtMemExportToShareableHandleV2(memory, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared));
    /* vfork and spawn run no fork handlers: here only close-on-exec helps. */
    FILE *const list = popen("ls -l /proc/self/fd", "re");
    assert_non_null(list);
    char line[512];
    while (fgets(line, sizeof line, list) != NULL)
        assert_null(strstr(line, "memfd:acl"));
    assert_int_equal(pclose(list), 0);
    ok(aclFinalize());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_before_the_start),  cmocka_unit_test(fork_after_questions),
        cmocka_unit_test(exits_without_finalize), cmocka_unit_test(nothing_before_and_after),
        cmocka_unit_test(survives_stale_handles), cmocka_unit_test(fork_in_the_middle),
        cmocka_unit_test(exec_inherits_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
