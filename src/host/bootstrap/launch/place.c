/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where PE 0 listens and the others look. On one host an abstract Unix socket: it needs no file, vanishes with its
 * owner, and the system tells who is at the other end. Between hosts nine TCP ports.
 *
 * Anybody on the host may bind an abstract name, so callers check who answers, and PE 0 goes on to the next place when
 * a stranger holds the first. A place held by our own user is one of ours: the end of an earlier run, worth waiting
 * for, or a second job that cannot be told from this one.
 */
#define LOG_MODULE "launch"
#include "host/bootstrap/launch/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/utils/fd.h"

#define BACKLOG       4096
#define LOOK_AGAIN_MS 20

int aclshmemi_places_init(aclshmemi_places_t *places, const aclshmemi_job_t *job,
                          aclshmemi_deadline_t deadline)
{
    memset(places, 0, sizeof *places);
    places->local = job->local;
    if (!job->local) {
        struct in_addr v4;
        places->by_name = strcmp(job->host, "localhost") != 0 && strchr(job->host, ':') == NULL &&
                          inet_pton(AF_INET, job->host, &v4) != 1;
        if (aclshmemi_net_resolve(job->host, AF_UNSPEC, job->port, deadline, places->addr,
                                  ACLSHMEMI_PLACE_ADDRESSES, &places->count) != 0)
            return fail(ACLSHMEM_INVALID_VALUE,
                        "PE 0's host: %s; correct MASTER_ADDR, or give init an address or a "
                        "unique id",
                        aclshmemi_status_last_text());
        return 0;
    }
    int used = snprintf(places->name, sizeof places->name, "aclshmem.%lu.", (unsigned long)geteuid());
    for (int i = 0; i < 16; i++)
        used += snprintf(places->name + used, sizeof places->name - (size_t)used, "%02x", job->digest[i]);
    return 0;
}

static socklen_t local_name(const aclshmemi_places_t *places, size_t place, struct sockaddr_un *out)
{
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    int n = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "%s.%zu", places->name, place);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int open_local(int *fd)
{
    *fd = aclshmemi_fd_above_stdio(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return *fd >= 0 ? 0 : fail_quietly(ACLSHMEM_INNER_ERROR, "cannot open a socket: %m");
}

bool aclshmemi_peer_is_ours(int fd, long *peer)
{
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    *peer = -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
        return false;
    *peer = (long)credentials.uid;
    return credentials.uid == geteuid();
}

static int connect_local(const aclshmemi_places_t *places, size_t place, int *fd)
{
    struct sockaddr_un name;
    socklen_t length = local_name(places, place, &name);
    long peer = -1;
    TRY(open_local(fd));
    /* A Unix socket connects at once or not at all; a full queue says EAGAIN. */
    while (connect(*fd, (struct sockaddr *)&name, length) != 0) {
        if (errno == EINTR)
            continue;
        int rc = fail_quietly(ACLSHMEM_SMEM_ERROR, "nobody is there yet (%m)");
        aclshmemi_net_close(fd);
        return rc;
    }
    if (aclshmemi_peer_is_ours(*fd, &peer))
        return 0;
    aclshmemi_net_close(fd);
    return fail_quietly(ACLSHMEM_INVALID_PARAM, "a process of user number %ld holds the name", peer);
}

static bool listen_local(const aclshmemi_places_t *places, size_t place, int *fd)
{
    struct sockaddr_un name;
    socklen_t length = local_name(places, place, &name);
    if (open_local(fd) != 0)
        return false;
    if (bind(*fd, (struct sockaddr *)&name, length) == 0 && listen(*fd, BACKLOG) == 0)
        return true;
    (void)fail_quietly(ACLSHMEM_INNER_ERROR, "cannot listen: %m");
    aclshmemi_net_close(fd);
    return false;
}

/* Takes the first place nobody else holds; busy when our own user holds one. A place whose holder does not answer is
 * taken for a stranger's. */
static int try_local_places(const aclshmemi_places_t *places, bool *busy, int *fd)
{
    *busy = false;
    for (size_t place = 0; place < ACLSHMEMI_PLACES; place++) {
        int probe = -1;
        if (listen_local(places, place, fd))
            return 0;
        if (errno != EADDRINUSE)
            return fail(ACLSHMEM_INNER_ERROR, "PE 0 has no meeting point on this host: %s",
                        aclshmemi_status_last_text());
        *busy = connect_local(places, place, &probe) == 0;
        aclshmemi_net_close(&probe);
        if (*busy)
            return 0;
    }
    return fail(ACLSHMEM_INNER_ERROR,
                "all %d meeting points of this job are held by other users of this host (last: %s); "
                "set SHMEM_JOB_ID to another value on all PEs",
                ACLSHMEMI_PLACES, aclshmemi_status_last_text());
}

static int listen_on_host(const aclshmemi_places_t *places, aclshmemi_deadline_t deadline, int *fd)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_MS * (long)ACLSHMEMI_NS_PER_MS};
    for (;;) {
        bool busy = false;
        TRY(try_local_places(places, &busy, fd));
        if (!busy)
            return 0;
        if (aclshmemi_deadline_passed(deadline))
            return fail(ACLSHMEM_INNER_ERROR,
                        "another job of this user meets under the same variables; give each job its "
                        "own MASTER_PORT or SHMEM_JOB_ID");
        nanosleep(&pause, NULL);
    }
}

