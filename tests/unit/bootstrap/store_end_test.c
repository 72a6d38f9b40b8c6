/* SPDX-License-Identifier: Apache-2.0 */
/* Ends: deaths in every phase, stopped PEs, PEs that leave, the end of a job with a status, forks. */
#define LOG_MODULE "test"
#include "pes.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pes_t job;

static void check_failure(int rc, int code, const char *part)
{
    t_check_that(rc == code, "code %d, expected %d: %s", rc, code, aclshmemi_status_last_text());
    t_check_contains(aclshmemi_status_last_text(), part);
}

static void await_failed_pe(pe_t *pe, int failed)
{
    uint64_t end = t_now_ms() + 5000;
    while (atomic_load(&pe->bs.failed_pe) != failed) {
        t_check_that(t_now_ms() < end, "PE %d is not known to be dead", failed);
        usleep(1000);
    }
}

static void finish_expecting(int pe, int exit_code, int deadline_ms)
{
    t_finish(&job.child[pe], deadline_ms);
    t_check_exit(&job.child[pe], exit_code);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        n++;
    return n;
}

static void wait_to_be_killed(pe_t *pe)
{
    pe_reach(pe, 1);
    for (;;)
        pause();
}

/* --- Death before arm: calls fail, the process goes on --- */

static void run_death_in_barrier(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 2)
        wait_to_be_killed(pe);
    pe_reach(pe, 1);
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "PE 2 (host ");
    t_check_contains(aclshmemi_status_last_text(), "is gone without a goodbye");
    await_failed_pe(pe, 2);
    uint64_t begin = t_now_ms();
    char byte = 0, bytes[8];
    t_check_int(pe_barrier(pe), ACLSHMEM_SMEM_ERROR);
    t_check_int(aclshmemi_bootstrap_allgather(&pe->bs, &byte, bytes, 1), ACLSHMEM_SMEM_ERROR);
    t_check(t_now_ms() - begin < 1000);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_death_fails_what_waits_at_once(void **state)
{
    (void)state;
    pes_init(&job, 4, run_death_in_barrier);
    pes_start_all(&job);
    for (int pe = 0; pe < 4; pe++)
        pes_await(&job, pe, 1);
    kill(job.child[2].pid, SIGKILL);
    for (int pe = 0; pe < 4; pe++)
        finish_expecting(pe, pe == 2 ? 128 + SIGKILL : 0, 8000); /* far below the deadline of the barrier */
    pes_fini(&job);
}

static void run_death_of_root(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 0)
        wait_to_be_killed(pe);
    pe_reach(pe, 1);
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "the connection to PE 0 is lost");
    t_check_int(atomic_load(&pe->bs.failed_pe), 0);
    uint64_t begin = t_now_ms();
    t_check_int(pe_barrier(pe), ACLSHMEM_SMEM_ERROR);
    aclshmemi_bootstrap_abort(&pe->bs, 9); /* nobody is left to tell */
    aclshmemi_bootstrap_close(&pe->bs);
    t_check(t_now_ms() - begin < 1000);
}

static void test_death_of_root(void **state)
{
    (void)state;
    pes_init(&job, 3, run_death_of_root);
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        pes_await(&job, pe, 1);
    kill(job.child[0].pid, SIGKILL);
    for (int pe = 0; pe < 3; pe++)
        finish_expecting(pe, pe == 0 ? 128 + SIGKILL : 0, 8000);
    pes_fini(&job);
}

/* A PE dies in the middle of a long exchange, which goes along a tree or straight to PE 0. */
static void run_death_in_exchange(pe_t *pe)
{
    size_t bytes = 24u << 20;
    char *send = calloc(1, bytes), *recv = malloc(bytes * 5);
    t_check(send && recv);
    pe->env.tree_above = *(const int *)pe->job->arg;
    pe->env.tree_fanout = 2;
    pe_open_ok(pe);
    pe_check_allgather(pe, 1000);
    pe_reach(pe, 1);
    int rc = 0;
    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = aclshmemi_bootstrap_allgather(&pe->bs, send, recv, bytes);
    t_check_that(rc == ACLSHMEM_SMEM_ERROR, "exchanges went on: %d", rc);
    aclshmemi_bootstrap_close(&pe->bs);
    free(send);
    free(recv);
}

