/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEs that never come to a call, for every kind of call that waits: it ends at its limit, once and not per missing PE, names
 * exactly those that are missing, leaves what others need, and the process can finalize.
 * [R-01] [R-18] [R-20] [R-26]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

enum { PES = 5, WAIT_MS = 250, CONTROL_S = 5, TEAMS = 8, SLACK_MS = 30000 };

static bool is_missing(int pe)
{
    return pe == 2 || pe == 4;
}

static int64_t *words;
static int32_t *signals;
static aclshmem_team_t teams[TEAMS];
static aclrtStream stream;

/* --- The calls; each has a team of its own, since a team that was given up on is out of step for good --- */

static void call_barrier(void)
{
    aclshmem_barrier(teams[0]);
}

static void call_sync(void)
{
    aclshmem_sync(teams[1]);
}

static void call_reduce(void)
{
    t_check(aclshmem_int64_sum_reduce(teams[2], &words[0], &words[1], 1) != 0);
}

static void call_broadcast(void)
{
    t_check(aclshmem_int64_broadcast(teams[3], &words[0], &words[1], 1, 2) != 0);
}

static void call_split(void)
{
    aclshmem_team_t made = 5;
    t_check(aclshmem_team_split_strided(teams[4], 0, 1, 2, &made) != 0);
    t_check_int(made, ACLSHMEM_TEAM_INVALID);
}

static void call_destroy(void)
{
    aclshmem_team_destroy(teams[5]);
}

