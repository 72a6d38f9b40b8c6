/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher's secret and the user's secret file.
 *
 * The file is made under a temporary name and linked to its own when complete, so nobody ever sees a short one; whoever
 * comes second finds the name taken and uses the winner's file.
 */
#include "host/bootstrap/tls/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/rand.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/openssl.h"
#include "host/bootstrap/tls/tls.h"

#define REMEDY "remove it and start again, or name another file in SHMEM_SECRET_FILE"

/* Up to size bytes; what was read, -1 on error. */
static ssize_t read_at_start(int fd, uint8_t *out, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, out + got, size - got, (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

int aclshmemi_secret_of_launcher(int fd, uint8_t *secret)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
        return fail(ACLSHMEM_INNER_ERROR, "SHMEM_SECRET_FD names no open descriptor (%m); the launcher must "
                                          "leave it open for its children");
    ssize_t got = read_at_start(fd, secret, ACLSHMEMI_SECRET_LEN);
    if (got < 0)
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's secret cannot be read from its descriptor: %m");
    if (got != ACLSHMEMI_SECRET_LEN) {
        explicit_bzero(secret, ACLSHMEMI_SECRET_LEN);
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's secret has %zd bytes, it must have %d", got,
                    ACLSHMEMI_SECRET_LEN);
    }
    return 0;
}

/* --- Which file --- */

static int home_from_passwd(char *out, size_t size)
{
    char text[4096];
    struct passwd entry, *found = NULL;
    int rc = getpwuid_r(geteuid(), &entry, text, sizeof text, &found);
    if (rc != 0 || !found || !entry.pw_dir || entry.pw_dir[0] != '/')
        return fail(ACLSHMEM_INNER_ERROR,
                    "user %u has no home directory for the secret file; set HOME, or name a file in "
                    "SHMEM_SECRET_FILE",
                    (unsigned)geteuid());
    int length = snprintf(out, size, "%s", entry.pw_dir);
    if (length < 0 || (size_t)length >= size)
        return fail(ACLSHMEM_INNER_ERROR, "the name of the home directory has %d bytes, allowed are %zu",
                    length, size - 1);
    return 0;
}

/* The user's configuration folder. Names that are not absolute are ignored, as the desktop conventions ask. */
static int configuration_home(char *out, size_t size)
{
    const char *config = aclshmemi_env_raw("XDG_CONFIG_HOME");
    const char *home = aclshmemi_env_raw("HOME");
    char from_passwd[ACLSHMEMI_SECRET_PATH_LEN];
    int length;
    if (config && config[0] == '/') {
        length = snprintf(out, size, "%s", config);
    } else {
        if (!home || home[0] != '/') {
            TRY(home_from_passwd(from_passwd, sizeof from_passwd));
            home = from_passwd;
        }
        length = snprintf(out, size, "%s/.config", home);
    }
    if (length < 0 || (size_t)length >= size)
        return fail(
            ACLSHMEM_INNER_ERROR,
            "the name of the configuration folder has %d bytes, allowed are %zu; name another file in "
            "SHMEM_SECRET_FILE",
            length, size - 1);
    return 0;
}

/* --- Its folder --- */

static int make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return 0;
    return fail(ACLSHMEM_INNER_ERROR,
                "folder %s for the secret file cannot be made: %m; name another file in SHMEM_SECRET_FILE",
                path);
}

/* Our own folder must be ours alone; one the user named must not let others swap the file. */
static int check_folder(const char *path, bool own)
{
    struct stat st;
    if ((own ? lstat(path, &st) : stat(path, &st)) != 0)
        return fail(ACLSHMEM_INNER_ERROR, "folder %s of the secret file cannot be looked at: %m", path);
    if (!S_ISDIR(st.st_mode))
        return fail(ACLSHMEM_INNER_ERROR, "%s, meant to hold the secret file, is not a directory", path);
    if (st.st_uid != geteuid() && (own || st.st_uid != 0))
        return fail(
            ACLSHMEM_INNER_ERROR,
            "folder %s of the secret file belongs to user %u, not to user %u who runs this; name a file of "
            "your own in SHMEM_SECRET_FILE",
            path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (own && (st.st_mode & 077) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "folder %s of the secret file has mode %04o, it must be 0700: run chmod 700 %s", path,
                    st.st_mode & 07777, path);
    if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "folder %s of the secret file can be written by others (mode %04o): run chmod go-w %s",
                    path, st.st_mode & 07777, path);
    return 0;
}

/* Fills path; nothing is touched. */
int aclshmemi_secret_path(const aclshmemi_env_t *env, char *path)
{
    static const char name[] = "/shmem/secret";
    size_t room = ACLSHMEMI_SECRET_PATH_LEN - 32; /* for the temporary names beside it */
    if (env->secret_file[0] != '\0') {
        int length = snprintf(path, room, "%s", env->secret_file);
        if (length < 0 || (size_t)length >= room)
            return fail(ACLSHMEM_INNER_ERROR, "SHMEM_SECRET_FILE has %d bytes, allowed are %zu", length,
                        room - 1);
        return 0;
    }
    TRY(configuration_home(path, room - sizeof name));
    memcpy(path + strlen(path), name, sizeof name);
    return 0;
}

