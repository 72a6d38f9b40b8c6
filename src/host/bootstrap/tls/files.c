/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and reading of the files named in the description of the certificates. */
#include "host/bootstrap/tls/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_MODULE "tls"
#include "host/utils/log.h"

#define FILE_MAX    ((off_t)10 << 20)
#define LIBRARY_MAX ((off_t)1 << 30)

int aclshmemi_tls_check_directory(const char *path, const char *key)
{
    struct stat st;
    char stripped[PATH_MAX];
    int length = snprintf(stripped, sizeof stripped, "%s", path);
    if (length < 0 || (size_t)length >= sizeof stripped)
        return fail(ACLSHMEM_INNER_ERROR, "the path of %s has %d bytes, allowed are %zu", key, length,
                    sizeof stripped - 1);
    while (length > 1 && stripped[length - 1] == '/')
        stripped[--length] = '\0'; /* "link/" would be followed */
    if (lstat(stripped, &st) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "the directory of %s cannot be looked at: %m", key);
    if (S_ISLNK(st.st_mode))
        return fail(ACLSHMEM_INNER_ERROR, "the directory of %s is a symbolic link; name what it points to",
                    key);
    if (!S_ISDIR(st.st_mode))
        return fail(ACLSHMEM_INNER_ERROR, "%s does not name a directory", key);
    return 0;
}

/* --- Reading --- */

static int check_file(const struct stat *st, const char *key)
{
    if (!S_ISREG(st->st_mode))
        return fail(ACLSHMEM_INNER_ERROR, "%s names something that is not a regular file", key);
    if (st->st_size < 1 || st->st_size > FILE_MAX)
        return fail(ACLSHMEM_INNER_ERROR, "a file of %s has %lld bytes, allowed are 1..%lld", key,
                    (long long)st->st_size, (long long)FILE_MAX);
    if ((st->st_mode & 022) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "a file of %s can be written by others (mode %04o): run chmod go-w on it", key,
                    st->st_mode & 07777);
    return 0;
}

static int read_whole(int fd, const char *key, aclshmemi_tls_bytes_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "a file of %s cannot be looked at: %m", key);
    TRY(check_file(&st, key));
    size_t size = (size_t)st.st_size, got = 0;
    char *data = malloc(size);
    if (!data)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a file of %s with %zu bytes", key, size);
    while (got < size) {
        ssize_t n = read(fd, data + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    if (got != size) {
        free(data);
        return fail(ACLSHMEM_INNER_ERROR, "a file of %s could be read for %zu of %zu bytes only", key, got,
                    size);
    }
    *bytes = (aclshmemi_tls_bytes_t){data, size};
    return 0;
}

int aclshmemi_tls_read_file(const char *directory, const char *name, const char *key,
                            aclshmemi_tls_bytes_t *bytes)
{
    char path[PATH_MAX];
    int length = directory ? snprintf(path, sizeof path, "%s/%s", directory, name)
                           : snprintf(path, sizeof path, "%s", name);
    if (length < 0 || (size_t)length >= sizeof path)
        return fail(ACLSHMEM_INNER_ERROR, "the path of %s has %d bytes, allowed are %zu", key, length,
                    sizeof path - 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ELOOP)
        return fail(ACLSHMEM_INNER_ERROR, "a file of %s is a symbolic link; name what it points to", key);
    if (fd < 0)
        return fail(ACLSHMEM_INNER_ERROR, "a file of %s cannot be opened: %m", key);
    int rc = read_whole(fd, key, bytes);
    close(fd);
    return rc;
}

void aclshmemi_tls_bytes_free(aclshmemi_tls_bytes_t *bytes)
{
    free(bytes->data);
    *bytes = (aclshmemi_tls_bytes_t){0};
}

/* --- OpenSSL's libraries --- */

static int check_owner(const struct stat *st, const char *what)
{
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return fail(ACLSHMEM_INNER_ERROR,
                    "%s of packagePath belongs to user %u; only root and user %u are trusted", what,
                    (unsigned)st->st_uid, (unsigned)geteuid());
    if ((st->st_mode & 022) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "%s of packagePath can be written by others (mode %04o): run chmod go-w on it", what,
                    st->st_mode & 07777);
    return 0;
}

static bool same_directory(const char *file, const char *directory)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) : 0;
    return slash && strlen(directory) == length && memcmp(file, directory, length) == 0;
}

/* Installations name the library with its version and leave the plain name, a link beside it, to compilers. */
static int check_library(const char *directory, const char *name)
{
    static const char *const endings[] = {"", ".3", ".4"};
    char path[PATH_MAX + 64], real[PATH_MAX];
    struct stat st;
    bool found = false;
    for (size_t i = 0; !found && i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", directory, name, endings[i]);
        found = lstat(path, &st) == 0;
    }
    if (!found)
        return fail(ACLSHMEM_INNER_ERROR, "packagePath has no library %s", name);
    if (!realpath(path, real) || lstat(real, &st) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "library %s of packagePath cannot be looked at: %m", name);
    if (!same_directory(real, directory))
        return fail(ACLSHMEM_INNER_ERROR, "library %s of packagePath is a link to another directory", name);
    if (!S_ISREG(st.st_mode) || st.st_size < 1 || st.st_size > LIBRARY_MAX)
        return fail(ACLSHMEM_INNER_ERROR,
                    "library %s of packagePath is not a regular file of 1 byte to 1 GiB", name);
    char what[64];
    snprintf(what, sizeof what, "library %s", name);
    return check_owner(&st, what);
}

int aclshmemi_tls_check_package(const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    TRY(aclshmemi_tls_check_directory(path, "packagePath"));
    if (!realpath(path, real) || stat(real, &st) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "the directory of packagePath cannot be looked at: %m");
    TRY(check_owner(&st, "the directory"));
    TRY(check_library(real, "libssl.so"));
    return check_library(real, "libcrypto.so");
}
