/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file: NAME=value per line, # starts a comment, quotes around a value are optional and keep blanks and
 * # in it. The first of these that exists: SHMEM_CONFIG_FILE, ./shmem.conf, shmem.conf under the configuration folder
 * of the user, /etc/shmem.conf.
 *
 * A setting can name files to write and switch encryption off, so a file that somebody else can write to is not read:
 * an error when the user named it, a warning when it was found by searching.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/utils/env_table.h"
#include "host/utils/fd.h"

#define LOG_MODULE "env"

#define MAX_FILE_BYTES (1 << 20)
#define FILE_NAME      "shmem.conf"

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static char *skip_blanks(char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static void cut_blanks(char *start, char *end)
{
    while (end > start && is_blank(end[-1]))
        end--;
    *end = '\0';
}

/* Cuts the value out of its quotes, or off its comment. */
static int take_value(char *at, const char *path, int line, char **value)
{
    if (*at == '"' || *at == '\'') {
        char *close = strchr(at + 1, *at);
        if (!close)
            return fail(ACLSHMEM_INVALID_PARAM, "%s:%d: the quote %c is not closed", path, line, *at);
        char *rest = skip_blanks(close + 1);
        if (*rest != '\0' && *rest != '#')
            return fail(ACLSHMEM_INVALID_PARAM, "%s:%d: \"%.40s\" behind the closing quote", path, line,
                        rest);
        *close = '\0';
        *value = at + 1;
        return ACLSHMEM_SUCCESS;
    }
    char *end = at;
    while (*end != '\0' && !(*end == '#' && (end == at || is_blank(end[-1]))))
        end++;
    cut_blanks(at, end);
    *value = at;
    return ACLSHMEM_SUCCESS;
}

static void tell_unknown(const char *name, const char *path, int line, bool tell)
{
    if (!tell || aclshmemi_env_is_tools(name))
        return;
    const char *nearest = aclshmemi_env_nearest(name);
    log_warn("%s:%d: the variable %.64s is unknown and has no effect%s%s", path, line, name,
             nearest ? ", did you mean " : "", nearest ? nearest : "");
}

static int take_line(char *text, const char *path, int line, bool tell,
                     aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT])
{
    char *name = skip_blanks(text), *value = NULL;
    if (*name == '\0' || *name == '#')
        return ACLSHMEM_SUCCESS;
    char *equal = strchr(name, '=');
    if (!equal || equal == name)
        return fail(ACLSHMEM_INVALID_PARAM, "%s:%d: \"%.40s\" is not of the form NAME=value", path, line,
                    name);
    cut_blanks(name, equal);
    if (strpbrk(name, " \t\"'#"))
        return fail(ACLSHMEM_INVALID_PARAM, "%s:%d: \"%.40s\" is no name of a variable", path, line, name);
    TRY(take_value(skip_blanks(equal + 1), path, line, &value));
    int row = aclshmemi_env_find(name);
    if (row < 0) {
        tell_unknown(name, path, line, tell);
        return ACLSHMEM_SUCCESS;
    }
    if (row == ACLSHMEMI_ENV_config_file || (aclshmemi_env_rows()[row].flags & ACLSHMEMI_ENV_GIVEN))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s:%d: %s cannot stand in a settings file, only in the environment", path, line, name);
    if (sources[row].value)
        return fail(ACLSHMEM_INVALID_PARAM, "%s:%d: %s has a value already, from line %d", path, line, name,
                    sources[row].line);
    sources[row] = (aclshmemi_env_source_t){.value = value, .origin = ACLSHMEMI_ORIGIN_FILE, .line = line};
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_env_file_parse(char *content, size_t size, const char *path,
                             aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT])
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (memchr(content, '\0', size))
        return fail(ACLSHMEM_INVALID_PARAM, "%s is no text file, it contains zero bytes", path);
    bool tell = !atomic_flag_test_and_set(&told);
    int line = 1;
    for (char *at = content; at; line++) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        TRY(take_line(at, path, line, tell, sources));
        at = end ? end + 1 : NULL;
    }
    return ACLSHMEM_SUCCESS;
}

