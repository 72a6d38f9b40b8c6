/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of teams for kernels. One is 128 KiB, of which only the pages that hold members cost memory: nothing is written
 * about PEs that do not exist.
 */
#include <stdlib.h>
#include <string.h>

#include "host/bridge/private.h"

aclshmemi_team_record_t *aclshmemi_bridge_team_take(aclshmemi_instance_t *in)
{
    aclshmemi_bridge_t *bridge = in->bridge;
    pthread_mutex_lock(&bridge->lock);
    aclshmemi_team_record_t *record = bridge->spare;
    if (record != NULL) {
        bridge->spare = record->next_spare;
    } else {
        record = calloc(1, sizeof *record);
        if (record != NULL) {
            record->next = bridge->all;
            bridge->all = record;
        }
    }
    pthread_mutex_unlock(&bridge->lock);
    return record;
}

void aclshmemi_bridge_team_give(aclshmemi_instance_t *in, aclshmemi_team_record_t *record)
{
    if (record == NULL)
        return;
    aclshmemi_bridge_t *bridge = in->bridge;
    pthread_mutex_lock(&bridge->lock);
    record->next_spare = bridge->spare;
    bridge->spare = record;
    pthread_mutex_unlock(&bridge->lock);
}

void aclshmemi_bridge_record_fill(const aclshmemi_instance_t *in, aclshmem_team_t handle,
                                  const aclshmemi_group_t *group, aclshmemx_team_t *record)
{
    record->mype = group->index;
    record->start = group->start;
    record->stride = group->stride;
    record->size = group->size;
    record->team_idx = handle;
    for (int pe = 0; pe < in->n_pes; pe++)
        record->pe_mapping[ACLSHMEM_MAX_PES + pe] = aclshmemi_group_index(group, pe);
    for (int i = 0; i < group->size; i++)
        record->pe_mapping[i] = aclshmemi_group_pe(group, i);
}

void aclshmemi_bridge_team_show(aclshmemi_instance_t *in, aclshmem_team_t handle,
                                const aclshmemi_group_t *group, aclshmemi_team_record_t *record)
{
    aclshmemi_bridge_record_fill(in, handle, group, &record->seen);
    in->bridge->shown[handle] = record;
    __atomic_store_n(&in->state->seen.team_pools[handle], &record->seen, __ATOMIC_RELEASE);
}

void aclshmemi_bridge_team_hide(aclshmemi_instance_t *in, aclshmem_team_t handle)
{
    __atomic_store_n(&in->state->seen.team_pools[handle], NULL, __ATOMIC_RELEASE);
    aclshmemi_bridge_team_give(in, in->bridge->shown[handle]);
    in->bridge->shown[handle] = NULL;
}

void aclshmemi_bridge_records_free(aclshmemi_bridge_t *bridge)
{
    while (bridge->all != NULL) {
        aclshmemi_team_record_t *record = bridge->all;
        bridge->all = record->next;
        free(record);
    }
    bridge->spare = NULL;
}
