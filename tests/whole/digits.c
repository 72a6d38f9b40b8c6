/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training example with 1, 2, 3, 4 and 8 PEs, with the library's sums and with its own: it learns, PEs agree to the bit, and PE counts agree within 1e-6 in every
 * parameter. Damaged data is refused with the line.
 *
 *     digits ACLSHMEMRUN DIGITS_TRAIN
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { PARAMETERS = 4810 };

static const char *launcher, *program;

static void train(const char *count, const char *method, const char *out, double *parameters)
{
    t_child_t job;
    t_run(&job, (const char *const[]){launcher, "-n", count, program, "--out", out, "--sum", method, NULL},
          NULL, 240000);
    t_check_exit(&job, 0);
    t_check_contains(job.out, "bit-identical");
    t_check_contains(job.out, "accuracy on 359 held-out digits: 9");
    t_child_free(&job);
    char *text = t_file_read(out), *at = text;
    for (int i = 0; i < PARAMETERS; i++)
        parameters[i] = strtod(at, &at);
    t_check_text(at, "\n");
    free(text);
}

static void expect_same(const double *first, const double *other, const char *count)
{
    for (int i = 0; i < PARAMETERS; i++)
        t_check_that(fabs(first[i] - other[i]) <= 1e-6, "parameter %d is %.17g with 1 PE and %.17g with %s",
                     i, first[i], other[i], count);
}

static void mistakes(const char *folder)
{
    t_child_t job;
    char bad[512];
    snprintf(bad, sizeof bad, "%s/bad.csv", folder);
    t_file_write(bad, "1,2,3\n");
    t_run(&job, (const char *const[]){launcher, "-n", "2", program, "--data", bad, NULL}, NULL, 60000);
    t_check_exit(&job, 1);
    t_check_contains(job.err, "line 1");
    t_child_free(&job);
    t_run(&job, (const char *const[]){launcher, "-n", "2", program, "--data", "/no/such/file", NULL}, NULL,
          60000);
    t_check_exit(&job, 1);
    t_check_contains(job.err, "/no/such/file");
    t_child_free(&job);
    t_run(&job, (const char *const[]){launcher, "-n", "1", program, "--epochs", "0", NULL}, NULL, 60000);
    t_check_exit(&job, 2);
    t_child_free(&job);
    t_run(&job, (const char *const[]){launcher, "-n", "1", program, "--sum", "magic", NULL}, NULL, 60000);
    t_check_exit(&job, 2);
    t_check_contains(job.err, "reduce or put-signal");
    t_child_free(&job);
    /* one epoch does not learn enough, and says so */
    t_run(&job, (const char *const[]){launcher, "-n", "2", program, "--epochs", "1", NULL}, NULL, 60000);
    t_check_exit(&job, 1);
    t_check_contains(job.err, "did not learn");
    t_child_free(&job);
}

int main(int argc, char **argv)
{
    static const char *const counts[] = {"1", "2", "3", "4", "8"};
    static double first[PARAMETERS], other[PARAMETERS];
    char folder[256], out[512];
    t_check_int(argc, 3);
    launcher = argv[1];
    program = argv[2];
    t_clean_environment();
    t_dir_make(folder, sizeof folder);
    snprintf(out, sizeof out, "%s/parameters", folder);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        train(counts[c], "reduce", out, c == 0 ? first : other);
        if (c > 0)
            expect_same(first, other, counts[c]);
    }
    train("3", "put-signal", out, other);
    expect_same(first, other, "3, by hand");
    mistakes(folder);
    t_dir_remove(folder);
    return 0;
}
