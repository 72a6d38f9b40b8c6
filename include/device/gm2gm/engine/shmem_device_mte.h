/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MTE engine by name: the calling core's own copies, with a scratch that the caller gives. buf is a place in the unified
 * buffer, aligned to 32 bytes, of ub_size bytes: at least 32 and one element. sync_id is the flag number, 0 to 7, used
 * between MTE2 and MTE3. All of it starts copies; aclshmemx_mte_quiet or aclshmem_quiet waits for them, and until then buf
 * belongs to them. Further calls may use the same buf at once. The PE must be within reach of loads and stores.
 *
 * Elements are element_bytes long. In C the names without mem take typed pointers and measure the element themselves, by
 * the number and the kind of their arguments:
 *
 *   aclshmemx_mte_put_nbi(dst, src, buf, ub_size, nelems, pe, sync_id)       memory to memory
 *   aclshmemx_mte_put_nbi(dst, src, buf, ub_size, &rows, pe, sync_id)        the same by rows (const non_contiguous_copy_param *)
 *   aclshmemx_mte_put_nbi(dst, src, buf, ub_size, nelems, pe, sync_id, l2)   the same with a hint
 *   aclshmemx_mte_put_nbi(dst, src, nelems, pe, sync_id)                     from the unified buffer (ub2gm)
 *   aclshmemx_mte_put_nbi(dst, src, &rows, pe, sync_id)
 *
 * and aclshmemx_mte_get_nbi alike. Atomics by name stand in device/gm2gm/shmem_device_amo.h.
 */
#ifndef ACLSHMEM_DEVICE_MTE_H
#define ACLSHMEM_DEVICE_MTE_H

#include "device/shmem_def.h"
#include "device/ub2gm/engine/shmem_device_mte.h"

ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi(__gm__ void *dst, __gm__ void *src,
                                              ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                              size_t element_bytes, size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi(__gm__ void *dst, __gm__ void *src,
                                              ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                              size_t element_bytes, size_t nelems, int pe, uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_rows(__gm__ void *dst, __gm__ void *src,
                                                   ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                   size_t element_bytes,
                                                   const non_contiguous_copy_param *rows, int pe,
                                                   uint32_t sync_id);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_rows(__gm__ void *dst, __gm__ void *src,
                                                   ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                   size_t element_bytes,
                                                   const non_contiguous_copy_param *rows, int pe,
                                                   uint32_t sync_id);

/** enable_l2: whether the data is likely to be used again soon. A hint for cards; _cfg uses the configured scratch. */
ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_hint(__gm__ void *dst, __gm__ void *src,
                                                   ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                   size_t element_bytes, size_t nelems, int pe,
                                                   uint32_t sync_id, bool enable_l2);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_hint(__gm__ void *dst, __gm__ void *src,
                                                   ACLSHMEM_UB_POINTER(void) buf, uint32_t ub_size,
                                                   size_t element_bytes, size_t nelems, int pe,
                                                   uint32_t sync_id, bool enable_l2);
ACLSHMEM_DEVICE void aclshmemx_mte_putmem_nbi_hint_cfg(__gm__ void *dst, __gm__ void *src,
                                                       size_t element_bytes, size_t nelems, int32_t pe,
                                                       bool enable_l2);
ACLSHMEM_DEVICE void aclshmemx_mte_getmem_nbi_hint_cfg(__gm__ void *dst, __gm__ void *src,
                                                       size_t element_bytes, size_t nelems, int32_t pe,
                                                       bool enable_l2);

/** All copies and stores of this core are complete, whoever issued them; what it loads from now on is fresh. */
ACLSHMEM_DEVICE void aclshmemx_mte_quiet(void);

#ifndef __cplusplus

/* The form for a count, or the one for rows. */
#define ACLSHMEMI_BY_ROWS(n, plain, rows)                                                                    \
    _Generic((n), non_contiguous_copy_param * : rows, const non_contiguous_copy_param * : rows, default : plain)
#define ACLSHMEMI_MTE_PICK(a, b, c, d, e, f, g, h, form, ...) form
#define ACLSHMEMI_MTE_5(verb, dst, src, n, pe, id)                                                           \
    ACLSHMEMI_BY_ROWS(n, aclshmemx_mte_##verb##mem_nbi_ub, aclshmemx_mte_##verb##mem_nbi_ub_rows)            \
    (dst, src, sizeof *(dst), n, pe, id)
#define ACLSHMEMI_MTE_7(verb, dst, src, buf, ub_size, n, pe, id)                                             \
    ACLSHMEMI_BY_ROWS(n, aclshmemx_mte_##verb##mem_nbi, aclshmemx_mte_##verb##mem_nbi_rows)                  \
    (dst, src, buf, ub_size, sizeof *(dst), n, pe, id)
#define ACLSHMEMI_MTE_8(verb, dst, src, buf, ub_size, n, pe, id, l2)                                         \
    aclshmemx_mte_##verb##mem_nbi_hint(dst, src, buf, ub_size, sizeof *(dst), n, pe, id, l2)
#define ACLSHMEMI_MTE_CALL(verb, ...)                                                                        \
    ACLSHMEMI_MTE_PICK(__VA_ARGS__, ACLSHMEMI_MTE_8, ACLSHMEMI_MTE_7,                                        \
                       ACLSHMEMI_MTE_TAKES_5_7_OR_8_ARGUMENTS, ACLSHMEMI_MTE_5,                              \
                       ACLSHMEMI_MTE_TAKES_5_7_OR_8_ARGUMENTS, ACLSHMEMI_MTE_TAKES_5_7_OR_8_ARGUMENTS,       \
                       ACLSHMEMI_MTE_TAKES_5_7_OR_8_ARGUMENTS, ACLSHMEMI_MTE_TAKES_5_7_OR_8_ARGUMENTS, )     \
    (verb, __VA_ARGS__)
#define aclshmemx_mte_put_nbi(...) ACLSHMEMI_MTE_CALL(put, __VA_ARGS__)
#define aclshmemx_mte_get_nbi(...) ACLSHMEMI_MTE_CALL(get, __VA_ARGS__)

#endif

#include "device/gm2gm/engine/mte_api.inl"

#endif
