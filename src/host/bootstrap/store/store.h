/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key-value table of a store bootstrap, for callers on any thread. Results besides 0 are those of the table
 * (-400 bad request, -401 bad key, -404 no such key, -601 waited in vain) and library codes; all are quiet.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_H
#define ACLSHMEMI_BOOTSTRAP_STORE_H

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/store/frame.h"

typedef struct aclshmemi_store_answer {
    uint8_t *data; /* owned by the caller: free() */
    size_t size;
} aclshmemi_store_answer_t;

/* One operation on one key, with as many values as it takes. wait_ms: of GET, how long to wait for an absent key;
 * negative: as long as operations may take. */
int aclshmemi_store_request(aclshmemi_bootstrap_t *bs, aclshmemi_store_op_t op, const char *key,
                            int64_t wait_ms, const aclshmemi_store_item_t *values, size_t n_values,
                            aclshmemi_store_answer_t *answer) ACLSHMEMI_MUST_CHECK;

#endif
