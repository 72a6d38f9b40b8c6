/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the TLS seam share: certificates made on the spot, settings, and two channels driven in one thread.
 * Helpers end the program when they fail for reasons of their own.
 */
#ifndef ACLSHMEM_TEST_TLS_SUPPORT_H
#define ACLSHMEM_TEST_TLS_SUPPORT_H

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/tls/tls.h"
#undef fail /* cmocka has one of its own */
#include "support/unit.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

/* ---- keys and certificates ---- */

EVP_PKEY *t_key_rsa(unsigned bits);               /* the same key every time; not the caller's */
EVP_PKEY *t_key_ec(const char *curve);            /* a fresh one */
char *t_key_pem(EVP_PKEY *key, const char *pass); /* terminated, pass NULL: in clear; the caller frees it */

typedef struct t_certificate {
    const char *name; /* common name */
    EVP_PKEY *key;
    const X509 *issuer; /* NULL: itself */
    EVP_PKEY *issuer_key;
    long from_s, to_s; /* validity, seconds from now; both 0: a year around now */
    bool ca;
} t_certificate_t;

X509 *t_certificate_make(const t_certificate_t *what);
X509_CRL *t_crl_make(const X509 *ca, EVP_PKEY *ca_key, const X509 *revoked,
                     long next_s); /* revoked may be NULL */
void t_certificate_write(const char *path,
                         const X509 *certificate); /* mode 0600; appends when the file exists */
void t_crl_write(const char *path, X509_CRL *crl);

/* ---- settings ---- */

/* TLS on, nothing given, secret file below folder; texts stay the caller's. */
aclshmemi_env_t t_tls_env(const char *secret_file);

/* ---- two channels ---- */

typedef struct t_side {
    aclshmemi_channel_t *channel;
    int rc;         /* of the handshake; WANT_READ while it has not ended */
    char text[512]; /* its failure, "" without one */
} t_side_t;

typedef struct t_pair {
    t_side_t client, server;
} t_pair_t;

/* Connects two contexts (NULL: plain) and drives both handshakes to their end; a side that fails is destroyed, as the
 * store would do, and its text kept. */
void t_pair_open(t_pair_t *pair, aclshmemi_tls_context_t *client, aclshmemi_tls_context_t *server);
void t_pair_close(t_pair_t *pair);
/* Sends text from one side and expects exactly it on the other. */
void t_pair_send(t_side_t *from, t_side_t *to, const char *text);
/* Reads once; the result, the text of a failure in side->text. */
ssize_t t_side_read(t_side_t *side, void *data, size_t size);

#endif
