/* SPDX-License-Identifier: Apache-2.0 */
/* What the library tells about itself: version, errors, and the facts that aclshmem_info prints. */
#define LOG_MODULE "init"
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/tls/tls.h"
#include "host/init/identity.h"
#include "host/init/init.h"
#include "host/init/shmem_host_init.h"
#include "host/utils/dl.h"
#include "host/utils/shmem_log.h"

void aclshmem_info_get_version(int *major, int *minor)
{
    if (major == NULL || minor == NULL)
        return;
    *major = ACLSHMEM_MAJOR_VERSION;
    *minor = ACLSHMEM_MINOR_VERSION;
}

void aclshmem_info_get_name(char *name)
{
    if (name != NULL)
        snprintf(name, ACLSHMEM_MAX_NAME_LEN, "ACLSHMEM v%d.%d.%d", ACLSHMEM_VENDOR_MAJOR_VER,
                 ACLSHMEM_VENDOR_MINOR_VER, ACLSHMEM_VENDOR_PATCH_VER);
}

const char *aclshmemx_strerror(int code)
{
    return aclshmemi_status_text(code);
}

const char *aclshmemx_last_error(int *code)
{
    if (code != NULL)
        *code = aclshmemi_status_last_code();
    return aclshmemi_status_last_text();
}

void aclshmemx_clear_error(void)
{
    aclshmemi_status_clear();
}

static int describe_runtime(const aclshmemi_env_t *env, const char *topic, char *out, size_t size)
{
    int rc = npu_open(env);
    if (rc != 0) {
        snprintf(out, size, "none: %s", aclshmemi_status_last_text());
        return rc;
    }
    int devices = 0;
    if (strcmp(topic, "runtime") == 0)
        snprintf(out, size, "%s",
                 npu_runtime_path()[0] != '\0' ? npu_runtime_path() : "(in the process already)");
    else if (strcmp(topic, "runtime.reason") == 0)
        snprintf(out, size, "%s", npu_runtime_reason());
    else if (strcmp(topic, "soc") == 0)
        snprintf(out, size, "%s", npu_soc_name());
    else if ((rc = npu_device_count(&devices)) == 0)
        snprintf(out, size, "%d", devices);
    else
        snprintf(out, size, "unknown: %s", aclshmemi_status_last_text());
    npu_close();
    return rc;
}

static int describe_launcher(const aclshmemi_env_t *env, const char *topic, char *out, size_t size)
{
    aclshmemi_launch_t launch;
    int rc = aclshmemi_launch_detect(env, &launch);
    if (rc != 0)
        snprintf(out, size, "unclear: %s", aclshmemi_status_last_text());
    else if (strcmp(topic, "launcher") == 0)
        snprintf(out, size, "%s", launch.name);
    else
        snprintf(out, size, "PE %d of %d", launch.pe, launch.n_pes);
    return rc;
}

static int describe_with(const aclshmemi_env_t *env, const char *topic, char *out, size_t size)
{
    if (strncmp(topic, "runtime", 7) == 0 || strcmp(topic, "soc") == 0 || strcmp(topic, "devices") == 0)
        return describe_runtime(env, topic, out, size);
    if (strncmp(topic, "launcher", 8) == 0)
        return describe_launcher(env, topic, out, size);
    if (strcmp(topic, "tls") == 0)
        return aclshmemi_tls_describe(env, out, size);
    if (strcmp(topic, "settings.file") == 0)
        snprintf(out, size, "%s", env->file[0] != '\0' ? env->file : "none");
    else if (strcmp(topic, "transport.mte") == 0)
        snprintf(out, size, "usable: loads and stores to the mapped memory of PEs on this host");
    else if (strcmp(topic, "transport.sdma") == 0 || strcmp(topic, "transport.rdma") == 0 ||
             strcmp(topic, "transport.udma") == 0)
        snprintf(out, size, "not in this build; mte serves PEs of one host");
    else
        return fail(ACLSHMEM_INVALID_PARAM,
                    "there is no fact called \"%s\"; the header of aclshmemx_describe lists them", topic);
    return 0;
}

int aclshmemx_describe(const char *topic, char *out, size_t size)
{
    if (topic == NULL || out == NULL || size == 0)
        return fail(ACLSHMEM_INVALID_PARAM, "describe needs a topic and room for the text");
    if (strcmp(topic, "version") == 0)
        snprintf(out, size, "%s", ACLSHMEMI_VERSION_TEXT);
    else if (strcmp(topic, "build") == 0)
        snprintf(out, size, "%s (%016llx)", aclshmemi_build_text(),
                 (unsigned long long)aclshmemi_build_hash());
    else if (strcmp(topic, "compiler") == 0)
        snprintf(out, size, "%s", __VERSION__);
    else if (strcmp(topic, "library") == 0)
        return aclshmemi_dl_own_directory(out, size);
    else {
        aclshmemi_env_t env;
        int rc = aclshmemi_env_init(&env);
        if (rc != 0) {
            snprintf(out, size, "settings do not parse: %s", aclshmemi_status_last_text());
            return rc;
        }
        rc = describe_with(&env, topic, out, size);
        aclshmemi_env_fini(&env);
        return rc;
    }
    return 0;
}
