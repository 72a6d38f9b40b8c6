/* SPDX-License-Identifier: Apache-2.0 */
/* Reads limits and what is left of them from the kernel. Where it does not tell, nothing is refused. */
#define LOG_MODULE "hybm"

#include "host/hybm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES (UINT64_C(2) << 20)
#define HUGE_FOLDER     "/sys/kernel/mm/hugepages/hugepages-2048kB/"

/* The first number in a small file of the kernel. */
static bool read_number(const char *path, uint64_t *value)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool good = fscanf(file, "%" SCNu64, value) == 1;
    fclose(file);
    return good;
}

/* False when there is no such limit. */
static bool read_limit(int which, uint64_t *value)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *value = limit.rlim_cur;
    return true;
}

int aclshmemi_limits_address_space(uint64_t bytes)
{
    uint64_t limit, pages;
    if (!read_limit(RLIMIT_AS, &limit) || !read_number("/proc/self/statm", &pages))
        return 0;
    uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    if (used <= limit && bytes <= limit - used)
        return 0;
    return fail(ACLSHMEM_MALLOC_FAILED,
                "the limit of address space (RLIMIT_AS, ulimit -v) is %" PRIu64 " KiB, of which %" PRIu64
                " KiB are in use; %" PRIu64 " KiB more are needed: raise it to %" PRIu64 " KiB or lift it",
                limit >> 10, used >> 10, bytes >> 10, (used + bytes + 1023) >> 10);
}

int aclshmemi_limits_file_size(uint64_t bytes)
{
    uint64_t limit;
    if (!read_limit(RLIMIT_FSIZE, &limit) || bytes <= limit)
        return 0;
    return fail(ACLSHMEM_MALLOC_FAILED,
                "the limit of file sizes (RLIMIT_FSIZE, ulimit -f) is %" PRIu64
                " KiB and applies to shared memory too; %" PRIu64 " KiB are needed: raise or lift it",
                limit >> 10, bytes >> 10);
}

int aclshmemi_limits_descriptors(const char *what)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (errno != EMFILE && errno != ENFILE)
        return 0;
    uint64_t limit = 0;
    if (errno == ENFILE || !read_limit(RLIMIT_NOFILE, &limit))
        return fail(ACLSHMEM_MALLOC_FAILED, "%s failed: the system has no descriptors left", what);
    return fail(ACLSHMEM_MALLOC_FAILED,
                "%s failed: all %" PRIu64
                " descriptors of the process (RLIMIT_NOFILE, ulimit -n) are in use, at least %" PRIu64
                " are needed",
                what, limit, limit + 1);
}

int aclshmemi_limits_huge_pages(uint64_t bytes)
{
    uint64_t needed = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES, total, unused, promised;
    if (!read_number(HUGE_FOLDER "nr_hugepages", &total) ||
        !read_number(HUGE_FOLDER "free_hugepages", &unused) ||
        !read_number(HUGE_FOLDER "resv_hugepages", &promised))
        return fail(ACLSHMEM_NOT_SUPPORTED,
                    "SHMEM_HUGE_PAGES is hugetlb, but this kernel has no huge pages of 2 MiB");
    uint64_t left = unused > promised ? unused - promised : 0;
    if (left >= needed)
        return 0;
    return fail(ACLSHMEM_MALLOC_FAILED,
                "SHMEM_HUGE_PAGES is hugetlb, but /proc/sys/vm/nr_hugepages is %" PRIu64 " with %" PRIu64
                " pages of 2 MiB left, and this PE needs %" PRIu64 ": set it to at least %" PRIu64
                " for each PE of the host, or use auto",
                total, left, needed, needed);
}

bool aclshmemi_limits_pages_of(const void *address, aclshmemi_pages_t *pages)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return false;
    aclshmemi_pages_t found = {0};
    bool inside = false;
    char line[512]; /* longer ones are names of files; their rest matches nothing below */
    while (fgets(line, sizeof line, file)) {
        uint64_t from, to;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
            if (inside)
                break;
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        } else if (inside && sscanf(line, "KernelPageSize: %" SCNu64 " kB", &from) == 1) {
            found.kernel_bytes = from << 10;
        } else if (inside && sscanf(line, "THPeligible: %" SCNu64, &from) == 1) {
            found.grows_huge = from != 0;
        }
    }
    fclose(file);
    if (!inside || found.kernel_bytes == 0)
        return false;
    *pages = found;
    return true;
}
