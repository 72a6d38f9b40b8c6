/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a segment, in the order of hybm.h, and its end from wherever it got to. */
#define LOG_MODULE "hybm"

#include "host/hybm/hybm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/hybm/limits.h"

#define SLOT_UNIT (UINT64_C(1) << 30)

enum { HUGE_AUTO, HUGE_OFF, HUGE_RESERVED }; /* the words of the setting HUGE_PAGES */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static const char *place_name(aclshmemi_npu_place_t place)
{
    return place == ACLSHMEMI_NPU_ON_DEVICE ? "device" : "host";
}

/* --- Making and naming --- */

/* On a card the runtime knows its own limits; the CPU runtime's memory is a file of this process. */
static int check_limits(uint64_t bytes, int64_t huge_pages)
{
    if (!npu_host_can_touch())
        return 0;
    TRY(aclshmemi_limits_file_size(bytes));
    return huge_pages == HUGE_RESERVED ? aclshmemi_limits_huge_pages(bytes) : 0;
}

int aclshmemi_segment_create(aclshmemi_segment_t *segment, aclshmemi_npu_place_t place, size_t bytes,
                             const aclshmemi_env_t *env)
{
    if (bytes == 0 || bytes > SIZE_MAX - SLOT_UNIT)
        return fail(ACLSHMEM_INVALID_PARAM, "a segment of %zu bytes cannot be made", bytes);
    aclshmemi_segment_t made = {.place = place,
                                .bytes = round_up(bytes, ACLSHMEMI_NPU_GRANULARITY),
                                .slot_bytes = round_up(bytes, SLOT_UNIT),
                                .only_reserved = env->huge_pages == HUGE_RESERVED,
                                .backing = "nothing yet"};
    TRY(check_limits(made.bytes, env->huge_pages));
    int rc = npu_mem_create(made.bytes, place, env->huge_pages != HUGE_OFF, &made.own);
    if (rc != 0) {
        if (npu_host_can_touch())
            TRY(aclshmemi_limits_descriptors("making the memory of a segment"));
        return rc;
    }
    *segment = made;
    return 0;
}

int aclshmemi_segment_export(const aclshmemi_segment_t *segment, aclshmemi_segment_blob_t *blob)
{
    if (!segment->own)
        return fail(ACLSHMEM_INNER_ERROR, "a segment is exported before it is created");
    aclshmemi_segment_blob_t made = {.bytes = segment->bytes};
    TRY(npu_export(segment->own, &made.handle));
    *blob = made;
    return 0;
}

/* --- Address space --- */

int aclshmemi_segment_reserve(aclshmemi_segment_t *segment, int slots, int own_slot)
{
    if (!segment->own || segment->base)
        return fail(ACLSHMEM_INNER_ERROR, "address space is reserved once, after the segment is created");
    if (slots < 1 || own_slot < 0 || own_slot >= slots)
        return fail(ACLSHMEM_INVALID_PARAM, "slot %d of %d does not exist", own_slot, slots);
    size_t span;
    if (__builtin_mul_overflow(segment->slot_bytes, (size_t)slots, &span))
        return fail(ACLSHMEM_INVALID_PARAM, "%d PEs of %zu bytes each do not fit any address space", slots,
                    segment->slot_bytes);
    TRY(aclshmemi_limits_address_space(span));

    aclshmemi_npu_mem_t *peers = calloc((size_t)slots, sizeof *peers);
    bool *mapped = calloc((size_t)slots, sizeof *mapped);
    void *base = NULL;
    int rc = peers && mapped ? npu_reserve(span, &base)
                             : fail(ACLSHMEM_MALLOC_FAILED, "no memory for the table of %d PEs", slots);
    if (rc != 0) {
        free(peers);
        free(mapped);
        return rc;
    }
    segment->slots = slots;
    segment->own_slot = own_slot;
    segment->peers = peers;
    segment->mapped = mapped;
    segment->base = base;
    log_debug("%d slots of %zu MiB reserved at %p for %s memory", slots, segment->slot_bytes >> 20, base,
              place_name(segment->place));
    return 0;
}

