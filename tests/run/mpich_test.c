/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stock MPICH program runs under the launcher, which is all it needs to know of PMI.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_support.h"

static const char *program(void)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s", run_pe());
    memcpy(strrchr(path, '/'), "/run_mpich", sizeof("/run_mpich"));
    return path;
}

static void ranks_meet(void **state)
{
    (void)state;
    for (int n = 1; n <= 5; n++) {
        char count[16], line[64];
        snprintf(count, sizeof(count), "%d", n);
        result_t r = run_job(NULL, "-n", count, program(), count, NULL);
        assert_code(r, 0);
        for (int rank = 0; rank < n; rank++) {
            snprintf(line, sizeof(line), "rank %d of %d, program 0\n", rank, n);
            assert_has(r.out, line);
        }
        assert_string_equal(r.err, "");
        run_free(&r);
    }
}

static void programs_of_one_world(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "1", program(), "3", ":", "-n", "2", program(), "3", NULL);
    assert_code(r, 0);
    assert_has(r.out, "rank 0 of 3, program 0\n");
    assert_has(r.out, "rank 2 of 3, program 1\n");
    run_free(&r);
}

static void abort_ends_all(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "3", program(), "3", "abort", "9", NULL);
    assert_code(r, 9);
    assert_has(r.err, "PE 2 on ");
    assert_has(r.err, "ended the job with code 9");
    run_expect_nothing_left();
    run_free(&r);
}

static void leaving_without_finalize_is_found(void **state)
{
    (void)state;
    run_mark();
    result_t r = run_job(NULL, "-n", "3", program(), "3", "leave", NULL);
    assert_code(r, 1);
    assert_has(r.err, "without finalize while others run");
    run_expect_nothing_left();
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_meet),
        cmocka_unit_test(programs_of_one_world),
        cmocka_unit_test(abort_ends_all),
        cmocka_unit_test(leaving_without_finalize_is_found),
    };
    if (access(program(), X_OK)) {
        printf("skipped: mpicc.mpich was not there when this was built\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
