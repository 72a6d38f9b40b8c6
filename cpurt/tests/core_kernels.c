/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use the primitives of a core: one file, built with each kind of buffer pointer. */
#include "core_kernels.h"

#include <stdio.h>

static void describe(const aicore_wait_t *wait, char *out, size_t size)
{
    (void)snprintf(out, size, "a word of %s", (const char *)wait->subject);
}

static void flag_call(const core_call_args_t *args)
{
    const aicore_pipe_t from = (aicore_pipe_t)args->from, to = (aicore_pipe_t)args->to;

    if (args->call == CALL_FLAG_WAIT) {
        aicore_flag_wait(from, to, args->number);
        return;
    }
    aicore_flag_set(from, to, args->number);
    if (args->call == CALL_FLAG_TWICE)
        aicore_flag_set(from, to, args->number);
}

ACL_KERNEL(core_wait)
{
    aicore_wait_t wait;

    aicore_wait_begin(&wait);
    wait.describe = describe;
    wait.subject = "the test";
    for (;;)
        aicore_wait_step(&wait, NULL, 0);
}

static void copy_call(const core_call_args_t *args)
{
    switch (args->call) {
    case CALL_COPY_IN:
        aicore_copy_in(args->ub, args->memory, args->bytes);
        return;
    case CALL_COPY_OUT:
        aicore_copy_out(args->memory, args->ub, args->bytes);
        return;
    case CALL_COPY_IN_ROWS:
        aicore_copy_in_rows(args->ub, args->memory, &args->rows);
        return;
    default:
        aicore_copy_out_rows(args->memory, args->ub, &args->rows);
        return;
    }
}

/* Block 1 makes the call; the others wait for it. */
ACL_KERNEL(core_call, core_call_args_t, args)
{
    if (aicore_block_index() != 1)
        aicore_sync_all();
    aicore_atomic_mode((aicore_element_t)args.element);
    switch ((core_call_t)args.call) {
    case CALL_ATOMIC_MODE:
        break;
    case CALL_FLAG_SET:
    case CALL_FLAG_TWICE:
    case CALL_FLAG_WAIT:
        flag_call(&args);
        break;
    case CALL_BARRIER:
        aicore_barrier((aicore_pipe_t)args.from);
        break;
    case CALL_TOUCH:
        aicore_touch((aicore_pipe_t)args.from, args.ub, args.bytes, 1);
        break;
    case CALL_LOAD:
        (void)aicore_load(args.memory, (uint32_t)args.bytes);
        break;
    case CALL_STORE:
        aicore_store(args.memory, 1, (uint32_t)args.bytes);
        break;
    case CALL_TRAP:
        aicore_trap("number %u", args.number);
    default:
        copy_call(&args);
        break;
    }
    aicore_sync_all();
}

static void in_before_out(uint32_t number)
{
    aicore_flag_set(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3, number);
    aicore_flag_wait(AICORE_PIPE_MTE2, AICORE_PIPE_MTE3, number);
}

ACL_KERNEL(core_rows, core_rows_args_t, args)
{
    aicore_copy_in_rows(args.ub, args.from, &args.in);
    in_before_out(7);
    aicore_copy_out_rows(args.to, args.ub, &args.out);
}

ACL_KERNEL(core_plain, const void *, from, void *, to, uint64_t, ub, uint64_t, bytes)
{
    aicore_copy_in(ub, from, bytes);
    in_before_out(0);
    aicore_copy_out(to, ub, bytes);
}

/* Every core adds the values times over, and adds and takes them away and_back times before. */
ACL_KERNEL(core_add, uint32_t, element, const void *, values, const void *, negative, void *, sums, uint64_t,
           bytes, uint32_t, times, uint32_t, and_back)
{
    const uint64_t second = AICORE_COPY_ROWS_MAX * AICORE_UB_ALIGN;

    aicore_copy_in(64, values, bytes);
    aicore_copy_in(second, negative, bytes);
    in_before_out(3);
    aicore_atomic_mode((aicore_element_t)element);
    aicore_sync_all(); /* to get in each other's way */
    for (uint32_t i = 0; i < and_back; i++) {
        aicore_copy_out(sums, 64, bytes);
        aicore_copy_out(sums, second, bytes);
    }
    for (uint32_t i = 0; i < times; i++)
        aicore_copy_out(sums, 64, bytes);
    aicore_atomic_mode(AICORE_PLAIN);
}

