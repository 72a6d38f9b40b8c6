/* SPDX-License-Identifier: Apache-2.0 */
/* Splits, translation and queries. */
#define LOG_MODULE "team"
#include "host/team/shmem_host_team.h"

#include "host/team/team.h"

enum { SPLIT_STRIDED = 1, SPLIT_X, SPLIT_Y };

static int check_strided(const aclshmemi_team_t *parent, int start, int stride, int size)
{
    int parent_size = parent->group.size;
    if (start < 0 || start >= parent_size)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "team_split_strided: pe_start is %d, the parent has members 0..%d", start,
                    parent_size - 1);
    if (size <= 0 || size > parent_size)
        return fail(ACLSHMEM_INVALID_PARAM, "team_split_strided: pe_size is %d, 1..%d are possible", size,
                    parent_size);
    if (stride < 1 || stride >= ACLSHMEM_MAX_PES)
        return fail(ACLSHMEM_INVALID_PARAM, "team_split_strided: pe_stride is %d, 1..%d are allowed", stride,
                    ACLSHMEM_MAX_PES - 1);
    int64_t last = start + (int64_t)(size - 1) * stride;
    if (last >= parent_size)
        return fail(
            ACLSHMEM_INVALID_PARAM,
            "team_split_strided: the last member would be %lld of the parent, which has members 0..%d",
            (long long)last, parent_size - 1);
    return 0;
}

int aclshmem_team_split_strided(aclshmem_team_t parent_team, int pe_start, int pe_stride, int pe_size,
                                aclshmem_team_t *new_team)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (new_team == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "team_split_strided: the place for the new team is NULL");
    *new_team = ACLSHMEM_TEAM_INVALID;
    aclshmemi_team_t *parent = aclshmemi_team_get(in, "team_split_strided", parent_team);
    if (parent == NULL)
        return ACLSHMEM_INVALID_PARAM;
    TRY(check_strided(parent, pe_start, pe_stride, pe_size));
    int64_t args[] = {SPLIT_STRIDED, pe_start, pe_stride, pe_size};
    return aclshmemi_team_create(in, parent, pe_start, pe_stride, pe_size, args, new_team);
}

/* The parent's members in rows of x_range: a PE is in one row team and one column team. */
int aclshmem_team_split_2d(aclshmem_team_t parent_team, int x_range, aclshmem_team_t *x_team,
                           aclshmem_team_t *y_team)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (x_team == NULL || y_team == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "team_split_2d: the place for a new team is NULL");
    *x_team = *y_team = ACLSHMEM_TEAM_INVALID;
    aclshmemi_team_t *parent = aclshmemi_team_get(in, "team_split_2d", parent_team);
    if (parent == NULL)
        return ACLSHMEM_INVALID_PARAM;
    if (x_range <= 0)
        return fail(ACLSHMEM_INVALID_PARAM, "team_split_2d: x_range is %d, it must be at least 1", x_range);
    int n = parent->group.size, width = x_range < n ? x_range : n;
    int row = parent->group.index / width, column = parent->group.index % width;
    int row_size = n - row * width < width ? n - row * width : width;
    int column_size = (n - column + width - 1) / width;
    int64_t x_args[] = {SPLIT_X, x_range, 0, 0}, y_args[] = {SPLIT_Y, x_range, 0, 0};
    TRY(aclshmemi_team_create(in, parent, row * width, 1, row_size, x_args, x_team));
    int rc = aclshmemi_team_create(in, parent, column, width, column_size, y_args, y_team);
    if (rc != 0) {
        aclshmem_team_destroy(*x_team);
        *x_team = ACLSHMEM_TEAM_INVALID;
    }
    return rc;
}

int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    const aclshmemi_team_t *from = aclshmemi_team_find(in, src_team),
                           *to = aclshmemi_team_find(in, dest_team);
    if (from == NULL || to == NULL || src_pe < 0 || src_pe >= from->group.size)
        return -1;
    return aclshmemi_group_index(&to->group, aclshmemi_group_pe(&from->group, src_pe));
}

int aclshmem_team_my_pe(aclshmem_team_t team)
{
    const aclshmemi_team_t *found = aclshmemi_team_find(aclshmemi_current(), team);
    return found != NULL ? found->group.index : -1;
}

int aclshmem_team_n_pes(aclshmem_team_t team)
{
    const aclshmemi_team_t *found = aclshmemi_team_find(aclshmemi_current(), team);
    return found != NULL ? found->group.size : -1;
}

int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config)
{
    const aclshmemi_team_t *found = aclshmemi_team_get(aclshmemi_current(), "team_get_config", team);
    if (found == NULL)
        return ACLSHMEM_INVALID_PARAM;
    if (config == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "team_get_config: the place for the config is NULL");
    *config = found->config;
    return 0;
}
