/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes below us: the PEs in groups of their own, and orphans of theirs, which come to us because we are a
 * subreaper. When wait says that we have no children left, then nothing of the job is left, wherever it had hidden.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

/* Calls act for each of our children. The list is the kernel's, so there is no process in it that is not ours. */
static void for_each_child(void (*act)(pid_t pid, int signal_number), int signal_number)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size_t held = 0;
    for (;;) {
        ssize_t got = read(fd, text + held, sizeof(text) - 1 - held);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        held += (size_t)got;
        text[held] = 0;
        char *at = text, *blank;
        while ((blank = strchr(at, ' ')) != NULL) { /* each number is followed by one */
            long pid = strtol(at, NULL, 10);
            if (pid > 1)
                act((pid_t)pid, signal_number);
            at = blank + 1;
        }
        held -= (size_t)(at - text);
        memmove(text, at, held);
    }
    close(fd);
}

/* The child is unreaped, so neither its number nor its group's can have passed to a stranger. */
static void signal_group_of(pid_t pid, int signal_number)
{
    pid_t group = getpgid(pid);
    if (group > 1 && group != getpgrp())
        (void)kill(-group, signal_number);
    else
        (void)kill(pid, signal_number);
}

void children_signal(int signal_number)
{
    for_each_child(signal_group_of, signal_number);
    if (signal_number == SIGTERM)
        for_each_child(signal_group_of, SIGCONT); /* so that a stopped one hears it */
}

static job_t *orphans_of; /* for the call below, which passes one number only */

static void signal_orphan(pid_t pid, int signal_number)
{
    for (int i = 0; i < orphans_of->n_pes; i++)
        if (orphans_of->pes[i].state == PE_STARTED && orphans_of->pes[i].pid == pid)
            return;
    signal_group_of(pid, signal_number);
}

void children_signal_orphans(job_t *job, int signal_number)
{
    orphans_of = job;
    for_each_child(signal_orphan, signal_number);
}

static pe_t *pe_of(job_t *job, pid_t pid)
{
    for (int i = 0; i < job->n_pes; i++)
        if (job->pes[i].state == PE_STARTED && job->pes[i].pid == pid)
            return &job->pes[i];
    return NULL;
}

/* Others still run, or ended only just now in the same round. */
static void note_end(job_t *job, pe_t *pe, int status)
{
    pmi_catch_up(pe);
    pe->state = PE_ENDED;
    pe->status = status;
    pe->ended_ms = now_ms();
    job->alive--;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    pe->no_finalize = clean && pe->pmi.started && job->alive > 0;
    pe->failed = (!clean || pe->no_finalize) && !pe->told_to_end;
}

/* One that has no terminal and tries to use it is stopped by the system, which nobody would understand. */
static void explain_stop(job_t *job, const pe_t *pe)
{
    if (!job->told_of_terminal)
        say("PE %d wants to use the terminal and has been stopped; --pty gives the terminal to PE 0",
            pe->rank);
    job->told_of_terminal = true;
}

/* PE 0 has the terminal: stopped from its keyboard ('S'), the whole job stops; stopped because it reads in the
 * background ('T'), too, unless we have come to the foreground meanwhile. */
static void note_stop(job_t *job, const pe_t *pe, int signal_number)
{
    bool for_terminal = signal_number == SIGTTIN || signal_number == SIGTTOU;
    if (!job->terminal || pe->rank != 0) {
        if (for_terminal)
            explain_stop(job, pe);
        return;
    }
    if (job->phase != PHASE_RUN)
        return;
    if (for_terminal && children_own_terminal()) {
        children_give_terminal(pe->pid);
        (void)kill(-pe->pid, SIGCONT);
        return;
    }
    children_take_terminal(pe->pid);
    (void)!write(job->channel.fd, for_terminal ? "T" : "S", 1);
}

/* The first of the round that failed: rather one that died by a signal, for the others may have died of its death. */
static void decide(job_t *job, const pe_t *signalled, const pe_t *failed)
{
    const pe_t *first = signalled ? signalled : failed;
    if (!first)
        return;
    if (job->options->keep_going) {
        if (job->why == WHY_NOTHING) {
            job->why = WHY_PE;
            job->why_pe = first->rank;
            job->code = report_code_of(first);
        }
        return;
    }
    job_stop(job, WHY_PE, first->rank, report_code_of(first));
}

void children_reap(job_t *job)
{
    const pe_t *signalled = NULL, *failed = NULL;
    bool ended = false;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        pe_t *pe = pe_of(job, pid);
        if (pe && WIFSTOPPED(status)) {
            note_stop(job, pe, WSTOPSIG(status));
            continue;
        }
        if (WIFSTOPPED(status))
            continue;
        job->sweep = true;
        if (!pe)
            continue;
        if (!ended)
            spawn_read_errors(job);
        ended = true;
        note_end(job, pe, status);
        if (!pe->failed)
            continue;
        if (WIFSIGNALED(status) && (!signalled || pe->rank < signalled->rank))
            signalled = pe;
        if (!failed || pe->rank < failed->rank)
            failed = pe;
    }
    job->children_gone = pid < 0 && errno == ECHILD;
    if (!ended)
        return;
    decide(job, signalled, failed);
    pmi_peer_ended(job);
}

void children_give_terminal(pid_t group)
{
    (void)tcsetpgrp(STDIN_FILENO, group); /* TTOU is blocked; without a terminal there is nothing to give */
}

/* Back to our own group, from this group or one that has died; never from the shell that keeps us in its background. */
void children_take_terminal(pid_t from)
{
    pid_t holder = tcgetpgrp(STDIN_FILENO);
    if (holder > 1 && holder != getpgrp() && (holder == from || (kill(-holder, 0) && errno == ESRCH)))
        children_give_terminal(getpgrp());
}

bool children_own_terminal(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* For the front when the keeper was killed: everything of the job has become ours. */
int children_kill_all(int give_up_ms)
{
    uint64_t end = now_ms() + (uint64_t)give_up_ms;
    while (now_ms() < end) {
        int status;
        pid_t pid;
        for_each_child(signal_group_of, SIGKILL);
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return 0;
        (void)poll(NULL, 0, 2);
    }
    return -1;
}
