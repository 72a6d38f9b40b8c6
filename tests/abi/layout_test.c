/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [I-37] [I-39] Sizes, offsets and numbers that programs, kernels and other languages rely on. All of it is decided by the compiler, so
 * the test is that this file compiles, as C and as C++ (the second by check_headers.sh); main only says so.
 */
#include <stddef.h>
#include <stdio.h>

#include "shmem.h"

#ifdef __cplusplus
#define CHECK(expression) static_assert(expression, #expression)
#define ALIGNMENT(type)   alignof(type)
#else
#define CHECK(expression) _Static_assert(expression, #expression)
#define ALIGNMENT(type)   _Alignof(type)
#endif
#define SIZE(type, bytes, alignment)                                                                         \
    CHECK(sizeof(type) == (bytes));                                                                          \
    CHECK(ALIGNMENT(type) == (alignment))
#define AT(type, field, offset) CHECK(offsetof(type, field) == (offset))

SIZE(aclshmem_team_t, 4, 4);
SIZE(aclshmemx_team_uniqueid_t, 8, 8);
SIZE(aclshmemx_sync_bit, 64, 4);
SIZE(aclshmem_handle_t, 4, 4);
SIZE(aclshmem_error_code_t, 4, 4);
SIZE(aclshmemx_bootstrap_t, 4, 4);
SIZE(aclshmem_transport_t, 1, 1);
SIZE(data_op_engine_type_t, 4, 4);

SIZE(aclshmem_init_optional_attr_t, 24, 4);
AT(aclshmem_init_optional_attr_t, version, 0);
AT(aclshmem_init_optional_attr_t, data_op_engine_type, 4);
AT(aclshmem_init_optional_attr_t, shm_init_timeout, 8);
AT(aclshmem_init_optional_attr_t, shm_create_timeout, 12);
AT(aclshmem_init_optional_attr_t, control_operation_timeout, 16);
AT(aclshmem_init_optional_attr_t, sockFd, 20);
CHECK(ACLSHMEM_INIT_OPTIONAL_ATTR_VERSION == 65560);

SIZE(aclshmemx_init_attr_t, 120, 8);
AT(aclshmemx_init_attr_t, my_pe, 0);
AT(aclshmemx_init_attr_t, n_pes, 4);
AT(aclshmemx_init_attr_t, ip_port, 8);
AT(aclshmemx_init_attr_t, local_mem_size, 72);
AT(aclshmemx_init_attr_t, option_attr, 80);
AT(aclshmemx_init_attr_t, comm_args, 104);
AT(aclshmemx_init_attr_t, instance_id, 112);

SIZE(aclshmemx_uniqueid_t, 136, 4);
AT(aclshmemx_uniqueid_t, version, 0);
AT(aclshmemx_uniqueid_t, my_pe, 4);
AT(aclshmemx_uniqueid_t, n_pes, 8);
AT(aclshmemx_uniqueid_t, internal, 12);
CHECK(ACLSHMEM_UNIQUEID_VERSION == 65672);

SIZE(aclshmem_team_config_t, 64, 8);
AT(aclshmem_team_config_t, version, 0);
AT(aclshmem_team_config_t, num_contexts, 4);
AT(aclshmem_team_config_t, uniqueid, 8);
AT(aclshmem_team_config_t, padding, 16);

SIZE(aclshmemx_team_t, 131160, 8);
AT(aclshmemx_team_t, mype, 0);
AT(aclshmemx_team_t, start, 4);
AT(aclshmemx_team_t, stride, 8);
AT(aclshmemx_team_t, size, 12);
AT(aclshmemx_team_t, team_idx, 16);
AT(aclshmemx_team_t, config, 24);
AT(aclshmemx_team_t, pe_mapping, 88);

SIZE(aclshmem_ub_config_t, 16, 8);
AT(aclshmem_ub_config_t, aclshmem_ub, 0);
AT(aclshmem_ub_config_t, ub_size, 8);
AT(aclshmem_ub_config_t, sync_id, 12);

SIZE(aclshmem_prof_block_t, 16384, 8);
AT(aclshmem_prof_block_t, cycles, 8192);
SIZE(aclshmem_prof_pe_t, 1048584, 8);
AT(aclshmem_prof_pe_t, dropped, 4);
AT(aclshmem_prof_pe_t, block_prof, 8);

SIZE(aclshmem_device_host_state_t, 32992, 8);
AT(aclshmem_device_host_state_t, version, 0);
AT(aclshmem_device_host_state_t, mype, 4);
AT(aclshmem_device_host_state_t, npes, 8);
AT(aclshmem_device_host_state_t, heap_base, 16);
AT(aclshmem_device_host_state_t, host_heap_base, 24);
AT(aclshmem_device_host_state_t, p2p_device_heap_base, 32);
AT(aclshmem_device_host_state_t, rdma_device_heap_base, 40);
AT(aclshmem_device_host_state_t, sdma_device_heap_base, 48);
AT(aclshmem_device_host_state_t, p2p_host_heap_base, 56);
AT(aclshmem_device_host_state_t, rdma_host_heap_base, 64);
AT(aclshmem_device_host_state_t, sdma_host_heap_base, 72);
AT(aclshmem_device_host_state_t, topo_list, 80);
AT(aclshmem_device_host_state_t, heap_size, 16464);
AT(aclshmem_device_host_state_t, team_pools, 16472);
AT(aclshmem_device_host_state_t, sync_pool, 32856);
AT(aclshmem_device_host_state_t, sync_counter, 32864);
AT(aclshmem_device_host_state_t, core_sync_pool, 32872);
AT(aclshmem_device_host_state_t, core_sync_counter, 32880);
AT(aclshmem_device_host_state_t, is_aclshmem_initialized, 32888);
AT(aclshmem_device_host_state_t, is_aclshmem_created, 32889);
AT(aclshmem_device_host_state_t, mte_config, 32896);
AT(aclshmem_device_host_state_t, sdma_config, 32912);
AT(aclshmem_device_host_state_t, rdma_config, 32928);
AT(aclshmem_device_host_state_t, udma_config, 32944);
AT(aclshmem_device_host_state_t, qp_info, 32960);
AT(aclshmem_device_host_state_t, sdma_workspace_addr, 32968);
AT(aclshmem_device_host_state_t, profs, 32976);
AT(aclshmem_device_host_state_t, signal_addr, 32984);

