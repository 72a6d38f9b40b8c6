/* SPDX-License-Identifier: Apache-2.0 */
/* Export and import: writing handles, judging them, and the short way through /proc. */
#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

uint64_t cpurt_namespace(const char *kind)
{
    char path[64];
    struct stat status;

    (void)snprintf(path, sizeof path, "/proc/thread-self/ns/%s", kind);
    return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The kernel's id of this boot; all zero where /proc does not tell. */
static void machine_id(uint8_t id[16])
{
    char text[40] = "";
    size_t digits = 0;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(id, 0, 16);
    if (fd < 0)
        return;
    const ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    for (ssize_t i = 0; i < got && digits < 32; i++) {
        const char c = text[i];
        const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (value >= 0) {
            id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
            digits++;
        }
    }
}

static uint64_t checksum(const cpurt_shared_t *shared)
{
    const uint8_t *const bytes = (const uint8_t *)shared;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < offsetof(cpurt_shared_t, check); i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* --- Export --- */

/* Gives the memory its token, once; called with the lock held. */
static aclError name_memory(cpurt_physical_t *physical)
{
    static const uint8_t none[CPURT_TOKEN_BYTES];

    if (memcmp(physical->token, none, sizeof none) != 0)
        return ACL_SUCCESS;
    if (getrandom(physical->token, sizeof physical->token, 0) != (ssize_t)sizeof physical->token) {
        memset(physical->token, 0, sizeof physical->token);
        return cpurt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "no random bytes: %s", strerror(errno));
    }
    return ACL_SUCCESS;
}

static aclError describe(cpurt_physical_t *physical, cpurt_shared_t *shared)
{
    struct stat status;
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&cpurt_vmm_lock);
    shared->fd = physical->fd;
    if (physical->fd < 0)
        error = cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE, "the physical memory has been freed");
    else if (fstat(physical->fd, &status) != 0)
        error = cpurt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "cannot look at a memory file: %s", strerror(errno));
    (void)pthread_mutex_unlock(&cpurt_vmm_lock);
    TRY(error);
    shared->bytes = physical->bytes;
    shared->device = (uint64_t)status.st_dev;
    shared->inode = (uint64_t)status.st_ino;
    shared->flags = (uint16_t)((physical->hugetlb ? CPURT_SHARED_HUGETLB : 0u) |
                               (physical->wants_huge ? CPURT_SHARED_HUGE : 0u) |
                               (physical->host ? CPURT_SHARED_HOST : 0u));
    (void)pthread_mutex_lock(&cpurt_share_lock);
    error = name_memory(physical);
    memcpy(shared->token, physical->token, sizeof shared->token);
    (void)pthread_mutex_unlock(&cpurt_share_lock);
    return error;
}

static aclError check_type(const char *call, const void *shareable, aclrtMemSharedHandleType type)
{
    if (shareable == NULL)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: shareableHandle is NULL", call);
    if (type != ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT && type != ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: share type %d; allowed are 1 and 2", call, (int)type);
    return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType, void *shareableHandle)
{
    cpurt_shared_t shared;
    cpurt_physical_t *physical = NULL;

    TRY(cpurt_enter());
    TRY(check_type("aclrtMemExportToShareableHandleV2", shareableHandle, shareType));
    if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMemExportToShareableHandleV2: flags %llu; allowed are 0 and 1",
                          (unsigned long long)flags);
    memset(&shared, 0, sizeof shared);
    shared.magic = CPURT_SHARED_MAGIC;
    shared.version = CPURT_SHARED_VERSION;
    shared.pid = (int32_t)getpid();
    shared.pid_space = cpurt_namespace("pid");
    machine_id(shared.machine);
    TRY(cpurt_physical_get(handle, &physical));
    aclError error = cpurt_share_serve(shared.socket, &shared.net_space);
    if (error == ACL_SUCCESS)
        error = describe(physical, &shared);
    cpurt_physical_put(physical);
    TRY(error);
    shared.check = checksum(&shared);
    memcpy(shareableHandle, &shared, sizeof shared);
    return ACL_SUCCESS;
}

/* --- Import --- */

