/* SPDX-License-Identifier: Apache-2.0 */
/* Memory files and their mappings: anonymous, lazily committed, of a size nobody can change. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int create(const char *label, unsigned int flags)
{
    /* Newer kernels want to be told that nothing here is a program; older ones do not know the flag. */
    const int fd = memfd_create(label, flags | MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    if (fd >= 0 || errno != EINVAL)
        return fd;
    return memfd_create(label, flags | MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Reserved pages are promised at mmap; without the promise a later touch would be a SIGBUS. */
static bool reserve_huge(int fd, size_t bytes)
{
    void *const map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        return false;
    (void)munmap(map, bytes);
    return true;
}

int cpurt_memory_file(const char *label, size_t bytes, bool huge)
{
    const int fd = create(label, huge ? (unsigned)MFD_HUGETLB : 0u);

    if (fd < 0) {
        if (!huge)
            (void)cpurt_fail(
                ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot create a memory file: %s%s", strerror(errno),
                errno == EMFILE || errno == ENFILE ? "; raise the limit on open files (ulimit -n)" : "");
        return -1;
    }
    int failed = ftruncate(fd, (off_t)bytes) != 0 ? errno : 0;
    /* A peer that shrank the file would kill us with SIGBUS. */
    if (failed == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        failed = errno;
    if (failed == 0 && huge && !reserve_huge(fd, bytes))
        failed = ENOMEM;
    if (failed != 0) {
        (void)close(fd);
        if (!huge)
            (void)cpurt_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot size a memory file to %zu bytes: %s",
                             bytes, strerror(failed));
        return -1;
    }
    return fd;
}

void *cpurt_map_aligned(int fd, size_t bytes, size_t alignment)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t slack = alignment > page ? alignment : 0;

    if (bytes > SIZE_MAX - slack) {
        errno = ENOMEM;
        return NULL;
    }
    char *const area =
        mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return NULL;
    char *const base = area + (slack == 0 ? 0 : (alignment - (uintptr_t)area % alignment) % alignment);
    if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        const int failed = errno;

        (void)munmap(area, bytes + slack);
        errno = failed;
        return NULL;
    }
    if (base > area)
        (void)munmap(area, (size_t)(base - area));
    if (base + bytes < area + bytes + slack)
        (void)munmap(base + bytes, (size_t)(area + slack - base));
    return base;
}
