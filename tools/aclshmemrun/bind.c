/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processors a PE may use. hwloc knows the machine; we stay inside the mask we were started with, and count no
 * more cores than the quota of our control group pays for.
 */
#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

struct bind {
    hwloc_bitmap_t *sets; /* per PE, NULL: left as it is */
};

static hwloc_topology_t topology; /* loaded when first needed, before the keeper is forked or in it */
static bool loaded;

/* hwloc looks for plug-ins about graphics and buses when it starts; we need none, and all of ours would carry them. */
static int init_without_plugins(void)
{
    bool ours = !getenv("HWLOC_PLUGINS_PATH") && setenv("HWLOC_PLUGINS_PATH", "/dev/null/none", 1) == 0;
    int error = hwloc_topology_init(&topology);
    if (ours)
        (void)unsetenv("HWLOC_PLUGINS_PATH");
    return error;
}

static int load(void)
{
    if (loaded)
        return 0;
    if (init_without_plugins())
        return -1;
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    (void)hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    (void)hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    bool ok = mask && hwloc_topology_load(topology) == 0;
    if (ok && hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_PROCESS) == 0)
        (void)hwloc_topology_restrict(topology, mask, 0);
    hwloc_bitmap_free(mask);
    if (!ok) {
        hwloc_topology_destroy(topology);
        return -1;
    }
    loaded = true;
    return 0;
}

/* Cores, or hardware threads where the system does not tell cores. */
static hwloc_obj_type_t core_type(void)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static int count_cores(void)
{
    int count = load() ? 1 : hwloc_get_nbobjs_by_type(topology, core_type());
    return count > 0 ? count : 1;
}

static int read_numbers(const char *path, long *first, long *second)
{
    char text[64];
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    char *line = fgets(text, sizeof(text), file);
    fclose(file);
    if (!line)
        return -1;
    *first = isdigit((unsigned char)text[0]) ? strtol(text, &line, 10) : -1; /* "max", "-1": no quota */
    if (second && *first >= 0)
        *second = strtol(line, NULL, 10);
    return 0;
}

/* The quota in cores of one folder of the control group tree; 0: none. */
static long folder_quota(const char *base, const char *folder, bool unified)
{
    char path[4400];
    long quota = -1, period = 0;
    if (unified) {
        snprintf(path, sizeof(path), "%s%s/cpu.max", base, folder);
        if (read_numbers(path, &quota, &period))
            return 0;
    } else {
        snprintf(path, sizeof(path), "%s%s/cpu.cfs_quota_us", base, folder);
        if (read_numbers(path, &quota, NULL))
            return 0;
        snprintf(path, sizeof(path), "%s%s/cpu.cfs_period_us", base, folder);
        if (read_numbers(path, &period, NULL))
            return 0;
    }
    if (quota <= 0 || period <= 0)
        return 0;
    return quota < period ? 1 : quota / period;
}

/* The smallest quota on the way from our group to the root. */
static long walk_up(const char *base, char *folder, bool unified)
{
    long least = 0;
    for (;;) {
        long here = folder_quota(base, folder, unified);
        if (here && (!least || here < least))
            least = here;
        char *slash = strrchr(folder, '/');
        if (!slash)
            return least;
        *slash = 0;
    }
}

static long group_quota(void)
{
    char line[4200];
    long least = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof(line), file)) {
        char *controllers = strchr(line, ':'), *folder = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!folder)
            continue;
        *folder++ = 0;
        controllers++;
        folder[strcspn(folder, "\n")] = 0;
        bool unified = !*controllers;
        bool cpu = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
                   strstr(controllers, ",cpu,") || strcmp(controllers, "cpuacct,cpu") == 0;
        if (!unified && !cpu)
            continue;
        long quota = walk_up(unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", folder, unified);
        if (quota && (!least || quota < least))
            least = quota;
    }
    fclose(file);
    return least;
}

int bind_cores(void)
{
    long quota = group_quota();
    int cores = count_cores();
    return quota && quota < cores ? (int)quota : cores;
}

static int add_object(hwloc_bitmap_t set, hwloc_obj_type_t type, int index)
{
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, (unsigned)index);
    return object && object->cpuset ? hwloc_bitmap_or(set, set, object->cpuset) : -1;
}

