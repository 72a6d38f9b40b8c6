/* SPDX-License-Identifier: Apache-2.0 */
/* The key-value table: chained hashing; an entry without a value is a key somebody waits for. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 64
#define NUMBER_LEN    24 /* decimal text of any 64-bit number */

typedef struct entry {
    struct entry *next;
    uint64_t hash;
    aclshmemi_store_waiter_t *waiters;
    bool present;
    uint8_t *value;
    size_t size, capacity;
    size_t key_size;
    uint8_t key[];
} entry_t;

struct aclshmemi_store_table {
    aclshmemi_store_loop_t *loop;
    entry_t **buckets;
    size_t n_buckets; /* a power of two */
    size_t n_entries;
    size_t n_present;
    uint64_t bytes;
    char number[NUMBER_LEN]; /* the last reply that is a number */
};

static uint64_t hash_of(const aclshmemi_store_item_t *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < key->size; i++)
        hash = (hash ^ key->data[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static entry_t **find(aclshmemi_store_table_t *table, const aclshmemi_store_item_t *key, uint64_t hash)
{
    entry_t **at = &table->buckets[hash & (table->n_buckets - 1)];
    while (*at && ((*at)->hash != hash || (*at)->key_size != key->size ||
                   memcmp((*at)->key, key->data, key->size) != 0))
        at = &(*at)->next;
    return at;
}

static entry_t *find_present(aclshmemi_store_table_t *table, const aclshmemi_store_item_t *key)
{
    entry_t *entry = *find(table, key, hash_of(key));
    return entry && entry->present ? entry : NULL;
}

/* Keeps chains short; without memory for more buckets they grow, and everything still works. */
static void grow(aclshmemi_store_table_t *table)
{
    size_t n = table->n_buckets * 2;
    entry_t **buckets = calloc(n, sizeof *buckets);
    if (!buckets)
        return;
    for (size_t i = 0; i < table->n_buckets; i++) {
        for (entry_t *entry = table->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (n - 1)];
            buckets[entry->hash & (n - 1)] = entry;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->n_buckets = n;
}

static entry_t *find_or_add(aclshmemi_store_table_t *table, const aclshmemi_store_item_t *key)
{
    uint64_t hash = hash_of(key);
    entry_t **at = find(table, key, hash);
    entry_t *entry = *at;
    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry + key->size);
    if (!entry)
        return NULL;
    entry->hash = hash;
    entry->key_size = key->size;
    memcpy(entry->key, key->data, key->size);
    *at = entry;
    table->bytes += key->size;
    if (++table->n_entries > 2 * table->n_buckets)
        grow(table);
    return entry;
}

/* Frees an entry that holds nothing and that nobody waits for. */
static void drop_if_idle(aclshmemi_store_table_t *table, entry_t *entry)
{
    if (entry->present || entry->waiters)
        return;
    aclshmemi_store_item_t key = {entry->key, entry->key_size};
    *find(table, &key, entry->hash) = entry->next;
    table->n_entries--;
    table->bytes -= entry->key_size;
    free(entry->value);
    free(entry);
}

/* --- Waiters --- */

static void detach(aclshmemi_store_waiter_t *waiter)
{
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    waiter->entry = NULL;
    aclshmemi_store_timer_clear(waiter->table->loop, &waiter->timer);
}

static void wake_all(entry_t *entry)
{
    aclshmemi_store_item_t value = {entry->value, entry->size};
    while (entry->waiters) {
        aclshmemi_store_waiter_t *waiter = entry->waiters;
        detach(waiter);
        waiter->done(waiter, 0, &value);
    }
}

void aclshmemi_store_table_cancel(aclshmemi_store_waiter_t *waiter)
{
    entry_t *entry = waiter->entry;
    if (!entry)
        return;
    detach(waiter);
    drop_if_idle(waiter->table, entry);
}

static void waiter_expired(void *owner)
{
    aclshmemi_store_waiter_t *waiter = owner;
    aclshmemi_store_table_cancel(waiter);
    waiter->done(waiter, ACLSHMEMI_STORE_EXPIRED, NULL);
}

static int check_key(const aclshmemi_store_item_t *key)
{
    return key->size >= 1 && key->size <= ACLSHMEMI_STORE_KEY_MAX ? 0 : ACLSHMEMI_STORE_BAD_KEY;
}

int aclshmemi_store_table_wait(aclshmemi_store_table_t *table, const aclshmemi_store_item_t *key,
                               aclshmemi_deadline_t deadline, aclshmemi_store_waiter_t *waiter)
{
    TRY(check_key(key));
    entry_t *entry = find_or_add(table, key);
    if (!entry)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    waiter->table = table;
    waiter->entry = entry;
    waiter->next = entry->waiters;
    waiter->link = &entry->waiters;
    if (waiter->next)
        waiter->next->link = &waiter->next;
    entry->waiters = waiter;
    waiter->timer = (aclshmemi_store_timer_t){.expire = waiter_expired, .owner = waiter};
    aclshmemi_store_timer_set(table->loop, &waiter->timer, deadline);
    return 0;
}

/* --- Operations --- */

/* Room for size bytes in all; the old ones stay. */
static int reserve(aclshmemi_store_table_t *table, entry_t *entry, size_t size)
{
    if (size > ACLSHMEMI_STORE_VALUE_MAX ||
        table->bytes - entry->size + size > ACLSHMEMI_STORE_TABLE_BYTES_MAX)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (size <= entry->capacity && entry->value)
        return 0;
    size_t capacity =
        size > entry->capacity * 2 ? size : entry->capacity * 2; /* appends cost their own length */
    uint8_t *grown = realloc(entry->value, capacity > 0 ? capacity : 1);
    if (!grown)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    entry->value = grown;
    entry->capacity = capacity;
    return 0;
}

static int store(aclshmemi_store_table_t *table, entry_t *entry, const void *data, size_t from, size_t size)
{
    int rc = reserve(table, entry, from + size);
    if (rc != 0) {
        drop_if_idle(table, entry);
        return rc;
    }
    if (size > 0)
        memcpy(entry->value + from, data, size);
    table->bytes += from + size - entry->size;
    entry->size = from + size;
    if (!entry->present) {
        entry->present = true;
        table->n_present++;
        wake_all(entry);
    }
    return 0;
}

static int op_set(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                  aclshmemi_store_item_t *value)
{
    entry_t *entry = find_or_add(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(store(table, entry, m->values[0].data, 0, m->values[0].size));
    *value = (aclshmemi_store_item_t){(const uint8_t *)"success", 7};
    return 0;
}

static int op_get(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                  aclshmemi_store_item_t *value)
{
    entry_t *entry = find_present(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_NO_KEY;
    *value = (aclshmemi_store_item_t){entry->value, entry->size};
    return 0;
}

static bool parse_number(const uint8_t *text, size_t size, int64_t *number)
{
    char copy[NUMBER_LEN], *end = NULL;
    if (size == 0 || size >= sizeof copy || !((text[0] >= '0' && text[0] <= '9') || text[0] == '-'))
        return false;
    memcpy(copy, text, size);
    copy[size] = 0;
    errno = 0;
    long long parsed = strtoll(copy, &end, 10);
    if (errno != 0 || end != copy + size)
        return false;
    *number = parsed;
    return true;
}

static aclshmemi_store_item_t number_item(aclshmemi_store_table_t *table, int64_t number)
{
    int length = snprintf(table->number, sizeof table->number, "%" PRId64, number);
    return (aclshmemi_store_item_t){(const uint8_t *)table->number, (size_t)length};
}

static int op_add(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                  aclshmemi_store_item_t *value)
{
    int64_t old = 0, step = 0, sum = 0;
    entry_t *present = find_present(table, &m->keys[0]);
    if (!parse_number(m->values[0].data, m->values[0].size, &step))
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (present && !parse_number(present->value, present->size, &old))
        return ACLSHMEMI_STORE_BAD_REQUEST;
    if (__builtin_add_overflow(old, step, &sum))
        return ACLSHMEMI_STORE_BAD_REQUEST;
    entry_t *entry = find_or_add(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    aclshmemi_store_item_t text = number_item(table, sum);
    TRY(store(table, entry, text.data, 0, text.size));
    *value = text;
    return 0;
}

static int op_remove(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                     aclshmemi_store_item_t *value)
{
    entry_t *entry = find_present(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_NO_KEY;
    entry->present = false;
    table->n_present--;
    table->bytes -= entry->size;
    entry->size = 0;
    drop_if_idle(table, entry);
    *value = (aclshmemi_store_item_t){(const uint8_t *)"success", 7};
    return 0;
}

static int op_append(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                     aclshmemi_store_item_t *value)
{
    entry_t *entry = find_or_add(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(store(table, entry, m->values[0].data, entry->size, m->values[0].size));
    *value = number_item(table, (int64_t)entry->size);
    return 0;
}

/* An empty expected value means: the key must be absent. The reply is the old value, empty when there was none. The
 * swap happened if the reply equals what was expected. */
static int op_cas(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *m,
                  aclshmemi_store_item_t *value)
{
    const aclshmemi_store_item_t *expected = &m->values[0];
    entry_t *present = find_present(table, &m->keys[0]);
    if (!present && expected->size > 0) {
        *value = (aclshmemi_store_item_t){NULL, 0};
        return 0;
    }
    if (present && (present->size != expected->size || expected->size == 0 ||
                    memcmp(present->value, expected->data, expected->size) != 0)) {
        *value = (aclshmemi_store_item_t){present->value, present->size};
        return 0;
    }
    entry_t *entry = find_or_add(table, &m->keys[0]);
    if (!entry)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(store(table, entry, m->values[1].data, 0, m->values[1].size));
    *value = *expected; /* equal to the old value, which is gone */
    return 0;
}

int aclshmemi_store_table_apply(aclshmemi_store_table_t *table, const aclshmemi_store_message_t *request,
                                aclshmemi_store_item_t *value)
{
    static const struct {
        int (*run)(aclshmemi_store_table_t *, const aclshmemi_store_message_t *, aclshmemi_store_item_t *);
        size_t values;
    } ops[ACLSHMEMI_STORE_OP_COUNT] = {
        [ACLSHMEMI_STORE_SET] = {op_set, 1},       [ACLSHMEMI_STORE_GET] = {op_get, 0},
        [ACLSHMEMI_STORE_ADD] = {op_add, 1},       [ACLSHMEMI_STORE_REMOVE] = {op_remove, 0},
        [ACLSHMEMI_STORE_APPEND] = {op_append, 1}, [ACLSHMEMI_STORE_CAS] = {op_cas, 2},
    };
    if (request->n_keys != 1 || request->n_values != ops[request->op].values)
        return ACLSHMEMI_STORE_BAD_REQUEST;
    TRY(check_key(&request->keys[0]));
    return ops[request->op].run(table, request, value);
}

/* --- Life --- */

int aclshmemi_store_table_create(aclshmemi_store_loop_t *loop, aclshmemi_store_table_t **out)
{
    aclshmemi_store_table_t *table = calloc(1, sizeof *table);
    entry_t **buckets = calloc(FIRST_BUCKETS, sizeof *buckets);
    if (!table || !buckets) {
        free(table);
        free(buckets);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the table of the store");
    }
    table->loop = loop;
    table->buckets = buckets;
    table->n_buckets = FIRST_BUCKETS;
    *out = table;
    return 0;
}

void aclshmemi_store_table_destroy(aclshmemi_store_table_t *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_buckets; i++) {
        for (entry_t *entry = table->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            free(entry->value);
            free(entry);
        }
    }
    free(table->buckets);
    free(table);
}

size_t aclshmemi_store_table_keys(const aclshmemi_store_table_t *table)
{
    return table->n_present;
}
