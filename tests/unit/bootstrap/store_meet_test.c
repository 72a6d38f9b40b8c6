/* SPDX-License-Identifier: Apache-2.0 */
/* Meeting under difficulties: PEs that do not fit, are late or missing, ports that are taken, sockets of the caller. */
#define LOG_MODULE "test"
#include "pes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/bootstrap/uid/uid.h"

static pes_t job;

static void check_failure(int rc, int code, const char *part)
{
    t_check_that(rc == code, "code %d, expected %d: %s", rc, code, aclshmemi_status_last_text());
    t_check_contains(aclshmemi_status_last_text(), part);
}

static int loopback_socket(uint16_t port, bool listening, int backlog)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    t_check(fd >= 0);
    t_check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    t_check_that(bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0, "bind: %s", strerror(errno));
    t_check(!listening || listen(fd, backlog) == 0);
    return fd;
}

/* Starts all, and expects the end of the test well before any of its 20 s deadlines. */
static void run_promptly(int deadline_ms)
{
    uint64_t begin = t_now_ms();
    pes_start_all(&job);
    pes_finish(&job, 30000);
    pes_expect(&job, 0);
    t_check_that(t_now_ms() - begin < (uint64_t)deadline_ms, "took %llu ms",
                 (unsigned long long)(t_now_ms() - begin));
    pes_fini(&job);
}

/* --- PEs that do not fit together: all are told, at once --- */

static void run_other_count(pe_t *pe)
{
    if (pe->pe == 1)
        pe->params.n_pes = 4;
    check_failure(pe_meet(pe), ACLSHMEM_INVALID_PARAM, "was started for 4 PEs, PE 0 for 3");
}

static void run_other_rank(pe_t *pe)
{
    if (pe->pe == 2)
        pe->params.pe = 1;
    check_failure(pe_meet(pe), ACLSHMEM_INVALID_PARAM, "two processes claim to be PE 1");
}

static void run_other_size(pe_t *pe)
{
    if (pe->pe == 2)
        pe->params.agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){8192});
    check_failure(pe_meet(pe), ACLSHMEM_INVALID_PARAM,
                  "PE 0 calls init(size 4096), PE 2 calls init(size 8192)");
}

static void test_misfits(void **state)
{
    (void)state;
    void (*runs[])(pe_t *) = {run_other_count, run_other_rank, run_other_size};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        pes_init(&job, 3, runs[i]);
        run_promptly(8000);
    }
}

static void run_second_try(pe_t *pe)
{
    aclshmemi_fingerprint_t right = pe->params.agree;
    if (pe->pe == 1)
        pe->params.agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){1});
    t_check_int(pe_meet(pe), ACLSHMEM_INVALID_PARAM);
    pe->params.agree = right;
    pe_open_ok(pe); /* the same processes, the same port, no pause */
    pe_check_allgather(pe, 100);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_second_try_on_the_same_port(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        pes_init(&job, 4, run_second_try);
        run_promptly(15000);
    }
}

