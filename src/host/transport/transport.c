/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the transports that were asked for, completes their tables, and records who reaches whom. */
#define LOG_MODULE "transport"
#include "host/transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* A blob in the exchange: its length, then room for the largest. */
typedef struct blob_slot {
    uint64_t bytes;
    uint8_t data[ACLSHMEMI_TRANSPORT_BLOB_MAX];
} blob_slot_t;

static int no_open(aclshmemi_transport_t *t)
{
    (void)t;
    return 0;
}

static void no_close(aclshmemi_transport_t *t)
{
    (void)t;
}

static int no_export(aclshmemi_transport_t *t, void *blob, size_t *bytes)
{
    (void)t;
    (void)blob;
    *bytes = 0;
    return 0;
}

static int no_import(aclshmemi_transport_t *t, int pe, const void *blob, size_t bytes, bool *reached)
{
    (void)t;
    (void)pe;
    (void)blob;
    (void)bytes;
    *reached = false;
    return 0;
}

static int no_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from, size_t bytes)
{
    (void)from;
    return fail(ACLSHMEM_NOT_SUPPORTED, "transport %s has no put (%zu bytes to PE %d)", t->ops.name, bytes,
                to.pe);
}

static int no_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes)
{
    (void)to;
    return fail(ACLSHMEM_NOT_SUPPORTED, "transport %s has no get (%zu bytes from PE %d)", t->ops.name, bytes,
                from.pe);
}

static int no_amo32(aclshmemi_transport_t *t, aclshmemi_remote_t to, aclshmemi_amo_t op, int32_t value)
{
    (void)value;
    return fail(ACLSHMEM_NOT_SUPPORTED, "transport %s has no atomic %s (on PE %d)", t->ops.name,
                op == ACLSHMEMI_AMO_ADD ? "add" : "set", to.pe);
}

static int no_wait(aclshmemi_transport_t *t)
{
    (void)t;
    return 0;
}

static void no_progress(aclshmemi_transport_t *t)
{
    (void)t;
}

static void fill_blanks(aclshmemi_transport_ops_t *ops)
{
#define BLANK(member, function)                                                                              \
    if (ops->member == NULL)                                                                                 \
    ops->member = function
    BLANK(open, no_open);
    BLANK(close, no_close);
    BLANK(export_blob, no_export);
    BLANK(import_blob, no_import);
    BLANK(put, no_put);
    BLANK(get, no_get);
    BLANK(amo32, no_amo32);
    BLANK(fence, no_wait);
    BLANK(quiet, no_wait);
    BLANK(progress, no_progress);
#undef BLANK
}

static int open_one(aclshmemi_transport_set_t *set, const aclshmemi_transport_ops_t *ops)
{
    aclshmemi_transport_t *t = &set->item[set->count];
    *t = (aclshmemi_transport_t){.ops = *ops, .site = &set->site};
    fill_blanks(&t->ops);
    TRY(t->ops.open(t));
    t->opened = true;
    set->count++;
    return 0;
}

char *aclshmemi_transport_mapped_address(const aclshmemi_transport_t *t, aclshmemi_remote_t at)
{
    const char *const *base = at.place == ACLSHMEMI_NPU_ON_DEVICE ? t->site->device_base : t->site->host_base;
    return (char *)(uintptr_t)base[at.pe] + at.offset;
}

int aclshmemi_transport_mapped_put(aclshmemi_transport_t *t, aclshmemi_remote_t to, const void *from,
                                   size_t bytes)
{
    return npu_copy(aclshmemi_transport_mapped_address(t, to), from, bytes, ACLSHMEMI_NPU_DEVICE_TO_DEVICE);
}

int aclshmemi_transport_mapped_get(aclshmemi_transport_t *t, void *to, aclshmemi_remote_t from, size_t bytes)
{
    return npu_copy(to, aclshmemi_transport_mapped_address(t, from), bytes, ACLSHMEMI_NPU_DEVICE_TO_DEVICE);
}

/* Engines of the interface by their bit, with the transport that answers for them here; NULL: none in this build. */
static const struct engine {
    uint32_t bit;
    const char *name;
    const aclshmemi_transport_ops_t *ops;
} engines_known[] = {
    {ACLSHMEM_DATA_OP_SDMA, "sdma", NULL},
    {ACLSHMEM_DATA_OP_UDMA, "udma", NULL},
    {ACLSHMEM_DATA_OP_ROCE, "rdma", NULL},
};

