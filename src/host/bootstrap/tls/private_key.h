/* SPDX-License-Identifier: Apache-2.0 */
/* The private key: from the text that was set, with its pass phrase in plain or behind a handler of the program. */
#ifndef ACLSHMEMI_TLS_PRIVATE_KEY_H
#define ACLSHMEMI_TLS_PRIVATE_KEY_H

#include <openssl/evp.h>

#include "host/bootstrap/tls/settings.h"

/* *out is the caller's to free. Nothing of the texts is left in memory but what key holds. */
int aclshmemi_private_key_read(const aclshmemi_tls_key_t *key, EVP_PKEY **out) ACLSHMEMI_MUST_CHECK;

#endif
