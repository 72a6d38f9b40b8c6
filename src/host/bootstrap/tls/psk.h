/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pre-shared keys: what kind of secret two PEs share, the key made from it, and the name it has on the wire.
 *
 * The name tells the kind and 32 bits of a hash, so that two PEs that do not share a secret can be told why; the hash
 * is drawn from the secret by its own label and says nothing about the key.
 */
#ifndef ACLSHMEMI_TLS_PSK_H
#define ACLSHMEMI_TLS_PSK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "host/utils/status.h"

/* How a side of a connection authenticates itself. The numbers travel. */
typedef enum aclshmemi_tls_kind {
    ACLSHMEMI_TLS_NONE = 0,  /* unknown */
    ACLSHMEMI_TLS_PLAIN = 1, /* TLS is off */
    ACLSHMEMI_TLS_SOME = 2,  /* TLS, of a kind that is not told to strangers */
    ACLSHMEMI_TLS_X509 = 3,
    ACLSHMEMI_TLS_UID = 4,
    ACLSHMEMI_TLS_JOB = 5,
    ACLSHMEMI_TLS_USER = 6,
} aclshmemi_tls_kind_t;

#define ACLSHMEMI_PSK_LEN          32
#define ACLSHMEMI_PSK_IDENTITY_LEN 32

typedef struct aclshmemi_psk {
    uint8_t key[ACLSHMEMI_PSK_LEN];
    char identity[ACLSHMEMI_PSK_IDENTITY_LEN]; /* "aclshmem1:user:1a2b3c4d", terminated */
    uint32_t hash;
} aclshmemi_psk_t;

/* kind: UID, JOB or USER; secret: ACLSHMEMI_SECRET_LEN bytes. */
int aclshmemi_psk_derive(aclshmemi_tls_kind_t kind, const uint8_t *secret,
                         aclshmemi_psk_t *psk) ACLSHMEMI_MUST_CHECK;
/* Reads a peer's identity; false when it is not one of ours. */
bool aclshmemi_psk_identity_parse(const uint8_t *identity, size_t size, aclshmemi_tls_kind_t *kind,
                                  uint32_t *hash);
/* OpenSSL wants it equal on contexts and sessions of sides that verify, though nothing is ever resumed here. */
extern const unsigned char aclshmemi_psk_session_context[8];
/* A session object for the handshake, the caller's to free; NULL when out of memory. */
SSL_SESSION *aclshmemi_psk_session(const aclshmemi_psk_t *psk, SSL *ssl);
/* "the unique id's secret", "the user's secret file" ...; never NULL. */
const char *aclshmemi_tls_kind_text(aclshmemi_tls_kind_t kind);

#endif