static void run_different_calls(pe_t *pe)
{
    uint64_t args[] = {64};
    pe_open_ok(pe);
    args[0] += (uint64_t)pe->pe / 2; /* 64, 64, 65 */
    aclshmemi_fingerprint_t print = aclshmemi_fingerprint("malloc", "size", 1, args);
    check_failure(aclshmemi_bootstrap_barrier(&pe->bs, &print), ACLSHMEM_INVALID_PARAM,
                  "calls malloc(size 64)");
    t_check_contains(aclshmemi_status_last_text(), "PE 2 calls malloc(size 65)");
    if (pe->pe == 1) /* one is in an exchange, the others in a barrier */
        check_failure(aclshmemi_bootstrap_allgather(&pe->bs, args, pe->job->shared->bytes, 8),
                      ACLSHMEM_INVALID_PARAM, "PE 1 calls allgather(bytes 8)");
    else
        check_failure(pe_barrier(pe), ACLSHMEM_INVALID_PARAM, "PE 1 calls allgather(bytes 8)");
    size_t bytes = 100 + (size_t)pe->pe;
    uint8_t *out = malloc(3 * bytes);
    t_check(out);
    t_check_int(aclshmemi_bootstrap_allgather(&pe->bs, pe->job->shared->bytes, out, bytes),
                ACLSHMEM_INVALID_PARAM);
    free(out);
    for (int i = 0; i < 3; i++) { /* and all are in step again */
        t_check_int(pe_barrier(pe), 0);
        pe_check_allgather(pe, 1000);
    }
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_different_calls_fail_everywhere_and_pass(void **state)
{
    (void)state;
    pes_init(&job, 3, run_different_calls);
    run_promptly(8000);
}

/* --- Ports --- */

static void run_taken(pe_t *pe)
{
    pe->params.init_timeout_ms = 1500;
    int rc = pe_open(pe);
    check_failure(rc, ACLSHMEM_INNER_ERROR,
                  pe->pe == 0 ? "the port is taken" : "it accepts connections but does not");
}

/* [B-13] [B-25] The holder never speaks, which is also how a foreign server looks to PE 1. */
static void test_taken_port(void **state)
{
    (void)state;
    pes_init(&job, 2, run_taken);
    int fd = loopback_socket(job.port, true, 16);
    run_promptly(6000);
    close(fd);
}

static void run_first_group(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_reach(pe, 1);
    pe_await(pe, 5, 1); /* set by the test when the second group is through */
    pe_check_allgather(pe, 64);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void run_second_group(pe_t *pe)
{
    pe->params.init_timeout_ms = 1500;
    check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR,
                  pe->pe == 0 ? "the port is taken" : "complete without this PE");
}

static void test_second_group_leaves_the_first_alone(void **state)
{
    static pes_t second;
    (void)state;
    pes_init(&job, 2, run_first_group);
    pes_start_all(&job);
    pes_await(&job, 0, 1);
    pes_await(&job, 1, 1);
    pes_init(&second, 2, run_second_group);
    memcpy(second.ip_port, job.ip_port, sizeof job.ip_port);
    pes_start_all(&second);
    pes_finish(&second, 20000);
    pes_expect(&second, 0);
    pes_fini(&second);
    atomic_store(&job.shared->reached[5], 1);
    pes_finish(&job, 20000);
    pes_expect(&job, 0);
    pes_fini(&job);
}

static void run_rounds(pe_t *pe)
{
    int rounds = 20;
    t_resources_t before = {0};
    for (int i = 0; i < rounds; i++) {
        pe_open_ok(pe);
        t_check_int(pe_barrier(pe), 0);
        aclshmemi_bootstrap_close(&pe->bs);
        if (i == 4)
            before = t_resources_now();
    }
    t_resources_expect(&before, 8, 4096);
}

static void test_rounds_on_one_port(void **state)
{
    (void)state;
    pes_run(3, run_rounds, NULL);
}

static void test_alone_500_rounds(void **state)
{
    static pe_t pe;
    t_resources_t before = {0};
    (void)state;
    pes_init(&job, 1, NULL);
    t_check_int(aclshmemi_env_init(&pe.env), 0);
    pe.job = &job;
    for (int i = 0; i < 500; i++) {
        pe.params = (aclshmemi_bootstrap_params_t){.n_pes = 1,
                                                   .init_timeout_ms = 5000,
                                                   .operation_timeout_ms = 5000,
                                                   .ip_port = job.ip_port,
                                                   .listen_fd = -1,
                                                   .env = &pe.env};
        pe_open_ok(&pe);
        t_check_int(pe_barrier(&pe), 0);
        pe_check_allgather(&pe, 100);
        aclshmemi_bootstrap_close(&pe.bs);
        if (i == 20)
            before = t_resources_now();
    }
    t_resources_expect(&before, 8, 8192);
    aclshmemi_env_fini(&pe.env);
    pes_fini(&job);
}

/* What fails is undone: sockets, threads, memory. */
static void test_failed_rounds_leave_nothing(void **state)
{
    static pe_t pe;
    t_resources_t before = {0};
    char taken[ACLSHMEM_MAX_IP_PORT_LEN];
    (void)state;
    pes_init(&job, 2, NULL);
    t_check_int(aclshmemi_env_init(&pe.env), 0);
    snprintf(taken, sizeof taken, "tcp://127.0.0.1:%u", t_free_port(AF_INET));
    int fd = loopback_socket((uint16_t)atoi(strrchr(taken, ':') + 1), true, 16);
    pe.job = &job;
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_FATAL), 0);
    for (int i = 0; i < 60; i++) {
        pe.params = (aclshmemi_bootstrap_params_t){.pe = i % 2,
                                                   .n_pes = 2,
                                                   .init_timeout_ms = 10,
                                                   .operation_timeout_ms = 10,
                                                   .ip_port = i % 3 == 0 ? "tcp://nonsense" : taken,
                                                   .listen_fd = -1,
                                                   .env = &pe.env};
        t_check(pe_open(&pe) != 0);
        pe.params.init_timeout_ms = 5000;
        pe.params.pe = 0; /* and one that opens, but never meets anybody */
        pe.params.ip_port = job.ip_port;
        t_check_int(pe_meet(&pe), ACLSHMEM_SMEM_ERROR);
        if (i == 10)
            before = t_resources_now();
    }
    t_resources_expect(&before, 8, 8192);
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_WARN), 0);
    aclshmemi_env_fini(&pe.env);
    close(fd);
    pes_fini(&job);
}

