/* SPDX-License-Identifier: Apache-2.0 */
/* Unique ids: their content, their making from settings, and the sockets that wait for an init. */
#define LOG_MODULE "test"
#include "host/bootstrap/uid/uid.h"
#undef fail /* cmocka has one of its own */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

static aclshmemi_env_t env_with(const char *session_id, const char *ifname)
{
    return (aclshmemi_env_t){
        .uid_session_id = session_id, .uid_sock_ifname = ifname, .init_timeout_ms = 60000};
}

static aclshmemi_addr_t loopback(uint16_t port)
{
    aclshmemi_addr_t addr = {.length = sizeof addr.v4};
    addr.v4.sin_family = AF_INET;
    addr.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addr.v4.sin_port = htons(port);
    return addr;
}

static aclshmemi_uid_t decoded(const aclshmemx_uniqueid_t *id)
{
    aclshmemi_uid_t uid;
    assert_int_equal(aclshmemi_uid_decode(id, &uid), 0);
    return uid;
}

static aclshmemx_uniqueid_t made(const aclshmemi_env_t *env, bool on_loopback)
{
    aclshmemx_uniqueid_t id;
    t_check_that(aclshmemi_uid_create(env, on_loopback, &id) == 0, "%s", aclshmemi_status_last_text());
    return id;
}

/* The socket of the id, which must be there and listen. */
static int take_listening(const aclshmemx_uniqueid_t *id)
{
    aclshmemi_uid_t uid = decoded(id);
    aclshmemi_addr_t local;
    int fd = aclshmemi_uid_take_socket(uid.magic);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(aclshmemi_net_local(fd, &local), 0);
    assert_int_equal(aclshmemi_addr_port(&local), aclshmemi_addr_port(&uid.addr));
    assert_int_equal(aclshmemi_net_listen(fd, 5), 0);
    return fd;
}

static void connect_to(const aclshmemi_addr_t *addr)
{
    int fd = -1;
    assert_int_equal(aclshmemi_net_connect(addr, aclshmemi_deadline_after_ms(5000), &fd), 0);
    aclshmemi_net_close(&fd);
}

/* --- content --- */

static void test_content_is_as_documented(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t id;
    uint64_t magic = 0, stored;
    unsigned char raw[sizeof id];
    struct sockaddr_in addr;
    aclshmemi_addr_t where = loopback(9999);
    assert_int_equal(aclshmemi_uid_encode(&where, &id, &magic), 0);
    memcpy(raw, &id, sizeof raw);
    memcpy(&stored, raw + 48, sizeof stored);
    memcpy(&addr, raw + 16, sizeof addr);
    assert_int_equal(id.version, 65672);
    assert_int_equal(id.my_pe, 0);
    assert_int_equal(id.n_pes, 0);
    assert_memory_equal(raw + 12, "\0\0\0\0", 4); /* no descriptor's number */
    assert_int_equal(addr.sin_family, AF_INET);
    assert_int_equal(ntohs(addr.sin_port), 9999);
    assert_memory_equal(raw + 44, "\0\0\0\0", 4);
    assert_true(stored != 0 && stored == magic);
    aclshmemi_uid_t uid = decoded(&id);
    assert_true(uid.magic == magic);
    assert_memory_equal(&uid.addr.v4, &where.v4, sizeof where.v4);
    assert_memory_equal(uid.secret, raw + 64, sizeof uid.secret);
}

static void test_ids_share_nothing(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t a, b;
    uint64_t magic_a = 0, magic_b = 0;
    aclshmemi_addr_t where = loopback(9999);
    assert_int_equal(aclshmemi_uid_encode(&where, &a, &magic_a), 0);
    assert_int_equal(aclshmemi_uid_encode(&where, &b, &magic_b), 0);
    aclshmemi_uid_t x = decoded(&a), y = decoded(&b);
    assert_true(magic_a != magic_b);
    assert_memory_not_equal(x.secret, y.secret, sizeof x.secret);
    assert_true(aclshmemi_magic_hash(magic_a) != aclshmemi_magic_hash(magic_b));
    assert_int_equal(aclshmemi_magic_hash(magic_a), aclshmemi_magic_hash(magic_a));
    assert_true(aclshmemi_magic_hash(magic_a) != (uint32_t)magic_a);
    assert_true(aclshmemi_magic_hash(magic_a) != (uint32_t)(magic_a >> 32));
}

