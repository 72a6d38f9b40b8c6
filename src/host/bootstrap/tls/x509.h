/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, private key, CAs and revocation lists: from the files of a description into a context. */
#ifndef ACLSHMEMI_TLS_X509_H
#define ACLSHMEMI_TLS_X509_H

#include <openssl/ssl.h>

#include "host/bootstrap/tls/expiry.h"
#include "host/bootstrap/tls/info.h"
#include "host/bootstrap/tls/settings.h"

/* Loads everything the description names into ssl and checks it; expiry learns the certificates. */
int aclshmemi_x509_load(SSL_CTX *ssl, const aclshmemi_tls_info_t *info, const aclshmemi_tls_key_t *key,
                        aclshmemi_expiry_t *expiry) ACLSHMEMI_MUST_CHECK;
/* True when the list is empty or has the certificate's common name. */
bool aclshmemi_x509_allowed(const aclshmemi_tls_list_t *subjects, const X509 *certificate);

#endif
