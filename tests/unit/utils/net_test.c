/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and addresses: both families, busy ports with their holder, deadlines, interrupted calls, dead hosts. */
#include "support/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/utils/net.h"

static aclshmemi_addr_t address(const char *host, uint16_t port)
{
    aclshmemi_addr_t addr;
    size_t count = 0;
    t_check_int(
        aclshmemi_net_resolve(host, AF_UNSPEC, port, aclshmemi_deadline_after_ms(60000), &addr, 1, &count),
        0);
    t_check_uint(count, 1);
    return addr;
}

static aclshmemi_deadline_t soon(void)
{
    return aclshmemi_deadline_after_ms(20000);
}

/* ---- addresses ---- */

static void print_and_ask(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        uint16_t port;
        const char *text;
        bool loopback, any;
    } rows[] = {
        {"127.0.0.1", 80, "127.0.0.1:80", true, false},
        {"127.9.9.9", 65535, "127.9.9.9:65535", true, false},
        {"128.0.0.1", 0, "128.0.0.1:0", false, false},
        {"0.0.0.0", 1, "0.0.0.0:1", false, true},
        {"::1", 8080, "[::1]:8080", true, false},
        {"::", 8080, "[::]:8080", false, true},
        {"2001:db8::17", 1025, "[2001:db8::17]:1025", false, false},
        {"::ffff:127.0.0.1", 5, "[::ffff:127.0.0.1]:5", true, false},
        {"::ffff:0.0.0.0", 5, "[::ffff:0.0.0.0]:5", false, true},
        {"::ffff:10.0.0.1", 5, "[::ffff:10.0.0.1]:5", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ACLSHMEMI_ADDR_TEXT_LEN];
        aclshmemi_addr_t addr = address(rows[i].host, rows[i].port);
        t_check_text(aclshmemi_addr_print(&addr, text), rows[i].text);
        t_check_int(aclshmemi_addr_is_loopback(&addr), rows[i].loopback);
        t_check_int(aclshmemi_addr_is_any(&addr), rows[i].any);
        t_check_uint(aclshmemi_addr_port(&addr), rows[i].port);
        aclshmemi_addr_set_port(&addr, 4242);
        t_check_uint(aclshmemi_addr_port(&addr), 4242);
    }
}

static void longest_text_fits(void **state)
{
    (void)state;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    aclshmemi_addr_t addr = {
        .v6 = {.sin6_family = AF_INET6, .sin6_port = htons(65535), .sin6_scope_id = UINT32_MAX},
        .length = sizeof addr.v6};
    memset(&addr.v6.sin6_addr, 0xfe, sizeof addr.v6.sin6_addr);
    aclshmemi_addr_print(&addr, text);
    t_check_text(text, "[fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe%4294967295]:65535");
    addr.any.sa_family = AF_UNIX;
    t_check_contains(aclshmemi_addr_print(&addr, text), "family");
}

static void scopes(void **state)
{
    (void)state;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    aclshmemi_addr_t addr = address("fe80::1%lo", 4000);
    t_check(addr.v6.sin6_scope_id != 0);
    t_check_text(aclshmemi_addr_print(&addr, text), "[fe80::1%lo]:4000");
}

static void names(void **state)
{
    (void)state;
    aclshmemi_addr_t list[8];
    size_t count = 0;
    t_check_int(
        aclshmemi_net_resolve("localhost", AF_UNSPEC, 1, aclshmemi_deadline_after_ms(60000), list, 8, &count),
        0);
    t_check(count >= 1);
    for (size_t i = 0; i < count; i++) {
        t_check(aclshmemi_addr_is_loopback(&list[i]));
        t_check(i == 0 || list[i - 1].any.sa_family == AF_INET || list[i].any.sa_family == AF_INET6);
        for (size_t k = 0; k < i; k++)
            t_check(memcmp(&list[i], &list[k], sizeof list[i]) != 0);
    }
    t_check_int(
        aclshmemi_net_resolve("::1", AF_INET6, 1, aclshmemi_deadline_after_ms(60000), list, 8, &count), 0);
    t_check_uint(count, 1);
    t_check_int(list[0].any.sa_family, AF_INET6);
}

