/* SPDX-License-Identifier: Apache-2.0 */
/* The framework around the bootstraps, the one for a single PE, and fingerprints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LOG_MODULE "test"
#include "host/bootstrap/bootstrap.h"
#undef fail /* cmocka has one of its own */

#include <cmocka.h>

static const aclshmemi_env_t env;

static aclshmemi_bootstrap_params_t one_pe(void)
{
    return (aclshmemi_bootstrap_params_t){.pe = 0,
                                          .n_pes = 1,
                                          .init_timeout_ms = 1000,
                                          .operation_timeout_ms = 1000,
                                          .listen_fd = -1,
                                          .env = &env};
}

static void test_self_does_everything_alone(void **state)
{
    (void)state;
    aclshmemi_bootstrap_t bs;
    aclshmemi_bootstrap_params_t params = one_pe();
    assert_int_equal(aclshmemi_bootstrap_open(&bs, &aclshmemi_bootstrap_self, &params), 0);
    assert_int_equal(bs.failed_pe, -1);
    char send[5] = "data", recv[5] = "";
    assert_int_equal(aclshmemi_bootstrap_allgather(&bs, send, recv, sizeof send), 0);
    assert_string_equal(recv, "data");
    assert_int_equal(aclshmemi_bootstrap_allgather(&bs, NULL, NULL, 0), 0);
    assert_int_equal(aclshmemi_bootstrap_barrier(&bs, NULL), 0);
    aclshmemi_bootstrap_arm(&bs);
    aclshmemi_bootstrap_abort(&bs, 3); /* tells nobody, returns */
    aclshmemi_bootstrap_close(&bs);
    aclshmemi_bootstrap_close(&bs);
    assert_int_equal(aclshmemi_bootstrap_barrier(&bs, NULL), ACLSHMEM_NOT_INITED);
}

static void test_open_refuses_bad_params(void **state)
{
    (void)state;
    const struct {
        int pe, n_pes, code;
    } cases[] = {{0, 0, ACLSHMEM_INVALID_VALUE},  {0, 16385, ACLSHMEM_INVALID_VALUE},
                 {-1, 1, ACLSHMEM_INVALID_PARAM}, {1, 1, ACLSHMEM_INVALID_PARAM},
                 {0, 2, ACLSHMEM_INVALID_PARAM},  {0, -3, ACLSHMEM_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        aclshmemi_bootstrap_t bs;
        aclshmemi_bootstrap_params_t params = one_pe();
        params.pe = cases[i].pe;
        params.n_pes = cases[i].n_pes;
        assert_int_equal(aclshmemi_bootstrap_open(&bs, &aclshmemi_bootstrap_self, &params), cases[i].code);
        aclshmemi_bootstrap_close(&bs); /* a failed one is as good as a zeroed one */
    }
    aclshmemi_bootstrap_t bs;
    aclshmemi_bootstrap_params_t params = one_pe();
    params.operation_timeout_ms = 0;
    assert_int_equal(aclshmemi_bootstrap_open(&bs, &aclshmemi_bootstrap_self, &params),
                     ACLSHMEM_INVALID_VALUE);
}

static void test_allgather_refuses_what_cannot_fit(void **state)
{
    (void)state;
    aclshmemi_bootstrap_t bs;
    aclshmemi_bootstrap_params_t params = one_pe();
    assert_int_equal(aclshmemi_bootstrap_open(&bs, &aclshmemi_bootstrap_self, &params), 0);
    char byte = 0;
    assert_int_equal(aclshmemi_bootstrap_allgather(&bs, NULL, &byte, 1), ACLSHMEM_INVALID_PARAM);
    assert_int_equal(aclshmemi_bootstrap_allgather(&bs, &byte, NULL, 1), ACLSHMEM_INVALID_PARAM);
    bs.n_pes = 2; /* the product overflows before the backend sees it */
    assert_int_equal(aclshmemi_bootstrap_allgather(&bs, &byte, &byte, SIZE_MAX), ACLSHMEM_INVALID_PARAM);
    aclshmemi_bootstrap_close(&bs);
}

static void test_fingerprint_has_no_loose_bytes(void **state)
{
    (void)state;
    uint64_t args[6] = {1, 2, 3, 4, 5, 6};
    aclshmemi_fingerprint_t a =
        aclshmemi_fingerprint("a_name_that_is_longer_than_the_field", "size", 6, args);
    assert_int_equal(a.call[sizeof a.call - 1], 0);
    assert_int_equal(a.args[4], 5);
    aclshmemi_fingerprint_t b = aclshmemi_fingerprint("malloc", "size", 1, args);
    aclshmemi_fingerprint_t c = aclshmemi_fingerprint("malloc", "size", 1, args);
    assert_memory_equal(&b, &c, sizeof b);
}

static void test_explain_shows_both(void **state)
{
    (void)state;
    char text[256];
    uint64_t first[] = {64, 16}, second[] = {128, 16};
    aclshmemi_fingerprint_t a = aclshmemi_fingerprint("malloc", "size alignment", 2, first);
    aclshmemi_fingerprint_t b = aclshmemi_fingerprint("malloc", "size alignment", 2, second);
    aclshmemi_fingerprint_explain(&a, 0, &b, 3, text, sizeof text);
    assert_string_equal(
        text, "PE 0 calls malloc(size 64, alignment 16), PE 3 calls malloc(size 128, alignment 16)");
    aclshmemi_fingerprint_t c = aclshmemi_fingerprint("free", "", 2, first);
    aclshmemi_fingerprint_t d = aclshmemi_fingerprint("free", "", 2, second);
    aclshmemi_fingerprint_explain(&c, 0, &d, 1, text, sizeof text);
    assert_string_equal(text, "PE 0 calls free(), PE 1 calls free(), with values that differ");
    char small[8];
    aclshmemi_fingerprint_explain(&a, 0, &b, 3, small, sizeof small);
    assert_string_equal(small, "PE 0 ca");
}

static void test_explain_survives_a_hostile_fingerprint(void **state)
{
    (void)state;
    aclshmemi_fingerprint_t a;
    memset(&a, 0x1b, sizeof a); /* no terminator anywhere, escape characters */
    char text[600];
    aclshmemi_fingerprint_explain(&a, 1, &a, 2, text, sizeof text);
    assert_null(strchr(text, 0x1b));
}

/* A backend without a barrier of its own, seen from PE 1 of three; the others send what the test says. */
static struct {
    aclshmemi_fingerprint_t prints[3];
    int calls;
} others;

static int others_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params)
{
    (void)bs, (void)params;
    return 0;
}

