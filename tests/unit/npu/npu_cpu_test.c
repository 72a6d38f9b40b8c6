/* SPDX-License-Identifier: Apache-2.0 */
/* The device port on the CPU runtime: that the calls do what npu.h says, and that nothing of them stays behind. */
#define LOG_MODULE "test"

#include "host/npu/npu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/unit.h"

enum { DEADLINE_MS = 60000 };

static void open_runtime(void)
{
    aclshmemi_env_t env;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_env_init(&env), 0);
    env.ascend_home_path = ""; /* not a card's */
    t_check_int(npu_open(&env), 0);
    aclshmemi_env_fini(&env); /* nothing of it is looked at later */
}

static void runtime(void *unused)
{
    (void)unused;
    int count = 0, device = -1;
    size_t free_bytes = 0, total_bytes = 0;
    open_runtime();
    t_check_contains(npu_runtime_path(), "libascendcl.so");
    t_check_contains(npu_runtime_reason(), "ASCEND_HOME_PATH is not set");
    t_check(npu_host_can_touch());
    t_check_contains(npu_soc_name(), "cpu");
    t_check_int(npu_device_count(&count), 0);
    t_check(count >= 1);
    t_check(npu_device_current(&device) != 0);
    t_log_expect_clean(); /* that was a question */
    t_check_int(npu_device_set(count - 1), 0);
    t_check_int(npu_device_current(&device), 0);
    t_check_int(device, count - 1);
    t_check_int(npu_device_memory(&free_bytes, &total_bytes), 0);
    t_check(total_bytes > 0 && free_bytes <= total_bytes);
    t_check_int(npu_peer_enable(0), 0);
    t_check_uint(npu_sync_config(), 0);
    t_check_int(npu_device_reset(device), 0);
    npu_close();
    t_log_expect_clean();
}

/* The name of the part is a setting, to run the code path of another card; what can be touched does not follow it. */
static void name_of_another_part(void *unused)
{
    (void)unused;
    t_check_int(setenv("SHMEM_CPU_SOC_NAME", "Ascend950PR", 1), 0);
    open_runtime();
    t_check_text(npu_soc_name(), "Ascend950PR");
    t_check(npu_host_can_touch());
    npu_close();
}

static void memory(void *unused)
{
    (void)unused;
    void *device = NULL, *host = NULL, *second = NULL;
    open_runtime();
    t_check_int(npu_device_set(0), 0);
    t_check_int(npu_alloc(100000, &device), 0);
    t_check_int(npu_alloc(100000, &second), 0);
    t_check_int(npu_host_alloc(100000, &host), 0);
    t_check_int(npu_fill(device, 0x17, 100000), 0);
    t_check_int(npu_copy(second, device, 100000, ACLSHMEMI_NPU_DEVICE_TO_DEVICE), 0);
    t_check_int(npu_copy(host, second, 100000, ACLSHMEMI_NPU_DEVICE_TO_HOST), 0);
    for (int i = 0; i < 100000; i++)
        t_check_int(((char *)host)[i], 0x17);
    npu_free(device);
    npu_free(second);
    npu_host_free(host);
    npu_free(NULL);
    npu_host_free(NULL);
    t_check(npu_alloc((size_t)1 << 60, &device) > 0);
    t_check_contains(aclshmemi_status_last_text(), "1152921504606846976 bytes of device memory");
    t_log_expect("aclrtMalloc failed with code");
    t_check_int(npu_device_reset(0), 0);
    npu_close();
}

static void *mapped(char *base, size_t bytes, aclshmemi_npu_mem_t mem)
{
    t_check_int(npu_map(base, bytes, mem), 0);
    return base;
}

static void address_space(void *unused)
{
    (void)unused;
    const size_t bytes = 2 * ACLSHMEMI_NPU_GRANULARITY;
    aclshmemi_npu_place_t places[] = {ACLSHMEMI_NPU_ON_DEVICE, ACLSHMEMI_NPU_ON_HOST};
    open_runtime();
    t_check_int(npu_device_set(0), 0);
    for (int i = 0; i < 4; i++) {
        void *base = NULL;
        aclshmemi_npu_mem_t mem = NULL, same = NULL;
        aclshmemi_npu_handle_t handle;
        t_check_int(npu_reserve(4 * bytes, &base), 0);
        t_check_uint((uintptr_t)base % ACLSHMEMI_NPU_GRANULARITY, 0);
        t_check_int(npu_mem_create(bytes, places[i % 2], i / 2, &mem), 0);
        t_check_int(npu_export(mem, &handle), 0);
        t_check_int(npu_import(&handle, &same), 0);
        char *one = mapped(base, bytes, mem), *two = mapped((char *)base + 2 * bytes, bytes, same);
        t_check_int(one[bytes - 1], 0);
        one[bytes - 1] = 9;
        t_check_int(two[bytes - 1], 9); /* one memory at two addresses */
        npu_mem_destroy(mem);
        npu_mem_destroy(same);
        one[0] = 8; /* mappings stay valid */
        t_check_int(two[0], 8);
        npu_unmap(one);
        npu_unmap(two);
        npu_release(base);
    }
    npu_mem_destroy(NULL);
    t_log_expect_clean();
    t_check_int(npu_device_reset(0), 0);
    npu_close();
}

