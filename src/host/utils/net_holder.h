/* SPDX-License-Identifier: Apache-2.0 */
/* Who sits on a port. Of utils alone. */
#ifndef ACLSHMEMI_UTILS_NET_HOLDER_H
#define ACLSHMEMI_UTILS_NET_HOLDER_H

#include "host/utils/net.h"

#define ACLSHMEMI_HOLDER_LEN 160

/* " by python3 (pid 4711)", " by a process of user 1000", or "" when the system does not tell. */
void aclshmemi_net_holder(const aclshmemi_addr_t *addr, char out[ACLSHMEMI_HOLDER_LEN]);

#endif
