/* SPDX-License-Identifier: Apache-2.0 */
/* Where shared secrets come from when the program brings none: the launcher, or a file of the user. */
#ifndef ACLSHMEMI_TLS_SECRET_H
#define ACLSHMEMI_TLS_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "host/utils/env.h"
#include "host/utils/status.h"

#define ACLSHMEMI_SECRET_PATH_LEN 1024

/* Reads the launcher's secret from the descriptor it left open. The descriptor stays open, for a later init, and is kept
 * from programs that this process starts. */
int aclshmemi_secret_of_launcher(int fd, uint8_t *secret) ACLSHMEMI_MUST_CHECK;

/* Where the user's secret file is or would be; path: room for ACLSHMEMI_SECRET_PATH_LEN bytes. */
int aclshmemi_secret_path(const aclshmemi_env_t *env, char *path) ACLSHMEMI_MUST_CHECK;

/* Reads the user's secret file, made at first use; all processes that start at once get the same bytes. path gets its
 * name, as above. */
int aclshmemi_secret_of_user(const aclshmemi_env_t *env, uint8_t *secret, char *path) ACLSHMEMI_MUST_CHECK;

#endif
