/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that are missing, late, stopped or dead: who is told what, how soon, and what still works. */
/* */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

enum { PROMPT_MS = 5000 }; /* a death is known everywhere by then */

/* A place that parent and PEs share: who has come how far. */
typedef struct stage {
    _Atomic int reached[64];
} stage_t;

static void quiet_log(void)
{
    aclshmemx_set_extern_logger(t_log_callback);
}

static void reach(job_t *job, int pe, int stage)
{
    stage_t *s = job->arg;
    atomic_store(&s->reached[pe], stage);
}

/* Waits until a PE has come that far; the test's own deadline ends a wait that never does. */
static void await(const job_t *job, int pe, int stage)
{
    stage_t *s = job->arg;
    uint64_t started = t_now_ms();
    while (atomic_load(&s->reached[pe]) < stage) {
        struct timespec nap = {.tv_nsec = 2000000};
        nanosleep(&nap, NULL);
        t_check_that(t_now_ms() - started < 60000, "PE %d never came to stage %d", pe, stage);
    }
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static int init_of(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
}

/* [B-31] [B-32] [F-01] A PE that never comes: the others give up after the control time-out and name it. */
static void one_missing(job_t *job, int pe)
{
    quiet_log();
    uint64_t started = t_now_ms();
    t_check_int(init_of(job, pe), ACLSHMEM_SMEM_ERROR);
    uint64_t took = t_now_ms() - started;
    t_check_that(took >= 1500 && took < 15000, "gave up after %llu ms", (unsigned long long)took);
    job_check_error(ACLSHMEM_SMEM_ERROR, "PE 2");
}

/* [B-23] PE 0 never starts: the connect limit holds. */
static void no_root(job_t *job, int pe)
{
    quiet_log();
    uint64_t started = t_now_ms();
    int rc = init_of(job, pe);
    uint64_t took = t_now_ms() - started;
    t_check(rc == ACLSHMEM_INNER_ERROR || rc == ACLSHMEM_TIMEOUT_ERROR);
    t_check_that(took >= 1800 && took < 8000, "gave up after %llu ms, limit 2 s", (unsigned long long)took);
}

/* [B-17] PE 0 comes late; early PEs keep trying. */
static void late_root(job_t *job, int pe)
{
    if (pe == 0) {
        await(job, 1, 1);
        struct timespec nap = {.tv_sec = 1};
        nanosleep(&nap, NULL);
    }
    reach(job, pe, 1);
    job_enter(job, pe);
    job_leave();
}

/* [F-05] [H-37] [Y-14] With SHMEM_ON_PEER_DEATH=error survivors go on: every call returns an error at once, finalize too, and a
 * new job may start in the same process [F-07]. */
static void survive(job_t *job, int pe)
{
    int victim = job->heap_bytes > (UINT64_C(2) << 20) ? 0 : job->n_pes - 1;
    setenv("SHMEM_ON_PEER_DEATH", "error", 1);
    job_enter(job, pe);
    reach(job, pe, 1);
    if (pe == victim)
        sleep_for_ever();
    quiet_log();
    uint64_t started = t_now_ms();
    aclshmem_barrier_all(); /* the victim never comes */
    t_check(t_now_ms() - started < 60000);
    int code;
    aclshmemx_last_error(&code);
    t_check_int(code, ACLSHMEM_SMEM_ERROR);
    t_check_int(aclshmemx_failed_pe(), victim);
    started = t_now_ms();
    t_check(aclshmem_malloc(64) == NULL);
    aclshmem_barrier_all();
    int32_t *word = aclshmemx_get_heap_base(DEVICE_SIDE);
    t_check(aclshmemx_signal_wait_until_timeout(word, ACLSHMEM_CMP_EQ, 12345, 60000, NULL) != 0);
    t_check(aclshmem_finalize() != 0);
    t_check_that(t_now_ms() - started < PROMPT_MS, "after the death calls took %llu ms",
                 (unsigned long long)(t_now_ms() - started));
    t_check_int(aclshmem_finalize(), 0);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    aclshmemx_set_extern_logger(NULL);
    job_t own;
    job_init(&own, 1);
    job_enter(&own, 0);
    job_leave();
}

/* Default: the job stops, also PEs that compute and never look. */
static void compute_for_ever(job_t *job, int pe)
{
    job_enter(job, pe);
    reach(job, pe, 1);
    sleep_for_ever();
}

/* [F-02] [F-04] Killed inside init: the others fail at once. */
static void die_in_init(job_t *job, int pe)
{
    int victim = job->heap_bytes > (UINT64_C(2) << 20) ? 0 : 2;
    if (pe == victim)
        raise(SIGSTOP); /* the parent lets it go on and kills it at random moments of init */
    quiet_log();
    reach(job, pe, 1);
    (void)!init_of(job, pe);
}

/* [F-06] A PE that never finalizes: time-out, and the rest of the process is free again. */
static void no_farewell(job_t *job, int pe)
{
    job_enter(job, pe);
    if (pe == 1) {
        reach(job, pe, 1);
        sleep_for_ever();
    }
    quiet_log();
    uint64_t started = t_now_ms();
    t_check_int(aclshmem_finalize(), ACLSHMEM_SMEM_ERROR);
    uint64_t took = t_now_ms() - started;
    t_check_that(took >= 1500 && took < 15000, "gave up after %llu ms, limit 2 s", (unsigned long long)took);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

/* [H-27] [H-28] Only one PE calls malloc or free. */
static void lonely_calls(job_t *job, int pe)
{
    job_enter(job, pe);
    void *p = aclshmem_malloc(4096);
    t_check(p != NULL);
    aclshmemx_heap_info_t before, after;
    t_check_int(aclshmemx_heap_info(DEVICE_SIDE, &before), 0);
    if (pe == 0) {
        quiet_log();
        t_check(aclshmem_malloc(64) == NULL);
        t_check_int(aclshmemx_heap_info(DEVICE_SIDE, &after), 0);
        t_check_uint(after.used, before.used);
        aclshmem_free(p);
        t_check_int(aclshmemx_heap_info(DEVICE_SIDE, &after), 0);
        t_check_uint(after.used, before.used);
        reach(job, 0, 1);
    } else {
        await(job, 0, 1);
    }
}

/* A wait that nobody ends gives up after its limit, says what it waited for, and the PE finalizes normally. */
static void wait_expires(job_t *job, int pe)
{
    setenv("SHMEM_WAIT_TIMEOUT", "0.3", 1);
    job_enter(job, pe);
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    t_check(word != NULL);
    quiet_log();
    uint64_t started = t_now_ms();
    aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 7);
    uint64_t took = t_now_ms() - started;
    t_check_that(took >= 300 && took < 10000, "gave up after %llu ms, limit 300", (unsigned long long)took);
    job_check_error(ACLSHMEM_TIMEOUT_ERROR, "is 0, wanted == 7");
    aclshmemx_set_extern_logger(NULL);
    job_leave();
}

/* [L-24] One PE ends all, whatever they do, with its status; 0 as well. */
static void exit_all(job_t *job, int pe)
{
    job_enter(job, pe);
    job_ends_suddenly = true;
    reach(job, pe, 1);
    if (pe == 1) {
        for (int other = 0; other < job->n_pes; other++)
            await(job, other, 1);
        aclshmem_global_exit(job->heap_bytes > (UINT64_C(2) << 20) ? 0 : 7);
    }
    if (pe == 0)
        aclshmem_barrier_all();
    sleep_for_ever();
}

static void exit_before_init(job_t *job, int pe)
{
    (void)job;
    (void)pe;
    aclshmem_global_exit(9);
}

/* [F-19] A forked child has no part in the job, whatever it does. */
static void fork_inside(job_t *job, int pe)
{
    job_enter(job, pe);
    pid_t child = fork();
    t_check(child >= 0);
    if (child == 0) {
        quiet_log();
        bool out = aclshmem_my_pe() == -1 && aclshmem_malloc(64) == NULL && aclshmem_finalize() == 0 &&
                   aclshmemx_init() != 0;
#ifdef __SANITIZE_ADDRESS__
        _exit(
            out ? 0
                : 1); /* the copy of the parent's connections, which nobody may close, would be called a leak */
#else
        exit(out ? 0 : 1);
#endif
    }
    int status;
    t_check(waitpid(child, &status, 0) == child && status == 0);
    aclshmem_barrier_all();
    t_check(aclshmem_malloc(64) != NULL);
    job_leave();
}

static stage_t *shared_stage(void)
{
    stage_t *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    t_check(s != MAP_FAILED);
    return s;
}

static void start_all(job_t *job, int n_pes, job_body_t *body)
{
    job_init(job, n_pes);
    job->arg = shared_stage();
    for (int pe = 0; pe < n_pes; pe++)
        job_start(job, pe, body);
}

static void kill_pe(job_t *job, int pe)
{
    t_check_int(kill(job->pe[pe].pid, SIGKILL), 0);
    job_expect(job, pe, 128 + SIGKILL);
}

static void run_missing(void)
{
    job_t job;
    job_init(&job, 3);
    job.control_timeout_s = 2;
    job.arg = shared_stage();
    job_start(&job, 0, one_missing);
    job_start(&job, 1, one_missing);
    job_expect(&job, 0, 0);
    job_expect(&job, 1, 0);
    job_init(&job, 2);
    job.init_timeout_s = 2;
    job_start(&job, 1, no_root);
    job_expect(&job, 1, 0);
}

static void run_survive(int victim)
{
    job_t job;
    job_init(&job, 3);
    job.arg = shared_stage();
    job.heap_bytes = victim == 0 ? UINT64_C(4) << 20 : UINT64_C(2) << 20;
    for (int pe = 0; pe < 3; pe++)
        job_start(&job, pe, survive);
    for (int pe = 0; pe < 3; pe++)
        await(&job, pe, 1);
    kill_pe(&job, victim);
    for (int pe = 0; pe < 3; pe++)
        if (pe != victim)
            job_expect(&job, pe, 0);
}

static void run_stop(int victim)
{
    job_t job;
    start_all(&job, 3, compute_for_ever);
    for (int pe = 0; pe < 3; pe++)
        await(&job, pe, 1);
    uint64_t killed = t_now_ms();
    kill_pe(&job, victim);
    for (int pe = 0; pe < 3; pe++) {
        if (pe == victim)
            continue;
        t_finish(&job.pe[pe], 60000);
        t_check_exit(&job.pe[pe], 1);
        t_check_contains(job.pe[pe].err, "this PE ends as well");
        t_child_free(&job.pe[pe]);
    }
    t_check_that(t_now_ms() - killed < PROMPT_MS, "the job went on for %llu ms after a death",
                 (unsigned long long)(t_now_ms() - killed));
}

static void run_exit(int status)
{
    job_t job;
    job_init(&job, 3);
    job.arg = shared_stage();
    job.heap_bytes = status == 0 ? UINT64_C(4) << 20 : UINT64_C(2) << 20;
    for (int pe = 0; pe < 3; pe++)
        job_start(&job, pe, exit_all);
    for (int pe = 0; pe < 3; pe++)
        job_expect(&job, pe, status);
    job_init(&job, 1);
    job_start(&job, 0, exit_before_init); /* [L-25] the caller alone ends */
    job_expect(&job, 0, 9);
}

static void run_no_farewell(void)
{
    job_t job;
    job_init(&job, 3);
    job.arg = shared_stage();
    job.control_timeout_s = 2;
    setenv("SHMEM_ON_PEER_DEATH", "error", 1);
    for (int pe = 0; pe < 3; pe++)
        job_start(&job, pe, no_farewell);
    job_expect(&job, 0, 0);
    job_expect(&job, 2, 0);
    kill_pe(&job, 1);
    unsetenv("SHMEM_ON_PEER_DEATH");
}

static void run_lonely(void)
{
    job_t job;
    job_init(&job, 2);
    job.arg = shared_stage();
    job.control_timeout_s = 2;
    setenv("SHMEM_ON_PEER_DEATH", "error", 1);
    job_run(&job, lonely_calls);
    unsetenv("SHMEM_ON_PEER_DEATH");
}

/* [F-02] [F-04] Whatever moment of init a PE dies at, the others return, and never hang. */
static void run_die_in_init(int victim, int delay_us)
{
    job_t job;
    job_init(&job, 3);
    job.arg = shared_stage();
    job.heap_bytes = victim == 0 ? UINT64_C(4) << 20 : UINT64_C(2) << 20;
    job.control_timeout_s = 4;
    job.init_timeout_s = 4;
    for (int pe = 0; pe < 3; pe++)
        job_start(&job, pe, die_in_init);
    int status;
    t_check(waitpid(job.pe[victim].pid, &status, WUNTRACED) == job.pe[victim].pid && WIFSTOPPED(status));
    t_check_int(kill(job.pe[victim].pid, SIGCONT), 0);
    struct timespec nap = {.tv_nsec = delay_us * 1000L};
    nanosleep(&nap, NULL);
    kill(job.pe[victim].pid, SIGKILL);
    for (int pe = 0; pe < 3; pe++) {
        t_finish(&job.pe[pe], 60000);
        t_check_that(!job.pe[pe].timed_out, "PE %d hangs after PE %d died %d us into init", pe, victim,
                     delay_us);
        t_check(pe == victim || job.pe[pe].exit_code == 0 || job.pe[pe].exit_code == 1);
        t_child_free(&job.pe[pe]);
    }
}

int main(void)
{
    job_t job;
    run_missing();
    start_all(&job, 3, late_root);
    for (int pe = 0; pe < 3; pe++)
        job_expect(&job, pe, 0);
    run_survive(2);
    run_survive(0);
    run_stop(2);
    run_stop(0);
    run_exit(7);
    run_exit(0);
    run_no_farewell();
    run_lonely();
    job_init(&job, 2);
    job_run(&job, wait_expires);
    job_init(&job, 3);
    job_run(&job, fork_inside);
    for (int i = 0; i < 12; i++)
        run_die_in_init(i % 2 == 0 ? 2 : 0, 500 + i * 2500);
    return 0;
}
