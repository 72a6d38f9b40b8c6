/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is nobody's relative as far as the runtime can tell: the test program started anew, doing what it is
 * told over a socket. A test's main calls t_peer_main first thing, when its first argument is "peer".
 */
#ifndef CPURT_TESTS_SHARE_PEER_H
#define CPURT_TESTS_SHARE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "support.h"

#define T_BYTES ((size_t)4 << 20)

typedef struct t_peer {
    pid_t pid;
    int socket;
} t_peer_t;

typedef struct t_request {
    char what; /* see below; 'n': becomes nobody */
    unsigned char value;
    aclrtMemFabricHandle shared;
} t_request_t;

typedef struct t_reply {
    aclError error;
    char text[256];
    unsigned char value;
    aclrtMemFabricHandle shared;
    t_holdings_t holdings;
} t_reply_t;

int t_peer_main(void);
/* Starts one behind unshare(flags); false when that is not permitted. */
bool t_peer_start(t_peer_t *peer, int flags);
void t_peer_end(t_peer_t *peer);  /* politely: it finalises and exits with 0 */
void t_peer_kill(t_peer_t *peer); /* at once */
t_reply_t t_peer_do(const t_peer_t *peer, t_request_t request);

/* Each fails the test when the peer's runtime does, with its text. */
aclrtMemFabricHandle t_peer_make(const t_peer_t *peer);              /* 'm': makes, maps and exports memory */
void t_peer_take(const t_peer_t *peer, aclrtMemFabricHandle shared); /* 't': imports and maps it */
void t_peer_drop(const t_peer_t *peer);                              /* 'd': unmaps and frees what it has */
void t_peer_write(const t_peer_t *peer, unsigned char value);        /* 'w': to first and last byte */
unsigned char t_peer_read(const t_peer_t *peer);                     /* 'r': both bytes are the same */
t_holdings_t t_peer_holdings(const t_peer_t *peer);                  /* 'h' */
bool t_peer_hide_proc(const t_peer_t *peer); /* 'u': has no /proc from now on; false: not permitted */

#endif
