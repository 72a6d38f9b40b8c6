/* SPDX-License-Identifier: Apache-2.0 */
/* Every short name of the interface, and nowhere else. They collide with OpenSHMEM's; see shmem.h. */
#ifndef ACLSHMEM_SHORT_NAMES_H
#define ACLSHMEM_SHORT_NAMES_H

/* Types */
#define shmem_error_code_t         aclshmem_error_code_t
#define shmemx_bootstrap_t         aclshmemx_bootstrap_t
#define shmem_init_status_t        aclshmemx_init_status_t
#define shmem_transport_t          aclshmem_transport_t
#define shmem_init_optional_attr_t aclshmem_init_optional_attr_t
#define shmem_init_attr_t          aclshmemx_init_attr_t
#define shmem_uniqueid_t           aclshmemx_uniqueid_t
#define shmem_decrypt_handler      aclshmem_decrypt_handler

/* Life cycle */
#define shmem_init_status              aclshmemx_init_status
#define shmem_get_uniqueid             aclshmemx_get_uniqueid
#define shmem_set_attr_uniqueid_args   aclshmemx_set_attr_uniqueid_args
#define shmem_init_attr                aclshmemx_init_attr
#define shmem_set_config_store_tls_key aclshmemx_set_config_store_tls_key
#define shmem_set_conf_store_tls       aclshmemx_set_conf_store_tls
#define shmem_set_extern_logger        aclshmemx_set_extern_logger
#define shmem_set_log_level            aclshmemx_set_log_level
#define shmem_finalize                 aclshmem_finalize
#define shmem_info_get_version         aclshmem_info_get_version
#define shmem_info_get_name            aclshmem_info_get_name
#define shmem_global_exit              aclshmem_global_exit
#define shmemx_finalize                aclshmemx_finalize

/* Memory, identity */
#define shmem_malloc             aclshmem_malloc
#define shmem_calloc             aclshmem_calloc
#define shmem_align              aclshmem_align
#define shmem_free               aclshmem_free
#define shmem_ptr                aclshmem_ptr
#define shmem_my_pe              aclshmem_my_pe
#define shmem_team_split_strided aclshmem_team_split_strided
#define shmem_team_split_2d      aclshmem_team_split_2d
#define shmem_team_translate_pe  aclshmem_team_translate_pe
#define shmem_team_destroy       aclshmem_team_destroy
#define shmem_team_my_pe         aclshmem_team_my_pe
#define shmem_team_n_pes         aclshmem_team_n_pes
#define shmem_team_get_config    aclshmem_team_get_config
#define shmem_n_pes              aclshmem_n_pes

/* Data */
#define shmem_putmem                aclshmem_putmem
#define shmem_getmem                aclshmem_getmem
#define shmem_putmem_signal         aclshmemx_putmem_signal
#define shmem_float_p               aclshmem_float_p
#define shmem_double_p              aclshmem_double_p
#define shmem_int8_p                aclshmem_int8_p
#define shmem_int16_p               aclshmem_int16_p
#define shmem_int32_p               aclshmem_int32_p
#define shmem_int64_p               aclshmem_int64_p
#define shmem_uint8_p               aclshmem_uint8_p
#define shmem_uint16_p              aclshmem_uint16_p
#define shmem_uint32_p              aclshmem_uint32_p
#define shmem_uint64_p              aclshmem_uint64_p
#define shmem_char_p                aclshmem_char_p
#define shmem_float_g               aclshmem_float_g
#define shmem_double_g              aclshmem_double_g
#define shmem_int8_g                aclshmem_int8_g
#define shmem_int16_g               aclshmem_int16_g
#define shmem_int32_g               aclshmem_int32_g
#define shmem_int64_g               aclshmem_int64_g
#define shmem_uint8_g               aclshmem_uint8_g
#define shmem_uint16_g              aclshmem_uint16_g
#define shmem_uint32_g              aclshmem_uint32_g
#define shmem_uint64_g              aclshmem_uint64_g
#define shmem_char_g                aclshmem_char_g
#define shmem_put_float_mem         aclshmem_float_put
#define shmem_put_double_mem        aclshmem_double_put
#define shmem_put_int8_mem          aclshmem_int8_put
#define shmem_put_int16_mem         aclshmem_int16_put
#define shmem_put_int32_mem         aclshmem_int32_put
#define shmem_put_int64_mem         aclshmem_int64_put
#define shmem_put_uint8_mem         aclshmem_uint8_put
#define shmem_put_uint16_mem        aclshmem_uint16_put
#define shmem_put_uint32_mem        aclshmem_uint32_put
#define shmem_put_uint64_mem        aclshmem_uint64_put
#define shmem_put_char_mem          aclshmem_char_put
#define shmem_get_float_mem         aclshmem_float_get
#define shmem_get_double_mem        aclshmem_double_get
#define shmem_get_int8_mem          aclshmem_int8_get
#define shmem_get_int16_mem         aclshmem_int16_get
#define shmem_get_int32_mem         aclshmem_int32_get
#define shmem_get_int64_mem         aclshmem_int64_get
#define shmem_get_uint8_mem         aclshmem_uint8_get
#define shmem_get_uint16_mem        aclshmem_uint16_get
#define shmem_get_uint32_mem        aclshmem_uint32_get
#define shmem_get_uint64_mem        aclshmem_uint64_get
#define shmem_get_char_mem          aclshmem_char_get
#define shmem_put_float_mem_signal  aclshmem_float_put_signal
#define shmem_put_double_mem_signal aclshmem_double_put_signal
#define shmem_put_int8_mem_signal   aclshmem_int8_put_signal
#define shmem_put_int16_mem_signal  aclshmem_int16_put_signal
#define shmem_put_int32_mem_signal  aclshmem_int32_put_signal
#define shmem_put_int64_mem_signal  aclshmem_int64_put_signal
#define shmem_put_uint8_mem_signal  aclshmem_uint8_put_signal
#define shmem_put_uint16_mem_signal aclshmem_uint16_put_signal
#define shmem_put_uint32_mem_signal aclshmem_uint32_put_signal
#define shmem_put_uint64_mem_signal aclshmem_uint64_put_signal
#define shmem_put_char_mem_signal   aclshmem_char_put_signal

#endif