static void bad_names(void **state)
{
    (void)state;
    char long_name[300];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const char *const bad[] = {"",          long_name, "127.1",     "2130706433", "0x7f000001",
                               "1.2.3.4.5", "1.2.3",   "256.1.1.1", "01.2.3.400", "1.2.3.0x4",
                               "host.7",    "::g",     "[::1]",     "1.2.3.4:5",  "fe80::1%nosuchinterface"};
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        aclshmemi_addr_t addr;
        size_t count = 99;
        t_check_that(aclshmemi_net_resolve(bad[i], AF_UNSPEC, 1, aclshmemi_deadline_after_ms(60000), &addr, 1,
                                           &count) != 0,
                     "\"%s\" is taken", bad[i]);
        t_check_uint(count, 99);
        t_check(strlen(aclshmemi_status_last_text()) > 10);
    }
    aclshmemi_addr_t addr;
    size_t count;
    t_check_int(
        aclshmemi_net_resolve("::1", AF_INET, 1, aclshmemi_deadline_after_ms(60000), &addr, 1, &count),
        ACLSHMEM_INVALID_VALUE);
    t_check_contains(aclshmemi_status_last_text(), "IPv4");
    t_log_expect_clean();
    t_unit_log_stop();
}

/* ---- listening and connecting ---- */

