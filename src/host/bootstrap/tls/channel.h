/* SPDX-License-Identifier: Apache-2.0 */
/* What a channel holds, for the files of this folder. */
#ifndef ACLSHMEMI_TLS_CHANNEL_H
#define ACLSHMEMI_TLS_CHANNEL_H

#include "host/bootstrap/tls/context.h"
#include "host/bootstrap/tls/wire.h"

typedef enum aclshmemi_channel_stage {
    ACLSHMEMI_STAGE_SHAKING,
    ACLSHMEMI_STAGE_LISTENING, /* the peer gave up; its notice may follow */
    ACLSHMEMI_STAGE_OPEN,
    ACLSHMEMI_STAGE_FAILED,
} aclshmemi_channel_stage_t;

struct aclshmemi_channel {
    aclshmemi_tls_context_t *context; /* NULL: plain; not owned */
    SSL *ssl;                         /* NULL: plain */
    aclshmemi_channel_stage_t stage;
    bool server;
    bool not_allowed;               /* the peer's certificate is good, its subject not in the list */
    bool got_certificate;           /* the peer showed one where a pre-shared key was wanted */
    bool offered_key;               /* the peer (a client) named a pre-shared key */
    aclshmemi_tls_kind_t peer_kind; /* as far as it was told */
    uint32_t peer_hash;
    char text[320]; /* why it failed */
    aclshmemi_wire_t wire;
};

/* Ends the channel: keeps the text, and says it again on every later call. Returns the code. */
int aclshmemi_channel_give_up(aclshmemi_channel_t *channel, const char *format, ...)
    __attribute__((format(printf, 2, 3))) ACLSHMEMI_MUST_CHECK;

/* handshake.c: the callbacks of OpenSSL, which find the channel, and its context, behind each connection. */
void aclshmemi_handshake_install(SSL_CTX *ssl, bool x509);
/* One step of a TLS handshake. */
int aclshmemi_handshake_step(aclshmemi_channel_t *channel) ACLSHMEMI_MUST_CHECK;

#endif
