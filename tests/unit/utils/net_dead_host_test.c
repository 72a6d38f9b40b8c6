/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that goes silent: two network namespaces joined by a cable, connections between them, and then one side stops
 * answering without a word, as a machine that lost power does. Both an idle connection and one with data under way
 * must fail within five seconds; a living but busy peer must not.
 */
#include "support/support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/utils/net.h"

enum { PORT = 4711, LIMIT_MS = 5000, SLACK_MS = 2000 };

/* Runs the program ip; false when it cannot do that here. */
static bool ip(const char *first, ...) __attribute__((sentinel));

static bool ip(const char *first, ...)
{
    const char *argv[24] = {"ip", first};
    size_t count = 2;
    va_list args;
    va_start(args, first);
    while (count < 23 && (argv[count] = va_arg(args, const char *)))
        count++;
    va_end(args);
    t_child_t child;
    t_run(&child, argv, NULL, 20000);
    bool done = child.exit_code == 0;
    if (!done)
        printf("ip %s: %s\n", first, child.err);
    t_child_free(&child);
    return done;
}

static void wait_for_word(int fd, char expected)
{
    char word = 0;
    t_check_int(aclshmemi_net_recv_all(fd, &word, 1, aclshmemi_deadline_after_ms(30000)), 0);
    t_check_int(word, expected);
}

static void say_word(int fd, char word)
{
    t_check_int(aclshmemi_net_send_all(fd, &word, 1, aclshmemi_deadline_after_ms(30000)), 0);
}

/* The other host: listens, takes three connections, reads nothing, and vanishes when told. */
typedef struct other {
    int control;
} other_t;

static void other_host(void *argument)
{
    int control = ((other_t *)argument)->control, listener, accepted[3];
    aclshmemi_addr_t addr = {.v4 = {.sin_family = AF_INET, .sin_port = htons(PORT)},
                             .length = sizeof addr.v4};
    t_check_int(unshare(CLONE_NEWNET), 0);
    say_word(control, 'n');
    wait_for_word(control, 'c'); /* the cable is plugged in */
    t_check(ip("addr", "add", "10.99.0.2/24", "dev", "v1", NULL));
    t_check(ip("link", "set", "v1", "up", NULL));
    t_check_int(aclshmemi_net_bind(&addr, &listener), 0);
    t_check_int(aclshmemi_net_listen(listener, 4), 0);
    say_word(control, 'l');
    for (int i = 0; i < 3; i++) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        t_check_int(poll(&ready, 1, 30000), 1);
        accepted[i] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        t_check(accepted[i] >= 0);
    }
    wait_for_word(control, 'd');
    /* Without its address it drops what comes in, and sends nothing: no reset, no close. */
    t_check(ip("addr", "del", "10.99.0.2/24", "dev", "v1", NULL));
    say_word(control, 'd');
    wait_for_word(control, 'e');
}

static void set_up(pid_t other, int control)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)other);
    wait_for_word(control, 'n');
    if (!ip("link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", pid, NULL) ||
        !ip("addr", "add", "10.99.0.1/24", "dev", "v0", NULL) || !ip("link", "set", "v0", "up", NULL))
        t_skip("no virtual cable between two network namespaces");
    say_word(control, 'c');
    wait_for_word(control, 'l');
}

static int connect_to_other(void)
{
    aclshmemi_addr_t addr;
    size_t count;
    int fd;
    t_check_int(aclshmemi_net_resolve("10.99.0.2", AF_INET, PORT, aclshmemi_deadline_after_ms(60000), &addr,
                                      1, &count),
                0);
    t_check_int(aclshmemi_net_connect(&addr, aclshmemi_deadline_after_ms(30000), &fd), 0);
    return fd;
}

static void expect_death(int fd, uint64_t start, const char *what)
{
    char byte;
    struct pollfd broken = {.fd = fd, .events = POLLIN};
    t_check_that(poll(&broken, 1, 60000) == 1, "%s: nothing noticed for a minute", what);
    uint64_t took = t_now_ms() - start;
    t_check_int(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
    printf("%s: %s after %llu ms\n", what, strerror(errno), (unsigned long long)took);
    t_check_that(took <= LIMIT_MS + SLACK_MS, "%s: noticed after %llu ms only", what,
                 (unsigned long long)took);
}

int main(void)
{
    int control[2];
    t_child_t child;
    t_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
    if (system("ip link show > /dev/null 2>&1") != 0)
        t_skip("no program ip");
    if (geteuid() != 0 || !t_unshare_network())
        t_skip("no network of our own without privileges");
    other_t other = {.control = control[1]};
    t_start_function(&child, other_host, &other);
    set_up(child.pid, control[0]);

    int idle = connect_to_other(), in_flight = connect_to_other(), living = connect_to_other();
    /* The last one keeps quiet for longer than the limit before anybody dies: idleness alone must not end it. */
    struct pollfd quiet = {.fd = living, .events = POLLIN};
    t_check_int(poll(&quiet, 1, LIMIT_MS), 0);
    say_word(control[0], 'd');
    wait_for_word(control[0], 'd');
    uint64_t start = t_now_ms();
    say_word(in_flight, 'x');
    expect_death(in_flight, start, "data under way");
    expect_death(idle, start, "idle");
    say_word(control[0], 'e');
    t_finish(&child, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    aclshmemi_net_close(&idle);
    aclshmemi_net_close(&in_flight);
    aclshmemi_net_close(&living);
    return 0;
}
