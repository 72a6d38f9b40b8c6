/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sits on a port, as far as /proc tells: the table of sockets gives inode and user, the descriptors of the
 * processes we may look into give the process. Best effort, with a deadline; runs only on the way to an error.
 */
#include "host/utils/net_holder.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEARCH_MS = 1000, STATE_LISTEN = 0x0a };

typedef struct found {
    unsigned long inode; /* 0: nothing found */
    unsigned uid;
} found_t;

/* A line: "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 ..." */
static void search_table(const char *table, uint16_t port, found_t *found)
{
    char line[512];
    FILE *file = fopen(table, "re");
    if (!file)
        return;
    while (!found->inode && fgets(line, sizeof line, file)) {
        unsigned local_port, state, uid;
        unsigned long inode;
        if (sscanf(line, "%*u: %*32[0-9A-Fa-f]:%x %*32[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %u %*u %lu",
                   &local_port, &state, &uid, &inode) == 4 &&
            local_port == port && state == STATE_LISTEN && inode)
            *found = (found_t){inode, uid};
    }
    fclose(file);
}

static bool has_socket(const char *pid, const char *wanted, aclshmemi_deadline_t deadline)
{
    char path[300], target[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool has = false;
    for (struct dirent *entry; !has && (entry = readdir(dir)) && !aclshmemi_deadline_passed(deadline);) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        if (n > 0) {
            target[n] = '\0';
            has = strcmp(target, wanted) == 0;
        }
    }
    closedir(dir);
    return has;
}

static void print_process(const char *pid, char out[ACLSHMEMI_HOLDER_LEN])
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(name, sizeof name, file))
            name[0] = '\0';
        name[strcspn(name, "\n")] = '\0';
        fclose(file);
    }
    snprintf(out, ACLSHMEMI_HOLDER_LEN, " by %s (pid %.20s)", name[0] ? name : "a process", pid);
}

void aclshmemi_net_holder(const aclshmemi_addr_t *addr, char out[ACLSHMEMI_HOLDER_LEN])
{
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(SEARCH_MS);
    found_t found = {0};
    uint16_t port = aclshmemi_addr_port(addr);
    out[0] = '\0';
    /* Either family may be in the way: a socket on [::] without the V6ONLY option holds the port of IPv4 as well. */
    search_table(addr->any.sa_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp", port, &found);
    search_table(addr->any.sa_family == AF_INET6 ? "/proc/net/tcp" : "/proc/net/tcp6", port, &found);
    if (!found.inode)
        return;
    snprintf(out, ACLSHMEMI_HOLDER_LEN, " by a process of user %u", found.uid);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%lu]", found.inode);
    char self[16];
    snprintf(self, sizeof self, "%d", (int)getpid()); /* an instance that is still there is a likely holder */
    if (has_socket(self, wanted, ACLSHMEMI_NEVER)) {
        print_process(self, out);
        return;
    }
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *entry; (entry = readdir(proc)) && !aclshmemi_deadline_passed(deadline);) {
        if (isdigit((unsigned char)entry->d_name[0]) && has_socket(entry->d_name, wanted, deadline)) {
            print_process(entry->d_name, out);
            break;
        }
    }
    closedir(proc);
}