static void call_stream_barrier(void)
{
    aclshmemx_barrier_on_stream(teams[6], stream);
    t_check_int(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    t_check_int(aclshmemx_stream_status(stream), ACLSHMEM_TIMEOUT_ERROR);
}

static void call_stream_reduce(void)
{
    t_check_int(aclshmemx_int64_max_reduce_on_stream(teams[7], &words[0], &words[1], 1, stream), 0);
    t_check_int(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    t_check_int(aclshmemx_stream_status(stream), ACLSHMEM_TIMEOUT_ERROR);
}

static void call_barrier_all(void)
{
    aclshmem_barrier_all();
}

static const struct {
    const char *name;
    void (*call)(void);
} meetings[] = {{"barrier", call_barrier},
                {"sync", call_sync},
                {"reduce", call_reduce},
                {"broadcast", call_broadcast},
                {"split", call_split},
                {"destroy", call_destroy},
                {"barrier on stream", call_stream_barrier},
                {"reduce on stream", call_stream_reduce},
                {"barrier_all", call_barrier_all}};

/* Behind "missing" stand the missing PEs and no others. */
static void check_names(const char *what)
{
    const char *text = aclshmemx_last_error(NULL), *list = strstr(text, "missing");
    t_check_that(list != NULL, "%s says only \"%s\"", what, text);
    for (int pe = 0; pe < PES; pe++) {
        char name[16];
        snprintf(name, sizeof name, "PE %d ", pe);
        t_check_that((strstr(list, name) != NULL) == is_missing(pe), "%s: PE %d in \"%s\"", what, pe, text);
    }
}

static void check_time(const char *what, uint64_t started, uint64_t limit_ms)
{
    uint64_t took = t_now_ms() - started;
    t_check_that(took + 1 >= limit_ms && took < limit_ms + SLACK_MS, "%s: %llu ms, limit %llu", what,
                 (unsigned long long)took, (unsigned long long)limit_ms);
}

static void every_meeting(void)
{
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++) {
        int code;
        aclshmemx_clear_error();
        uint64_t started = t_now_ms();
        meetings[i].call();
        check_time(meetings[i].name, started, WAIT_MS);
        aclshmemx_last_error(&code);
        t_check_int(code, ACLSHMEM_TIMEOUT_ERROR);
        check_names(meetings[i].name);
    }
}

#define EXPIRES(statement)                                                                                   \
    do {                                                                                                     \
        int code_;                                                                                           \
        aclshmemx_clear_error();                                                                             \
        uint64_t started_ = t_now_ms();                                                                      \
        statement;                                                                                           \
        check_time(#statement, started_, WAIT_MS);                                                           \
        aclshmemx_last_error(&code_);                                                                        \
        t_check_int(code_, ACLSHMEM_TIMEOUT_ERROR);                                                          \
    } while (0)

/* Waits for words that nobody writes. */
static void every_wait(void)
{
    int64_t wanted[3] = {1, 1, 1};
    size_t found, index[3];
    EXPIRES(aclshmem_signal_wait_until(&signals[0], ACLSHMEM_CMP_EQ, 1));
    EXPIRES(aclshmem_int64_wait_until(&words[2], ACLSHMEM_CMP_NE, 0));
    EXPIRES(aclshmem_int64_wait_until_any(&words[2], 3, NULL, ACLSHMEM_CMP_EQ, 1, &found));
    EXPIRES(
        aclshmem_int64_wait_until_some_vector(&words[2], 3, index, NULL, ACLSHMEM_CMP_EQ, wanted, &found));
    EXPIRES({
        aclshmemx_signal_wait_until_on_stream(&signals[0], ACLSHMEM_CMP_GT, 0, stream);
        t_check_int(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        t_check_int(aclshmemx_stream_status(stream), ACLSHMEM_TIMEOUT_ERROR);
    });
}

/* Members that are all here go on as if nothing had happened, and so does everything that needs nobody. */
static void what_still_works(int pe, aclshmem_team_t here)
{
    aclshmemx_clear_error();
    if (here != ACLSHMEM_TEAM_INVALID) {
        words[1] = pe;
        t_check_int(aclshmem_int64_sum_reduce(here, &words[0], &words[1], 1), 0);
        t_check_int(words[0], 0 + 1);
        aclshmem_barrier(here);
    }
    aclshmem_int64_p(&words[5], 77, 2); /* PE 2 is not here, but its memory is */
    aclshmem_quiet();
    t_check_int(aclshmem_int64_g(&words[5], 2), 77);
    t_check_text(aclshmemx_last_error(NULL), "");
}

static void run_calls(job_t *job, int pe)
{
    aclshmem_team_t here;
    setenv("SHMEM_ON_PEER_DEATH", "error", 1);
    job_enter(job, pe);
    t_check((words = aclshmem_calloc(8, sizeof *words)) != NULL);
    t_check((signals = aclshmem_calloc(8, sizeof *signals)) != NULL);
    for (int i = 0; i < TEAMS; i++)
        t_check_int(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, PES, &teams[i]), 0);
    t_check_int(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, 2, &here), 0);
    aclshmem_barrier_all();
    if (is_missing(pe))
        for (;;)
            pause();
    t_check_int(aclrtCreateStream(&stream), ACL_SUCCESS);
    aclshmemx_set_extern_logger(t_log_callback);
    every_meeting();
    every_wait();
    what_still_works(pe, here);
    /* The control plane has a limit of its own. Who gave up there leaves without waiting once more. */
    aclshmemx_clear_error();
    uint64_t started = t_now_ms();
    t_check(aclshmem_malloc(64) == NULL);
    /* The limit of who came first counts for all, so that all get one verdict; the others came a little later. */
    check_time("malloc", started, 1000 * CONTROL_S / 2);
    t_check_contains(aclshmemx_last_error(NULL), "PE 2");
    t_check_int(aclrtDestroyStream(stream), ACL_SUCCESS);
    started = t_now_ms();
    t_check_int(aclshmem_finalize(), ACLSHMEM_SMEM_ERROR);
    t_check_that(t_now_ms() - started < 1000 * CONTROL_S, "finalize waited once more, %llu ms",
                 (unsigned long long)(t_now_ms() - started));
    t_check_contains(aclshmemx_last_error(NULL), "PE 2");
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

int main(void)
{
    job_t job;
    job_init(&job, PES);
    job.control_timeout_s = CONTROL_S;
    char limit[32];
    snprintf(limit, sizeof limit, "%g", WAIT_MS / 1000.0);
    setenv("SHMEM_WAIT_TIMEOUT", limit, 1);
    for (int pe = 0; pe < PES; pe++)
        job_start(&job, pe, run_calls);
    for (int pe = 0; pe < PES; pe++)
        if (!is_missing(pe))
            job_expect(&job, pe, 0);
    return 0; /* the others end with this process */
}
