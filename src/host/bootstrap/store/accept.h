/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: accepts connections, keeps strangers out, and hands over those that said a well-formed HELLO.
 *
 * Nothing is spent on a caller before its first bytes look like what we speak; handshake and HELLO must be done
 * within a few seconds, whatever the others do; the number of callers that wait is capped. So silence, noise and
 * floods cost a descriptor for a moment and delay nobody.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_ACCEPT_H
#define ACLSHMEMI_BOOTSTRAP_STORE_ACCEPT_H

#include "host/bootstrap/store/link.h"

#define ACLSHMEMI_STORE_HELLO_MS    5000 /* from accept to HELLO */
#define ACLSHMEMI_STORE_WAITING_MAX 1024

typedef struct aclshmemi_store_door aclshmemi_store_door_t;
typedef struct aclshmemi_store_caller aclshmemi_store_caller_t;

typedef struct aclshmemi_store_door_ops {
    /* A caller said HELLO, in the right protocol. Exactly one of take, refuse, drop must follow, at once. */
    void (*hello)(void *owner, aclshmemi_store_caller_t *caller, const aclshmemi_store_hello_t *hello,
                  uint32_t sequence);
} aclshmemi_store_door_ops_t;

/* listen_fd: listening, non-blocking, taken over also on failure; -1: none, callers come by admit only. */
int aclshmemi_store_door_create(aclshmemi_store_loop_t *loop, aclshmemi_tls_context_t *tls, int listen_fd,
                                uint32_t waiting_max, const aclshmemi_store_door_ops_t *ops, void *owner,
                                aclshmemi_store_door_t **door) ACLSHMEMI_MUST_CHECK;
/* A connection this process made with itself: plain, not judged by its first bytes. Takes over fd. */
int aclshmemi_store_door_admit(aclshmemi_store_door_t *door, int fd) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_door_shut(
    aclshmemi_store_door_t *door); /* listens no longer; waiting callers are dropped */
void aclshmemi_store_door_destroy(aclshmemi_store_door_t *door); /* accepts NULL */

/* The caller is one of us: its link, with a new owner to be given at once. */
aclshmemi_store_link_t *aclshmemi_store_caller_take(aclshmemi_store_caller_t *caller);
/* Answers with a reason, then hangs up. */
void aclshmemi_store_caller_refuse(aclshmemi_store_caller_t *caller, uint32_t sequence, int code,
                                   const char *text);
/* Hangs up and counts it among the strangers. */
void aclshmemi_store_caller_drop(aclshmemi_store_caller_t *caller, const char *why);
/* Only counts it and says so, e.g. before refuse. */
void aclshmemi_store_caller_count(aclshmemi_store_caller_t *caller, const char *why);
const char *aclshmemi_store_caller_from(const aclshmemi_store_caller_t *caller); /* its address as text */

#endif