/* [F-09] */
static void test_death_in_an_exchange(void **state)
{
    (void)state;
    const int above[] = {64, 2};
    for (int i = 0; i < 6; i++) {
        int victim = i % 3;
        pes_init(&job, 5, run_death_in_exchange);
        job.arg = &above[i / 3];
        pes_start_all(&job);
        for (int pe = 0; pe < 5; pe++)
            pes_await(&job, pe, 1);
        usleep((useconds_t)(20000 + 5000 * i));
        kill(job.child[victim].pid, SIGKILL);
        for (int pe = 0; pe < 5; pe++)
            finish_expecting(pe, pe == victim ? 128 + SIGKILL : 0, 15000);
        pes_fini(&job);
    }
}

/* --- Stopped is not dead --- */

static void run_stopped(pe_t *pe)
{
    pe->params.operation_timeout_ms = 1500;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    pe_reach(pe, 1);
    if (pe->pe == 2)
        pe_await(pe, 0, 2); /* stopped here, until the others have given up */
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 2 (last seen in barrier, number 1,");
    t_check_int(atomic_load(&pe->bs.failed_pe), -1);
    pe_reach(pe, 2);
    pe->params.operation_timeout_ms = 20000;
    pe_await(pe, 0, 3); /* set by the test when PE 2 runs again */
    pe_check_allgather(pe, 1000);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [F-03] */
static void test_stopped_is_not_dead(void **state)
{
    (void)state;
    pes_init(&job, 3, run_stopped);
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        pes_await(&job, pe, 1);
    kill(job.child[2].pid, SIGSTOP);
    pes_await(&job, 0, 2);
    pes_await(&job, 1, 2);
    sleep(5); /* longer than a dead host would be given */
    kill(job.child[2].pid, SIGCONT);
    pes_await(&job, 2, 2);
    atomic_store(&job.shared->reached[0], 3);
    for (int pe = 0; pe < 3; pe++)
        finish_expecting(pe, 0, 10000);
    pes_fini(&job);
}

static void run_stopped_root(pe_t *pe)
{
    pe->params.operation_timeout_ms = 1000;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_reach(pe, 1);
    if (pe->pe == 0)
        pe_await(pe, 1, 2);
    uint64_t begin = t_now_ms();
    if (pe->pe == 1) {
        check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "PE 0 did not answer in time");
        t_check(t_now_ms() - begin < 4000);
    }
    pe_reach(pe, 2);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_stopped_root(void **state)
{
    (void)state;
    pes_init(&job, 2, run_stopped_root);
    pes_start_all(&job);
    pes_await(&job, 0, 1);
    kill(job.child[0].pid, SIGSTOP);
    pes_await(&job, 1, 2);
    finish_expecting(1, 0, 10000);
    kill(job.child[0].pid, SIGCONT);
    finish_expecting(0, 0, 10000);
    pes_fini(&job);
}

/* --- A host that is gone: seen only by its silence --- */

static void lo_down(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    t_check(fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0);
    request.ifr_flags &= (short)~IFF_UP;
    t_check(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    close(fd);
}

static void run_in_dying_network(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_reach(pe, 1);
    for (int other = 0; other < pe->bs.n_pes; other++)
        pe_await(pe, other, 1);
    uint64_t begin = t_now_ms();
    if (pe->pe == 0)
        lo_down();
    if (pe->pe != 2)
        t_check_int(pe_barrier(pe), ACLSHMEM_SMEM_ERROR);
    while (atomic_load(&pe->bs.failed_pe) < 0) { /* PE 2 computes: keepalive alone tells it */
        t_check_that(t_now_ms() - begin < 8000, "not noticed after 8 s");
        usleep(5000);
    }
    aclshmemi_bootstrap_close(&pe->bs);
}

/* The same with much data under way, when keepalive is silent. */
static void run_exchange_in_dying_network(pe_t *pe)
{
    size_t bytes = 16u << 20;
    char *send = calloc(1, bytes), *recv = malloc(3 * bytes);
    t_check(send && recv);
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_reach(pe, 1);
    int rc = 0;
    uint64_t began = 0;
    for (int i = 0; rc == 0; i++) {
        if (pe->pe == 0 && i == 3)
            lo_down();
        began = t_now_ms();
        rc = aclshmemi_bootstrap_allgather(&pe->bs, send, recv, bytes);
    }
    t_check_int(rc, ACLSHMEM_SMEM_ERROR);
    t_check_that(t_now_ms() - began < 10000, "noticed after %llu ms",
                 (unsigned long long)(t_now_ms() - began));
    aclshmemi_bootstrap_close(&pe->bs);
    free(send);
    free(recv);
}

static void start_in_own_network(void *argument)
{
    void (*const *run)(pe_t *) = argument;
    if (!t_unshare_network())
        _exit(T_SKIP);
    pes_init(&job, 3, *run);
    pes_start_all(&job);
    pes_finish(&job, 30000);
    pes_expect(&job, 0);
}

static void test_dead_host(void **state)
{
    void (*runs[])(pe_t *) = {run_in_dying_network, run_exchange_in_dying_network};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        t_child_t child;
        t_run_function(&child, start_in_own_network, &runs[i], 60000);
        if (child.exit_code == T_SKIP)
            skip(); /* this system gives no network of one's own */
        t_check_exit(&child, 0);
        t_child_free(&child);
    }
}

/* --- Armed: the death of one is the end of all --- */

static void run_armed(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    aclshmemi_bootstrap_arm(&pe->bs);
    if (pe->pe == 3) {
        pe_reach(pe, 1);
        (void)pe_barrier(pe); /* waiting */
    }
    wait_to_be_killed(pe); /* computing */
}

static void test_armed_job_ends_as_a_whole(void **state)
{
    (void)state;
    for (int victim = 0; victim < 3; victim += 2) {
        pes_init(&job, 4, run_armed);
        pes_start_all(&job);
        for (int pe = 0; pe < 4; pe++)
            pes_await(&job, pe, 1);
        kill(job.child[victim].pid, SIGKILL);
        for (int pe = 0; pe < 4; pe++) {
            finish_expecting(pe, pe == victim ? 128 + SIGKILL : 1, 5000);
            if (pe != victim) {
                t_check_int(count(job.child[pe].err, "FATAL"), 1);
                t_check_contains(job.child[pe].err,
                                 victim == 0 ? "the connection to PE 0 is lost" : "PE 2 (host ");
            }
        }
        pes_fini(&job);
    }
}

static void run_error_policy(pe_t *pe)
{
    pe->env.on_peer_death = 1;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    if (pe->pe == 1)
        wait_to_be_killed(pe);
    pe_reach(pe, 1);
    await_failed_pe(pe, 1);
    sleep(1); /* twice the time after which the other policy ends the process */
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "PE 1 (host ");
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_error_policy_keeps_running(void **state)
{
    (void)state;
    pes_init(&job, 3, run_error_policy);
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        pes_await(&job, pe, 1);
    kill(job.child[1].pid, SIGKILL);
    finish_expecting(0, 0, 8000);
    finish_expecting(2, 0, 8000);
    pes_finish(&job, 1000);
    pes_fini(&job);
}

static void run_return_without_close(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    t_check_int(pe_barrier(pe), 0);
    usleep((useconds_t)(pe->pe * 20000)); /* all end within a moment, one after the other */
    _exit(5);
}

static void test_ending_without_close_is_quiet(void **state)
{
    (void)state;
    pes_init(&job, 4, run_return_without_close);
    pes_start_all(&job);
    for (int pe = 0; pe < 4; pe++) {
        finish_expecting(pe, 5, 8000);
        t_check_text(job.child[pe].err, "");
    }
    pes_fini(&job);
}

/* --- Leaving --- */

static void run_quick_root(pe_t *pe)
{
    for (int i = 0; i < 10; i++) {
        pe_open_ok(pe);
        t_check_int(pe_barrier(pe), 0);
        aclshmemi_bootstrap_arm(&pe->bs);
        t_check_int(pe_barrier(pe), 0);
        if (pe->pe > 0)
            usleep((useconds_t)(pe->pe * 10000)); /* PE 0 is long in close */
        t_check_int(atomic_load(&pe->bs.failed_pe), -1);
        aclshmemi_bootstrap_close(&pe->bs);
    }
}

static void test_quick_root_is_not_taken_for_dead(void **state)
{
    (void)state;
    pes_init(&job, 4, run_quick_root);
    pes_start_all(&job);
    for (int pe = 0; pe < 4; pe++) {
        finish_expecting(pe, 0, 20000);
        t_check_text(job.child[pe].err, "");
    }
    pes_fini(&job);
}

static void run_leaver(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    if (pe->pe == 1) {
        (void)!fail_quietly(ACLSHMEM_MALLOC_FAILED, "the moon is full");
        aclshmemi_bootstrap_close(&pe->bs);
        return;
    }
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "has left; its last error: the moon is full");
    t_check_int(atomic_load(&pe->bs.failed_pe), -1);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_who_waits_for_a_leaver_is_told(void **state)
{
    (void)state;
    pes_init(&job, 3, run_leaver);
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        finish_expecting(pe, 0, 8000);
    pes_fini(&job);
}

/* PE 2 never closes: the others do not wait for it for ever, and it does not take their leaving for a death. */
static void run_never_closes(pe_t *pe)
{
    pe->params.operation_timeout_ms = 1000;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    if (pe->pe == 2) {
        pe_reach(pe, 1);
        pe_await(pe, 0, 2);
        check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "PE 0 has left");
        sleep(1);
        t_check_int(atomic_load(&pe->bs.failed_pe), -1);
        aclshmemi_bootstrap_close(&pe->bs);
        return;
    }
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 2");
    uint64_t begin = t_now_ms();
    aclshmemi_bootstrap_close(&pe->bs);
    t_check_that(t_now_ms() - begin < 4000, "close took %llu ms", (unsigned long long)(t_now_ms() - begin));
    pe_reach(pe, 2);
    pe->params.n_pes = 2; /* and the two go on without it, on another port */
    snprintf(pe->job->ip_port, sizeof pe->job->ip_port, "tcp://127.0.0.1:%d",
             atomic_load(&pe->job->shared->word[0]));
    pe->params.operation_timeout_ms = 20000;
    pe_open_ok(pe);
    pe_check_allgather(pe, 100);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_who_never_closes_holds_up_nobody(void **state)
{
    (void)state;
    pes_init(&job, 3, run_never_closes);
    atomic_store(&job.shared->word[0], t_free_port(AF_INET));
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        finish_expecting(pe, 0, 15000);
    pes_fini(&job);
}

/* --- The end with a status --- */

typedef struct exit_case {
    int who;
    int status;
    bool in_collective; /* of another thread */
    bool armed;
} exit_case_t;

static void *wait_in_barrier(void *argument)
{
    (void)pe_barrier(argument);
    return NULL;
}

static void run_exit(pe_t *pe)
{
    const exit_case_t *c = pe->job->arg;
    pthread_t thread;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (c->armed)
        aclshmemi_bootstrap_arm(&pe->bs);
    pe_reach(pe, 1);
    if (pe->pe == c->who) {
        for (int other = 0; other < pe->bs.n_pes; other++)
            pe_await(pe, other, 1);
        if (c->in_collective)
            t_check_int(pthread_create(&thread, NULL, wait_in_barrier, pe), 0);
        uint64_t begin = t_now_ms();
        aclshmemi_bootstrap_abort(&pe->bs, c->status);
        t_check_that(t_now_ms() - begin < 4000, "abort took %llu ms",
                     (unsigned long long)(t_now_ms() - begin));
        _exit(c->status);
    }
    if (pe->pe == 1)
        (void)pe_barrier(pe);
    for (;;)
        pause();
}

static void test_exit_with_status(void **state)
{
    (void)state;
    const exit_case_t cases[] = {{0, 7, false, true},
                                 {2, 7, false, true},
                                 {2, 0, false, true},
                                 {0, 42, true, true},
                                 {3, 255, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pes_init(&job, 4, run_exit);
        job.arg = &cases[i];
        pes_start_all(&job);
        for (int pe = 0; pe < 4; pe++) {
            finish_expecting(pe, cases[i].status, 8000);
            t_check_int(count(job.child[pe].err, "FATAL"), 0);
        }
        pes_fini(&job);
    }
}

static void test_exit_while_one_is_stopped(void **state)
{
    (void)state;
    const exit_case_t c = {2, 7, false, true};
    pes_init(&job, 4, run_exit);
    job.arg = &c;
    for (int pe = 0; pe < 4; pe++) {
        if (pe != 2)
            pes_start(&job, pe);
    }
    /* PE 3 is stopped after it joined, before the last one comes; the word reaches its socket all the same. */
    pes_start(&job, 2);
    pes_await(&job, 3, 1);
    kill(job.child[3].pid, SIGSTOP);
    for (int pe = 0; pe < 3; pe++)
        finish_expecting(pe, 7, 10000);
    kill(job.child[3].pid, SIGCONT);
    finish_expecting(3, 7, 10000);
    pes_fini(&job);
}

/* --- Forks --- */

static void run_fork(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_arm(&pe->bs);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        t_check(pid >= 0);
        if (pid == 0) {
            aclshmemi_bootstrap_forget(&pe->bs);
            _exit(aclshmemi_bootstrap_barrier(&pe->bs, NULL) == ACLSHMEM_NOT_INITED ? 3 : 4);
        }
        pe_check_allgather(pe, 5000);
        int status = 0;
        t_check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_children_of_a_fork(void **state)
{
    (void)state;
    pes_init(&job, 2, run_fork);
    pes_start_all(&job);
    for (int pe = 0; pe < 2; pe++) {
        finish_expecting(pe, 0, 20000);
        t_check_contains(job.child[pe].err,
                         ""); /* the forks say they are not initialised; nobody else says a word */
        t_check_int(count(job.child[pe].err, "FATAL"), 0);
    }
    pes_fini(&job);
}

/* A child that outlives its PE must not keep the PE's connections alive. */
static void run_orphan(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 1) {
        pid_t pid = fork();
        t_check(pid >= 0);
        if (pid == 0) {
            aclshmemi_bootstrap_forget(&pe->bs);
            pe_reach(pe, 1);
            pe_await(pe, 0, 2);
            _exit(0);
        }
        pe_await(pe, 1, 1);
        _exit(0);
    }
    pe_await(pe, 1, 1);
    await_failed_pe(pe, 1);
    pe_reach(pe, 2);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_child_does_not_keep_a_dead_pe_alive(void **state)
{
    (void)state;
    pes_run(2, run_orphan, NULL);
}

/* --- Kills at random --- */

static void run_until_killed(pe_t *pe)
{
    unsigned seed = 77; /* the same for all, who must call the same */
    pe->params.init_timeout_ms = pe->params.operation_timeout_ms = 1500;
    pe->env.tree_above = 3;
    pe->env.tree_fanout = 2;
    for (;;) {
        int rc = pe_open(pe);
        for (int i = rand_r(&seed) % 4; rc == 0 && i >= 0; i--) {
            char send[3000] = {0}, recv[5 * sizeof send];
            rc = pe_barrier(pe);
            if (rc == 0)
                rc = aclshmemi_bootstrap_allgather(&pe->bs, send, recv, sizeof send);
        }
        aclshmemi_bootstrap_close(&pe->bs);
        if (rc != 0)
            return;
    }
}

static void test_kills_at_random(void **state)
{
    (void)state;
    unsigned seed = 20240517;
    for (int round = 0; round < 30; round++) {
        int victim = (int)((unsigned)rand_r(&seed) % 5);
        pes_init(&job, 5, run_until_killed);
        for (int pe = 0; pe < 5; pe++)
            pes_start(&job, pe);
        usleep((useconds_t)((unsigned)rand_r(&seed) % 60000));
        kill(job.child[victim].pid, SIGKILL);
        for (int pe = 0; pe < 5; pe++)
            finish_expecting(pe, pe == victim ? 128 + SIGKILL : 0, 20000);
        pes_fini(&job);
    }
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death_fails_what_waits_at_once),
        cmocka_unit_test(test_death_of_root),
        cmocka_unit_test(test_death_in_an_exchange),
        cmocka_unit_test(test_stopped_is_not_dead),
        cmocka_unit_test(test_stopped_root),
        cmocka_unit_test(test_dead_host),
        cmocka_unit_test(test_armed_job_ends_as_a_whole),
        cmocka_unit_test(test_error_policy_keeps_running),
        cmocka_unit_test(test_ending_without_close_is_quiet),
        cmocka_unit_test(test_quick_root_is_not_taken_for_dead),
        cmocka_unit_test(test_who_waits_for_a_leaver_is_told),
        cmocka_unit_test(test_who_never_closes_holds_up_nobody),
        cmocka_unit_test(test_exit_with_status),
        cmocka_unit_test(test_exit_while_one_is_stopped),
        cmocka_unit_test(test_children_of_a_fork),
        cmocka_unit_test(test_child_does_not_keep_a_dead_pe_alive),
        cmocka_unit_test(test_kills_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
