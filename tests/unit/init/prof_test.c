/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle counts: where kernels find their record, what is copied back and printed, and on which PE. [L-21] [L-22] [L-23] */
#define LOG_MODULE "test"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/init/shmem_host_init.h"
#include "host/instance.h"
#include "host_device/state.h"
#include "host/utils/shmem_log.h"
#include "support/unit.h"

static void enter(const char *pe)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 2 << 20;
    if (pe != NULL)
        setenv("SHMEM_CYCLE_PROF_PE", pe, 1);
    else
        unsetenv("SHMEM_CYCLE_PROF_PE");
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
}

/* What a kernel does between two marks. */
static void count(int block, int frame, int64_t passes, int64_t cycles)
{
    aclshmem_prof_pe_t *record = aclshmemi_current()->state->seen.profs;
    t_check(record != NULL && record->pe_id == aclshmemi_current()->pe);
    record->block_prof[block].ccount[frame] += passes;
    record->block_prof[block].cycles[frame] += cycles;
}

/* What the call writes to standard output. */
static char *printed(void (*call)(void))
{
    char folder[256], path[300];
    t_dir_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/out", folder);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    t_check(kept >= 0 && freopen(path, "w", stdout) != NULL);
    call();
    fflush(stdout);
    t_check(dup2(kept, STDOUT_FILENO) == STDOUT_FILENO);
    close(kept);
    char *text = t_file_read(path);
    t_dir_remove(folder);
    return text;
}

static void print_verbose(void)
{
    aclshmem_prof_pe_t *counts = NULL;
    aclshmemx_get_prof(&counts, true);
    t_check(counts != NULL);
}

static void nothing_to_get(void)
{
    aclshmem_prof_pe_t *counts = (aclshmem_prof_pe_t *)(void *)&counts;
    aclshmemx_get_prof(&counts, true);
    t_check(counts == NULL);
    aclshmemx_get_prof(NULL, false);
    aclshmemx_show_prof();
}

static void off_by_default(void **unused)
{
    (void)unused;
    aclshmemi_status_clear();
    enter(NULL);
    t_check(aclshmemi_current()->state->seen.profs == NULL);
    char *text = printed(nothing_to_get);
    t_check_text(text, "");
    free(text);
    t_check_int(aclshmemi_status_last_code(), 0);
    t_check_int(aclshmem_finalize(), 0);
}

static void without_instance(void **unused)
{
    (void)unused;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    aclshmemi_status_clear();
    aclshmemx_get_prof(NULL, false);
    t_check_int(aclshmemi_status_last_code(), 0);
    nothing_to_get();
    t_check_int(aclshmemi_status_last_code(), ACLSHMEM_NOT_INITED);
    t_unit_log_stop();
}

static void counts_come_back(void **unused)
{
    (void)unused;
    enter("0");
    aclshmem_prof_pe_t *counts = NULL, *again = NULL;
    aclshmemx_get_prof(&counts, false);
    t_check(counts != NULL && counts != aclshmemi_current()->state->seen.profs);
    t_check_int(counts->pe_id, 0);
    for (int block = 0; block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK; block++)
        for (int frame = 0; frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT; frame++)
            t_check(counts->block_prof[block].ccount[frame] == 0 &&
                    counts->block_prof[block].cycles[frame] == 0);
    count(0, 7, 4, 1000);
    count(63, 1023, 3, 500);
    t_check_int(counts->block_prof[0].ccount[7], 0); /* a copy, taken when it is asked for */
    aclshmemx_get_prof(&again, false);
    t_check(again == counts);
    t_check_int(counts->block_prof[0].ccount[7], 4);
    t_check_int(counts->block_prof[0].cycles[7], 1000);
    t_check_int(counts->block_prof[63].cycles[1023], 500);
    count(0, 7, 1, 250);
    char *text = printed(print_verbose);
    static const char expected[] = "BlockID  FrameID            Cycles        Count      AvgTime(us)\n"
                                   "0        7                    1250            5            5.000\n"
                                   "63       1023                  500            3            3.333\n";
    t_check_text(text, expected);
    free(text);
    text = printed(aclshmemx_show_prof);
    t_check_text(text, expected);
    free(text);
    t_check_int(aclshmem_finalize(), 0);
}

/* Words and PEs that do not exist mean PE 0, with a warning; a new instance starts from zero. */
static void anything_else_is_pe_0(void **unused)
{
    (void)unused;
    static const char *const values[] = {"x", "99", "-1", "0x", "1"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        t_unit_log_start(ACLSHMEMI_LOG_WARN);
        enter(values[i]);
        t_log_expect_level(ACLSHMEMI_LOG_WARN, "counted on PE 0");
        count(1, 1, 1, 1);
        aclshmem_prof_pe_t *counts = NULL;
        aclshmemx_get_prof(&counts, false);
        t_check(counts != NULL);
        t_check_int(counts->block_prof[1].ccount[1], 1);
        t_check_int(aclshmem_finalize(), 0);
        t_unit_log_stop();
    }
}

int main(void)
{
    t_clean_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_instance),
        cmocka_unit_test(off_by_default),
        cmocka_unit_test(counts_come_back),
        cmocka_unit_test(anything_else_is_pe_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