/* [U-35] */
static void test_any_alignment(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t id;
    uint64_t magic = 0;
    char buffer[sizeof id + 8];
    aclshmemi_addr_t where = loopback(9999);
    assert_int_equal(aclshmemi_uid_encode(&where, &id, &magic), 0);
    for (size_t shift = 0; shift < 8; shift++) {
        aclshmemi_uid_t uid;
        memcpy(buffer + shift, &id, sizeof id);
        assert_int_equal(aclshmemi_uid_decode(buffer + shift, &uid), 0);
        assert_true(uid.magic == magic);
    }
}

/* Every bit counts, except in the two numbers a program may write. */
static void test_damage_is_found(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t id;
    uint64_t magic = 0;
    unsigned char raw[sizeof id];
    aclshmemi_addr_t where = loopback(9999);
    assert_int_equal(aclshmemi_uid_encode(&where, &id, &magic), 0);
    memcpy(raw, &id, sizeof raw);
    for (size_t bit = 0; bit < 8 * sizeof raw; bit++) {
        aclshmemi_uid_t uid = {.magic = 7};
        raw[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int rc = aclshmemi_uid_decode(raw, &uid);
        raw[bit / 8] ^= (unsigned char)(1u << bit % 8);
        bool free_to_use = bit / 8 >= 4 && bit / 8 < 12;
        t_check_that(rc == (free_to_use ? 0 : ACLSHMEM_INVALID_PARAM), "bit %zu of byte %zu: %d", bit % 8,
                     bit / 8, rc);
        if (rc != 0)
            assert_true(uid.magic == 7);
    }
}

/* [U-07] */
static void test_refusals_say_why(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
    aclshmemi_uid_t uid;
    uint64_t magic;
    aclshmemi_addr_t where = loopback(80);
    assert_int_equal(aclshmemi_uid_decode(&id, &uid), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "aclshmemx_get_uniqueid");
    assert_int_equal(aclshmemi_uid_encode(&where, &id, &magic), 0);
    assert_int_equal(aclshmemi_uid_decode(&id, &uid), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "port 80");
    id.version = 65671;
    assert_int_equal(aclshmemi_uid_decode(&id, &uid), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "version 65671");
}

static void test_scope_travels_by_name(void **state)
{
    (void)state;
    aclshmemx_uniqueid_t id;
    uint64_t magic;
    aclshmemi_addr_t where = {.length = sizeof where.v6};
    where.v6.sin6_family = AF_INET6;
    where.v6.sin6_port = htons(9999);
    where.v6.sin6_scope_id = 1;
    assert_int_equal(inet_pton(AF_INET6, "fe80::1", &where.v6.sin6_addr), 1);
    assert_int_equal(aclshmemi_uid_encode(&where, &id, &magic), 0);
    assert_memory_equal((const char *)&id + 100, "lo", 3);
    aclshmemi_uid_t uid = decoded(&id);
    assert_int_equal(uid.addr.v6.sin6_scope_id, 1);
    assert_memory_equal((const char *)&id + 44, "\1\0\0\0", 4);

    aclshmemi_addr_t other = loopback(7777); /* a peer's view of PE 0 */
    assert_int_equal(aclshmemi_uid_readdress(&other, &id), 0);
    aclshmemi_uid_t again = decoded(&id);
    assert_true(again.magic == magic);
    assert_memory_equal(again.secret, uid.secret, sizeof uid.secret);
    assert_int_equal(aclshmemi_addr_port(&again.addr), 7777);
    assert_int_equal(again.addr.any.sa_family, AF_INET);
}

/* --- making --- */

/* [U-01] */
static void test_automatic_and_loopback(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    aclshmemx_uniqueid_t id = made(&env, false);
    aclshmemi_uid_t uid = decoded(&id);
    assert_true(aclshmemi_addr_port(&uid.addr) >= ACLSHMEMI_PORT_MIN);
    assert_false(aclshmemi_addr_is_any(&uid.addr));
    int fd = take_listening(&id);
    connect_to(&uid.addr);
    aclshmemi_net_close(&fd);

    id = made(&env, true);
    uid = decoded(&id);
    assert_true(aclshmemi_addr_is_loopback(&uid.addr));
}

/* [U-04] [U-27] */
static void test_session_id(void **state)
{
    (void)state;
    char text[64];
    uint16_t port = t_free_port(AF_INET);
    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    aclshmemi_env_t env = env_with(text, "no-such-interface"); /* which does not matter then */
    /* Again and again on the same port, with connections that PE 0 closed first still lingering. */
    for (int round = 0; round < 3; round++) {
        aclshmemx_uniqueid_t id = made(&env, false);
        aclshmemi_uid_t uid = decoded(&id);
        assert_int_equal(aclshmemi_addr_port(&uid.addr), port);
        int fd = take_listening(&id), peer = -1;
        assert_int_equal(aclshmemi_net_connect(&uid.addr, aclshmemi_deadline_after_ms(5000), &peer), 0);
        int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        assert_true(accepted >= 0);
        aclshmemi_net_close(&accepted);
        aclshmemi_net_close(&peer);
        aclshmemi_net_close(&fd);
    }
    if (t_has_ipv6()) {
        snprintf(text, sizeof text, "[::1]:%u", t_free_port(AF_INET6));
        aclshmemx_uniqueid_t id = made(&env, false);
        assert_int_equal(decoded(&id).addr.any.sa_family, AF_INET6);
    }
    snprintf(text, sizeof text, "localhost:%u", t_free_port(AF_INET));
    aclshmemx_uniqueid_t id = made(&env, false);
    aclshmemi_uid_t uid = decoded(&id);
    assert_true(aclshmemi_addr_is_loopback(&uid.addr));
}

static void test_a_second_id_for_the_same_port(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "127.0.0.1:%u", t_free_port(AF_INET));
    aclshmemi_env_t env = env_with(text, "");
    aclshmemx_uniqueid_t first = made(&env, false), second = made(&env, false);
    int fd = take_listening(&second);
    assert_int_equal(aclshmemi_uid_take_socket(decoded(&first).magic), -1); /* the port is in use */
    aclshmemi_net_close(&fd);
}

