/* SPDX-License-Identifier: Apache-2.0 */
/* Which interface is advertised: the rule on made-up lists, and the real list in network namespaces. */
/* */
#define LOG_MODULE "test"
#include "host/bootstrap/interface.h"
#undef fail /* cmocka has one of its own */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/bootstrap/address.h"
#include "support/unit.h"

enum { UP = IFF_UP | IFF_RUNNING, LOOP = IFF_UP | IFF_RUNNING | IFF_LOOPBACK, DOWN = 0, NO_CABLE = IFF_UP };

static aclshmemi_interface_t entry(const char *name, unsigned flags, const char *host)
{
    aclshmemi_interface_t out = {.flags = flags};
    snprintf(out.name, sizeof out.name, "%s", name);
    if (inet_pton(AF_INET, host, &out.addr.v4.sin_addr) == 1) {
        out.addr.v4.sin_family = AF_INET;
        out.addr.length = sizeof out.addr.v4;
    } else {
        assert_int_equal(inet_pton(AF_INET6, host, &out.addr.v6.sin6_addr), 1);
        out.addr.v6.sin6_family = AF_INET6;
        out.addr.length = sizeof out.addr.v6;
    }
    return out;
}

/* Index of the entry chosen, -1 for an error. */
static int pick(const aclshmemi_interface_t *list, size_t count, const char *spec)
{
    size_t chosen = 0;
    const char *reason = NULL;
    int rc = aclshmemi_interface_pick(list, count, spec, &chosen, &reason);
    if (rc != 0) {
        assert_int_equal(rc, ACLSHMEM_INVALID_PARAM);
        return -1;
    }
    assert_non_null(reason);
    return (int)chosen;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* [U-28] */
static void test_automatic_choice(void **state)
{
    (void)state;
    const aclshmemi_interface_t plain[] = {entry("lo", LOOP, "127.0.0.1"), entry("lo", LOOP, "::1"),
                                           entry("eth0", UP, "10.0.0.5"), entry("eth0", UP, "fe80::5"),
                                           entry("eth1", UP, "10.0.1.5")};
    assert_int_equal(pick(plain, COUNT(plain), ""), 2);

    const aclshmemi_interface_t odd[] = {
        entry("lo", LOOP, "127.0.0.1"),
        entry("eth0", DOWN, "10.0.0.5"),
        entry("eth1", NO_CABLE, "10.0.1.5"),
        entry("docker0", UP, "172.17.0.1"),
        entry("veth12", UP, "10.9.0.1"),
        entry("br-12", UP, "172.18.0.1"),
        entry("virbr0", UP, "192.168.0.1"),
        entry("tun0", UP, "10.8.0.1"),
        entry("tap0", UP, "10.8.1.1"),
        entry("lo1", UP, "10.7.0.1"),
        entry("eth2", UP, "169.254.3.3"),
        entry("eth3", UP, "0.0.0.0"),
        entry("eth4", UP, "127.3.3.3"),
        entry("eth5", UP, "fe80::1"),
        entry("eth6", UP, "::"),
        entry("eth7", UP, "2001:db8::7"),
        entry("eth8", UP, "10.0.8.5"),
    };
    assert_int_equal(pick(odd, COUNT(odd), ""), 15);
    /* Nothing but containers' bridges and loopback. */
    assert_int_equal(pick(odd, 15, ""), 0);
    assert_int_equal(pick(odd + 1, 14, ""), -1);
    t_check_contains(aclshmemi_status_last_text(), "SHMEM_UID_SOCK_IFNAME");
    t_check_contains(aclshmemi_status_last_text(), "eth0 10.0.0.5 (down)");

    const aclshmemi_interface_t only6[] = {entry("lo", LOOP, "::1")};
    assert_int_equal(pick(only6, 1, ""), 0);
    assert_int_equal(pick(only6, 0, ""), -1);
    t_check_contains(aclshmemi_status_last_text(), "there are: none");
}

/* [U-24] [U-26] */
static void test_named_choice(void **state)
{
    (void)state;
    const aclshmemi_interface_t list[] = {
        entry("lo", LOOP, "127.0.0.1"),  entry("lo", LOOP, "::1"),        entry("eth0", DOWN, "10.0.0.5"),
        entry("eth1", UP, "10.0.1.5"),   entry("eth1", UP, "fe80::5"),    entry("eth1", UP, "2001:db8::1"),
        entry("ib0", UP, "fe80::6"),     entry("ib0", UP, "2001:db8::2"), entry("docker0", UP, "172.17.0.1"),
        entry("eth10", UP, "10.0.10.5"),
    };
    const struct {
        const char *spec;
        int chosen;
    } cases[] = {{"eth", 3},        {"eth1", 3},      {"eth1:inet4", 3},
                 {"eth1:inet6", 5}, {"eth10", 9},     {"eth10:inet6", -1},
                 {"ib", 7},         {"ib:inet4", -1}, {"ib0:inet6", 7},
                 {"docker", 8},     {"lo", 0},        {"lo:inet6", 1},
                 {"eth0", -1},      {"wlan", -1},     {"ETH", -1},
                 {":inet4", -1},    {":", -1},        {"abcdefghijklmnopqrstu", -1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        t_check_that(pick(list, COUNT(list), cases[i].spec) == cases[i].chosen, "\"%s\" chooses %d",
                     cases[i].spec, pick(list, COUNT(list), cases[i].spec));
    assert_int_equal(pick(list, COUNT(list), "wlan"), -1);
    t_check_contains(aclshmemi_status_last_text(), "there are: lo 127.0.0.1, lo ::1, eth0 10.0.0.5 (down)");
    assert_int_equal(pick(list, COUNT(list), "abcdefghijklmnopqrstuv"), -1); /* 22 */
    t_check_contains(aclshmemi_status_last_text(), "1..21");
}

/* [U-25] */
static void test_unknown_suffix_warns(void **state)
{
    (void)state;
    const aclshmemi_interface_t list[] = {entry("eth0", UP, "2001:db8::1"), entry("eth1", UP, "10.0.1.5")};
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    assert_int_equal(pick(list, 2, "eth:ipx"), 0);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, ":ipx");
    t_log_forget();
    assert_int_equal(pick(list, 2, "eth1:inet"), 1);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, ":inet");
    t_log_forget();
}

static void test_long_lists_are_cut_in_messages(void **state)
{
    (void)state;
    aclshmemi_interface_t list[40];
    char out[64];
    for (size_t i = 0; i < COUNT(list); i++)
        list[i] = entry("averylongname12", DOWN, "2001:db8:1111:2222:3333:4444:5555:6666");
    assert_string_equal(aclshmemi_interface_describe(list, 0, out, sizeof out), "none");
    aclshmemi_interface_describe(list, COUNT(list), out, sizeof out);
    assert_true(strlen(out) < sizeof out);
    t_check_contains(out, "...");
    assert_int_equal(pick(list, COUNT(list), ""), -1);
}

static void test_the_real_list(void **state)
{
    (void)state;
    aclshmemi_interface_t *list = NULL;
    size_t count = 0;
    assert_int_equal(aclshmemi_interface_list(&list, &count), 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].name[0] != '\0' && list[i].index != 0);
        assert_int_equal(aclshmemi_addr_port(&list[i].addr), 0);
        if (i > 0)
            assert_true(list[i - 1].index <= list[i].index);
        if (i > 0 && list[i - 1].index == list[i].index)
            assert_false(list[i - 1].addr.any.sa_family == AF_INET6 && list[i].addr.any.sa_family == AF_INET);
    }
    free(list);
}

