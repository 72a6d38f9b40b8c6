/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we say about a job: at the end why it failed, in five lines at most; before the start, on request, what will be
 * started where. A job that ends well is not mentioned.
 */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

int report_code_of(const pe_t *pe)
{
    if (pe->no_finalize)
        return 1;
    return WIFSIGNALED(pe->status) ? 128 + WTERMSIG(pe->status) : WEXITSTATUS(pe->status);
}

/* "0 1 3", and "0-6 8-63" when that is long. */
static void list_pes(const job_t *job, bool (*belongs)(const pe_t *), char *out, size_t size)
{
    int count = 0;
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < job->n_pes; i++)
        count += belongs(&job->pes[i]);
    for (int i = 0; i < job->n_pes && at < size - 32; i++) {
        if (!belongs(&job->pes[i]))
            continue;
        int last = i;
        while (count > 8 && last + 1 < job->n_pes && belongs(&job->pes[last + 1]))
            last++;
        at += (size_t)snprintf(out + at, size - at, last > i ? "%s%d-%d" : "%s%d", at ? " " : "", i, last);
        i = last;
    }
    if (at >= size - 32)
        snprintf(out + at, size - at, " ...");
}

static bool ended_by_us(const pe_t *pe)
{
    return pe->told_to_end && pe->state == PE_ENDED;
}

static bool killed_by_us(const pe_t *pe)
{
    return ended_by_us(pe) && WIFSIGNALED(pe->status) && WTERMSIG(pe->status) == SIGKILL;
}

/* The pattern of the kernel as a pattern for glob; what we cannot know becomes a star. */
static void core_pattern(const pe_t *pe, const char *pattern, char *out, size_t size)
{
    size_t at = 0;
    bool has_pid = false;
    for (const char *c = pattern; *c && *c != '\n' && at < size - 32; c++) {
        if (*c != '%' || !c[1]) {
            out[at++] = *c;
            continue;
        }
        c++;
        if (*c == 'p' || *c == 'P') {
            at += (size_t)snprintf(out + at, size - at, "%d", (int)pe->pid);
            has_pid = true;
        } else {
            out[at++] = *c == '%' ? '%' : '*';
        }
    }
    out[at] = 0;
    if (!has_pid)
        snprintf(out + at, size - at, "*"); /* core_uses_pid adds the number */
}

static void find_core(const pe_t *pe, char *out, size_t size)
{
    char pattern[256] = "", expanded[512], path[1024];
    struct stat info;
    glob_t found;
    out[0] = 0;
    int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, pattern, sizeof(pattern) - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return;
    if (pattern[0] == '|') {
        snprintf(out, size, ", core given to %.*s", (int)strcspn(pattern + 1, " \n"), pattern + 1);
        return;
    }
    core_pattern(pe, pattern, expanded, sizeof(expanded));
    const char *folder = expanded[0] == '/' ? "" : pe->segment->wdir ? pe->segment->wdir : ".";
    snprintf(path, sizeof(path), "%s%s%s", folder, folder[0] ? "/" : "", expanded);
    if (glob(path, GLOB_NOSORT, NULL, &found))
        return;
    time_t newest = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (stat(found.gl_pathv[i], &info) == 0 && S_ISREG(info.st_mode) && info.st_mtime >= newest) {
            newest = info.st_mtime;
            snprintf(out, size, ", core file %s", found.gl_pathv[i]);
        }
    }
    globfree(&found);
}

static void describe_end(const pe_t *pe, char *out, size_t size)
{
    char core[600] = "";
    double seconds = (double)(pe->ended_ms - pe->started_ms) / 1000.0;
    if (pe->start_errno)
        snprintf(out, size, "could not %s: %s",
                 pe->start_stage == STAGE_EXEC     ? "be started"
                 : pe->start_stage == STAGE_FOLDER ? "enter its folder"
                                                   : "be set up",
                 strerror(pe->start_errno));
    else if (WIFSIGNALED(pe->status)) {
        int number = WTERMSIG(pe->status);
        if (WCOREDUMP(pe->status))
            find_core(pe, core, sizeof(core));
        snprintf(out, size, "died: signal %d (%s%s) after %.1f s%s", number, strsignal(number),
                 number == SIGKILL ? "; perhaps memory ran out" : "", seconds, core);
    } else if (pe->no_finalize)
        snprintf(out, size, "exited with code 0 without finalize while others run, after %.1f s", seconds);
    else
        snprintf(out, size, "failed: exit code %d after %.1f s", WEXITSTATUS(pe->status), seconds);
}

static void report_pe(const job_t *job, const pe_t *pe)
{
    char end[800];
    describe_end(pe, end, sizeof(end));
    say("PE %d on %s (pid %d, %s) %s", pe->rank, job->host, (int)pe->pid, pe->argv[0], end);
}

