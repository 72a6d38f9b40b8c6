/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch and combine of a mixture of experts: every token goes to two of 4 n experts, wherever they are, and comes back as
 * the weighted sum of their answers. Each PE computes by itself what must come out.
 *
 *     aclshmemrun -n 4 moe
 */
#include "moe.h"
#include "operator.h"

#include <math.h>

enum { TOKENS = 96, ROUNDS = 4, EXPERTS_PER_PE = 4, CAPACITY = TOKENS * MOE_TOP };

typedef struct host_side {
    float tokens[TOKENS * MOE_HIDDEN], weights[TOKENS * MOE_TOP], output[TOKENS * MOE_HIDDEN];
    moe_route_t routes[TOKENS * MOE_TOP];
    int32_t *route_start;
} host_side_t;

/* Two different experts per token; some are popular, as real ones are. */
static int32_t expert_of(const op_t *op, int round, int token, int choice)
{
    const uint32_t experts = (uint32_t)(op->n * EXPERTS_PER_PE),
                   draw = op_random((uint32_t)(op->me * 1000 + round), (uint32_t)token);
    const uint32_t first = draw % 4 == 0 ? 0 : draw / 4 % experts;
    return (int32_t)(choice == 0 ? first : (first + 1 + draw / 64 % (experts - 1)) % experts);
}

static void make_tokens(const op_t *op, host_side_t *host, int round)
{
    for (uint32_t i = 0; i < TOKENS * MOE_HIDDEN; i++)
        host->tokens[i] = (float)(op_random((uint32_t)(op->me * 1000 + round + 500), i) % 2001) / 1000 - 1;
    int count = 0;
    for (int pe = 0; pe < op->n; pe++) {
        host->route_start[pe] = count;
        for (int token = 0; token < TOKENS; token++)
            for (int choice = 0; choice < MOE_TOP; choice++) {
                const int32_t expert = expert_of(op, round, token, choice);
                host->weights[token * MOE_TOP + choice] = choice == 0 ? 0.75f : 0.25f;
                if (expert / EXPERTS_PER_PE == pe)
                    host->routes[count++] = (moe_route_t){token, choice, expert, 0};
            }
    }
    host->route_start[op->n] = count;
}

static void check_output(op_t *op, const host_side_t *host, int round)
{
    for (int token = 0; token < TOKENS; token++)
        for (int k = 0; k < MOE_HIDDEN; k++) {
            float sum = 0;
            for (int choice = 0; choice < MOE_TOP; choice++) {
                const float expert = (float)expert_of(op, round, token, choice);
                sum += host->weights[token * MOE_TOP + choice] *
                       (host->tokens[token * MOE_HIDDEN + k] * (1 + expert) + expert);
            }
            op->wrong += fabsf(host->output[token * MOE_HIDDEN + k] - sum) > 1e-5f * (1 + fabsf(sum));
        }
}

static moe_args_t make_memory(const op_t *op)
{
    const size_t n = (size_t)op->n, lines = n * MOE_LINE * sizeof(int32_t);
    return (moe_args_t){
        .tokens = op_symmetric(op, sizeof(float) * TOKENS * MOE_HIDDEN),
        .weights = op_symmetric(op, sizeof(float) * TOKENS * MOE_TOP),
        .routes = op_symmetric(op, sizeof(moe_route_t) * TOKENS * MOE_TOP),
        .route_start = op_symmetric(op, sizeof(int32_t) * (n + 1)),
        .output = op_symmetric(op, sizeof(float) * TOKENS * MOE_HIDDEN),
        .rows = op_symmetric(op, sizeof(float) * n * CAPACITY * MOE_HIDDEN),
        .row_routes = op_symmetric(op, sizeof(moe_route_t) * n * CAPACITY),
        .row_count = op_symmetric(op, lines),
        .counted = op_symmetric(op, lines),
        .arrived = op_symmetric(op, lines),
        .expected = op_symmetric(op, lines),
        .answers = op_symmetric(op, sizeof(float) * TOKENS * MOE_TOP * MOE_HIDDEN),
        .answered = op_symmetric(op, MOE_LINE * sizeof(int32_t)),
        .tokens_count = TOKENS,
        .capacity = CAPACITY,
    };
}

int main(void)
{
    op_t op = op_begin_job("moe");
    host_side_t *host = op_host(&op, sizeof *host);
    host->route_start = op_host(&op, sizeof(int32_t) * ((size_t)op.n + 1));
    moe_args_t a = make_memory(&op);
    double best = 0;

    for (a.round = 1; a.round <= ROUNDS; a.round++) {
        make_tokens(&op, host, a.round);
        op_write(&op, a.tokens, host->tokens, sizeof host->tokens);
        op_write(&op, a.weights, host->weights, sizeof host->weights);
        op_write(&op, a.routes, host->routes, sizeof host->routes);
        op_write(&op, a.route_start, host->route_start, sizeof(int32_t) * ((size_t)op.n + 1));
        const double start = op_now_us();
        op_launch(&op, "moe_dispatch", OP_BLOCKS, &a, sizeof a);
        op_launch(&op, "moe_experts", OP_BLOCKS, &a, sizeof a);
        op_launch(&op, "moe_combine", OP_BLOCKS, &a, sizeof a);
        op_sync(&op);
        const double took = op_now_us() - start;
        best = best == 0 || took < best ? took : best;
        op_read(&op, host->output, a.output, sizeof host->output);
        check_output(&op, host, a.round);
    }
    if (op.me == 0)
        printf("%d tokens of %d numbers per PE to %d of %d experts and back in %.0f us\n", TOKENS, MOE_HIDDEN,
               MOE_TOP, op.n * EXPERTS_PER_PE, best);
    void *const all[] = {a.answered,  a.answers,    a.expected, a.arrived, a.counted,
                         a.row_count, a.row_routes, a.rows,     a.output,  a.route_start,
                         a.routes,    a.weights,    a.tokens};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        aclshmem_free(all[i]);
    free(host->route_start);
    free(host);
    return op_end(&op);
}