/* --- in a network of its own --- */

/* An interface that was switched on is running a moment later. */
static void expect_choice(const char *spec, const char *text)
{
    aclshmemi_addr_t addr;
    char out[ACLSHMEMI_ADDR_TEXT_LEN] = "";
    aclshmemi_deadline_t limit = aclshmemi_deadline_after_ms(10000);
    while (strcmp(out, text) != 0 && !aclshmemi_deadline_passed(limit)) {
        const struct timespec pause = {.tv_nsec = 10000000};
        nanosleep(&pause, NULL);
        if (aclshmemi_interface_choose(spec, &addr) == 0)
            aclshmemi_addr_print(&addr, out);
    }
    t_check_text(out, text);
}

static void run_ip(const char *arguments)
{
    char command[256];
    snprintf(command, sizeof command, "ip %s >/dev/null 2>&1", arguments);
    if (system(command) != 0)
        t_skip("ip %s does not work here", arguments);
}

static void in_own_network(void *argument)
{
    (void)argument;
    if (!t_unshare_network())
        t_skip("no network namespaces here");
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    expect_choice("", "127.0.0.1:0");
    t_log_expect_level(ACLSHMEMI_LOG_INFO, "other hosts cannot reach it");
    t_log_expect_level(ACLSHMEMI_LOG_INFO, "candidates: lo 127.0.0.1");

    run_ip("link add docker0 type veth peer name peer0");
    run_ip("link set peer0 up");
    run_ip("addr add 172.17.0.1/16 dev docker0");
    run_ip("link set docker0 up");
    expect_choice("", "127.0.0.1:0");
    expect_choice("docker", "172.17.0.1:0");

    run_ip("link add dead0 type veth peer name peer1");
    run_ip("addr add 10.1.0.1/24 dev dead0");
    run_ip("link add net0 type veth peer name peer2");
    run_ip("link set peer2 up");
    run_ip("-6 addr add 2001:db8::5/64 dev net0 nodad");
    run_ip("link set net0 up");
    expect_choice("", "[2001:db8::5]:0");
    run_ip("addr add 10.2.0.1/24 dev net0");
    expect_choice("", "10.2.0.1:0");
    expect_choice("net0:inet6", "[2001:db8::5]:0");
    t_log_expect_level(ACLSHMEMI_LOG_INFO, "net0");

    aclshmemi_addr_t addr;
    assert_int_equal(aclshmemi_interface_choose("dead", &addr), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "dead0 10.1.0.1 (down)");
    assert_int_equal(aclshmemi_interface_choose_of("", AF_INET, &addr), 0);
    assert_int_equal(addr.any.sa_family, AF_INET);
    assert_int_equal(aclshmemi_interface_choose_of("", AF_INET6, &addr), 0);
    assert_int_equal(addr.any.sa_family, AF_INET6);
}

/* [U-28] */
static void test_networks_of_their_own(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, in_own_network, NULL, 30000);
    if (child.exit_code == T_SKIP) {
        print_message("%s", child.out);
        t_child_free(&child);
        skip();
    }
    t_check_exit(&child, 0);
    t_child_free(&child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_automatic_choice),     cmocka_unit_test(test_named_choice),
        cmocka_unit_test(test_unknown_suffix_warns), cmocka_unit_test(test_long_lists_are_cut_in_messages),
        cmocka_unit_test(test_the_real_list),        cmocka_unit_test(test_networks_of_their_own),
    };
    t_unit_log_start(ACLSHMEMI_LOG_ERROR); /* refusals are the point here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
