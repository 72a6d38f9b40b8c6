/* SPDX-License-Identifier: Apache-2.0 */
/* The interfaces of this host as a list, and the choice among them as a function of that list. Inside bootstrap/. */
#ifndef ACLSHMEMI_BOOTSTRAP_INTERFACE_H
#define ACLSHMEMI_BOOTSTRAP_INTERFACE_H

#include <net/if.h>

#include "host/utils/net.h"

/* One address of one interface. */
typedef struct aclshmemi_interface {
    char name[IF_NAMESIZE];
    unsigned index; /* the system's order */
    unsigned flags; /* IFF_* */
    aclshmemi_addr_t addr;
} aclshmemi_interface_t;

/* All IPv4 and IPv6 addresses, interfaces in the system's order, IPv4 first within one; free() the list. */
int aclshmemi_interface_list(aclshmemi_interface_t **list, size_t *count) ACLSHMEMI_MUST_CHECK;
/* Index of the entry to use. spec as in address.h, "" for the automatic choice; reason is a static text. */
int aclshmemi_interface_pick(const aclshmemi_interface_t *list, size_t count, const char *spec,
                             size_t *chosen, const char **reason) ACLSHMEMI_MUST_CHECK;
/* aclshmemi_interface_choose() among the addresses of one family; AF_UNSPEC: both. */
int aclshmemi_interface_choose_of(const char *spec, int family, aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK;
/* "lo 127.0.0.1, eth0 10.0.0.5, eth1 fe80::1 (down)": for messages; cut with dots when it does not fit. */
const char *aclshmemi_interface_describe(const aclshmemi_interface_t *list, size_t count, char *out,
                                         size_t size);

#endif
