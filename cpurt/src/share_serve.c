/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end: one thread per process, from the first export on, that hands out descriptors to whoever has the
 * user and knows the token. It serves any number of askers, holds few of them at a time, and none for long.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "share.h"

#define ASKERS      32
#define PATIENCE_MS 2000
#define BACKLOG     1024
#define STACK_BYTES ((size_t)256 << 10)

typedef struct asker {
    int fd; /* -1: free */
    uint64_t deadline_ns;
} asker_t;

pthread_mutex_t cpurt_share_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static bool running;
static pthread_t thread;
static int listener = -1, stop = -1;
static uint8_t name[CPURT_TOKEN_BYTES];
static uint64_t net_space;
static asker_t askers[ASKERS];

/* --- What is on offer: every live handle whose memory carries the token --- */

static bool has_token(const cpurt_object_t *object, const void *token)
{
    const cpurt_physical_t *const physical = (const cpurt_physical_t *)(const void *)object;
    unsigned int differs = 0, empty = 0;

    for (size_t i = 0; i < CPURT_TOKEN_BYTES; i++) {
        differs |= (unsigned)(physical->token[i] ^ ((const uint8_t *)token)[i]);
        empty |= physical->token[i];
    }
    return differs == 0 && empty != 0;
}

int cpurt_share_find(const uint8_t token[CPURT_TOKEN_BYTES])
{
    cpurt_object_t *object = NULL;
    int fd = -1;

    (void)pthread_mutex_lock(&cpurt_share_lock);
    (void)cpurt_handle_list(CPURT_PHYSICAL, has_token, token, &object, 1);
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    if (object == NULL)
        return -1;
    cpurt_physical_t *const physical = (cpurt_physical_t *)(void *)object;
    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    if (physical->fd >= 0)
        fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    cpurt_physical_put(physical);
    return fd;
}

bool cpurt_share_is_own_socket(const uint8_t socket[CPURT_TOKEN_BYTES])
{
    (void)pthread_mutex_lock(&cpurt_share_lock);
    const bool own = running && memcmp(socket, name, sizeof name) == 0;
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    return own;
}

/* --- The thread --- */

static void answer(int fd)
{
    cpurt_share_message_t message = {0};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec body = {.iov_base = &message, .iov_len = sizeof message};
    struct msghdr reply = {.msg_iov = &body, .msg_iovlen = 1};

    if (recv(fd, &message, sizeof message, MSG_DONTWAIT) != (ssize_t)sizeof message ||
        message.magic != CPURT_SHARED_MAGIC)
        return; /* no asker of ours: hang up */
    const int found = cpurt_share_find(message.token);
    explicit_bzero(message.token, sizeof message.token);
    message.status = found >= 0 ? 0 : ACL_ERROR_RT_INVALID_HANDLE;
    if (found >= 0) {
        reply.msg_control = control.room;
        reply.msg_controllen = sizeof control.room;
        struct cmsghdr *const part = CMSG_FIRSTHDR(&reply);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof found);
        memcpy(CMSG_DATA(part), &found, sizeof found);
    }
    (void)sendmsg(fd, &reply, MSG_NOSIGNAL | MSG_DONTWAIT); /* an asker that is gone needs no answer */
    if (found >= 0)
        (void)close(found);
}

static bool same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Accepting and closing change the table a forked child reads, so they hold the lock. */
static bool admit(void)
{
    bool admitted = false;

    (void)pthread_mutex_lock(&cpurt_share_lock);
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && same_user(fd))
        for (size_t i = 0; i < ASKERS && !admitted; i++)
            if (askers[i].fd < 0) {
                askers[i] = (asker_t){fd, cpurt_deadline_ms(PATIENCE_MS)};
                admitted = true;
            }
    if (fd >= 0 && !admitted)
        (void)close(fd);
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    return fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
}

static void dismiss(asker_t *asker)
{
    (void)pthread_mutex_lock(&cpurt_share_lock);
    (void)close(asker->fd);
    asker->fd = -1;
    (void)pthread_mutex_unlock(&cpurt_share_lock);
}

