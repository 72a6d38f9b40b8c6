/* SPDX-License-Identifier: Apache-2.0 */
/* A CA, two PEs with certificates, and a folder that passes for OpenSSL's: what tests of certificates start from. */
#ifndef ACLSHMEM_TEST_TLS_FIXTURE_H
#define ACLSHMEM_TEST_TLS_FIXTURE_H

#include "tls_support.h"

extern char t_dir[256];     /* holds ca.pem, other_ca.pem, pe.pem, peer.pem */
extern char t_package[300]; /* what packagePath names */
extern aclshmemi_env_t t_env;
extern EVP_PKEY *t_ca_key, *t_other_ca_key, *t_pe_key, *t_peer_key;
extern X509 *t_ca, *t_other_ca;

int t_fixture_setup(void **state); /* of a group */
int t_fixture_teardown(void **state);
int t_fixture_start(void **state); /* of each test: nothing is set, log lines are kept */
int t_fixture_stop(void **state);

const char *t_in_dir(const char *name); /* one of four buffers in turn */
void t_make_package(const char *path);
X509 *t_make(const char *name, EVP_PKEY *key, const X509 *issuer, EVP_PKEY *issuer_key);
X509 *t_make_ca(const char *name, EVP_PKEY *key);
void t_write_once(const char *name, const X509 *certificate);
void t_make_and_write(const char *file, const char *name, EVP_PKEY *key, const X509 *issuer,
                      EVP_PKEY *issuer_key);

/* A description with these files and, behind them, more items. */
void t_configure(const char *ca_file, const char *cert, const char *more);
void t_set_key(EVP_PKEY *key);
aclshmemi_tls_context_t *t_context_of(const char *ca_file, const char *cert, EVP_PKEY *key, const char *more);
/* No context with what is configured, and these words. */
void t_expect_refusal(int code, const char *words);

#endif
