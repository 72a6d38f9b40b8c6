/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to tell, as JSON objects. Everything about the library comes through its public interface. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "info.h"
#include "shmem.h"

static void put(json_t *object, const char *name, const char *text)
{
    json_object_set_new(object, name, json_string(text));
}

/* A failure has its words in the text. */
static bool put_described(json_t *object, const char *name, const char *topic)
{
    char text[1024] = "";
    int rc = aclshmemx_describe(topic, text, sizeof text);
    put(object, name, text);
    return rc == 0;
}

json_t *facts_version(void)
{
    char name[ACLSHMEM_MAX_NAME_LEN];
    json_t *o = json_object();
    aclshmem_info_get_name(name);
    put(o, "name", name);
    put_described(o, "version", "version");
    put(o, "license", "Apache-2.0");
    return o;
}

json_t *facts_build(void)
{
    json_t *o = json_object();
    put_described(o, "build id", "build");
    put_described(o, "compiler", "compiler");
    put_described(o, "library folder", "library");
    return o;
}

json_t *facts_runtime(void)
{
    json_t *o = json_object();
    if (!put_described(o, "device runtime", "runtime"))
        return o; /* it says where one was looked for; there is nothing more to tell */
    put_described(o, "chosen because", "runtime.reason");
    put_described(o, "device type", "soc");
    put_described(o, "devices", "devices");
    return o;
}

json_t *facts_transports(void)
{
    json_t *o = json_object();
    put_described(o, "mte", "transport.mte");
    put_described(o, "sdma", "transport.sdma");
    put_described(o, "rdma", "transport.rdma");
    put_described(o, "udma", "transport.udma");
    return o;
}

json_t *facts_meeting(void)
{
    json_t *o = json_object();
    put_described(o, "launcher", "launcher");
    put_described(o, "place in the job", "launcher.pe");
    put_described(o, "control plane", "tls");
    put_described(o, "settings file", "settings.file");
    return o;
}

static void put_bytes(json_t *object, const char *name, uint64_t bytes)
{
    char text[64];
    snprintf(text, sizeof text, "%.1f MiB", (double)bytes / 1048576.0);
    put(object, name, bytes == RLIM_INFINITY ? "unlimited" : text);
}

static void put_limit(json_t *object, const char *name, int which)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) == 0)
        put_bytes(object, name, limit.rlim_cur);
}

/* First line of a file of the system; a missing one is left out. */
static void put_file(json_t *object, const char *name, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        put(object, name, line);
    }
    fclose(file);
}

json_t *facts_memory(void)
{
    json_t *o = json_object();
    put_bytes(o, "machine", (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    put_file(o, "cgroup limit (bytes)", "/sys/fs/cgroup/memory.max");
    put_limit(o, "address space limit", RLIMIT_AS);
    put_limit(o, "locked memory limit", RLIMIT_MEMLOCK);
    put_file(o, "huge pages for shared memory", "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    put_file(o, "reserved huge pages", "/proc/sys/vm/nr_hugepages");
    put(o, "shared memory mount", "not used: heaps are anonymous memory files");
    return o;
}

static void put_number(json_t *object, const char *name, long long number)
{
    json_object_set_new(object, name, json_integer(number));
}

json_t *facts_sizes(void)
{
    json_t *o = json_object();
    put_number(o, "PEs", ACLSHMEM_MAX_PES);
    put_number(o, "teams", ACLSHMEM_MAX_TEAMS);
    put_number(o, "instances", ACLSHMEM_MAX_INSTANCES);
    put_number(o, "user heap per PE (bytes)", (long long)ACLSHMEM_MAX_LOCAL_SIZE);
    put_number(o, "library part of a heap (bytes)", (long long)ACLSHMEM_EXTRA_SIZE);
    put_number(o, "name (bytes)", ACLSHMEM_MAX_NAME_LEN);
    put_number(o, "address text (bytes)", ACLSHMEM_MAX_IP_PORT_LEN);
    put_number(o, "unique id (bytes)", (long long)sizeof(aclshmemx_uniqueid_t));
    put_number(o, "init attributes (bytes)", (long long)sizeof(aclshmemx_init_attr_t));
    put_number(o, "device state (bytes)", (long long)sizeof(aclshmem_device_host_state_t));
    return o;
}

static json_t *one_setting(const aclshmemx_setting_t *setting)
{
    json_t *o = json_object();
    put(o, "name", setting->name);
    put(o, "type", setting->type);
    put(o, "default", setting->dflt);
    put(o, "range", setting->range);
    put(o, "value", setting->value);
    put(o, "origin", setting->origin);
    put(o, "text", setting->text);
    json_object_set_new(o, "given by launchers", json_boolean(setting->given));
    return o;
}

json_t *facts_settings(bool hidden)
{
    int count = aclshmemx_setting_count();
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        aclshmemx_setting_t setting;
        if (aclshmemx_setting_get(i, &setting) != 0)
            count = -1;
        else if (hidden || !setting.hidden)
            json_array_append_new(list, one_setting(&setting));
    }
    if (count >= 0)
        return list;
    fprintf(stderr, "aclshmem_info: %s\n", aclshmemx_last_error(NULL));
    json_decref(list);
    return NULL;
}
