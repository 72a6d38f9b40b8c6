/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose blocks tell each other things: the order between memory, pipes and the scalar unit's cache. */
#include "check_kernels.h"

static void pass(aicore_pipe_t from, aicore_pipe_t to)
{
    aicore_flag_set(from, to, 0);
    aicore_flag_wait(from, to, 0);
}

static void tell(uint32_t *word, uint32_t value)
{
    aicore_store(word, value, 4);
    aicore_cache_line(word);
}

static void await(const uint32_t *word, uint32_t value)
{
    for (;;) {
        aicore_cache_line(word);
        if (aicore_load(word, 4) == value)
            return;
        aicore_poll(word, 4);
    }
}

static void copy(uint32_t *to, const uint32_t *from)
{
    aicore_copy_in(0, from, CHECK_CHUNK_BYTES);
    pass(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3);
    aicore_copy_out(to, 0, CHECK_CHUNK_BYTES);
}

/* Even blocks send a chunk to the area 'words', odd ones take it from there to out, and send the next one themselves:
 * block b sends chunk b, block b + 1 delivers it. Signals are in the last words of the area. */
static uint32_t *signal_of(const check_request_t *job, uint32_t block)
{
    return job->words + CHECK_WORDS - CHECK_LINE * (block + 1);
}

static void send(const check_request_t *job, uint32_t block)
{
    uint32_t *const signal = signal_of(job, block);

    copy(job->words + block * CHECK_CHUNK, job->in + block * CHECK_CHUNK);
    if (job->bug != 1 && job->bug != 5)
        pass(AICORE_PIPE_MTE3, AICORE_PIPE_S);
    if (job->bug == 2)
        aicore_store(signal, 1, 4);
    else if (job->bug == 5) /* the same as 1, by an atomic past the cache */
        __atomic_store_n(signal, 1, __ATOMIC_SEQ_CST);
    else
        tell(signal, 1);
}

static void deliver(const check_request_t *job, uint32_t block)
{
    uint32_t *const data = job->words + block * CHECK_CHUNK, *const signal = signal_of(job, block);
    uint32_t first = 0;

    if (job->bug == 4)
        first = (uint32_t)aicore_load(data, 4); /* a look before it is there, and it stays in the cache */
    if (job->bug == 3)
        while (aicore_load(signal, 4) != 1)
            aicore_poll(signal, 4);
    else
        await(signal, 1);
    copy(job->out + block * CHECK_CHUNK, data);
    if (job->bug != 4)
        aicore_cache_line(data);
    first += (uint32_t)aicore_load(data, 4);
    aicore_barrier(AICORE_PIPE_ALL);
    tell(job->out + block * CHECK_CHUNK, job->bug == 4 ? first / 2 : first);
}

ACL_KERNEL(check_message, check_request_t, job)
{
    const uint32_t me = aicore_block_index();

    if (me % 2 == 0)
        send(&job, me);
    else
        deliver(&job, me - 1);
}

/* A block reads an area, says so, and its neighbour overwrites it. */
ACL_KERNEL(check_release, check_request_t, job)
{
    const uint32_t me = aicore_block_index(), pair = me / 2;
    uint32_t *const area = job.words + pair * CHECK_CHUNK, *const filled = signal_of(&job, 2 * pair),
                    *const done = signal_of(&job, 2 * pair + 1);

    if (me % 2 != 0) {
        copy(area, job.in + pair * CHECK_CHUNK);
        pass(AICORE_PIPE_MTE3, AICORE_PIPE_S);
        tell(filled, 1);
        await(done, 1);
        copy(area, job.in + CHECK_WORDS / 2);
        return;
    }
    await(filled, 1);
    aicore_copy_in(0, area, CHECK_CHUNK_BYTES);
    if (job.bug != 1)
        pass(AICORE_PIPE_MTE2, AICORE_PIPE_S);
    tell(done, 1);
    pass(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3);
    aicore_copy_out(job.out + pair * CHECK_CHUNK, 0, CHECK_CHUNK_BYTES);
}

/* Each block leaves a word, all meet, each takes its neighbour's. */
ACL_KERNEL(check_meeting, check_request_t, job)
{
    const uint32_t me = aicore_block_index(), next = (me + 1) % aicore_block_count();
    uint32_t *const mine = job.words + me * CHECK_LINE, *const its = job.words + next * CHECK_LINE;

    if (job.bug == 2) {
        (void)aicore_load(its, 4);
        aicore_sync_all();
    }
    aicore_store(mine, job.in[me], 4);
    if (job.bug != 1)
        aicore_cache_line(mine);
    aicore_sync_all();
    if (job.bug != 2)
        aicore_cache_line(its);
    tell(job.out + next, (uint32_t)aicore_load(its, 4));
}

/* All blocks add to one chunk, then the first one hands it on. */
ACL_KERNEL(check_reduce, check_request_t, job)
{
    aicore_copy_in(0, job.in, CHECK_CHUNK_BYTES);
    pass(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3);
    aicore_atomic_mode(AICORE_ADD_INT32);
    aicore_copy_out(job.words, 0, CHECK_CHUNK_BYTES);
    aicore_atomic_mode(AICORE_PLAIN);
    if (job.bug != 1)
        aicore_sync_all();
    else
        aicore_barrier(AICORE_PIPE_ALL); /* only its own */
    if (aicore_block_index() == 0)
        copy(job.out, job.words);
}
