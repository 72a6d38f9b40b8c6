/* SPDX-License-Identifier: Apache-2.0 */
/* The store between processes: meeting, exchanging, and what is refused. */
#include "pes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/bootstrap/store/store.h"

/* --- Everything once --- */

static void run_everything(pe_t *pe)
{
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    size_t sizes[] = {0, 1, 3, 16, 516, 4096, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        pe_check_allgather(pe, sizes[i]);
    for (int i = 0; i < 50; i++)
        t_check_int(pe_barrier(pe), 0);
    t_check_contains(pe->bs.describe, pes_tls() ? "tls 1.3" : "plain");
    t_check_int(atomic_load(&pe->bs.failed_pe), -1);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_any_number_of_pes(void **state)
{
    (void)state;
    int counts[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        pes_run(counts[i], run_everything, NULL);
}

static void run_large(pe_t *pe)
{
    pe_open_ok(pe);
    pe_check_allgather(pe, (8u << 20) / 2 - 1);
    pe_check_allgather(pe, (8u << 20) / 2);
    pe_check_allgather(pe, (12u << 20) + 5); /* several chunks, the last one odd */
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_large_exchange(void **state)
{
    (void)state;
    pes_run(2, run_large, NULL);
}

/* A tree with few children per PE, so that a handful of processes has all kinds of places in it. */
static void run_tree(pe_t *pe)
{
    pe->env.tree_above = 2;
    pe->env.tree_fanout = 2;
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 1)
        pe_check_allgather(pe, bytes);
    pe_check_allgather(pe, 3u << 20);
    t_check_int(pe_barrier(pe), 0);
    aclshmemi_bootstrap_close(&pe->bs);
}

static void test_tree(void **state)
{
    (void)state;
    int counts[] = {3, 4, 7, 12};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        pes_run(counts[i], run_tree, NULL);
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_pes),
        cmocka_unit_test(test_large_exchange),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
