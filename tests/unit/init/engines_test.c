/* SPDX-License-Identifier: Apache-2.0 */
/* Engines that are asked for and not there, fewer engines than before, and device memory after all of it. */
#define LOG_MODULE "test"

#include "host/init/shmem_host_init.h"
#include "host/instance.h"
#include "host/mem/shmem_host_heap.h"
#include "host/npu/npu.h"
#include "host_device/state.h"
#include "support/unit.h"

static uint8_t reach_of_self(void)
{
    return aclshmemi_current()->state->seen.topo_list[0];
}

/* MTE works whatever else was asked for; what is reported as reachable was asked for. */
static uint8_t round_with(int engines)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 2 << 20;
    attr.option_attr.data_op_engine_type = (data_op_engine_type_t)engines;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    uint8_t reach = reach_of_self();
    t_check((reach & ACLSHMEM_TRANSPORT_MTE) != 0);
    void *block = aclshmem_calloc(1, 1 << 20);
    t_check(block != NULL);
    aclshmem_free(block);
    t_check_int(aclshmem_finalize(), 0);
    return reach;
}

/* [I-15] [I-35] */
static void more_and_fewer(void **unused)
{
    (void)unused;
    static const int single[] = {ACLSHMEM_DATA_OP_SDMA, ACLSHMEM_DATA_OP_ROCE, ACLSHMEM_DATA_OP_UDMA};
    static const uint8_t bit[] = {ACLSHMEM_TRANSPORT_SDMA, ACLSHMEM_TRANSPORT_ROCE, ACLSHMEM_TRANSPORT_UDMA};
    (void)round_with(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA | ACLSHMEM_DATA_OP_ROCE |
                     ACLSHMEM_DATA_OP_UDMA);
    for (int i = 0; i < 3; i++)
        t_check_int(round_with(single[i]) & ~(ACLSHMEM_TRANSPORT_MTE | bit[i]), 0);
    t_check_int(round_with(ACLSHMEM_DATA_OP_MTE), ACLSHMEM_TRANSPORT_MTE); /* nothing of before is left */
}

/* [L-26] */
static void device_memory_comes_back(void **unused)
{
    (void)unused;
    aclshmemi_env_t env;
    size_t before = 0, after = 0, total = 0;
    t_check_int(aclshmemi_env_init(&env), 0);
    t_check_int(npu_open(&env), 0);
    t_check_int(npu_device_set(0), 0);
    t_check_int(npu_device_memory(&before, &total), 0);
    for (int round = 0; round < 3; round++)
        (void)round_with(ACLSHMEM_DATA_OP_MTE);
    t_check_int(npu_device_memory(&after, &total), 0);
    t_check_uint(after, before);
    npu_close();
    aclshmemi_env_fini(&env);
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_and_fewer),
                                       cmocka_unit_test(device_memory_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
