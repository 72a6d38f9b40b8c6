/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that listen, connect with a deadline, and move small messages. */
#include "host/utils/net.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "host/utils/fd.h"
#include "host/utils/net_holder.h"

#define LOG_MODULE "net"

/* A dead host is noticed in 2 + 2 * 1 seconds of silence, or 4 seconds after something was sent to it. */
enum { KEEP_IDLE_S = 2, KEEP_INTERVAL_S = 1, KEEP_COUNT = 2, UNACKED_MS = 4000 };

static int open_socket(int family, int *fd)
{
    int opened = aclshmemi_fd_above_stdio(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (opened < 0)
        return fail_quietly(ACLSHMEM_SMEM_ERROR, "cannot open a socket: %m");
    *fd = opened;
    return ACLSHMEM_SUCCESS;
}

void aclshmemi_net_close(int *fd)
{
    int saved_errno = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved_errno;
}

static int busy(int code, const char *call, const aclshmemi_addr_t *addr)
{
    char text[ACLSHMEMI_ADDR_TEXT_LEN], holder[ACLSHMEMI_HOLDER_LEN];
    int reason = errno;
    aclshmemi_addr_print(addr, text);
    if (reason == EADDRINUSE) {
        aclshmemi_net_holder(addr, holder);
        return fail_quietly(code, "cannot %s %s: the port is taken%s; choose another port or end its holder",
                            call, text, holder);
    }
    errno = reason;
    if (reason == EADDRNOTAVAIL)
        return fail_quietly(code, "cannot %s %s: no interface of this host has that address", call, text);
    return fail_quietly(code, "cannot %s %s: %m", call, text);
}

int aclshmemi_net_try_bind(const aclshmemi_addr_t *addr, int *fd)
{
    int on = 1, opened;
    TRY(open_socket(addr->any.sa_family, &opened));
    if (setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        goto failed;
    /* [::] means IPv6 and nothing else: the families are kept apart, so that what is open is what was asked for. */
    if (addr->any.sa_family == AF_INET6 && setsockopt(opened, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)
        goto failed;
    if (bind(opened, &addr->any, addr->length) != 0)
        goto failed;
    *fd = opened;
    return ACLSHMEM_SUCCESS;
failed:
    aclshmemi_net_close(&opened);
    return busy(ACLSHMEM_INNER_ERROR, "bind", addr);
}

static int loudly(int code)
{
    return code ? fail(code, "%s", aclshmemi_status_last_text()) : ACLSHMEM_SUCCESS;
}

int aclshmemi_net_bind(const aclshmemi_addr_t *addr, int *fd)
{
    return loudly(aclshmemi_net_try_bind(addr, fd));
}

/* Two sockets with SO_REUSEADDR can both be bound as long as neither listens: the clash shows here. */
int aclshmemi_net_listen(int fd, int backlog)
{
    aclshmemi_addr_t addr;
    if (listen(fd, backlog) == 0)
        return ACLSHMEM_SUCCESS;
    int reason = errno;
    if (reason != EADDRINUSE || aclshmemi_net_local(fd, &addr) != 0) {
        errno = reason;
        return fail(ACLSHMEM_INNER_ERROR, "cannot listen on descriptor %d: %m", fd);
    }
    errno = reason;
    return loudly(busy(ACLSHMEM_INNER_ERROR, "listen on", &addr));
}

int aclshmemi_net_local(int fd, aclshmemi_addr_t *addr)
{
    aclshmemi_addr_t local = {.length = sizeof local.v6};
    if (getsockname(fd, &local.any, &local.length) != 0)
        return fail(ACLSHMEM_SMEM_ERROR, "descriptor %d has no address: %m", fd);
    if (local.any.sa_family != AF_INET && local.any.sa_family != AF_INET6)
        return fail(ACLSHMEM_SMEM_ERROR, "descriptor %d is no IPv4 or IPv6 socket", fd);
    *addr = local;
    return ACLSHMEM_SUCCESS;
}

/* 0 when one of events is there, errno ETIMEDOUT when the deadline passed first. */
static int wait_for(int fd, short events, aclshmemi_deadline_t deadline)
{
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        int n = poll(&one, 1, aclshmemi_deadline_left_ms(deadline, INT_MAX));
        if (n > 0)
            return 0; /* errors and hang-ups show in the call that follows */
        if (n < 0 && errno != EINTR)
            return -1;
        if (aclshmemi_deadline_passed(deadline)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

/* Connecting to a port of one's own host that nobody listens on can, with bad luck, connect the socket to itself. */
static bool is_own_reflection(int fd)
{
    aclshmemi_addr_t here = {.length = sizeof here.v6}, there = {.length = sizeof there.v6};
    if (getsockname(fd, &here.any, &here.length) != 0 || getpeername(fd, &there.any, &there.length) != 0)
        return false;
    if (here.any.sa_family != there.any.sa_family ||
        aclshmemi_addr_port(&here) != aclshmemi_addr_port(&there))
        return false;
    if (here.any.sa_family == AF_INET)
        return here.v4.sin_addr.s_addr == there.v4.sin_addr.s_addr;
    return memcmp(&here.v6.sin6_addr, &there.v6.sin6_addr, sizeof here.v6.sin6_addr) == 0;
}

static int finish_connect(int fd, aclshmemi_deadline_t deadline)
{
    int reason = 0;
    socklen_t length = sizeof reason;
    if (wait_for(fd, POLLOUT, deadline) != 0)
        return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &length) != 0)
        return -1;
    errno = reason;
    return reason ? -1 : 0;
}

int aclshmemi_net_connect(const aclshmemi_addr_t *addr, aclshmemi_deadline_t deadline, int *fd)
{
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    int opened;
    TRY(open_socket(addr->any.sa_family, &opened));
    int rc = connect(opened, &addr->any, addr->length);
    /* An interrupted connect goes on in the background like one that would block. */
    if (rc != 0 && (errno == EINPROGRESS || errno == EINTR))
        rc = finish_connect(opened, deadline);
    if (rc == 0 && is_own_reflection(opened)) {
        errno = ECONNREFUSED;
        rc = -1;
    }
    if (rc != 0) {
        aclshmemi_net_close(&opened);
        return fail_quietly(errno == ETIMEDOUT ? ACLSHMEM_TIMEOUT_ERROR : ACLSHMEM_SMEM_ERROR,
                            "cannot connect to %s: %m", aclshmemi_addr_print(addr, text));
    }
    aclshmemi_net_tune(opened);
    *fd = opened;
    return ACLSHMEM_SUCCESS;
}

static void set_option(int fd, int level, int option, int value, const char *name)
{
    if (setsockopt(fd, level, option, &value, sizeof value) != 0)
        log_debug("socket option %s not set on descriptor %d: %m", name, fd);
}

void aclshmemi_net_tune(int fd)
{
    struct sockaddr_storage addr;
    socklen_t length = sizeof addr;
    if (getsockname(fd, (struct sockaddr *)&addr, &length) == 0 && addr.ss_family == AF_UNIX)
        return; /* its peer is on this host, the kernel tells when it is gone */
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "no delay");
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1, "keepalive");
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S, "keepalive idle");
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S, "keepalive interval");
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT, "keepalive count");
    /* Keepalive is silent while data waits for an answer, and resending goes on for 15 minutes. */
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED_MS, "user timeout");
}

