/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix of calls and bad arguments: every typed and sized family of the host, each with every mistake its
 * parameters allow. A mistake is told with a code and a text that names the call and the value, nothing is moved, nobody
 * waits, and the next right call works.
 */
#include <stdint.h>
#include <string.h>

#include "pe/pe.h"

enum { BYTES = 4096, GUARD = 0x5a };

static char *heap, *far_end; /* symmetric: a block, and the last byte of the heap */
static char local[BYTES];
static int refusals;

/* The statement must fail, its text name the call, and hold `value`. */
static void must_refuse(int line, const char *call, const char *value)
{
    int code = 0;
    const char *text = aclshmemx_last_error(&code);
    if (code >= 0 || strstr(text, call) == NULL || strstr(text, value) == NULL) {
        fprintf(stderr, "line %d: PE %d: %s gave code %d \"%s\", wanted: a failure with \"%s\" and \"%s\"\n",
                line, aclshmem_my_pe(), call, code, text, call, value);
        exit(1);
    }
    refusals++;
}
#define REFUSE(call, value, statement)                                                                       \
    do {                                                                                                     \
        aclshmemx_clear_error();                                                                             \
        statement;                                                                                           \
        must_refuse(__LINE__, call, value);                                                                  \
    } while (0)

static char too_large[16]; /* the number of PEs, as text */

/* Mistakes in PE and symmetric address, of a call that is statement(ADDRESS, PE). */
#define REFUSE_PLACE(call, TYPE, statement)                                                                  \
    do {                                                                                                     \
        REFUSE(call, "-1", statement((TYPE *)(void *)heap, -1));                                             \
        REFUSE(call, too_large, statement((TYPE *)(void *)heap, aclshmem_n_pes()));                          \
        REFUSE(call, "2147483647", statement((TYPE *)(void *)heap, INT32_MAX));                              \
        REFUSE(call, "", statement((TYPE *)NULL, 0));                                                        \
        REFUSE(call, "", statement((TYPE *)(void *)local, 0));                                               \
    } while (0)

/* --- Put and get --- */