static void report_words(const pe_t *pe)
{
    if (pe->last_words[0])
        say("last words of PE %d: %s", pe->rank, pe->last_words);
}

static void report_others(const job_t *job)
{
    char all[256], killed[256] = "";
    list_pes(job, ended_by_us, all, sizeof(all));
    if (job->kill_ms != 0) /* otherwise a KILL came from somebody else */
        list_pes(job, killed_by_us, killed, sizeof(killed));
    const char *plural = strpbrk(all, " -") ? "s" : "";
    const char *how = job->why == WHY_SIGNAL ? strsignal(job->why_signal) : "TERM";
    if (!all[0])
        say("job exit code %d", job->code);
    else if (killed[0])
        say("PE%s %s ended by aclshmemrun (%s; KILL after %.1f s: %s); job exit code %d", plural, all, how,
            (double)(job->kill_ms - job->term_ms) / 1000.0, killed, job->code);
    else
        say("PE%s %s ended by aclshmemrun (%s); job exit code %d", plural, all, how, job->code);
}

static void report_table(job_t *job)
{
    say("%5s %8s  %s", "PE", "pid", "end");
    for (int i = 0; i < job->n_pes; i++) {
        const pe_t *pe = &job->pes[i];
        char end[800] = "not started";
        if (pe->state == PE_ENDED && !pe->failed && WIFEXITED(pe->status))
            snprintf(end, sizeof(end), "exit code %d after %.1f s", WEXITSTATUS(pe->status),
                     (double)(pe->ended_ms - pe->started_ms) / 1000.0);
        else if (pe->state == PE_ENDED)
            describe_end(pe, end, sizeof(end));
        say("%5d %8d  %s", pe->rank, (int)pe->pid, end);
        job_flush(job);
    }
}

void report_job(job_t *job)
{
    const pe_t *pe = &job->pes[job->why_pe >= 0 ? job->why_pe : 0];
    if (job->why == WHY_NOTHING || (job->why == WHY_ABORT && !job->code))
        return;
    if (job->why == WHY_PE && job->options->keep_going) {
        report_table(job);
        say("job exit code %d, from PE %d", job->code, job->why_pe);
        return;
    }
    if (job->why == WHY_PE) {
        report_pe(job, pe);
        report_words(pe);
    } else if (job->why == WHY_ABORT) {
        say("PE %d on %s (pid %d, %s) ended the job with code %d%s%s", pe->rank, job->host, (int)pe->pid,
            pe->argv[0], job->code, job->why_text[0] ? ": " : "", job->why_text);
        report_words(pe);
    } else if (job->why == WHY_SIGNAL) {
        say("ended by signal %d (%s)", job->why_signal, strsignal(job->why_signal));
    } else if (job->why == WHY_TIMEOUT) {
        say("the job took longer than %.1f s (--timeout)", (double)job->options->timeout_ms / 1000.0);
    }
    report_others(job);
}

/* --- Before the start --- */

static void print_line(FILE *to, const char *line)
{
    if (to)
        fprintf(to, "%s\n", line);
    else
        say("%s", line);
}

void report_plan(job_t *job, bool to_stdout)
{
    const options_t *options = job->options;
    FILE *to = to_stdout ? stdout : NULL;
    char line[900], where[256];
    snprintf(line, sizeof(line), "job %s: %d PEs on %s, standard input to %s", job->id, job->n_pes, job->host,
             options->input_pe == INPUT_NONE  ? "nobody"
             : options->input_pe == INPUT_ALL ? "all"
                                              : "one PE");
    print_line(to, line);
    for (int i = 0; i < job->n_pes; i++) {
        const pe_t *pe = &job->pes[i];
        bind_describe(job, pe, where, sizeof(where));
        size_t at = (size_t)snprintf(line, sizeof(line), "PE %d on %s, %s:", pe->rank, job->host, where);
        for (char **word = pe->argv; *word && at < sizeof(line); word++)
            at += (size_t)snprintf(line + at, sizeof(line) - at, " %s", *word);
        print_line(to, line);
    }
    childenv_attempt(job);
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return;
    childenv_print(job, memory);
    if (fclose(memory) == 0) {
        print_line(to, "variables of PE 0:");
        for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
            *end = 0;
            snprintf(line, sizeof(line), "  %s", at);
            print_line(to, line);
        }
    }
    free(text);
}

void report_bindings(job_t *job)
{
    char where[256];
    for (int i = 0; i < job->n_pes; i++) {
        bind_describe(job, &job->pes[i], where, sizeof(where));
        say("PE %d on %s: %s", i, job->host, where);
    }
}
