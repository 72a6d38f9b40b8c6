/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work put off. The two pipes that copy have queues; scalar and vector unit are the kernel's own code, and so is
 * whatever they do. A queue gets on when somebody waits for what is in it, when it is full, when the kernel polls, and
 * by chance; which of the two goes first is chance as well, as far as flags leave a choice. Issued in the order of the
 * program, whose waits come after their sets, the oldest piece of work can always be done.
 */
#include <string.h>

#include "check_state.h"

#define PATIENCE 32u /* polls after which a pipe has had time enough for anything */

static cpurt_queue_t *queue_of(cpurt_check_t *check, aicore_pipe_t pipe)
{
    if (pipe == AICORE_PIPE_MTE2)
        return &check->in;
    return pipe == AICORE_PIPE_MTE3 ? &check->out : NULL;
}

/* The tail of each row belongs to the copy as well, and what stands there afterwards is anything. */
static void spoil_tails(cpurt_core_t *core, const cpurt_copy_t *copy)
{
    const uint64_t tail = cpurt_ub_rounded(copy->bytes) - copy->bytes;
    const int anything = (int)cpurt_check_below(core->check, 255) + 1;
    unsigned char *ub = (unsigned char *)core->seen.ub + copy->ub + copy->bytes;

    if (!copy->in || tail == 0)
        return;
    for (uint32_t row = 0; row < copy->rows; row++, ub += copy->ub_step)
        memset(ub, anything, tail);
}

static bool may_go_on(const cpurt_check_t *check, const cpurt_queue_t *queue)
{
    const cpurt_op_t *const op = &queue->ops[queue->first];

    if (queue->count == 0)
        return false;
    if (op->kind == CPURT_OP_COPY)
        return true;
    const bool up = (check->up[op->from][op->to] & op->bit) != 0;
    return op->kind == CPURT_OP_SET ? !up : up;
}

static void do_first(cpurt_core_t *core, cpurt_queue_t *queue)
{
    cpurt_check_t *const check = core->check;
    const cpurt_op_t *const op = &queue->ops[queue->first];

    if (op->kind == CPURT_OP_COPY) {
        cpurt_copy_run(core, &op->copy);
        spoil_tails(core, &op->copy);
    } else {
        check->up[op->from][op->to] ^= op->bit;
    }
    queue->first = (queue->first + 1) % CPURT_QUEUE_OPS;
    queue->count--;
}

/* One piece of work of a pipe that can get on; 'wanted' is the one somebody waits for, NULL when nobody does. */
static void get_on(cpurt_core_t *core, cpurt_queue_t *wanted)
{
    cpurt_check_t *const check = core->check;
    const bool in = may_go_on(check, &check->in), out = may_go_on(check, &check->out);

    if (in && out) {
        if (wanted != NULL && check->straight)
            do_first(core, wanted);
        else
            do_first(core, cpurt_check_chance(check, 128) ? &check->in : &check->out);
    } else if (in || out) {
        do_first(core, in ? &check->in : &check->out);
    }
}

void cpurt_check_drain(cpurt_core_t *core)
{
    while (core->check->in.count + core->check->out.count > 0)
        get_on(core, NULL);
}

void cpurt_check_dawdle(cpurt_core_t *core)
{
    if (core->check->in.count + core->check->out.count > 0)
        cpurt_check_linger(core->check);
}

static void put(cpurt_core_t *core, cpurt_queue_t *queue, const cpurt_op_t *op)
{
    while (queue->count == CPURT_QUEUE_OPS)
        get_on(core, queue);
    queue->ops[(queue->first + queue->count++) % CPURT_QUEUE_OPS] = *op;
    core->check->polls = 0;
    while (cpurt_check_chance(core->check, core->check->early))
        get_on(core, NULL);
}

void cpurt_check_progress(cpurt_core_t *core)
{
    cpurt_check_t *const check = core->check;

    if (++check->polls >= PATIENCE)
        cpurt_check_drain(core);
    else if (cpurt_check_chance(check, 64))
        get_on(core, NULL);
    /* Who waits may be told by others that a copy is done; from then on the copy is in order without a flag. */
    if (check->in.count + check->out.count == 0)
        check->memory.count = 0;
}

/* --- What the kernel issues --- */

/* Large copies are not one event for those who look on: cuts one in two. Pieces keep to whole units and elements. */
static bool split(cpurt_check_t *check, const cpurt_copy_t *copy, cpurt_copy_t *first, cpurt_copy_t *second)
{
    const uint32_t units = copy->rows > 1 ? copy->rows : (copy->bytes - 1) / AICORE_UB_ALIGN + 1;

    if (units < 2 || !cpurt_check_chance(check, 64))
        return false;
    const uint32_t cut = 1 + cpurt_check_below(check, units - 1);
    *first = *second = *copy;
    if (copy->rows > 1) {
        first->rows = cut;
        second->rows -= cut;
        second->memory += cut * copy->memory_step;
        second->ub += cut * copy->ub_step;
    } else {
        first->bytes = cut * AICORE_UB_ALIGN;
        second->bytes -= first->bytes;
        second->memory += first->bytes;
        second->ub += first->bytes;
    }
    return true;
}

void cpurt_check_copy(cpurt_core_t *core, const char *call, const cpurt_copy_t *copy)
{
    cpurt_queue_t *const queue = copy->in ? &core->check->in : &core->check->out;
    cpurt_op_t first = {.kind = CPURT_OP_COPY}, second = {.kind = CPURT_OP_COPY};

    cpurt_order_copy(core, call, copy);
    cpurt_lines_copy(core, call, copy);
    if (split(core->check, copy, &first.copy, &second.copy)) {
        put(core, queue, &first);
        put(core, queue, &second);
    } else {
        first.copy = *copy;
        put(core, queue, &first);
    }
}

void cpurt_check_flag_set(cpurt_core_t *core, aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    cpurt_check_t *const check = core->check;
    cpurt_queue_t *const queue = queue_of(check, from);
    const cpurt_op_t op = {
        .kind = CPURT_OP_SET, .from = (uint8_t)from, .to = (uint8_t)to, .bit = (uint8_t)(1u << number)};

    cpurt_order_set(check, from, to, number);
    if (queue != NULL) {
        put(core, queue, &op);
        return;
    }
    while ((check->up[from][to] & op.bit) != 0) /* its last wait is still in the other pipe's queue */
        get_on(core, queue_of(check, to));
    check->up[from][to] |= op.bit;
}

void cpurt_check_flag_wait(cpurt_core_t *core, aicore_pipe_t from, aicore_pipe_t to, uint32_t number)
{
    cpurt_check_t *const check = core->check;
    cpurt_queue_t *const queue = queue_of(check, to);
    const cpurt_op_t op = {
        .kind = CPURT_OP_WAIT, .from = (uint8_t)from, .to = (uint8_t)to, .bit = (uint8_t)(1u << number)};

    cpurt_order_wait(check, from, to, number);
    if (queue != NULL) {
        put(core, queue, &op);
        return;
    }
    while ((check->up[from][to] & op.bit) == 0)
        get_on(core, queue_of(check, from));
    check->up[from][to] &= (uint8_t)~op.bit;
}

void cpurt_check_barrier(cpurt_core_t *core)
{
    cpurt_order_barrier(core->check);
    cpurt_check_drain(core);
}

void cpurt_check_touch(cpurt_core_t *core, aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, bool writes)
{
    cpurt_order_touch(core, pipe, ub, bytes, writes);
}