static bool is_the_memory(int fd, const cpurt_shared_t *shared)
{
    const int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    struct stat status;

    return fstat(fd, &status) == 0 && (uint64_t)status.st_dev == shared->device &&
           (uint64_t)status.st_ino == shared->inode && (uint64_t)status.st_size == shared->bytes &&
           (fcntl(fd, F_GET_SEALS) & wanted) == wanted;
}

/* The owner's descriptor, where we may look into its /proc. Process ids and descriptor numbers are used again, so what
 * is found there counts only when it is the very file the handle describes; it is not even opened otherwise. */
static int open_in_proc(const cpurt_shared_t *shared)
{
    char path[64];
    struct stat status;

    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", shared->pid, shared->fd);
    if (stat(path, &status) != 0 || (uint64_t)status.st_dev != shared->device ||
        (uint64_t)status.st_ino != shared->inode)
        return -1;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && !is_the_memory(fd, shared)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Whether the owner can be asked from here at all; says why not. */
static aclError check_reach(const cpurt_shared_t *shared, uint64_t net_space)
{
    static const uint8_t unknown[16];
    uint8_t machine[16];

    machine_id(machine);
    if (memcmp(machine, unknown, 16) != 0 && memcmp(shared->machine, unknown, 16) != 0 &&
        memcmp(machine, shared->machine, 16) != 0)
        return cpurt_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                          "the memory belongs to process %d of another machine, or of an "
                          "earlier boot of this one; it cannot be mapped here",
                          shared->pid);
    if (net_space != 0 && shared->net_space != 0 && net_space != shared->net_space)
        return cpurt_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "the memory belongs to process %d in another network namespace, most likely another container; "
            "give both one network namespace to map it",
            shared->pid);
    return ACL_SUCCESS;
}

static aclError find_memory(const cpurt_shared_t *shared, int *out)
{
    const uint64_t net_space = cpurt_namespace("net"), pid_space = cpurt_namespace("pid");

    TRY(check_reach(shared, net_space));
    if (cpurt_share_is_own_socket(shared->socket)) {
        *out = cpurt_share_find(shared->token);
        return *out >= 0 ? ACL_SUCCESS
                         : cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                                      "the shared memory has been freed by this process");
    }
    if (pid_space != 0 && pid_space == shared->pid_space && net_space != 0 &&
        net_space == shared->net_space) {
        *out = open_in_proc(shared);
        if (*out >= 0)
            return ACL_SUCCESS;
        if (errno == EMFILE || errno == ENFILE)
            return cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                              "cannot import memory: %s; raise the limit on open files (ulimit -n)",
                              strerror(errno));
    }
    TRY(cpurt_share_ask(shared, out));
    if (is_the_memory(*out, shared))
        return ACL_SUCCESS;
    (void)close(*out);
    return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                      "process %d has handed out other memory than the handle describes", shared->pid);
}

aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
                                             uint64_t flags, aclrtDrvMemHandle *handle)
{
    cpurt_shared_t shared;
    int fd = -1;

    TRY(cpurt_enter());
    TRY(check_type("aclrtMemImportFromShareableHandleV2", shareableHandle, shareType));
    if (handle == NULL || flags != 0)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM,
                          "aclrtMemImportFromShareableHandleV2: handle is NULL, or flags are not 0");
    memcpy(&shared, shareableHandle, sizeof shared);
    if (shared.magic != CPURT_SHARED_MAGIC || shared.check != checksum(&shared))
        return cpurt_fail(ACL_ERROR_RT_INVALID_HANDLE,
                          "the 128 bytes are no handle to shared memory, or are damaged");
    if (shared.version != CPURT_SHARED_VERSION || shared.bytes == 0 || shared.bytes % CPURT_HUGE_PAGE != 0)
        return cpurt_fail(
            ACL_ERROR_RT_INVALID_HANDLE,
            "the handle was made by version %u of the device runtime; this one reads version %u",
            shared.version, CPURT_SHARED_VERSION);
    TRY(find_memory(&shared, &fd));
    const cpurt_physical_t like = {.bytes = shared.bytes,
                                   .device = -1,
                                   .wants_huge = (shared.flags & CPURT_SHARED_HUGE) != 0,
                                   .hugetlb = (shared.flags & CPURT_SHARED_HUGETLB) != 0,
                                   .host = (shared.flags & CPURT_SHARED_HOST) != 0};
    return cpurt_physical_make(fd, &like, handle);
}
