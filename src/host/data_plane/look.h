/* SPDX-License-Identifier: Apache-2.0 */
/* What the waits and tests share, whatever the type: a set of elements, one way to look at one, and the loops. */
#ifndef ACLSHMEMI_DATA_PLANE_LOOK_H
#define ACLSHMEMI_DATA_PLANE_LOOK_H

#include "host/instance.h"

typedef struct aclshmemi_look aclshmemi_look_t;

struct aclshmemi_look {
    const char *call; /* public name, for messages */
    const void *vars;
    size_t count;
    const int *status; /* elements with a nonzero entry are left out; NULL: none */
    int cmp;
    const void *values; /* one, or one per element */
    bool vector;
    size_t width; /* of the type, in bytes */
    /* Loads element i once and tells whether it holds. */
    bool (*holds)(const aclshmemi_look_t *look, size_t i);
    /* Element i and what it is compared with, as text. */
    void (*print)(const aclshmemi_look_t *look, size_t i, char *out, size_t size);
    aclshmemi_instance_t *in;
};

/* Arguments of a call: 0, or the failure with its words. results_missing: a result has no place to go. */
int aclshmemi_look_check(aclshmemi_look_t *look, bool results_missing) ACLSHMEMI_MUST_CHECK;

const char *aclshmemi_look_cmp(const aclshmemi_look_t *look); /* ">=" and so on */

/* One signal word against *value. */
void aclshmemi_signal_look(aclshmemi_look_t *look, const char *call, const int32_t *word, int cmp,
                           const int32_t *value);

int aclshmemi_look_wait_all(const aclshmemi_look_t *look, uint64_t timeout_ms) ACLSHMEMI_MUST_CHECK;
/* *found: SIZE_MAX when no element is taken in. */
int aclshmemi_look_wait_any(const aclshmemi_look_t *look, uint64_t timeout_ms,
                            size_t *found) ACLSHMEMI_MUST_CHECK;
int aclshmemi_look_wait_some(const aclshmemi_look_t *look, uint64_t timeout_ms, size_t *indices,
                             size_t *found) ACLSHMEMI_MUST_CHECK;

bool aclshmemi_look_test_all(const aclshmemi_look_t *look);
size_t aclshmemi_look_test_any(const aclshmemi_look_t *look);
size_t aclshmemi_look_test_some(const aclshmemi_look_t *look, size_t *indices);

#endif