typedef struct gate {
    _Atomic int open;
    _Atomic int passed;
} gate_t;

static void wait_at_gate(void *argument)
{
    gate_t *gate = argument;
    while (!atomic_load(&gate->open))
        usleep(200);
    atomic_fetch_add(&gate->passed, 1);
}

static void pass(void *argument)
{
    atomic_fetch_add(&((gate_t *)argument)->passed, 1);
}

static void streams(void *unused)
{
    (void)unused;
    gate_t gate = {0};
    aclshmemi_npu_stream_t one = NULL, two = NULL;
    aclshmemi_npu_event_t event = NULL;
    char from[64] = "in order", to[64] = "";
    open_runtime();
    t_check_int(npu_device_set(0), 0);
    t_check_int(npu_stream_create(&one), 0);
    t_check_int(npu_stream_create(&two), 0);
    t_check_int(npu_event_create(&event), 0);
    t_check_int(npu_stream_call(one, wait_at_gate, &gate), 0);
    t_check_int(npu_fill_async(to, 0, sizeof to, one), 0);
    t_check_int(npu_copy_async(to, from, sizeof to, ACLSHMEMI_NPU_HOST_TO_HOST, one), 0);
    t_check_int(npu_event_record(event, one), 0);
    t_check_int(npu_event_wait(event, two), 0);
    t_check_int(npu_stream_call(two, pass, &gate), 0);
    uint64_t before_ms = t_now_ms();
    t_check_int(npu_stream_sync(two, 50), ACLSHMEM_TIMEOUT_ERROR); /* behind the event, behind the gate */
    t_check(t_now_ms() - before_ms >= 49);
    t_log_expect("after 50 ms");
    t_check_int(atomic_load(&gate.passed), 0);
    t_check_text(to, "");
    atomic_store(&gate.open, 1);
    t_check_int(npu_stream_sync(two, DEADLINE_MS), 0);
    t_check_int(atomic_load(&gate.passed), 2);
    t_check_text(to, "in order");
    t_check_int(npu_stream_sync(one, DEADLINE_MS), 0);
    t_check_int(npu_stream_sync(NULL, DEADLINE_MS), 0); /* the default one */
    npu_event_destroy(event);
    npu_stream_destroy(one);
    npu_stream_destroy(two);
    npu_event_destroy(NULL);
    npu_stream_destroy(NULL);
    t_check_int(npu_device_reset(0), 0);
    npu_close();
}

static void kernels_that_are_not_there(void *unused)
{
    (void)unused;
    aclshmemi_npu_binary_t binary = &binary;
    aclshmemi_npu_kernel_t kernel = &kernel;
    open_runtime();
    t_check_int(npu_device_set(0), 0);
    t_check(npu_binary_load("/nonexistent/kernels.so", &binary) > 0);
    t_check_contains(aclshmemi_status_last_text(), "/nonexistent/kernels.so");
    t_check(npu_kernel_get(NULL, "no_such_kernel", &kernel) > 0);
    t_check_contains(aclshmemi_status_last_text(), "no_such_kernel");
    t_check(binary == (void *)&binary && kernel == (void *)&kernel);
    npu_binary_unload(NULL);
    t_check_int(npu_device_reset(0), 0);
    npu_close();
}

static void rounds_are_flat(void *unused)
{
    (void)unused;
    t_resources_t before = {0};
    for (int round = 0; round < 100; round++) {
        aclshmemi_npu_stream_t stream;
        void *address;
        open_runtime();
        t_check_int(npu_device_set(round % 2), 0);
        t_check_int(npu_stream_create(&stream), 0);
        t_check_int(npu_alloc((size_t)1 << 20, &address), 0);
        npu_free(address);
        npu_stream_destroy(stream);
        t_check_int(npu_device_reset(round % 2), 0);
        npu_close();
        if (round == 10)
            before = t_resources_now();
    }
    t_resources_expect(&before, 100,
                       65536); /* memory of allocators and sanitizers; descriptors and threads exactly */
}

static void run(void (*function)(void *))
{
    t_child_t child;
    t_run_function(&child, function, NULL, DEADLINE_MS);
    t_check_exit(&child, T_PASS);
    t_child_free(&child);
}

/* clang-format off */
#define TESTS(XX)                                                                                            \
    XX(runtime) XX(name_of_another_part) XX(memory) XX(address_space) XX(streams)                            \
    XX(kernels_that_are_not_there) XX(rounds_are_flat)
/* clang-format on */
#define TEST(name)                                                                                           \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        run(name);                                                                                           \
    }
TESTS(TEST)

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
        TESTS(ROW)
#undef ROW
    };
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
