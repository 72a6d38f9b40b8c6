/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are: this build, this host, and how much of it we may use. */
#define LOG_MODULE "init"
#include "host/init/identity.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_device/sync.h"

enum {
    WORDS = sizeof(aclshmemi_cores_t) / sizeof(uint64_t),
    CORES_MAX = 64 * WORDS,
};

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static size_t read_file(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, out, size - 1);
    close(fd);
    size_t length = got > 0 ? (size_t)got : 0;
    out[length] = '\0';
    return length;
}

uint64_t aclshmemi_host_identity(void)
{
    char boot[64];
    struct stat network = {0};
    uint64_t hash = HASH_START;
    hash = hash_bytes(hash, boot, read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot));
    if (stat("/proc/self/ns/net", &network) == 0)
        hash = hash_bytes(hash, &network.st_ino, sizeof network.st_ino);
    return hash;
}

/* cgroup v2 writes "max 100000" or "200000 100000": quota and period in microseconds. */
int aclshmemi_cores_quota(void)
{
    char text[64];
    long long quota, period;
    if (read_file("/sys/fs/cgroup/cpu.max", text, sizeof text) == 0 ||
        sscanf(text, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return INT_MAX;
    return (int)((quota + period - 1) / period);
}

void aclshmemi_cores_of_process(aclshmemi_cores_t *cores)
{
    cpu_set_t set;
    *cores = (aclshmemi_cores_t){0};
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (size_t cpu = 0; cpu < CORES_MAX && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            cores->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static size_t cores_count(const aclshmemi_cores_t *cores)
{
    size_t count = 0;
    for (size_t i = 0; i < WORDS; i++)
        count += (size_t)__builtin_popcountll(cores->word[i]);
    return count;
}

static bool cores_meet(const aclshmemi_cores_t *a, const aclshmemi_cores_t *b)
{
    for (size_t i = 0; i < WORDS; i++)
        if ((a->word[i] & b->word[i]) != 0)
            return true;
    return false;
}

static bool fit_within(const aclshmemi_cores_t *room, const aclshmemi_cores_t *all, size_t count)
{
    size_t inside = 0;
    for (size_t k = 0; k < count; k++) {
        bool contained = true;
        for (size_t i = 0; i < WORDS && contained; i++)
            contained = (all[k].word[i] & ~room->word[i]) == 0;
        inside += contained;
    }
    return inside <= cores_count(room);
}

/* Launchers give every process the same cores, or every one its own, or nested sets: for those the two looks are exact. */
bool aclshmemi_cores_suffice(const aclshmemi_cores_t *own, const aclshmemi_cores_t *all, size_t count,
                             int quota)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    aclshmemi_cores_t near = *own;
    if (count > (size_t)quota)
        return false;
    for (size_t k = 0; k < count; k++) {
        if (cores_count(&all[k]) == 0) /* nobody knows where that one runs */
            return online > 0 && count <= (size_t)online;
        if (cores_meet(own, &all[k]))
            for (size_t i = 0; i < WORDS; i++)
                near.word[i] |= all[k].word[i];
    }
    return fit_within(own, all, count) && fit_within(&near, all, count);
}

const char *aclshmemi_build_text(void)
{
    return "aclshmem " ACLSHMEMI_VERSION_TEXT " wire 1";
}

uint64_t aclshmemi_build_hash(void)
{
    const uint64_t layouts[] = {sizeof(aclshmemi_control_t), sizeof(aclshmemi_sync_array_t),
                                sizeof(aclshmem_device_host_state_t)};
    uint64_t hash = hash_bytes(HASH_START, aclshmemi_build_text(), strlen(aclshmemi_build_text()));
    return hash_bytes(hash, layouts, sizeof layouts);
}
