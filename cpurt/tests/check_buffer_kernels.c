/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one core at a time: the order between pipes that share the buffer. */
#include "check_kernels.h"

static void set(aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    aicore_flag_set(from, to, number);
}

static void wait(aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    aicore_flag_wait(from, to, number);
}

static void pass(aicore_pipe_t from, aicore_pipe_t to)
{
    set(from, to, 0);
    wait(from, to, 0);
}

#define S    AICORE_PIPE_S
#define V    AICORE_PIPE_V
#define MTE2 AICORE_PIPE_MTE2
#define MTE3 AICORE_PIPE_MTE3

/* Each block copies its chunks through one piece of the buffer. */
ACL_KERNEL(check_through, check_request_t, job)
{
    const uint32_t bug = job.bug;

    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count()) {
        const uint32_t at = i * CHECK_CHUNK, last = i + aicore_block_count() >= CHECK_CHUNKS;

        if (bug == 3)
            set(MTE2, MTE3, 0); /* before the copy it is for */
        aicore_copy_in(0, job.in + at, CHECK_CHUNK_BYTES);
        if (bug == 4)
            pass(MTE2, V); /* to somebody else */
        if (bug != 2 && bug != 3 && bug != 4)
            set(MTE2, MTE3, 0);
        if (bug != 2 && bug != 4 && bug != 5)
            wait(MTE2, MTE3, 0);
        aicore_copy_out(job.out + at, 0, CHECK_CHUNK_BYTES);
        if (bug == 5)
            wait(MTE2, MTE3, 0); /* too late */
        if (bug != 1 && (!last || bug == 6))
            set(MTE3, MTE2, 1); /* with bug 6 once too often */
        if (bug != 1 && !last)
            wait(MTE3, MTE2, 1);
    }
    if (bug == 7)
        wait(MTE3, MTE2, 1);
}

/* The same with two pieces in turn. */
ACL_KERNEL(check_two_buffers, check_request_t, job)
{
    const uint64_t apart =
        job.bug == 1 ? CHECK_CHUNK_BYTES - 32 : CHECK_CHUNK_BYTES; /* bug 1: they overlap */
    uint32_t round = 0;

    set(MTE3, MTE2, 0);
    set(MTE3, MTE2, 1);
    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count(), round++) {
        const uint32_t turn = round % 2;

        wait(MTE3, MTE2, turn);
        aicore_copy_in(turn * apart, job.in + i * CHECK_CHUNK, CHECK_CHUNK_BYTES);
        set(MTE2, MTE3, turn);
        wait(MTE2, MTE3, turn);
        if (job.bug == 2)
            set(MTE3, MTE2, turn); /* before the copy it is for */
        aicore_copy_out(job.out + i * CHECK_CHUNK, turn * apart, CHECK_CHUNK_BYTES);
        if (job.bug != 2)
            set(MTE3, MTE2, turn);
    }
    wait(MTE3, MTE2, 0);
    wait(MTE3, MTE2, 1);
}

/* A vector instruction: one number is added to the words of one piece of the buffer, the sums go to another. */
static void vector_add(uint64_t to, uint64_t from, uint32_t number)
{
    AICORE_UB_POINTER(uint32_t) source = AICORE_UB(uint32_t, from);
    AICORE_UB_POINTER(uint32_t) target = AICORE_UB(uint32_t, to);

    aicore_touch(V, from, CHECK_CHUNK_BYTES, 0);
    aicore_touch(V, to, CHECK_CHUNK_BYTES, 1);
    for (uint32_t i = 0; i < CHECK_CHUNK; i++)
        target[i] = source[i] + number;
}

/* out = in + 0 by way of the vector unit, from one piece of the buffer to another. */
ACL_KERNEL(check_vector, check_request_t, job)
{
    const uint64_t from = 64, to = 64 + CHECK_CHUNK_BYTES;
    const uint32_t bug = job.bug;

    set(V, MTE2, 0);
    set(MTE3, V, 0);
    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count()) {
        if (bug != 1)
            wait(V, MTE2, 0);
        aicore_copy_in(from, job.in + i * CHECK_CHUNK, CHECK_CHUNK_BYTES);
        if (bug != 2)
            pass(MTE2, V);
        if (bug != 3)
            wait(MTE3, V, 0);
        vector_add(to, from, 0);
        if (bug != 1)
            set(V, MTE2, 0);
        if (bug != 4)
            pass(V, MTE3);
        aicore_copy_out(job.out + i * CHECK_CHUNK, to, CHECK_CHUNK_BYTES);
        if (bug != 3)
            set(MTE3, V, 0);
    }
    wait(V, MTE2, 0);
    wait(MTE3, V, 0);
}

