/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log's files: where they may lie, how they are named, turned over and thinned out.
 *
 * Everything happens relative to one descriptor of the folder, opened without following a link and then judged, so
 * nobody can exchange the folder between the look and the use. A file is always new (O_EXCL): nothing that exists is
 * ever written to, cut or followed. Nothing here uses the log; what must be said goes to the standard descriptors.
 */
#include "host/utils/log_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/utils/clock.h"
#include "host/utils/fd.h"
#include "host/utils/log_name.h"
#include "host/utils/log_time.h"

#define FILE_NAME_TRIES 10000
#define PRUNE_AT_ONCE   1000

aclshmemi_log_file_limits_t aclshmemi_log_file_limits = {
    .file_bytes = UINT64_C(1) << 30, .files = 50, .free_bytes = UINT64_C(10) << 30};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    char directory[PATH_MAX]; /* as configured; "" for the default */
    char pattern[PATH_MAX];   /* as configured; "" for names of ours */
    int dir_fd;
    int fd;
    bool off;         /* no file can be had until the configuration changes */
    bool regular;     /* not a device: turned over, made read-only */
    bool full;        /* result of the last look at the file system */
    uint64_t look_ns; /* when to look again */
    char base[NAME_MAX + 1];
    char name[NAME_MAX + 1];
} file = {.dir_fd = -1, .fd = -1};

/* The library's own output, so one line and no more. */
static void tell(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(int fd, const char *format, ...)
{
    char text[PATH_MAX + 256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    if (length < 0)
        return;
    size_t size = (size_t)length < sizeof text - 1 ? (size_t)length : sizeof text - 2;
    text[size++] = '\n';
    if (write(fd, text, size) < 0)
        return; /* nobody is listening there, and there is no other place to say it */
}

static void close_file(void)
{
    if (file.fd >= 0) {
        struct stat st;
        if (file.regular && fstat(file.fd, &st) == 0 && fchmod(file.fd, st.st_mode & 0440) != 0)
            tell(STDERR_FILENO, "aclshmem: log file %s stays writable: %s", file.name, strerror(errno));
        close(file.fd);
    }
    if (file.dir_fd >= 0)
        close(file.dir_fd);
    file.fd = file.dir_fd = -1;
}

static void make_directories(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0750) != 0 && errno != EEXIST)
            return; /* opening it will tell why */
    }
}

