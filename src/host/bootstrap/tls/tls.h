/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TLS seam of the store: credentials, and one connection, encrypted or plain, without blocking.
 *
 * A context holds the credentials of one bootstrap and serves both roles (PE 0 is server and client). A channel wraps
 * one connected non-blocking socket; its owner is one event loop, so a channel needs no lock. Plain channels
 * (context NULL) answer the same calls, so the store has one code path.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_TLS_H
#define ACLSHMEMI_BOOTSTRAP_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/utils/env.h"
#include "host/utils/status.h"

#define ACLSHMEMI_SECRET_LEN 32

typedef struct aclshmemi_tls_context aclshmemi_tls_context_t;
typedef struct aclshmemi_channel aclshmemi_channel_t;

/* What a channel call came to; everything else is a negative code. */
enum {
    ACLSHMEMI_CHANNEL_WANT_READ = -1001,
    ACLSHMEMI_CHANNEL_WANT_WRITE = -1002,
    ACLSHMEMI_CHANNEL_CLOSED = -1003
};

/*
 * Credentials by the rules, first match wins: the X.509 material of aclshmemi_tls_configure and _set_key; uid_secret (32
 * bytes, NULL without an id); the launcher's secret (env->secret_fd); the per-user secret file, made at first use.
 * *context is NULL when TLS is switched off (setter or SHMEM_CONF_STORE_TLS=0). Failure: INNER_ERROR, nothing secret in
 * the text.
 */
int aclshmemi_tls_context_create(const aclshmemi_env_t *env, const uint8_t *uid_secret,
                                 aclshmemi_tls_context_t **context) ACLSHMEMI_MUST_CHECK;
void aclshmemi_tls_context_destroy(aclshmemi_tls_context_t *context); /* accepts NULL; wipes */
/* "tls 1.3, pre-shared key of the user's secret file", "plain": for logs and tools. Accepts NULL. */
const char *aclshmemi_tls_context_describe(const aclshmemi_tls_context_t *context);
/* Looks at certificate expiry when a period has passed since the last look; call it from the loop now and then. */
void aclshmemi_tls_context_check_expiry(aclshmemi_tls_context_t *context);
bool aclshmemi_tls_enabled(const aclshmemi_env_t *env); /* what the next context_create would do */
/* The same in words, for tools: which credentials, and the name of the secret file. Makes nothing, reads no secret. */
int aclshmemi_tls_describe(const aclshmemi_env_t *env, char *out, size_t size) ACLSHMEMI_MUST_CHECK;

/* Takes over fd (closed by destroy, also when create fails). */
int aclshmemi_channel_create(aclshmemi_tls_context_t *context, int fd, bool server,
                             aclshmemi_channel_t **channel) ACLSHMEMI_MUST_CHECK;
/* 0: done; WANT_*: call again when the socket is ready; a code: failed, with a text such as "peer speaks plain TCP" or
 * "peer uses another secret". Quiet: the store counts strangers and decides what to log. */
int aclshmemi_channel_handshake(aclshmemi_channel_t *channel) ACLSHMEMI_MUST_CHECK;
/* Bytes moved (> 0), WANT_*, CLOSED (orderly end or reset), or a code. */
ssize_t aclshmemi_channel_read(aclshmemi_channel_t *channel, void *data, size_t size) ACLSHMEMI_MUST_CHECK;
ssize_t aclshmemi_channel_write(aclshmemi_channel_t *channel, const void *data,
                                size_t size) ACLSHMEMI_MUST_CHECK;
/* Bytes the TLS layer already holds: epoll will not tell of them. */
bool aclshmemi_channel_pending(const aclshmemi_channel_t *channel);
int aclshmemi_channel_fd(const aclshmemi_channel_t *channel);
/* Orderly: sends the closing alert if that needs no wait. silent (child after fork): closes the descriptor only. */
void aclshmemi_channel_destroy(aclshmemi_channel_t *channel, bool silent); /* accepts NULL */

#endif
