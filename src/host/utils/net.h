/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets: addresses as text, listening, connecting with a deadline. Every descriptor is close-on-exec and, unless
 * said otherwise, non-blocking. Interrupted calls are resumed. Nothing here raises SIGPIPE.
 */
#ifndef ACLSHMEMI_UTILS_NET_H
#define ACLSHMEMI_UTILS_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "host/utils/clock.h"
#include "host/utils/status.h"

#define ACLSHMEMI_PORT_MIN      1025
#define ACLSHMEMI_PORT_MAX      65535
#define ACLSHMEMI_ADDR_TEXT_LEN 80 /* "[ipv6%scope]:port" and its terminator */

typedef struct aclshmemi_addr {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t length;
} aclshmemi_addr_t;

/* "1.2.3.4:5" or "[::1]:5"; always terminated. Returns out. */
const char *aclshmemi_addr_print(const aclshmemi_addr_t *addr, char out[ACLSHMEMI_ADDR_TEXT_LEN]);
bool aclshmemi_addr_is_loopback(const aclshmemi_addr_t *addr);
bool aclshmemi_addr_is_any(const aclshmemi_addr_t *addr);
uint16_t aclshmemi_addr_port(const aclshmemi_addr_t *addr);
void aclshmemi_addr_set_port(aclshmemi_addr_t *addr, uint16_t port);

/* All addresses of a literal or name, IPv4 first. family: AF_UNSPEC, AF_INET or AF_INET6. At most max of them. Names take until
 * the deadline at most, then TIMEOUT_ERROR. Failure is quiet. */
int aclshmemi_net_resolve(const char *host, int family, uint16_t port, aclshmemi_deadline_t deadline,
                          aclshmemi_addr_t *out, size_t max, size_t *count) ACLSHMEMI_MUST_CHECK;

/* Bound with SO_REUSEADDR, not yet listening. A busy port is named together with its holder when the system tells. */
int aclshmemi_net_bind(const aclshmemi_addr_t *addr, int *fd) ACLSHMEMI_MUST_CHECK;
int aclshmemi_net_try_bind(const aclshmemi_addr_t *addr,
                           int *fd) ACLSHMEMI_MUST_CHECK; /* quiet, for several ports */
int aclshmemi_net_listen(int fd, int backlog) ACLSHMEMI_MUST_CHECK;
/* One attempt, done or failed by the deadline; failure is quiet (the caller retries and knows when to say so). */
int aclshmemi_net_connect(const aclshmemi_addr_t *addr, aclshmemi_deadline_t deadline,
                          int *fd) ACLSHMEMI_MUST_CHECK;
/* No delay, keepalive that notices a dead host within 5 s. For every accepted or connected stream socket. */
void aclshmemi_net_tune(int fd);
int aclshmemi_net_local(int fd, aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK; /* getsockname */
void aclshmemi_net_close(int *fd); /* accepts -1, sets -1, keeps errno */

/* Blocking helpers with a deadline, for small exchanges on local sockets: all bytes or (quiet)
 * failure. */
int aclshmemi_net_send_all(int fd, const void *data, size_t size,
                           aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;
int aclshmemi_net_recv_all(int fd, void *data, size_t size,
                           aclshmemi_deadline_t deadline) ACLSHMEMI_MUST_CHECK;

#endif
