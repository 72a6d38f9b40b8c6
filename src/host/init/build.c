/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance from the bottom up: settings, device runtime, meeting the peers, memory, one exchange, mapping, the
 * library's own blocks, one barrier. aclshmemi_unbuild() is the same list backwards and works from any point of it.
 */
#define LOG_MODULE "init"
#include "host/init/init.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bridge/bridge.h"
#include "host/init/identity.h"
#include "host/mem/space.h"
#include "host/team/team.h"

/* What one PE tells the others; a transport blob follows in the exchange. */
typedef struct exchange {
    aclshmemi_segment_blob_t memory;
    uint64_t host;           /* equal on PEs that may share memory */
    aclshmemi_cores_t cores; /* where the PE may run */
} exchange_t;

static int open_device(aclshmemi_instance_t *in, const aclshmemi_launch_t *launch)
{
    TRY(npu_open(&in->env));
    in->npu_opened = true;
    if (launch != NULL && npu_device_current(&in->device) != 0) {
        aclshmemi_status_clear(); /* a question, not a failure of the user's */
        int count = 0;
        TRY(npu_device_count(&count));
        in->device = (launch->local_pe >= 0 ? launch->local_pe : in->pe) % count;
        TRY(npu_device_set(in->device));
        in->device_chosen = true;
    }
    int rc = npu_device_current(&in->device);
    if (rc != 0)
        return fail(rc, "no device is current in this thread; call aclrtSetDevice before init: %s",
                    aclshmemi_status_last_text());
    in->touch = npu_host_can_touch();
    return npu_stream_create(&in->stream);
}

static aclshmemi_fingerprint_t what_must_agree(const aclshmemi_instance_t *in)
{
    uint64_t args[] = {in->heap_bytes, in->heap_bytes + ACLSHMEM_EXTRA_SIZE, in->engines,
                       aclshmemi_build_hash()};
    return aclshmemi_fingerprint("init", "local_mem_size mapped engines build", 4, args);
}

static int meet(aclshmemi_instance_t *in, aclshmemx_bootstrap_t mode, const aclshmemx_init_attr_t *attr,
                const aclshmemi_launch_t *launch)
{
    aclshmemx_uniqueid_t uid;
    const aclshmem_init_optional_attr_t *option = &attr->option_attr;
    aclshmemi_bootstrap_params_t params = {
        .pe = in->pe,
        .n_pes = in->n_pes,
        .init_timeout_ms = option->shm_init_timeout == ACLSHMEM_DEFAULT_TIMEOUT
                               ? in->env.init_timeout_ms
                               : option->shm_init_timeout * UINT64_C(1000),
        .operation_timeout_ms = option->control_operation_timeout == ACLSHMEM_DEFAULT_TIMEOUT
                                    ? in->env.control_timeout_ms
                                    : option->control_operation_timeout * UINT64_C(1000),
        .listen_fd = option->sockFd > 0 ? option->sockFd : -1,
        .agree = what_must_agree(in),
        .env = &in->env,
    };
    in->operation_timeout_ms = params.operation_timeout_ms;
    const aclshmemi_bootstrap_ops_t *ops = &aclshmemi_bootstrap_store;
    if (mode == ACLSHMEMX_INIT_WITH_LAUNCHER) {
        if (in->n_pes == 1) {
            ops = &aclshmemi_bootstrap_self;
        } else {
            in->met_by_launcher = true;
            TRY(aclshmemi_launch_meet(&in->env, launch, params.init_timeout_ms, &uid));
            params.uid = &uid;
        }
    } else if (mode == ACLSHMEMX_INIT_WITH_MPI) {
        ops = &aclshmemi_bootstrap_mpi;
        params.comm = attr->comm_args;
    } else if (mode == ACLSHMEMX_INIT_WITH_DEFAULT && aclshmemi_attr_has_address(attr)) {
        params.ip_port = attr->ip_port;
    } else {
        params.uid = attr->comm_args;
    }
    int rc = aclshmemi_bootstrap_open(&in->bootstrap, ops, &params);
    explicit_bzero(&uid, sizeof uid);
    return rc;
}

