/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers and strides past 32 bits: 4 GiB and 16 bytes in one call, offsets past 8 GiB. The source is mostly pages that
 * nobody has touched, so little more memory is needed than the target's; where that is missing the test is skipped.
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

static void skip_without_memory(void)
{
#ifdef UNDER_TSAN
    t_skip("the thread sanitizer would need four times the memory");
#endif
    uint64_t have = number_in("/proc/meminfo", "MemAvailable:") << 10;
    uint64_t limit = number_in("/sys/fs/cgroup/memory.max", ""),
             used = number_in("/sys/fs/cgroup/memory.current", "");
    if (limit != 0 && limit - used < have)
        have = limit - used;
    if (have < 10 * gib)
        t_skip("%llu MiB of memory are available, 10 GiB are needed", (unsigned long long)(have >> 20));
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

int main(void)
{
    skip_without_memory();
    pe_init(9 * gib);
    int me = aclshmem_my_pe(), last = aclshmem_n_pes() - 1;
    long_strides(me, last);
    long_transfers(me, last);
    pe_finalize();
    return 0;
}