static char *slot_address(const aclshmemi_segment_t *segment, int slot)
{
    return segment->base + (size_t)slot * segment->slot_bytes;
}

static bool has_slot(const aclshmemi_segment_t *segment, int slot)
{
    return segment->base && slot >= 0 && slot < segment->slots;
}

/* --- Mapping --- */

/* What was got, not what was asked for: the calls that ask for huge pages succeed even where there are none. */
static int find_backing(aclshmemi_segment_t *segment)
{
    aclshmemi_pages_t pages;
    if (!npu_host_can_touch()) {
        segment->backing = "memory of the card";
        return 0;
    }
    if (!aclshmemi_limits_pages_of(slot_address(segment, segment->own_slot), &pages)) {
        segment->backing = "pages of unknown size";
        return 0;
    }
    bool reserved = pages.kernel_bytes >= ACLSHMEMI_NPU_GRANULARITY;
    if (segment->only_reserved && !reserved)
        return fail(ACLSHMEM_MALLOC_FAILED,
                    "SHMEM_HUGE_PAGES is hugetlb, but the memory came in pages of %" PRIu64
                    " KiB: %zu huge pages of 2 MiB are needed here, see /proc/sys/vm/nr_hugepages",
                    pages.kernel_bytes >> 10, (size_t)(segment->bytes / ACLSHMEMI_NPU_GRANULARITY));
    segment->backing = reserved                               ? "reserved huge pages"
                       : pages.grows_huge                     ? "huge pages"
                       : pages.kernel_bytes == UINT64_C(4096) ? "4 KiB pages"
                                                              : "ordinary pages";
    return 0;
}

int aclshmemi_segment_map_own(aclshmemi_segment_t *segment)
{
    if (!segment->base || segment->mapped[segment->own_slot])
        return fail(ACLSHMEM_INNER_ERROR, "own memory is mapped once, after address space is reserved");
    TRY(npu_map(slot_address(segment, segment->own_slot), segment->bytes, segment->own));
    segment->mapped[segment->own_slot] = true;
    TRY(find_backing(segment));
    log_info("%zu MiB of %s memory in %s", segment->bytes >> 20, place_name(segment->place),
             segment->backing);
    return 0;
}

int aclshmemi_segment_map_peer(aclshmemi_segment_t *segment, int slot, const aclshmemi_segment_blob_t *blob)
{
    if (!has_slot(segment, slot) || slot == segment->own_slot || segment->mapped[slot])
        return fail(ACLSHMEM_INNER_ERROR, "slot %d of %d is not free for a peer", slot, segment->slots);
    if (blob->bytes != segment->bytes)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "the peer in slot %d has a heap of %" PRIu64
                    " bytes, this PE one of %zu; they must be equal",
                    slot, blob->bytes, segment->bytes);
    aclshmemi_npu_mem_t mem = NULL;
    int rc = npu_import(&blob->handle, &mem);
    if (rc != 0 && npu_host_can_touch())
        TRY(aclshmemi_limits_descriptors("mapping a peer's memory"));
    TRY(rc);
    rc = npu_map(slot_address(segment, slot), segment->bytes, mem);
    if (rc != 0) {
        npu_mem_destroy(mem);
        return rc;
    }
    segment->peers[slot] = mem;
    segment->mapped[slot] = true;
    return 0;
}

/* --- The end --- */

void aclshmemi_segment_fini(aclshmemi_segment_t *segment)
{
    for (int slot = 0; slot < segment->slots; slot++)
        if (segment->mapped[slot])
            npu_unmap(slot_address(segment, slot));
    for (int slot = 0; slot < segment->slots; slot++)
        npu_mem_destroy(segment->peers[slot]);
    npu_mem_destroy(segment->own);
    if (segment->base)
        npu_release(segment->base);
    free(segment->peers);
    free(segment->mapped);
    memset(segment, 0, sizeof *segment);
}

void *aclshmemi_segment_address(const aclshmemi_segment_t *segment, int slot)
{
    return has_slot(segment, slot) && segment->mapped[slot] ? slot_address(segment, slot) : NULL;
}
