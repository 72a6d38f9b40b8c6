/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the meeting point, and listening there. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/listen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/bootstrap/address.h"
#include "host/bootstrap/uid/uid.h"

#define BACKLOG        4096 /* thousands of PEs knock at once; the system cuts it to what it allows */
#define DESCRIPTOR_GAP 64   /* left to the application */

static int find_by_id(const void *bytes, aclshmemi_store_meeting_t *meeting)
{
    aclshmemi_uid_t uid;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    TRY(aclshmemi_uid_decode(bytes, &uid));
    meeting->by_id = true;
    meeting->magic = uid.magic;
    memcpy(meeting->secret, uid.secret, sizeof meeting->secret);
    meeting->addrs[0] = uid.addr;
    meeting->n_addrs = 1;
    snprintf(meeting->name, sizeof meeting->name, "id %08x at %s", aclshmemi_magic_hash(uid.magic),
             aclshmemi_addr_print(&uid.addr, text));
    explicit_bzero(&uid, sizeof uid);
    return 0;
}

int aclshmemi_store_meeting_find(const aclshmemi_bootstrap_params_t *params,
                                 aclshmemi_store_meeting_t *meeting)
{
    aclshmemi_url_t url;
    memset(meeting, 0, sizeof *meeting);
    bool has_address = params->ip_port && params->ip_port[0] != 0;
    if (!has_address && !params->uid)
        return fail(ACLSHMEM_INVALID_PARAM, "neither an address nor a unique id says where the PEs meet");
    if (!has_address)
        return find_by_id(params->uid, meeting);
    TRY(aclshmemi_url_parse(params->ip_port, ACLSHMEM_MAX_IP_PORT_LEN, false, &url));
    TRY(aclshmemi_url_resolve(&url, aclshmemi_deadline_after_ms(params->init_timeout_ms), meeting->addrs,
                              ACLSHMEMI_STORE_ADDRS_MAX, &meeting->n_addrs));
    meeting->magic = ACLSHMEMI_STORE_MAGIC_BY_ADDRESS;
    snprintf(meeting->name, sizeof meeting->name, "%.*s", ACLSHMEM_MAX_IP_PORT_LEN, params->ip_port);
    return 0;
}

/* --- A socket that was handed in --- */

static bool same_place(const aclshmemi_addr_t *bound, const aclshmemi_addr_t *wanted)
{
    if (bound->any.sa_family != wanted->any.sa_family ||
        aclshmemi_addr_port(bound) != aclshmemi_addr_port(wanted))
        return false;
    if (aclshmemi_addr_is_any(bound))
        return true;
    if (bound->any.sa_family == AF_INET)
        return bound->v4.sin_addr.s_addr == wanted->v4.sin_addr.s_addr;
    return memcmp(&bound->v6.sin6_addr, &wanted->v6.sin6_addr, sizeof bound->v6.sin6_addr) == 0;
}

/* A socket bound to another place would listen where nobody looks, and everybody would wait for nothing. */
static int check_socket(int fd, const aclshmemi_store_meeting_t *meeting, aclshmemi_addr_t *addr)
{
    int type = 0;
    socklen_t length = sizeof type;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    aclshmemi_addr_t bound = {.length = sizeof bound.v6};
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "descriptor %d, given as the socket to listen on, cannot be used: %m", fd);
    if (type != SOCK_STREAM || getsockname(fd, &bound.any, &bound.length) != 0 ||
        (bound.any.sa_family != AF_INET && bound.any.sa_family != AF_INET6))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "descriptor %d, given as the socket to listen on, is no TCP socket", fd);
    for (size_t i = 0; i < meeting->n_addrs; i++) {
        if (same_place(&bound, &meeting->addrs[i])) {
            *addr = bound;
            return 0;
        }
    }
    return fail(
        ACLSHMEM_INVALID_PARAM,
        "descriptor %d, given as the socket to listen on, is bound to %s, but the PEs look for PE 0 at %s",
        fd, aclshmemi_addr_print(&bound, text), meeting->name);
}

