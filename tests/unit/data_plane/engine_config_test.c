/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch of the engines: what init puts into the state that kernels read, what the setters change in it and refuse, and
 * that transfers of the host do not care. [D-24] [D-25] [D-26] [D-27] [Y-15]
 */
#define LOG_MODULE "test"

#include "host/data_plane/shmem_host_rma.h"

#include <string.h>

#include "host/init/shmem_host_init.h"
#include "host/instance.h"
#include "host/mem/shmem_host_heap.h"
#include "support/unit.h"

typedef int set_t(uint64_t offset, uint32_t ub_size, uint32_t sync_id);

static const struct engine {
    const char *name;
    set_t *set;
    size_t place; /* of its setting in the state */
    int64_t offset;
    uint32_t size, least;
} engines[] = {
    {"mte", aclshmemx_set_mte_config, offsetof(aclshmem_device_host_state_t, mte_config), 0, 16384, 1},
    {"sdma", aclshmemx_set_sdma_config, offsetof(aclshmem_device_host_state_t, sdma_config), 191 * 1024, 64,
     64},
    {"rdma", aclshmemx_set_rdma_config, offsetof(aclshmem_device_host_state_t, rdma_config), 190 * 1024, 128,
     128},
    {"udma", aclshmemx_set_udma_config, offsetof(aclshmem_device_host_state_t, udma_config), 189 * 1024, 128,
     128},
};
enum { ENGINES = sizeof engines / sizeof engines[0] };

static void check_setting(const struct engine *engine, int64_t offset, uint32_t size, uint32_t sync_id)
{
    const aclshmem_ub_config_t *config =
        (const aclshmem_ub_config_t *)(const void *)((const char *)aclshmemi_current()->state +
                                                     engine->place);
    t_check_that(config->aclshmem_ub == offset && config->ub_size == size && config->sync_id == sync_id,
                 "%s has offset %lld, size %u, id %u; expected %lld, %u, %u", engine->name,
                 (long long)config->aclshmem_ub, config->ub_size, config->sync_id, (long long)offset, size,
                 sync_id);
}

static void without_instance(void)
{
    for (int i = 0; i < ENGINES; i++)
        t_check_int(engines[i].set(0, 1 << 20, 0), ACLSHMEM_NOT_INITED);
    t_check_uint(util_get_ffts_config(), 0);
}

static void transfers_work(void)
{
    char *there = aclshmem_malloc(100000), here[1000], back[1000];
    t_check(there != NULL);
    memset(here, 42, sizeof here);
    aclshmem_putmem(there, here, sizeof here, 0);
    aclshmem_getmem(back, there, sizeof back, 0);
    t_check_memory(back, here, sizeof here);
    aclshmem_free(there);
}

static void settings(void **unused)
{
    (void)unused;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    without_instance();
    t_log_forget();
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 2 << 20;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    for (int i = 0; i < ENGINES; i++)
        check_setting(&engines[i], engines[i].offset, engines[i].size, 0);
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *engine = &engines[i];
        t_check_int(engine->set(4096 + (uint64_t)i, engine->least, (uint32_t)i + 1), 0);
        check_setting(engine, 4096 + i, engine->least, (uint32_t)i + 1);
        t_check_int(engine->set(8192, engine->least - 1, 7), ACLSHMEM_INVALID_VALUE);
        t_check_contains(aclshmemi_status_last_text(), engine->name);
        t_check_int(engine->set(UINT64_MAX, 1 << 20, 7), ACLSHMEM_INVALID_VALUE);
        t_check_int(engine->set(INT64_MAX, engine->least, 7), ACLSHMEM_INVALID_VALUE);
        check_setting(engine, 4096 + i, engine->least, (uint32_t)i + 1);
    }
    for (int i = 0; i < ENGINES; i++) /* nobody changed a neighbour */
        check_setting(&engines[i], 4096 + i, engines[i].least, (uint32_t)i + 1);
    static const uint32_t sizes[] = {32, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        t_check_int(aclshmemx_set_mte_config(0, sizes[i], 0), 0);
        transfers_work();
    }
    t_check_uint(util_get_ffts_config(), 0); /* this runtime needs none */
    t_check_int(aclshmem_finalize(), 0);
    without_instance();
    t_unit_log_stop();
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
