/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program set: TLS on or off, the description of the certificates, the private key. Copies, kept for the
 * process; the key only until the next context is built, so each init needs it set again.
 */
#ifndef ACLSHMEMI_TLS_SETTINGS_H
#define ACLSHMEMI_TLS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "host/utils/status.h"

#define ACLSHMEMI_TLS_TEXT_MAX 10240 /* bytes, for each text the setters take */

typedef int (*aclshmemi_decrypt_t)(const char *cipher, size_t cipher_len, char *plain, size_t *plain_len);

/* Texts are terminated behind their length. */
typedef struct aclshmemi_tls_key {
    char *key; /* PEM; NULL: not set */
    size_t key_len;
    char *pass; /* NULL: the key is not encrypted */
    size_t pass_len;
    aclshmemi_decrypt_t decrypt; /* NULL: pass is plain text */
} aclshmemi_tls_key_t;

/* 1 on, 0 off, -1 the program said nothing. */
int aclshmemi_tls_settings_enabled(void);
/* A copy of the description, the caller's to free; *info is NULL when none was set. */
int aclshmemi_tls_settings_info(char **info) ACLSHMEMI_MUST_CHECK;
/* Hands the key over; none is left behind. */
void aclshmemi_tls_settings_take_key(aclshmemi_tls_key_t *key);
void aclshmemi_tls_key_wipe(aclshmemi_tls_key_t *key);
/* As in a fresh process; for tests. */
void aclshmemi_tls_settings_reset(void);

#endif
