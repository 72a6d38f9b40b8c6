/* SPDX-License-Identifier: Apache-2.0 */
/* The state block: filled, placed, published, kept up to date, taken away. */
#define LOG_MODULE "init"
#include <stdlib.h>
#include <string.h>

#include "host/bridge/private.h"

/* Where the parts are in device memory that the host cannot touch. */
static size_t tables_at(void)
{
    return ALIGN_TO(sizeof(aclshmemi_state_t), 64);
}

static size_t table_bytes(const aclshmemi_instance_t *in)
{
    return (size_t)in->n_pes * sizeof(char *);
}

static size_t world_at(const aclshmemi_instance_t *in)
{
    return tables_at() + ALIGN_TO(ACLSHMEMI_SPACE_COUNT * table_bytes(in), 64);
}

static void fill_heaps(const aclshmemi_instance_t *in, aclshmemi_state_t *state)
{
    const aclshmemi_space_t *device = &in->space[ACLSHMEMI_SPACE_DEVICE];
    state->seen.heap_base = device->base;
    state->seen.heap_size = device->bytes;
    state->seen.sync_pool = (uint64_t)(uintptr_t)(device->base + in->sync_offset);
    state->seen.sync_counter = (uint64_t)(uintptr_t)(device->base + in->counters_offset);
    state->seen.signal_addr = (uint64_t)(uintptr_t)(device->base + in->signal_offset);
    state->control_offset = in->control_offset;
    state->sync_offset = in->sync_offset;
    state->counter_offset = in->counters_offset;
    state->bounce_offset = in->bounce_offset;
    if (in->bridge->device == NULL) {
        state->seen.p2p_device_heap_base = (void **)in->space[ACLSHMEMI_SPACE_DEVICE].peers;
        state->seen.p2p_host_heap_base = (void **)in->space[ACLSHMEMI_SPACE_HOST].peers;
    } else {
        char *tables = in->bridge->device + tables_at();
        state->seen.p2p_device_heap_base = (void **)(void *)tables;
        state->seen.p2p_host_heap_base = (void **)(void *)(tables + table_bytes(in));
    }
}

static uint64_t record_of(const aclshmemi_instance_t *in, uint8_t bit)
{
    aclshmemi_transport_t *t = aclshmemi_transport_find(&in->transports, bit);
    return t == NULL ? 0 : t->ops.describe(t);
}

/* What the engines published for kernels. */
static void fill_engines(const aclshmemi_instance_t *in, aclshmemi_state_t *state)
{
    state->seen.qp_info = record_of(in, ACLSHMEM_TRANSPORT_ROCE);
    state->seen.sdma_workspace_addr = record_of(in, ACLSHMEM_TRANSPORT_SDMA);
    state->udma_info = record_of(in, ACLSHMEM_TRANSPORT_UDMA);
}

static void fill(const aclshmemi_instance_t *in, aclshmemi_state_t *state)
{
    state->seen.version = (1 << 16) + (int)sizeof state->seen;
    state->seen.mype = in->pe;
    state->seen.npes = in->n_pes;
    state->seen.mte_config = (aclshmem_ub_config_t){0, 16 << 10, 0};
    state->seen.sdma_config = (aclshmem_ub_config_t){191 << 10, ACLSHMEM_SDMA_FLAG_LENGTH, 0};
    state->seen.rdma_config = (aclshmem_ub_config_t){190 << 10, ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE, 0};
    state->seen.udma_config = (aclshmem_ub_config_t){189 << 10, ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE, 0};
    state->seen.profs = in->profile_on_device;
    state->seen.is_aclshmem_created = true;
    state->seen.is_aclshmem_initialized = true;
    state->instance_id = in->ctx.id;
    state->wait_timeout_ms = in->env.wait_timeout_ms;
    fill_heaps(in, state);
    fill_engines(in, state);
}

/* Kernels may be reading: what is as it should be is not written, and of a heap that appears the size comes last. */
static void refresh(const aclshmemi_instance_t *in, aclshmemi_state_t *state)
{
    const aclshmemi_space_t *host = &in->space[ACLSHMEMI_SPACE_HOST];
    for (int pe = 0; pe < in->n_pes; pe++)
        if (state->seen.topo_list[pe] != in->transports.reach[pe])
            state->seen.topo_list[pe] = in->transports.reach[pe];
    if (state->host_heap_size != host->bytes) {
        state->seen.host_heap_base = host->base;
        __atomic_store_n(&state->host_heap_size, host->bytes, __ATOMIC_RELEASE);
    }
}

static int copy_to_device(const aclshmemi_instance_t *in)
{
    char *tables = in->bridge->device + tables_at();
    for (int i = 0; i < ACLSHMEMI_SPACE_COUNT; i++)
        TRY(npu_copy(tables + (size_t)i * table_bytes(in), in->space[i].peers, table_bytes(in),
                     ACLSHMEMI_NPU_HOST_TO_DEVICE));
    return npu_copy(in->bridge->device, in->state, sizeof *in->state, ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

int aclshmemi_bridge_update(aclshmemi_instance_t *in)
{
    refresh(in, in->state);
    return in->bridge->device == NULL ? 0 : copy_to_device(in);
}

static int place_world(aclshmemi_instance_t *in, const aclshmemi_group_t *world)
{
    aclshmemi_team_record_t *record = aclshmemi_bridge_team_take(in);
    if (record == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for what kernels know of the world");
    aclshmemi_bridge_team_show(in, ACLSHMEM_TEAM_WORLD, world, record);
    if (in->bridge->device == NULL)
        return 0;
    char *there = in->bridge->device + world_at(in);
    in->state->seen.team_pools[ACLSHMEM_TEAM_WORLD] = (aclshmemx_team_t *)(void *)there;
    return npu_copy(there, &record->seen, sizeof record->seen, ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

int aclshmemi_bridge_open(aclshmemi_instance_t *in, const aclshmemi_group_t *world)
{
    in->bridge = calloc(1, sizeof *in->bridge);
    in->state = calloc(1, sizeof *in->state);
    if (in->bridge == NULL || in->state == NULL) {
        free(in->bridge);
        free(in->state);
        in->bridge = NULL;
        in->state = NULL;
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the state that kernels read");
    }
    pthread_mutex_init(&in->bridge->lock, NULL);
    if (!in->touch) {
        void *device = NULL;
        TRY(npu_alloc(world_at(in) + sizeof(aclshmemx_team_t), &device));
        in->bridge->device = device;
    }
    fill(in, in->state);
    TRY(place_world(in, world));
    TRY(aclshmemi_bridge_update(in));
    void *address = in->bridge->device != NULL ? (void *)in->bridge->device : (void *)in->state;
    TRY(npu_state_publish((uint32_t)in->ctx.id, address));
    in->bridge->published = true;
    return 0;
}

void aclshmemi_bridge_withdraw(aclshmemi_instance_t *in)
{
    if (in->bridge == NULL || !in->bridge->published)
        return;
    in->bridge->published = false;
    if (npu_state_publish((uint32_t)in->ctx.id, NULL) != 0)
        log_warn("kernels may still find instance %llu: %s", (unsigned long long)in->ctx.id,
                 aclshmemi_status_last_text());
}

void aclshmemi_bridge_close(aclshmemi_instance_t *in)
{
    if (in->bridge == NULL)
        return;
    aclshmemi_bridge_withdraw(in);
    aclshmemi_bridge_records_free(in->bridge);
    npu_free(in->bridge->device);
    pthread_mutex_destroy(&in->bridge->lock);
    free(in->bridge);
    free(in->state);
    in->bridge = NULL;
    in->state = NULL;
}