/* [U-19] */
static void test_all_interfaces_advertise_one(void **state)
{
    (void)state;
    char text[64];
    uint16_t port = t_free_port(AF_INET);
    snprintf(text, sizeof text, "0.0.0.0:%u", port);
    aclshmemi_env_t env = env_with(text, "");
    aclshmemx_uniqueid_t id = made(&env, false);
    aclshmemi_uid_t uid = decoded(&id);
    assert_false(aclshmemi_addr_is_any(&uid.addr));
    assert_int_equal(aclshmemi_addr_port(&uid.addr), port);
    int fd = take_listening(&id);
    aclshmemi_addr_t own = loopback(port);
    connect_to(&uid.addr);
    connect_to(&own);
    aclshmemi_net_close(&fd);
    env.uid_sock_ifname = "no-such-interface";
    assert_int_equal(aclshmemi_uid_create(&env, false, &id), ACLSHMEM_INVALID_PARAM);
}

/* [U-20] [U-21] [U-22] [U-26] */
static void test_bad_settings(void **state)
{
    (void)state;
    const struct {
        const char *session_id, *ifname, *reason;
    } cases[] = {{"127.0.0.1:80", "", "1025..65535"},
                 {"127.0.0.1:1024", "", "1025..65535"},
                 {"127.0.0.1:abc", "", "not a number"},
                 {"::1:8888", "", "[IPV6]:PORT"},
                 {"no-such-host.invalid:8888", "", "no-such-host.invalid"},
                 {"203.0.113.77:8888", "", "no interface of this host has that address"},
                 {"", "no-such-interface", "there are: lo 127.0.0.1"},
                 {"", ":inet4", "1..21 characters"}};
    t_resources_t before = t_resources_now();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        aclshmemi_env_t env = env_with(cases[i].session_id, cases[i].ifname);
        aclshmemx_uniqueid_t id = {.version = 5};
        assert_int_equal(aclshmemi_uid_create(&env, false, &id), ACLSHMEM_INVALID_PARAM);
        assert_int_equal(aclshmemi_status_last_code(), ACLSHMEM_INVALID_PARAM);
        t_check_contains(aclshmemi_status_last_text(), cases[i].reason);
        assert_int_equal(id.version, 5);
    }
    t_resources_expect(&before, 16, 4096);
}

