/* SPDX-License-Identifier: Apache-2.0 */
/* What a context holds, for the files of this folder. */
#ifndef ACLSHMEMI_TLS_CONTEXT_H
#define ACLSHMEMI_TLS_CONTEXT_H

#include "host/bootstrap/tls/expiry.h"
#include "host/bootstrap/tls/info.h"
#include "host/bootstrap/tls/psk.h"
#include "host/bootstrap/tls/secret.h"
#include "host/bootstrap/tls/tls.h"

struct aclshmemi_tls_context {
    SSL_CTX *ssl;
    aclshmemi_tls_kind_t kind;                   /* X509, UID, JOB or USER */
    aclshmemi_psk_t psk;                         /* unless X509 */
    char secret_path[ACLSHMEMI_SECRET_PATH_LEN]; /* USER: what to copy when secrets differ */
    char *info_text;                             /* X509: owns the texts of info */
    aclshmemi_tls_info_t info;
    aclshmemi_expiry_t expiry;          /* X509 */
    struct aclshmemi_tls_context *next; /* X509: in the list of those in use */
};

#endif
