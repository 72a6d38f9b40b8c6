/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHMEM_TRACE names the file: %p is the process id, %h the host, %% a percent sign. A name without %p gets -<pid> in
 * front of its extension, because the processes of a job have one environment and would overwrite each other.
 */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

#define NAME_BYTES 4096

static int fd = -1;
static char name[NAME_BYTES]; /* of the file this process has opened before, "" else */
static bool broken;           /* not all that was written is in it */

static bool append(char *out, size_t *length, const char *text)
{
    const size_t more = strlen(text);

    if (*length + more >= NAME_BYTES)
        return false;
    memcpy(out + *length, text, more + 1);
    *length += more;
    return true;
}

/* One character or one % form of the template; returns where the next one starts, NULL when this one is wrong. */
static const char *expand_one(const char *at, char *out, size_t *length, bool *has_pid)
{
    char text[256] = {at[0], '\0'};

    if (at[0] == '%') {
        at++;
        if (at[0] == 'p') {
            (void)snprintf(text, sizeof text, "%d", (int)getpid());
            *has_pid = true;
        } else if (at[0] == 'h') {
            if (gethostname(text, sizeof text) != 0)
                (void)snprintf(text, sizeof text, "host");
            text[sizeof text - 1] = '\0';
        } else if (at[0] != '%') {
            return NULL;
        }
    }
    return append(out, length, text) ? at + 1 : NULL;
}

static aclError make_name(const char *template, char out[NAME_BYTES])
{
    char rest[NAME_BYTES] = "", pid[32];
    size_t length = 0;
    bool has_pid = false;
    const char *at = template;

    out[0] = '\0';
    while (at != NULL && *at != '\0')
        at = expand_one(at, out, &length, &has_pid);
    if (at != NULL && !has_pid) {
        char *const folder_end = strrchr(out, '/');
        char *const base = folder_end != NULL ? folder_end + 1 : out;
        char *const dot = strrchr(base, '.');

        if (dot != NULL && dot != base) {
            memcpy(rest, dot, strlen(dot) + 1);
            *dot = '\0';
            length = (size_t)(dot - out);
        }
        (void)snprintf(pid, sizeof pid, "-%d", (int)getpid());
        if (!append(out, &length, pid) || !append(out, &length, rest))
            at = NULL;
    }
    if (at == NULL)
        return cpurt_fail(
            ACL_ERROR_INVALID_PARAM,
            "SHMEM_TRACE is \"%.128s\"; allowed is the name of a file, with %%p for the process id, "
            "%%h for the host and %%%% for a percent sign",
            template);
    return ACL_SUCCESS;
}

static bool write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t wrote = write(fd, bytes, count);

        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        }
    }
    return true;
}

bool cpurt_trace_file_write(const char *bytes, size_t count)
{
    broken = broken || !write_all(bytes, count);
    return !broken;
}

aclError cpurt_trace_file_open(bool *opened, bool *empty)
{
    const char *const template = getenv("SHMEM_TRACE");
    char wanted[NAME_BYTES];

    if (template == NULL || template[0] == '\0' || fd >= 0 || broken)
        return ACL_SUCCESS;
    TRY(make_name(template, wanted));
    const bool again = strcmp(wanted, name) == 0;
    fd = open(wanted, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (again ? 0 : O_TRUNC), 0644);
    /* Over the bracket, and the line it stands on. */
    if (fd < 0 || (again ? lseek(fd, -3, SEEK_END) < 0 : !write_all("[\n", 2))) {
        const aclError error = cpurt_fail(ACL_ERROR_INVALID_FILE, "SHMEM_TRACE: cannot write %.256s: %s",
                                          wanted, strerror(errno));
        cpurt_trace_file_forget();
        return error;
    }
    memcpy(name, wanted, sizeof name);
    *empty = !again;
    *opened = true;
    return ACL_SUCCESS;
}

void cpurt_trace_file_close(void)
{
    if (fd < 0)
        return;
    if (!broken)
        (void)cpurt_trace_file_write("\n]\n", 3);
    (void)close(fd);
    fd = -1;
}

void cpurt_trace_file_forget(void)
{
    if (fd >= 0)
        (void)close(fd);
    fd = -1;
    name[0] = '\0';
    broken = false;
}
