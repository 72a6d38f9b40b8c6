/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of unused ids; the rest of this table's calls stands in uid.h. Inside uid/. */
#ifndef ACLSHMEMI_BOOTSTRAP_UID_WAITING_H
#define ACLSHMEMI_BOOTSTRAP_UID_WAITING_H

#include "host/bootstrap/uid/uid.h"

/* Frees the ports of unused ids before a new one is bound; the ids stay known. */
void aclshmemi_uid_close_waiting(void);

#endif
