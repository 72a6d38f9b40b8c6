/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line becomes one struct: options by their rows in the table, programs by the colons between them, and
 * checks of what only makes sense together. What cannot be understood ends with exit code 2.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

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
    } else if (word[1] != '-' && (row = find_letter(name[0])) != NULL &&
               (!name[1] || option_needs_value(row))) {
        value = name[1] ? name + 1 + (name[1] == '=') : NULL; /* -n 4, -n4 and -n=4 */
    } else {
        say_unknown(word);
        return -1;
    }
    if (option_needs_value(row) && !value) {
        value = words[1];
        used = 2;
        if (!value) {
            say("option %s needs a value: %s", word, row->arg);
            return -1;
        }
    }
    char shown[64];
    snprintf(shown, sizeof(shown), "%s%s", strlen(row->name) > 1 ? "--" : "-", row->name);
    return option_store(options, row, value, shown) ? -1 : used;
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
        if (common_wdir ? text_replace(&options->wdir, common_wdir)
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
    else if (parse_range(options->input, 0, options->n_pes - 1, &pe) == 0)
        options->input_pe = (int)pe;
    else {
        say("--stdin: \"%s\" is not allowed; give none, all or a PE from 0 to %d", options->input,
            options->n_pes - 1);
        return -1;
    }
    return 0;
}

/* How many PEs each program gets. */
static int check_counts(options_t *options, int slots, int most)
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
    if (most && total > most) {
        say("%ld PEs are more than max-slots of this host allows (%d); several hosts are not available in "
            "this version",
            total, most);
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
    if (options_take_defaults(options) || options_take_variables(options) || take_programs(options, argv + 1))
        return -1;
    if (options->help || options->version || options->status) {
        *code = answer(options);
        return -1;
    }
    char host[256];
    int slots = 0, most = 0;
    if (gethostname(host, sizeof(host)))
        snprintf(host, sizeof(host), "localhost");
    host[sizeof(host) - 1] = 0;
    if (check_remote(options) || hosts_check(options, host, &slots, &most) ||
        check_counts(options, slots, most) || check_input(options) || check_bind(options) ||
        check_pty(options) || childenv_check(options))
        return -1;
    *code = 0;
    return 0;
}
