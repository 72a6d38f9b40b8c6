/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short names as symbols, for plug-ins and languages that look names up at run time: the header has them as macros.
 * They are weak, so that a library with functions of the same names, an OpenSHMEM say, can be linked in front of this one
 * and statically beside it.
 *
 * Functions that call on, since an alias would have to stand in the file that defines its target. Each is declared with the
 * type of its target, so the compiler compares the two.
 */
#define ACLSHMEM_NO_SHMEM_ALIASES
#include "shmem.h"

#define SHORT(name, target) ACLSHMEM_HOST_API __typeof__(target) name __attribute__((weak))
/* A function that returns nothing, and one that returns TYPE. */
#define CALLS(name, target, parameters, arguments)                                                           \
    SHORT(name, target);                                                                                     \
    void name parameters                                                                                     \
    {                                                                                                        \
        target arguments;                                                                                    \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon
#define GIVES(TYPE, name, target, parameters, arguments)                                                     \
    SHORT(name, target);                                                                                     \
    TYPE name parameters                                                                                     \
    {                                                                                                        \
        return target arguments;                                                                             \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

/* Life cycle */
GIVES(int, shmem_init_status, aclshmemx_init_status, (void), ());
GIVES(int, shmem_get_uniqueid, aclshmemx_get_uniqueid, (aclshmemx_uniqueid_t * uid), (uid));
GIVES(int, shmem_set_attr_uniqueid_args, aclshmemx_set_attr_uniqueid_args,
      (int my_pe, int n_pes, int64_t local_mem_size, aclshmemx_uniqueid_t *uid,
       aclshmemx_init_attr_t *aclshmem_attr),
      (my_pe, n_pes, local_mem_size, uid, aclshmem_attr));
GIVES(int, shmem_init_attr, aclshmemx_init_attr,
      (aclshmemx_bootstrap_t bootstrap_flags, aclshmemx_init_attr_t *attributes),
      (bootstrap_flags, attributes));
GIVES(int32_t, shmem_set_config_store_tls_key, aclshmemx_set_config_store_tls_key,
      (const char *tls_pk, const uint32_t tls_pk_len, const char *tls_pk_pw, const uint32_t tls_pk_pw_len,
       const aclshmem_decrypt_handler decrypt_handler),
      (tls_pk, tls_pk_len, tls_pk_pw, tls_pk_pw_len, decrypt_handler));
GIVES(int32_t, shmem_set_conf_store_tls, aclshmemx_set_conf_store_tls,
      (bool enable, const char *tls_info, const uint32_t tls_info_len), (enable, tls_info, tls_info_len));
GIVES(int32_t, shmem_set_extern_logger, aclshmemx_set_extern_logger,
      (void (*func)(int level, const char *msg)), (func));
GIVES(int32_t, shmem_set_log_level, aclshmemx_set_log_level, (int level), (level));
GIVES(int, shmem_finalize, aclshmem_finalize, (void), ());
CALLS(shmem_info_get_version, aclshmem_info_get_version, (int *major, int *minor), (major, minor));
CALLS(shmem_info_get_name, aclshmem_info_get_name, (char *name), (name));
CALLS(shmem_global_exit, aclshmem_global_exit, (int status), (status));
GIVES(int, shmemx_finalize, aclshmemx_finalize, (uint64_t instance_id), (instance_id));
/* Memory, identity */
GIVES(void *, shmem_malloc, aclshmem_malloc, (size_t size), (size));
GIVES(void *, shmem_calloc, aclshmem_calloc, (size_t nmemb, size_t size), (nmemb, size));
GIVES(void *, shmem_align, aclshmem_align, (size_t alignment, size_t size), (alignment, size));
CALLS(shmem_free, aclshmem_free, (void *ptr), (ptr));
GIVES(void *, shmem_ptr, aclshmem_ptr, (void *ptr, int pe), (ptr, pe));
GIVES(int, shmem_my_pe, aclshmem_my_pe, (void), ());
GIVES(int, shmem_team_split_strided, aclshmem_team_split_strided,
      (aclshmem_team_t parent_team, int pe_start, int pe_stride, int pe_size, aclshmem_team_t *new_team),
      (parent_team, pe_start, pe_stride, pe_size, new_team));
GIVES(int, shmem_team_split_2d, aclshmem_team_split_2d,
      (aclshmem_team_t parent_team, int x_range, aclshmem_team_t *x_team, aclshmem_team_t *y_team),
      (parent_team, x_range, x_team, y_team));
GIVES(int, shmem_team_translate_pe, aclshmem_team_translate_pe,
      (aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team), (src_team, src_pe, dest_team));
CALLS(shmem_team_destroy, aclshmem_team_destroy, (aclshmem_team_t team), (team));
GIVES(int, shmem_team_my_pe, aclshmem_team_my_pe, (aclshmem_team_t team), (team));
GIVES(int, shmem_team_n_pes, aclshmem_team_n_pes, (aclshmem_team_t team), (team));
GIVES(int, shmem_team_get_config, aclshmem_team_get_config,
      (aclshmem_team_t team, aclshmem_team_config_t *config), (team, config));
GIVES(int, shmem_n_pes, aclshmem_n_pes, (void), ());
/* Data */
CALLS(shmem_putmem, aclshmem_putmem, (void *dst, void *src, size_t elem_size, int32_t pe),
      (dst, src, elem_size, pe));
CALLS(shmem_getmem, aclshmem_getmem, (void *dst, void *src, size_t elem_size, int32_t pe),
      (dst, src, elem_size, pe));
CALLS(shmem_putmem_signal, aclshmemx_putmem_signal,
      (void *dst, void *src, size_t elem_size, void *sig_addr, int32_t signal, int sig_op, int pe),
      (dst, src, elem_size, sig_addr, signal, sig_op, pe));
CALLS(shmem_putmem_nbi, aclshmem_putmem_nbi, (void *dst, void *src, size_t elem_size, int32_t pe),
      (dst, src, elem_size, pe));
CALLS(shmem_getmem_nbi, aclshmem_getmem_nbi, (void *dst, void *src, size_t elem_size, int32_t pe),
      (dst, src, elem_size, pe));
CALLS(shmem_putmem_signal_nbi, aclshmemx_putmem_signal_nbi,
      (void *dst, void *src, size_t elem_size, void *sig_addr, int32_t signal, int sig_op, int pe),
      (dst, src, elem_size, sig_addr, signal, sig_op, pe));
/* Streams */
CALLS(shmem_signal_op_on_stream, aclshmemx_signal_op_on_stream,
      (int32_t * sig_addr, int32_t signal, int sig_op, int pe, aclrtStream stream),
      (sig_addr, signal, sig_op, pe, stream));
CALLS(shmem_signal_wait_until_on_stream, aclshmemx_signal_wait_until_on_stream,
      (int32_t * sig_addr, int cmp, int32_t cmp_val, aclrtStream stream), (sig_addr, cmp, cmp_val, stream));
CALLS(shmem_handle_wait, aclshmemx_handle_wait, (aclshmem_handle_t handle, aclrtStream stream),
      (handle, stream));
CALLS(shmemx_getmem_on_stream, aclshmemx_getmem_on_stream,
      (void *dst, void *src, size_t elem_size, int32_t pe, aclrtStream stream),
      (dst, src, elem_size, pe, stream));
CALLS(shmemx_putmem_on_stream, aclshmemx_putmem_on_stream,
      (void *dst, void *src, size_t elem_size, int32_t pe, aclrtStream stream),
      (dst, src, elem_size, pe, stream));
CALLS(shmemx_quiet_on_stream, aclshmemx_quiet_on_stream, (aclrtStream stream), (stream));
CALLS(shmemx_barrier_on_stream, aclshmemx_barrier_on_stream, (aclshmem_team_t team, aclrtStream stream),
      (team, stream));
CALLS(shmemx_barrier_all_on_stream, aclshmemx_barrier_all_on_stream, (aclrtStream stream), (stream));
/* Engines */
GIVES(uint64_t, shmemx_get_ffts_config, util_get_ffts_config, (void), ());
GIVES(int, shmem_mte_set_ub_params, aclshmemx_set_mte_config,
      (uint64_t offset, uint32_t ub_size, uint32_t sync_id), (offset, ub_size, sync_id));
GIVES(int, shmem_rdma_set_ub_params, aclshmemx_set_rdma_config,
      (uint64_t offset, uint32_t ub_size, uint32_t sync_id), (offset, ub_size, sync_id));

/* Typed calls, which carry the type in another place. */
#define SHORT_ELEMENT(NAME, TYPE)                                                                            \
    CALLS(shmem_##NAME##_p, aclshmem_##NAME##_p, (TYPE * dst, const TYPE value, int pe), (dst, value, pe));  \
    GIVES(TYPE, shmem_##NAME##_g, aclshmem_##NAME##_g, (TYPE * src, int32_t pe), (src, pe))
#define SHORT_MOVE(short_name, target, TYPE)                                                                 \
    CALLS(short_name, target, (TYPE * dest, TYPE * source, size_t nelems, int pe), (dest, source, nelems, pe))
#define SHORT_MOVES(NAME, TYPE)                                                                              \
    SHORT_MOVE(shmem_put_##NAME##_mem, aclshmem_##NAME##_put, TYPE);                                         \
    SHORT_MOVE(shmem_put_##NAME##_mem_nbi, aclshmem_##NAME##_put_nbi, TYPE);                                 \
    SHORT_MOVE(shmem_get_##NAME##_mem, aclshmem_##NAME##_get, TYPE);                                         \
    SHORT_MOVE(shmem_get_##NAME##_mem_nbi, aclshmem_##NAME##_get_nbi, TYPE)
#define SHORT_SIGNAL(short_name, target, TYPE)                                                               \
    CALLS(                                                                                                   \
        short_name, target,                                                                                  \
        (TYPE * dst, TYPE * src, size_t elem_size, uint8_t * sig_addr, int32_t signal, int sig_op, int pe),  \
        (dst, src, elem_size, sig_addr, signal, sig_op, pe))
#define SHORT_SIGNALS(NAME, TYPE)                                                                            \
    SHORT_SIGNAL(shmem_put_##NAME##_mem_signal, aclshmem_##NAME##_put_signal, TYPE);                         \
    SHORT_SIGNAL(shmem_put_##NAME##_mem_signal_nbi, aclshmem_##NAME##_put_signal_nbi, TYPE)

ACLSHMEM_TYPE_FUNC(SHORT_ELEMENT);
ACLSHMEM_TYPE_FUNC(SHORT_MOVES);
ACLSHMEM_TYPE_FUNC(SHORT_SIGNALS);
