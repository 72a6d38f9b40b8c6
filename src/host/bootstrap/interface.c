/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of this host's addresses to advertise when nobody said.
 *
 * The list is read once and the decision is a pure function of it, so every set of interfaces can be tried in a unit
 * test. Loopback is the last resort rather than an error: a job on one host needs nothing else.
 */
#define LOG_MODULE "address"
#include "host/bootstrap/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/address.h"

#define PREFIX_MAX 21 /* characters of an interface prefix */
#define LIST_TEXT  600

typedef struct wish {
    char prefix[PREFIX_MAX + 1]; /* "" when automatic */
    int family;                  /* AF_UNSPEC: IPv4 first */
} wish_t;

static int parse_wish(const char *spec, wish_t *wish)
{
    memset(wish, 0, sizeof *wish);
    wish->family = AF_UNSPEC;
    if (*spec == '\0')
        return 0;
    size_t length = strcspn(spec, ":");
    if (length == 0 || length > PREFIX_MAX)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "interface \"%.40s\" is not PREFIX, PREFIX:inet4 or PREFIX:inet6 with a prefix of 1..%d "
                    "characters; correct SHMEM_UID_SOCK_IFNAME",
                    spec, PREFIX_MAX);
    memcpy(wish->prefix, spec, length);
    const char *suffix = spec + length;
    if (strcmp(suffix, ":inet4") == 0)
        wish->family = AF_INET;
    else if (strcmp(suffix, ":inet6") == 0)
        wish->family = AF_INET6;
    else if (*suffix != '\0')
        log_warn("interface suffix \"%.40s\" is neither :inet4 nor :inet6; taking either family", suffix);
    return 0;
}

static bool is_usable(const aclshmemi_interface_t *entry)
{
    return (entry->flags & IFF_UP) != 0 && (entry->flags & IFF_RUNNING) != 0 &&
           !aclshmemi_addr_is_any(&entry->addr);
}

static bool is_link_local(const aclshmemi_addr_t *addr)
{
    if (addr->any.sa_family == AF_INET)
        return (ntohl(addr->v4.sin_addr.s_addr) >> 16) == 0xa9fe; /* 169.254/16 */
    return IN6_IS_ADDR_LINKLOCAL(&addr->v6.sin6_addr);
}

static bool fits_family(const aclshmemi_interface_t *entry, int family)
{
    return family == AF_UNSPEC || entry->addr.any.sa_family == family;
}

