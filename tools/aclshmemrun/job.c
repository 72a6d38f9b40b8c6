/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a job: all PEs are started, then events are taken until the last process and the last line are gone.
 * Ending has three phases: run, TERM (the PEs have been asked), KILL (they were asked too long ago).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

enum { GIVE_UP_MS = 10000, SWEEP_MS = 20, SECOND_INT_MS = 2000, FDS_PER_PE = 5, FDS_OURS = 64 };

static void begin_phase(job_t *job, phase_t phase, uint64_t grace_ms)
{
    uint64_t now = now_ms();
    job->phase = phase;
    if (phase == PHASE_TERM) {
        job->term_ms = now;
        job->kill_at_ms = now + grace_ms;
    } else {
        children_signal(SIGKILL);
        job->kill_ms = now;
        job->give_up_ms = now + GIVE_UP_MS;
    }
}

static void tell_all_to_end(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++)
        if (job->pes[i].state == PE_STARTED)
            job->pes[i].told_to_end = true;
}

/* The first reason counts; with --keep-going a later, stronger one replaces the failure of a PE. */
void job_stop(job_t *job, why_t why, int pe, int code)
{
    if (job->phase != PHASE_RUN) {
        if (why == WHY_FRONT_GONE && job->phase != PHASE_KILL) {
            job->why = why;
            begin_phase(job, PHASE_KILL, 0);
        }
        return;
    }
    job->why = why;
    job->why_pe = pe;
    job->code = code;
    tell_all_to_end(job);
    if (why == WHY_FRONT_GONE) {
        begin_phase(job, PHASE_KILL, 0);
        return;
    }
    if (why != WHY_SIGNAL)
        children_signal(SIGTERM);
    begin_phase(job, PHASE_TERM, job->options->grace_ms);
}

static void forward_end(job_t *job, int signal_number)
{
    if (job->children_gone) { /* only the readers of our output keep us */
        job->abandon = true;
        job->code = 128 + signal_number;
        return;
    }
    if (signal_number == SIGINT) {
        uint64_t now = now_ms();
        if (job->last_int_ms && now - job->last_int_ms <= SECOND_INT_MS) {
            if (job->phase != PHASE_KILL)
                begin_phase(job, PHASE_KILL, 0);
            return;
        }
        job->last_int_ms = now;
    }
    children_signal(signal_number);
    if (job->phase == PHASE_RUN) {
        job->why_signal = signal_number;
        job_stop(job, WHY_SIGNAL, -1, 128 + signal_number);
    }
}

/* What the front caught. USR1 and USR2 are for the program itself; the rest goes to its helpers too, as from a
 * terminal. */
void job_forward(job_t *job, int signal_number)
{
    switch (signal_number) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        forward_end(job, signal_number);
        return;
    case SIGUSR1:
    case SIGUSR2:
        for (int i = 0; i < job->n_pes; i++)
            if (job->pes[i].state == PE_STARTED)
                (void)kill(job->pes[i].pid, signal_number);
        return;
    case SIGTSTP:
        children_signal(SIGTSTP);
        (void)!write(job->channel.fd, "S", 1);
        return;
    case SIGCONT:
        if (job->terminal && job->pes[0].state == PE_STARTED && children_own_terminal())
            children_give_terminal(job->pes[0].pid);
        children_signal(SIGCONT);
        return;
    default:
        children_signal(signal_number);
    }
}

/* --- Events --- */

static void channel_ready(watch_t *watch, uint32_t events)
{
    job_t *job = watch->owner;
    unsigned char number;
    (void)events;
    ssize_t got = read(watch->fd, &number, 1);
    if (got == 1) {
        job_forward(job, number);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        watch_close(watch);
        (void)prctl(PR_SET_PDEATHSIG,
                    0); /* its CONT has done its work, and would disturb a leak checker's stop */
        job_stop(job, WHY_FRONT_GONE, -1, 1);
    }
}

static void children_ready(watch_t *watch, uint32_t events)
{
    struct signalfd_siginfo info;
    (void)events;
    (void)!read(watch->fd, &info, sizeof(info)); /* one is enough: the reaping takes all there are */
    children_reap(watch->owner);
}

static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static int until(uint64_t when)
{
    uint64_t now = now_ms();
    return when <= now ? 0 : when - now > 60000 ? 60000 : (int)(when - now);
}

