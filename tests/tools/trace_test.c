/* SPDX-License-Identifier: Apache-2.0 */
/* SHMEM_TRACE under the launcher: each PE writes a file of its own, in which the calls it waited in have spans. */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { PES = 2 };

/* The PE that says so in a span of that name. */
static long long pe_with_span(const json_t *events, const char *name)
{
    size_t index;
    const json_t *event;
    json_array_foreach(events, index, event)
    {
        const char *found = json_string_value(json_object_get(event, "name"));
        const char *kind = json_string_value(json_object_get(event, "ph"));
        if (found && kind && strcmp(found, name) == 0 && strcmp(kind, "X") == 0)
            return json_integer_value(json_object_get(json_object_get(event, "args"), "pe"));
    }
    t_fail("no span %s", name);
}

static void check_file(const char *path, bool seen[PES])
{
    json_error_t error;
    char *text = t_file_read(path);
    json_t *events = json_loads(text, 0, &error);
    t_check_that(events != NULL, "%s, line %d: %s", path, error.line, error.text);
    long long pe = pe_with_span(events, "malloc");
    t_check(pe >= 0 && pe < PES && !seen[pe]);
    seen[pe] = true;
    json_decref(events);
    free(text);
}

int main(int argc, char **argv)
{
    char folder[256], setting[320], path[600];
    bool seen[PES] = {false};
    t_child_t child;
    t_check_int(argc, 3);
    t_dir_make(folder, sizeof folder);
    snprintf(setting, sizeof setting, "SHMEM_TRACE=%s/timeline.json", folder);
    t_run(&child, (const char *const[]){argv[1], "-n", "2", argv[2], NULL},
          (const char *const[]){setting, NULL}, 120000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    DIR *open = opendir(folder);
    t_check(open != NULL);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            check_file(path, seen);
        }
    closedir(open);
    t_check(seen[0] && seen[1]);
    t_dir_remove(folder);
    return T_PASS;
}
