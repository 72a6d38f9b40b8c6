/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked mode: kernels that are right are left alone whatever the seed, and those with a planted mistake are caught,
 * by a report or by what comes out. CPURT_CHECK_SEEDS is how many seeds the right ones are run with.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_kernels.h"

#if defined(__SANITIZE_THREAD__)
#define RACES_ARE_SEEN 1 /* by the sanitizer, which would end the test */
#else
#define RACES_ARE_SEEN 0
#endif

enum { BLOCKS = 4, BUG_SEEDS = 200 };

typedef void expect_t(const uint32_t *in, uint32_t *out);

static void all_words(const uint32_t *in, uint32_t *out)
{
    memcpy(out, in, CHECK_WORDS * sizeof *out);
}

static void starts_of_chunks(const uint32_t *in, uint32_t *out)
{
    for (uint32_t i = 0; i < CHECK_CHUNKS; i++)
        memcpy(out + i * CHECK_CHUNK, in + i * CHECK_CHUNK, 13 * sizeof *out);
}

static void lines(const uint32_t *in, uint32_t *out)
{
    memcpy(out, in, BLOCKS * CHECK_LINE * sizeof *out);
}

static void even_chunks(const uint32_t *in, uint32_t *out)
{
    for (uint32_t i = 0; i < BLOCKS; i += 2)
        memcpy(out + i * CHECK_CHUNK, in + i * CHECK_CHUNK, CHECK_CHUNK_BYTES);
}

static void chunk_per_pair(const uint32_t *in, uint32_t *out)
{
    memcpy(out, in, BLOCKS / 2 * CHECK_CHUNK_BYTES);
}

static void word_per_block(const uint32_t *in, uint32_t *out)
{
    memcpy(out, in, BLOCKS * sizeof *out);
}

static void sums(const uint32_t *in, uint32_t *out)
{
    for (uint32_t i = 0; i < CHECK_CHUNK; i++)
        out[i] = BLOCKS * in[i];
}

typedef struct bug {
    const char *kernel;
    uint32_t bug;
    expect_t *expect;
    const char *words; /* of the report; NULL: what comes out is wrong */
    bool races;        /* for memory, as thread sanitizers see it */
} bug_t;

static const bug_t bugs[] = {
    {"check_through", 1, all_words, "no flag from MTE3 to MTE2 comes between", false},
    {"check_through", 2, all_words, "no flag from MTE2 to MTE3 comes between", false},
    {"check_through", 3, all_words, "no flag from MTE2 to MTE3 comes between", false},
    {"check_through", 4, all_words, "no flag from MTE2 to MTE3 comes between", false},
    {"check_through", 5, all_words, "no flag from MTE2 to MTE3 comes between", false},
    {"check_through", 6, all_words, "flag 1 from MTE3 to MTE2 is still up at the end", false},
    {"check_through", 7, all_words, "nobody has set flag 1 from MTE3 to MTE2", false},
    {"check_two_buffers", 1, all_words, "bytes 992 to 1023 of the unified buffer", false},
    {"check_two_buffers", 2, all_words, "no flag from MTE3 to MTE2 comes between", false},
    {"check_vector", 1, all_words, "no flag from V to MTE2 comes between", false},
    {"check_vector", 2, all_words, "no flag from MTE2 to V comes between", false},
    {"check_vector", 3, all_words, "no flag from MTE3 to V comes between", false},
    {"check_vector", 4, all_words, "no flag from V to MTE3 comes between", false},
    {"check_scalar_fill", 1, all_words, "no flag from S to MTE3 comes between", false},
    {"check_scalar_fill", 2, all_words, "no flag from MTE3 to S comes between", false},
    {"check_scalar_fill", 3, all_words, NULL, false},
    {"check_scalar_read", 1, starts_of_chunks, "no flag from MTE2 to S comes between", false},
    {"check_scalar_read", 2, starts_of_chunks, NULL, false},
    {"check_scalar_read", 3, starts_of_chunks, "never written back", false},
    {"check_scalar_read", 4, starts_of_chunks, NULL, false},
    {"check_there_and_back", 1, all_words, "global memory", false},
    {"check_store_and_copy", 1, lines, "aicore_copy_in: reads", false},
    {"check_store_and_copy", 2, lines, "aicore_copy_out: writes", false},
    {"check_message", 1, even_chunks, NULL, true},
    {"check_message", 2, even_chunks, "never written back", false},
    {"check_message", 3, even_chunks, "aicore_cache_line before the load is missing", false},
    {"check_message", 4, even_chunks, "aicore_cache_line before the load is missing", true},
    {"check_message", 5, even_chunks, NULL, true},
    {"check_release", 1, chunk_per_pair, NULL, true},
    {"check_meeting", 1, word_per_block, NULL,
     false}, /* or the report that it was lost, whichever comes first */
    {"check_meeting", 2, word_per_block, "aicore_cache_line before the load is missing", false},
    {"check_reduce", 1, sums, NULL, true},
};
enum { BUGS = sizeof bugs / sizeof bugs[0] };

typedef struct {
    uint32_t *in, *out, *words, *expected;
} areas_t;

static areas_t areas;

static int make_areas(void **state)
{
    (void)state;
    uint32_t *const memory = aligned_alloc(64, 4 * CHECK_WORDS * sizeof *memory);

    if (memory == NULL)
        return -1;
    areas = (areas_t){memory, memory + CHECK_WORDS, memory + 2 * CHECK_WORDS, memory + 3 * CHECK_WORDS};
    for (uint32_t i = 0; i < CHECK_WORDS; i++)
        areas.in[i] = i * 2654435761u | 1;
    return setenv("SHMEM_CPU_CHECK", "1", 1);
}

