/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the resolver of the C library, which knows no deadline, without waiting for it longer than until one. Inside net. */
#ifndef ACLSHMEMI_UTILS_NET_NAME_H
#define ACLSHMEMI_UTILS_NET_NAME_H

#include <netdb.h>

#include "host/utils/clock.h"
#include "host/utils/status.h"

/* On success *list is for freeaddrinfo(). Quiet failure: INVALID_VALUE, or TIMEOUT_ERROR when no answer came in time. */
int aclshmemi_net_look_up(const char *host, int family, aclshmemi_deadline_t deadline,
                          struct addrinfo **list) ACLSHMEMI_MUST_CHECK;

#endif
