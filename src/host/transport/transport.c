/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the transports that were asked for, completes their tables, and records who reaches whom. */
#define LOG_MODULE "transport"
#include "host/transport/transport.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_device/amo_apply.h"
#include "host_device/sync.h"

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

static int no_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to, const aclshmemi_amo_request_t *request,
                  uint64_t *old)
{
    (void)old;
    return fail(ACLSHMEM_NOT_SUPPORTED, "transport %s has no atomic operations (number %d on PE %d)",
                t->ops.name, (int)request->op, to.pe);
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

static uint64_t no_describe(aclshmemi_transport_t *t)
{
    (void)t;
    return 0;
}

static void *no_notify(aclshmemi_transport_t *t, uint32_t core)
{
    (void)t;
    (void)core;
    return NULL;
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
    BLANK(start_put, ops->put);
    BLANK(start_get, ops->get);
    BLANK(amo, no_amo);
    BLANK(fence, no_wait);
    BLANK(quiet, no_wait);
    BLANK(progress, no_progress);
    BLANK(describe, no_describe);
    BLANK(notify, no_notify);
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
    return base[at.pe] == NULL ? NULL : (char *)(uintptr_t)base[at.pe] + at.offset;
}

int aclshmemi_transport_mapped_amo(aclshmemi_transport_t *t, aclshmemi_remote_t to,
                                   const aclshmemi_amo_request_t *request, uint64_t *old)
{
    char *address = aclshmemi_transport_mapped_address(t, to);
    if (address == NULL || (to.place == ACLSHMEMI_NPU_ON_DEVICE && !npu_host_can_touch()))
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "transport %s: an atomic operation from the host on memory of PE %d is not available on "
                    "this runtime",
                    t->ops.name, to.pe);
    uint64_t found = aclshmemi_amo_apply(address, request->op, request->type, request->value,
                                         request->condition, request->wanted);
    if (request->wanted)
        *old = found;
    if (request->op != ACLSHMEMI_AMO_FETCH)
        aclshmemi_transport_ring(t, to.pe);
    return 0;
}

void aclshmemi_transport_ring(const aclshmemi_transport_t *t, int pe)
{
    const char *heap = t->site->device_base[pe];
    if (heap == NULL || t->site->control_offset == NULL || *t->site->control_offset == 0 ||
        !npu_host_can_touch())
        return;
    aclshmemi_doorbell_t *bell = &((aclshmemi_control_t *)(uintptr_t)(heap + *t->site->control_offset))->bell;
    /* Who takes the mark away rings. */
    if (__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) == 0 ||
        __atomic_exchange_n(&bell->sleepers, 0, __ATOMIC_ACQ_REL) == 0)
        return;
    __atomic_fetch_add(&bell->rings, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void aclshmemi_transport_move(char *to, const char *from, uint64_t bytes)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (bytes == 8 && both % 8 == 0)
        __atomic_store_n((aclshmemi_amo_word_64_t *)(void *)to,
                         *(const aclshmemi_amo_word_64_t *)(const void *)from, __ATOMIC_RELEASE);
    else if (bytes == 4 && both % 4 == 0)
        __atomic_store_n((aclshmemi_amo_word_32_t *)(void *)to,
                         *(const aclshmemi_amo_word_32_t *)(const void *)from, __ATOMIC_RELEASE);
    else if (bytes == 2 && both % 2 == 0)
        __atomic_store_n((aclshmemi_amo_word_16_t *)(void *)to,
                         *(const aclshmemi_amo_word_16_t *)(const void *)from, __ATOMIC_RELEASE);
    else
        memmove(to, from, bytes);
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
    {ACLSHMEM_DATA_OP_SDMA, "sdma", &aclshmemi_transport_sdma},
    {ACLSHMEM_DATA_OP_ROCE, "rdma", &aclshmemi_transport_rdma},
    {ACLSHMEM_DATA_OP_UDMA, "udma", &aclshmemi_transport_udma},
};

