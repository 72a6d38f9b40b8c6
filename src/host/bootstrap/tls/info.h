/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of the certificates, "key : value;" items:
 *
 *   tlsCaPath  tlsCaFile  tlsCert  packagePath    required
 *   tlsCrlPath tlsCrlFile                         used only together
 *   tlsAllowedSubjects                            common names of the peers to accept; without it all of the CA's
 *
 * tlsCaFile, tlsCrlFile and tlsAllowedSubjects are lists separated by ','. No text of an item reaches a message, its key
 * excepted.
 */
#ifndef ACLSHMEMI_TLS_INFO_H
#define ACLSHMEMI_TLS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "host/utils/status.h"

/* Texts one behind the other, each terminated. */
typedef struct aclshmemi_tls_list {
    const char *first;
    size_t count;
} aclshmemi_tls_list_t;

/* Missing values are NULL, missing lists empty. Everything points into the parsed text. */
typedef struct aclshmemi_tls_info {
    const char *ca_path;
    aclshmemi_tls_list_t ca_files;
    const char *cert;
    const char *crl_path;
    aclshmemi_tls_list_t crl_files;
    const char *package_path;
    aclshmemi_tls_list_t allowed_subjects;
} aclshmemi_tls_info_t;

/* Parses text in place; it must outlive info. INVALID_PARAM: malformed; INNER_ERROR: a required key is missing. */
int aclshmemi_tls_info_parse(char *text, aclshmemi_tls_info_t *info) ACLSHMEMI_MUST_CHECK;

static inline const char *aclshmemi_tls_list_next(const char *item)
{
    while (*item != '\0')
        item++;
    return item + 1;
}

#endif
