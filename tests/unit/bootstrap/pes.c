/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of forked processes for the tests of the store. */
#define LOG_MODULE "test"
#include "pes.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#define AWAIT_MS 60000

static bool with_tls;
static char secret_dir[200];

static void remove_secret(void)
{
    t_dir_remove(secret_dir);
}

void pes_setup(int argc, char **argv)
{
    char path[256];
    with_tls = argc < 2 || strcmp(argv[1], "plain") != 0;
    t_clean_environment();
    t_dir_make(secret_dir, sizeof secret_dir);
    snprintf(path, sizeof path, "%s/secret", secret_dir);
    setenv("SHMEM_SECRET_FILE", path, 1);
    setenv("SHMEM_CONF_STORE_TLS", with_tls ? "1" : "0", 1);
    atexit(remove_secret); /* children leave by _Exit */
}

bool pes_tls(void)
{
    return with_tls;
}

void pes_init(pes_t *job, int n_pes, void (*run)(pe_t *pe))
{
    memset(job, 0, sizeof *job);
    job->n_pes = n_pes;
    job->run = run;
    job->port = t_free_port(AF_INET);
    snprintf(job->ip_port, sizeof job->ip_port, "tcp://127.0.0.1:%u", job->port);
    job->init_timeout_ms = job->operation_timeout_ms = 20000;
    job->shared = mmap(NULL, sizeof *job->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    t_check(job->shared != MAP_FAILED);
    for (int pe = 0; pe < n_pes; pe++)
        job->child[pe] = (t_child_t){.out_fd = -1, .err_fd = -1};
}

void pes_fini(pes_t *job)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        t_child_free(&job->child[pe]);
    munmap(job->shared, sizeof *job->shared);
}

/* A child leaves without the usual end, at which a sanitizer would look for leaks. */
static void check_leaks(void)
{
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check() != 0)
        t_fail("memory leaked");
#endif
}

static void run_pe(void *argument)
{
    pe_t *pe = argument;
    if (aclshmemi_env_init(&pe->env) != 0)
        t_fail("the settings do not parse");
    pe->params = (aclshmemi_bootstrap_params_t){.pe = pe->pe,
                                                .n_pes = pe->job->n_pes,
                                                .init_timeout_ms = pe->job->init_timeout_ms,
                                                .operation_timeout_ms = pe->job->operation_timeout_ms,
                                                .ip_port = pe->job->ip_port,
                                                .listen_fd = -1,
                                                .env = &pe->env};
    pe->params.agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){4096});
    pe->job->run(pe);
    aclshmemi_env_fini(&pe->env);
    check_leaks();
}

void pes_start(pes_t *job, int pe)
{
    job->pe[pe].job = job;
    job->pe[pe].pe = pe;
    t_start_function(&job->child[pe], run_pe, &job->pe[pe]);
}

void pes_start_all(pes_t *job)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        pes_start(job, pe);
}

void pes_finish(pes_t *job, int deadline_ms)
{
    uint64_t end = t_now_ms() + (uint64_t)deadline_ms;
    for (int pe = 0; pe < job->n_pes; pe++) {
        uint64_t now = t_now_ms();
        if (job->child[pe].pid > 0 && !job->child[pe].out)
            t_finish(&job->child[pe], now < end ? (int)(end - now) : 0);
    }
}

void pes_expect(pes_t *job, int exit_code)
{
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (job->child[pe].pid > 0 && job->child[pe].exit_code != exit_code) /* all of them, then fail */
            fprintf(stderr, "PE %d ended with %d:\n%s\n", pe, job->child[pe].exit_code, job->child[pe].err);
    }
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (job->child[pe].pid > 0)
            t_check_exit(&job->child[pe], exit_code);
    }
}

void pes_run(int n_pes, void (*run)(pe_t *pe), const void *arg)
{
    static pes_t job; /* large */
    pes_init(&job, n_pes, run);
    job.arg = arg;
    pes_start_all(&job);
    pes_finish(&job, 60000);
    pes_expect(&job, 0);
    pes_fini(&job);
}

/* --- Inside a PE --- */

int pe_open(pe_t *pe)
{
    return aclshmemi_bootstrap_open(&pe->bs, &aclshmemi_bootstrap_store, &pe->params);
}

void pe_open_ok(pe_t *pe)
{
    int rc = pe_open(pe);
    t_check_that(rc == 0, "PE %d cannot open: %d, %s", pe->pe, rc, aclshmemi_status_last_text());
}

int pe_barrier(pe_t *pe)
{
    return aclshmemi_bootstrap_barrier(&pe->bs, NULL);
}

int pe_meet(pe_t *pe)
{
    char text[1024];
    int rc = pe_open(pe);
    if (rc != 0)
        return rc;
    rc = pe_barrier(pe);
    if (rc == 0)
        return 0;
    snprintf(text, sizeof text, "%s", aclshmemi_status_last_text());
    aclshmemi_bootstrap_close(&pe->bs);
    return fail_quietly(rc, "%s", text);
}

static uint8_t byte_of(int pe, size_t at, size_t bytes)
{
    return (uint8_t)((size_t)pe * 131 + at * 7 + bytes + (at >> 8));
}

void pe_check_allgather(pe_t *pe, size_t bytes)
{
    int n_pes = pe->bs.n_pes;
    uint8_t *send = malloc(bytes + 1);
    uint8_t *recv = malloc((size_t)n_pes * bytes + 1);
    t_check(send && recv);
    for (size_t i = 0; i < bytes; i++)
        send[i] = byte_of(pe->pe, i, bytes);
    memset(recv, 0xee, (size_t)n_pes * bytes + 1);
    int rc = aclshmemi_bootstrap_allgather(&pe->bs, send, recv, bytes);
    t_check_that(rc == 0, "PE %d: allgather of %zu bytes gives %d: %s", pe->pe, bytes, rc,
                 aclshmemi_status_last_text());
    for (int other = 0; other < n_pes; other++) {
        for (size_t i = 0; i < bytes; i++) {
            if (recv[(size_t)other * bytes + i] != byte_of(other, i, bytes))
                t_fail("PE %d: byte %zu of PE %d is wrong in an allgather of %zu", pe->pe, i, other, bytes);
        }
    }
    t_check_int(recv[(size_t)n_pes * bytes], 0xee); /* nothing behind the end */
    free(send);
    free(recv);
}

static void await(_Atomic int *word, int step, const char *what, int pe)
{
    const struct timespec pause = {0, 1000000};
    uint64_t end = t_now_ms() + AWAIT_MS;
    while (atomic_load(word) < step) {
        if (t_now_ms() > end)
            t_fail("%s PE %d never reached step %d", what, pe, step);
        nanosleep(&pause, NULL);
    }
}

void pe_reach(pe_t *pe, int step)
{
    atomic_store(&pe->job->shared->reached[pe->pe], step);
}

void pe_await(pe_t *pe, int other, int step)
{
    await(&pe->job->shared->reached[other], step, "waited in vain:", other);
}

void pes_await(pes_t *job, int pe, int step)
{
    await(&job->shared->reached[pe], step, "the test waited in vain:", pe);
}