int aclshmemi_transport_parse(const char *list, uint32_t *engines)
{
    static const struct word {
        const char *text;
        uint32_t bit;
    } words[] = {{"mte", ACLSHMEM_DATA_OP_MTE},
                 {"sdma", ACLSHMEM_DATA_OP_SDMA},
                 {"roce", ACLSHMEM_DATA_OP_ROCE},
                 {"udma", ACLSHMEM_DATA_OP_UDMA}};
    uint32_t found = 0;
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ","), which = 0;
        while (which < sizeof words / sizeof words[0] &&
               (strlen(words[which].text) != length || strncasecmp(at, words[which].text, length) != 0))
            which++;
        if (which == sizeof words / sizeof words[0])
            return fail(ACLSHMEM_INVALID_VALUE,
                        "\"%.*s\" in the list of engines \"%s\" is none; mte, sdma, roce and udma are, with "
                        "commas between them",
                        (int)length, at, list);
        found |= words[which].bit;
        at += length + (at[length] == ',');
    }
    if (found == 0)
        return fail(ACLSHMEM_INVALID_VALUE, "the list of engines is empty; mte, sdma, roce and udma exist");
    *engines = found;
    return 0;
}

uint8_t aclshmemi_transport_bits(uint32_t engines)
{
    unsigned bits = (engines & ACLSHMEM_DATA_OP_MTE) != 0 ? ACLSHMEM_TRANSPORT_MTE : 0u;
    for (size_t i = 0; i < sizeof engines_known / sizeof engines_known[0]; i++)
        if ((engines & engines_known[i].bit) != 0)
            bits |= engines_known[i].ops->bit;
    return (uint8_t)bits;
}

int aclshmemi_transport_open(aclshmemi_transport_set_t *set, const aclshmemi_transport_site_t *site,
                             uint32_t engines)
{
    *set = (aclshmemi_transport_set_t){.site = *site};
    set->allowed = aclshmemi_transport_bits(engines);
    set->reach = calloc((size_t)site->n_pes, sizeof *set->reach);
    set->reach_all = calloc((size_t)site->n_pes, sizeof *set->reach_all);
    set->by_pe = calloc((size_t)site->n_pes, sizeof(void *));
    int rc = ACLSHMEM_MALLOC_FAILED;
    if (set->reach == NULL || set->reach_all == NULL || set->by_pe == NULL) {
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
        if (open_one(set, engine->ops) != 0) {
            set->allowed |= ACLSHMEM_TRANSPORT_MTE;
            log_warn("engine %s was asked for and cannot be opened here (%s); mte serves instead",
                     engine->name, aclshmemi_status_last_text());
        }
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
    free(set->reach_all);
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

/* What the PE is reached by now, of what reaches it. */
static void choose(aclshmemi_transport_set_t *set, int pe)
{
    set->reach[pe] = set->reach_all[pe] & set->allowed;
    aclshmemi_transport_t *first = NULL;
    for (int i = set->count - 1; i >= 0; i--)
        if ((set->reach[pe] & set->item[i].ops.bit) != 0)
            first = &set->item[i];
    set->by_pe[pe] = first;
}

int aclshmemi_transport_import(aclshmemi_transport_set_t *set, int pe, const void *blob)
{
    set->reach_all[pe] = 0;
    choose(set, pe);
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
        if (reached)
            set->reach_all[pe] |= t->ops.bit;
    }
    choose(set, pe);
    return 0;
}

int aclshmemi_transport_allow(aclshmemi_transport_set_t *set, uint32_t engines)
{
    uint8_t allowed = aclshmemi_transport_bits(engines);
    for (int pe = 0; pe < set->site.n_pes; pe++)
        if (set->reach[pe] != 0 && (set->reach_all[pe] & allowed) == 0)
            return fail(ACLSHMEM_NOT_SUPPORTED,
                        "engines 0x%x reach no memory of PE %d; what reaches it is 0x%x in the numbering of "
                        "ACLSHMEM_TRANSPORT_*, and only what init opened can be chosen",
                        engines, pe, set->reach_all[pe]);
    set->allowed = allowed;
    for (int pe = 0; pe < set->site.n_pes; pe++)
        choose(set, pe);
    return 0;
}

aclshmemi_transport_t *aclshmemi_transport_find(const aclshmemi_transport_set_t *set, uint8_t bit)
{
    for (int i = 0; i < set->count; i++)
        if (set->item[i].ops.bit == bit)
            return (aclshmemi_transport_t *)(uintptr_t)&set->item[i];
    return NULL;
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