/* The scalar unit fills the buffer with what in holds, word by word. */
ACL_KERNEL(check_scalar_fill, check_request_t, job)
{
    AICORE_UB_POINTER(uint32_t) buffer = AICORE_UB(uint32_t, 0);
    const uint32_t bug = job.bug;

    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count()) {
        const uint32_t at = i * CHECK_CHUNK;

        if (bug != 3) /* bug 3: nobody says who touches the buffer, so it must show in what comes out */
            aicore_touch(S, 0, CHECK_CHUNK_BYTES, 1);
        for (uint32_t k = 0; k < CHECK_CHUNK; k++)
            buffer[k] = job.in[at + k];
        if (bug != 1)
            pass(S, MTE3);
        aicore_copy_out(job.out + at, 0, CHECK_CHUNK_BYTES);
        if (bug != 2 && bug != 3)
            pass(MTE3, S);
    }
}

/* The scalar unit takes what a copy brought and stores it: the first words of each chunk. */
ACL_KERNEL(check_scalar_read, check_request_t, job)
{
    AICORE_UB_POINTER(uint32_t) buffer = AICORE_UB(uint32_t, 32);
    const uint32_t bug = job.bug, words = 13;

    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count()) {
        const uint32_t at = i * CHECK_CHUNK;

        if (bug == 4)
            aicore_copy_in(32, job.in + at, (words + 1) * 4);
        aicore_copy_in(32, job.in + at, words * 4);
        if (bug != 1 && bug != 2)
            pass(MTE2, S);
        if (bug != 2)
            aicore_touch(S, 32, words * 4, 0);
        for (uint32_t k = 0; k < words; k++)
            aicore_store(job.out + at + k, buffer[k], 4);
        if (bug == 4) /* relies on the tail: the second copy may have spoilt what the first one brought */
            aicore_store(job.out + at + words, buffer[words] - job.in[at + words], 4);
        if (bug != 3)
            aicore_cache_range(job.out + at, 4 * (words + 1));
        pass(S, MTE2); /* before the next copy writes where this was read */
    }
}

/* Out to global memory, and back from there into another place. */
ACL_KERNEL(check_there_and_back, check_request_t, job)
{
    for (uint32_t i = aicore_block_index(); i < CHECK_CHUNKS; i += aicore_block_count()) {
        const uint32_t at = i * CHECK_CHUNK;

        aicore_copy_in(0, job.in + at, CHECK_CHUNK_BYTES);
        pass(MTE2, MTE3);
        aicore_copy_out(job.words + at, 0, CHECK_CHUNK_BYTES);
        if (job.bug != 1)
            pass(MTE3, MTE2);
        aicore_copy_in(4096, job.words + at, CHECK_CHUNK_BYTES);
        pass(MTE2, MTE3);
        aicore_copy_out(job.out + at, 4096, CHECK_CHUNK_BYTES);
        aicore_barrier(AICORE_PIPE_ALL);
    }
}

/* What the scalar unit stores is copied, and what it stored is copied over. */
ACL_KERNEL(check_store_and_copy, check_request_t, job)
{
    const uint32_t at = aicore_block_index() * CHECK_LINE;

    for (uint32_t i = 0; i < CHECK_LINE; i++)
        aicore_store(job.words + at + i, job.in[at + i], 4);
    if (job.bug != 1)
        aicore_cache_line(job.words + at);
    aicore_copy_in(0, job.words + at, 4 * CHECK_LINE);
    pass(MTE2, MTE3);
    aicore_store(job.out + at, 1, 4);
    if (job.bug != 2)
        aicore_cache_line(job.out + at);
    aicore_copy_out(job.out + at, 0, 4 * CHECK_LINE);
}
