/* SPDX-License-Identifier: Apache-2.0 */
/* The key-value table: its rules alone, then through the store from many threads and processes. */
#define LOG_MODULE "test"
#include "pes.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/bootstrap/store/store.h"
#include "host/bootstrap/store/store_inside.h"
#include "host/bootstrap/store/table.h"

/* --- The table alone --- */

static aclshmemi_store_loop_t *loop;
static aclshmemi_store_table_t *table;

static int make_table(void **state)
{
    (void)state;
    return aclshmemi_store_loop_create(&loop) != 0 || aclshmemi_store_table_create(loop, &table) != 0;
}

static int drop_table(void **state)
{
    (void)state;
    aclshmemi_store_table_destroy(table);
    aclshmemi_store_loop_destroy(loop);
    return 0;
}

static aclshmemi_store_item_t item(const char *text)
{
    return (aclshmemi_store_item_t){(const uint8_t *)text, strlen(text)};
}

/* One operation; the value as text lands in out. */
static int apply(aclshmemi_store_op_t op, const char *key, const char *first, const char *second, char *out)
{
    static const uint8_t nothing;
    aclshmemi_store_message_t m = {.op = (int16_t)op, .n_keys = 1, .keys = {item(key)}};
    aclshmemi_store_item_t value = {&nothing, 0};
    if (first)
        m.values[m.n_values++] = item(first);
    if (second)
        m.values[m.n_values++] = item(second);
    int rc = aclshmemi_store_table_apply(table, &m, &value);
    if (rc == 0 && out) {
        if (value.size > 0)
            memcpy(out, value.data, value.size);
        out[value.size] = 0;
    }
    return rc;
}

static void check_op(aclshmemi_store_op_t op, const char *key, const char *first, const char *second,
                     const char *expected)
{
    char out[256] = "?";
    t_check_int(apply(op, key, first, second, out), 0);
    t_check_text(out, expected);
}

static void test_set_get_remove(void **state)
{
    (void)state;
    t_check_int(apply(ACLSHMEMI_STORE_GET, "a", NULL, NULL, NULL), ACLSHMEMI_STORE_NO_KEY);
    check_op(ACLSHMEMI_STORE_SET, "a", "one", NULL, "success");
    check_op(ACLSHMEMI_STORE_GET, "a", NULL, NULL, "one");
    check_op(ACLSHMEMI_STORE_SET, "a", "", NULL, "success");
    check_op(ACLSHMEMI_STORE_GET, "a", NULL, NULL, ""); /* empty is not absent */
    t_check_uint(aclshmemi_store_table_keys(table), 1);
    check_op(ACLSHMEMI_STORE_REMOVE, "a", NULL, NULL, "success");
    t_check_int(apply(ACLSHMEMI_STORE_REMOVE, "a", NULL, NULL, NULL), ACLSHMEMI_STORE_NO_KEY);
    t_check_uint(aclshmemi_store_table_keys(table), 0);
}

