/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens travel to the PEs of their experts, are worked on there, and travel back. Every core moves its share of the rows
 * without waiting for any, then tells each receiver how many it has sent; receivers know from a count that comes ahead
 * how many there will be.
 */
#include "device/gm2gm/shmem_device_mo.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/team/shmem_device_team.h"
#include "moe.h"

static const uint64_t row_bytes = MOE_HIDDEN * sizeof(float);

/* One core tells every PE how many rows it will get. */
static void announce(const moe_args_t *a, int me, int n)
{
    for (int pe = 0; pe < n; pe++) {
        int32_t *count = &a->row_count[me * MOE_LINE];
        aclshmem_int32_p(count, a->route_start[pe + 1] - a->route_start[pe], pe);
        aclshmem_fence();
        aclshmemx_signal_op(&a->counted[me * MOE_LINE], a->round, ACLSHMEM_SIGNAL_SET, pe);
    }
}

ACLSHMEM_KERNEL(moe_dispatch, moe_args_t, a)
{
    const int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    const int core = (int)aicore_block_index(), cores = (int)aicore_block_count();

    if (core == 0)
        announce(&a, me, n);
    for (int pe = 0; pe < n; pe++)
        for (int32_t i = a.route_start[pe] + core; i < a.route_start[pe + 1]; i += cores) {
            const int64_t row = (int64_t)me * a.capacity + i - a.route_start[pe];
            aclshmem_putmem_nbi(&a.rows[row * MOE_HIDDEN], &a.tokens[(int64_t)a.routes[i].token * MOE_HIDDEN],
                                row_bytes, pe);
            aclshmem_putmem_nbi(&a.row_routes[row], &a.routes[i], sizeof a.routes[i], pe);
        }
    aclshmem_quiet();
    for (int pe = 0; pe < n; pe++) {
        const int32_t rows = a.route_start[pe + 1] - a.route_start[pe],
                      mine = rows <= core ? 0 : (rows - core + cores - 1) / cores;
        if (mine > 0)
            aclshmemx_signal_op(&a.arrived[me * MOE_LINE], mine, ACLSHMEM_SIGNAL_ADD, pe);
    }
    for (int pe = core; pe < n; pe += cores) {
        aclshmem_signal_wait_until(&a.counted[pe * MOE_LINE], ACLSHMEM_CMP_GE, a.round);
        a.expected[pe * MOE_LINE] += a.row_count[pe * MOE_LINE];
        aclshmem_signal_wait_until(&a.arrived[pe * MOE_LINE], ACLSHMEM_CMP_GE, a.expected[pe * MOE_LINE]);
    }
}

/* What the experts do: something that tells them apart. */
ACLSHMEM_KERNEL(moe_experts, moe_args_t, a)
{
    const int n = aclshmem_n_pes();
    const int core = (int)aicore_block_index(), cores = (int)aicore_block_count();

    for (int pe = 0; pe < n; pe++)
        for (int32_t i = core; i < a.row_count[pe * MOE_LINE]; i += cores) {
            const int64_t row = (int64_t)pe * a.capacity + i;
            const float expert = (float)a.row_routes[row].expert;
            for (int k = 0; k < MOE_HIDDEN; k++)
                a.rows[row * MOE_HIDDEN + k] = a.rows[row * MOE_HIDDEN + k] * (1 + expert) + expert;
        }
}

ACLSHMEM_KERNEL(moe_combine, moe_args_t, a)
{
    const int n = aclshmem_n_pes();
    const int core = (int)aicore_block_index(), cores = (int)aicore_block_count();

    for (int pe = 0; pe < n; pe++) {
        int32_t sent = 0;
        for (int32_t i = core; i < a.row_count[pe * MOE_LINE]; i += cores, sent++) {
            const int64_t row = (int64_t)pe * a.capacity + i;
            const moe_route_t *route = &a.row_routes[row];
            aclshmem_putmem_nbi(&a.answers[(int64_t)(route->token * MOE_TOP + route->choice) * MOE_HIDDEN],
                                &a.rows[row * MOE_HIDDEN], row_bytes, pe);
        }
        aclshmem_quiet();
        if (sent > 0)
            aclshmemx_signal_op(a.answered, sent, ACLSHMEM_SIGNAL_ADD, pe);
    }
    aclshmem_signal_wait_until(a.answered, ACLSHMEM_CMP_GE, a.round * a.tokens_count * MOE_TOP);
    for (int32_t token = core; token < a.tokens_count; token += cores)
        for (int k = 0; k < MOE_HIDDEN; k++) {
            float sum = 0;
            for (int choice = 0; choice < MOE_TOP; choice++)
                sum += a.weights[token * MOE_TOP + choice] *
                       a.answers[(int64_t)(token * MOE_TOP + choice) * MOE_HIDDEN + k];
            a.output[(int64_t)token * MOE_HIDDEN + k] = sum;
        }
}