/* The name of this host often stands for a loopback address in its own files while others resolve it properly. They
 * will come in on a real interface, so all are listened on; who calls must prove to be of this job anyway. */
static aclshmemi_addr_t listening_address(const aclshmemi_places_t *places, size_t i, size_t place)
{
    aclshmemi_addr_t addr = places->addr[i];
    if (places->by_name && aclshmemi_addr_is_loopback(&addr)) {
        if (addr.any.sa_family == AF_INET)
            addr.v4.sin_addr.s_addr = htonl(INADDR_ANY);
        else
            addr.v6.sin6_addr = in6addr_any;
    }
    aclshmemi_addr_set_port(&addr, (uint16_t)(aclshmemi_addr_port(&addr) + place));
    return addr;
}

static int listen_on_port(const aclshmemi_places_t *places, const aclshmemi_job_t *job, int *fd,
                          aclshmemi_addr_t *addr)
{
    for (size_t place = 0; place < ACLSHMEMI_PLACES; place++) {
        for (size_t i = 0; i < places->count; i++) {
            aclshmemi_addr_t here = listening_address(places, i, place);
            if (aclshmemi_net_try_bind(&here, fd) != 0)
                continue;
            if (listen(*fd, BACKLOG) == 0) {
                *addr = places->addr[i];
                aclshmemi_addr_set_port(addr, aclshmemi_addr_port(&here));
                return 0;
            }
            (void)fail_quietly(ACLSHMEM_INNER_ERROR, "cannot listen on port %u: %m",
                               aclshmemi_addr_port(&here));
            aclshmemi_net_close(fd);
        }
    }
    return fail(ACLSHMEM_INNER_ERROR,
                "PE 0 cannot listen at %s: %s; PE 0 must run on that host and one of the ports be "
                "free there; SHMEM_PORT_OFFSET moves them",
                job->label, aclshmemi_status_last_text());
}

int aclshmemi_places_listen(const aclshmemi_places_t *places, const aclshmemi_job_t *job,
                            aclshmemi_deadline_t deadline, int *fd, aclshmemi_addr_t *addr)
{
    return places->local ? listen_on_host(places, deadline, fd) : listen_on_port(places, job, fd, addr);
}

int aclshmemi_places_connect(const aclshmemi_places_t *places, size_t place, aclshmemi_deadline_t deadline,
                             int *fd, aclshmemi_addr_t *addr)
{
    if (places->local)
        return connect_local(places, place, fd);
    int rc = ACLSHMEM_INNER_ERROR;
    for (size_t i = 0; i < places->count && rc != 0; i++) {
        *addr = places->addr[i];
        aclshmemi_addr_set_port(addr, (uint16_t)(aclshmemi_addr_port(addr) + place));
        rc = aclshmemi_net_connect(addr, deadline, fd);
    }
    return rc;
}
