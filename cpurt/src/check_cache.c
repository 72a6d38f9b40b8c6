/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar unit's cache: lines of 64 bytes that see nothing of what others store until they are invalidated, and
 * stores that nobody sees until they are written back. Only bytes that were stored are written back. Lines also come
 * and go on their own, as in any cache; a kernel that relies on neither works with both.
 */
#include <inttypes.h>
#include <string.h>

#include "check_state.h"
#include "word.h"

#define FETCHES 16 /* attempts to see a line as it was at one moment */

void cpurt_lines_begin(cpurt_check_t *check)
{
    memset(check->lines, 0, sizeof check->lines);
}

static uint64_t line_of(const volatile void *address)
{
    return (uint64_t)(uintptr_t)address / CPURT_LINE * CPURT_LINE;
}

static cpurt_line_t *set_of(cpurt_check_t *check, uint64_t line)
{
    return check->lines[line / CPURT_LINE % CPURT_LINE_SETS];
}

static cpurt_line_t *find(cpurt_check_t *check, uint64_t line)
{
    cpurt_line_t *const set = set_of(check, line);

    for (uint32_t way = 0; way < CPURT_LINE_WAYS; way++)
        if (set[way].address == line)
            return &set[way];
    return NULL;
}

/* --- Memory --- */

/* Neighbours of the word somebody asked for belong to others, who know nothing of this: no checker should look. */
__attribute__((no_sanitize("address", "thread"))) static void look(uint64_t line, uint64_t *words)
{
    for (uint32_t i = 0; i < CPURT_LINE / 8; i++)
        words[i] = __atomic_load_n((const uint64_t *)(uintptr_t)line + i, __ATOMIC_ACQUIRE);
}

/* A line arrives as it was at one moment; here it is read by words, so until it comes out the same twice. */
static void fetch(cpurt_line_t *line, uint64_t address)
{
    uint64_t words[CPURT_LINE / 8], again[CPURT_LINE / 8];

    look(address, words);
    for (int i = 0; i < FETCHES; i++) {
        look(address, again);
        if (memcmp(words, again, sizeof words) == 0)
            break;
        memcpy(words, again, sizeof words);
    }
    line->address = address;
    line->dirty = 0;
    memcpy(line->bytes, words, sizeof words);
}

static uint64_t bits(uint32_t offset, uint32_t bytes)
{
    return ((UINT64_C(1) << bytes) - 1) << offset; /* bytes is 8 at most */
}

/* In words as large as were stored, so that nobody sees half of one. */
static void write_back(cpurt_line_t *line)
{
    for (uint32_t offset = 0; offset < CPURT_LINE;) {
        uint32_t bytes = 8;
        uint64_t value = 0;

        while (bytes > 1 && (offset % bytes != 0 || (~line->dirty & bits(offset, bytes)) != 0))
            bytes /= 2;
        memcpy(&value, line->bytes + offset, bytes);
        if ((line->dirty & bits(offset, bytes)) != 0)
            cpurt_word_store((void *)(uintptr_t)(line->address + offset), value, bytes);
        offset += bytes;
    }
    line->dirty = 0;
}

static void let_go(cpurt_line_t *line)
{
    if (line->dirty != 0)
        write_back(line);
    line->address = 0;
}

static cpurt_line_t *get(cpurt_check_t *check, const volatile void *address, bool *found)
{
    const uint64_t wanted = line_of(address);
    cpurt_line_t *line = find(check, wanted);

    *found = line != NULL;
    if (line != NULL)
        return line;
    cpurt_line_t *const set = set_of(check, wanted);
    for (uint32_t way = 0; way < CPURT_LINE_WAYS && line == NULL; way++)
        if (set[way].address == 0)
            line = &set[way];
    if (line == NULL)
        line = &set[cpurt_check_below(check, CPURT_LINE_WAYS)];
    let_go(line);
    fetch(line, wanted);
    return line;
}

/* Some other line had to make room. */
static void evict_by_chance(cpurt_check_t *check)
{
    if (cpurt_check_chance(check, check->evictions))
        let_go(&check->lines[cpurt_check_below(check, CPURT_LINE_SETS)]
                            [cpurt_check_below(check, CPURT_LINE_WAYS)]);
}

/* --- Loads and stores --- */

