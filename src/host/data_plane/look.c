/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of all waits and tests. An element is looked at through the set, so the loops know no types. */
#define LOG_MODULE "sync"
#include "host/data_plane/look.h"

#include <stdio.h>

#include "host/sync/sync.h"

const char *aclshmemi_look_cmp(const aclshmemi_look_t *look)
{
    static const char *const names[] = {"==", "!=", ">", ">=", "<", "<="};
    return names[look->cmp];
}

static bool taken(const aclshmemi_look_t *look, size_t i)
{
    return look->status == NULL || look->status[i] == 0;
}

static size_t first_taken(const aclshmemi_look_t *look, size_t from)
{
    for (size_t i = from; i < look->count; i++)
        if (taken(look, i))
            return i;
    return SIZE_MAX;
}

int aclshmemi_look_check(aclshmemi_look_t *look, bool results_missing)
{
    look->in = aclshmemi_current();
    if (look->in->n_pes == 0)
        return aclshmemi_instance_missing(look->call);
    if (look->cmp < ACLSHMEM_CMP_EQ || look->cmp > ACLSHMEM_CMP_LE)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: comparison %d is unknown, 0 (==) to 5 (<=) are allowed",
                    look->call, look->cmp);
    if (results_missing)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: the place for the result is NULL", look->call);
    if (look->count == 0)
        return 0;
    if (look->vars == NULL || (uintptr_t)look->vars % look->width != 0)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: the elements at %p are NULL or not aligned to %zu bytes",
                    look->call, look->vars, look->width);
    if (look->values == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "%s: the values to compare with are NULL", look->call);
    return 0;
}

/* "int32_wait_until on PE 1: element 0 of 3 at heap offset 64 is 4, wanted >= 5" */
static void describe_look(const aclshmemi_wait_t *wait, char *out, size_t size)
{
    const aclshmemi_look_t *look = wait->subject;
    const aclshmemi_space_t *space = &look->in->space[ACLSHMEMI_SPACE_DEVICE];
    uint64_t offset = (uintptr_t)look->vars - (uintptr_t)space->base;
    char place[48], values[96];
    if (offset < space->bytes)
        snprintf(place, sizeof place, "heap offset %llu", (unsigned long long)offset);
    else
        snprintf(place, sizeof place, "%p", look->vars);
    size_t first = first_taken(look, 0);
    look->print(look, first == SIZE_MAX ? 0 : first, values, sizeof values);
    snprintf(out, size, "%s on PE %d: element %zu of %zu at %s %s", look->call, look->in->pe,
             first == SIZE_MAX ? 0 : first, look->count, place, values);
}

static void begin(aclshmemi_wait_t *wait, const aclshmemi_look_t *look, uint64_t timeout_ms)
{
    aclshmemi_instance_t *in = look->in;
    aclshmemi_wait_begin(wait, in, in->touch ? &aclshmemi_control_of(in, in->pe)->bell : NULL,
                         ACLSHMEMI_CALL_WAIT, timeout_ms);
    wait->describe = describe_look;
    wait->subject = look;
}

static void end(aclshmemi_wait_t *wait)
{
    if (wait->started_ns != 0)
        aclshmemi_activity_set(wait->instance, ACLSHMEMI_CALL_NONE);
}

int aclshmemi_look_wait_all(const aclshmemi_look_t *look, uint64_t timeout_ms)
{
    aclshmemi_wait_t wait;
    int rc = 0;
    if (aclshmemi_look_test_all(look))
        return 0;
    begin(&wait, look, timeout_ms);
    for (size_t i = first_taken(look, 0); i < look->count && rc == 0; i = first_taken(look, i + 1))
        while (!look->holds(look, i) && (rc = aclshmemi_wait_pause(&wait)) == 0)
            ;
    end(&wait);
    return rc;
}

int aclshmemi_look_wait_any(const aclshmemi_look_t *look, uint64_t timeout_ms, size_t *found)
{
    aclshmemi_wait_t wait;
    int rc = 0;
    *found = SIZE_MAX;
    if (first_taken(look, 0) == SIZE_MAX)
        return 0;
    begin(&wait, look, timeout_ms);
    while ((*found = aclshmemi_look_test_any(look)) == SIZE_MAX && (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    end(&wait);
    return rc;
}

int aclshmemi_look_wait_some(const aclshmemi_look_t *look, uint64_t timeout_ms, size_t *indices,
                             size_t *found)
{
    aclshmemi_wait_t wait;
    int rc = 0;
    *found = 0;
    if (first_taken(look, 0) == SIZE_MAX)
        return 0;
    begin(&wait, look, timeout_ms);
    while ((*found = aclshmemi_look_test_some(look, indices)) == 0 && (rc = aclshmemi_wait_pause(&wait)) == 0)
        ;
    end(&wait);
    return rc;
}

bool aclshmemi_look_test_all(const aclshmemi_look_t *look)
{
    for (size_t i = 0; i < look->count; i++)
        if (taken(look, i) && !look->holds(look, i))
            return false;
    return true;
}

size_t aclshmemi_look_test_any(const aclshmemi_look_t *look)
{
    for (size_t i = 0; i < look->count; i++)
        if (taken(look, i) && look->holds(look, i))
            return i;
    return SIZE_MAX;
}

size_t aclshmemi_look_test_some(const aclshmemi_look_t *look, size_t *indices)
{
    size_t found = 0;
    for (size_t i = 0; i < look->count; i++)
        if (taken(look, i) && look->holds(look, i))
            indices[found++] = i;
    return found;
}
