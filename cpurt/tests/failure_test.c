/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything the system can refuse, refused once: the same work is done again and again, and each time another
 * allocation, mapping, descriptor or thread is not to be had. Whatever happens must be a code, and the runtime must end
 * cleanly and work afterwards. The functions of libc are replaced by ones of this program that count.
 */
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acl/acl_cpu.h"
#include "aicore/aicore.h"

static atomic_int calls_left = -1; /* until the one that fails; negative: none does */
static atomic_bool failed_one;

static bool fail_now(void)
{
    if (atomic_load_explicit(&calls_left, memory_order_relaxed) < 0)
        return false;
    const bool now = atomic_fetch_sub(&calls_left, 1) == 0;

    if (now)
        atomic_store(&failed_one, true);
    return now;
}

/* The next definition of a function, looked up while nothing fails. */
#define NEXT(type, name, ...)                                                                                \
    static type (*real_##name)(__VA_ARGS__);                                                                 \
    __attribute__((constructor)) static void find_##name(void)                                               \
    {                                                                                                        \
        void *const found = dlsym(RTLD_NEXT, #name);                                                         \
        memcpy(&real_##name, &found, sizeof found);                                                          \
    }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

/* The library finds these before libc's. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    errno = ENOMEM;
    return fail_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    errno = ENOMEM;
    return fail_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    errno = ENOMEM;
    return fail_now() ? NULL : __libc_realloc(old, size);
}

NEXT(void *, mmap, void *, size_t, int, int, int, off_t)
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    errno = ENOMEM;
    return fail_now() ? MAP_FAILED : real_mmap(at, bytes, protection, flags, fd, offset);
}

NEXT(int, memfd_create, const char *, unsigned int)
int memfd_create(const char *name, unsigned int flags)
{
    errno = EMFILE;
    return fail_now() ? -1 : real_memfd_create(name, flags);
}

NEXT(int, ftruncate, int, off_t)
int ftruncate(int fd, off_t size)
{
    errno = EFBIG;
    return fail_now() ? -1 : real_ftruncate(fd, size);
}

NEXT(int, mprotect, void *, size_t, int)
int mprotect(void *at, size_t bytes, int protection)
{
    errno = ENOMEM;
    return fail_now() ? -1 : real_mprotect(at, bytes, protection);
}

NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return fail_now() ? EAGAIN : real_pthread_create(thread, attributes, run, argument);
}

NEXT(int, socket, int, int, int)
int socket(int domain, int type, int protocol)
{
    errno = EMFILE;
    return fail_now() ? -1 : real_socket(domain, type, protocol);
}

NEXT(int, bind, int, const struct sockaddr *, socklen_t)
int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    errno = EACCES;
    return fail_now() ? -1 : real_bind(fd, address, length);
}

NEXT(int, listen, int, int)
int listen(int fd, int backlog)
{
    errno = EACCES;
    return fail_now() ? -1 : real_listen(fd, backlog);
}

NEXT(int, eventfd, unsigned int, int)
int eventfd(unsigned int value, int flags)
{
    errno = EMFILE;
    return fail_now() ? -1 : real_eventfd(value, flags);
}

NEXT(ssize_t, getrandom, void *, size_t, unsigned int)
ssize_t getrandom(void *bytes, size_t count, unsigned int flags)
{
    errno = ENOSYS;
    return fail_now() ? -1 : real_getrandom(bytes, count, flags);
}

#pragma GCC visibility pop

/* --- The work --- */

ACL_KERNEL(add_up, _Atomic(uint32_t) *, sum)
{
    aicore_sync_all();
    (void)atomic_fetch_add(sum, aicore_block_index() + 1);
}

static void add_one(void *counter)
{
    (void)atomic_fetch_add((atomic_int *)counter, 1);
}

static void share_memory(aclrtDrvMemHandle memory, char *range)
{
    aclrtMemFabricHandle shared;
    aclrtDrvMemHandle import = NULL;

    if (aclrtMemExportToShareableHandleV2(memory, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared) !=
            ACL_SUCCESS ||
        aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &import) !=
            ACL_SUCCESS)
        return;
    if (aclrtMapMem(range + (2 << 20), 2 << 20, 0, import, 0) == ACL_SUCCESS) {
        range[2 << 20] = 1;
        while (aclrtUnmapMem(range + (2 << 20)) != ACL_SUCCESS) /* the one failure may have been here */
            continue;
    }
    (void)aclrtFreePhysical(import);
}

static void use_address_space(void)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE,
                                       .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle memory = NULL;
    char *range = NULL;

    if (aclrtReserveMemAddress((void **)&range, 6 << 20, 0, NULL, 0) != ACL_SUCCESS)
        return;
    if (aclrtMallocPhysical(&memory, 2 << 20, &prop, 0) == ACL_SUCCESS) {
        if (aclrtMapMem(range, 2 << 20, 0, memory, 0) == ACL_SUCCESS) {
            range[0] = 1;
            share_memory(memory, range);
            while (aclrtUnmapMem(range) != ACL_SUCCESS)
                continue;
        }
        (void)aclrtFreePhysical(memory);
    }
    (void)aclrtReleaseMemAddress(range);
}

static void use_streams(void *memory)
{
    static atomic_int counter;
    _Atomic(uint32_t) sum = 0;
    const struct add_up_args args = {&sum};
    aclrtStream stream = NULL;
    aclrtEvent event = NULL;
    aclrtNotify notify = NULL;
    aclrtFuncHandle function = NULL;

    if (aclrtCreateStream(&stream) != ACL_SUCCESS)
        return;
    if (aclrtCreateEvent(&event) == ACL_SUCCESS && aclrtRecordEvent(event, stream) == ACL_SUCCESS)
        (void)aclrtStreamWaitEvent(NULL, event);
    if (aclrtCreateNotify(&notify, 0) == ACL_SUCCESS && aclrtRecordNotify(notify, stream) == ACL_SUCCESS)
        (void)aclrtWaitAndResetNotify(notify, stream, 1);
    (void)aclrtMemsetAsync(memory, 100, 1, 100, stream);
    (void)aclrtLaunchCallback(add_one, &counter, ACL_CALLBACK_NO_BLOCK, stream);
    if (aclrtBinaryGetFunction(NULL, "add_up", &function) == ACL_SUCCESS &&
        aclrtLaunchKernel(function, 4, &args, sizeof args, stream) == ACL_SUCCESS) {
        const aclError error = aclrtSynchronizeStream(stream);

        if (error == ACL_SUCCESS && sum != 10)
            abort();
        if (error != ACL_SUCCESS && aclGetRecentErrMsg()[0] == '\0')
            abort();
    }
    (void)aclrtSynchronizeStream(NULL);
    (void)aclrtSynchronizeDevice();
    (void)aclrtSynchronizeStream(stream);
    (void)aclrtDestroyStream(stream);
}

static void use_dma(void *memory)
{
    uint64_t *const cells = memory;
    aclcpuDmaQueue queues[2] = {NULL, NULL};
    aclcpuDmaQueueInfo info;

    for (int i = 0; i < 2; i++) {
        if (aclcpuDmaQueueCreate(&queues[i], &info) != ACL_SUCCESS)
            continue;
        cells[0] = 5;
        cells[1] = 0;
        info.ring[0] = (aclcpuDmaEntry){.kind = ACLCPU_DMA_COPY,
                                        .bytes = 8,
                                        .source = (uintptr_t)&cells[0],
                                        .dest = (uintptr_t)&cells[1]};
        aicore_doorbell_store(info.doorbell, 1);
        if (aclcpuDmaQueueDestroy(queues[i]) != ACL_SUCCESS || cells[1] != 5)
            abort();
    }
}

static void use_capture(void *memory)
{
    unsigned char *const bytes = memory;
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;

    if (aclrtCreateStream(&stream) != ACL_SUCCESS)
        return;
    memset(bytes, 0, 100);
    if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS) {
        const bool held = aclrtMemsetAsync(bytes, 100, 1, 1, stream) == ACL_SUCCESS;

        if (aclmdlRICaptureEnd(stream, &model) != ACL_SUCCESS)
            abort();
        if (aclmdlRIExecuteAsync(model, stream) == ACL_SUCCESS &&
            (aclrtSynchronizeStream(stream) != ACL_SUCCESS || bytes[0] != held))
            abort();
        if (aclmdlRIDestroy(model) != ACL_SUCCESS)
            abort();
    }
    if (aclrtDestroyStream(stream) != ACL_SUCCESS)
        abort();
}

