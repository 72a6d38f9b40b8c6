/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers and strides past 32 bits: 4 GiB and 16 bytes in one call, offsets past 8 GiB. The source is mostly pages that
 * nobody has touched, so little more memory is needed than the target's; where that is missing the test is skipped.
 *
 *     large [all]    all: every kind of transfer, by hand, since each takes seconds and collectives 18 GiB
 *
 * [D-18] [D-19]
 * [R-11]
 */
#include <string.h>
#include <sys/mman.h>

#include "pe.h"
#include "support/support.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#define VOID(pointer) ((void *)(pointer))

static const uint64_t gib = UINT64_C(1) << 30;
static const size_t bytes = ((size_t)4 << 30) + 16;
enum { STEP = 1 << 20, GUARD = 64 };

/* The number behind a prefix at the start of a line; 0 when there is none. */
static uint64_t number_in(const char *path, const char *prefix)
{
    uint64_t value = 0;
    char line[256];
    FILE *file = fopen(path, "re");
    while (file != NULL && value == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, prefix, strlen(prefix)) == 0)
            value = strtoull(line + strlen(prefix), NULL, 10);
    if (file != NULL)
        fclose(file);
    return value;
}

static void skip_without_memory(uint64_t needed)
{
#ifdef UNDER_TSAN
    t_skip("the thread sanitizer would need four times the memory");
#endif
    uint64_t have = number_in("/proc/meminfo", "MemAvailable:") << 10;
    uint64_t limit = number_in("/sys/fs/cgroup/memory.max", ""),
             used = number_in("/sys/fs/cgroup/memory.current", "");
    if (limit != 0 && limit - used < have)
        have = limit - used;
    if (have < needed)
        t_skip("%llu MiB of memory are available, %llu are needed", (unsigned long long)(have >> 20),
               (unsigned long long)(needed >> 20));
}

/* What stands at a place of the source: some words in every MiB, and all about the places where 32 bits end. */
static uint64_t pattern(size_t offset, uint64_t round)
{
    return (offset + 1) * UINT64_C(0x9e3779b97f4a7c15) + round;
}

static void write_pattern(char *memory, uint64_t round)
{
    for (size_t at = 0; at + 8 <= bytes; at += STEP) {
        uint64_t word = pattern(at, round);
        memcpy(memory + at, &word, 8);
    }
    for (size_t at = bytes - 4096; at + 8 <= bytes; at += 8) {
        uint64_t word = pattern(at, round);
        memcpy(memory + at, &word, 8);
    }
}

static void check_pattern(const char *memory, uint64_t round)
{
    uint64_t word;
    for (size_t at = 0; at + 8 <= bytes - 4096; at += STEP) {
        memcpy(&word, memory + at, 8);
        CHECK(word == pattern(at, round));
        memcpy(&word, memory + at + 8, 8);
        CHECK(word == 0);
    }
    for (size_t at = bytes - 4096; at + 8 <= bytes; at += 8) {
        memcpy(&word, memory + at, 8);
        CHECK(word == pattern(at, round));
    }
    for (size_t i = 0; i < GUARD; i++)
        CHECK_INT(memory[bytes + i], 0x33);
}

