/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between global memory and the unified buffer: the limits of the hardware, then the copy. */
#include "check.h"

#include <inttypes.h>
#include <string.h>

#include "element.h"
#include "word.h"

static void check_row(const char *call, const void *memory, uint64_t bytes)
{
    if (memory == NULL)
        cpurt_core_refuse("%s: the address in global memory is NULL", call);
    if (bytes == 0 || bytes > AICORE_COPY_MAX)
        cpurt_core_refuse("%s: %" PRIu64 " bytes; allowed are 1 to %u", call, bytes, AICORE_COPY_MAX);
}

static void check_buffer(const char *call, const cpurt_core_t *core, uint64_t ub, uint64_t bytes)
{
    if (ub % AICORE_UB_ALIGN != 0)
        cpurt_core_refuse("%s: address %" PRIu64 " of the unified buffer is not a multiple of %u", call, ub,
                          AICORE_UB_ALIGN);
    if (ub > core->seen.ub_bytes || bytes > core->seen.ub_bytes - ub)
        cpurt_core_refuse("%s: %" PRIu64 " bytes at %" PRIu64 " of the unified buffer, which has %u", call,
                          bytes, ub, core->seen.ub_bytes);
}

static void check_elements(const char *call, const cpurt_copy_t *copy)
{
    const uint32_t size = cpurt_element_bytes(copy->element);

    if ((uintptr_t)copy->memory % size != 0 || copy->bytes % size != 0 ||
        (copy->rows > 1 && copy->memory_step % size != 0))
        cpurt_core_refuse("%s: address %p, %u bytes and gap %" PRIu64
                          " are to be multiples of the %u bytes of the element that is added",
                          call, (void *)copy->memory, copy->bytes, copy->memory_step - copy->bytes, size);
}

static void issue(const char *call, cpurt_core_t *core, const cpurt_copy_t *copy)
{
    if (copy->element != AICORE_PLAIN)
        check_elements(call, copy);
    if (core->check != NULL)
        cpurt_check_copy(core, call, copy);
    else
        cpurt_copy_run(core, copy);
}

static void copy_plain(const char *call, bool in, void *memory, uint64_t ub, uint64_t bytes)
{
    cpurt_core_t *const core = cpurt_core_needed(call);

    check_row(call, memory, bytes);
    check_buffer(call, core, ub, in ? cpurt_ub_rounded(bytes) : bytes);
    const cpurt_copy_t copy = {.in = in,
                               .element = in ? AICORE_PLAIN : core->element,
                               .memory = memory,
                               .ub = ub,
                               .rows = 1,
                               .bytes = (uint32_t)bytes,
                               .memory_step = bytes,
                               .ub_step = cpurt_ub_rounded(bytes)};
    issue(call, core, &copy);
}

static void copy_rows(const char *call, bool in, void *memory, uint64_t ub, const aicore_rows_t *rows)
{
    cpurt_core_t *const core = cpurt_core_needed(call);

    if (rows == NULL)
        cpurt_core_refuse("%s: the description of the rows is NULL", call);
    check_row(call, memory, rows->bytes);
    if (rows->count == 0 || rows->count > AICORE_COPY_ROWS_MAX)
        cpurt_core_refuse("%s: %u rows; allowed are 1 to %u", call, rows->count, AICORE_COPY_ROWS_MAX);
    const uint64_t step = cpurt_ub_rounded(rows->bytes) + (uint64_t)rows->ub_gap * AICORE_UB_ALIGN;
    check_buffer(call, core, ub,
                 (rows->count - 1) * step + (in ? cpurt_ub_rounded(rows->bytes) : rows->bytes));
    const cpurt_copy_t copy = {.in = in,
                               .element = in ? AICORE_PLAIN : core->element,
                               .memory = memory,
                               .ub = ub,
                               .rows = rows->count,
                               .bytes = rows->bytes,
                               .memory_step = (uint64_t)rows->bytes + rows->memory_gap,
                               .ub_step = step};
    issue(call, core, &copy);
}

void aicore_copy_in(uint64_t ub, const void *from, uint64_t bytes)
{
    copy_plain("aicore_copy_in", true, (void *)(uintptr_t)from, ub, bytes);
}

void aicore_copy_out(void *to, uint64_t ub, uint64_t bytes)
{
    copy_plain("aicore_copy_out", false, to, ub, bytes);
}

void aicore_copy_in_rows(uint64_t ub, const void *from, const aicore_rows_t *rows)
{
    copy_rows("aicore_copy_in_rows", true, (void *)(uintptr_t)from, ub, rows);
}

void aicore_copy_out_rows(void *to, uint64_t ub, const aicore_rows_t *rows)
{
    copy_rows("aicore_copy_out_rows", false, to, ub, rows);
}

void aicore_atomic_mode(aicore_element_t element)
{
    cpurt_core_t *const core = cpurt_core_needed("aicore_atomic_mode");

    if ((uint32_t)element > AICORE_ADD_BFLOAT16)
        cpurt_core_refuse("aicore_atomic_mode: there is no kind of element %d", (int)element);
    core->element = element;
}

/* --- Carrying it out --- */

/* Words that others wait for are copied whole, and order what comes with them. */
static bool copy_word(void *to, const void *from, uint64_t bytes)
{
    if (bytes > 8 || (bytes & (bytes - 1)) != 0 || ((uintptr_t)to | (uintptr_t)from) % bytes != 0)
        return false;
    cpurt_word_store(to, cpurt_word_load(from, (uint32_t)bytes), (uint32_t)bytes);
    return true;
}

static void copy_bytes(void *to, const void *from, uint64_t bytes)
{
    if (!copy_word(to, from, bytes))
        memcpy(to, from, bytes);
}

void cpurt_copy_run(const cpurt_core_t *core, const cpurt_copy_t *copy)
{
    unsigned char *memory = copy->memory, *ub = (unsigned char *)core->seen.ub + copy->ub;

    for (uint32_t row = 0; row < copy->rows; row++) {
        if (copy->in)
            copy_bytes(ub, memory, copy->bytes);
        else if (copy->element == AICORE_PLAIN)
            copy_bytes(memory, ub, copy->bytes);
        else
            cpurt_element_add(copy->element, memory, ub, copy->bytes);
        memory += copy->memory_step;
        ub += copy->ub_step;
    }
}

/* --- Past the buffer --- */

int aicore_copies_directly(void)
{
    const cpurt_core_t *const core = cpurt_core_running();

    return core == NULL || core->check == NULL;
}

void aicore_copy_through(void *to, const void *from, uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (!aicore_copies_directly())
        cpurt_core_refuse("aicore_copy_through: copies go through the buffer in checked mode; "
                          "aicore_copies_directly says so");
    if (to == NULL || from == NULL)
        cpurt_core_refuse("aicore_copy_through: an address in global memory is NULL");
    if (!copy_word(to, from, bytes))
        memmove(to, from, bytes);
}

void aicore_touch(aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, int writes)
{
    cpurt_core_t *const core = cpurt_core_needed("aicore_touch");

    if ((uint32_t)pipe >= AICORE_PIPE_COUNT)
        cpurt_core_refuse("aicore_touch: there is no pipe %d", (int)pipe);
    if (ub > core->seen.ub_bytes || bytes > core->seen.ub_bytes - ub)
        cpurt_core_refuse("aicore_touch: %" PRIu64 " bytes at %" PRIu64
                          " of the unified buffer, which has %u",
                          bytes, ub, core->seen.ub_bytes);
    if (core->check != NULL)
        cpurt_check_touch(core, pipe, ub, bytes, writes != 0);
}