static int work(void)
{
    void *memory = NULL, *large = NULL, *host = NULL;

    if (aclInit(NULL) != ACL_SUCCESS)
        return 0; /* nothing has begun */
    if (aclrtSetDevice(0) == ACL_SUCCESS) {
        (void)aclrtMallocHost(&host, 1000);
        if (aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
            use_streams(memory);
        if (memory != NULL) {
            use_dma(memory);
            use_capture(memory);
        }
        (void)aclrtMalloc(&large, 3 << 20, ACL_MEM_MALLOC_HUGE_FIRST);
        use_address_space();
        (void)aclrtResetDevice(0);
    }
    return aclFinalize() == ACL_SUCCESS ? 0 : 1;
}

static int one_failure(void *number)
{
    const t_holdings_t before = t_holdings();

    atomic_store(&calls_left, *(const int *)number);
    const int code = work();
    atomic_store(&calls_left, -1);
    if (code != 0)
        return 1;
    const t_holdings_t after = t_holdings();
    if (after.descriptors != before.descriptors || after.mappings != before.mappings)
        return 2;
    /* And now in peace. */
    return work() == 0 ? (atomic_load(&failed_one) ? 0 : 100) : 3;
}

static void each_in_turn(void **state)
{
    int number = 0, code = 0;

    (void)state;
    while (number < 2000 && (code = t_fork(one_failure, &number)) == 0)
        number++;
    if (code != 100)
        print_error("failure number %d: exit code %d\n", number, code);
    assert_int_equal(code, 100);
    assert_true(number > 40); /* it did fail where it should */
    print_message("%d places\n", number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_in_turn)};

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
