/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sharing physical memory with processes of this machine that are not our children. A handle is 128 bytes that say
 * where the memory file can be had: in the owner's /proc/<pid>/fd, or from a socket the owner listens on. Nothing has
 * a name in a file system, so nothing is left when a process dies, however it does.
 */
#ifndef CPURT_SHARE_H
#define CPURT_SHARE_H

#include <sys/types.h>

#include "vmm.h"

#define CPURT_TOKEN_BYTES 16
#define CPURT_SHARE_MS    5000 /* longest wait for the owner of a handle */

/* The 128 bytes; both ends run the same machine code, so the layout is the machine's. */
typedef struct cpurt_shared {
    uint32_t magic;
    uint16_t version;
    uint16_t flags; /* CPURT_SHARED_* */
    int32_t pid;
    int32_t fd;
    uint64_t bytes;
    uint64_t device, inode;        /* of the memory file: what makes a found descriptor the right one */
    uint64_t pid_space, net_space; /* namespaces of the owner, 0: could not be told */
    uint8_t machine[16];           /* one boot of one machine; all zero: could not be told */
    uint8_t socket[CPURT_TOKEN_BYTES];
    uint8_t token[CPURT_TOKEN_BYTES];
    uint8_t reserved[16];
    uint64_t check; /* of everything before */
} cpurt_shared_t;
_Static_assert(sizeof(cpurt_shared_t) == 128, "a handle is 128 bytes");

#define CPURT_SHARED_MAGIC   UINT32_C(0x4d4c4341)
#define CPURT_SHARED_VERSION 1
#define CPURT_SHARED_HUGETLB 1u
#define CPURT_SHARED_HUGE    2u
#define CPURT_SHARED_HOST    4u

/* What goes over the socket: a request, and an answer that may carry a descriptor. */
typedef struct cpurt_share_message {
    uint32_t magic;
    int32_t status; /* in answers: 0, or ACL_ERROR_RT_INVALID_HANDLE when the owner knows no such memory */
    uint8_t token[CPURT_TOKEN_BYTES];
} cpurt_share_message_t;

void cpurt_share_end(void);

/* --- Between the files of this part --- */

/* Starts the server unless it runs; its socket's name and network namespace. */
aclError cpurt_share_serve(uint8_t socket[CPURT_TOKEN_BYTES], uint64_t *net_space);
bool cpurt_share_is_own_socket(const uint8_t socket[CPURT_TOKEN_BYTES]);
/* A new descriptor of what was exported under the token; -1 when nothing is. */
int cpurt_share_find(const uint8_t token[CPURT_TOKEN_BYTES]);
/* Asks the owner of the handle for the descriptor. */
aclError cpurt_share_ask(const cpurt_shared_t *shared, int *fd);
uint64_t cpurt_namespace(const char *kind);
struct sockaddr_un;
/* The abstract address that goes with a name; returns its length. */
size_t cpurt_share_address(const uint8_t socket[CPURT_TOKEN_BYTES], struct sockaddr_un *address);

#endif