SIZE(aclshmem_host_state_t, 400, 8);
AT(aclshmem_host_state_t, default_stream, 0);
AT(aclshmem_host_state_t, default_event_id, 8);
AT(aclshmem_host_state_t, default_block_num, 12);
AT(aclshmem_host_state_t, notify_arr, 16);

SIZE(aclshmem_instance_ctx, 16, 8);
AT(aclshmem_instance_ctx, instance, 8);

/* Numbers */
CHECK(ACLSHMEM_MAX_PES == 16384 && ACLSHMEM_MAX_TEAMS == 2048 && ACLSHMEM_SIGNAL_SIZE == 8);
CHECK(ACLSHMEM_MAX_LOCAL_SIZE == 42949672960UL && ACLSHMEM_PAGE_SIZE == 2097152);
CHECK(SYNC_ARRAY_SIZE == 2560 && SYNC_POOL_SIZE == 5242880 && SYNC_COUNTERS_SIZE == 131072);
CHECK(ACLSHMEM_CORE_SYNC_POOL_SIZE == 18432 && ACLSHMEM_EXTRA_SIZE == 6291456);
CHECK(ACLSHMEM_HEAP_ALIGNMENT_SIZE == 1073741824);
CHECK(ALIGN_TO(1, 8) == 8 && ALIGN_TO(8, 8) == 8 && ALIGN_UP(9, 8) == 16);
CHECK(ACLSHMEM_DATA_OP_MTE == 1 && ACLSHMEM_DATA_OP_SDMA == 2 && ACLSHMEM_DATA_OP_ROCE == 4 &&
      ACLSHMEM_DATA_OP_UDMA == 8);
CHECK(ACLSHMEM_TRANSPORT_MTE == 1 && ACLSHMEM_TRANSPORT_ROCE == 2 && ACLSHMEM_TRANSPORT_SDMA == 4 &&
      ACLSHMEM_TRANSPORT_UDMA == 8);
CHECK(HOST_SIDE == 0 && DEVICE_SIDE == 1 && ACLSHMEM_SIGNAL_SET == 0 && ACLSHMEM_SIGNAL_ADD == 1);
CHECK(ACLSHMEM_CMP_EQ == 0 && ACLSHMEM_CMP_NE == 1 && ACLSHMEM_CMP_GT == 2 && ACLSHMEM_CMP_GE == 3 &&
      ACLSHMEM_CMP_LT == 4 && ACLSHMEM_CMP_LE == 5);
CHECK(NO_NBI == 0 && NBI == 1);
CHECK(ACLSHMEMX_INIT_WITH_DEFAULT == 1 && ACLSHMEMX_INIT_WITH_MPI == 2 && ACLSHMEMX_INIT_WITH_UNIQUEID == 8 &&
      ACLSHMEMX_INIT_MAX == 0x80000000u);
CHECK(ACLSHMEM_STATUS_NOT_INITIALIZED == 0 && ACLSHMEM_STATUS_SHM_CREATED == 1 &&
      ACLSHMEM_STATUS_IS_INITIALIZED == 2 && ACLSHMEM_STATUS_INVALID == 0x7fffffff);
CHECK(ACLSHMEM_SUCCESS == 0 && ACLSHMEM_INVALID_PARAM == -1 && ACLSHMEM_INVALID_VALUE == -2 &&
      ACLSHMEM_SMEM_ERROR == -3 && ACLSHMEM_INNER_ERROR == -4 && ACLSHMEM_NOT_INITED == -5 &&
      ACLSHMEM_BOOTSTRAP_ERROR == -6 && ACLSHMEM_TIMEOUT_ERROR == -7 && ACLSHMEM_MALLOC_FAILED == -8 &&
      ACLSHMEM_DL_FUNC_FAILED == -9 && ACLSHMEM_INNER_TIMEOUT == -10 && ACLSHMEM_UNDER_API_UNLOAD == -11 &&
      ACLSHMEM_NOT_SUPPORTED == -100);

/* The defaults of the attributes are values, not layout, so they are looked at. */
int main(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    if (attr.option_attr.version != 65560 || attr.option_attr.data_op_engine_type != ACLSHMEM_DATA_OP_MTE ||
        attr.option_attr.shm_init_timeout != 120 || attr.option_attr.shm_create_timeout != 120 ||
        attr.option_attr.control_operation_timeout != 120 || attr.option_attr.sockFd != 0 ||
        attr.comm_args != NULL || attr.instance_id != 0 || attr.ip_port[0] != 0) {
        puts("the defaults of aclshmemx_init_attr_t have changed");
        return 1;
    }
    return 0;
}