static int next_timeout(job_t *job)
{
    int timeout = sooner(output_timeout(job), sooner(input_timeout(job), status_timeout(job)));
    if (job->phase == PHASE_RUN && job->timeout_at_ms)
        timeout = sooner(timeout, until(job->timeout_at_ms));
    if (job->phase == PHASE_TERM)
        timeout = sooner(timeout, until(job->kill_at_ms));
    if (job->phase == PHASE_KILL)
        timeout = sooner(timeout, SWEEP_MS);
    return timeout;
}

static void tick(job_t *job)
{
    uint64_t now = now_ms();
    if (job->phase == PHASE_RUN && job->timeout_at_ms && now >= job->timeout_at_ms && job->alive)
        job_stop(job, WHY_TIMEOUT, -1, EXIT_TIMEOUT);
    if (job->phase == PHASE_RUN && !job->alive && !job->children_gone) { /* the PEs left processes behind */
        children_signal(SIGTERM);
        begin_phase(job, PHASE_TERM, job->options->grace_ms);
    }
    if (job->phase == PHASE_TERM && now >= job->kill_at_ms && !job->children_gone)
        begin_phase(job, PHASE_KILL, 0);
    if (job->sweep && job->phase == PHASE_TERM)
        children_signal_orphans(job, SIGTERM);
    job->sweep = false;
    if (job->phase == PHASE_KILL && !job->children_gone) {
        children_signal(SIGKILL);
        if (now >= job->give_up_ms) {
            say("some processes of the job cannot be killed; they are left behind");
            job->children_gone = job->abandon = true;
        }
    }
    if (job->children_gone && !job->drained) {
        job->drained = true;
        output_drain(job);
    }
    output_tick(job);
    input_tick(job);
    status_tick(job);
}

static void run_events(job_t *job)
{
    for (;;) {
        tick(job);
        if (job->abandon || (job->drained && output_idle(job)))
            return;
        loop_once(next_timeout(job));
    }
}

/* What has been said is on its way before we go on. */
void job_flush(job_t *job)
{
    while (!job->abandon && !output_idle(job))
        loop_once(100);
}

/* --- Start and end --- */

static int watch_fd(watch_t *watch, int fd, void (*ready)(watch_t *, uint32_t), job_t *job)
{
    *watch = (watch_t){.fd = fd, .ready = ready, .owner = job};
    return fd < 0 ? -1 : watch_set(watch, EPOLLIN);
}

static int make_pes(job_t *job)
{
    const options_t *options = job->options;
    job->n_pes = options->n_pes;
    job->pes = calloc((size_t)job->n_pes, sizeof(*job->pes));
    if (!job->pes)
        return -1;
    int rank = 0;
    for (int s = 0; s < options->n_segments; s++) {
        for (int i = 0; i < options->segments[s].n; i++, rank++) {
            pe_t *pe = &job->pes[rank];
            pe->job = job;
            pe->rank = rank;
            pe->segment = &options->segments[s];
            pe->appnum = s;
            pe->argv = pe->segment->argv;
            pe->out.watch.fd = pe->err.watch.fd = pe->pmi.watch.fd = pe->input.fd = -1;
        }
    }
    return 0;
}

/* Our own soft limit goes up as far as it may; the PEs get the one we were started with. */
static int raise_descriptor_limit(job_t *job)
{
    struct rlimit limit;
    rlim_t files = (job->options->output != NULL) + (job->options->error != NULL);
    rlim_t wanted = (rlim_t)job->n_pes * (FDS_PER_PE + files) + FDS_OURS;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return -1;
    job->descriptor_limit = limit.rlim_cur;
    if (limit.rlim_cur >= wanted)
        return 0;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted) {
        say("%d PEs need %lu descriptors, the hard limit is %lu (ulimit -Hn)", job->n_pes,
            (unsigned long)wanted, (unsigned long)limit.rlim_max);
        return -1;
    }
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_names(job_t *job)
{
    static char host[256];
    uint32_t random;
    if (gethostname(host, sizeof(host) - 1))
        memcpy(host, "localhost", sizeof("localhost"));
    job->host = host;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -1;
    snprintf(job->id, sizeof(job->id), "%d-%08x", (int)getppid(), random);
    return 0;
}

static int start_pes(job_t *job)
{
    int life[2];
    if (getrandom(job->secret, sizeof(job->secret), 0) != (ssize_t)sizeof(job->secret) ||
        pipe2(life, O_CLOEXEC))
        return -1;
    job->life_read = life[0];
    job->life_write = life[1];
    snprintf(job->kvsname, sizeof(job->kvsname), "kvs_%s_%d", job->id, job->attempt);
    childenv_attempt(job);
    for (int i = 0; i < job->n_pes; i++)
        if (output_attach(job, &job->pes[i]))
            return -1;
    for (int i = 0; i < job->n_pes; i++) {
        if (spawn_pe(job, &job->pes[i])) {
            job_stop(job, WHY_START, i, 1);
            break;
        }
        wrap_started(job, &job->pes[i]);
    }
    input_start(job);
    return 0;
}