/* What REFUSE_PLACE calls. */
#define PLACES(NAME, TYPE)                                                                                   \
    static void put_##NAME(TYPE *there, int pe)                                                              \
    {                                                                                                        \
        aclshmem_##NAME##_put(there, (TYPE *)(void *)local, 4, pe);                                          \
    }                                                                                                        \
    static void get_##NAME(TYPE *there, int pe)                                                              \
    {                                                                                                        \
        aclshmem_##NAME##_get((TYPE *)(void *)(local + 64), there, 4, pe);                                   \
    }                                                                                                        \
    static void p_##NAME(TYPE *there, int pe)                                                                \
    {                                                                                                        \
        aclshmem_##NAME##_p(there, (TYPE)1, pe);                                                             \
    }                                                                                                        \
    static void g_##NAME(TYPE *there, int pe)                                                                \
    {                                                                                                        \
        (void)aclshmem_##NAME##_g(there, pe);                                                                \
    }                                                                                                        \
    static void signal_##NAME(TYPE *there, int pe)                                                           \
    {                                                                                                        \
        aclshmem_##NAME##_put_signal(there, (TYPE *)(void *)local, 4, (uint8_t *)heap, 1, 0, pe);            \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_TYPE_FUNC(PLACES);

#define MOVE_TYPED(NAME, TYPE)                                                                               \
    static void move_##NAME(void)                                                                            \
    {                                                                                                        \
        TYPE *const mine = (TYPE *)(void *)local, *const there = (TYPE *)(void *)heap;                       \
        TYPE *const end = (TYPE *)(void *)(far_end + 1 - sizeof(TYPE));                                      \
        const size_t many = SIZE_MAX / sizeof(TYPE), wraps = sizeof(TYPE) == 1 ? many : many + 2;            \
        uint8_t *const bytes = (uint8_t *)heap;                                                              \
        REFUSE_PLACE("put", TYPE, put_##NAME);                                                               \
        REFUSE_PLACE("get", TYPE, get_##NAME);                                                               \
        REFUSE("put", "", aclshmem_##NAME##_put(there, NULL, 4, 0));                                         \
        REFUSE("get", "", aclshmem_##NAME##_get(NULL, there, 4, 0));                                         \
        REFUSE("put", "", aclshmem_##NAME##_put(end, mine, 2, 0));                                           \
        REFUSE("get", "", aclshmem_##NAME##_get(mine, end, 2, 0));                                           \
        REFUSE("put", "", aclshmem_##NAME##_put(there, mine, many, 0));                                      \
        REFUSE("get", "", aclshmem_##NAME##_get(mine, there, wraps, 0));                                     \
        REFUSE("put_nbi", "-1", aclshmem_##NAME##_put_nbi(there, mine, 4, -1));                              \
        REFUSE("get_nbi", "-1", aclshmem_##NAME##_get_nbi(mine, there, 4, -1));                              \
        REFUSE("put_nbi", "", aclshmem_##NAME##_put_nbi(end, mine, 2, 0));                                   \
        REFUSE("iput", "-1", aclshmem_##NAME##_iput(there, mine, 1, 1, 4, -1));                              \
        REFUSE("iput", "0", aclshmem_##NAME##_iput(there, mine, 0, 1, 4, 0));                                \
        REFUSE("iput", "-3", aclshmem_##NAME##_iput(there, mine, 1, -3, 4, 0));                              \
        REFUSE("iput", "", aclshmem_##NAME##_iput(end, mine, 1, 1, 2, 0));                                   \
        REFUSE("iput", "", aclshmem_##NAME##_iput(there, mine, PTRDIFF_MAX, 1, 3, 0));                       \
        REFUSE("iget", "0", aclshmem_##NAME##_iget(mine, there, 1, 0, 4, 0));                                \
        REFUSE("iget", "", aclshmem_##NAME##_iget(NULL, there, 1, 1, 4, 0));                                 \
        REFUSE_PLACE("_p", TYPE, p_##NAME);                                                                  \
        REFUSE_PLACE("_g", TYPE, g_##NAME);                                                                  \
        REFUSE_PLACE("put_signal", TYPE, signal_##NAME);                                                     \
        REFUSE("put_signal", "7", aclshmem_##NAME##_put_signal(there, mine, 4, bytes, 1, 7, 0));             \
        REFUSE("put_signal", "", aclshmem_##NAME##_put_signal(there, mine, 4, NULL, 1, 0, 0));               \
        REFUSE("put_signal", "", aclshmem_##NAME##_put_signal(there, mine, 4, bytes + 1, 1, 0, 0));          \
        REFUSE("put_signal_nbi", "-1", aclshmem_##NAME##_put_signal_nbi(there, mine, 4, bytes, 1, 0, -1));   \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_TYPE_FUNC(MOVE_TYPED);

#define MOVE_BITS(BITS)                                                                                      \
    static void move_##BITS(void)                                                                            \
    {                                                                                                        \
        int32_t *const word = (int32_t *)(void *)heap;                                                       \
        REFUSE("put" #BITS, "-1", aclshmem_put##BITS(heap, local, 4, -1));                                   \
        REFUSE("put" #BITS, too_large, aclshmem_put##BITS##_nbi(heap, local, 4, aclshmem_n_pes()));          \
        REFUSE("put" #BITS, "", aclshmem_put##BITS(local, heap, 4, 0));                                      \
        REFUSE("put" #BITS, "", aclshmem_put##BITS(far_end, local, 2, 0));                                   \
        REFUSE("get" #BITS, "-1", aclshmem_get##BITS(local, heap, 4, -1));                                   \
        REFUSE("get" #BITS, "", aclshmem_get##BITS(NULL, heap, 4, 0));                                       \
        REFUSE("get" #BITS, "", aclshmem_get##BITS##_nbi(local, far_end, 2, 0));                             \
        REFUSE("iput" #BITS, "0", aclshmem_iput##BITS(heap, local, 0, 1, 4, 0));                             \
        REFUSE("iget" #BITS, "-2", aclshmem_iget##BITS(local, heap, -2, 1, 4, 0));                           \
        REFUSE("put" #BITS "_signal", "-1", aclshmem_put##BITS##_signal(heap, local, 4, word, 1, 0, -1));    \
        REFUSE("put" #BITS "_signal", "2", aclshmem_put##BITS##_signal(heap, local, 4, word, 1, 2, 0));      \
        REFUSE("put" #BITS "_signal", "", aclshmem_put##BITS##_signal_nbi(heap, local, 4, NULL, 1, 0, 0));   \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_SIZE_FUNC(MOVE_BITS);

static void move_bytes(void)
{
    REFUSE("putmem", "-1", aclshmem_putmem(heap, local, 4, -1));
    REFUSE("putmem", "", aclshmem_putmem(NULL, local, 4, 0));
    REFUSE("putmem", "", aclshmem_putmem(heap, local, SIZE_MAX, 0));
    REFUSE("putmem_nbi", too_large, aclshmem_putmem_nbi(heap, local, 4, aclshmem_n_pes()));
    REFUSE("getmem", "-1", aclshmem_getmem(local, heap, 4, -1));
    REFUSE("getmem", "", aclshmem_getmem(local, far_end, 2, 0));
    REFUSE("getmem_nbi", "", aclshmem_getmem_nbi(local, local, 4, 0));
    REFUSE("putmem_on_stream", "-1", aclshmemx_putmem_on_stream(heap, local, 4, -1, NULL));
    REFUSE("getmem_on_stream", "", aclshmemx_getmem_on_stream(local, NULL, 4, 0, NULL));
    REFUSE("putmem_signal", "9", aclshmemx_putmem_signal(heap, local, 4, heap, 1, 9, 0));
    REFUSE("putmem_signal_nbi", "", aclshmemx_putmem_signal_nbi(heap, local, 4, local, 1, 0, 0));
    REFUSE("signal_op", "-1", aclshmemx_signal_op((int32_t *)(void *)heap, 1, 0, -1));
    REFUSE("signal_op", "5", aclshmemx_signal_op((int32_t *)(void *)heap, 1, 5, 0));
    REFUSE("signal_op", "", aclshmemx_signal_op((int32_t *)(void *)(heap + 2), 1, 0, 0));
    REFUSE("signal_op_on_stream", "-1",
           aclshmemx_signal_op_on_stream((int32_t *)(void *)heap, 1, 0, -1, NULL));
    REFUSE("pe_quiet", "-1", aclshmemx_pe_quiet(-1));
}

/* --- Waits and tests --- */

/* cmp 6 does not exist; results are those the interface names, and nobody waits. */
#define WAIT_TYPED(NAME, TYPE)                                                                               \
    static void wait_##NAME(void)                                                                            \
    {                                                                                                        \
        TYPE *const here = (TYPE *)(void *)heap, value = (TYPE)1, values[2] = {value, value};                \
        size_t found, indices[2];                                                                            \
        int is = 5;                                                                                          \
        REFUSE("wait_until", "6", aclshmem_##NAME##_wait_until(here, 6, value));                             \
        REFUSE("wait_until", "", aclshmem_##NAME##_wait_until(NULL, 0, value));                              \
        REFUSE("wait", "", aclshmem_##NAME##_wait(NULL, value));                                             \
        REFUSE("wait_until_all", "-1", aclshmem_##NAME##_wait_until_all(here, 2, NULL, -1, value));          \
        REFUSE("wait_until_any", "6", aclshmem_##NAME##_wait_until_any(here, 2, NULL, 6, value, &found));    \
        CHECK(found == SIZE_MAX);                                                                            \
        REFUSE("wait_until_any", "", aclshmem_##NAME##_wait_until_any(here, 2, NULL, 0, value, NULL));       \
        REFUSE("wait_until_some", "6",                                                                       \
               aclshmem_##NAME##_wait_until_some(here, 2, indices, NULL, 6, value, &found));                 \
        CHECK(found == 0);                                                                                   \
        REFUSE("wait_until_some", "",                                                                        \
               aclshmem_##NAME##_wait_until_some(here, 2, NULL, NULL, 0, value, &found));                    \
        REFUSE("wait_until_all_vector", "6",                                                                 \
               aclshmem_##NAME##_wait_until_all_vector(here, 2, NULL, 6, values));                           \
        REFUSE("wait_until_all_vector", "",                                                                  \
               aclshmem_##NAME##_wait_until_all_vector(here, 2, NULL, 0, NULL));                             \
        REFUSE("wait_until_any_vector", "6",                                                                 \
               aclshmem_##NAME##_wait_until_any_vector(here, 2, NULL, 6, values, &found));                   \
        REFUSE("wait_until_some_vector", "6",                                                                \
               aclshmem_##NAME##_wait_until_some_vector(here, 2, indices, NULL, 6, values, &found));         \
        REFUSE("test", "6", aclshmem_##NAME##_test(here, 6, value, &is));                                    \
        CHECK(is == 0);                                                                                      \
        REFUSE("test", "", aclshmem_##NAME##_test(here, 0, value, NULL));                                    \
        REFUSE("test_any", "6", aclshmem_##NAME##_test_any(here, 2, NULL, 6, value, &found));                \
        CHECK(found == SIZE_MAX);                                                                            \
        REFUSE("test_some", "6", aclshmem_##NAME##_test_some(here, 2, indices, NULL, 6, value, &found));     \
        CHECK(found == 0);                                                                                   \
        REFUSE("test_all_vector", "6", aclshmem_##NAME##_test_all_vector(here, 2, NULL, 6, values, &is));    \
        REFUSE("test_any_vector", "", aclshmem_##NAME##_test_any_vector(NULL, 2, NULL, 0, values, &found));  \
        REFUSE("test_some_vector", "",                                                                       \
               aclshmem_##NAME##_test_some_vector(here, 2, indices, NULL, 0, NULL, &found));                 \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_P2P_SYNC_TYPE_FUNC(WAIT_TYPED);

/* --- Atomics --- */

#define ATOMIC_TYPED(NAME, TYPE)                                                                             \
    static void atomic_##NAME(void)                                                                          \
    {                                                                                                        \
        TYPE *const there = (TYPE *)(void *)heap, *const odd = (TYPE *)(void *)(heap + 1);                   \
        TYPE *const outside = (TYPE *)(void *)local, result = 0;                                             \
        REFUSE("atomic_fetch", "-1", (void)aclshmem_##NAME##_atomic_fetch(there, -1));                       \
        REFUSE("atomic_fetch", "", (void)aclshmem_##NAME##_atomic_fetch(odd, 0));                            \
        REFUSE("atomic_set", too_large, aclshmem_##NAME##_atomic_set(there, 1, aclshmem_n_pes()));           \
        REFUSE("atomic_set", "", aclshmem_##NAME##_atomic_set(NULL, 1, 0));                                  \
        REFUSE("atomic_swap", "", (void)aclshmem_##NAME##_atomic_swap(outside, 1, 0));                       \
        REFUSE("atomic_add", "-1", aclshmem_##NAME##_atomic_add(there, 1, -1));                              \
        REFUSE("atomic_fetch_add", "", (void)aclshmem_##NAME##_atomic_fetch_add(odd, 1, 0));                 \
        REFUSE("atomic_fetch", "-1", aclshmem_##NAME##_atomic_fetch_nbi(&result, there, -1));                \
        REFUSE("atomic_swap", "", aclshmem_##NAME##_atomic_swap_nbi(NULL, there, 1, 0));                     \
        REFUSE("atomic_fetch_add", "", aclshmem_##NAME##_atomic_fetch_add_nbi(&result, outside, 1, 0));      \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_AMO_INTEGER_FUNC(ATOMIC_TYPED);
ACLSHMEM_AMO_FLOAT_FUNC(ATOMIC_TYPED);

#define ATOMIC_INTEGER(NAME, TYPE)                                                                           \
    static void logic_##NAME(void)                                                                           \
    {                                                                                                        \
        TYPE *const there = (TYPE *)(void *)heap, result = 0;                                                \
        REFUSE("compare_swap", "-1", (void)aclshmem_##NAME##_atomic_compare_swap(there, 1, 2, -1));          \
        REFUSE("atomic_inc", "-1", aclshmem_##NAME##_atomic_inc(there, -1));                                 \
        REFUSE("atomic_and", "", aclshmem_##NAME##_atomic_and(NULL, 1, 0));                                  \
        REFUSE("atomic_or", "-1", aclshmem_##NAME##_atomic_or(there, 1, -1));                                \
        REFUSE("atomic_xor", "-1", aclshmem_##NAME##_atomic_xor(there, 1, -1));                              \
        REFUSE("fetch_inc", "-1", (void)aclshmem_##NAME##_atomic_fetch_inc(there, -1));                      \
        REFUSE("fetch_and", "-1", (void)aclshmem_##NAME##_atomic_fetch_and(there, 1, -1));                   \
        REFUSE("fetch_or", "-1", (void)aclshmem_##NAME##_atomic_fetch_or(there, 1, -1));                     \
        REFUSE("fetch_xor", "-1", (void)aclshmem_##NAME##_atomic_fetch_xor(there, 1, -1));                   \
        REFUSE("compare_swap", "-1", aclshmem_##NAME##_atomic_compare_swap_nbi(&result, there, 1, 2, -1));   \
        REFUSE("fetch_inc", "", aclshmem_##NAME##_atomic_fetch_inc_nbi(NULL, there, 0));                     \
    }                                                                                                        \
    struct pe_needs_a_semicolon
ACLSHMEM_AMO_INTEGER_FUNC(ATOMIC_INTEGER);

/* --- Teams and heaps: what one PE can get wrong by itself --- */

static void teams(void)
{
    aclshmem_team_config_t config;
    CHECK_INT(aclshmem_team_my_pe(4711), -1);
    CHECK_INT(aclshmem_team_n_pes(-7), -1);
    CHECK_INT(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, -1, ACLSHMEM_TEAM_WORLD), -1);
    CHECK_INT(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, aclshmem_n_pes(), ACLSHMEM_TEAM_WORLD), -1);
    CHECK(aclshmem_team_get_config(99, &config) < 0);
    CHECK(aclshmem_team_get_config(ACLSHMEM_TEAM_WORLD, NULL) < 0);
    REFUSE("team_destroy", "77", aclshmem_team_destroy(77));
    REFUSE("barrier", "2048", aclshmem_barrier(2048));
    REFUSE("sync", "31", aclshmem_sync(31));
    CHECK(aclshmem_ptr(heap, -1) == NULL);
    CHECK(aclshmem_ptr(local, 0) == NULL);
}

int main(void)
{
    pe_init(UINT64_C(2) << 20);
    aclshmemx_heap_info_t info;
    aclshmemx_set_extern_logger(pe_swallow);
    snprintf(too_large, sizeof too_large, "%d", aclshmem_n_pes());
    heap = aclshmem_malloc(BYTES);
    CHECK(heap != NULL);
    CHECK_INT(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    far_end = (char *)aclshmemx_get_heap_base(DEVICE_SIDE) + info.size - 1;
    memset(heap, GUARD, BYTES);
    memset(local, GUARD, BYTES);
    aclshmem_barrier_all();

#define RUN_MOVE(NAME, TYPE)   move_##NAME()
#define RUN_BITS(BITS)         move_##BITS()
#define RUN_WAIT(NAME, TYPE)   wait_##NAME()
#define RUN_ATOMIC(NAME, TYPE) atomic_##NAME()
#define RUN_LOGIC(NAME, TYPE)  logic_##NAME()
    ACLSHMEM_TYPE_FUNC(RUN_MOVE);
    ACLSHMEM_SIZE_FUNC(RUN_BITS);
    move_bytes();
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(RUN_WAIT);
    ACLSHMEM_AMO_INTEGER_FUNC(RUN_ATOMIC);
    ACLSHMEM_AMO_FLOAT_FUNC(RUN_ATOMIC);
    ACLSHMEM_AMO_INTEGER_FUNC(RUN_LOGIC);
    teams();
    CHECK(refusals > 800);

    aclshmem_quiet();
    aclshmem_barrier_all();
    for (int i = 0; i < BYTES; i++) {
        CHECK_INT(heap[i], GUARD);
        CHECK_INT(local[i], GUARD);
    }
    aclshmemx_clear_error();
    aclshmem_barrier_all();
    heap[0] = 0;
    aclshmem_barrier_all();
    aclshmem_int8_p((int8_t *)heap, (int8_t)(aclshmem_my_pe() + 1),
                    (aclshmem_my_pe() + 1) % aclshmem_n_pes());
    aclshmem_barrier_all();
    CHECK_INT(heap[0], (aclshmem_my_pe() + aclshmem_n_pes() - 1) % aclshmem_n_pes() + 1);
    CHECK_INT(aclshmemx_last_error(NULL)[0], '\0');
    aclshmem_free(heap);
    aclshmemx_set_extern_logger(NULL);
    pe_finalize();
    return 0;
}