/* PEs of the same host get slots in the order of their numbers, which is the same order for all of them. */
static int assign_slots(aclshmemi_instance_t *in, const char *all, size_t stride)
{
    aclshmemi_cores_t *cores = malloc((size_t)in->n_pes * sizeof *cores);
    in->slot = malloc((size_t)in->n_pes * sizeof *in->slot);
    if (in->slot == NULL || cores == NULL) {
        free(cores);
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the slots of %d PEs", in->n_pes);
    }
    exchange_t own, other;
    memcpy(&own, all + (size_t)in->pe * stride, sizeof own);
    for (int pe = 0; pe < in->n_pes; pe++) {
        memcpy(&other, all + (size_t)pe * stride, sizeof other);
        if (other.host == own.host)
            cores[in->slots] = other.cores;
        in->slot[pe] = other.host == own.host ? in->slots++ : -1;
    }
    in->may_spin = aclshmemi_cores_suffice(&own.cores, cores, (size_t)in->slots, aclshmemi_cores_quota());
    free(cores);
    return 0;
}

static int map_everybody(aclshmemi_instance_t *in, const char *all, size_t stride)
{
    TRY(assign_slots(in, all, stride));
    TRY(aclshmemi_space_map(in, ACLSHMEMI_SPACE_DEVICE, all, stride));
    in->all_mapped = true;
    for (int pe = 0; pe < in->n_pes; pe++) {
        TRY(aclshmemi_transport_import(&in->transports, pe, all + (size_t)pe * stride + sizeof(exchange_t)));
        in->all_mapped = in->all_mapped && in->space[ACLSHMEMI_SPACE_DEVICE].peers[pe] != NULL;
    }
    return 0;
}

static int exchange_and_map(aclshmemi_instance_t *in)
{
    size_t stride = sizeof(exchange_t) + aclshmemi_transport_blob_bytes(&in->transports);
    char *own = calloc(1, stride);
    char *all = calloc((size_t)in->n_pes, stride);
    int rc = ACLSHMEM_MALLOC_FAILED;
    if (own == NULL || all == NULL) {
        rc = fail(rc, "out of memory for the exchange of %zu bytes with %d PEs", stride, in->n_pes);
        goto free_both;
    }
    exchange_t mine = {.host = aclshmemi_host_identity()};
    aclshmemi_cores_of_process(&mine.cores);
    rc = aclshmemi_segment_export(&in->space[ACLSHMEMI_SPACE_DEVICE].segment, &mine.memory);
    if (rc == 0)
        rc = aclshmemi_transport_export(&in->transports, own + sizeof mine);
    memcpy(own, &mine, sizeof mine);
    if (rc == 0)
        rc = aclshmemi_bootstrap_allgather(&in->bootstrap, own, all, stride);
    if (rc == 0)
        rc = map_everybody(in, all, stride);
free_both:
    free(own);
    free(all);
    return rc;
}

/* The library's own words, taken from the heap first, so they lie at the same offsets on every PE. */
static int place_blocks(aclshmemi_instance_t *in)
{
    const struct {
        uint64_t *offset;
        uint64_t bytes;
    } blocks[] = {
        {&in->signal_offset, 512},
        {&in->sync_offset, SYNC_POOL_SIZE},
        {&in->counters_offset, SYNC_COUNTERS_SIZE},
        {&in->control_offset, sizeof(aclshmemi_control_t)},
        {&in->bounce_offset, ACLSHMEMI_BOUNCES * sizeof(aclshmemi_bounce_t)},
    };
    aclshmemi_space_t *space = &in->space[ACLSHMEMI_SPACE_DEVICE];
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        uint64_t offset = aclshmemi_heap_alloc(space->heap, blocks[i].bytes, 512);
        if (offset == ACLSHMEMI_HEAP_NONE)
            return fail(ACLSHMEM_INNER_ERROR,
                        "no room for %" PRIu64 " bytes of the library in a heap of %" PRIu64 " bytes",
                        blocks[i].bytes, space->bytes);
        /* Fresh memory of the CPU runtime is zero and not touched, which saves a page fault per page. */
        if (!in->touch)
            TRY(npu_fill(space->base + offset, 0, blocks[i].bytes));
        *blocks[i].offset = offset;
    }
    if (in->touch)
        aclshmemi_control_of(in, in->pe)->activity.pid = (uint32_t)getpid();
    return 0;
}

static int make_address_tables(aclshmemi_instance_t *in)
{
    for (int i = 0; i < ACLSHMEMI_SPACE_COUNT; i++) {
        in->space[i].peers = calloc((size_t)in->n_pes, sizeof(char *));
        if (in->space[i].peers == NULL)
            return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the address tables of %d PEs", in->n_pes);
    }
    return 0;
}

