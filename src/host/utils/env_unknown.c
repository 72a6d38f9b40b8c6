/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that look like ours and are not: a misspelt name is a setting without effect, so it is said. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

#include "host/utils/env_table.h"

#define LOG_MODULE "env"

enum { NAME_LEN = 64, SLIPS = 2 };

extern char **environ;

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters to insert, drop, change or swap with their neighbour to make b of a. */
static int distance(const char *a, const char *b)
{
    int rows[3][NAME_LEN + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (na > NAME_LEN || nb > NAME_LEN || na - nb > SLIPS || nb - na > SLIPS)
        return SLIPS + 1;
    for (int k = 0; k <= nb; k++)
        rows[0][k] = k;
    for (int i = 1; i <= na; i++) {
        int *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (int k = 1; k <= nb; k++) {
            now[k] = least(least(above[k] + 1, now[k - 1] + 1), above[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = least(now[k], two_above[k - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *aclshmemi_env_nearest(const char *name)
{
    const aclshmemi_env_row_t *rows = aclshmemi_env_rows();
    const char *nearest = NULL;
    int best = SLIPS + 1;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        if (rows[i].flags & ACLSHMEMI_ENV_FOREIGN)
            continue;
        /* Two slips turn any two letters into PE: what remains must be more than what changed. */
        int own = (int)(strlen(rows[i].name) - strlen(ACLSHMEMI_ENV_PREFIX));
        int d = distance(name, rows[i].name);
        if (d < best && d < own) {
            best = d;
            nearest = rows[i].name;
        }
    }
    return nearest;
}

bool aclshmemi_env_is_tools(const char *name)
{
    return strncmp(name, "SHMEM_RUN_", 10) == 0 || strncmp(name, "SHMEM_CPU_", 10) == 0 ||
           strcmp(name, "SHMEM_HOME_PATH") == 0;
}

/* Ours with another library's prefix in front, or in small letters. */
static const char *same_but_prefix_or_case(const char *name)
{
    const aclshmemi_env_row_t *rows = aclshmemi_env_rows();
    if (strncasecmp(name, "ACL", 3) == 0)
        name += 3;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        if (strcasecmp(rows[i].name, name) == 0)
            return rows[i].name;
    }
    return NULL;
}

static void judge(const char *name)
{
    if (aclshmemi_env_find(name) >= 0 || aclshmemi_env_is_tools(name))
        return;
    const char *nearest = same_but_prefix_or_case(name);
    if (!nearest)
        nearest = aclshmemi_env_nearest(name);
    if (nearest)
        log_warn("the variable %s is unknown and has no effect, did you mean %s", name, nearest);
    else if (strncmp(name, ACLSHMEMI_ENV_PREFIX, strlen(ACLSHMEMI_ENV_PREFIX)) == 0)
        log_info("the variable %s is unknown and has no effect", name);
}

void aclshmemi_env_warn_unknown(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!environ || getauxval(AT_SECURE) || atomic_flag_test_and_set(&done))
        return;
    for (char **entry = environ; *entry; entry++) {
        const char *equal = strchr(*entry, '=');
        char name[NAME_LEN + 1];
        /* All that can be a slip of ours starts with one of two letters; no need to measure the others. */
        if (!equal || !strchr("SsAa", (*entry)[0]) || (size_t)(equal - *entry) > NAME_LEN)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equal - *entry), *entry);
        judge(name);
    }
}
