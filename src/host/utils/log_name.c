/* SPDX-License-Identifier: Apache-2.0 */
/* Names of log files and of the folders they lie in, as texts only: nothing is opened or made here. */
#include "host/utils/log_name.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/utils/env.h"

bool aclshmemi_log_name_usable(const char *path)
{
    size_t length = strlen(path);
    if (length == 0 || length >= PATH_MAX - NAME_MAX)
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        while (*part == '/')
            part++;
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

void aclshmemi_log_name_default(char out[PATH_MAX])
{
    char buffer[4096];
    struct passwd entry, *found = NULL;
    const char *home = aclshmemi_env_raw("HOME");
    if (!home || home[0] != '/') {
        if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) != 0)
            found = NULL;
        home = found ? found->pw_dir : NULL;
    }
    if (!home || home[0] != '/' || strcmp(home, "/nonexistent") == 0 ||
        (size_t)snprintf(out, PATH_MAX, "%s/shmem/log", home) >= PATH_MAX - NAME_MAX)
        snprintf(out, PATH_MAX, "/tmp/shmem/log");
}

void aclshmemi_log_name_cut_trailing(char *path)
{
    size_t length = strlen(path);
    while (length > 1) {
        if (path[length - 1] == '/')
            path[--length] = '\0';
        else if (path[length - 1] == '.' && path[length - 2] == '/')
            path[--length] = '\0';
        else
            break;
    }
}

static void append(char *out, size_t size, size_t *at, const char *text)
{
    /* A slash in a host or job name must not choose another folder. */
    for (; *text && *at + 1 < size; text++)
        out[(*at)++] = *text == '/' ? '_' : *text;
    out[*at] = '\0';
}

bool aclshmemi_log_name_expand(const char *pattern, int pe, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (const char *p = pattern; *p; p++) {
        char text[HOST_NAME_MAX + 1] = "";
        const char *from = text;
        if (*p != '%' || p[1] == '\0') {
            if (at + 1 >= size)
                return false;
            out[at++] = *p;
            out[at] = '\0';
            continue;
        }
        switch (*++p) {
        case 'h':
            if (gethostname(text, sizeof text) != 0)
                from = "localhost";
            text[sizeof text - 1] = '\0';
            break;
        case 'p':
            snprintf(text, sizeof text, "%d", (int)getpid());
            break;
        case 'P':
            snprintf(text, sizeof text, "%d", pe);
            from = pe < 0 ? "-" : text;
            break;
        case 'j':
            from = aclshmemi_env_raw("SHMEM_JOB_ID");
            from = from && *from ? from : "-";
            break;
        case '%':
            from = "%";
            break;
        default:
            snprintf(text, sizeof text, "%%%c", *p);
        }
        append(out, size, &at, from);
    }
    return at + 1 < size;
}

static bool digits(const char **text, size_t most)
{
    const char *start = *text;
    while (isdigit((unsigned char)**text) && (size_t)(*text - start) < most)
        (*text)++;
    return *text != start;
}

bool aclshmemi_log_name_matches(const char *name, const char *base)
{
    if (base) {
        size_t length = strlen(base);
        if (strncmp(name, base, length) != 0)
            return false;
        name += length;
        return *name == '\0' || (*name++ == '.' && digits(&name, 9) && *name == '\0');
    }
    if (strncmp(name, "aclshmem_", 9) != 0)
        return false;
    name += 9;
    if (!digits(&name, 10) || *name++ != '_' || !digits(&name, 14))
        return false;
    if (*name == '_' && (name++, !digits(&name, 9)))
        return false;
    return strcmp(name, ".log") == 0;
}