/* [U-23] */
static void test_busy_port_is_named(void **state)
{
    (void)state;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    aclshmemi_addr_t addr = loopback(0);
    aclshmemx_uniqueid_t id;
    int fd = -1;
    assert_int_equal(aclshmemi_net_bind(&addr, &fd), 0);
    assert_int_equal(aclshmemi_net_listen(fd, 1), 0);
    assert_int_equal(aclshmemi_net_local(fd, &addr), 0);
    aclshmemi_addr_print(&addr, text);
    aclshmemi_env_t env = env_with(text, "");
    assert_int_equal(aclshmemi_uid_create(&env, false, &id), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), text);
    t_check_contains(aclshmemi_status_last_text(), "taken");
    aclshmemi_net_close(&fd);
}

/* --- waiting sockets --- */

static void test_a_waiting_port_is_not_shared(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    aclshmemx_uniqueid_t id = made(&env, true);
    aclshmemi_uid_t uid = decoded(&id);
    int fd = -1;
    assert_int_not_equal(aclshmemi_net_try_bind(&uid.addr, &fd), 0); /* although that one sets SO_REUSEADDR */
    aclshmemi_uid_drop_all();
    assert_int_equal(aclshmemi_net_try_bind(&uid.addr, &fd), 0);
    aclshmemi_net_close(&fd);
    assert_int_equal(aclshmemi_uid_take_socket(uid.magic), -1);
}

/* [U-29] */
static void test_a_thousand_unused_ids(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    aclshmemx_uniqueid_t id = made(&env, true);
    t_resources_t before = t_resources_now();
    for (int i = 0; i < 1000; i++)
        id = made(&env, true);
    t_resources_expect(&before, 4, 1024);
    int fd = take_listening(&id);
    aclshmemi_net_close(&fd);
    aclshmemi_uid_drop_all();
}

static void test_two_ids_work_in_any_order(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    for (int order = 0; order < 2; order++) {
        aclshmemx_uniqueid_t ids[2];
        int fds[2];
        ids[0] = made(&env, true);
        ids[1] = made(&env, true);
        fds[0] = take_listening(&ids[order]);
        fds[1] = take_listening(&ids[1 - order]);
        assert_int_equal(aclshmemi_uid_take_socket(decoded(&ids[0]).magic), -1); /* used */
        assert_int_equal(aclshmemi_uid_take_socket(decoded(&ids[1]).magic), -1);
        aclshmemi_net_close(&fds[0]);
        aclshmemi_net_close(&fds[1]);
    }
}