uint64_t cpurt_check_load(cpurt_core_t *core, const volatile void *address, uint32_t bytes)
{
    const uint32_t offset = (uint32_t)((uintptr_t)address % CPURT_LINE);
    bool found = false;
    uint64_t value = 0;

    evict_by_chance(core->check);
    const cpurt_line_t *const line = get(core->check, address, &found);
    memcpy(&value, line->bytes + offset, bytes);
    const uint64_t now = cpurt_word_load(address, bytes);
    if (found && (line->dirty & bits(offset, bytes)) == 0 && now != value)
        cpurt_check_report(core,
                           "aicore_load: the cache holds %" PRIu64
                           " for the %u-byte word at %p, memory has %" PRIu64
                           " by now; an aicore_cache_line before the load is missing",
                           value, bytes, (const void *)(uintptr_t)address, now);
    return value;
}

void cpurt_check_store(cpurt_core_t *core, volatile void *address, uint64_t value, uint32_t bytes)
{
    const uint32_t offset = (uint32_t)((uintptr_t)address % CPURT_LINE);
    bool found = false;

    evict_by_chance(core->check);
    cpurt_line_t *const line = get(core->check, address, &found);
    memcpy(line->bytes + offset, &value, bytes);
    line->dirty |= bits(offset, bytes);
}

/* Lets go of a line on the kernel's word; true when others see something new. */
static bool clean(cpurt_line_t *line)
{
    const bool news = line->dirty != 0;

    if (line->address != 0)
        let_go(line);
    return news;
}

static bool clean_between(cpurt_check_t *check, uint64_t first, uint64_t last)
{
    bool news = false;

    for (uint32_t i = 0; i < CPURT_LINE_SETS * CPURT_LINE_WAYS; i++) {
        cpurt_line_t *const line = &check->lines[i / CPURT_LINE_WAYS][i % CPURT_LINE_WAYS];

        if (line->address >= first && line->address <= last)
            news = clean(line) || news;
    }
    return news;
}

void cpurt_check_cache_range(cpurt_core_t *core, const volatile void *address, uint64_t bytes)
{
    const uint64_t first = line_of(address),
                   last = (uint64_t)(uintptr_t)address + (bytes == 0 ? 0 : bytes - 1);
    bool news = false;

    if (last - first >= CPURT_LINE * CPURT_LINE_SETS) {
        news = clean_between(core->check, first, last); /* longer than the cache: by its lines, then */
    } else {
        for (uint64_t at = first; at <= last; at += CPURT_LINE) {
            cpurt_line_t *const line = find(core->check, at);

            if (line != NULL)
                news = clean(line) || news;
        }
    }
    if (news)
        cpurt_check_dawdle(core);
}

void cpurt_check_cache_all(cpurt_core_t *core)
{
    if (clean_between(core->check, 1, UINT64_MAX))
        cpurt_check_dawdle(core);
}

/* --- Copies and the end --- */

static void check_row(const cpurt_core_t *core, const char *call, bool reads, const cpurt_line_t *line,
                      uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < CPURT_LINE; i++) {
        const uint64_t at = line->address + i;

        if (at >= begin && at < end && (line->dirty >> i & 1) != 0)
            cpurt_check_report(core,
                               "%s: %s %#" PRIx64
                               ", where the scalar unit has stored and not written back; an "
                               "aicore_cache_line after the store is missing",
                               call, reads ? "reads" : "writes", at);
    }
}

void cpurt_lines_copy(const cpurt_core_t *core, const char *call, const cpurt_copy_t *copy)
{
    for (uint32_t i = 0; i < CPURT_LINE_SETS * CPURT_LINE_WAYS; i++) {
        const cpurt_line_t *const line = &core->check->lines[i / CPURT_LINE_WAYS][i % CPURT_LINE_WAYS];

        if (line->address == 0 || line->dirty == 0)
            continue;
        for (uint32_t row = 0; row < copy->rows; row++) {
            const uint64_t begin = (uint64_t)(uintptr_t)copy->memory + row * copy->memory_step;

            if (begin < line->address + CPURT_LINE && begin + copy->bytes > line->address)
                check_row(core, call, copy->in, line, begin, begin + copy->bytes);
        }
    }
}

void cpurt_lines_end(const cpurt_core_t *core)
{
    for (uint32_t i = 0; i < CPURT_LINE_SETS * CPURT_LINE_WAYS; i++) {
        const cpurt_line_t *const line = &core->check->lines[i / CPURT_LINE_WAYS][i % CPURT_LINE_WAYS];

        if (line->address != 0 && line->dirty != 0)
            cpurt_check_report(core,
                               "the kernel ends with a store to %#" PRIx64 " that was never written back; an "
                               "aicore_cache_line after it is missing",
                               line->address + (uint64_t)__builtin_ctzll(line->dirty));
    }
}
