/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that carries payloads, with all its shapes and what can go wrong in it, simulated in one process. */
#define LOG_MODULE "test"
#include "sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/bootstrap/store/client_inside.h"

static sim_t sim;

static void all_join(void)
{
    for (int pe = 0; pe < sim.n_pes; pe++)
        sim_add(&sim, pe);
    sim_wait(&sim, 30000);
}

static void all_exchange(size_t bytes)
{
    for (int pe = sim.n_pes - 1; pe >= 0; pe--)
        sim_allgather(&sim, pe, bytes);
    sim_wait(&sim, 30000);
    t_check_int(sim.failed, 0);
}

static void test_every_shape(void **state)
{
    (void)state;
    for (int n_pes = 1; n_pes <= 40; n_pes += n_pes < 12 ? 1 : 9) {
        for (uint32_t fanout = 2; fanout <= 5; fanout++) {
            sim_start(&sim, n_pes, 1, fanout);
            all_join();
            all_exchange(1);
            all_exchange(777);
            all_exchange((8u << 20) / (unsigned)n_pes / 64);
            for (int pe = 0; pe < n_pes; pe++)
                sim_barrier(&sim, pe);
            sim_wait(&sim, 30000);
            t_check_int(sim.failed, 0);
            sim_stop(&sim);
        }
    }
}

static void test_several_chunks(void **state)
{
    (void)state;
    sim_start(&sim, 9, 1, 2);
    all_join();
    size_t chunk = aclshmemi_store_chunk_bytes(9);
    all_exchange(chunk - 1);
    all_exchange(chunk);
    all_exchange(chunk + 1);
    all_exchange(3 * chunk + 5);
    sim_stop(&sim);
}

/* PEs come one after the other, children before their parents, and the exchange has begun meanwhile. */
static void test_parents_come_last(void **state)
{
    (void)state;
    sim_start(&sim, 15, 1, 2);
    for (int pe = 14; pe >= 0; pe--) {
        sim_add(&sim, pe);
        uint64_t end = t_now_ms() + 30000;
        while (sim.pending > 14 - pe) { /* the exchanges of those before it are still open */
            t_check(t_now_ms() < end);
            aclshmemi_store_loop_turn(sim.loop, 10);
        }
        sim_allgather(&sim, pe, 100);
    }
    sim_wait(&sim, 30000);
    t_check_int(sim.failed, 0);
    sim_stop(&sim);
}

static void check_all_failed(int except, const char *part)
{
    for (int pe = 0; pe < sim.n_pes; pe++) {
        if (pe == except)
            continue;
        t_check_int(sim.pe[pe].result, ACLSHMEM_SMEM_ERROR);
        t_check_contains(sim.pe[pe].text, part);
    }
}

/* Each place in the tree in turn: its PE is gone while an exchange waits for it. */
static void test_any_pe_dies(void **state)
{
    (void)state;
    for (int victim = 0; victim < 10; victim++) {
        char part[32];
        sim_start(&sim, 10, 1, 3);
        all_join();
        all_exchange(50);
        for (int pe = 0; pe < 10; pe++) {
            if (pe != victim)
                sim_allgather(&sim, pe, 50);
        }
        aclshmemi_store_client_destroy(sim.pe[victim].client);
        sim.pe[victim].client = NULL;
        sim_wait(&sim, 30000);
        snprintf(part, sizeof part, "PE %d (host ", victim);
        check_all_failed(victim, part);
        for (int pe = 0; pe < 10; pe++)
            t_check(pe == victim || (sim.pe[pe].deaths == 1 && sim.pe[pe].last_death == victim));
        sim.failed = 0;
        for (int pe = 0; pe < 10; pe++) { /* and what comes later fails at once */
            if (pe != victim)
                sim_barrier(&sim, pe);
        }
        sim_wait(&sim, 30000);
        t_check_int(sim.failed, 9);
        sim_stop(&sim);
    }
}

/* [F-09] Both PEs live, but the link between them broke. */
static void test_link_in_the_tree_breaks(void **state)
{
    (void)state;
    sim_start(&sim, 10, 1, 2);
    all_join();
    all_exchange(50);
    t_check(sim.pe[7].client->tree.parent && sim.pe[7].client->tree.parent_pe == 3);
    t_check(shutdown(aclshmemi_store_link_fd(sim.pe[7].client->tree.parent), SHUT_RDWR) == 0);
    for (int pe = 0; pe < 10; pe++)
        sim_allgather(&sim, pe, 50);
    sim_wait(&sim, 30000);
    check_all_failed(-1, "the connection between PE ");
    for (int pe = 0; pe < 10; pe++)
        t_check_int(sim.pe[pe].deaths, 0);
    sim_stop(&sim);
}

/* --- A parent nobody can reach: PE 0 stands in --- */

/* Listens, so that its address can be told, and then no more. */
static void close_the_door(int pe)
{
    tree_t *tree = &sim.pe[pe].client->tree;
    t_check(tree->door);
    aclshmemi_store_door_shut(tree->door);
}

static void test_unreachable_parent(void **state)
{
    (void)state;
    sim_start(&sim, 12, 1, 3);
    for (int pe = 0; pe < 4; pe++)
        sim_add(&sim, pe);
    sim_wait(&sim, 30000);
    close_the_door(1); /* of the PEs 4, 5 and 6 */
    for (int pe = 4; pe < 12; pe++)
        sim_add(&sim, pe);
    sim_wait(&sim, 30000);
    all_exchange(1000); /* complete, once they have given up on their parent */
    for (int pe = 4; pe <= 6; pe++)
        t_check(!sim.pe[pe].client->tree.parent && sim.pe[pe].client->tree.ready);
    t_check(sim.pe[7].client->tree.parent);
    for (int i = 0; i < 3; i++)
        all_exchange(100000);
    for (int pe = 0; pe < 12; pe++)
        sim_goodbye(&sim, pe);
    sim_wait(&sim, 30000);
    sim_stop(&sim);
}

/* One of the children got through before the door closed for the others. */
static void test_reachable_for_some(void **state)
{
    (void)state;
    sim_start(&sim, 9, 1, 3);
    for (int pe = 0; pe < 5; pe++)
        sim_add(&sim, pe);
    sim_wait(&sim, 30000);
    uint64_t end = t_now_ms() + 30000;
    while (!sim.pe[4].client->tree.parent) {
        t_check(t_now_ms() < end);
        aclshmemi_store_loop_turn(sim.loop, 10);
    }
    close_the_door(1);
    for (int pe = 5; pe < 9; pe++)
        sim_add(&sim, pe);
    sim_wait(&sim, 30000);
    all_exchange(1000);
    t_check(sim.pe[4].client->tree.parent);
    t_check(!sim.pe[5].client->tree.parent);
    all_exchange(3);
    sim_stop(&sim);
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_several_chunks),
        cmocka_unit_test(test_parents_come_last),
        cmocka_unit_test(test_any_pe_dies),
        cmocka_unit_test(test_link_in_the_tree_breaks),
        cmocka_unit_test(test_unreachable_parent),
        cmocka_unit_test(test_reachable_for_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