static void exchange(const char *host)
{
    aclshmemi_addr_t addr = address(host, 0), bound;
    char got[6] = "";
    int listener, client, server;
    t_check_int(aclshmemi_net_bind(&addr, &listener), 0);
    t_check_int(aclshmemi_net_listen(listener, 4), 0);
    t_check_int(aclshmemi_net_local(listener, &bound), 0);
    t_check(aclshmemi_addr_port(&bound) != 0);
    t_check_int(aclshmemi_net_connect(&bound, soon(), &client), 0);
    t_check_int(fcntl(client, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    t_check(fcntl(client, F_GETFL) & O_NONBLOCK);
    t_check_int(fcntl(listener, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    t_check_int(poll(&ready, 1, 20000), 1);
    server = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    t_check(server >= 0);
    t_check_int(aclshmemi_net_send_all(client, "hello", 6, soon()), 0);
    t_check_int(aclshmemi_net_recv_all(server, got, 6, soon()), 0);
    t_check_text(got, "hello");
    aclshmemi_net_close(&client);
    t_check_int(client, -1);
    t_check_int(aclshmemi_net_recv_all(server, got, 1, soon()), ACLSHMEM_SMEM_ERROR); /* the peer is gone */
    aclshmemi_net_close(&server);
    aclshmemi_net_close(&listener);
}

static void ipv4(void **state)
{
    (void)state;
    exchange("127.0.0.1");
}

static void ipv6(void **state)
{
    (void)state;
    if (!t_has_ipv6()) {
        print_message("no IPv6 here\n");
        skip();
    }
    exchange("::1");
}

static void families_are_kept_apart(void **state)
{
    (void)state;
    if (!t_has_ipv6())
        skip();
    aclshmemi_addr_t six = address("::", 0), four = address("0.0.0.0", 0), bound;
    int fd6, fd4;
    t_check_int(aclshmemi_net_bind(&six, &fd6), 0);
    t_check_int(aclshmemi_net_listen(fd6, 1), 0);
    t_check_int(aclshmemi_net_local(fd6, &bound), 0);
    aclshmemi_addr_set_port(&four, aclshmemi_addr_port(&bound));
    t_check_int(aclshmemi_net_try_bind(&four, &fd4), 0); /* [::] took the port of IPv6 only */
    aclshmemi_net_close(&fd4);
    aclshmemi_net_close(&fd6);
}

static void expect_holder(const char *text)
{
    char holder[64];
    snprintf(holder, sizeof holder, "(pid %d)", (int)getpid());
    t_check_contains(text, "the port is taken by utils_net");
    t_check_contains(text, holder);
}

static void busy_port_names_its_holder(void **state)
{
    (void)state;
    aclshmemi_addr_t addr = address("127.0.0.1", 0), bound;
    int first, second = -7;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    t_check_int(aclshmemi_net_bind(&addr, &first), 0);
    t_check_int(aclshmemi_net_local(first, &bound), 0);
    t_check_int(aclshmemi_net_listen(first, 1), 0);
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_net_try_bind(&bound, &second), ACLSHMEM_INNER_ERROR);
    t_log_expect_clean(); /* quiet */
    t_check_int(second, -7);
    expect_holder(aclshmemi_status_last_text());
    t_check_contains(aclshmemi_status_last_text(), aclshmemi_addr_print(&bound, text));
    t_check_int(aclshmemi_net_bind(&bound, &second), ACLSHMEM_INNER_ERROR);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 1);
    expect_holder(aclshmemi_status_last_text());
    t_unit_log_stop();
    aclshmemi_net_close(&first);
}

static void hold_port(void *argument)
{
    aclshmemi_addr_t addr = address("127.0.0.1", 0), bound;
    int control = *(int *)argument, fd;
    t_check_int(aclshmemi_net_bind(&addr, &fd), 0);
    t_check_int(aclshmemi_net_listen(fd, 1), 0);
    t_check_int(aclshmemi_net_local(fd, &bound), 0);
    uint16_t port = aclshmemi_addr_port(&bound);
    t_check_int(aclshmemi_net_send_all(control, &port, sizeof port, soon()), 0);
    char word;
    t_check_int(aclshmemi_net_recv_all(control, &word, 1, soon()), 0);
}

static void other_process_is_named(void **state)
{
    (void)state;
    int control[2], fd;
    uint16_t port;
    char expected[64];
    t_child_t child;
    t_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
    t_start_function(&child, hold_port, &control[1]);
    t_check_int(aclshmemi_net_recv_all(control[0], &port, sizeof port, soon()), 0);
    aclshmemi_addr_t addr = address("127.0.0.1", port);
    uint64_t start = t_now_ms();
    t_check_int(aclshmemi_net_try_bind(&addr, &fd), ACLSHMEM_INNER_ERROR);
    uint64_t took = t_now_ms() - start;
    snprintf(expected, sizeof expected, "utils_net (pid %d)", (int)child.pid);
    if (took >= 1000) /* many processes on a busy machine: the search gave up, as it should */
        snprintf(expected, sizeof expected, "by a process of user %u", (unsigned)geteuid());
    t_check_contains(aclshmemi_status_last_text(), expected);
    t_check_int(aclshmemi_net_send_all(control[0], "e", 1, soon()), 0);
    t_finish(&child, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    close(control[0]);
    close(control[1]);
}

/* Bound twice, which SO_REUSEADDR allows as long as nobody listens. */
static void second_listener_is_told(void **state)
{
    (void)state;
    aclshmemi_addr_t addr = address("127.0.0.1", 0), bound;
    int first, second;
    t_check_int(aclshmemi_net_bind(&addr, &first), 0);
    t_check_int(aclshmemi_net_local(first, &bound), 0);
    t_check_int(aclshmemi_net_bind(&bound, &second), 0);
    t_check_int(aclshmemi_net_listen(first, 1), 0);
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_net_listen(second, 1), ACLSHMEM_INNER_ERROR);
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 1);
    expect_holder(aclshmemi_status_last_text());
    t_unit_log_stop();
    aclshmemi_net_close(&second);
    aclshmemi_net_close(&first);
}

static void foreign_address(void **state)
{
    (void)state;
    aclshmemi_addr_t addr = address("192.0.2.1", 0);
    int fd;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_net_bind(&addr, &fd), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "no interface of this host");
    t_unit_log_stop();
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check(aclshmemi_net_local(file, &addr) != 0);
    t_check(aclshmemi_net_listen(file, 1) != 0);
    t_unit_log_stop();
    close(file);
}

static void nobody_listens(void **state)
{
    (void)state;
    aclshmemi_addr_t addr = address("127.0.0.1", t_free_port(AF_INET));
    int fd = -7;
    t_unit_log_start(ACLSHMEMI_LOG_WARN);
    t_check_int(aclshmemi_net_connect(&addr, soon(), &fd), ACLSHMEM_SMEM_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "refused");
    t_check_int(fd, -7);
    t_log_expect_clean();
    t_unit_log_stop();
}