int aclshmemi_transport_open(aclshmemi_transport_set_t *set, const aclshmemi_transport_site_t *site,
                             uint32_t engines)
{
    *set = (aclshmemi_transport_set_t){.site = *site};
    set->reach = calloc((size_t)site->n_pes, sizeof *set->reach);
    set->by_pe = calloc((size_t)site->n_pes, sizeof(void *));
    int rc = ACLSHMEM_MALLOC_FAILED;
    if (set->reach == NULL || set->by_pe == NULL) {
        rc = fail(rc, "out of memory for the reach table of %d PEs", site->n_pes);
        goto close;
    }
    rc = open_one(set, site->n_pes == 1 ? &aclshmemi_transport_self : &aclshmemi_transport_mte);
    if (rc != 0)
        goto close;
    for (size_t i = 0; i < sizeof engines_known / sizeof engines_known[0]; i++) {
        const struct engine *engine = &engines_known[i];
        if ((engines & engine->bit) == 0)
            continue;
        if (engine->ops == NULL)
            log_warn("engine %s was asked for and is not in this build; mte serves instead", engine->name);
        else if (open_one(set, engine->ops) != 0)
            log_warn("engine %s was asked for and cannot be opened here (%s); mte serves instead",
                     engine->name, aclshmemi_status_last_text());
    }
    set->direct = true;
    for (int i = 0; i < set->count; i++)
        set->direct = set->direct && set->item[i].ops.quiet == no_wait && set->item[i].ops.fence == no_wait;
    return 0;
close:
    aclshmemi_transport_close(set);
    return rc;
}

void aclshmemi_transport_close(aclshmemi_transport_set_t *set)
{
    for (int i = set->count - 1; i >= 0; i--)
        if (set->item[i].opened)
            set->item[i].ops.close(&set->item[i]);
    free(set->reach);
    free(set->by_pe);
    *set = (aclshmemi_transport_set_t){0};
}

size_t aclshmemi_transport_blob_bytes(const aclshmemi_transport_set_t *set)
{
    return (size_t)set->count * sizeof(blob_slot_t);
}

int aclshmemi_transport_export(aclshmemi_transport_set_t *set, void *blob)
{
    for (int i = 0; i < set->count; i++) {
        blob_slot_t slot = {0};
        size_t bytes = 0;
        TRY(set->item[i].ops.export_blob(&set->item[i], slot.data, &bytes));
        slot.bytes = bytes;
        memcpy((char *)blob + (size_t)i * sizeof slot, &slot, sizeof slot);
    }
    return 0;
}

int aclshmemi_transport_import(aclshmemi_transport_set_t *set, int pe, const void *blob)
{
    set->reach[pe] = 0;
    set->by_pe[pe] = NULL;
    for (int i = 0; i < set->count; i++) {
        aclshmemi_transport_t *t = &set->item[i];
        blob_slot_t slot;
        memcpy(&slot, (const char *)blob + (size_t)i * sizeof slot, sizeof slot);
        if (slot.bytes > sizeof slot.data)
            return fail(ACLSHMEM_SMEM_ERROR,
                        "PE %d sent %llu bytes for transport %s, at most %zu are allowed", pe,
                        (unsigned long long)slot.bytes, t->ops.name, sizeof slot.data);
        bool reached = false;
        TRY(t->ops.import_blob(t, pe, slot.data, slot.bytes, &reached));
        if (!reached)
            continue;
        set->reach[pe] |= t->ops.bit;
        if (set->by_pe[pe] == NULL)
            set->by_pe[pe] = t;
    }
    return 0;
}

int aclshmemi_transport_fence(aclshmemi_transport_set_t *set)
{
    for (int i = 0; i < set->count; i++)
        TRY(set->item[i].ops.fence(&set->item[i]));
    return 0;
}

int aclshmemi_transport_quiet(aclshmemi_transport_set_t *set)
{
    for (int i = 0; i < set->count; i++)
        TRY(set->item[i].ops.quiet(&set->item[i]));
    return 0;
}
