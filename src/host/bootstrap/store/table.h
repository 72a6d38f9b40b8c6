/* SPDX-License-Identifier: Apache-2.0 */
/* The key-value table behind the store's operations. Knows no connection: callers that wait for a key leave a waiter. */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_TABLE_H
#define ACLSHMEMI_BOOTSTRAP_STORE_TABLE_H

#include "host/bootstrap/store/frame.h"
#include "host/bootstrap/store/loop.h"

typedef struct aclshmemi_store_table aclshmemi_store_table_t;

#define ACLSHMEMI_STORE_TABLE_BYTES_MAX (UINT64_C(1) << 30) /* of all keys and values */

/* A GET whose key is not there yet; owned by the caller, embedded in what it needs for the answer. */
typedef struct aclshmemi_store_waiter {
    void (*done)(struct aclshmemi_store_waiter *waiter, int result, const aclshmemi_store_item_t *value);
    aclshmemi_store_timer_t timer;
    struct aclshmemi_store_waiter *next, **link;
    aclshmemi_store_table_t *table;
    void *entry;
} aclshmemi_store_waiter_t;

int aclshmemi_store_table_create(aclshmemi_store_loop_t *loop,
                                 aclshmemi_store_table_t **table) ACLSHMEMI_MUST_CHECK;
/* No waiter may be left: their owners cancel them first. Accepts NULL. */
void aclshmemi_store_table_destroy(aclshmemi_store_table_t *table);

/* What the table answers at once: a result, and on success a value, borrowed until the next call. A GET of an absent
 * key is answered NO_KEY, whatever its wait. */
int aclshmemi_store_table_apply(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *request,
                                aclshmemi_store_item_t *value) ACLSHMEMI_MUST_CHECK;
/* done is called once, when the key appears or the deadline passes (EXPIRED), never inside this call. A result other
 * than 0: not waiting. */
int aclshmemi_store_table_wait(aclshmemi_store_table_t *table, const aclshmemi_store_item_t *key,
                               aclshmemi_deadline_t deadline,
                               aclshmemi_store_waiter_t *waiter) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_table_cancel(aclshmemi_store_waiter_t *waiter);
size_t aclshmemi_store_table_keys(const aclshmemi_store_table_t *table); /* with a value */

#endif