static int build_steps(aclshmemi_instance_t *in, aclshmemx_bootstrap_t mode,
                       const aclshmemx_init_attr_t *attr, const aclshmemi_launch_t *launch)
{
    TRY(open_device(in, mode == ACLSHMEMX_INIT_WITH_LAUNCHER ? launch : NULL));
    if (in->heap_bytes % ACLSHMEM_PAGE_SIZE != 0)
        return fail(ACLSHMEM_SMEM_ERROR,
                    "local_mem_size is %" PRIu64
                    " bytes, it must be a multiple of 2 MiB; the next is %" PRIu64,
                    in->heap_bytes, (uint64_t)ALIGN_TO(in->heap_bytes, ACLSHMEM_PAGE_SIZE));
    TRY(make_address_tables(in));
    TRY(aclshmemi_prof_init(in)); /* before anybody relies on us */
    TRY(aclshmemi_space_create(in, ACLSHMEMI_SPACE_DEVICE, in->heap_bytes + ACLSHMEM_EXTRA_SIZE));
    aclshmemi_transport_site_t site = {
        .pe = in->pe,
        .n_pes = in->n_pes,
        .env = &in->env,
        .device_base = (const char *const *)in->space[ACLSHMEMI_SPACE_DEVICE].peers,
        .host_base = (const char *const *)in->space[ACLSHMEMI_SPACE_HOST].peers,
        .control_offset = &in->control_offset,
        .stream = in->stream,
    };
    TRY(aclshmemi_transport_open(&in->transports, &site, in->engines));
    aclshmemi_instance_use_engines(in);
    TRY(meet(in, mode, attr, launch));
    TRY(exchange_and_map(in));
    in->status = ACLSHMEM_STATUS_SHM_CREATED;
    TRY(place_blocks(in));
    TRY(aclshmemi_team_init(in));
    TRY(aclshmemi_bridge_open(in, &in->teams[ACLSHMEM_TEAM_WORLD]->group));
    aclshmemi_fingerprint_t done = aclshmemi_fingerprint("init", "", 0, NULL);
    TRY(aclshmemi_bootstrap_barrier(&in->bootstrap, &done));
    in->status = ACLSHMEM_STATUS_IS_INITIALIZED;
    aclshmemi_bootstrap_arm(&in->bootstrap);
    return 0;
}

int aclshmemi_build(aclshmemi_instance_t *in, aclshmemx_bootstrap_t mode, const aclshmemx_init_attr_t *attr)
{
    aclshmemi_launch_t launch = {.local_pe = -1, .local_npes = -1};
    aclshmemx_init_attr_t full = *attr;
    if (mode == ACLSHMEMX_INIT_WITH_LAUNCHER)
        TRY(aclshmemi_attr_from_launcher(&in->env, &full, &launch));
    if (mode == ACLSHMEMX_INIT_WITH_MPI && full.n_pes == 0)
        TRY(aclshmemi_mpi_locate(&in->env, full.comm_args, &full.my_pe, &full.n_pes));
    TRY(aclshmemi_attr_check(mode, &full));
    in->pe = full.my_pe;
    in->n_pes = full.n_pes;
    in->heap_bytes = full.local_mem_size;
    in->engines = (uint32_t)full.option_attr.data_op_engine_type | ACLSHMEM_DATA_OP_MTE;
    if (in->env.engines[0] != '\0')
        TRY(aclshmemi_transport_parse(in->env.engines, &in->engines));
    atomic_store(&in->bootstrap.failed_pe, -1);
    aclshmemi_log_set_pe(in->pe);
    pthread_mutex_init(&in->heap_lock, NULL);
    aclshmemi_streams_init(in);
    int rc = build_steps(in, mode, &full, &launch);
    if (rc != 0) {
        (void)!aclshmemi_unbuild(in, false);
        aclshmemi_log_set_pe(aclshmemi_current()->pe);
        return rc;
    }
    log_info("PE %d of %d, heap %" PRIu64 " MiB (%s), device %d of %s, %s", in->pe, in->n_pes,
             in->heap_bytes >> 20, in->space[ACLSHMEMI_SPACE_DEVICE].segment.backing, in->device,
             npu_soc_name(), in->bootstrap.describe);
    return 0;
}