static int listen_on_copy(int origin_fd, aclshmemi_store_listener_t *listener)
{
    int fd = fcntl(origin_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot duplicate descriptor %d: %m", origin_fd);
    listener->flags = fcntl(fd, F_GETFL);
    if (listener->flags < 0 || fcntl(fd, F_SETFL, listener->flags | O_NONBLOCK) != 0) {
        close(fd);
        return fail(ACLSHMEM_INNER_ERROR, "cannot change the mode of descriptor %d: %m", origin_fd);
    }
    int rc = aclshmemi_net_listen(fd, BACKLOG);
    if (rc != 0) {
        (void)fcntl(fd, F_SETFL, listener->flags);
        close(fd);
        return rc;
    }
    listener->fd = fd;
    listener->origin_fd = origin_fd;
    return 0;
}

/* --- A socket of our own --- */

/* A name can have addresses of other hosts, or of interfaces that are down: the first one that is ours counts. */
static int bind_first(const aclshmemi_store_meeting_t *meeting, int *fd, aclshmemi_addr_t *addr)
{
    for (size_t i = 0; i + 1 < meeting->n_addrs; i++) {
        if (aclshmemi_net_try_bind(&meeting->addrs[i], fd) == 0) {
            *addr = meeting->addrs[i];
            return 0;
        }
        aclshmemi_addr_t probe = meeting->addrs[i];
        int probe_fd = -1;
        aclshmemi_addr_set_port(&probe, 0);
        if (aclshmemi_net_try_bind(&probe, &probe_fd) == 0) { /* ours, so the port is the trouble */
            aclshmemi_net_close(&probe_fd);
            return aclshmemi_net_bind(&meeting->addrs[i], fd);
        }
    }
    *addr = meeting->addrs[meeting->n_addrs - 1];
    return aclshmemi_net_bind(addr, fd);
}

static int listen_anew(const aclshmemi_store_meeting_t *meeting, aclshmemi_store_listener_t *listener)
{
    int fd = -1;
    TRY(bind_first(meeting, &fd, &listener->addr));
    if (aclshmemi_store_fd_keep_high(&fd) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot move the listening socket to a free descriptor: %m");
    int rc = aclshmemi_net_listen(fd, BACKLOG);
    if (rc != 0) {
        aclshmemi_net_close(&fd);
        return rc;
    }
    listener->fd = fd;
    return 0;
}

static int listen_by_id(const aclshmemi_store_meeting_t *meeting, int socket_of_id,
                        aclshmemi_store_listener_t *listener)
{
    listener->of_id = true;
    listener->magic = meeting->magic;
    listener->addr = meeting->addrs[0];
    int rc = listen_on_copy(socket_of_id, listener);
    if (rc != 0)
        aclshmemi_uid_return_socket(meeting->magic, socket_of_id);
    return rc;
}

int aclshmemi_store_listener_open(const aclshmemi_bootstrap_params_t *params,
                                  const aclshmemi_store_meeting_t *meeting,
                                  aclshmemi_store_listener_t *listener)
{
    *listener = (aclshmemi_store_listener_t){.fd = -1, .origin_fd = -1};
    int socket_of_id = meeting->by_id ? aclshmemi_uid_take_socket(meeting->magic) : -1;
    if (socket_of_id >= 0)
        return listen_by_id(meeting, socket_of_id, listener);
    if (params->listen_fd >= 0) {
        TRY(check_socket(params->listen_fd, meeting, &listener->addr));
        return listen_on_copy(params->listen_fd, listener);
    }
    return listen_anew(meeting, listener);
}

void aclshmemi_store_listener_release(aclshmemi_store_listener_t *listener, bool again)
{
    int fd = listener->origin_fd;
    listener->origin_fd = -1;
    if (fd < 0)
        return;
    if (!listener->of_id)
        (void)fcntl(fd, F_SETFL, listener->flags);
    else if (again)
        aclshmemi_uid_return_socket(listener->magic, fd);
    else
        aclshmemi_net_close(&fd);
}

/* --- Descriptors --- */

static uint64_t descriptors_in_use(void)
{
    DIR *dir = opendir("/proc/self/fd");
    uint64_t count = 0;
    if (!dir)
        return DESCRIPTOR_GAP;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

int aclshmemi_store_reserve_descriptors(uint64_t needed, const char *what, uint32_t max, uint32_t *room)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "cannot ask for the limit of open files: %m");
    uint64_t least = descriptors_in_use() + needed + DESCRIPTOR_GAP;
    uint64_t best = least + max;
    if (limit.rlim_cur < best && limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max < best ? limit.rlim_max : best;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    if (limit.rlim_cur < least)
        return fail(ACLSHMEM_INNER_ERROR,
                    "%s needs %llu open files, but the limit of this process is %llu; raise it (ulimit -n)",
                    what, (unsigned long long)least, (unsigned long long)limit.rlim_cur);
    uint64_t left = limit.rlim_cur - least;
    *room = left < max ? (uint32_t)left : max;
    return 0;
}