/* Bridges and tunnels of containers and virtual machines: up, with an address, and no way to another host. */
static bool is_internal_name(const char *name)
{
    static const char *const prefixes[] = {"lo", "docker", "veth", "br-", "virbr", "tun", "tap"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static bool fits_by_name(const aclshmemi_interface_t *entry, const wish_t *wish, bool loopback)
{
    if (strncmp(entry->name, wish->prefix, strlen(wish->prefix)) != 0 || !is_usable(entry))
        return false;
    if (((entry->flags & IFF_LOOPBACK) != 0) != loopback || !fits_family(entry, wish->family))
        return false;
    return entry->addr.any.sa_family == AF_INET || !is_link_local(&entry->addr);
}

static bool fits_automatically(const aclshmemi_interface_t *entry)
{
    return is_usable(entry) && (entry->flags & IFF_LOOPBACK) == 0 && !is_internal_name(entry->name) &&
           !aclshmemi_addr_is_loopback(&entry->addr) && !is_link_local(&entry->addr);
}

static bool fits_as_last_resort(const aclshmemi_interface_t *entry)
{
    return is_usable(entry) && (entry->flags & IFF_LOOPBACK) != 0 && aclshmemi_addr_is_loopback(&entry->addr);
}

int aclshmemi_interface_pick(const aclshmemi_interface_t *list, size_t count, const char *spec,
                             size_t *chosen, const char **reason)
{
    static const char *const reasons[2][2] = {
        {"first usable interface", "nothing but loopback is usable, so other hosts cannot reach it"},
        {"first interface with that name", "loopback, as named; other hosts cannot reach it"},
    };
    wish_t wish;
    TRY(parse_wish(spec, &wish));
    bool named = wish.prefix[0] != '\0';
    for (int loopback = 0; loopback < 2; loopback++) {
        for (size_t i = 0; i < count; i++) {
            bool fits = named      ? fits_by_name(&list[i], &wish, loopback != 0)
                        : loopback ? fits_as_last_resort(&list[i])
                                   : fits_automatically(&list[i]);
            if (!fits)
                continue;
            *chosen = i;
            *reason = reasons[named][loopback];
            return 0;
        }
    }
    char text[LIST_TEXT];
    aclshmemi_interface_describe(list, count, text, sizeof text);
    if (named)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "no interface that is up fits \"%s\"; there are: %s; correct SHMEM_UID_SOCK_IFNAME", spec,
                    text);
    return fail(ACLSHMEM_INVALID_PARAM,
                "no usable interface, not even loopback; there are: %s; bring one up, or name an address in "
                "SHMEM_UID_SESSION_ID or an interface in SHMEM_UID_SOCK_IFNAME",
                text);
}

static const char *print_host(const aclshmemi_addr_t *addr, char out[INET6_ADDRSTRLEN])
{
    const void *raw =
        addr->any.sa_family == AF_INET ? (const void *)&addr->v4.sin_addr : (const void *)&addr->v6.sin6_addr;
    const char *text = inet_ntop(addr->any.sa_family, raw, out, INET6_ADDRSTRLEN);
    return text != NULL ? text : "?";
}

const char *aclshmemi_interface_describe(const aclshmemi_interface_t *list, size_t count, char *out,
                                         size_t size)
{
    size_t used = 0;
    snprintf(out, size, "none");
    for (size_t i = 0; i < count; i++) {
        char host[INET6_ADDRSTRLEN];
        bool up = (list[i].flags & IFF_UP) != 0 && (list[i].flags & IFF_RUNNING) != 0;
        int n = snprintf(out + used, size - used, "%s%s %s%s", i == 0 ? "" : ", ", list[i].name,
                         print_host(&list[i].addr, host), up ? "" : " (down)");
        if (n < 0 || used + (size_t)n + sizeof ", ..." > size) {
            snprintf(out + used, size - used, ", ...");
            break;
        }
        used += (size_t)n;
    }
    return out;
}

static bool comes_after(const aclshmemi_interface_t *x, const aclshmemi_interface_t *y)
{
    if (x->index != y->index)
        return x->index > y->index;
    return x->addr.any.sa_family == AF_INET6 && y->addr.any.sa_family == AF_INET;
}

static bool take_entry(const struct ifaddrs *from, aclshmemi_interface_t *entry)
{
    if (from->ifa_addr == NULL ||
        (from->ifa_addr->sa_family != AF_INET && from->ifa_addr->sa_family != AF_INET6))
        return false;
    memset(entry, 0, sizeof *entry);
    /* An alias such as eth0:1 belongs to eth0. */
    snprintf(entry->name, sizeof entry->name, "%.*s", (int)strcspn(from->ifa_name, ":"), from->ifa_name);
    entry->index = if_nametoindex(entry->name);
    entry->flags = from->ifa_flags;
    entry->addr.length = from->ifa_addr->sa_family == AF_INET ? sizeof entry->addr.v4 : sizeof entry->addr.v6;
    memcpy(&entry->addr, from->ifa_addr, entry->addr.length);
    aclshmemi_addr_set_port(&entry->addr, 0);
    return true;
}

int aclshmemi_interface_list(aclshmemi_interface_t **list, size_t *count)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "the system does not list its interfaces: %m");
    size_t total = 0, used = 0;
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
        total++;
    aclshmemi_interface_t *entries = calloc(total + 1, sizeof *entries);
    if (entries == NULL) {
        freeifaddrs(all);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a list of %zu interfaces", total);
    }
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next)
        used += take_entry(i, &entries[used]) ? 1 : 0;
    freeifaddrs(all);
    /* Insertion sort: keeps the system's order among equals, and the list is short. */
    for (size_t i = 1; i < used; i++) {
        aclshmemi_interface_t moving = entries[i];
        size_t at = i;
        for (; at > 0 && comes_after(&entries[at - 1], &moving); at--)
            entries[at] = entries[at - 1];
        entries[at] = moving;
    }
    *list = entries;
    *count = used;
    return 0;
}

static size_t keep_family(aclshmemi_interface_t *list, size_t count, int family)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (fits_family(&list[i], family))
            list[kept++] = list[i];
    }
    return kept;
}

int aclshmemi_interface_choose_of(const char *spec, int family, aclshmemi_addr_t *addr)
{
    aclshmemi_interface_t *list = NULL;
    size_t count = 0, chosen = 0;
    const char *reason = "";
    TRY(aclshmemi_interface_list(&list, &count));
    count = keep_family(list, count, family);
    int rc = aclshmemi_interface_pick(list, count, spec, &chosen, &reason);
    if (rc == 0) {
        char host[INET6_ADDRSTRLEN], text[LIST_TEXT];
        log_info("advertising %s of interface %s: %s; candidates: %s", print_host(&list[chosen].addr, host),
                 list[chosen].name, reason, aclshmemi_interface_describe(list, count, text, sizeof text));
        *addr = list[chosen].addr;
    }
    free(list);
    return rc;
}

int aclshmemi_interface_choose(const char *spec, aclshmemi_addr_t *addr)
{
    return aclshmemi_interface_choose_of(spec, AF_UNSPEC, addr);
}