/* Opens and judges the folder; shared_allowed: /tmp and the like will do, for a file the user named. */
static bool open_directory(char *path, bool shared_allowed)
{
    aclshmemi_log_name_cut_trailing(path);
    make_directories(path);
    int fd = aclshmemi_fd_above_stdio(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat st;
    const char *why = NULL;
    if (fd < 0)
        why = errno == ELOOP || errno == ENOTDIR ? "it is a link or no folder" : strerror(errno);
    else if (fstat(fd, &st) != 0)
        why = strerror(errno);
    else if (st.st_uid != geteuid() && st.st_uid != 0)
        why = "it belongs to another user";
    else if ((st.st_mode & 022) && !(shared_allowed && (st.st_mode & S_ISVTX)))
        why = "its group or others may write to it, chmod go-w helps";
    if (why) {
        tell(STDOUT_FILENO, "aclshmem: no log file in %s: %s", path, why);
        if (fd >= 0)
            close(fd);
        return false;
    }
    file.dir_fd = fd;
    return true;
}

/* A process that writes to its file holds a lock on it; this works where process numbers mean nothing (containers). */
static bool in_use(const char *name)
{
    int fd = openat(file.dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT;
    bool used = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return used;
}

static bool older(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* Removes the oldest file of ours when there are too many; false when there is nothing (more) to do. */
static bool prune_one(DIR *dir)
{
    char oldest[NAME_MAX + 1] = "";
    struct stat st, oldest_st = {0};
    unsigned count = 0;
    rewinddir(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!aclshmemi_log_name_matches(entry->d_name, file.pattern[0] ? file.base : NULL) ||
            fstatat(file.dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        count++;
        if (strcmp(entry->d_name, file.name) != 0 && st.st_uid == geteuid() && !in_use(entry->d_name) &&
            (!oldest[0] || older(&st, &oldest_st))) {
            snprintf(oldest, sizeof oldest, "%s", entry->d_name);
            oldest_st = st;
        }
    }
    return count > aclshmemi_log_file_limits.files && oldest[0] && unlinkat(file.dir_fd, oldest, 0) == 0;
}

static void prune(void)
{
    int fd = openat(file.dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (int i = 0; i < PRUNE_AT_ONCE && prune_one(dir); i++)
        ;
    closedir(dir);
}

static int open_new(const char *name)
{
    return aclshmemi_fd_above_stdio(
        openat(file.dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
}

static bool open_device(void)
{
    struct stat st;
    if (fstatat(file.dir_fd, file.base, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISCHR(st.st_mode))
        return false;
    file.fd = aclshmemi_fd_above_stdio(
        openat(file.dir_fd, file.base, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    file.regular = false;
    return file.fd >= 0;
}

static bool open_in_directory(void)
{
    for (int i = 0; i < FILE_NAME_TRIES; i++) {
        int length;
        if (file.pattern[0])
            length = i ? snprintf(file.name, sizeof file.name, "%s.%d", file.base, i)
                       : snprintf(file.name, sizeof file.name, "%s", file.base);
        else
            length = i ? snprintf(file.name, sizeof file.name, "%s_%d.log", file.base, i)
                       : snprintf(file.name, sizeof file.name, "%s.log", file.base);
        if ((size_t)length >= sizeof file.name) {
            errno = ENAMETOOLONG;
            break;
        }
        file.fd = open_new(file.name);
        if (file.fd >= 0) {
            file.regular = true;
            if (flock(file.fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
                return true;
            close(file.fd); /* somebody who thins out looks at it right now, and may remove it */
            file.fd = -1;
            continue;
        }
        if (errno != EEXIST)
            break;
    }
    return false;
}

/* Folder and name of the next file; the folder in directory, the name in file.base. */
static bool choose_name(char directory[PATH_MAX], int pe)
{
    if (!file.pattern[0]) {
        if (file.directory[0])
            snprintf(directory, PATH_MAX, "%s", file.directory);
        else
            aclshmemi_log_name_default(directory);
        char stamp[16];
        aclshmemi_log_time_compact(stamp);
        snprintf(file.base, sizeof file.base, "aclshmem_%d_%s", (int)getpid(), stamp);
        return true;
    }
    char path[PATH_MAX];
    if (!aclshmemi_log_name_expand(file.pattern, pe, path, sizeof path)) {
        tell(STDOUT_FILENO, "aclshmem: no log file: the name %.100s... is too long", file.pattern);
        return false;
    }
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || strlen(name) > NAME_MAX - 12 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        tell(STDOUT_FILENO, "aclshmem: no log file: %.200s is no name for a file", path);
        return false;
    }
    snprintf(file.base, sizeof file.base, "%s", name);
    size_t length = slash ? (size_t)(slash - path) : 0;
    memcpy(directory, path, length);
    snprintf(directory + length, PATH_MAX - length, "%s", slash == path ? "/" : slash ? "" : ".");
    return true;
}

static bool open_file(int pe)
{
    char directory[PATH_MAX];
    if (!choose_name(directory, pe) || !open_directory(directory, file.pattern[0] != '\0'))
        return false;
    file.look_ns = 0;
    file.full = false;
    if (file.pattern[0] && open_device())
        return true;
    if (!open_in_directory()) {
        tell(STDOUT_FILENO, "aclshmem: no log file in %s: %s", directory, strerror(errno));
        close_file();
        return false;
    }
    prune();
    return true;
}

/* Asked at most once a second: on a network file system the answer takes a while. */
static bool disk_full(void)
{
    uint64_t now = aclshmemi_clock_ns();
    if (!file.regular || now < file.look_ns)
        return file.full;
    file.look_ns = now + ACLSHMEMI_NS_PER_S;
    struct statvfs fs;
    bool full = fstatvfs(file.fd, &fs) == 0 &&
                (uint64_t)fs.f_bavail * fs.f_frsize <= aclshmemi_log_file_limits.free_bytes;
    if (full && !file.full)
        tell(STDERR_FILENO,
             "aclshmem: the disk of log file %s has %llu MiB free or less, only errors are shown", file.name,
             (unsigned long long)(aclshmemi_log_file_limits.free_bytes >> 20));
    file.full = full;
    return full;
}

static bool write_all(const char *line, size_t length)
{
    while (length) {
        ssize_t n = write(file.fd, line, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        line += n;
        length -= (size_t)n;
    }
    return true;
}

static aclshmemi_log_file_result_t write_locked(const char *line, size_t length, int pe)
{
    struct stat st;
    if (file.fd >= 0 && file.regular && fstat(file.fd, &st) == 0 &&
        (uint64_t)st.st_size + length > aclshmemi_log_file_limits.file_bytes && st.st_size > 0)
        close_file();
    if (file.fd < 0 && (file.off || !open_file(pe))) {
        file.off = true;
        return ACLSHMEMI_LOG_FILE_OFF;
    }
    if (disk_full() || !write_all(line, length))
        return ACLSHMEMI_LOG_FILE_FULL;
    return ACLSHMEMI_LOG_FILE_WRITTEN;
}

aclshmemi_log_file_result_t aclshmemi_log_file_write(const char *line, size_t length, int pe)
{
    pthread_mutex_lock(&lock);
    aclshmemi_log_file_result_t result = write_locked(line, length, pe);
    pthread_mutex_unlock(&lock);
    return result;
}

bool aclshmemi_log_file_configure(const char *directory, const char *pattern)
{
    bool usable = !directory || aclshmemi_log_name_usable(directory);
    if (!directory || !usable)
        directory = "";
    if (!pattern || strlen(pattern) >= sizeof file.pattern)
        pattern = "";
    pthread_mutex_lock(&lock);
    if (strcmp(directory, file.directory) != 0 || strcmp(pattern, file.pattern) != 0) {
        close_file();
        snprintf(file.directory, sizeof file.directory, "%s", directory);
        snprintf(file.pattern, sizeof file.pattern, "%s", pattern);
    }
    file.off = false;
    file.look_ns = 0;
    pthread_mutex_unlock(&lock);
    return usable;
}

void aclshmemi_log_file_close(void)
{
    pthread_mutex_lock(&lock);
    close_file();
    file.off = false;
    pthread_mutex_unlock(&lock);
}

void aclshmemi_log_file_lock(void)
{
    pthread_mutex_lock(&lock);
}

void aclshmemi_log_file_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void aclshmemi_log_file_forget(void)
{
    if (file.fd >= 0)
        close(file.fd);
    if (file.dir_fd >= 0)
        close(file.dir_fd);
    file.fd = file.dir_fd = -1;
}
