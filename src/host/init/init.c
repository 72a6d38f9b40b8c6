/* SPDX-License-Identifier: Apache-2.0 */
/* The life cycle calls. */
#define LOG_MODULE "init"
#include "host/init/shmem_host_init.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/init/init.h"
#include "host/init/settings.h"
#include "host/team/shmem_host_team.h"

static int create(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t *attr, aclshmemi_instance_t **out)
{
    aclshmemi_instance_t *in = calloc(1, sizeof *in);
    if (in == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for an instance");
    in->ctx.id = attr->instance_id;
    int rc = aclshmemi_settings_load(&in->env);
    if (rc != 0)
        goto free_instance;
    aclshmemx_bootstrap_t mode = aclshmemi_attr_mode(flags);
    if (mode == ACLSHMEMX_INIT_WITH_DEFAULT) /* the others have no port of ours */
        rc = aclshmemi_attr_choose_port(&in->env, attr);
    if (rc != 0)
        goto drop_settings;
    rc = aclshmemi_build(in, mode, attr);
    if (rc != 0)
        goto drop_settings;
    *out = in;
    return 0;
drop_settings:
    aclshmemi_env_fini(&in->env);
free_instance:
    free(in);
    return rc;
}

static int init_locked(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t *attr)
{
    if (aclshmemi_instance_forked())
        return aclshmemi_instance_missing("init");
    if (attr->instance_id >= ACLSHMEM_MAX_INSTANCES)
        return fail(ACLSHMEM_INVALID_VALUE, "instance_id is %" PRIu64 ", 0..%d are allowed",
                    attr->instance_id, ACLSHMEM_MAX_INSTANCES - 1);
    if (aclshmemi_instance_find(attr->instance_id) != NULL)
        return fail(ACLSHMEM_INNER_ERROR, "instance %" PRIu64 " is already initialized; finalize it first",
                    attr->instance_id);
    aclshmemi_instance_t *in = NULL;
    aclshmemx_init_attr_t full = *attr;
    TRY(create(flags, &full, &in));
    memcpy(attr->ip_port, full.ip_port, sizeof attr->ip_port); /* the port that was chosen */
    aclshmemi_instance_enter(in);
    aclshmemi_instance_select(in);
    return 0;
}

int aclshmemx_init_attr(aclshmemx_bootstrap_t bootstrap_flags, aclshmemx_init_attr_t *attributes)
{
    if (attributes == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "the attributes of init are NULL");
    aclshmemi_instance_lock();
    int rc = init_locked(bootstrap_flags, attributes);
    aclshmemi_instance_unlock();
    return rc;
}

int aclshmemx_init(void)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr);
}

static int finalize_locked(aclshmemi_instance_t *in)
{
    int rc = aclshmemi_unbuild(in, true);
    aclshmemi_instance_remove(in);
    if (in->abandoned) {
        aclshmemi_instance_abandon(in);
    } else {
        aclshmemi_env_fini(&in->env);
        free(in);
    }
    if (!aclshmemi_instance_any())
        aclshmemi_tls_drop_key();
    return rc;
}

int aclshmemx_finalize(uint64_t instance_id)
{
    aclshmemi_instance_lock();
    aclshmemi_instance_t *in = aclshmemi_instance_find(instance_id);
    int rc = 0;
    if (in != NULL)
        rc = finalize_locked(in);
    else if (instance_id != 0)
        rc = fail(ACLSHMEM_INNER_ERROR, "instance %" PRIu64 " does not exist, nothing is finalized",
                  instance_id);
    aclshmemi_instance_unlock();
    return rc;
}

int aclshmem_finalize(void)
{
    return aclshmemx_finalize(aclshmemi_current()->ctx.id);
}

int aclshmemx_init_status(void)
{
    return (int)aclshmemi_current()->status;
}

aclshmem_instance_ctx *aclshmemx_instance_ctx_get(void)
{
    return &aclshmemi_current()->ctx;
}

int aclshmemx_instance_ctx_set(uint64_t instance_id)
{
    aclshmemi_instance_lock();
    aclshmemi_instance_t *in = aclshmemi_instance_find(instance_id);
    int rc = 0;
    if (in == NULL && instance_id != 0)
        rc = fail(ACLSHMEM_INNER_ERROR, "instance %" PRIu64 " does not exist, the current one stays",
                  instance_id);
    else
        aclshmemi_instance_select(in);
    aclshmemi_instance_unlock();
    return rc;
}

int aclshmem_my_pe(void)
{
    return aclshmemi_current()->pe;
}

int aclshmem_n_pes(void)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    return in->n_pes == 0 ? -1 : in->n_pes;
}

int aclshmemx_failed_pe(void)
{
    return atomic_load(&aclshmemi_current()->bootstrap.failed_pe);
}

/* exit() in the caller, whose buffers hold its output; the other PEs are ended by their own loop. */
void aclshmem_global_exit(int status)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes > 0)
        aclshmemi_bootstrap_abort(&in->bootstrap, status);
    if (in->met_by_launcher)
        aclshmemi_launch_abort(status);
    exit(status);
}
