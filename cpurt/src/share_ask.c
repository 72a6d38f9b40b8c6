/* SPDX-License-Identifier: Apache-2.0 */
/* The long way to shared memory: asking its owner over a socket, with a deadline. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "share.h"

size_t cpurt_share_address(const uint8_t socket[CPURT_TOKEN_BYTES], struct sockaddr_un *address)
{
    char *const name =
        address->sun_path + 1; /* behind the zero byte that makes it abstract: in no file system */

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    for (size_t i = 0; i < CPURT_TOKEN_BYTES; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", socket[i]);
    return offsetof(struct sockaddr_un, sun_path) + 1 + 2 * (size_t)CPURT_TOKEN_BYTES;
}

static bool wait_for(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd one = {.fd = fd, .events = events};

    for (;;) {
        const uint64_t now = cpurt_now_ns();

        if (now >= deadline_ns)
            return false;
        const int got = poll(&one, 1, (int)((deadline_ns - now) / 1000000 + 1));
        if (got > 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
    }
}

static aclError reach(int fd, const cpurt_shared_t *shared, uint64_t deadline_ns)
{
    struct sockaddr_un address;
    const socklen_t length = (socklen_t)cpurt_share_address(shared->socket, &address);
    struct timespec pause = {.tv_nsec = 100000};

    /* EAGAIN: the owner's queue is full, because many import at once. */
    while (connect(fd, (const struct sockaddr *)(const void *)&address, length) != 0) {
        if (errno == ECONNREFUSED)
            return cpurt_fail(
                ACL_ERROR_RT_INVALID_HANDLE,
                "process %d, which owns the memory, has ended or has finalised its device runtime",
                shared->pid);
        if (errno != EAGAIN && errno != EINTR)
            return cpurt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                              "cannot reach process %d, which owns the memory: %s", shared->pid,
                              strerror(errno));
        if (cpurt_now_ns() >= deadline_ns)
            return cpurt_fail(ACL_ERROR_RT_WAIT_TIMEOUT,
                              "process %d, which owns the memory, has not answered within %d ms", shared->pid,
                              CPURT_SHARE_MS);
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < 5000000)
            pause.tv_nsec *= 2;
    }
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
        return cpurt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                          "the memory belongs to process %d of user %u; user %u cannot map it", shared->pid,
                          peer.uid, geteuid());
    return ACL_SUCCESS;
}

static int received_fd(const struct msghdr *message)
{
    int fd = -1;

    for (const struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR((struct msghdr *)(uintptr_t)message, (struct cmsghdr *)(uintptr_t)part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
            part->cmsg_len == CMSG_LEN(sizeof fd))
            memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return fd;
}

static aclError hung_up(const cpurt_shared_t *shared)
{
    return cpurt_fail(
        ACL_ERROR_RT_INVALID_HANDLE,
        "process %d, which owns the memory, has hung up; it has ended or finalised, or is about to",
        shared->pid);
}

static aclError receive(int socket, const cpurt_shared_t *shared, uint64_t deadline_ns, int *out)
{
    cpurt_share_message_t answer = {0};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec body = {.iov_base = &answer, .iov_len = sizeof answer};
    struct msghdr message = {.msg_iov = &body,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};

    if (!wait_for(socket, POLLIN, deadline_ns))
        return cpurt_fail(ACL_ERROR_RT_WAIT_TIMEOUT,
                          "process %d, which owns the memory, has not answered within %d ms", shared->pid,
                          CPURT_SHARE_MS);
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const int fd = got > 0 ? received_fd(&message) : -1;
    if (got == (ssize_t)sizeof answer && answer.magic == CPURT_SHARED_MAGIC && answer.status == 0 &&
        fd >= 0) {
        *out = fd;
        return ACL_SUCCESS;
    }
    if (fd >= 0)
        (void)close(fd);
    if (got == (ssize_t)sizeof answer && answer.status == ACL_ERROR_RT_INVALID_HANDLE)
        return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE, "process %d, which owned the memory, has freed it",
                          shared->pid);
    if (got > 0 && (message.msg_flags & MSG_CTRUNC) != 0)
        return cpurt_fail(
            ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "cannot import memory: no free descriptor; raise the limit on open files (ulimit -n)");
    return hung_up(shared);
}

aclError cpurt_share_ask(const cpurt_shared_t *shared, int *fd)
{
    const uint64_t deadline_ns = cpurt_deadline_ms(CPURT_SHARE_MS);
    cpurt_share_message_t request = {.magic = CPURT_SHARED_MAGIC};
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (connection < 0)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "cannot import memory: no socket: %s",
                          strerror(errno));
    memcpy(request.token, shared->token, sizeof request.token);
    aclError error = reach(connection, shared, deadline_ns);
    if (error == ACL_SUCCESS &&
        send(connection, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        error = hung_up(shared);
    if (error == ACL_SUCCESS)
        error = receive(connection, shared, deadline_ns, fd);
    (void)close(connection);
    explicit_bzero(&request, sizeof request);
    return error;
}
