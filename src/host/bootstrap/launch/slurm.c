/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's compressed lists: "node[01-04,7],big3" for hosts, "2(x3),1" for tasks per node. */
#define LOG_MODULE "launch"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/launch/launch.h"

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr("-._", text[i]) == NULL)
            return false;
    }
    return true;
}

static int refuse_list(const char *list)
{
    return fail(ACLSHMEM_INVALID_VALUE,
                "the node list \"%.60s\" of Slurm is not like node[01-04,7],other; "
                "SHMEM_LAUNCHER chooses another way to meet",
                list);
}

int aclshmemi_slurm_first_host(const char *list, char *out, size_t size)
{
    char host[254] = "";
    size_t used = 0;
    /* Text before a bracket is kept, of the bracket's content the first number, then the text behind it again. */
    for (const char *at = list; *at != '\0' && *at != ',';) {
        size_t length = strcspn(at, "[,");
        const char *next = at + length;
        if (*at == '[') {
            at++;
            length = strcspn(at, "-,]");
            const char *close = strchr(at, ']');
            if (length == 0 || close == NULL || strspn(at, "0123456789") != length)
                return refuse_list(list);
            next = close + 1;
        }
        if (!is_name(at, length) || used + length >= sizeof host)
            return refuse_list(list);
        memcpy(host + used, at, length);
        used += length;
        host[used] = '\0';
        at = next;
    }
    if (used == 0 || used >= size)
        return refuse_list(list);
    memcpy(out, host, used + 1);
    return 0;
}

/* "digits" at text; NULL when there are none or too many. */
static const char *read_digits(const char *text, int64_t *out)
{
    int64_t value = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at) && at - text < 7; at++)
        value = value * 10 + (*at - '0');
    *out = value;
    return at == text || isdigit((unsigned char)*at) ? NULL : at;
}

int aclshmemi_slurm_tasks_of(const char *list, int64_t node, int *tasks)
{
    int64_t first = 0;
    const char *at = list;
    for (;;) {
        int64_t count = 0, repeat = 1;
        at = read_digits(at, &count);
        if (at != NULL && strncmp(at, "(x", 2) == 0) {
            at = read_digits(at + 2, &repeat);
            at = at != NULL && *at == ')' ? at + 1 : NULL;
        }
        if (at == NULL || count < 1 || repeat < 1 || (*at != '\0' && *at != ','))
            return fail_quietly(ACLSHMEM_INVALID_VALUE,
                                "the tasks per node \"%.60s\" of Slurm are not like 2(x3),1; "
                                "SHMEM_LAUNCHER chooses another way to meet",
                                list);
        if (node < first + repeat) {
            *tasks = (int)count;
            return 0;
        }
        first += repeat;
        if (*at++ == '\0')
            return fail_quietly(ACLSHMEM_INVALID_VALUE,
                                "the tasks per node \"%.60s\" of Slurm leave out node %d", list, (int)node);
    }
}
