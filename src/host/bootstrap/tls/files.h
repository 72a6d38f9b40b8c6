/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files the certificates come from: what is accepted, and reading them whole, so that what was checked is what is used.
 * Messages name the key of the description, never a file.
 */
#ifndef ACLSHMEMI_TLS_FILES_H
#define ACLSHMEMI_TLS_FILES_H

#include <stddef.h>

#include "host/utils/status.h"

typedef struct aclshmemi_tls_bytes {
    char *data; /* owned, not terminated */
    size_t size;
} aclshmemi_tls_bytes_t;

/* An existing directory that is not a symbolic link. key: for messages. */
int aclshmemi_tls_check_directory(const char *path, const char *key) ACLSHMEMI_MUST_CHECK;
/* A regular file of 1 B to 10 MiB, no symbolic link, not writable by group or others. directory: NULL when name is a
 * whole path. */
int aclshmemi_tls_read_file(const char *directory, const char *name, const char *key,
                            aclshmemi_tls_bytes_t *bytes) ACLSHMEMI_MUST_CHECK;
void aclshmemi_tls_bytes_free(aclshmemi_tls_bytes_t *bytes);
/* A directory with OpenSSL's libraries which nobody else can change. They are not loaded from it: the library is linked
 * with OpenSSL, so this only holds users to what they promised. */
int aclshmemi_tls_check_package(const char *path) ACLSHMEMI_MUST_CHECK;

#endif