/* Fills the set to wait for; returns how many, and how long at most, in milliseconds. */
static nfds_t gather(struct pollfd *set, asker_t **who, bool may_accept, int *timeout_ms)
{
    nfds_t count = 1;
    size_t room = 0;
    uint64_t first = CPURT_FOREVER;

    set[0] = (struct pollfd){.fd = stop, .events = POLLIN};
    for (size_t i = 0; i < ASKERS; i++) {
        if (askers[i].fd < 0) {
            room++;
            continue;
        }
        if (askers[i].deadline_ns < first)
            first = askers[i].deadline_ns;
        who[count] = &askers[i];
        set[count++] = (struct pollfd){.fd = askers[i].fd, .events = POLLIN};
    }
    if (room > 0 && may_accept) {
        who[count] = NULL;
        set[count++] = (struct pollfd){.fd = listener, .events = POLLIN};
    }
    const uint64_t now = cpurt_now_ns();
    *timeout_ms = first == CPURT_FOREVER ? -1 : first <= now ? 0 : (int)((first - now) / 1000000 + 1);
    if (!may_accept)
        *timeout_ms = 10; /* out of descriptors, say: look again soon, not at once */
    return count;
}

static void *serve(void *argument)
{
    struct pollfd set[ASKERS + 2];
    asker_t *who[ASKERS + 2];
    bool may_accept = true;

    (void)argument;
    for (;;) {
        int timeout_ms = -1;
        const nfds_t count = gather(set, who, may_accept, &timeout_ms);

        may_accept = true;
        if (poll(set, count, timeout_ms) < 0 && errno != EINTR)
            return NULL;
        if (set[0].revents != 0)
            return NULL;
        for (nfds_t i = 1; i < count; i++) {
            if (who[i] == NULL) {
                if (set[i].revents != 0)
                    may_accept = admit();
            } else if (set[i].revents != 0 || cpurt_now_ns() >= who[i]->deadline_ns) {
                if ((set[i].revents & POLLIN) != 0)
                    answer(who[i]->fd);
                dismiss(who[i]);
            }
        }
    }
}

/* --- Start and end --- */

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static aclError open_listener(void)
{
    struct sockaddr_un address;

    for (size_t i = 0; i < ASKERS; i++)
        askers[i].fd = -1;
    if (getrandom(name, sizeof name, 0) != (ssize_t)sizeof name)
        return cpurt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "no random bytes: %s", strerror(errno));
    const socklen_t length = (socklen_t)cpurt_share_address(name, &address);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener < 0 || stop < 0 ||
        bind(listener, (const struct sockaddr *)(const void *)&address, length) != 0 ||
        listen(listener, BACKLOG) != 0)
        return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "cannot open a socket to share memory: %s",
                          strerror(errno));
    net_space = cpurt_namespace("net");
    return ACL_SUCCESS;
}

aclError cpurt_share_serve(uint8_t socket[CPURT_TOKEN_BYTES], uint64_t *space)
{
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&cpurt_share_lock);
    if (!running) {
        error = open_listener();
        if (error == ACL_SUCCESS)
            error = cpurt_thread_start(&thread, "acl-share", STACK_BYTES, serve, NULL);
        if (error == ACL_SUCCESS) {
            running = true;
        } else {
            close_one(&listener);
            close_one(&stop);
        }
    }
    memcpy(socket, name, sizeof name);
    *space = net_space;
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    return error;
}

void cpurt_share_end(void)
{
    const uint64_t one = 1;

    (void)pthread_mutex_lock(&cpurt_share_lock);
    const bool was_running = running;
    running = false;
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    if (!was_running)
        return;
    /* An event counter at 0 takes a 1 without fail. */
    while (write(stop, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    (void)pthread_join(thread, NULL);
    (void)pthread_mutex_lock(&cpurt_share_lock);
    for (size_t i = 0; i < ASKERS; i++)
        close_one(&askers[i].fd);
    close_one(&listener);
    close_one(&stop);
    explicit_bzero(name, sizeof name);
    (void)pthread_mutex_unlock(&cpurt_share_lock);
}

void cpurt_share_after_fork(void)
{
    if (!running)
        return;
    for (size_t i = 0; i < ASKERS; i++)
        close_one(&askers[i].fd);
    close_one(&listener);
    close_one(&stop);
    running = false;
}
