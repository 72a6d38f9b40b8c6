/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a unique id, and the sockets that wait for the init that uses one. */
#ifndef ACLSHMEMI_BOOTSTRAP_UID_H
#define ACLSHMEMI_BOOTSTRAP_UID_H

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/tls/tls.h"
#include "host/utils/net.h"

typedef struct aclshmemi_uid {
    aclshmemi_addr_t addr;                /* where PE 0 listens */
    uint64_t magic;                       /* nonzero; never logged, print aclshmemi_magic_hash() */
    uint8_t secret[ACLSHMEMI_SECRET_LEN]; /* pre-shared key material */
} aclshmemi_uid_t;

/* Reads an id from any address. INVALID_PARAM: wrong version, family, port or zero magic. */
int aclshmemi_uid_decode(const void *bytes, aclshmemi_uid_t *uid) ACLSHMEMI_MUST_CHECK;
/* An id for this address with fresh magic and secret. */
int aclshmemi_uid_encode(const aclshmemi_addr_t *addr, aclshmemx_uniqueid_t *out,
                         uint64_t *magic) ACLSHMEMI_MUST_CHECK;
/* The same id with another address: what a peer uses when it reached PE 0 under an address of its own. */
int aclshmemi_uid_readdress(const aclshmemi_addr_t *addr, aclshmemx_uniqueid_t *id) ACLSHMEMI_MUST_CHECK;
/* The socket bound for this magic in this process, now the caller's; -1 when the id was not made here or was
 * used before. Of several unused ids only the newest keeps its socket open; the address of an older one is bound
 * again here. */
int aclshmemi_uid_take_socket(uint64_t magic);
/* The socket goes back (an init that failed and may be tried again). */
void aclshmemi_uid_return_socket(uint64_t magic, int fd);
uint32_t aclshmemi_magic_hash(uint64_t magic);

#endif