/* Whole cores in equal shares: the default when there is at least one for each. */
static int share_cores(hwloc_bitmap_t set, int rank, int n_pes)
{
    int cores = count_cores();
    long first = (long)rank * cores / n_pes, end = (long)(rank + 1) * cores / n_pes;
    for (long core = first; core < end; core++)
        if (add_object(set, core_type(), (int)core))
            return -1;
    return 0;
}

/* The cpus of "0,2,4-7" in that order; returns how many, -1 when the text is wrong or we may not use one. */
static int parse_cpus(const char *list, int *cpus, int most)
{
    hwloc_const_bitmap_t allowed = hwloc_topology_get_topology_cpuset(topology);
    int count = 0;
    for (const char *at = list;;) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return -1;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtol(end + 1, &end, 10);
        if (first > last || last > 1 << 20)
            return -1;
        for (long cpu = first; cpu <= last; cpu++) {
            if (!hwloc_bitmap_isset(allowed, (unsigned)cpu) || count == most)
                return -1;
            cpus[count++] = (int)cpu;
        }
        if (!*end)
            return count;
        if (*end != ',')
            return -1;
        at = end + 1;
    }
}

static int bind_to_list(struct bind *bind, int n_pes, const char *list)
{
    enum { MOST = 4096 };
    static int cpus[MOST];
    int count = parse_cpus(list, cpus, MOST);
    if (count < 0) {
        char allowed[256];
        hwloc_bitmap_list_snprintf(allowed, sizeof(allowed), hwloc_topology_get_topology_cpuset(topology));
        say("--bind cpu-list: \"%s\" is not allowed; give numbers like 0,2,4-7 out of %s", list, allowed);
        return -1;
    }
    for (int i = 0; i < n_pes; i++)
        if (hwloc_bitmap_set(bind->sets[i], (unsigned)cpus[i % count]))
            return -1;
    return 0;
}

static int fill_sets(struct bind *bind, const job_t *job)
{
    const char *what = job->options->bind;
    if (what && strncmp(what, "cpu-list:", 9) == 0)
        return bind_to_list(bind, job->n_pes, what + 9);
    int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    for (int i = 0; i < job->n_pes; i++) {
        int error = !what                       ? share_cores(bind->sets[i], i, job->n_pes)
                    : strcmp(what, "core") == 0 ? add_object(bind->sets[i], core_type(), i % count_cores())
                    : nodes < 1
                        ? -1
                        : add_object(bind->sets[i], HWLOC_OBJ_NUMANODE, (int)((long)i * nodes / job->n_pes));
        if (error) {
            say("cannot bind to %s: the system does not tell the places", what ? what : "cores");
            return -1;
        }
    }
    return 0;
}

int bind_open(job_t *job)
{
    const char *what = job->options->bind;
    if (what && strcmp(what, "none") == 0)
        return 0;
    if (!what && (job->n_pes == 1 || job->n_pes > bind_cores()))
        return 0;
    if (load()) {
        if (what)
            say("cannot bind: hwloc does not load (%s)", strerror(errno));
        return what ? -1 : 0;
    }
    struct bind *bind = calloc(1, sizeof(*bind));
    job->bind = bind;
    if (!bind || !(bind->sets = calloc((size_t)job->n_pes, sizeof(hwloc_bitmap_t))))
        return -1;
    for (int i = 0; i < job->n_pes; i++)
        if (!(bind->sets[i] = hwloc_bitmap_alloc()))
            return -1;
    return fill_sets(bind, job);
}

void bind_describe(job_t *job, const pe_t *pe, char *out, size_t size)
{
    char list[200];
    if (!job->bind) {
        snprintf(out, size, "not bound");
        return;
    }
    hwloc_bitmap_list_snprintf(list, sizeof(list), job->bind->sets[pe->rank]);
    snprintf(out, size, "bound to cpus %s", list);
}

int bind_child(job_t *job, const pe_t *pe)
{
    if (!job->bind)
        return 0;
    return hwloc_set_cpubind(topology, job->bind->sets[pe->rank], HWLOC_CPUBIND_PROCESS);
}

void bind_close(job_t *job)
{
    for (int i = 0; job->bind && job->bind->sets && i < job->n_pes; i++)
        hwloc_bitmap_free(job->bind->sets[i]);
    if (job->bind)
        free(job->bind->sets);
    free(job->bind);
    job->bind = NULL;
}

void bind_unload(void)
{
    if (loaded)
        hwloc_topology_destroy(topology);
    loaded = false;
}
