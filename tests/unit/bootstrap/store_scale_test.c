/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of PEs, simulated: join, barrier, exchange, leave; prints time and memory.
 *
 *     store_scale_test tls|plain [PEs] [fanout] [PEs above which a tree is used]
 */
#define LOG_MODULE "test"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LIMIT_MS 600000

static uint64_t began_ms;

static void say(const char *what, int n_pes)
{
    t_resources_t r = t_resources_now();
    uint64_t now = t_now_ms();
    printf("%-28s %6d PEs %7llu ms, %6zu MiB resident, %6zu descriptors\n", what, n_pes,
           (unsigned long long)(now - began_ms), r.resident_kib / 1024, r.descriptors);
    fflush(stdout);
    began_ms = t_now_ms();
}

/* Both ends of every link live here: two descriptors per PE, two more for its place in the tree. */
static void need_descriptors(int n_pes)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)n_pes * 4 + (rlim_t)n_pes / 8 + 200;
    t_check(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    t_check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < needed)
        t_skip("%llu open files are allowed, %llu are needed", (unsigned long long)limit.rlim_cur,
               (unsigned long long)needed);
}

static void all(sim_t *sim, void (*start)(sim_t *, int))
{
    for (int pe = 0; pe < sim->n_pes; pe++)
        start(sim, pe);
    sim_wait(sim, LIMIT_MS);
    t_check_int(sim->failed, 0);
}

static void exchange(sim_t *sim, size_t bytes)
{
    char what[40];
    for (int pe = 0; pe < sim->n_pes; pe++)
        sim_allgather(sim, pe, bytes);
    sim_wait(sim, LIMIT_MS);
    t_check_int(sim->failed, 0);
    snprintf(what, sizeof what, "exchange of %zu bytes each", bytes);
    say(what, sim->n_pes);
}

int main(int argc, char **argv)
{
    static sim_t sim;
    pes_setup(argc, argv);
    int n_pes = argc > 2 ? atoi(argv[2]) : 200;
    int fanout = argc > 3 ? atoi(argv[3]) : 16;
    int above = argc > 4 ? atoi(argv[4]) : 64;
    t_check_that(n_pes >= 1 && n_pes <= 16384 && fanout >= 2 && above >= 1,
                 "PEs 1..16384, fanout at least 2");
    need_descriptors(n_pes);
    began_ms = t_now_ms();
    sim_start(&sim, n_pes, (uint32_t)above, (uint32_t)fanout);
    sim.timeout_ms = LIMIT_MS;
    all(&sim, sim_add);
    say("join", n_pes);
    all(&sim, sim_barrier);
    say("first barrier", n_pes);
    for (int i = 0; i < 10; i++)
        all(&sim, sim_barrier);
    say("ten barriers", n_pes);
    exchange(&sim, 16);
    exchange(&sim, 16);
    if (n_pes <= 1024)
        exchange(&sim, 516);
    all(&sim, sim_goodbye);
    say("goodbye", n_pes);
    for (int pe = 0; pe < n_pes; pe++)
        t_check_int(sim.pe[pe].deaths, 0);
    sim_stop(&sim);
    say("stopped", n_pes);
    return 0;
}
