/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making an id: choose the address, bind a socket there, draw the rest.
 *
 * The socket is bound and not yet listening, so callers who come before PE 0's init are refused and try again.
 */
#define LOG_MODULE "uid"
#include <string.h>

#include "host/bootstrap/address.h"
#include "host/bootstrap/interface.h"
#include "host/bootstrap/uid/waiting.h"

#define NAME_ADDRESSES 16 /* addresses of one name that are tried */
#define PORT_TRIES     16

/* Whoever calls get_uniqueid sees one code for every address that does not work, whatever decided it below. */
static int as_invalid(int code)
{
    return code == 0 ? 0 : fail_quietly(ACLSHMEM_INVALID_PARAM, "%s", aclshmemi_status_last_text());
}

/* The system chooses the port, and may have been told to choose among the reserved ones. Quiet. */
static int bind_any_port(aclshmemi_addr_t *addr, int *fd)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        aclshmemi_addr_t local;
        TRY(aclshmemi_net_try_bind(addr, fd));
        int rc = aclshmemi_net_local(*fd, &local);
        if (rc == 0 && aclshmemi_addr_port(&local) >= ACLSHMEMI_PORT_MIN) {
            *addr = local;
            return 0;
        }
        aclshmemi_net_close(fd);
        TRY(rc);
    }
    return fail_quietly(ACLSHMEM_INVALID_PARAM,
                        "the system offers only ports below %d; correct "
                        "/proc/sys/net/ipv4/ip_local_port_range",
                        ACLSHMEMI_PORT_MIN);
}

static int bind_loopback(aclshmemi_addr_t *addr, int *fd)
{
    memset(addr, 0, sizeof *addr);
    addr->length = sizeof addr->v4;
    addr->v4.sin_family = AF_INET;
    addr->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind_any_port(addr, fd) == 0)
        return 0;
    memset(addr, 0, sizeof *addr);
    addr->length = sizeof addr->v6;
    addr->v6.sin6_family = AF_INET6;
    addr->v6.sin6_addr = in6addr_loopback;
    if (bind_any_port(addr, fd) == 0)
        return 0;
    return fail(ACLSHMEM_INVALID_PARAM, "no loopback address works: %s; bring the loopback interface up",
                aclshmemi_status_last_text());
}

static int bind_chosen(const aclshmemi_env_t *env, aclshmemi_addr_t *addr, int *fd)
{
    TRY(aclshmemi_interface_choose(env->uid_sock_ifname, addr));
    if (bind_any_port(addr, fd) == 0)
        return 0;
    return fail(ACLSHMEM_INVALID_PARAM, "%s; SHMEM_UID_SOCK_IFNAME chooses another interface",
                aclshmemi_status_last_text());
}

/* Bound to all interfaces: peers need an address they can reach, so one is chosen for them. */
static int replace_any(const aclshmemi_env_t *env, aclshmemi_addr_t *addr)
{
    aclshmemi_addr_t chosen;
    uint16_t port = aclshmemi_addr_port(addr);
    TRY(aclshmemi_interface_choose_of(env->uid_sock_ifname, addr->any.sa_family, &chosen));
    aclshmemi_addr_set_port(&chosen, port);
    *addr = chosen;
    return 0;
}

static int bind_session_id(const aclshmemi_env_t *env, aclshmemi_addr_t *addr, int *fd)
{
    aclshmemi_addr_t list[NAME_ADDRESSES];
    size_t count = 0;
    TRY(aclshmemi_session_id_resolve(env->uid_session_id, aclshmemi_deadline_after_ms(env->init_timeout_ms),
                                     list, NAME_ADDRESSES, &count));
    int rc = ACLSHMEM_INVALID_PARAM;
    for (size_t i = 0; i < count && rc != 0; i++) {
        rc = aclshmemi_net_try_bind(&list[i], fd);
        if (rc == 0)
            *addr = list[i];
    }
    if (rc != 0)
        return fail(ACLSHMEM_INVALID_PARAM, "SHMEM_UID_SESSION_ID \"%s\": %s", env->uid_session_id,
                    aclshmemi_status_last_text());
    if (!aclshmemi_addr_is_any(addr))
        return 0;
    rc = replace_any(env, addr);
    if (rc != 0)
        aclshmemi_net_close(fd);
    return rc;
}

static int bind_somewhere(const aclshmemi_env_t *env, bool loopback, aclshmemi_addr_t *addr, int *fd)
{
    if (loopback)
        return bind_loopback(addr, fd);
    if (env->uid_session_id[0] != '\0')
        return bind_session_id(env, addr, fd);
    return bind_chosen(env, addr, fd);
}

int aclshmemi_uid_create(const aclshmemi_env_t *env, bool loopback, aclshmemx_uniqueid_t *uid)
{
    aclshmemi_addr_t addr;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    uint64_t magic = 0;
    int fd = -1;
    aclshmemi_uid_close_waiting();
    TRY(as_invalid(bind_somewhere(env, loopback, &addr, &fd)));
    int rc = aclshmemi_uid_encode(&addr, uid, &magic);
    if (rc != 0) {
        aclshmemi_net_close(&fd);
        return rc;
    }
    aclshmemi_uid_return_socket(magic, fd);
    log_debug("unique id %08x for %s", aclshmemi_magic_hash(magic), aclshmemi_addr_print(&addr, text));
    return 0;
}