static int others_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes)
{
    others.calls++;
    for (int pe = 0; pe < bs->n_pes; pe++) {
        uint64_t hash = aclshmemi_fingerprint_hash(&others.prints[pe]);
        const void *from = bytes == sizeof hash ? (const void *)&hash : &others.prints[pe];
        memcpy((char *)recv + (size_t)pe * bytes, pe == bs->pe ? send : from, bytes);
    }
    return 0;
}

static void others_close(aclshmemi_bootstrap_t *bs)
{
    (void)bs;
}

static void test_barrier_from_allgather(void **state)
{
    (void)state;
    static const aclshmemi_bootstrap_ops_t ops = {
        .name = "others", .open = others_open, .allgather = others_allgather, .close = others_close};
    aclshmemi_bootstrap_t bs;
    aclshmemi_bootstrap_params_t params = one_pe();
    params.pe = 1;
    params.n_pes = 3;
    assert_int_equal(aclshmemi_bootstrap_open(&bs, &ops, &params), 0);
    uint64_t size = 64;
    aclshmemi_fingerprint_t own = aclshmemi_fingerprint("malloc", "size", 1, &size);
    for (int pe = 0; pe < 3; pe++)
        others.prints[pe] = own;
    assert_int_equal(aclshmemi_bootstrap_barrier(&bs, &own), 0);
    assert_int_equal(others.calls, 1);
    others.prints[2].args[0] = 65;
    assert_int_equal(aclshmemi_bootstrap_barrier(&bs, &own), ACLSHMEM_INVALID_PARAM);
    assert_int_equal(others.calls, 3);
    assert_non_null(
        strstr(aclshmemi_status_last_text(), "PE 0 calls malloc(size 64), PE 2 calls malloc(size 65)"));
    aclshmemi_bootstrap_close(&bs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_does_everything_alone),
        cmocka_unit_test(test_open_refuses_bad_params),
        cmocka_unit_test(test_allgather_refuses_what_cannot_fit),
        cmocka_unit_test(test_fingerprint_has_no_loose_bytes),
        cmocka_unit_test(test_explain_shows_both),
        cmocka_unit_test(test_barrier_from_allgather),
        cmocka_unit_test(test_explain_survives_a_hostile_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
