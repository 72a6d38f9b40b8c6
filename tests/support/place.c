/* SPDX-License-Identifier: Apache-2.0 */
/* Where a test runs: ports, folders, files, environment, a network of its own. */
#include "support/support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* Bound socket on that loopback port, 0: one the system chooses; -1 without that family, or when it is taken. */
static int bind_loopback(int family, uint16_t *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } addr = {.any = {.sa_family = (sa_family_t)family}};
    socklen_t length = family == AF_INET ? sizeof addr.v4 : sizeof addr.v6;
    if (family == AF_INET) {
        addr.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        addr.v4.sin_port = htons(*port);
    } else {
        addr.v6.sin6_addr = in6addr_loopback;
        addr.v6.sin6_port = htons(*port);
    }
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, &addr.any, length) != 0 || getsockname(fd, &addr.any, &length) != 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? addr.v4.sin_port : addr.v6.sin6_port);
    return fd;
}

/* Lowest port the system takes for outgoing connections. */
static int first_outgoing_port(void)
{
    char *text = t_file_read("/proc/sys/net/ipv4/ip_local_port_range");
    int low = atoi(text);
    free(text);
    return low;
}

/* Below the ports of outgoing connections, where the many connections of tests that run beside this one would take it
 * before it is used. */
uint16_t t_free_port(int family)
{
    enum { LOWEST = 10000, TRIES = 200 };
    uint16_t port = 0, drawn = 0;
    int span = first_outgoing_port() - LOWEST;
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0 && span > 1000; i++) {
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
            break;
        port = (uint16_t)(LOWEST + drawn % span);
        fd = bind_loopback(family, &port);
    }
    if (fd < 0) {
        port = 0;
        fd = bind_loopback(family, &port);
    }
    if (fd < 0)
        t_fail("no free port of family %d: %s", family, strerror(errno));
    close(fd);
    return port;
}

bool t_has_ipv6(void)
{
    uint16_t port = 0;
    int fd = bind_loopback(AF_INET6, &port);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void t_dir_make(char *path, size_t size)
{
    const char *root = getenv("TMPDIR");
    if ((size_t)snprintf(path, size, "%s/aclshmem_test_XXXXXX", root && *root ? root : "/tmp") >= size)
        t_fail("no room for the name of a folder");
    if (!mkdtemp(path))
        t_fail("cannot make the folder %s: %s", path, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)where;
    if (kind == FTW_DP || kind == FTW_D || kind == FTW_DNR)
        return rmdir(path);
    return unlink(path);
}

void t_dir_remove(const char *path)
{
    if (!strstr(path, "aclshmem_test_"))
        t_fail("%s is no folder of ours", path);
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
        t_fail("cannot remove %s: %s", path, strerror(errno));
}

void t_file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t size = strlen(text);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size || close(fd) != 0)
        t_fail("cannot write %s: %s", path, strerror(errno));
}

char *t_file_read(const char *path)
{
    char *text = NULL;
    size_t size = 0, capacity = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        t_fail("cannot open %s: %s", path, strerror(errno));
    for (;;) {
        if (size + 1 >= capacity) {
            capacity = capacity ? capacity * 2 : 4096;
            text = realloc(text, capacity);
            if (!text)
                t_fail("no memory for %s", path);
        }
        ssize_t n = read(fd, text + size, capacity - size - 1);
        if (n < 0)
            t_fail("cannot read %s: %s", path, strerror(errno));
        if (n == 0)
            break;
        size += (size_t)n;
    }
    close(fd);
    text[size] = '\0';
    return text;
}

void t_clean_environment(void)
{
    static const char *const prefixes[] = {"SHMEM_", "HCCL_",  "ACCLINK_",      "ASCEND_", "PMI",   "OMPI_",
                                           "MPI_",   "SLURM_", "TORCHELASTIC_", "MV2_",    "PALS_", "FLUX_"};
    static const char *const names[] = {"RANK",        "WORLD_SIZE",  "LOCAL_RANK", "LOCAL_WORLD_SIZE",
                                        "MASTER_ADDR", "MASTER_PORT", "RANK_ID",    "RANK_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    for (char **entry = environ; *entry;) {
        size_t length = strcspn(*entry, "=");
        bool unwanted = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !unwanted; i++)
            unwanted = strncmp(*entry, prefixes[i], strlen(prefixes[i])) == 0;
        char name[256];
        if (!unwanted || length >= sizeof name) {
            entry++;
            continue;
        }
        memcpy(name, *entry, length);
        name[length] = '\0';
        unsetenv(name);
        entry = environ; /* the list has moved */
    }
}

static bool write_id_map(const char *path, unsigned inside, unsigned outside)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%u %u 1", inside, outside);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = write(fd, text, (size_t)length) == length;
    close(fd);
    return done;
}

static bool loopback_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool up = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    request.ifr_flags |= IFF_UP;
    up = up && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return up;
}

bool t_unshare_network(void)
{
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWNET) == 0)
        return loopback_up();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    int fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        bool denied = write(fd, "deny", 4) == 4;
        close(fd);
        if (!denied)
            return false;
    }
    return write_id_map("/proc/self/uid_map", uid, uid) && write_id_map("/proc/self/gid_map", gid, gid) &&
           loopback_up();
}
