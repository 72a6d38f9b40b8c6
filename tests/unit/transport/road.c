/* SPDX-License-Identifier: Apache-2.0 */
/* A site of two PEs whose heaps are arrays of this process, and transports opened on it. */
#define LOG_MODULE "test"
#include "road.h"

#include <stdlib.h>
#include <string.h>

void road_open(road_t *road)
{
    *road = (road_t){.control_offset = ROAD_HEAP_BYTES};
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_env_init(&road->env), 0);
    road->env.ascend_home_path = "";
    t_check_int(npu_open(&road->env), 0);
    t_check_int(npu_device_set(0), 0);
    for (int pe = 0; pe < ROAD_PES; pe++) {
        road->heap[pe] = aligned_alloc(4096, 2 * ROAD_HEAP_BYTES);
        t_check(road->heap[pe] != NULL);
        memset(road->heap[pe], 0, 2 * ROAD_HEAP_BYTES);
        road->device_base[pe] = road->heap[pe];
    }
    road->host_base[0] = road->heap[0] + ROAD_HEAP_BYTES + (1 << 20);
    road->site = (aclshmemi_transport_site_t){
        .pe = 0,
        .n_pes = ROAD_PES,
        .env = &road->env,
        .device_base = road->device_base,
        .host_base = road->host_base,
        .control_offset = &road->control_offset,
    };
}

void road_close(road_t *road)
{
    for (int pe = 0; pe < ROAD_PES; pe++)
        free(road->heap[pe]);
    t_check_int(npu_device_reset(0), 0);
    npu_close();
    aclshmemi_env_fini(&road->env);
    t_unit_log_stop();
}

void road_transport_open(road_t *road, aclshmemi_transport_t *t, const aclshmemi_transport_ops_t *ops)
{
    *t = (aclshmemi_transport_t){.ops = *ops, .site = &road->site};
    t_check_int(t->ops.open(t), 0);
    for (int pe = 0; pe < ROAD_PES; pe++) {
        bool reached = false;
        t_check_int(t->ops.import_blob(t, pe, NULL, 0, &reached), 0);
        t_check(reached);
    }
}
