/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process may keep a core busy while it waits, from the cores that it and the others of its host may use. */
#define LOG_MODULE "test"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "host/init/identity.h"
#include "support/unit.h"

static aclshmemi_cores_t cores(uint64_t bits)
{
    return (aclshmemi_cores_t){{bits}};
}

static void a_core_each(void **state)
{
    (void)state;
    const aclshmemi_cores_t all[] = {cores(1), cores(2)};
    t_check(aclshmemi_cores_suffice(&all[0], all, 1, INT_MAX));
    t_check(aclshmemi_cores_suffice(&all[0], all, 2, INT_MAX));
    t_check(aclshmemi_cores_suffice(&all[1], all, 2, INT_MAX));
    t_check(aclshmemi_cores_suffice(&all[1], all, 2, 2));
    t_check(!aclshmemi_cores_suffice(&all[1], all, 2, 1));
}

static void one_core_for_two(void **state)
{
    (void)state;
    const aclshmemi_cores_t all[] = {cores(1), cores(1), cores(6)};
    t_check(!aclshmemi_cores_suffice(&all[0], all, 3, INT_MAX));
    t_check(!aclshmemi_cores_suffice(&all[0], all, 2, INT_MAX));
}

static void everything_for_everybody(void **state)
{
    (void)state;
    const aclshmemi_cores_t all[] = {cores(3), cores(3), cores(3)};
    t_check(!aclshmemi_cores_suffice(&all[0], all, 3, INT_MAX));
    t_check(aclshmemi_cores_suffice(&all[0], all, 2, INT_MAX));
}

/* The free one meets two that have taken all it could use. */
static void crowded_by_others(void **state)
{
    (void)state;
    const aclshmemi_cores_t all[] = {cores(3), cores(1), cores(2)};
    t_check(!aclshmemi_cores_suffice(&all[0], all, 3, INT_MAX));
}

static void not_known(void **state)
{
    (void)state;
    aclshmemi_cores_t all[4096] = {{{0}}};
    t_check(aclshmemi_cores_suffice(&all[0], all, 1, INT_MAX));
    if (sysconf(_SC_NPROCESSORS_ONLN) < 4096)
        t_check(!aclshmemi_cores_suffice(&all[0], all, 4096, INT_MAX));
}

static void of_this_process(void **state)
{
    (void)state;
    aclshmemi_cores_t own;
    cpu_set_t set;
    int found = 0;
    aclshmemi_cores_of_process(&own);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < 1024; cpu++)
        found += (own.word[cpu / 64] >> cpu % 64 & 1) != 0 && CPU_ISSET(cpu, &set);
    t_check_int(found, CPU_COUNT(&set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_each),       cmocka_unit_test(one_core_for_two),
        cmocka_unit_test(crowded_by_others), cmocka_unit_test(everything_for_everybody),
        cmocka_unit_test(not_known),         cmocka_unit_test(of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
