/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help from the table of options, and the nearest name for one that nobody knows.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

enum { NAME_MAX_BYTES = 48 };

static void print_row(const option_row_t *row)
{
    char left[64];
    const char *dashes = strlen(row->name) > 1 ? "--" : "-";
    char letter[8] = "";
    if (row->letter && strlen(row->name) > 1)
        snprintf(letter, sizeof(letter), "-%c, ", row->letter);
    if (option_value_optional(row))
        snprintf(left, sizeof(left), "%s%s%s[=%s]", letter, dashes, row->name, row->arg);
    else
        snprintf(left, sizeof(left), "%s%s%s%s%s", letter, dashes, row->name, row->arg[0] ? " " : "",
                 row->arg);
    printf(" %-24s %s\n", left, row->text);
}

void help_print(bool all)
{
    printf("usage: aclshmemrun [options] program [arguments] [: [options] program ...]\n");
    for (size_t i = 0; i < option_row_count; i++)
        if (all || !(option_rows[i].flags & OPT_MORE))
            print_row(&option_rows[i]);
    if (!all)
        return;
    printf("\n"
           "Every option has a variable SHMEM_RUN_<NAME>: --keep-going is SHMEM_RUN_KEEP_GOING=1, -n is "
           "SHMEM_RUN_N.\n"
           "Long options take their value after = or a blank. A lone colon starts the next program; -n "
           "(default 1\n"
           "then) and --wdir belong to one program, all other options to the job.\n"
           "Exit code: that of the first PE that failed, 128+n for signal n, 124 time limit of --timeout, "
           "126 program\n"
           "not executable, 127 not found, 2 usage. Lines of different PEs never mix; a line beyond 64 KiB "
           "stays\n"
           "whole while its writer does not pause (0.2 s) and others wait for less than 16 MiB of it.\n");
}

/* Edit distance with swaps of neighbours; names longer than the table are as far as it gets. */
static size_t distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][NAME_MAX_BYTES + 1];
    if (na > NAME_MAX_BYTES || nb > NAME_MAX_BYTES)
        return NAME_MAX_BYTES;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *help_nearest(const char *name)
{
    static char variable[80];
    char plain[NAME_MAX_BYTES + 1];
    bool is_variable = strncmp(name, "SHMEM_RUN_", 10) == 0;
    snprintf(plain, sizeof(plain), "%s", is_variable ? name + 10 : name);
    for (char *c = plain; is_variable && *c; c++)
        *c = *c == '_' ? '-' : (*c >= 'A' && *c <= 'Z') ? (char)(*c + 32) : *c;
    const char *best = NULL;
    size_t best_distance = strlen(plain) < 4 ? 2 : 3 + strlen(plain) / 8;
    for (size_t i = 0; i < option_row_count; i++) {
        const char *candidate = option_rows[i].name;
        bool begins = strlen(plain) >= 3 && strncmp(candidate, plain, strlen(plain)) == 0;
        size_t far = begins ? 1 : distance(plain, candidate);
        if (far < best_distance && far < strlen(candidate)) {
            best = candidate;
            best_distance = far;
        }
    }
    if (!best || !is_variable)
        return best;
    snprintf(variable, sizeof(variable), "SHMEM_RUN_%s", best);
    for (char *c = variable + 10; *c; c++)
        *c = *c == '-' ? '_' : (*c >= 'a' && *c <= 'z') ? (char)(*c - 32) : *c;
    return variable;
}