/* Thousands of attempts on a port that the system also hands out by itself: a connection to oneself would come out. */
static void never_connected_to_oneself(void **state)
{
    (void)state;
    if (!t_unshare_network()) {
        print_message("no network namespace here\n");
        skip();
    }
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");
    if (!range)
        skip();
    bool narrow = fputs("40000 40003", range) >= 0;
    narrow = fclose(range) == 0 && narrow;
    if (!narrow)
        skip();
    aclshmemi_addr_t addr = address("127.0.0.1", 40002);
    int reflections = 0;
    for (int i = 0; i < 200; i++) {
        int fd;
        t_check(aclshmemi_net_connect(&addr, soon(), &fd) != 0);
        /* The same with the bare calls, to know that this test tests something. */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        t_check(fd >= 0);
        struct linger hard = {.l_onoff = 1};
        t_check_int(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
        reflections += connect(fd, &addr.any, addr.length) == 0;
        close(fd);
    }
    print_message("%d reflections in 200 attempts\n", reflections);
}

/* A listener whose queue is full does not answer: what a host that is switched off looks like. */
static void connect_keeps_its_deadline(void **state)
{
    (void)state;
    aclshmemi_addr_t addr = address("127.0.0.1", 0), bound;
    int listener, queued[8], count = 0, rc = 0;
    t_check_int(aclshmemi_net_bind(&addr, &listener), 0);
    t_check_int(aclshmemi_net_listen(listener, 0), 0);
    t_check_int(aclshmemi_net_local(listener, &bound), 0);
    uint64_t start = 0;
    while (rc == 0 && count < 8) {
        start = t_now_ms();
        rc = aclshmemi_net_connect(&bound, aclshmemi_deadline_after_ms(300), &queued[count]);
        count += rc == 0;
    }
    uint64_t took = t_now_ms() - start;
    t_check_int(rc, ACLSHMEM_TIMEOUT_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "timed out");
    t_check_that(took >= 300 && took < 5000, "%llu ms", (unsigned long long)took);
    int fd;
    start = t_now_ms();
    t_check_int(aclshmemi_net_connect(&bound, aclshmemi_clock_ns(), &fd),
                ACLSHMEM_TIMEOUT_ERROR); /* passed already */
    t_check(t_now_ms() - start < 5000);
    while (count)
        aclshmemi_net_close(&queued[--count]);
    aclshmemi_net_close(&listener);
}

static void options_are_set(void **state)
{
    (void)state;
    static const struct {
        int level, option, value;
    } rows[] = {{IPPROTO_TCP, TCP_NODELAY, 1},  {SOL_SOCKET, SO_KEEPALIVE, 1},
                {IPPROTO_TCP, TCP_KEEPIDLE, 2}, {IPPROTO_TCP, TCP_KEEPINTVL, 1},
                {IPPROTO_TCP, TCP_KEEPCNT, 2},  {IPPROTO_TCP, TCP_USER_TIMEOUT, 4000}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    t_check(fd >= 0);
    aclshmemi_net_tune(fd);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int value = -1;
        socklen_t length = sizeof value;
        t_check_int(getsockopt(fd, rows[i].level, rows[i].option, &value, &length), 0);
        t_check_int(value, rows[i].value);
    }
    close(fd);
}

/* ---- moving bytes ---- */

static void pair(int fds[2])
{
    t_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static void receive_deadline(void **state)
{
    (void)state;
    int fds[2];
    char got[8];
    pair(fds); /* blocking ones: the deadline must hold for them too */
    t_check_int(aclshmemi_net_send_all(fds[0], "abc", 3, soon()), 0);
    uint64_t start = t_now_ms();
    t_check_int(aclshmemi_net_recv_all(fds[1], got, 4, aclshmemi_deadline_after_ms(200)),
                ACLSHMEM_TIMEOUT_ERROR);
    t_check(t_now_ms() - start >= 200);
    t_check_contains(aclshmemi_status_last_text(), "3 of 4 bytes");
    close(fds[0]);
    close(fds[1]);
}

static void send_deadline(void **state)
{
    (void)state;
    enum { MUCH = 64 << 20 };
    int fds[2];
    char *data = calloc(1, MUCH);
    t_check(data != NULL);
    pair(fds);
    t_check_int(aclshmemi_net_send_all(fds[0], data, MUCH, aclshmemi_deadline_after_ms(200)),
                ACLSHMEM_TIMEOUT_ERROR);
    close(fds[1]);
    t_check_int(aclshmemi_net_send_all(fds[0], data, 1, soon()), ACLSHMEM_SMEM_ERROR); /* and no SIGPIPE */
    t_check_int(aclshmemi_net_send_all(fds[0], data, 0, soon()), 0);
    close(fds[0]);
    free(data);
}

typedef struct transfer {
    int fd;
    size_t size;
    unsigned char *data;
} transfer_t;

static void *receive(void *argument)
{
    transfer_t *transfer = argument;
    t_check_int(aclshmemi_net_recv_all(transfer->fd, transfer->data, transfer->size, soon()), 0);
    return NULL;
}

static void on_alarm(int number)
{
    (void)number;
}

/* Signals every half millisecond, without SA_RESTART, while much more than the buffers hold goes through. */
static void interrupted_transfers(void **state)
{
    (void)state;
    enum { SIZE = 16 << 20 };
    int fds[2];
    unsigned char *out = malloc(SIZE);
    transfer_t transfer = {.size = SIZE, .data = calloc(1, SIZE)};
    pthread_t thread;
    t_check(out && transfer.data);
    for (size_t i = 0; i < SIZE; i++)
        out[i] = (unsigned char)(i * 2654435761u >> 13);
    pair(fds);
    transfer.fd = fds[1];
    struct sigaction action = {.sa_handler = on_alarm}, old;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    t_check_int(sigaction(SIGALRM, &action, &old), 0);
    t_check_int(setitimer(ITIMER_REAL, &often, NULL), 0);
    t_check_int(pthread_create(&thread, NULL, receive, &transfer), 0);
    t_check_int(aclshmemi_net_send_all(fds[0], out, SIZE, soon()), 0);
    t_check_int(pthread_join(thread, NULL), 0);
    t_check_int(setitimer(ITIMER_REAL, &never, NULL), 0);
    t_check_int(sigaction(SIGALRM, &old, NULL), 0);
    t_check_memory(transfer.data, out, SIZE);
    close(fds[0]);
    close(fds[1]);
    free(out);
    free(transfer.data);
}

/* With the standard descriptors closed, ours must not take their numbers. */
static void closed_stdio(void *argument)
{
    (void)argument;
    aclshmemi_addr_t addr = address("127.0.0.1", 0), bound;
    int listener, client;
    close(0);
    close(1);
    close(2);
    if (aclshmemi_net_bind(&addr, &listener) != 0 || aclshmemi_net_listen(listener, 1) != 0 ||
        aclshmemi_net_local(listener, &bound) != 0 || aclshmemi_net_connect(&bound, soon(), &client) != 0)
        _exit(1);
    if (listener <= 2 || client <= 2 || !(fcntl(listener, F_GETFD) & FD_CLOEXEC) ||
        !(fcntl(client, F_GETFD) & FD_CLOEXEC))
        _exit(2);
    if (fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
        _exit(3);
    aclshmemi_net_close(&client);
    aclshmemi_net_close(&listener);
}

static void standard_descriptors_are_left_alone(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, closed_stdio, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

static void close_keeps_errno(void **state)
{
    (void)state;
    int fd = -1;
    errno = EXDEV;
    aclshmemi_net_close(&fd);
    t_check_int(errno, EXDEV);
    fd = 9999;
    aclshmemi_net_close(&fd);
    t_check_int(errno, EXDEV);
    t_check_int(fd, -1);
}

static void nothing_leaks(void **state)
{
    (void)state;
    exchange("127.0.0.1");
    t_resources_t before = t_resources_now();
    for (int i = 0; i < 50; i++) {
        exchange("127.0.0.1");
        nobody_listens(NULL);
        busy_port_names_its_holder(NULL);
    }
    t_resources_expect(&before, 4, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(print_and_ask),
        cmocka_unit_test(longest_text_fits),
        cmocka_unit_test(scopes),
        cmocka_unit_test(names),
        cmocka_unit_test(bad_names),
        cmocka_unit_test(ipv4),
        cmocka_unit_test(ipv6),
        cmocka_unit_test(families_are_kept_apart),
        cmocka_unit_test(busy_port_names_its_holder),
        cmocka_unit_test(other_process_is_named),
        cmocka_unit_test(second_listener_is_told),
        cmocka_unit_test(foreign_address),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(connect_keeps_its_deadline),
        cmocka_unit_test(options_are_set),
        cmocka_unit_test(receive_deadline),
        cmocka_unit_test(send_deadline),
        cmocka_unit_test(interrupted_transfers),
        cmocka_unit_test(standard_descriptors_are_left_alone),
        cmocka_unit_test(close_keeps_errno),
        cmocka_unit_test(nothing_leaks),
        cmocka_unit_test(never_connected_to_oneself), /* last: it leaves this network behind */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