/* The folder a file is in: "." and "/" have no name in it. */
static void name_folder(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (length == 0)
        memcpy(folder, slash ? "/" : ".", 2);
}

/* A folder the user named must be there; our own is made, and the configuration folder it is in. */
static int see_to_folder(const aclshmemi_env_t *env, const char *path)
{
    char folder[ACLSHMEMI_SECRET_PATH_LEN], above[ACLSHMEMI_SECRET_PATH_LEN];
    bool own = env->secret_file[0] == '\0';
    name_folder(path, folder);
    if (own) {
        name_folder(folder, above);
        TRY(make_folder(above));
        TRY(make_folder(folder));
    }
    return check_folder(folder, own);
}

/* --- The file --- */

static int check_file(const struct stat *st, const char *path)
{
    if (!S_ISREG(st->st_mode))
        return fail(ACLSHMEM_INNER_ERROR, "secret file %s is not a regular file; " REMEDY, path);
    if (st->st_uid != geteuid())
        return fail(ACLSHMEM_INNER_ERROR,
                    "secret file %s belongs to user %u, not to user %u who runs this; " REMEDY, path,
                    (unsigned)st->st_uid, (unsigned)geteuid());
    if ((st->st_mode & 077) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "secret file %s has mode %04o, others may have read it; remove it and start again "
                    "(copies on other "
                    "hosts too), or run chmod 600 %s if you know that nobody did",
                    path, st->st_mode & 07777, path);
    if (st->st_size != ACLSHMEMI_SECRET_LEN)
        return fail(ACLSHMEM_INNER_ERROR, "secret file %s has %lld bytes, it must have %d; " REMEDY, path,
                    (long long)st->st_size, ACLSHMEMI_SECRET_LEN);
    return 0;
}

/* 0 with *found false: there is none. */
static int read_file(const char *path, uint8_t *secret, bool *found)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *found = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && errno == ELOOP)
        return fail(ACLSHMEM_INNER_ERROR, "secret file %s is a symbolic link; " REMEDY, path);
    if (fd < 0 && lstat(path, &st) == 0 && st.st_uid != geteuid())
        return check_file(&st, path); /* says whose it is, which is why it cannot be opened */
    if (fd < 0)
        return fail(ACLSHMEM_INNER_ERROR, "secret file %s cannot be opened: %m", path);
    int rc;
    if (fstat(fd, &st) != 0)
        rc = fail(ACLSHMEM_INNER_ERROR, "secret file %s cannot be looked at: %m", path);
    else
        rc = check_file(&st, path);
    if (rc == 0 && read_at_start(fd, secret, ACLSHMEMI_SECRET_LEN) != ACLSHMEMI_SECRET_LEN) {
        explicit_bzero(secret, ACLSHMEMI_SECRET_LEN);
        rc = fail(ACLSHMEM_INNER_ERROR, "secret file %s cannot be read: %m", path);
    }
    close(fd);
    return rc;
}

/* The bytes must be on disk before the name is: a crash in between would leave an empty file that is refused later. */
static bool write_all(int fd, const uint8_t *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return fsync(fd) == 0;
}

/* Gives a finished file its name unless that is taken; some file systems know no links. */
static bool publish(const char *temporary, const char *path)
{
    if (link(temporary, path) == 0 || errno == EEXIST)
        return true;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return false;
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0 || errno == EEXIST;
}

static int make_file(const char *path)
{
    char temporary[ACLSHMEMI_SECRET_PATH_LEN + 8];
    uint8_t fresh[ACLSHMEMI_SECRET_LEN];
    aclshmemi_tls_errors_begin();
    bool drawn = RAND_priv_bytes_ex(aclshmemi_tls_library(), fresh, sizeof fresh, 0) == 1;
    unsigned long error = aclshmemi_tls_errors_end();
    if (!drawn)
        return fail(ACLSHMEM_INNER_ERROR, "no random bytes for secret file %s: %s", path,
                    aclshmemi_tls_error_text(error));
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC); /* O_EXCL, mode 0600 */
    int rc = 0;
    if (fd < 0) {
        rc = fail(ACLSHMEM_INNER_ERROR,
                  "secret file %s cannot be made: %m; name another in SHMEM_SECRET_FILE", path);
        goto wipe;
    }
    if (!write_all(fd, fresh, sizeof fresh) || !publish(temporary, path))
        rc = fail(ACLSHMEM_INNER_ERROR,
                  "secret file %s cannot be made: %m; name another in SHMEM_SECRET_FILE", path);
    close(fd);
    unlink(temporary);
wipe:
    explicit_bzero(fresh, sizeof fresh);
    return rc;
}

int aclshmemi_secret_of_user(const aclshmemi_env_t *env, uint8_t *secret, char *path)
{
    bool found = false;
    TRY(aclshmemi_secret_path(env, path));
    TRY(see_to_folder(env, path));
    TRY(read_file(path, secret, &found));
    if (found)
        return 0;
    TRY(make_file(path));
    TRY(read_file(path, secret, &found));
    if (!found)
        return fail(ACLSHMEM_INNER_ERROR, "secret file %s was removed while it was read; start again", path);
    log_info("made secret file %s; hosts that do not share it need a copy", path);
    return 0;
}
