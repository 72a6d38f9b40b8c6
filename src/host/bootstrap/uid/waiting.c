/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids made in this process that no init has used yet, keyed by their magic.
 *
 * A program may make ids in a loop and use none, so only the newest keeps its socket; of older ones the address is
 * remembered and bound again should their init come after all. That needs luck only if somebody else took the port
 * in between. Sockets of ids do not share their port (SO_REUSEADDR is off while they wait), or a second bound socket
 * could win the race to listen.
 */
#define LOG_MODULE "uid"
#include "host/bootstrap/uid/waiting.h"

#include <pthread.h>
#include <string.h>

#define WAITING_MAX 255 /* as many as there may be instances */

typedef struct waiting {
    uint64_t magic;
    aclshmemi_addr_t bound;
    int fd; /* -1: closed when a newer id came */
} waiting_t;

static pthread_mutex_t table_lock =
    PTHREAD_MUTEX_INITIALIZER;       /* guards the table; never held across a wait */
static waiting_t table[WAITING_MAX]; /* oldest first */
static size_t table_count;

static void lock_table(void)
{
    pthread_mutex_lock(&table_lock);
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&table_lock);
}

static void drop_locked(void)
{
    for (size_t i = 0; i < table_count; i++)
        aclshmemi_net_close(&table[i].fd);
    memset(table, 0, sizeof table);
    table_count = 0;
}

/* A child is not the maker: its copies would keep the ports busy after the parent is done. */
static void forget_in_child(void)
{
    drop_locked();
    unlock_table();
}

static void register_fork_handlers(void)
{
    int rc = pthread_atfork(lock_table, unlock_table, forget_in_child);
    if (rc != 0)
        log_warn("children made by fork keep the sockets of unused unique ids: no memory for a fork handler");
}

static void remove_at(size_t at)
{
    memmove(&table[at], &table[at + 1], (table_count - at - 1) * sizeof table[0]);
    table_count--;
}

static void set_reuse(int fd, int on)
{
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        log_debug("SO_REUSEADDR not changed: %m");
}

void aclshmemi_uid_close_waiting(void)
{
    lock_table();
    for (size_t i = 0; i < table_count; i++)
        aclshmemi_net_close(&table[i].fd);
    unlock_table();
}

void aclshmemi_uid_return_socket(uint64_t magic, int fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    waiting_t entry = {.magic = magic, .fd = fd};
    if (fd < 0)
        return;
    pthread_once(&once, register_fork_handlers);
    if (aclshmemi_net_local(fd, &entry.bound) != 0) {
        aclshmemi_net_close(&entry.fd);
        return;
    }
    set_reuse(fd, 0);
    lock_table();
    for (size_t i = 0; i < table_count; i++)
        aclshmemi_net_close(&table[i].fd);
    if (table_count == WAITING_MAX)
        remove_at(0);
    table[table_count++] = entry;
    unlock_table();
}

int aclshmemi_uid_take_socket(uint64_t magic)
{
    waiting_t entry = {.fd = -1};
    lock_table();
    for (size_t i = 0; i < table_count; i++) {
        if (table[i].magic == magic) {
            entry = table[i];
            remove_at(i);
            break;
        }
    }
    unlock_table();
    if (entry.magic == 0)
        return -1;
    if (entry.fd >= 0) {
        /* Listening must not trip over connections of an earlier round that still linger. */
        set_reuse(entry.fd, 1);
        return entry.fd;
    }
    int fd = -1;
    return aclshmemi_net_bind(&entry.bound, &fd) == 0 ? fd : -1;
}

void aclshmemi_uid_drop_all(void)
{
    lock_table();
    drop_locked();
    unlock_table();
}