static int broken(const char *what, int fd, size_t done, size_t size)
{
    if (errno == ETIMEDOUT)
        return fail_quietly(ACLSHMEM_TIMEOUT_ERROR,
                            "deadline passed after %zu of %zu bytes to %s on descriptor %d", done, size, what,
                            fd);
    return fail_quietly(ACLSHMEM_SMEM_ERROR, "cannot %s on descriptor %d after %zu of %zu bytes: %m", what,
                        fd, done, size);
}

int aclshmemi_net_send_all(int fd, const void *data, size_t size, aclshmemi_deadline_t deadline)
{
    const char *at = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, at + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            done += (size_t)n;
            continue;
        }
        if (errno == EINTR)
            continue;
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || wait_for(fd, POLLOUT, deadline) != 0)
            return broken("send", fd, done, size);
    }
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_net_recv_all(int fd, void *data, size_t size, aclshmemi_deadline_t deadline)
{
    char *at = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = recv(fd, at + done, size - done, MSG_DONTWAIT);
        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        if (n == 0) {
            errno = ECONNRESET;
            return broken("receive", fd, done, size);
        }
        if (errno == EINTR)
            continue;
        if ((errno != EAGAIN && errno != EWOULDBLOCK) || wait_for(fd, POLLIN, deadline) != 0)
            return broken("receive", fd, done, size);
    }
    return ACLSHMEM_SUCCESS;
}
