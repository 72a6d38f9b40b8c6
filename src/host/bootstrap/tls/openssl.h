/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How this folder uses OpenSSL beside an application that may use it too: an own library context, so that no setting of
 * either side reaches the other, and an error queue that is given back as it was found.
 */
#ifndef ACLSHMEMI_TLS_OPENSSL_H
#define ACLSHMEMI_TLS_OPENSSL_H

#include <stdbool.h>

#include <openssl/types.h>

#include "host/utils/status.h"

/* The library context of the process, made at first use and kept; NULL when OpenSSL refuses. */
OSSL_LIB_CTX *aclshmemi_tls_library(void);
/* False once OpenSSL has cleaned up at the end of the process: nothing of it may be called any more. */
bool aclshmemi_tls_library_alive(void);

/* Brackets calls to OpenSSL. end returns the last error since begin (0: none) and drops those errors, no others. */
void aclshmemi_tls_errors_begin(void);
unsigned long aclshmemi_tls_errors_end(void);
/* Words for such an error, without file names or data; never NULL. */
const char *aclshmemi_tls_error_text(unsigned long error);

#endif
