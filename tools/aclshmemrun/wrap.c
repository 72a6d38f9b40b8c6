/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in front of the program: --wrap, --valgrind, --gdb. A debugger does not start the PE, since then it
 * would not be our child: the PE waits right before exec, and the debugger attaches to it.
 */
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "run.h"

/* Cuts a command at blanks as a shell does, with its three kinds of quoting and nothing else. */
static int split_words(const char *text, strlist_t *words)
{
    char *word = malloc(strlen(text) + 1);
    if (!word)
        return -1;
    for (const char *c = text;;) {
        c += strspn(c, " \t\n");
        if (!*c)
            break;
        size_t at = 0;
        char quote = 0;
        for (; *c && (quote || !strchr(" \t\n", *c)); c++) {
            if (*c == quote)
                quote = 0;
            else if (!quote && (*c == '\'' || *c == '"'))
                quote = *c;
            else if (*c == '\\' && quote != '\'' && c[1])
                word[at++] = *++c;
            else
                word[at++] = *c;
        }
        if (quote || strlist_add(words, word, at)) {
            free(word);
            return -1;
        }
    }
    free(word);
    return 0;
}

/* Puts the words in front of those the PE has. */
static int prepend(pe_t *pe, const strlist_t *words)
{
    size_t count = 0;
    while (pe->argv[count])
        count++;
    char **argv = calloc(words->count + count + 1, sizeof(*argv));
    if (!argv)
        return -1;
    for (size_t i = 0; i < words->count; i++)
        argv[i] = words->items[i];
    for (size_t i = 0; i < count; i++)
        argv[words->count + i] = pe->argv[i];
    if (pe->argv != pe->segment->argv)
        free(pe->argv);
    pe->argv = argv;
    return 0;
}

/* The words live as long as the job: its PEs point into them. */
static int put_in_front(job_t *job, const char *command, const bool *chosen)
{
    strlist_t *lists = realloc(job->wrappers, (size_t)(job->n_wrappers + 1) * sizeof(*lists));
    if (!lists)
        return -1;
    job->wrappers = lists;
    strlist_t *words = &lists[job->n_wrappers++];
    *words = (strlist_t){0};
    if (split_words(command, words) || !words->count) {
        say("--wrap: \"%s\" is not a command; is a quote missing?", command);
        return -1;
    }
    for (int i = 0; i < job->n_pes; i++)
        if (chosen[i] && prepend(&job->pes[i], words))
            return -1;
    return 0;
}

static int wrap_one(job_t *job, const char *item, bool *chosen)
{
    char list[128];
    size_t length = strspn(item, "0123456789,-al");
    memset(chosen, 1, (size_t)job->n_pes * sizeof(*chosen));
    if (item[length] != ':' || !length || length >= sizeof(list))
        return put_in_front(job, item, chosen);
    snprintf(list, sizeof(list), "%.*s", (int)length, item);
    memset(chosen, 0, (size_t)job->n_pes * sizeof(*chosen));
    if (parse_pe_list(list, job->n_pes, chosen)) {
        say("--wrap: \"%s\" is no list of PEs from 0 to %d; give 0,2-3 or all", list, job->n_pes - 1);
        return -1;
    }
    return put_in_front(job, item + length + 1, chosen);
}

static int chosen_by(job_t *job, const char *option, const char *list, bool *chosen)
{
    memset(chosen, 0, (size_t)job->n_pes * sizeof(*chosen));
    if (parse_pe_list(list, job->n_pes, chosen) == 0)
        return 0;
    say("%s: \"%s\" is no list of PEs from 0 to %d; give 0,2-3 or all", option, list, job->n_pes - 1);
    return -1;
}

static int wrap_gdb(job_t *job, bool *chosen)
{
    if (chosen_by(job, "--gdb", job->options->gdb, chosen))
        return -1;
    if (job->terminal && job->n_pes == 1) /* the terminal is free for it */
        return put_in_front(job, "gdb -q --args", chosen);
    for (int i = 0; i < job->n_pes; i++)
        job->pes[i].waits_for_gdb = chosen[i];
    return 0;
}

int wrap_prepare(job_t *job)
{
    const options_t *options = job->options;
    bool *chosen = calloc((size_t)job->n_pes, sizeof(*chosen));
    int result = chosen ? 0 : -1;
    /* what is put in front first stands next to the program */
    if (!result && options->gdb)
        result = wrap_gdb(job, chosen);
    if (!result && options->valgrind)
        result =
            chosen_by(job, "--valgrind", options->valgrind, chosen) || put_in_front(job, "valgrind", chosen);
    for (size_t i = options->wrap.count; !result && i-- > 0;)
        result = wrap_one(job, options->wrap.items[i], chosen);
    free(chosen);
    return result ? -1 : 0;
}

static long tracer(void)
{
    char line[256];
    long pid = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "TracerPid:", 10) == 0)
            pid = strtol(line + 10, NULL, 10);
    if (file)
        fclose(file);
    return pid;
}

/* In the child, right before exec: a human is coming, so there is no hurry and no deadline of ours. A signal ends it,
 * as does the end of the launcher. */
void wrap_wait_for_debugger(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where only ancestors may attach */
    while (!tracer())
        (void)poll(NULL, 0, 20);
}

/* A pane of tmux with a debugger in it, when we run inside tmux. */
static int open_pane(const char *command)
{
    char *argv[] = {(char[]){"tmux"}, (char[]){"split-window"}, (char[]){"-d"}, NULL, NULL};
    char *copy = strdup(command);
    pid_t pid;
    if (!copy)
        return -1;
    argv[3] = copy;
    int error = posix_spawnp(&pid, "tmux", NULL, NULL, argv, environ);
    free(copy);
    return error ? -1 : 0; /* it ends at once and is reaped with everybody else */
}

void wrap_started(job_t *job, pe_t *pe)
{
    char command[256];
    (void)job;
    if (!pe->waits_for_gdb || pe->state != PE_STARTED)
        return;
    snprintf(command, sizeof(command),
             "gdb -q -p %d -iex 'set pagination off' -ex 'catch exec' -ex c -ex 'tbreak main' -ex c",
             (int)pe->pid);
    if (!getenv("TMUX") || open_pane(command))
        say("PE %d waits for a debugger: %s", pe->rank, command);
}

void wrap_free(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++)
        if (job->pes[i].argv != job->pes[i].segment->argv)
            free(job->pes[i].argv);
    for (int i = 0; i < job->n_wrappers; i++)
        strlist_free(&job->wrappers[i]);
    free(job->wrappers);
    job->wrappers = NULL;
}
