/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves blocks of a key-value cache between pairs of PEs, as a server of a language model does when requests change
 * places: 10 rounds of 5 blocks of 128 KiB, keys and values, all bytes checked after each.
 *
 *     aclshmemrun -n 2 kv_shuffle
 */
#include "kv_shuffle.h"
#include "operator.h"

enum { BLOCKS = 16, MOVED = 5, ROUNDS = 10, BLOCK_BYTES = 128 << 10, WORDS = BLOCK_BYTES / 4 };

/* Outgoing blocks are the lower half of the cache, incoming ones the upper, both in an order that changes. */
static void choose_blocks(int pe, int round, int32_t from[MOVED], int32_t to[MOVED])
{
    for (int i = 0; i < MOVED; i++) {
        from[i] = (int32_t)((op_random(7, (uint32_t)(pe * 100 + round)) + (uint32_t)i * 3) % (BLOCKS / 2));
        to[i] = (int32_t)(BLOCKS / 2 +
                          (op_random(8, (uint32_t)(pe * 100 + round)) + (uint32_t)i * 5) % (BLOCKS / 2));
    }
}

static void make_cache(uint32_t *cache, int pe, int round, int which)
{
    for (uint32_t i = 0; i < BLOCKS * WORDS; i++)
        cache[i] = op_random((uint32_t)(pe * 64 + round * 2 + which), i);
}

/* What the cache of `me` looks like after the partner's blocks have come in. */
static void expect_cache(uint32_t *cache, uint32_t *other, int me, int partner, int round, int which)
{
    int32_t from[MOVED], to[MOVED];
    choose_blocks(partner, round, from, to);
    make_cache(cache, me, round, which);
    make_cache(other, partner, round, which);
    for (int i = 0; i < MOVED; i++)
        memcpy(cache + (size_t)to[i] * WORDS, other + (size_t)from[i] * WORDS, BLOCK_BYTES);
}

int main(void)
{
    const size_t bytes = (size_t)BLOCKS * BLOCK_BYTES;
    op_t op = op_begin_job("kv_shuffle");
    const int partner = (op.me ^ 1) < op.n ? op.me ^ 1 : op.me; /* an odd one out moves its own blocks */
    uint32_t *host = op_host(&op, bytes), *expected = op_host(&op, bytes), *other = op_host(&op, bytes);
    int32_t from[MOVED], to[MOVED], *lists = op_symmetric(&op, 2 * sizeof from);
    double best = 0;
    kv_shuffle_params_t a = {.key = op_symmetric(&op, bytes),
                             .value = op_symmetric(&op, bytes),
                             .from = lists,
                             .to = lists + MOVED,
                             .free_flags = op_symmetric(&op, OP_BLOCKS * KV_LINE * sizeof(int32_t)),
                             .done_flags = op_symmetric(&op, OP_BLOCKS * KV_LINE * sizeof(int32_t)),
                             .block_bytes = BLOCK_BYTES,
                             .count = MOVED,
                             .partner = partner};
    char *const caches[2] = {a.key, a.value};

    for (a.round = 1; a.round <= ROUNDS; a.round++) {
        choose_blocks(op.me, a.round, from, to);
        op_write(&op, lists, from, sizeof from);
        op_write(&op, lists + MOVED, to, sizeof to);
        for (int which = 0; which < 2; which++) {
            make_cache(host, op.me, a.round, which);
            op_write(&op, caches[which], host, bytes);
        }
        const double start = op_now_us();
        op_launch(&op, "kv_shuffle", OP_BLOCKS, &a, sizeof a);
        op_sync(&op);
        const double took = op_now_us() - start;
        best = best == 0 || took < best ? took : best;
        for (int which = 0; which < 2; which++) {
            expect_cache(expected, other, op.me, partner, a.round, which);
            op_read(&op, host, caches[which], bytes);
            op.wrong += memcmp(host, expected, bytes) != 0;
        }
    }
    if (op.me == 0)
        printf("%d blocks of %d KiB of keys and values to the partner in %.0f us\n", MOVED, BLOCK_BYTES >> 10,
               best);
    free(host);
    free(expected);
    free(other);
    aclshmem_free(a.done_flags);
    aclshmem_free(a.free_flags);
    aclshmem_free(a.value);
    aclshmem_free(a.key);
    aclshmem_free(lists);
    return op_end(&op);
}
