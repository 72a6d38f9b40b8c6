/* SPDX-License-Identifier: Apache-2.0 */
/* Optional libraries, opened at run time from lists of names. */
#ifndef ACLSHMEMI_UTILS_DL_H
#define ACLSHMEMI_UTILS_DL_H

#include <stdbool.h>
#include <stddef.h>

#include "host/utils/status.h"

/* One function to look up: where its address goes, and whether the library is useless without it. */
typedef struct aclshmemi_dl_symbol {
    const char *name;
    void **address;
    bool required;
} aclshmemi_dl_symbol_t;

/* Fills all addresses from handle (RTLD_DEFAULT works); a missing required one fails quietly, naming it in the text. */
int aclshmemi_dl_lookup(void *handle, const aclshmemi_dl_symbol_t *symbols,
                        size_t count) ACLSHMEMI_MUST_CHECK;
/* Directory that holds the library or program this function is linked into, without a trailing slash. */
int aclshmemi_dl_own_directory(char *out, size_t size) ACLSHMEMI_MUST_CHECK;

#endif
