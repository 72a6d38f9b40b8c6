/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hybrid memory: a span of address space, the memory behind our part of it, and the peers mapped beside it.
 *
 *   create   makes our physical memory; nothing has an address yet
 *   export   names it for others (a blob that init carries)
 *   reserve  takes one span with a slot per PE of this host, in the same order on every PE
 *   map_own  puts our memory into our slot; map_peer imports a blob and puts it into the peer's slot
 *   fini     undoes whatever was done, in any state
 *
 * An address of peer k is base + k * slot_bytes + offset: one add, with a table per PE above.
 */
#ifndef ACLSHMEMI_HYBM_H
#define ACLSHMEMI_HYBM_H

#include "host/npu/npu.h"

typedef struct aclshmemi_segment {
    aclshmemi_npu_place_t place; /* device or host memory */
    size_t bytes;                /* backed bytes of one PE, a multiple of 2 MiB */
    size_t slot_bytes;           /* address space of one PE, a multiple of 1 GiB */
    int slots;                   /* PEs of this host */
    int own_slot;
    char *base;                 /* start of the span, NULL before reserve */
    aclshmemi_npu_mem_t own;    /* our memory */
    aclshmemi_npu_mem_t *peers; /* imported, by slot; NULL where not mapped */
    bool *mapped;               /* by slot, ours included */
    bool only_reserved;         /* the setting asks for reserved huge pages or none at all */
    const char *backing;        /* "reserved huge pages", "huge pages", "4 KiB pages": what was got */
} aclshmemi_segment_t;

/* What travels to the peers. */
typedef struct aclshmemi_segment_blob {
    aclshmemi_npu_handle_t handle;
    uint64_t bytes;
} aclshmemi_segment_blob_t;

int aclshmemi_segment_create(aclshmemi_segment_t *segment, aclshmemi_npu_place_t place, size_t bytes,
                             const aclshmemi_env_t *env) ACLSHMEMI_MUST_CHECK;
int aclshmemi_segment_export(const aclshmemi_segment_t *segment,
                             aclshmemi_segment_blob_t *blob) ACLSHMEMI_MUST_CHECK;
int aclshmemi_segment_reserve(aclshmemi_segment_t *segment, int slots, int own_slot) ACLSHMEMI_MUST_CHECK;
int aclshmemi_segment_map_own(aclshmemi_segment_t *segment) ACLSHMEMI_MUST_CHECK;
/* Quiet NOT_SUPPORTED when that process cannot be reached: then another transport must serve the PE. */
int aclshmemi_segment_map_peer(aclshmemi_segment_t *segment, int slot,
                               const aclshmemi_segment_blob_t *blob) ACLSHMEMI_MUST_CHECK;
void aclshmemi_segment_fini(aclshmemi_segment_t *segment); /* accepts a zeroed one; leaves it zeroed */

/* Start of a slot; NULL when nothing is mapped there. */
void *aclshmemi_segment_address(const aclshmemi_segment_t *segment, int slot);

#endif
