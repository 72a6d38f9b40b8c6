/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of log files and of their folders share: a folder of their own, cases in children, a look at files. */
#ifndef LOG_FIXTURE_H
#define LOG_FIXTURE_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "host/utils/log_file.h"
#include "support/unit.h"

static char base[PATH_MAX - 300];

static inline int clean_start(void **state)
{
    (void)state;
    t_clean_environment();
    umask(022);
    t_dir_make(base, sizeof base);
    return 0;
}

static inline int clean_end(void **state)
{
    (void)state;
    t_dir_remove(base);
    return 0;
}

static inline const char *in_base(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", base, name);
    return path;
}

/* Whether a disk of this size is nearly full is not what most cases are about. */
static inline void to_directory(const char *directory)
{
    aclshmemi_log_options_t options = {.sink = 0, .directory = directory, .timestamp = "none"};
    aclshmemi_log_file_limits.free_bytes = 0;
    t_check_int(aclshmemi_log_configure(&options), 0);
}

static inline void to_pattern(const char *pattern)
{
    aclshmemi_log_options_t options = {.sink = 2, .file = pattern, .timestamp = "none"};
    aclshmemi_log_file_limits.free_bytes = 0;
    t_check_int(aclshmemi_log_configure(&options), 0);
}

/* Names in a folder, without . and ..; the first one is copied to name. */
static inline int files_in(const char *directory, char name[NAME_MAX + 1])
{
    int count = 0;
    DIR *dir = opendir(directory);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        if (count++ == 0 && name)
            snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    }
    closedir(dir);
    return count;
}

static inline void expect_file(const char *path, const char *text)
{
    char *found = t_file_read(path);
    t_check_text(found, text);
    free(found);
}

static inline void in_child(void (*function)(void *), const char *out, const char *err)
{
    t_child_t child;
    t_run_function(&child, function, NULL, 60000);
    t_check_exit(&child, 0);
    if (out)
        t_check_contains(child.out, out);
    else
        t_check_text(child.out, "");
    if (err)
        t_check_contains(child.err, err);
    else
        t_check_text(child.err, "");
    t_child_free(&child);
}

#endif