static void run_killed(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_reach(pe, 1);
    pe_await(pe, 9, 1); /* killed here */
}

static void run_after_kill(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [B-16] */
static void test_port_is_free_after_a_kill(void **state)
{
    static pes_t next;
    (void)state;
    pes_init(&job, 3, run_killed);
    pes_start_all(&job);
    for (int pe = 0; pe < 3; pe++)
        pes_await(&job, pe, 1);
    for (int pe = 0; pe < 3; pe++)
        kill(job.child[pe].pid, SIGKILL);
    pes_init(&next, 3, run_after_kill);
    pes_finish(&job, 10000);
    memcpy(next.ip_port, job.ip_port, sizeof job.ip_port);
    pes_start_all(&next);
    pes_finish(&next, 20000);
    pes_expect(&next, 0);
    pes_fini(&next);
    pes_fini(&job);
}

/* --- Sockets of the caller --- */

static void run_own_socket(pe_t *pe)
{
    int fd = pe->pe == 0 ? loopback_socket(pe->job->port, false, 0) : -1;
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : 0;
    pe->params.listen_fd = fd;
    for (int i = 0; i < 3; i++) {
        pe_open_ok(pe);
        t_check_int(pe_barrier(pe), 0);
        aclshmemi_bootstrap_close(&pe->bs);
        t_check(fd < 0 || fcntl(fd, F_GETFL) == flags); /* still there, and as it was */
    }
    if (fd >= 0)
        close(fd);
}

static void test_socket_of_the_caller(void **state)
{
    (void)state;
    pes_run(2, run_own_socket, NULL);
}

static void run_bad_sockets(pe_t *pe)
{
    int pipe_fds[2];
    t_check(pipe(pipe_fds) == 0);
    int datagram = socket(AF_INET, SOCK_DGRAM, 0), unbound = socket(AF_INET, SOCK_STREAM, 0);
    int elsewhere = loopback_socket(t_free_port(AF_INET), false, 0);
    int closed = dup(datagram);
    close(closed);
    struct {
        int fd;
        const char *part;
    } cases[] = {{closed, "cannot be used"},
                 {pipe_fds[0], "cannot be used"},
                 {datagram, "is no TCP socket"},
                 {unbound, "is bound to"},
                 {elsewhere, "is bound to"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pe->params.listen_fd = cases[i].fd;
        check_failure(pe_open(pe), ACLSHMEM_INVALID_PARAM, cases[i].part);
        t_check(cases[i].fd == closed || fcntl(cases[i].fd, F_GETFD) >= 0); /* not closed for us */
    }
    pe->params.listen_fd = -1;
    pe_open_ok(pe);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_bad_sockets(void **state)
{
    (void)state;
    pes_run(1, run_bad_sockets, NULL);
}

/* --- Late and missing --- */

static void run_late_root(pe_t *pe)
{
    if (pe->pe != 0)
        pe_reach(pe, 1);
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_late_root(void **state)
{
    (void)state;
    pes_init(&job, 3, run_late_root);
    pes_start(&job, 1);
    pes_start(&job, 2);
    pes_await(&job, 1, 1);
    pes_await(&job, 2, 1);
    usleep(300000); /* they are trying by now, and if not, the test is only easier */
    pes_start(&job, 0);
    pes_finish(&job, 20000);
    pes_expect(&job, 0);
    pes_fini(&job);
}

static void run_unreachable(pe_t *pe)
{
    uint64_t begin = t_now_ms();
    pe->params.init_timeout_ms = 1500;
    check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, pe->job->arg);
    uint64_t took = t_now_ms() - begin;
    t_check_that(took >= 1400 && took < 4000, "gave up after %llu ms", (unsigned long long)took);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    pes_init(&job, 2, run_unreachable);
    job.arg = "Connection refused";
    pes_start(&job, 1);
    pes_finish(&job, 10000);
    pes_expect(&job, 0);
    pes_fini(&job);
}

/* [B-24] A full backlog drops what arrives, as a firewall does. */
static void test_black_hole(void **state)
{
    int filler[64], n = 0;
    (void)state;
    pes_init(&job, 2, run_unreachable);
    job.arg = "Connection timed out";
    int fd = loopback_socket(job.port, true, 0);
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(job.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (; n < 64; n++) {
        filler[n] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(filler[n], (struct sockaddr *)&addr, sizeof addr);
    }
    pes_start(&job, 1);
    pes_finish(&job, 10000);
    pes_expect(&job, 0);
    while (n > 0)
        close(filler[--n]);
    close(fd);
    pes_fini(&job);
}

static void *speak_nonsense(void *argument)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    int listener = *(int *)argument;
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        (void)!send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL);
        close(fd);
    }
}

/* [B-25] */
static void test_foreign_server(void **state)
{
    (void)state;
    pthread_t thread;
    pes_init(&job, 2, run_unreachable);
    job.arg = "cannot join PE 0";
    int fd = loopback_socket(job.port, true, 16);
    pes_start(&job, 1); /* before the thread: it forks */
    t_check_int(pthread_create(&thread, NULL, speak_nonsense, &fd), 0);
    pes_finish(&job, 10000);
    pes_expect(&job, 0);
    shutdown(fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(fd);
    pes_fini(&job);
}

static void run_missing(pe_t *pe)
{
    pe->params.operation_timeout_ms = 1500;
    pe_open_ok(pe);
    uint64_t begin = t_now_ms();
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR,
                  "missing: PEs 2-3 (never connected), PE 5 (never connected)");
    uint64_t took = t_now_ms() - begin;
    t_check_that(took < 4000, "gave up after %llu ms", (unsigned long long)took);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_missing_pes(void **state)
{
    (void)state;
    pes_init(&job, 6, run_missing);
    pes_start(&job, 0);
    pes_start(&job, 1);
    pes_start(&job, 4);
    pes_finish(&job, 10000);
    pes_expect(&job, 0);
    pes_fini(&job);
}

/* One comes when the others have given up: it gets their verdict, and all go on together. */
static void run_too_late(pe_t *pe)
{
    pe->params.operation_timeout_ms = pe->pe == 0 ? 500 : 20000;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 2)
        pe_await(pe, 0, 1);
    check_failure(pe_barrier(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 2 (last seen in barrier, number 1,");
    pe_reach(pe, 1);
    pe_await(pe, 2, 1);
    if (pe->pe == 0)
        pe_await(pe, 1, 1);
    for (int i = 0; i < 3; i++)
        pe_check_allgather(pe, 1000);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_too_late_gets_the_same_verdict(void **state)
{
    (void)state;
    pes_run(3, run_too_late, NULL);
}

static void run_reported(pe_t *pe)
{
    pe->env.wait_report_ms = 200;
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_INFO), 0);
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    if (pe->pe == 1)
        usleep(900000);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_report_while_waiting(void **state)
{
    (void)state;
    pes_init(&job, 2, run_reported);
    pes_start_all(&job);
    pes_finish(&job, 20000);
    pes_expect(&job, 0);
    const char *line = strstr(job.child[0].err, "missing: PE 1 (last seen in barrier, number 1,");
    t_check(line);
    int lines = 0;
    for (; line; line = strstr(line + 1, "missing: PE 1"))
        lines++;
    t_check_that(lines >= 1 && lines <= 3, "%d reports", lines); /* after 0.2, 0.6 and perhaps 1.4 s */
    pes_fini(&job);
}

/* --- The system around --- */

static void on_alarm(int signal)
{
    (void)signal;
}

static void run_under_signals(pe_t *pe)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no restart */
    struct itimerval often = {.it_interval = {0, 1000}, .it_value = {0, 1000}};
    t_check(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        pe_open_ok(pe);
        for (int k = 0; k < 20; k++)
            t_check_int(pe_barrier(pe), 0);
        pe_check_allgather(pe, 100000);
        aclshmemi_bootstrap_close(&pe->bs);
    }
}

/* [B-36] */
static void test_under_signals(void **state)
{
    (void)state;
    pes_run(3, run_under_signals, NULL);
}

static void run_without_streams(pe_t *pe)
{
    int err = fcntl(2, F_DUPFD, 10);
    close(0);
    close(1);
    close(2);
    int rc = pe_open(pe);
    for (int fd = 0; fd <= 2 && rc == 0; fd++)
        rc = fcntl(fd, F_GETFD) < 0 ? 0 : 77; /* nothing of ours sits there */
    if (rc == 0)
        rc = pe_barrier(pe);
    aclshmemi_bootstrap_close(&pe->bs);
    dup2(err, 2);
    t_check_int(rc, 0);
}

static void test_without_standard_streams(void **state)
{
    (void)state;
    pes_run(2, run_without_streams, NULL);
}

static void run_few_descriptors(pe_t *pe)
{
    struct rlimit limit = {.rlim_cur = 60, .rlim_max = 400};
    pe->params.n_pes = 200;
    t_check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    pe_open_ok(pe); /* the soft limit is raised */
    t_check(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    t_check_that(limit.rlim_cur > 200, "the limit is %llu", (unsigned long long)limit.rlim_cur);
    aclshmemi_bootstrap_close(&pe->bs);
    limit = (struct rlimit){.rlim_cur = 100, .rlim_max = 100};
    t_check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, "but the limit of this process is 100");
}

/* [B-35] */
static void test_few_descriptors(void **state)
{
    (void)state;
    pes_run(1, run_few_descriptors, NULL);
}

static void run_by_name(pe_t *pe)
{
    snprintf(pe->job->ip_port, sizeof pe->job->ip_port, "%s:%u", (const char *)pe->job->arg, pe->job->port);
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [B-02] [B-03] */
static void test_names_and_families(void **state)
{
    (void)state;
    pes_run(2, run_by_name, "tcp://localhost");
    if (t_has_ipv6())
        pes_run(2, run_by_name, "tcp6://[::1]");
}

static void run_64(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_check_allgather(pe, 516);
    aclshmemi_bootstrap_close(&pe->bs);
}

/* [B-33] */
static void test_64_and_more_pes(void **state)
{
    (void)state;
    pes_run(64, run_64, NULL);
    pes_run(70, run_64, NULL); /* along the tree by default */
}

/* --- TLS here, plain there --- */

static void run_mixed(pe_t *pe)
{
    pe->env.conf_store_tls = pe->pe == *(const int *)pe->job->arg;
    pe->params.init_timeout_ms = pe->params.operation_timeout_ms = 1500;
    if (pe->pe == 0)
        check_failure(pe_meet(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 1");
    else
        check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, "plain");
}

/* [T-04] */
static void test_tls_and_plain_do_not_mix(void **state)
{
    (void)state;
    for (int who = 0; who < 2; who++) {
        pes_init(&job, 2, run_mixed);
        job.arg = &who;
        pes_start_all(&job);
        pes_finish(&job, 10000);
        pes_expect(&job, 0);
        t_check_contains(job.child[0].err, who == 0 ? "it speaks plain TCP" : "it speaks TLS");
        pes_fini(&job);
    }
}

static void run_other_secret(pe_t *pe)
{
    char path[300];
    snprintf(path, sizeof path, "%s.%d", pe->env.secret_file, pe->pe);
    pe->env.secret_file = path;
    pe->params.init_timeout_ms = pe->params.operation_timeout_ms = 1500;
    if (pe->pe == 0)
        check_failure(pe_meet(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 1");
    else
        check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, "secret");
}

/* [T-01b] */
static void test_other_secret(void **state)
{
    (void)state;
    if (!pes_tls())
        return;
    pes_init(&job, 2, run_other_secret);
    pes_start_all(&job);
    pes_finish(&job, 10000);
    pes_expect(&job, 0);
    t_check_contains(job.child[0].err, "no PE of this job");
    pes_fini(&job);
}

/* --- Unique ids --- */

static void share_id(pe_t *pe, int maker, int step)
{
    aclshmemx_uniqueid_t id;
    if (pe->pe == maker) {
        t_check_int(aclshmemi_uid_create(&pe->env, true, &id), 0);
        memcpy(pe->job->shared->bytes + 1, &id, sizeof id); /* at an odd address, as users may have it */
        pe_reach(pe, step);
    }
    pe_await(pe, maker, step);
    pe->params.uid = pe->job->shared->bytes + 1;
    pe->params.ip_port = "";
}

static void run_by_id(pe_t *pe)
{
    for (int round = 1; round <= 3; round++) {
        share_id(pe, 0, round);
        pe_open_ok(pe);
        t_check_contains(pe->bs.describe, "store id ");
        pe_check_allgather(pe, 1000);
        aclshmemi_bootstrap_close(&pe->bs);
        pe_open_ok(pe); /* the same id once more */
        t_check_int(pe_barrier(pe), 0);
        t_check_int(pe_barrier(pe), 0);
        aclshmemi_bootstrap_close(&pe->bs);
    }
}

/* [U-03] [U-30] [U-31] [U-35] */
static void test_by_id(void **state)
{
    (void)state;
    pes_run(3, run_by_id, NULL);
}

static void run_wrong_maker(pe_t *pe)
{
    pe->params.init_timeout_ms = 1500;
    share_id(pe, 1, 1);
    if (pe->pe == 0)
        check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, "the port is taken");
    else if (pe->pe == 1)
        check_failure(pe_open(pe), ACLSHMEM_INVALID_PARAM,
                      "which is PE 1; the process that makes it must be PE 0");
    else
        check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR, "Connection refused");
    pe_reach(pe, 2);
    for (int other = 0; other < 3; other++)
        pe_await(pe, other, 2); /* the maker holds its socket until all have seen it */
    aclshmemi_uid_drop_all();
}

/* [U-32] */
static void test_wrong_maker(void **state)
{
    (void)state;
    pes_run(3, run_wrong_maker, NULL);
}

static void run_other_id(pe_t *pe)
{
    aclshmemi_uid_t uid;
    aclshmemx_uniqueid_t other;
    uint64_t magic = 0;
    share_id(pe, 0, 1);
    pe->params.init_timeout_ms = pe->params.operation_timeout_ms = 1500;
    if (pe->pe == 0) {
        check_failure(pe_meet(pe), ACLSHMEM_SMEM_ERROR, "missing: PE 1");
        return;
    }
    t_check_int(aclshmemi_uid_decode(pe->params.uid, &uid), 0);
    t_check_int(aclshmemi_uid_encode(&uid.addr, &other, &magic), 0);
    pe->params.uid = &other;
    check_failure(pe_open(pe), ACLSHMEM_INNER_ERROR,
                  pes_tls() ? "another unique id" : "belongs to another job");
}

/* [U-05] [U-33] */
static void test_other_id(void **state)
{
    (void)state;
    pes_run(2, run_other_id, NULL);
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_second_try_on_the_same_port),
        cmocka_unit_test(test_different_calls_fail_everywhere_and_pass),
        cmocka_unit_test(test_taken_port),
        cmocka_unit_test(test_second_group_leaves_the_first_alone),
        cmocka_unit_test(test_rounds_on_one_port),
        cmocka_unit_test(test_alone_500_rounds),
        cmocka_unit_test(test_failed_rounds_leave_nothing),
        cmocka_unit_test(test_port_is_free_after_a_kill),
        cmocka_unit_test(test_socket_of_the_caller),
        cmocka_unit_test(test_bad_sockets),
        cmocka_unit_test(test_late_root),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_black_hole),
        cmocka_unit_test(test_foreign_server),
        cmocka_unit_test(test_missing_pes),
        cmocka_unit_test(test_too_late_gets_the_same_verdict),
        cmocka_unit_test(test_report_while_waiting),
        cmocka_unit_test(test_under_signals),
        cmocka_unit_test(test_without_standard_streams),
        cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_names_and_families),
        cmocka_unit_test(test_64_and_more_pes),
        cmocka_unit_test(test_tls_and_plain_do_not_mix),
        cmocka_unit_test(test_other_secret),
        cmocka_unit_test(test_by_id),
        cmocka_unit_test(test_wrong_maker),
        cmocka_unit_test(test_other_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
