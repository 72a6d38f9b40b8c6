/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and asking the filter of the log. Pure: no state, no lock, no output. */
#include "host/utils/log_filter.h"

#include <string.h>
#include <strings.h>

#define LOG_MODULE "log"

static const struct {
    const char *word;
    int level;
} words[] = {
    {"TRACE", ACLSHMEMI_LOG_TRACE}, {"DEBUG", ACLSHMEMI_LOG_DEBUG}, {"INFO", ACLSHMEMI_LOG_INFO},
    {"WARN", ACLSHMEMI_LOG_WARN},   {"ERROR", ACLSHMEMI_LOG_ERROR}, {"FATAL", ACLSHMEMI_LOG_FATAL},
};

/* Users know the parts of the library under these names; modules are finer. A name that is no group means the module
 * of that name. */
static const struct {
    const char *group;
    const char *modules[14];
} groups[] = {
    {"INIT", {"init", "instance"}},
    {"BOOTSTRAP",
     {"bootstrap", "store", "tls", "uid", "mpi", "launcher", "address", "secret", "pmi", "pmix", "net"}},
    {"TEAM", {"team"}},
    {"MEM", {"mem", "heap", "hybm", "segment"}},
    {"TRANSPORT", {"transport", "mte", "sdma", "rdma", "udma", "hook", "proxy"}},
    {"MTE", {"mte"}},
    {"SDMA", {"sdma"}},
    {"RDMA", {"rdma", "proxy"}},
    {"RMA", {"rma", "amo", "so", "signal"}},
    {"SYNC", {"sync", "barrier", "wait", "p2p_sync"}},
    {"COLL", {"coll", "cc"}},
    {"NPU", {"npu", "device", "dl"}},
    {"ENV", {"env", "log"}},
};

/* An item of a comma separated list without the blanks around it. */
typedef struct item {
    const char *text;
    size_t length;
} item_t;

static item_t trimmed(const char *text, size_t length)
{
    while (length && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return (item_t){text, length};
}

/* Next item of the list at *cursor, which is NULL after the last one. */
static item_t next_item(const char **cursor)
{
    const char *start = *cursor;
    const char *comma = strchr(start, ',');
    *cursor = comma ? comma + 1 : NULL;
    return trimmed(start, comma ? (size_t)(comma - start) : strlen(start));
}

static bool parse_level(item_t item, int *level)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) == item.length && strncasecmp(words[i].word, item.text, item.length) == 0) {
            *level = words[i].level;
            return true;
        }
    }
    return false;
}

static int copy_name(char out[ACLSHMEMI_LOG_FILTER_NAME_LEN], item_t item)
{
    if (item.length == 0 || item.length >= ACLSHMEMI_LOG_FILTER_NAME_LEN)
        return fail_quietly(ACLSHMEM_INVALID_PARAM, "module names have 1 to %d characters, \"%.*s\" has %zu",
                            ACLSHMEMI_LOG_FILTER_NAME_LEN - 1, (int)(item.length > 64 ? 64 : item.length),
                            item.text, item.length);
    memcpy(out, item.text, item.length);
    out[item.length] = '\0';
    return ACLSHMEM_SUCCESS;
}

void aclshmemi_log_filter_init(aclshmemi_log_filter_t *filter, int level)
{
    *filter = (aclshmemi_log_filter_t){.level = level};
}

static int add_level(aclshmemi_log_filter_t *filter, item_t item)
{
    const char *colon = memchr(item.text, ':', item.length);
    item_t word = item;
    if (colon)
        word = trimmed(colon + 1, item.length - (size_t)(colon + 1 - item.text));
    int level;
    if (!parse_level(word, &level))
        return fail_quietly(ACLSHMEM_INVALID_PARAM,
                            "\"%.*s\" is no level, allowed are " ACLSHMEMI_LOG_WORDS
                            ", alone or for a module as in WARN,store:DEBUG",
                            (int)(word.length > 64 ? 64 : word.length), word.text);
    if (!colon) {
        filter->level = level;
        return ACLSHMEM_SUCCESS;
    }
    if (filter->level_count == ACLSHMEMI_LOG_FILTER_ITEMS)
        return fail_quietly(ACLSHMEM_INVALID_PARAM, "more than %d modules with levels of their own",
                            ACLSHMEMI_LOG_FILTER_ITEMS);
    TRY(copy_name(filter->levels[filter->level_count].module,
                  trimmed(item.text, (size_t)(colon - item.text))));
    filter->levels[filter->level_count++].level = level;
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_log_filter_set_levels(aclshmemi_log_filter_t *filter, const char *levels)
{
    aclshmemi_log_filter_t changed = *filter;
    changed.level = ACLSHMEMI_LOG_WARN;
    changed.level_count = 0;
    const char *cursor = levels;
    while (cursor)
        TRY(add_level(&changed, next_item(&cursor)));
    *filter = changed;
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_log_filter_set_subsystems(aclshmemi_log_filter_t *filter, const char *subsystems)
{
    aclshmemi_log_filter_t changed = *filter;
    changed.subsystem_count = 0;
    const char *cursor = trimmed(subsystems, strlen(subsystems)).length ? subsystems : NULL;
    while (cursor) {
        item_t item = next_item(&cursor);
        bool excluded = item.length && item.text[0] == '^';
        if (excluded)
            item = trimmed(item.text + 1, item.length - 1);
        if (changed.subsystem_count == ACLSHMEMI_LOG_FILTER_ITEMS)
            return fail_quietly(ACLSHMEM_INVALID_PARAM, "more than %d modules in the list",
                                ACLSHMEMI_LOG_FILTER_ITEMS);
        TRY(copy_name(changed.subsystems[changed.subsystem_count].module, item));
        changed.subsystems[changed.subsystem_count++].excluded = excluded;
    }
    *filter = changed;
    return ACLSHMEM_SUCCESS;
}

static bool matches(const char *name, const char *module)
{
    if (strcasecmp(name, module) == 0 || strcasecmp(name, "ALL") == 0)
        return true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcasecmp(name, groups[i].group) != 0)
            continue;
        for (const char *const *member = groups[i].modules; *member; member++) {
            if (strcasecmp(*member, module) == 0)
                return true;
        }
    }
    return false;
}

/* The last entry that matches decides, so "ALL,^MEM" is everything but memory; a list of exclusions alone starts
 * from everything. */
static bool subsystem_selected(const aclshmemi_log_filter_t *filter, const char *module)
{
    bool selected = true;
    for (int i = 0; i < filter->subsystem_count; i++)
        selected = selected && filter->subsystems[i].excluded;
    for (int i = 0; i < filter->subsystem_count; i++) {
        if (matches(filter->subsystems[i].module, module))
            selected = !filter->subsystems[i].excluded;
    }
    return selected;
}

int aclshmemi_log_filter_least(const aclshmemi_log_filter_t *filter)
{
    int least = filter->level;
    for (int i = 0; i < filter->level_count; i++) {
        if (filter->levels[i].level < least)
            least = filter->levels[i].level;
    }
    return least;
}

bool aclshmemi_log_filter_allows(const aclshmemi_log_filter_t *filter, const char *module, int level)
{
    int wanted = filter->level;
    for (int i = 0; i < filter->level_count; i++) {
        if (matches(filter->levels[i].module, module))
            wanted = filter->levels[i].level;
    }
    if (level < wanted)
        return false;
    /* A choice of subsystems thins out the chatter; it must not hide that something went wrong. */
    return level >= ACLSHMEMI_LOG_WARN || subsystem_selected(filter, module);
}