/* In a network of its own, where nobody else takes a port that is free for a moment. */
static void many_ids(void *argument)
{
    enum { MANY = 256 };
    static aclshmemx_uniqueid_t ids[MANY];
    aclshmemi_env_t env = env_with("", "");
    (void)argument;
    if (!t_unshare_network())
        t_skip("no network namespaces here");
    for (int i = 0; i < MANY; i++)
        t_check(aclshmemi_uid_create(&env, true, &ids[i]) == 0);
    for (int i = 0; i < MANY; i++) {
        aclshmemi_uid_t uid;
        t_check(aclshmemi_uid_decode(&ids[i], &uid) == 0);
        int fd = aclshmemi_uid_take_socket(uid.magic);
        t_check_that((fd >= 0) == (i > 0), "id %d: %d", i, fd); /* the oldest is one too many */
        aclshmemi_net_close(&fd);
    }
}

static void run_apart(void (*function)(void *))
{
    t_child_t child;
    t_run_function(&child, function, NULL, 30000);
    bool skipped = child.exit_code == T_SKIP;
    if (skipped)
        print_message("%s", child.out);
    else
        t_check_exit(&child, 0);
    t_child_free(&child);
    if (skipped)
        skip();
}

static void test_as_many_ids_as_instances(void **state)
{
    (void)state;
    run_apart(many_ids);
}

static void test_a_socket_can_go_back(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    aclshmemx_uniqueid_t id = made(&env, true);
    uint64_t magic = decoded(&id).magic;
    int fd = take_listening(&id);
    aclshmemi_uid_return_socket(magic, fd);
    fd = take_listening(&id);
    aclshmemi_net_close(&fd);
    aclshmemi_uid_return_socket(magic, -1);
    assert_int_equal(aclshmemi_uid_take_socket(magic), -1);
    assert_int_equal(aclshmemi_uid_take_socket(0), -1);
}

static void test_a_child_has_no_ids(void **state)
{
    (void)state;
    aclshmemi_env_t env = env_with("", "");
    aclshmemx_uniqueid_t id = made(&env, true);
    aclshmemi_uid_t uid = decoded(&id);
    size_t open_before = t_resources_now().descriptors;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bool right =
            t_resources_now().descriptors == open_before - 1 && aclshmemi_uid_take_socket(uid.magic) == -1;
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    int fd = take_listening(&id);
    aclshmemi_net_close(&fd);
}

static void without_loopback(void *argument)
{
    (void)argument;
    aclshmemx_uniqueid_t id;
    aclshmemi_env_t env = env_with("", "");
    if (!t_unshare_network())
        t_skip("no network namespaces here");
    if (system("ip link set lo down 2>/dev/null && ip addr flush dev lo 2>/dev/null") != 0)
        t_skip("ip does not work here");
    t_unit_log_start(ACLSHMEMI_LOG_ERROR);
    assert_int_equal(aclshmemi_uid_create(&env, false, &id), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "not even loopback");
    t_log_expect_level(ACLSHMEMI_LOG_ERROR, "not even loopback");
    assert_int_equal(aclshmemi_uid_create(&env, true, &id), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "loopback");
}

static void test_a_host_without_loopback(void **state)
{
    (void)state;
    run_apart(without_loopback);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_is_as_documented),
        cmocka_unit_test(test_ids_share_nothing),
        cmocka_unit_test(test_any_alignment),
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_refusals_say_why),
        cmocka_unit_test(test_scope_travels_by_name),
        cmocka_unit_test(test_automatic_and_loopback),
        cmocka_unit_test(test_session_id),
        cmocka_unit_test(test_a_second_id_for_the_same_port),
        cmocka_unit_test(test_all_interfaces_advertise_one),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_busy_port_is_named),
        cmocka_unit_test(test_a_waiting_port_is_not_shared),
        cmocka_unit_test(test_a_thousand_unused_ids),
        cmocka_unit_test(test_two_ids_work_in_any_order),
        cmocka_unit_test(test_as_many_ids_as_instances),
        cmocka_unit_test(test_a_socket_can_go_back),
        cmocka_unit_test(test_a_child_has_no_ids),
        cmocka_unit_test(test_a_host_without_loopback),
    };
    t_unit_log_start(ACLSHMEMI_LOG_ERROR); /* refusals are the point here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