static void end_attempt(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++) {
        pe_t *pe = &job->pes[i];
        watch_close(&pe->out.watch);
        watch_close(&pe->err.watch);
        watch_close(&pe->input);
        pmi_close(job, pe);
    }
    pmi_reset(job);
    explicit_bzero(job->secret, sizeof(job->secret));
    if (job->life_read >= 0)
        close(job->life_read);
    if (job->life_write >= 0)
        close(job->life_write);
    job->life_read = job->life_write = -1;
    if (job->terminal)
        children_take_terminal(job->pes[0].pid);
}

static void forget_attempt(job_t *job)
{
    for (int i = 0; i < job->n_pes; i++) {
        pe_t *pe = &job->pes[i];
        pe->state = PE_WAITING;
        pe->told_to_end = pe->failed = pe->no_finalize = false;
        pe->start_errno = 0;
        pe->out.eof = pe->err.eof = true; /* until it is started */
        pe->last_words[0] = 0;
    }
    job->phase = PHASE_RUN;
    job->why = WHY_NOTHING;
    job->why_pe = -1;
    job->code = job->alive = 0;
    job->children_gone = job->drained = job->sweep = false;
    job->last_int_ms = 0;
}

static bool again(const job_t *job)
{
    bool failed = (job->why == WHY_PE || job->why == WHY_ABORT) && job->code;
    return failed && !job->pes[job->why_pe].start_errno && job->attempt < job->options->restart;
}

static int run_attempts(job_t *job)
{
    job->started_ms = now_ms();
    if (job->options->timeout_ms)
        job->timeout_at_ms = job->started_ms + job->options->timeout_ms;
    for (;; job->attempt++) {
        forget_attempt(job);
        if (start_pes(job)) {
            end_attempt(job);
            return 1;
        }
        run_events(job);
        end_attempt(job);
        if (job->why != WHY_FRONT_GONE)
            report_job(job);
        job_flush(job);
        if (!again(job))
            return job->code;
        say("starting the job again (%d of %d)", job->attempt + 1, job->options->restart);
    }
}

static int prepare(job_t *job, int channel)
{
    sigset_t child;
    int errors[2];
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (loop_open() || pipe2(errors, O_CLOEXEC | O_NONBLOCK))
        return -1;
    job->start_errors = (watch_t){.fd = errors[0]};
    job->start_errors_write = errors[1];
    job->terminal =
        (job->n_pes == 1 || job->options->pty) && job->options->input_pe == 0 && isatty(STDIN_FILENO);
    if (watch_fd(&job->channel, channel, channel_ready, job) ||
        watch_fd(&job->children, signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), children_ready, job) ||
        output_open(job) || input_open(job))
        return -1;
    return 0;
}

/* What is said or decided before anything is started; -1: go on. */
static int before_start(job_t *job)
{
    const options_t *options = job->options;
    if (bind_open(job))
        return EXIT_USAGE;
    childenv_prepare(job);
    if (options->show_env) {
        childenv_attempt(job);
        childenv_print(job, stdout);
        return 0;
    }
    if (options->verbose || options->dry_run)
        report_plan(job, options->dry_run);
    int code = spawn_check(job);
    if (code || options->dry_run)
        return code;
    if (options->report_bindings)
        report_bindings(job);
    return status_open(job) ? 1 : -1;
}

static void job_free(job_t *job)
{
    status_close(job);
    input_close(job);
    if (job->output)
        output_close(job);
    bind_close(job);
    wrap_free(job);
    watch_close(&job->channel);
    watch_close(&job->children);
    watch_close(&job->start_errors);
    if (job->start_errors_write >= 0)
        close(job->start_errors_write);
    loop_close();
    free(job->pes);
}

int job_run(options_t *options, int channel)
{
    job_t job = {
        .options = options, .why_pe = -1, .life_read = -1, .life_write = -1, .start_errors_write = -1};
    job.channel.fd = job.children.fd = job.start_errors.fd = -1;
    int code = 1;
    if (make_pes(&job) || make_names(&job) || prepare(&job, channel))
        say("cannot start: %s", strerror(errno));
    else if (wrap_prepare(&job))
        code = EXIT_USAGE;
    else if (raise_descriptor_limit(&job) == 0 && (code = before_start(&job)) < 0)
        code = run_attempts(&job);
    job_free(&job);
    return code;
}
