/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines are wanted: a level for everybody, levels for single modules, and a choice of modules. Of utils alone. */
#ifndef ACLSHMEMI_UTILS_LOG_FILTER_H
#define ACLSHMEMI_UTILS_LOG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "host/utils/status.h"

#define ACLSHMEMI_LOG_WORDS "TRACE DEBUG INFO WARN ERROR FATAL"

enum { ACLSHMEMI_LOG_FILTER_ITEMS = 32, ACLSHMEMI_LOG_FILTER_NAME_LEN = 32 };

typedef struct aclshmemi_log_filter {
    int level; /* of modules that are not listed */
    int level_count;
    struct {
        char module[ACLSHMEMI_LOG_FILTER_NAME_LEN];
        int level;
    } levels[ACLSHMEMI_LOG_FILTER_ITEMS];
    int subsystem_count;
    struct {
        char module[ACLSHMEMI_LOG_FILTER_NAME_LEN];
        bool excluded;
    } subsystems[ACLSHMEMI_LOG_FILTER_ITEMS];
} aclshmemi_log_filter_t;

void aclshmemi_log_filter_init(aclshmemi_log_filter_t *filter, int level);
/* "WARN,store:DEBUG". Quiet; the text of the failure says what is allowed. filter is untouched on failure. */
int aclshmemi_log_filter_set_levels(aclshmemi_log_filter_t *filter, const char *levels) ACLSHMEMI_MUST_CHECK;
/* "INIT,TEAM", "^MEM", "ALL"; "" for all. Quiet, as above. */
int aclshmemi_log_filter_set_subsystems(aclshmemi_log_filter_t *filter,
                                        const char *subsystems) ACLSHMEMI_MUST_CHECK;

int aclshmemi_log_filter_least(const aclshmemi_log_filter_t *filter); /* least severe level anybody prints */
bool aclshmemi_log_filter_allows(const aclshmemi_log_filter_t *filter, const char *module, int level);

#endif
