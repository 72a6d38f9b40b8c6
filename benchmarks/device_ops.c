/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels pay: launch and wait for empty kernels, a put of 8 bytes, puts of 4 KiB to 64 MiB beside memcpy between the same
 * memory in the same run, and the barrier of all PEs.
 *
 *     aclshmemrun -n 2 device_ops                       every engine the library chooses
 *     SHMEM_ENGINES=sdma aclshmemrun -n 2 device_ops    one engine; mte, sdma, roce, udma
 *
 * Sizes up to 1 MiB use the same memory again and again, so they measure caches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "bench.h"
#include "device_ops.h"
#include "shmem.h"

enum { BLOCKS_OF_TIME = 9, LONGEST_TURN_MS = 600 * 1000 };

static const uint64_t most_bytes = (uint64_t)64 << 20;

typedef struct job {
    int me, n;
    bool quick;
    aclrtStream stream;
    device_ops_t args;
    int32_t *turn; /* symmetric: rows that PE 0 has measured alone */
    int32_t turns;
} job_t;

static void must(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "device_ops: %s failed with code %d: %s %s\n", what, code, aclGetRecentErrMsg(),
                aclshmemx_last_error(NULL));
        exit(1);
    }
}

static void run(job_t *job, const char *kernel, uint32_t blocks)
{
    aclrtFuncHandle function = NULL;
    must(aclrtBinaryGetFunction(NULL, kernel, &function), kernel);
    must(aclrtLaunchKernel(function, blocks, &job->args, sizeof job->args, job->stream), kernel);
    must(aclrtSynchronizeStream(job->stream), kernel);
}

/* Nanoseconds of one repeat inside the kernel: the median of several launches. */
static double inside(job_t *job, const char *kernel, uint32_t blocks, int repeats)
{
    double took[BLOCKS_OF_TIME];
    job->args.repeats = job->quick ? 2 : repeats;
    for (int i = 0; i < BLOCKS_OF_TIME; i++) {
        uint64_t cycles = 0;
        run(job, kernel, blocks);
        must(aclrtMemcpy(&cycles, sizeof cycles, job->args.cycles, sizeof cycles, ACL_MEMCPY_DEVICE_TO_HOST),
             "aclrtMemcpy");
        took[i] = (double)cycles * 20 / job->args.repeats;
    }
    return bench_median(took, BLOCKS_OF_TIME);
}

static void launch_once(void *argument, size_t repeats)
{
    job_t *job = argument;
    for (size_t i = 0; i < repeats; i++)
        run(job, "bench_empty", (uint32_t)job->args.repeats);
}

/* After what PE 0 measured alone. Meanwhile the others sleep outside of the library: a PE that waits in it is woken by every
 * put to its memory, which is another measurement. */
static void end_of_turn(job_t *job)
{
    static const struct timespec nap = {.tv_nsec = 1000000};
    job->turns++;
    if (job->me == 0)
        for (int pe = 1; pe < job->n; pe++)
            aclshmem_int32_p(job->turn, job->turns, pe);
    else
        for (int naps = 0; __atomic_load_n(job->turn, __ATOMIC_ACQUIRE) < job->turns; naps++) {
            if (naps > LONGEST_TURN_MS)
                must(1, "waiting ten minutes for what PE 0 measures");
            nanosleep(&nap, NULL);
        }
    aclshmem_barrier_all();
}

static void launches(job_t *job)
{
    static const int blocks[] = {1, 8, 48};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        job->args.repeats = blocks[i];
        const double ns =
            job->me == 0 ? bench_median_ns(launch_once, job, job->quick ? 2 : 200, BLOCKS_OF_TIME) : 0;
        end_of_turn(job);
        if (job->me == 0)
            printf("launch and wait, %2d blocks        %10.2f us\n", blocks[i], ns / 1e3);
    }
}

typedef struct copy {
    char *to, *from;
    size_t bytes;
} copy_t;

static void copy_once(void *argument, size_t repeats)
{
    const copy_t *copy = argument;
    for (size_t i = 0; i < repeats; i++) {
        memcpy(copy->to, copy->from, copy->bytes);
        __asm__ volatile("" : : "r"(copy->to) : "memory");
    }
}

static void puts_of(job_t *job, uint64_t bytes)
{
    job->args.bytes = bytes;
    job->args.pe = (job->me + 1) % job->n;
    const int repeats = bytes < (1 << 20) ? 2000 : bytes == (1 << 20) ? 100 : 3;
    if (job->me == 0) {
        copy_t copy = {aclshmem_ptr(job->args.to, job->args.pe), job->args.from, bytes};
        const double copied =
            bench_median_ns(copy_once, &copy, job->quick ? 2 : (size_t)repeats, BLOCKS_OF_TIME);
        const double put = inside(job, "bench_put", 1, repeats);
        printf("put and quiet, %8llu bytes    %12.3f us, %7.2f GB/s; memcpy %12.3f us, ratio %.2f\n",
               (unsigned long long)bytes, put / 1e3, (double)bytes / put, copied / 1e3, put / copied);
    }
    end_of_turn(job);
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {8, 4096, 1 << 20, (uint64_t)64 << 20};
    must(aclshmemx_init(), "aclshmemx_init");
    job_t job = {
        .me = aclshmem_my_pe(), .n = aclshmem_n_pes(), .quick = argc > 1 && strcmp(argv[1], "quick") == 0};
    must(aclrtCreateStream(&job.stream), "aclrtCreateStream");
    job.args.to = aclshmem_malloc(most_bytes);
    job.args.from = aclshmem_malloc(most_bytes);
    job.args.cycles = aclshmem_malloc(sizeof *job.args.cycles);
    job.turn = aclshmem_calloc(1, sizeof *job.turn);
    if (job.args.to == NULL || job.args.from == NULL || job.args.cycles == NULL || job.turn == NULL)
        must(1, "aclshmem_malloc");
    memset(job.args.to, 1, most_bytes);
    memset(job.args.from, 2, most_bytes);
    if (job.me == 0)
        printf("%d PEs, engines %#x, a line goes from core to core in %.0f ns\n", job.n,
               aclshmemx_get_engines(), job.quick ? 0.0 : bench_line_hop_ns());
    launches(&job);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (!job.quick || sizes[i] <= (1 << 20))
            puts_of(&job, sizes[i]);
    for (uint32_t blocks = 1; blocks <= 4; blocks *= 2) {
        const double ns = inside(&job, "bench_barrier", blocks, 200);
        if (job.me == 0)
            printf("barrier of all PEs, %u blocks each   %10.2f us\n", blocks, ns / 1e3);
    }
    aclshmem_free(job.turn);
    aclshmem_free(job.args.cycles);
    aclshmem_free(job.args.from);
    aclshmem_free(job.args.to);
    must(aclrtDestroyStream(job.stream), "aclrtDestroyStream");
    return aclshmem_finalize() == 0 ? 0 : 1;
}
