/* SPDX-License-Identifier: Apache-2.0 */
/* The public front of unique ids and of the TLS settings. */
#define LOG_MODULE "init"
#include "host/init/init.h"
#include "host/init/settings.h"
#include "host/init/shmem_host_init.h"

int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *uid)
{
    if (uid == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "the place for the unique id is NULL");
    aclshmemi_env_t env;
    TRY(aclshmemi_settings_load(&env));
    int rc = aclshmemi_uid_create(&env, false, uid);
    aclshmemi_env_fini(&env);
    return rc;
}

int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size, aclshmemx_uniqueid_t *uid,
                                     aclshmemx_init_attr_t *aclshmem_attr)
{
    if (uid == NULL || aclshmem_attr == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "the unique id or the attributes are NULL");
    if (local_mem_size < 0 || (uint64_t)local_mem_size > ACLSHMEM_MAX_LOCAL_SIZE)
        return fail(ACLSHMEM_INVALID_VALUE, "local_mem_size is %lld bytes, 1 to %lu (40 GiB) are allowed",
                    (long long)local_mem_size, ACLSHMEM_MAX_LOCAL_SIZE);
    if (n_pes > ACLSHMEM_MAX_PES || my_pe >= ACLSHMEM_MAX_PES)
        return fail(ACLSHMEM_INVALID_VALUE, "PE %d of %d is out of range, at most %d PEs are possible", my_pe,
                    n_pes, ACLSHMEM_MAX_PES);
    aclshmem_attr->my_pe = my_pe;
    aclshmem_attr->n_pes = n_pes;
    aclshmem_attr->local_mem_size = (uint64_t)local_mem_size;
    aclshmem_attr->comm_args = uid;
    return 0;
}

static int refuse_while_running(void)
{
    return aclshmemi_instance_any()
               ? fail(ACLSHMEM_INNER_ERROR, "TLS settings cannot change while an instance exists; "
                                            "finalize first")
               : 0;
}

int32_t aclshmemx_set_conf_store_tls(bool enable, const char *tls_info, const uint32_t tls_info_len)
{
    aclshmemi_instance_lock();
    int rc = refuse_while_running();
    if (rc == 0)
        rc = aclshmemi_tls_configure(enable, tls_info, tls_info_len);
    aclshmemi_instance_unlock();
    return rc;
}

int32_t aclshmemx_set_config_store_tls_key(const char *tls_pk, const uint32_t tls_pk_len,
                                           const char *tls_pk_pw, const uint32_t tls_pk_pw_len,
                                           const aclshmem_decrypt_handler decrypt_handler)
{
    aclshmemi_instance_lock();
    int rc = refuse_while_running();
    if (rc == 0)
        rc = aclshmemi_tls_set_key(tls_pk, tls_pk_len, tls_pk_pw, tls_pk_pw_len, decrypt_handler);
    aclshmemi_instance_unlock();
    return rc;
}