static char *local_memory(void)
{
    char *memory =
        mmap(NULL, bytes + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* PE 0 writes to the last PE, then reads back. */
static void long_transfers(int me, int last)
{
    char *there = aclshmem_malloc(bytes + GUARD), *here = local_memory();
    CHECK(there != NULL);
    memset(there + bytes, 0x33, GUARD);
    memset(here + bytes, 0x44, GUARD);
    write_pattern(here, 1);
    aclshmem_barrier_all();
    if (me == 0)
        aclshmem_putmem(there, here, bytes, last);
    aclshmem_barrier_all();
    if (me == last)
        check_pattern(there, 1);
    aclshmem_barrier_all();
    write_pattern(here, 2);
    if (me == 0)
        aclshmem_put128(there, here, (1u << 28) + 1, last);
    aclshmem_barrier_all();
    if (me == last)
        check_pattern(there, 2);
    aclshmem_barrier_all();
    if (me == 0) {
        memset(here + bytes - 8192, 0, 8192);
        memset(here + bytes, 0x33, GUARD);
        aclshmemx_getmem_on_stream(here, there, bytes, last, NULL);
        aclshmem_quiet();
        check_pattern(here, 2);
    }
    aclshmem_barrier_all();
    CHECK_INT(munmap(here, bytes + GUARD), 0);
    aclshmem_free(there);
}

/* Elements more than 4 GiB apart. */
static void long_strides(int me, int last)
{
    static const ptrdiff_t stride = ((ptrdiff_t)1 << 29) + 1; /* 4 GiB and 8 bytes */
    int64_t *there = aclshmem_malloc(8 * gib + 64), here[3] = {11, 22, 33}, back[6] = {0};
    CHECK(there != NULL);
    for (ptrdiff_t i = 0; i < 3; i++) /* what a cut to 32 bits would hit */
        there[i] = there[i * stride] = 7;
    aclshmem_barrier_all();
    if (me == 0)
        aclshmem_int64_iput(there, here, stride, 1, 3, last);
    aclshmem_barrier_all();
    if (me == last)
        CHECK(there[0] == 11 && there[stride] == 22 && there[2 * stride] == 33 && there[1] == 7 &&
              there[2] == 7);
    aclshmem_barrier_all(); /* the next put changes what was just checked */
    if (me == 0) {
        aclshmem_iget64(back, there, 2, stride, 3, last);
        CHECK(back[0] == 11 && back[2] == 22 && back[4] == 33 && back[1] == 0);
        aclshmem_int64_p(&there[stride], 44, last);
        CHECK(aclshmem_int64_g(&there[stride], last) == 44);
    }
    aclshmem_barrier_all();
    aclshmem_free(there);
}

/* --- Every kind of transfer --- */

typedef struct operands {
    char *there, *here; /* bytes and a guard each */
    char *wide;         /* local, twice as long: elements of 8 bytes with gaps between them */
    int32_t *signal;
    int last;
} operands_t;

static void by_put_nbi(const operands_t *o)
{
    aclshmem_putmem_nbi(o->there, o->here, bytes, o->last);
}

static void by_typed_put(const operands_t *o)
{
    aclshmem_int16_put(VOID(o->there), VOID(o->here), bytes / 2, o->last);
}

static void by_put8_nbi(const operands_t *o) /* a count of 32 bits: all it can say, and the rest */
{
    aclshmem_put8_nbi(o->there, o->here, UINT32_MAX, o->last);
    aclshmem_put8_nbi(o->there + UINT32_MAX, o->here + UINT32_MAX, (uint32_t)(bytes - UINT32_MAX), o->last);
}

static void by_iput(const operands_t *o)
{
    aclshmem_iput64(o->there, o->here, 1, 1, bytes / 8, o->last);
}

static void by_iput_with_gaps(const operands_t *o)
{
    for (size_t at = 0; at + 8 <= bytes; at += at + STEP < bytes - 4096 ? STEP : 8)
        memcpy(o->wide + 2 * at, o->here + at, 8);
    aclshmem_int64_iput(VOID(o->there), VOID(o->wide), 1, 2, bytes / 8, o->last);
}

static void by_put_signal(const operands_t *o)
{
    aclshmem_put64_signal(o->there, o->here, bytes / 8, o->signal, 1, ACLSHMEM_SIGNAL_ADD, o->last);
}

static void by_putmem_signal_nbi(const operands_t *o)
{
    aclshmemx_putmem_signal_nbi(o->there, o->here, bytes, o->signal, 1, ACLSHMEM_SIGNAL_ADD, o->last);
}

static void by_stream(const operands_t *o)
{
    aclshmemx_putmem_on_stream(o->there, o->here, bytes, o->last, NULL);
    aclshmemx_signal_op_on_stream(o->signal, 1, ACLSHMEM_SIGNAL_ADD, o->last, NULL);
}

static void back_by_get(const operands_t *o)
{
    aclshmem_getmem(o->here, o->there, bytes, o->last);
}

static void back_by_get_nbi(const operands_t *o)
{
    aclshmem_double_get_nbi(VOID(o->here), VOID(o->there), bytes / 8, o->last);
}

static void back_by_iget(const operands_t *o)
{
    aclshmem_iget128(o->here, o->there, 1, 1, bytes / 16, o->last);
}

static const struct {
    void (*move)(const operands_t *o);
    bool signals, back;
} kinds[] = {
    {by_put_nbi, false, false},          {by_typed_put, false, false},      {back_by_get, false, true},
    {by_put8_nbi, false, false},         {back_by_get_nbi, false, true},    {by_iput, false, false},
    {back_by_iget, false, true},         {by_iput_with_gaps, false, false}, {by_put_signal, true, false},
    {by_putmem_signal_nbi, true, false}, {by_stream, true, false}};

/* What is at the last PE has the number of the last put; a get brings that. */
static void every_kind(int me, int last)
{
    operands_t o = {.there = aclshmem_malloc(bytes + GUARD), .here = local_memory(), .last = last};
    o.signal = aclshmem_calloc(1, sizeof *o.signal);
    o.wide =
        mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(o.there != NULL && o.signal != NULL && o.wide != MAP_FAILED);
    memset(o.there + bytes, 0x33, GUARD);
    memset(o.here + bytes, 0x33, GUARD);
    uint64_t round = 0;
    int32_t signals = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        round += !kinds[i].back;
        signals += kinds[i].signals;
        if (me == 0 && kinds[i].back)
            memset(o.here + bytes - 8192, 0x77, 8192);
        else if (me == 0)
            write_pattern(o.here, round);
        aclshmem_barrier_all();
        if (me == 0)
            kinds[i].move(&o);
        if (me == 0 && kinds[i].back) {
            aclshmem_quiet();
            check_pattern(o.here, round);
        }
        if (kinds[i].signals && me == last)
            aclshmem_signal_wait_until(o.signal, ACLSHMEM_CMP_EQ, signals); /* and no barrier in between */
        else
            aclshmem_barrier_all();
        if (me == last && !kinds[i].back)
            check_pattern(o.there, round);
        if (kinds[i].signals && me == last)
            aclshmem_barrier_all();
        aclshmem_barrier_all();
    }
    CHECK_INT(munmap(o.wide, 2 * bytes), 0);
    CHECK_INT(munmap(o.here, bytes + GUARD), 0);
    aclshmem_free(o.signal);
    aclshmem_free(o.there);
}

/* A broadcast of more than 4 GiB from the last member, and its sum of bits with itself, in place. */
static void collectives(int me, int last)
{
    char *block = aclshmem_malloc(bytes + GUARD);
    CHECK(block != NULL);
    memset(block + bytes, 0x33, GUARD);
    if (me == last)
        write_pattern(block, 5);
    aclshmem_barrier_all();
    CHECK_INT(aclshmem_broadcastmem(ACLSHMEM_TEAM_WORLD, block, block, bytes, last), 0);
    check_pattern(block, 5);
    aclshmem_barrier_all();
    CHECK_INT(aclshmem_uint64_or_reduce(ACLSHMEM_TEAM_WORLD, VOID(block), VOID(block), bytes / 8), 0);
    check_pattern(block, 5);
    aclshmem_free(block);
}

/* --- Collectives whose parts end past 4 GiB --- */

enum { PIECE_STEP = 1 << 20 };
static const size_t piece = ((size_t)2 << 30) + 8; /* two of them are `bytes` */

static uint64_t word_of(int from, int to, size_t offset)
{
    return UINT64_C(0x9e3779b97f4a7c15) * (offset + 1) ^ (uint64_t)(from * 256 + to);
}

/* Some words of a piece, the last one included. */
static void write_piece(char *memory, int from, int to)
{
    for (size_t at = 0; at < piece;
         at = at + PIECE_STEP < piece || at == piece - 8 ? at + PIECE_STEP : piece - 8)
        *(uint64_t *)VOID(memory + at) = word_of(from, to, at);
}

static void check_piece(const char *memory, int from, int to)
{
    for (size_t at = 0; at < piece;
         at = at + PIECE_STEP < piece || at == piece - 8 ? at + PIECE_STEP : piece - 8)
        CHECK(*(const uint64_t *)(const void *)(memory + at) == word_of(from, to, at));
}

static void collectives_by_pieces(int me)
{
    char *dest = aclshmem_malloc(bytes), *source = aclshmem_malloc(bytes);
    CHECK(dest != NULL && source != NULL);
    write_piece(source, me, 7);
    CHECK_INT(aclshmem_fcollectmem(ACLSHMEM_TEAM_WORLD, dest, source, piece), 0);
    check_piece(dest, 0, 7);
    check_piece(dest + piece, 1, 7);
    write_piece(source, me, 8);
    CHECK_INT(aclshmem_uint64_collect(ACLSHMEM_TEAM_WORLD, VOID(dest), VOID(source), piece / 8), 0);
    check_piece(dest, 0, 8);
    check_piece(dest + piece, 1, 8);
    write_piece(source, me, 0);
    write_piece(source + piece, me, 1);
    CHECK_INT(aclshmem_alltoallmem(ACLSHMEM_TEAM_WORLD, dest, source, piece), 0);
    check_piece(dest, 0, me);
    check_piece(dest + piece, 1, me);
    /* Where both PEs have the same words, their bits or'ed are those words. */
    write_piece(source, 5, 0);
    write_piece(source + piece, 5, 1);
    CHECK_INT(aclshmem_uint64_or_reduce_scatter(ACLSHMEM_TEAM_WORLD, VOID(dest), VOID(source), piece / 8), 0);
    check_piece(dest, 5, me);
    aclshmem_free(source);
    aclshmem_free(dest);
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    CHECK(argc == 1 || all);
    skip_without_memory((all ? 18 : 10) * gib);
    pe_init(9 * gib);
    int me = aclshmem_my_pe(), last = aclshmem_n_pes() - 1;
    long_strides(me, last);
    long_transfers(me, last);
    if (all) {
        every_kind(me, last);
        collectives(me, last);
        if (aclshmem_n_pes() == 2)
            collectives_by_pieces(me);
    }
    pe_finalize();
    return 0;
}