static int free_areas(void **state)
{
    (void)state;
    free(areas.in);
    return unsetenv("SHMEM_CPU_CHECK") == 0 && unsetenv("SHMEM_CPU_CHECK_SEED") == 0 ? 0 : -1;
}

static void begin(uint32_t seed)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%u", seed);
    assert_int_equal(setenv("SHMEM_CPU_CHECK_SEED", text, 1), 0);
    assert_int_equal(t_begin(NULL), 0);
}

/* Whether the kernel ended well and did what it should; the text of a report is left in 'said'. */
static bool runs_well(const bug_t *what, uint32_t bug, char *said, size_t size)
{
    const check_request_t job = {areas.in, areas.out, areas.words, bug};
    aclrtFuncHandle function = NULL;

    memset(areas.out, 0, CHECK_WORDS * sizeof *areas.out);
    memset(areas.words, 0, CHECK_WORDS * sizeof *areas.words);
    memset(areas.expected, 0, CHECK_WORDS * sizeof *areas.expected);
    what->expect(areas.in, areas.expected);
    ok(aclrtBinaryGetFunction(NULL, what->kernel, &function));
    ok(aclrtLaunchKernel(function, BLOCKS, &job, sizeof job, NULL));
    const aclError error = aclrtSynchronizeStream(NULL);
    (void)snprintf(said, size, "%s", error != ACL_SUCCESS ? aclGetRecentErrMsg() : "");
    return error == ACL_SUCCESS && memcmp(areas.out, areas.expected, CHECK_WORDS * sizeof *areas.out) == 0;
}

static bool is_caught(const bug_t *bug)
{
    char said[512] = "";
    bool caught = false;

    for (uint32_t seed = 1; seed <= BUG_SEEDS && !caught; seed++) {
        begin(seed);
        caught = !runs_well(bug, bug->bug, said, sizeof said);
        assert_int_equal(t_end(NULL), 0);
        if (caught)
            print_message("%s %u, seed %u: %s\n", bug->kernel, bug->bug, seed,
                          said[0] == '\0' ? "wrong data" : said);
    }
    if (caught && bug->words != NULL && strstr(said, bug->words) == NULL)
        fail_msg("%s %u: \"%s\" instead of \"%s\"", bug->kernel, bug->bug, said, bug->words);
    return caught;
}

static void mistakes_are_caught(void **state)
{
    uint32_t caught = 0, tried = 0;

    (void)state;
    for (size_t i = 0; i < BUGS; i++) {
        if (RACES_ARE_SEEN && bugs[i].races)
            continue;
        tried++;
        if (is_caught(&bugs[i]))
            caught++;
        else
            print_error("%s %u was not caught\n", bugs[i].kernel, bugs[i].bug);
    }
    assert_int_equal(caught, tried);
}

static uint32_t seeds(void)
{
    const char *const text = getenv("CPURT_CHECK_SEEDS");

    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 30;
}

static void right_kernels_are_left_alone(void **state)
{
    char said[512] = "";

    (void)state;
    for (uint32_t seed = 1; seed <= seeds(); seed++) {
        begin(seed);
        for (size_t i = 0; i < BUGS; i++) {
            if (i > 0 && strcmp(bugs[i].kernel, bugs[i - 1].kernel) == 0)
                continue;
            if (!runs_well(&bugs[i], 0, said, sizeof said))
                fail_msg("%s, seed %u: %s", bugs[i].kernel, seed, said[0] == '\0' ? "wrong data" : said);
        }
        assert_int_equal(t_end(NULL), 0);
    }
}

/* Without a seed one is chosen, said once, kept for the life of the process, and named in reports. */
static int chooses_a_seed(void *argument)
{
    const bug_t *const bug = &bugs[0];
    char said[512] = "", line[256] = "", ending[64];
    unsigned int seed = 0, again = 0;
    FILE *const notes = tmpfile();

    (void)argument;
    if (notes == NULL || unsetenv("SHMEM_CPU_CHECK_SEED") != 0 || dup2(fileno(notes), STDERR_FILENO) < 0)
        return 1;
    for (int i = 0; i < 3; i++) {
        if (t_begin(NULL) != 0 || runs_well(bug, bug->bug, said, sizeof said) || t_end(NULL) != 0)
            return 2;
        rewind(notes);
        if (fgets(line, sizeof line, notes) == NULL ||
            sscanf(line, "acl: checked mode, seed %u; SHMEM_CPU_CHECK_SEED=%u", &seed, &again) != 2 ||
            seed == 0 || seed != again || fgets(line, sizeof line, notes) != NULL)
            return 3;
        (void)snprintf(ending, sizeof ending, "[seed %u]", seed);
        if (strstr(said, ending) == NULL)
            return 4;
    }
    return 0;
}

static void a_run_can_be_repeated(void **state)
{
    (void)state;
    assert_int_equal(t_fork(chooses_a_seed, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_can_be_repeated), /* forks, so before anything else */
        cmocka_unit_test(right_kernels_are_left_alone),
        cmocka_unit_test(mistakes_are_caught),
    };

    return cmocka_run_group_tests(tests, make_areas, free_areas) == 0 ? 0 : 1;
}