/* Through pointers into the buffer, the one at 0 as well: count words, each its number times factor, from 0 on. */
ACL_KERNEL(core_pointers, uint32_t *, out, uint32_t, count, uint32_t, factor, uint32_t *, errors)
{
    AICORE_UB_POINTER(uint32_t) first = AICORE_UB(uint32_t, 0);
    AICORE_UB_POINTER(uint32_t) third = AICORE_UB(uint32_t, 8);
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < count; i++)
        first[i] = i * factor + aicore_block_index();
    wrong += AICORE_UB_NUMBER(first) != 0;
    wrong += AICORE_UB_NUMBER(third) != 8;
    wrong += third != first + 2;
    wrong += *third != 2 * factor + aicore_block_index();
    wrong += AICORE_UB_HERE(third) != (void *)((char *)aicore_ub() + 8);
    wrong += *(const uint32_t *)AICORE_UB_HERE(third) != *third;
    if (wrong != 0)
        (void)__atomic_fetch_add(errors, wrong, __ATOMIC_RELAXED);
    aicore_flag_set(AICORE_PIPE_S, AICORE_PIPE_MTE3, 1);
    aicore_flag_wait(AICORE_PIPE_S, AICORE_PIPE_MTE3, 1);
    aicore_copy_out(out + aicore_block_index() * count, 0, count * sizeof *out);
}

/* Blocks hand a number round by scalar stores, each in a line of its own. */
ACL_KERNEL(core_ring, uint64_t *, words, uint32_t, rounds)
{
    const uint32_t me = aicore_block_index(), all = aicore_block_count();
    uint64_t *const mine = words + 8 * me, *const next = words + 8 * ((me + 1) % all);

    for (uint64_t round = 1; round <= rounds; round++) {
        while (me != 0 && aicore_load(mine, 8) < round) {
            aicore_cache_line(mine);
            aicore_poll(mine, 8);
        }
        aicore_store(next, round, 8);
        aicore_cache_line(next);
        while (me == 0 && aicore_load(mine, 8) < round) {
            aicore_cache_line(mine);
            aicore_poll(mine, 8);
        }
    }
}

/* Local memory is the core's own, starts as zeroes in every block, and keeps what is written. */
ACL_KERNEL(core_local, uint32_t *, errors)
{
    unsigned char *const local = aicore_local();
    uint32_t wrong = (uintptr_t)local % 16 != 0;

    for (uint32_t i = 0; i < AICORE_LOCAL_BYTES; i++)
        wrong += local[i] != 0;
    for (uint32_t i = 0; i < AICORE_LOCAL_BYTES; i++)
        local[i] = (unsigned char)(aicore_block_index() + 1);
    aicore_sync_all();
    for (uint32_t i = 0; i < AICORE_LOCAL_BYTES; i++)
        wrong += local[i] != (unsigned char)(aicore_block_index() + 1);
    wrong += aicore_local() != local;
    if (wrong != 0)
        (void)__atomic_fetch_add(errors, wrong, __ATOMIC_RELAXED);
}

/* What the slot in use holds, before and after asking for another. */
ACL_KERNEL(core_slots, uint64_t *, out, uint32_t, other)
{
    out[0] = (uint64_t)(uintptr_t)aicore_slot();
    out[1] = (uint64_t)(int64_t)aicore_slot_use(AICORE_SLOTS);
    out[2] = (uint64_t)(uintptr_t)aicore_slot();
    out[3] = (uint64_t)(int64_t)aicore_slot_use(other);
    out[4] = (uint64_t)(uintptr_t)aicore_slot();
}

ACL_KERNEL(core_bell, aicore_doorbell_t *, ring, aicore_doorbell_t *, store, uint32_t, value)
{
    aicore_doorbell_ring(ring);
    aicore_doorbell_store(store, value);
}

ACL_KERNEL(core_through, const void *, from, void *, to, uint64_t, bytes, uint32_t *, errors)
{
    if (!aicore_copies_directly())
        (void)__atomic_fetch_add(errors, 1, __ATOMIC_RELAXED);
    aicore_copy_through(to, from, bytes);
}