/* ---- the file ---- */

/* The user or root decides what stands in it; a link to such a file is fine, its target is what was opened. */
static const char *judge_file(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "it is no regular file";
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return "it belongs to another user";
    if (st.st_mode & 022)
        return "its group or others may write to it, chmod go-w helps";
    if (st.st_size > MAX_FILE_BYTES)
        return "it is larger than 1 MiB";
    return NULL;
}

/* Descriptor of a file that may be trusted; else -1 and why not, "" when there is no such file. */
static int open_trusted(const char *path, size_t path_size, const char **why)
{
    int fd = aclshmemi_fd_above_stdio(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
        return -1;
    }
    *why = strlen(path) < path_size ? judge_file(fd) : "its path is too long";
    if (!*why)
        return fd;
    close(fd);
    return -1;
}

static int read_all(int fd, const char *path, char **content, size_t *size)
{
    char *buffer = malloc(MAX_FILE_BYTES + 1);
    if (!buffer)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the settings file %s", path);
    *size = 0;
    while (*size < MAX_FILE_BYTES) {
        ssize_t n = read(fd, buffer + *size, MAX_FILE_BYTES - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int rc = fail(ACLSHMEM_INVALID_PARAM, "cannot read the settings file %s: %m", path);
            free(buffer);
            return rc;
        }
        if (n == 0)
            break;
        *size += (size_t)n;
    }
    buffer[*size] = '\0';
    *content = buffer;
    return ACLSHMEM_SUCCESS;
}

/* Path of the i-th place to look, false past the last one. */
static bool search_path(int i, char path[PATH_MAX])
{
    const char *folder = aclshmemi_env_raw("XDG_CONFIG_HOME"), *home = aclshmemi_env_raw("HOME");
    int length = -1;
    switch (i) {
    case 0:
        length = snprintf(path, PATH_MAX, FILE_NAME);
        break;
    case 1:
        if (folder && folder[0] == '/')
            length = snprintf(path, PATH_MAX, "%s/shmem/" FILE_NAME, folder);
        else if (home && home[0] == '/')
            length = snprintf(path, PATH_MAX, "%s/.config/shmem/" FILE_NAME, home);
        break;
    case 2:
        length = snprintf(path, PATH_MAX, "/etc/" FILE_NAME);
        break;
    default:
        return false;
    }
    if (length < 0 || length >= PATH_MAX)
        path[0] = '\0';
    return true;
}

/* fd -1 and success: there is no file. */
static int find_file(char *path, size_t path_size, int *fd)
{
    char candidate[PATH_MAX];
    const char *why, *named = aclshmemi_env_raw("SHMEM_CONFIG_FILE");
    path[0] = '\0';
    *fd = -1;
    if (named && named[0]) {
        *fd = open_trusted(named, path_size, &why);
        if (*fd < 0)
            return fail(ACLSHMEM_INVALID_PARAM,
                        "the settings file %.*s of SHMEM_CONFIG_FILE cannot be used: %s", (int)path_size,
                        named, why[0] ? why : "it does not exist");
        snprintf(path, path_size, "%s", named);
        return ACLSHMEM_SUCCESS;
    }
    for (int i = 0; *fd < 0 && search_path(i, candidate); i++) {
        if (!candidate[0])
            continue;
        *fd = open_trusted(candidate, path_size, &why);
        if (*fd >= 0)
            snprintf(path, path_size, "%s", candidate);
        else if (why[0])
            log_once(ACLSHMEMI_LOG_WARN, "the settings file %s is not read: %s", candidate, why);
    }
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_env_file_read(aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT], char *path, size_t path_size,
                            char **content)
{
    int fd = -1;
    size_t size = 0;
    *content = NULL;
    TRY(find_file(path, path_size, &fd));
    if (fd < 0)
        return ACLSHMEM_SUCCESS;
    int rc = read_all(fd, path, content, &size);
    close(fd);
    if (rc)
        return rc;
    rc = aclshmemi_env_file_parse(*content, size, path, sources);
    if (rc) {
        free(*content);
        *content = NULL;
    }
    return rc;
}
