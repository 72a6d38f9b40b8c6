/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about settings share: a value with its origin, and the search by name. Of utils alone. */
#ifndef ACLSHMEMI_UTILS_ENV_TABLE_H
#define ACLSHMEMI_UTILS_ENV_TABLE_H

#include "host/utils/env.h"

#define ACLSHMEMI_ENV_PREFIX "SHMEM_"

/* A value as it stands in its source, not yet parsed. */
typedef struct aclshmemi_env_source {
    const char *value; /* borrowed from the environment or the file's content; NULL: not given */
    aclshmemi_env_origin_t origin;
    int line; /* of the file */
} aclshmemi_env_source_t;

/* Row with that name, prefix included; -1 when there is none. */
int aclshmemi_env_find(const char *name);

/* Finds and reads the settings file. content owns what the sources point to and is the caller's to free, NULL when
 * there is no file; path is "" then. Names nobody knows are told once per process. */
int aclshmemi_env_file_read(aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT], char *path, size_t path_size,
                            char **content) ACLSHMEMI_MUST_CHECK;
/* The lines of a settings file, which is cut up in place. */
int aclshmemi_env_file_parse(char *content, size_t size, const char *path,
                             aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT]) ACLSHMEMI_MUST_CHECK;

/* The name of ours that is at most two slips of the finger away, or NULL. */
const char *aclshmemi_env_nearest(const char *name);
/* Whether a SHMEM_ name belongs to a tool that comes with the library. */
bool aclshmemi_env_is_tools(const char *name);

#endif
