/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the runtime: a handful of SHMEM_CPU_ variables, read strictly. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime.h"

#define KIB (UINT64_C(1) << 10)
#define TIB (UINT64_C(1) << 40)

static aclError refuse(const char *name, const char *value, const char *allowed)
{
    return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s is \"%.64s\"; allowed are %s", name, value, allowed);
}

/* A decimal number with an optional suffix; leaves *out alone when the variable is not set. */
static aclError read_number(const char *name, bool suffixes, uint64_t low, uint64_t high, const char *allowed,
                            uint64_t *out)
{
    const char *value = getenv(name);
    char *end = NULL;
    uint64_t shift = 0;

    if (value == NULL || value[0] == '\0')
        return ACL_SUCCESS;
    if (value[0] < '0' || value[0] > '9')
        return refuse(name, value, allowed);
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (errno != 0)
        return refuse(name, value, allowed);
    if (suffixes && *end != '\0') {
        const char *const letters = "KMGT";
        const char *const found = strchr(letters, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);

        if (found != NULL) {
            shift = 10 * (uint64_t)(found - letters + 1);
            end++;
        }
    }
    if (*end != '\0' || number > (UINT64_MAX >> shift) || (number << shift) < low || (number << shift) > high)
        return refuse(name, value, allowed);
    *out = (uint64_t)number << shift;
    return ACL_SUCCESS;
}

static aclError read_seconds(const char *name, double low, double high, const char *allowed, uint64_t *out_ns)
{
    const char *value = getenv(name);
    unsigned long long whole = 0;
    double fraction = 0.0, scale = 0.1;
    char *end = NULL;

    if (value == NULL || value[0] == '\0')
        return ACL_SUCCESS;
    if (value[0] < '0' || value[0] > '9')
        return refuse(name, value, allowed);
    errno = 0;
    whole = strtoull(value, &end, 10);
    /* By hand: strtod would take the decimal point from the program's locale. */
    if (*end == '.')
        for (end++; *end >= '0' && *end <= '9'; end++, scale /= 10)
            fraction += scale * (*end - '0');
    const double seconds = (double)whole + fraction;
    if (errno != 0 || *end != '\0' || seconds < low || seconds > high)
        return refuse(name, value, allowed);
    *out_ns = (uint64_t)(seconds * 1e9);
    return ACL_SUCCESS;
}

static aclError read_switch(const char *name, bool *out)
{
    static const char *const yes[] = {"1", "true", "yes", "on", "y"}, *const no[] = {"0", "false", "no",
                                                                                     "off", "n"};
    const char *value = getenv(name);

    if (value == NULL || value[0] == '\0')
        return ACL_SUCCESS;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            *out = strcasecmp(value, yes[i]) == 0;
            return ACL_SUCCESS;
        }
    return refuse(name, value, "1, 0, true, false, yes, no, on, off");
}

static aclError read_name(const char *name, char *out, size_t size)
{
    const char *value = getenv(name);

    if (value == NULL || value[0] == '\0')
        return ACL_SUCCESS;
    if (strlen(value) >= size)
        return refuse(name, value, "texts up to 63 characters");
    (void)snprintf(out, size, "%s", value);
    return ACL_SUCCESS;
}

/* A limit a container sets on itself; 0 when there is none to be seen. */
static uint64_t cgroup_limit(const char *path)
{
    char line[64] = "";
    FILE *file = fopen(path, "re");
    uint64_t bytes = 0;

    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) != NULL && line[0] >= '0' && line[0] <= '9')
        bytes = strtoull(line, NULL, 10);
    (void)fclose(file);
    return bytes;
}

static uint64_t half_of_memory(void)
{
    const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const uint64_t limit = cgroup_limit(limits[i]);

        if (limit != 0 && limit < bytes)
            bytes = limit;
    }
    return bytes / 2 / CPURT_HUGE_PAGE * CPURT_HUGE_PAGE;
}

/* One for the life of the process, and said, so that what it brings to light can be brought to light again. Called
 * with the start lock held. */
static uint64_t random_seed(void)
{
    static uint32_t seed;

    if (seed == 0) {
        const uint64_t now = cpurt_now_ns();

        if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed || seed == 0)
            seed = (uint32_t)(now ^ now >> 32 ^ (uint64_t)getpid() << 16) | 1;
        (void)fprintf(stderr,
                      "acl: checked mode, seed %u; SHMEM_CPU_CHECK_SEED=%u makes the same choices again\n",
                      seed, seed);
    }
    return seed;
}

aclError cpurt_config_read(cpurt_config_t *config)
{
    uint64_t devices = 16, cores = 48, hbm = 0, ub = 192 * KIB, timeout_ns = UINT64_C(60) * 1000000000;
    uint64_t seed = 0;
    cpurt_config_t read = {.soc_name = "Ascend910B-cpu"};

    TRY(read_number("SHMEM_CPU_DEVICES", false, 1, 4096, "1 to 4096", &devices));
    TRY(read_number("SHMEM_CPU_CORES", false, 1, 48, "1 to 48", &cores));
    TRY(read_number("SHMEM_CPU_HBM_SIZE", true, 0, 16 * TIB, "0 to 16T, with suffix K, M, G or T", &hbm));
    TRY(read_number("SHMEM_CPU_UB_SIZE", true, 192 * KIB, 256 * KIB, "192K to 256K", &ub));
    TRY(read_seconds("SHMEM_CPU_KERNEL_TIMEOUT", 0.001, 604800, "seconds from 0.001 to 604800", &timeout_ns));
    TRY(read_switch("SHMEM_CPU_CHECK", &read.check));
    TRY(read_number("SHMEM_CPU_CHECK_SEED", false, 0, UINT32_MAX, "0 to 4294967295", &seed));
    TRY(read_name("SHMEM_CPU_SOC_NAME", read.soc_name, sizeof read.soc_name));
    read.devices = (int)devices;
    read.cores = (int)cores;
    read.hbm_bytes = hbm != 0 ? hbm : half_of_memory();
    read.ub_bytes = (uint32_t)ub;
    read.kernel_timeout_ns = timeout_ns;
    read.check_seed = read.check && seed == 0 ? random_seed() : seed;
    *config = read;
    return ACL_SUCCESS;
}