/* [F-13] */
static void test_add(void **state)
{
    (void)state;
    check_op(ACLSHMEMI_STORE_ADD, "n", "5", NULL, "5");
    check_op(ACLSHMEMI_STORE_ADD, "n", "-7", NULL, "-2");
    check_op(ACLSHMEMI_STORE_GET, "n", NULL, NULL, "-2");
    check_op(ACLSHMEMI_STORE_SET, "n", "9223372036854775807", NULL, "success");
    t_check_int(apply(ACLSHMEMI_STORE_ADD, "n", "1", NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    check_op(ACLSHMEMI_STORE_GET, "n", NULL, NULL, "9223372036854775807"); /* untouched */
    check_op(ACLSHMEMI_STORE_SET, "n", "word", NULL, "success");
    t_check_int(apply(ACLSHMEMI_STORE_ADD, "n", "1", NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    const char *bad[] = {
        "", "x", "1x", " 1", "+1", "-", "9223372036854775808", "0x10", "111111111111111111111111111111"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        t_check_int(apply(ACLSHMEMI_STORE_ADD, "new", bad[i], NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(apply(ACLSHMEMI_STORE_GET, "new", NULL, NULL, NULL), ACLSHMEMI_STORE_NO_KEY);
}

/* [F-15] */
static void test_append(void **state)
{
    (void)state;
    check_op(ACLSHMEMI_STORE_APPEND, "s", "abc", NULL, "3");
    check_op(ACLSHMEMI_STORE_APPEND, "s", "", NULL, "3");
    check_op(ACLSHMEMI_STORE_APPEND, "s", "defg", NULL, "7");
    check_op(ACLSHMEMI_STORE_GET, "s", NULL, NULL, "abcdefg");
    check_op(ACLSHMEMI_STORE_APPEND, "e", "", NULL, "0"); /* exists from now on */
    check_op(ACLSHMEMI_STORE_GET, "e", NULL, NULL, "");
}

/* [F-16] */
static void test_cas(void **state)
{
    (void)state;
    check_op(ACLSHMEMI_STORE_CAS, "c", "x", "y", ""); /* absent, something expected: nothing happens */
    t_check_int(apply(ACLSHMEMI_STORE_GET, "c", NULL, NULL, NULL), ACLSHMEMI_STORE_NO_KEY);
    check_op(ACLSHMEMI_STORE_CAS, "c", "", "one", ""); /* absent as expected: created */
    check_op(ACLSHMEMI_STORE_GET, "c", NULL, NULL, "one");
    check_op(ACLSHMEMI_STORE_CAS, "c", "", "two", "one"); /* not absent */
    check_op(ACLSHMEMI_STORE_CAS, "c", "on", "two", "one");
    check_op(ACLSHMEMI_STORE_CAS, "c", "one", "two", "one"); /* swapped, the old value comes back */
    check_op(ACLSHMEMI_STORE_GET, "c", NULL, NULL, "two");
}

static void test_limits(void **state)
{
    (void)state;
    char key[1026];
    memset(key, 'k', sizeof key);
    key[1024] = 0;
    check_op(ACLSHMEMI_STORE_SET, key, "v", NULL, "success");
    key[1024] = 'k';
    key[1025] = 0;
    t_check_int(apply(ACLSHMEMI_STORE_SET, key, "v", NULL, NULL), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(apply(ACLSHMEMI_STORE_SET, "", "v", NULL, NULL), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(apply(ACLSHMEMI_STORE_SET, "a", NULL, NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(apply(ACLSHMEMI_STORE_SET, "a", "1", "2", NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(apply(ACLSHMEMI_STORE_GET, "a", "1", NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(apply(ACLSHMEMI_STORE_CAS, "a", "1", NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    size_t half = ACLSHMEMI_STORE_VALUE_MAX / 2 + 1;
    char *large = malloc(half + 1);
    t_check(large);
    memset(large, 'v', half);
    large[half] = 0;
    check_op(ACLSHMEMI_STORE_SET, "large", large, NULL, "success");
    t_check_int(apply(ACLSHMEMI_STORE_APPEND, "large", large, NULL, NULL), ACLSHMEMI_STORE_BAD_REQUEST);
    aclshmemi_store_message_t m = {.op = ACLSHMEMI_STORE_GET, .n_keys = 1, .keys = {item("large")}};
    aclshmemi_store_item_t value;
    t_check_int(aclshmemi_store_table_apply(table, &m, &value), 0);
    t_check_uint(value.size, half); /* what was too much changed nothing */
    free(large);
}

/* Against the simplest thing that can be right: an array. */
static void test_many_keys_against_a_model(void **state)
{
    enum { KEYS = 3000 };
    static int model[KEYS];
    unsigned seed = 5;
    char key[16], value[16], out[32];
    (void)state;
    memset(model, 0xff, sizeof model); /* -1: absent */
    for (int step = 0; step < 100000; step++) {
        int k = (int)((unsigned)rand_r(&seed) % KEYS);
        snprintf(key, sizeof key, "key %d", k);
        switch (rand_r(&seed) % 3) {
        case 0:
            snprintf(value, sizeof value, "%d", step);
            t_check_int(apply(ACLSHMEMI_STORE_SET, key, value, NULL, NULL), 0);
            model[k] = step;
            break;
        case 1:
            t_check_int(apply(ACLSHMEMI_STORE_REMOVE, key, NULL, NULL, NULL),
                        model[k] < 0 ? ACLSHMEMI_STORE_NO_KEY : 0);
            model[k] = -1;
            break;
        default:
            t_check_int(apply(ACLSHMEMI_STORE_GET, key, NULL, NULL, out),
                        model[k] < 0 ? ACLSHMEMI_STORE_NO_KEY : 0);
            t_check(model[k] < 0 || atoi(out) == model[k]);
        }
    }
    size_t present = 0;
    for (int k = 0; k < KEYS; k++)
        present += model[k] >= 0;
    t_check_uint(aclshmemi_store_table_keys(table), present);
}

/* --- Waiters --- */

typedef struct probe {
    aclshmemi_store_waiter_t waiter;
    int result; /* 1: none yet */
    char value[32];
} probe_t;

static void probe_done(aclshmemi_store_waiter_t *waiter, int result, const aclshmemi_store_item_t *value)
{
    probe_t *probe = (probe_t *)waiter;
    t_check_int(probe->result, 1); /* once */
    probe->result = result;
    if (result == 0)
        snprintf(probe->value, sizeof probe->value, "%.*s", (int)value->size, (const char *)value->data);
}

static void start_probe(probe_t *probe, const char *key, aclshmemi_deadline_t deadline)
{
    aclshmemi_store_item_t k = item(key);
    *probe = (probe_t){.waiter.done = probe_done, .result = 1};
    t_check_int(aclshmemi_store_table_wait(table, &k, deadline, &probe->waiter), 0);
}

static void test_waiters(void **state)
{
    probe_t a, b, late, cancelled;
    (void)state;
    start_probe(&a, "w", ACLSHMEMI_NEVER);
    start_probe(&b, "w", aclshmemi_deadline_after_ms(60000));
    start_probe(&cancelled, "w", ACLSHMEMI_NEVER);
    start_probe(&late, "other", aclshmemi_deadline_after_ms(20));
    aclshmemi_store_table_cancel(&cancelled.waiter);
    t_check_int(apply(ACLSHMEMI_STORE_GET, "w", NULL, NULL, NULL),
                ACLSHMEMI_STORE_NO_KEY); /* waited for, not there */
    t_check_uint(aclshmemi_store_table_keys(table), 0);
    uint64_t end = t_now_ms() + 5000;
    while (late.result == 1 && t_now_ms() < end)
        aclshmemi_store_loop_turn(loop, 5);
    t_check_int(late.result, ACLSHMEMI_STORE_EXPIRED);
    check_op(ACLSHMEMI_STORE_APPEND, "w", "here", NULL, "4");
    t_check_int(a.result, 0);
    t_check_int(b.result, 0);
    t_check_int(cancelled.result, 1);
    t_check_text(a.value, "here");
    t_check_text(b.value, "here");
}

static void test_every_way_to_create_wakes(void **state)
{
    const struct {
        aclshmemi_store_op_t op;
        const char *first, *second, *seen;
    } ways[] = {{ACLSHMEMI_STORE_SET, "v", NULL, "v"},
                {ACLSHMEMI_STORE_ADD, "3", NULL, "3"},
                {ACLSHMEMI_STORE_APPEND, "v", NULL, "v"},
                {ACLSHMEMI_STORE_CAS, "", "v", "v"}};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        probe_t probe;
        start_probe(&probe, "k", ACLSHMEMI_NEVER);
        t_check_int(apply(ways[i].op, "k", ways[i].first, ways[i].second, NULL), 0);
        t_check_int(probe.result, 0);
        t_check_text(probe.value, ways[i].seen);
        check_op(ACLSHMEMI_STORE_REMOVE, "k", NULL, NULL, "success");
    }
}

/* --- Through the store --- */

static int request(pe_t *pe, aclshmemi_store_op_t op, const char *key, int64_t wait_ms, const char *value,
                   char *out)
{
    aclshmemi_store_item_t values[1] = {{0}};
    aclshmemi_store_answer_t answer = {0};
    if (value)
        values[0] = item(value);
    int rc = aclshmemi_store_request(&pe->bs, op, key, wait_ms, values, value ? 1 : 0, &answer);
    if (rc == 0 && out) {
        memcpy(out, answer.data, answer.size);
        out[answer.size] = 0;
    }
    free(answer.data);
    return rc;
}

static void run_waiting_gets(pe_t *pe)
{
    char out[64];
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 0) {
        uint64_t begin = t_now_ms();
        t_check_int(request(pe, ACLSHMEMI_STORE_GET, "never", 0, NULL, out), ACLSHMEMI_STORE_NO_KEY);
        t_check(t_now_ms() - begin < 400);
        begin = t_now_ms();
        t_check_int(request(pe, ACLSHMEMI_STORE_GET, "never", 500, NULL, out), ACLSHMEMI_STORE_EXPIRED);
        uint64_t took = t_now_ms() - begin;
        t_check_that(took >= 490 && took < 3000, "expired after %" PRIu64 " ms", took);
        pe_reach(pe, 1);
    }
    if (pe->pe == 2) {
        pe_await(pe, 0, 1);
        t_check_int(request(pe, ACLSHMEMI_STORE_SET, "later", 0, "value", out), 0);
    } else {
        t_check_int(request(pe, ACLSHMEMI_STORE_GET, "later", -1, NULL, out), 0);
        t_check_text(out, "value");
    }
    char key[1030];
    memset(key, 'k', sizeof key);
    key[1025] = 0;
    t_check_int(request(pe, ACLSHMEMI_STORE_SET, key, 0, "v", out), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(request(pe, ACLSHMEMI_STORE_SET, "", 0, "v", out), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [F-12] */
static void test_gets_that_wait(void **state)
{
    (void)state;
    pes_run(3, run_waiting_gets, NULL);
}

typedef struct adder {
    pe_t *pe;
    int rounds;
} adder_t;

static void *add_and_append(void *argument)
{
    adder_t *a = argument;
    char text[16], out[64];
    for (int i = 0; i < a->rounds; i++) {
        t_check_int(request(a->pe, ACLSHMEMI_STORE_ADD, "sum", 0, "1", out), 0);
        snprintf(text, sizeof text, "<%03d:%03d>", a->pe->pe, i % 1000);
        t_check_int(request(a->pe, ACLSHMEMI_STORE_APPEND, "log", 0, text, out), 0);
    }
    return NULL;
}

static void run_counting(pe_t *pe)
{
    enum { THREADS = 5, ROUNDS = 100 };
    pthread_t thread[THREADS];
    adder_t adder = {pe, ROUNDS};
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    for (int i = 0; i < THREADS; i++)
        t_check_int(pthread_create(&thread[i], NULL, add_and_append, &adder), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    t_check_int(pe_barrier(pe), 0);
    size_t entries = (size_t)pe->bs.n_pes * THREADS * ROUNDS;
    char sum[32], *log = malloc(entries * 9 + 1);
    t_check(log);
    t_check_int(request(pe, ACLSHMEMI_STORE_GET, "sum", 0, NULL, sum), 0);
    t_check_uint((size_t)atoi(sum), entries);
    t_check_int(request(pe, ACLSHMEMI_STORE_GET, "log", 0, NULL, log), 0);
    t_check_uint(strlen(log), entries * 9);
    for (size_t i = 0; i < entries; i++)
        t_check(log[9 * i] == '<' && log[9 * i + 4] == ':' && log[9 * i + 8] == '>');
    free(log);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [F-14] [F-15] 20 PEs with 5 threads each: a hundred callers, a hundred times. */
static void test_counting_from_everywhere(void **state)
{
    (void)state;
    pes_run(20, run_counting, NULL);
}

static void run_many_rounds(pe_t *pe)
{
    pe_open_ok(pe);
    t_resources_t before = {0};
    for (int i = 0; i < 10000; i++) {
        if (i == 500)
            before = t_resources_now();
        if (i % 10 == 9)
            pe_check_allgather(pe, 32);
        else
            t_check_int(pe_barrier(pe), 0);
    }
    t_resources_expect(&before, 4, 1024);
    if (pe->pe == 0)
        t_check_uint(aclshmemi_store_server_keys(((store_t *)pe->bs.state)->server), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [F-17] */
static void test_many_rounds_in_constant_memory(void **state)
{
    (void)state;
    pes_run(2, run_many_rounds, NULL);
}

/* A large value, read by many at once and slowly: PE 0 does not collect copies without bound. */
static void run_large_values(pe_t *pe)
{
    size_t size = ACLSHMEMI_STORE_VALUE_MAX - 2000;
    char *text = malloc(size + 1), *out = malloc(size + 1);
    t_check(text && out);
    memset(text, 'x', size);
    text[size] = 0;
    pe_open_ok(pe);
    if (pe->pe == 0)
        t_check_int(request(pe, ACLSHMEMI_STORE_SET, "big", 0, text, out), 0);
    for (int i = 0; i < 5; i++) {
        t_check_int(request(pe, ACLSHMEMI_STORE_GET, "big", -1, NULL, out), 0);
        t_check_text(out, text);
    }
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
    free(text);
    free(out);
}

static void test_large_values(void **state)
{
    (void)state;
    pes_run(4, run_large_values, NULL);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, make_table, drop_table)

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        TABLE_TEST(test_set_get_remove),
        TABLE_TEST(test_add),
        TABLE_TEST(test_append),
        TABLE_TEST(test_cas),
        TABLE_TEST(test_limits),
        TABLE_TEST(test_many_keys_against_a_model),
        TABLE_TEST(test_waiters),
        TABLE_TEST(test_every_way_to_create_wakes),
        cmocka_unit_test(test_gets_that_wait),
        cmocka_unit_test(test_counting_from_everywhere),
        cmocka_unit_test(test_many_rounds_in_constant_memory),
        cmocka_unit_test(test_large_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
