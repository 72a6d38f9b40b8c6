/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line and the variables SHMEM_RUN_<NAME> become one struct. Everything is parsed strictly: what cannot be
 * understood ends with exit code 2 and a text that says what is allowed.
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

static int parse_long(const char *text, long low, long high, long *out)
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
    return parse_long(text, low, strtol(dots + 2, NULL, 10), out);
}

int parse_range(const char *text, long low, long high, long *out)
{
    return parse_long(text, low, high, out);
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

static int replace_text(char **field, const char *value)
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
        return replace_text(field, value ? value : "");
    }
}

static int store(options_t *options, const option_row_t *row, const char *value, const char *shown)
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

static int store_defaults(options_t *options)
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

static int store_variables(options_t *options)
{
    char name[64];
    for (size_t i = 0; i < option_row_count; i++) {
        variable_name(&option_rows[i], name, sizeof(name));
        const char *value = getenv(name);
        if (!value || !*value || (option_rows[i].flags & OPT_FRONT))
            continue;
        if (store(options, &option_rows[i], value, name))
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

static const option_row_t *find_long(const char *name, size_t length)
{
    if (length == 2 && strncmp(name, "np", 2) == 0)
        return &option_rows[0];
    for (size_t i = 0; i < option_row_count; i++)
        if (strlen(option_rows[i].name) == length && strncmp(option_rows[i].name, name, length) == 0)
            return &option_rows[i];
    return NULL;
}

static const option_row_t *find_letter(char letter)
{
    if (letter == 'N')
        letter = 'n';
    for (size_t i = 0; i < option_row_count; i++)
        if (option_rows[i].letter == letter)
            return &option_rows[i];
    return NULL;
}

bool option_value_optional(const option_row_t *row)
{
    return row->kind == KIND_maybe && row->arg[0];
}

static bool needs_value(const option_row_t *row)
{
    return row->kind != KIND_flag && row->kind != KIND_maybe;
}

static void say_unknown(const char *word)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    const char *near = help_nearest(name + strspn(name, "-"));
    if (near)
        say("unknown option %s; did you mean --%s? (--help lists them)", name, near);
    else
        say("unknown option %s; --help all lists them", name);
}

/* One option word, with its value from the same or the next word. Returns how many words it took, -1 on error. */
static int take_option(options_t *options, char **words)
{
    const char *word = words[0], *value = NULL;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    int used = 1;
    const option_row_t *row = find_long(name, length);
    if (row && (word[1] == '-' || length > 1)) {
        value = name[length] ? name + length + 1 : NULL;
    } else if (word[1] != '-' && (row = find_letter(name[0])) != NULL && (!name[1] || needs_value(row))) {
        value = name[1] ? name + 1 + (name[1] == '=') : NULL; /* -n 4, -n4 and -n=4 */
    } else {
        say_unknown(word);
        return -1;
    }
    if (needs_value(row) && !value) {
        value = words[1];
        used = 2;
        if (!value) {
            say("option %s needs a value: %s", word, row->arg);
            return -1;
        }
    }
    char shown[64];
    snprintf(shown, sizeof(shown), "%s%s", strlen(row->name) > 1 ? "--" : "-", row->name);
    return store(options, row, value, shown) ? -1 : used;
}

/* Options of one program of the colon list up to its name; -n and --wdir are left in the options for the caller. */
static int take_options(options_t *options, char **words)
{
    int at = 0;
    while (words[at] && words[at][0] == '-' && words[at][1]) {
        if (strcmp(words[at], "--") == 0)
            return at + 1;
        int used = take_option(options, words + at);
        if (used < 0)
            return -1;
        at += used;
    }
    return at;
}

static int add_segment(options_t *options, char **argv)
{
    segment_t *segments = realloc(options->segments, (size_t)(options->n_segments + 1) * sizeof(*segments));
    if (!segments)
        return -1;
    options->segments = segments;
    segments[options->n_segments++] =
        (segment_t){.argv = argv, .n = options->n, .wdir = options->wdir ? strdup(options->wdir) : NULL};
    return 0;
}

/* Cuts the words at each lone colon. Returns 0, or -1 with the text said. */
static int take_programs(options_t *options, char **words)
{
    int common_n = options->n;
    char *common_wdir = options->wdir ? strdup(options->wdir) : NULL;
    int result = -1;
    for (;;) {
        options->n = common_n;
        if (common_wdir ? replace_text(&options->wdir, common_wdir)
                        : (free(options->wdir), options->wdir = NULL, 0))
            break;
        int used = take_options(options, words);
        if (used < 0)
            break;
        words += used;
        if (options->help || options->version || options->status) {
            result = 0;
            break;
        }
        char **end = words;
        while (*end && strcmp(*end, ":"))
            end++;
        if (end == words) {
            say("no program given%s; usage: aclshmemrun [options] program [arguments] [: [options] program "
                "...]",
                options->n_segments || *end ? " beside a colon" : "");
            break;
        }
        bool last = !*end;
        *end = NULL;
        if (add_segment(options, words))
            break;
        if (last) {
            result = 0;
            break;
        }
        words = end + 1;
    }
    free(common_wdir);
    return result;
}

/* Who reads our standard input, and whether that PE exists. */
static int check_input(options_t *options)
{
    long pe;
    if (strcasecmp(options->input, "none") == 0)
        options->input_pe = INPUT_NONE;
    else if (strcasecmp(options->input, "all") == 0)
        options->input_pe = INPUT_ALL;
    else if (parse_long(options->input, 0, options->n_pes - 1, &pe) == 0)
        options->input_pe = (int)pe;
    else {
        say("--stdin: \"%s\" is not allowed; give none, all or a PE from 0 to %d", options->input,
            options->n_pes - 1);
        return -1;
    }
    return 0;
}

/* How many PEs each program gets; slots: counted from the hosts named, 0 when none was. */
static int check_counts(options_t *options, int slots)
{
    long total = 0;
    for (int i = 0; i < options->n_segments; i++) {
        segment_t *segment = &options->segments[i];
        if (!segment->n && options->n_segments > 1)
            segment->n = 1;
        if (!segment->n)
            segment->n = options->ppn ? options->ppn : slots ? slots : bind_cores();
        total += segment->n;
    }
    if (total > MAX_PES) {
        say("%ld PEs are too many; a job has at most %d", total, MAX_PES);
        return -1;
    }
    if (options->ppn && total > options->ppn) {
        say("%ld PEs with --ppn %d need %ld hosts; several hosts are not available in this version", total,
            options->ppn, (total + options->ppn - 1) / options->ppn);
        return -1;
    }
    options->n_pes = (int)total;
    return 0;
}

static int check_bind(const options_t *options)
{
    const char *bind = options->bind;
    if (!bind || strcmp(bind, "none") == 0 || strcmp(bind, "core") == 0 || strcmp(bind, "numa") == 0 ||
        strncmp(bind, "cpu-list:", 9) == 0)
        return 0;
    say("--bind: \"%s\" is not allowed; give none, core, numa or cpu-list:0,2,4-7", bind);
    return -1;
}

static int check_pty(const options_t *options)
{
    if (!options->pty || isatty(STDIN_FILENO))
        return 0;
    say("--pty needs a terminal on standard input");
    return -1;
}

static int check_remote(const options_t *options)
{
    if (options->prefix) {
        say("--prefix names a folder on other hosts; several hosts are not available in this version");
        return -1;
    }
    if (strcmp(options->launcher, "fork")) {
        say("--launcher %s reaches other hosts; several hosts are not available in this version, only fork "
            "is",
            options->launcher);
        return -1;
    }
    return 0;
}

static int answer(const options_t *options)
{
    if (options->help && options->help[0] && strcmp(options->help, "all")) {
        say("--help: \"%s\" is not allowed; give nothing or all", options->help);
        return EXIT_USAGE;
    }
    if (options->help)
        help_print(options->help[0] != 0);
    else if (options->version)
        printf("aclshmemrun %s\n", ACLSHMEMRUN_VERSION);
    else
        return status_ask(options->status);
    return fflush(stdout) ? 1 : 0;
}

int options_parse(options_t *options, int argc, char **argv, int *code)
{
    *options = (options_t){0};
    *code = EXIT_USAGE;
    (void)argc;
    /* "--help all" with a blank, as people type it */
    for (int i = 1; argv[i] && argv[i][0] == '-'; i++) {
        if ((strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--status") == 0) && argv[i + 1] &&
            !argv[i + 2] && argv[i + 1][0] != '-') {
            static char joined[64];
            snprintf(joined, sizeof(joined), "%s=%s", argv[i], argv[i + 1]);
            argv[i] = joined;
            argv[i + 1] = NULL;
        }
    }
    if (store_defaults(options) || store_variables(options) || take_programs(options, argv + 1))
        return -1;
    if (options->help || options->version || options->status) {
        *code = answer(options);
        return -1;
    }
    char host[256];
    int slots = 0;
    if (gethostname(host, sizeof(host)))
        snprintf(host, sizeof(host), "localhost");
    host[sizeof(host) - 1] = 0;
    if (check_remote(options) || hosts_check(options, host, &slots) || check_counts(options, slots) ||
        check_input(options) || check_bind(options) || check_pty(options) || childenv_check(options))
        return -1;
    *code = 0;
    return 0;
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
