/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at every point of a small job in turn: calls fail or succeed, nothing crashes, hangs or is lost.
 * The allocator of the C library is replaced by one that counts; a sanitizer brings its own, so it skips this.
 */
#define LOG_MODULE "test"
#include "pes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/store/store.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int main(void)
{
    printf("skipped: the sanitizer's allocator cannot be made to fail\n");
    return T_SKIP;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Atomic long countdown = -1; /* allocations until one fails; negative: none does */

static bool fails_now(void)
{
    return atomic_load(&countdown) >= 0 && atomic_fetch_sub(&countdown, 1) == 0;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(old, size);
}

static pes_t job;
static pe_t pe;

/* True when everything worked. */
static bool small_job(void)
{
    uint8_t byte = 7, bytes[1] = {0};
    aclshmemi_store_answer_t answer = {0};
    aclshmemi_store_item_t value = {&byte, 1};
    if (pe_open(&pe) != 0)
        return false;
    bool good = pe_barrier(&pe) == 0;
    good = aclshmemi_bootstrap_allgather(&pe.bs, &byte, bytes, 1) == 0 && good;
    good = aclshmemi_store_request(&pe.bs, ACLSHMEMI_STORE_SET, "k", 0, &value, 1, &answer) == 0 && good;
    free(answer.data);
    aclshmemi_bootstrap_close(&pe.bs);
    return good;
}

/* [F-22] */
static void test_any_allocation_may_fail(void **state)
{
    long step = 0, failures = 0;
    t_resources_t before = {0};
    (void)state;
    pes_init(&job, 1, NULL);
    t_check_int(aclshmemi_env_init(&pe.env), 0);
    pe.job = &job;
    pe.params = (aclshmemi_bootstrap_params_t){.n_pes = 1,
                                               .init_timeout_ms = 300,
                                               .operation_timeout_ms = 300,
                                               .ip_port = job.ip_port,
                                               .listen_fd = -1,
                                               .env = &pe.env};
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_FATAL), 0);
    t_check(small_job());
    before = t_resources_now();
    for (bool reached = true; reached; step++) {
        atomic_store(&countdown, step);
        bool good = small_job();
        reached = atomic_exchange(&countdown, -1) < 0; /* it came to the allocation that was to fail */
        failures += reached && !good;
        t_check_that(step < 20000, "no end after %ld steps", step);
    }
    t_check_that(failures > 10, "only %ld of %ld allocations mattered", failures, step);
    t_check(small_job());
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_WARN), 0);
    t_resources_expect(&before, 64, 32768);
    aclshmemi_env_fini(&pe.env);
    pes_fini(&job);
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
