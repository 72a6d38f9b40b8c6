/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: every variable of env.def, parsed and checked once per instance, then constant.
 *
 * A value that does not parse is an error that names variable, value, what is allowed and where it came from. Blanks
 * around a value are cut. An unknown SHMEM_ name is said once, with the nearest name when it is close. Order of
 * sources: environment, settings file, default. This is the only getenv() of the library.
 */
#ifndef ACLSHMEMI_UTILS_ENV_H
#define ACLSHMEMI_UTILS_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/utils/status.h"

enum {
    ACLSHMEMI_ENV_HIDDEN = 1,
    ACLSHMEMI_ENV_FOREIGN = 2,
    ACLSHMEMI_ENV_GIVEN = 4,
    ACLSHMEMI_ENV_SECRET = 8
};

typedef enum aclshmemi_env_origin {
    ACLSHMEMI_ORIGIN_DEFAULT,
    ACLSHMEMI_ORIGIN_FILE,
    ACLSHMEMI_ORIGIN_ENVIRONMENT
} aclshmemi_env_origin_t;

/* Field types by row type: int, choice -> int64_t (a choice is the index of its word); size -> uint64_t bytes;
 * seconds -> uint64_t milliseconds, field name gets _ms; bool -> bool; text -> const char *, never NULL. */
#define ACLSHMEMI_ENV_FIELD_int(field)     int64_t field;
#define ACLSHMEMI_ENV_FIELD_choice(field)  int64_t field;
#define ACLSHMEMI_ENV_FIELD_size(field)    uint64_t field;
#define ACLSHMEMI_ENV_FIELD_seconds(field) uint64_t field##_ms;
#define ACLSHMEMI_ENV_FIELD_bool(field)    bool field;
#define ACLSHMEMI_ENV_FIELD_text(field)    const char *field;

enum {
#define ENV(field, name, type, dflt, range, flags, text) ACLSHMEMI_ENV_##field,
#include "host/utils/env.def"
#undef ENV
    ACLSHMEMI_ENV_COUNT
};

typedef struct aclshmemi_env {
#define ENV(field, name, type, dflt, range, flags, text) ACLSHMEMI_ENV_FIELD_##type(field)
#include "host/utils/env.def"
#undef ENV
    uint8_t origin[ACLSHMEMI_ENV_COUNT]; /* aclshmemi_env_origin_t by row */
    char *storage;                       /* owns the texts */
    char file[256];                      /* settings file that was read, "" if none */
} aclshmemi_env_t;

/* Reads and checks everything; on failure env is left empty. fini accepts a zeroed env. */
int aclshmemi_env_init(aclshmemi_env_t *env) ACLSHMEMI_MUST_CHECK;
void aclshmemi_env_fini(aclshmemi_env_t *env);
/* Says once per process which SHMEM_ names of the environment nobody knows. */
void aclshmemi_env_warn_unknown(void);

/* A row as text, for tools and documentation. Strings are static except value, which fits the caller's buffer. */
typedef struct aclshmemi_env_row {
    const char *name; /* with its prefix */
    const char *type;
    const char *dflt;
    const char *range;
    const char *text;
    int flags;
} aclshmemi_env_row_t;

/* ACLSHMEMI_ENV_COUNT of them, in the order of env.def. */
const aclshmemi_env_row_t *aclshmemi_env_rows(void);
/* Present value of row i, "(hidden)" for a secret. Returns the length that would be needed. */
size_t aclshmemi_env_print(const aclshmemi_env_t *env, int row, char *out, size_t size);

/* A variable that is not ours to describe (a launcher's, HOME): NULL when unset. Everybody uses this. */
const char *aclshmemi_env_raw(const char *name);

/* The parsers, for attribute texts and tests: 0 or a code, out untouched on failure, nothing logged. */
int aclshmemi_parse_int(const char *text, int64_t low, int64_t high, int64_t *out) ACLSHMEMI_MUST_CHECK;
int aclshmemi_parse_size(const char *text, uint64_t low, uint64_t high, uint64_t *out) ACLSHMEMI_MUST_CHECK;
int aclshmemi_parse_seconds(const char *text, uint64_t low_ms, uint64_t high_ms,
                            uint64_t *out) ACLSHMEMI_MUST_CHECK;
int aclshmemi_parse_bool(const char *text, bool *out) ACLSHMEMI_MUST_CHECK;
int aclshmemi_parse_choice(const char *text, const char *choices, int64_t *out) ACLSHMEMI_MUST_CHECK;

#endif
