/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket under a channel: reads through a small buffer, judges the first bytes, never raises SIGPIPE, and tells
 * OpenSSL about it as a BIO.
 *
 * A side that gives a connection up says in clear what it speaks, 16 bytes after whatever TLS had to say: only so can the
 * peer name the reason instead of "handshake failure". Notices are hints for a message; nothing is decided by them.
 */
#ifndef ACLSHMEMI_TLS_WIRE_H
#define ACLSHMEMI_TLS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <openssl/types.h>

#include "host/bootstrap/tls/psk.h"
#include "host/utils/status.h"

#define ACLSHMEMI_NOTICE_LEN 16

typedef struct aclshmemi_wire {
    int fd;
    bool tls;        /* what this side speaks */
    bool judged;     /* the first bytes were looked at */
    bool stranger;   /* and are of the other sort */
    bool closed;     /* the peer's end or a reset was seen */
    bool want_read;  /* the last operation stopped for lack of input */
    bool want_write; /* or of room */
    uint16_t begin;  /* bytes read ahead: begin up to end */
    uint16_t end;
    uint8_t bytes[1024];
} aclshmemi_wire_t;

void aclshmemi_wire_init(aclshmemi_wire_t *wire, int fd, bool tls);
/* Bytes moved (> 0), a CHANNEL value, or INNER_ERROR: stranger is set, or errno tells. */
ssize_t aclshmemi_wire_recv(aclshmemi_wire_t *wire, void *data, size_t size) ACLSHMEMI_MUST_CHECK;
ssize_t aclshmemi_wire_send(aclshmemi_wire_t *wire, const void *data, size_t size) ACLSHMEMI_MUST_CHECK;
/* A BIO that uses wire, which must outlive it; NULL when out of memory. */
BIO *aclshmemi_wire_bio(aclshmemi_wire_t *wire);
/* Takes what has arrived off the socket, so that closing it does not reset the connection under our last words. */
void aclshmemi_wire_drain(aclshmemi_wire_t *wire);

/* Best effort, never waits. */
void aclshmemi_notice_send(aclshmemi_wire_t *wire, aclshmemi_tls_kind_t kind, uint32_t hash);
/* 0: read; WANT_READ: may still come; CLOSED: will not come. */
int aclshmemi_notice_recv(aclshmemi_wire_t *wire, aclshmemi_tls_kind_t *kind,
                          uint32_t *hash) ACLSHMEMI_MUST_CHECK;

#endif
