/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as users write them, and the choice of an interface. One grammar, nothing guessed, cut or wrapped:
 *
 *   ip_port       tcp://HOST:PORT   tcp6://[HOST]:PORT        scheme and brackets as shown, PORT 1025..65535
 *   session id    IPV4:PORT   [IPV6]:PORT   NAME:PORT         IPV6 with %scope where needed
 *   interface     PREFIX   PREFIX:inet4   PREFIX:inet6        PREFIX 1..21 characters
 */
#ifndef ACLSHMEMI_BOOTSTRAP_ADDRESS_H
#define ACLSHMEMI_BOOTSTRAP_ADDRESS_H

#include "host/utils/env.h"
#include "host/utils/net.h"

#define ACLSHMEMI_HOST_NAME_MAX 253

typedef struct aclshmemi_url {
    int family; /* AF_INET or AF_INET6 */
    char host[ACLSHMEMI_HOST_NAME_MAX + 1];
    uint16_t port; /* 0 only when allowed */
} aclshmemi_url_t;

/* text: at most size bytes, terminated or not (then refused). allow_port_0: the template of several instances. */
int aclshmemi_url_parse(const char *text, size_t size, bool allow_port_0,
                        aclshmemi_url_t *url) ACLSHMEMI_MUST_CHECK;
/* True when the text has the form of a URL at all: what decides between address and id in DEFAULT mode. Quiet. */
bool aclshmemi_url_is_valid(const char *text, size_t size);
/* All addresses of the URL's host that fit its family; a name with several means: try them all. tcp:// with a name that
 * has IPv6 addresses only takes those. INNER_ERROR when the name servers do not answer by the deadline. */
int aclshmemi_url_resolve(const aclshmemi_url_t *url, aclshmemi_deadline_t deadline, aclshmemi_addr_t *out,
                          size_t max, size_t *count) ACLSHMEMI_MUST_CHECK;

/* text: terminated. resolve gives all addresses of a name, IPv4 first; parse the first of them. */
int aclshmemi_session_id_resolve(const char *text, aclshmemi_deadline_t deadline, aclshmemi_addr_t *out,
                                 size_t max, size_t *count) ACLSHMEMI_MUST_CHECK;
int aclshmemi_session_id_parse(const char *text, aclshmemi_deadline_t deadline,
                               aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK;

/* The address to advertise when nobody said: candidates, choice and reason go to one info line. spec: "" or the form
 * above. Port 0 in the result. */
int aclshmemi_interface_choose(const char *spec, aclshmemi_addr_t *addr) ACLSHMEMI_MUST_CHECK;

#endif
