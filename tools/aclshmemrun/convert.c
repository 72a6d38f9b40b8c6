/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts into values: the table of options with the type of each row, the parsers, the defaults, and the variables
 * SHMEM_RUN_<NAME>. Everything is parsed strictly; what is not understood is answered with what is allowed.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

enum { KIND_count, KIND_seconds, KIND_flag, KIND_word, KIND_text, KIND_maybe, KIND_list };
enum { LOCAL = OPT_LOCAL, MORE = OPT_MORE, FRONT = OPT_FRONT };

#define OPT_MEMBER_count(field)   field
#define OPT_MEMBER_seconds(field) field##_ms
#define OPT_MEMBER_flag(field)    field
#define OPT_MEMBER_word(field)    field
#define OPT_MEMBER_text(field)    field
#define OPT_MEMBER_maybe(field)   field
#define OPT_MEMBER_list(field)    field

const option_row_t option_rows[] = {
#define OPT(field, letter, name, kind, arg, dflt, range, flags, text)                                        \
    {letter, name, arg, dflt, range, text, KIND_##kind, flags, offsetof(options_t, OPT_MEMBER_##kind(field))},
#include "options.def"
#undef OPT
};
const size_t option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

int strlist_add(strlist_t *list, const char *item, size_t length)
{
    char **items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (!items)
        return -1;
    list->items = items;
    items[list->count] = strndup(item, length);
    if (!items[list->count])
        return -1;
    list->count++;
    return 0;
}

void strlist_free(strlist_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (strlist_t){0};
}

int parse_range(const char *text, long low, long high, long *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || value < low || value > high)
        return -1;
    *out = value;
    return 0;
}

/* range is "low..high" as in the table. */
static int parse_in(const char *text, const char *range, long *out)
{
    char *dots;
    long low = strtol(range, &dots, 10);
    return parse_range(text, low, strtol(dots + 2, NULL, 10), out);
}

static int parse_seconds(const char *text, const char *range, uint64_t *out)
{
    char *dots, *end;
    long low = strtol(range, &dots, 10), high = strtol(dots + 2, NULL, 10);
    if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xXpPeE"))
        return -1;
    double value = strtod(text, &end);
    if (*end || value < (double)low || value > (double)high)
        return -1;
    *out = (uint64_t)(value * 1000.0 + 0.5);
    return 0;
}

static int parse_flag(const char *text, bool *out)
{
    static const char *const words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return 0;
        }
    }
    return -1;
}

static int parse_word(const char *text, const char *choices, int *out)
{
    int index = 0;
    for (const char *word = choices;; index++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncasecmp(text, word, length) == 0) {
            *out = index;
            return 0;
        }
        if (!word[length])
            return -1;
        word += length + 1;
    }
}

int text_replace(char **field, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -1;
    free(*field);
    *field = copy;
    return 0;
}

static int add_items(strlist_t *list, const char *value, bool from_variable)
{
    if (!from_variable)
        return strlist_add(list, value, strlen(value));
    for (const char *item = value; *item;) {
        size_t length = strcspn(item, ";");
        if (length && strlist_add(list, item, length))
            return -1;
        item += length + (item[length] == ';');
    }
    return 0;
}

/* value may be NULL for flags and for options with an optional value. */
static int convert(options_t *options, const option_row_t *row, const char *value, bool from_variable)
{
    void *field = (char *)options + row->offset;
    long number;
    switch (row->kind) {
    case KIND_count:
        if (parse_in(value, row->range, &number))
            return -1;
        *(int *)field = (int)number;
        return 0;
    case KIND_seconds:
        return parse_seconds(value, row->range, field);
    case KIND_flag:
        *(bool *)field = true;
        return value ? parse_flag(value, field) : 0;
    case KIND_word:
        return parse_word(value, row->range, field);
    case KIND_list:
        return add_items(field, value, from_variable);
    default:
        return text_replace(field, value ? value : "");
    }
}

int option_store(options_t *options, const option_row_t *row, const char *value, const char *shown)
{
    bool from_variable = strncmp(shown, "SHMEM_RUN_", 10) == 0;
    if (convert(options, row, value, from_variable) == 0)
        return 0;
    if (row->kind == KIND_flag)
        say("%s: %s is not allowed; give 1 or 0", shown, value);
    else
        say("%s: \"%s\" is not allowed; %s is %s%s%s", shown, value, row->arg,
            row->kind == KIND_word ? "one of " : "a number, ", row->range,
            row->kind == KIND_seconds ? ", fractions allowed" : "");
    return -1;
}

int options_take_defaults(options_t *options)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const option_row_t *row = &option_rows[i];
        /* 0 stands for "not given" where it is outside the range */
        if (row->dflt[0] && !(row->kind == KIND_count && strcmp(row->dflt, "0") == 0) &&
            convert(options, row, row->dflt, false))
            return -1;
    }
    return 0;
}

static void variable_name(const option_row_t *row, char *out, size_t size)
{
    snprintf(out, size, "SHMEM_RUN_%s", row->name);
    for (char *c = out + 10; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

static bool variable_known(const char *text, size_t length)
{
    char name[64];
    if (length == 13 && strncmp(text, "SHMEM_RUN_SSH", 13) == 0)
        return true; /* names the way to other hosts */
    for (size_t i = 0; i < option_row_count; i++) {
        variable_name(&option_rows[i], name, sizeof(name));
        if (strlen(name) == length && strncmp(text, name, length) == 0)
            return true;
    }
    return false;
}

int options_take_variables(options_t *options)
{
    char name[64];
    for (size_t i = 0; i < option_row_count; i++) {
        variable_name(&option_rows[i], name, sizeof(name));
        const char *value = getenv(name);
        if (!value || !*value || (option_rows[i].flags & OPT_FRONT))
            continue;
        if (option_store(options, &option_rows[i], value, name))
            return -1;
    }
    for (char **entry = environ; *entry; entry++) {
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, "SHMEM_RUN_", 10) || variable_known(*entry, length) || length >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)length, *entry);
        const char *near = help_nearest(name);
        say("unknown variable %s%s%s", name, near ? "; did you mean " : "", near ? near : "");
    }
    return 0;
}

/* Lists of PEs: "all", "0,2-5". */
int parse_pe_list(const char *text, int n_pes, bool *chosen)
{
    if (!*text || strcasecmp(text, "all") == 0) {
        memset(chosen, 1, (size_t)n_pes * sizeof(*chosen));
        return 0;
    }
    for (const char *at = text;;) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return -1;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtol(end + 1, &end, 10);
        if (first > last || last >= n_pes)
            return -1;
        for (long pe = first; pe <= last; pe++)
            chosen[pe] = true;
        if (!*end)
            return 0;
        if (*end != ',')
            return -1;
        at = end + 1;
    }
}

bool option_value_optional(const option_row_t *row)
{
    return row->kind == KIND_maybe && row->arg[0];
}

bool option_needs_value(const option_row_t *row)
{
    return row->kind != KIND_flag && row->kind != KIND_maybe;
}

void options_free(options_t *options)
{
    for (size_t i = 0; i < option_row_count; i++) {
        void *field = (char *)options + option_rows[i].offset;
        if (option_rows[i].kind == KIND_text || option_rows[i].kind == KIND_maybe)
            free(*(char **)field);
        else if (option_rows[i].kind == KIND_list)
            strlist_free(field);
    }
    for (int i = 0; i < options->n_segments; i++)
        free(options->segments[i].wdir);
    free(options->segments);
    *options = (options_t){0};
}
