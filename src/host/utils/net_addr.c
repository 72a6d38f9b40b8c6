/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: as text, from names, and the few questions asked about them. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/utils/net.h"
#include "host/utils/net_name.h"

#define LOG_MODULE "net"

enum { HOST_LEN = 253 };

const char *aclshmemi_addr_print(const aclshmemi_addr_t *addr, char out[ACLSHMEMI_ADDR_TEXT_LEN])
{
    char host[INET6_ADDRSTRLEN] = "?", scope[IF_NAMESIZE + 1] = "", name[IF_NAMESIZE];
    if (addr->any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &addr->v4.sin_addr, host, sizeof host);
        snprintf(out, ACLSHMEMI_ADDR_TEXT_LEN, "%s:%u", host, ntohs(addr->v4.sin_port));
    } else if (addr->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &addr->v6.sin6_addr, host, sizeof host);
        if (addr->v6.sin6_scope_id && if_indextoname(addr->v6.sin6_scope_id, name))
            snprintf(scope, sizeof scope, "%%%s", name);
        else if (addr->v6.sin6_scope_id)
            snprintf(scope, sizeof scope, "%%%u", addr->v6.sin6_scope_id);
        snprintf(out, ACLSHMEMI_ADDR_TEXT_LEN, "[%s%s]:%u", host, scope, ntohs(addr->v6.sin6_port));
    } else {
        snprintf(out, ACLSHMEMI_ADDR_TEXT_LEN, "address of family %d", addr->any.sa_family);
    }
    return out;
}

/* The IPv4 address inside ::ffff:a.b.c.d, in host order. */
static bool mapped_v4(const aclshmemi_addr_t *addr, uint32_t *v4)
{
    if (addr->any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&addr->v6.sin6_addr))
        return false;
    memcpy(v4, addr->v6.sin6_addr.s6_addr + 12, sizeof *v4);
    *v4 = ntohl(*v4);
    return true;
}

bool aclshmemi_addr_is_loopback(const aclshmemi_addr_t *addr)
{
    uint32_t v4;
    if (addr->any.sa_family == AF_INET)
        v4 = ntohl(addr->v4.sin_addr.s_addr);
    else if (!mapped_v4(addr, &v4))
        return addr->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&addr->v6.sin6_addr);
    return v4 >> 24 == 127;
}

bool aclshmemi_addr_is_any(const aclshmemi_addr_t *addr)
{
    uint32_t v4;
    if (addr->any.sa_family == AF_INET)
        return addr->v4.sin_addr.s_addr == htonl(INADDR_ANY);
    if (mapped_v4(addr, &v4))
        return v4 == INADDR_ANY;
    return addr->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&addr->v6.sin6_addr);
}

uint16_t aclshmemi_addr_port(const aclshmemi_addr_t *addr)
{
    if (addr->any.sa_family == AF_INET)
        return ntohs(addr->v4.sin_port);
    return addr->any.sa_family == AF_INET6 ? ntohs(addr->v6.sin6_port) : 0;
}

void aclshmemi_addr_set_port(aclshmemi_addr_t *addr, uint16_t port)
{
    if (addr->any.sa_family == AF_INET)
        addr->v4.sin_port = htons(port);
    else if (addr->any.sa_family == AF_INET6)
        addr->v6.sin6_port = htons(port);
}

/* ---- names ---- */

/* The resolver takes 127.1, 0x7f000001 and 2130706433 for addresses; a slip of the finger would become some host on
 * the net. A name whose last part is a number is none (RFC 1123), and four plain numbers are for inet_pton. */
static bool looks_like_odd_number(const char *host)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return false;
    const char *last = strrchr(host, '.');
    last = last ? last + 1 : host;
    if (last[0] == '0' && (last[1] == 'x' || last[1] == 'X'))
        return true;
    return strspn(last, "0123456789") == strlen(last);
}

static bool same_host(const aclshmemi_addr_t *a, const aclshmemi_addr_t *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return a->v6.sin6_scope_id == b->v6.sin6_scope_id &&
           memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

static void add_family(const struct addrinfo *list, int family, uint16_t port, aclshmemi_addr_t *out,
                       size_t max, size_t *count)
{
    for (; list && *count < max; list = list->ai_next) {
        if (list->ai_family != family || list->ai_addrlen > sizeof out->v6)
            continue;
        aclshmemi_addr_t addr = {.length = list->ai_addrlen};
        memcpy(&addr.any, list->ai_addr, list->ai_addrlen);
        aclshmemi_addr_set_port(&addr, port);
        size_t i = 0;
        while (i < *count && !same_host(&out[i], &addr))
            i++;
        if (i == *count)
            out[(*count)++] = addr;
    }
}

int aclshmemi_net_resolve(const char *host, int family, uint16_t port, aclshmemi_deadline_t deadline,
                          aclshmemi_addr_t *out, size_t max, size_t *count)
{
    struct addrinfo *list = NULL;
    size_t found = 0;
    if (host[0] == '\0' || strlen(host) > HOST_LEN)
        return fail_quietly(ACLSHMEM_INVALID_VALUE, "host name of %zu characters, 1 to %d are allowed",
                            strlen(host), HOST_LEN);
    if (!strchr(host, ':') && looks_like_odd_number(host))
        return fail_quietly(ACLSHMEM_INVALID_VALUE,
                            "\"%.253s\" is no IPv4 address of four decimal numbers and no host name", host);
    TRY(aclshmemi_net_look_up(host, family, deadline, &list));
    add_family(list, AF_INET, port, out, max, &found);
    add_family(list, AF_INET6, port, out, max, &found);
    freeaddrinfo(list);
    if (found == 0)
        return fail_quietly(ACLSHMEM_INVALID_VALUE, "host \"%.253s\" has no IPv4 or IPv6 address", host);
    *count = found;
    return ACLSHMEM_SUCCESS;
}
