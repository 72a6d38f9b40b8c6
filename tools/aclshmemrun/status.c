/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PEs are doing: --status asks a running aclshmemrun over a Unix socket without a file, named by user and
 * process; --progress prints the same as one line now and then. No signal is used, those belong to the application.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { ANSWER_MS = 5000, PROGRESS_MS = 5000 };

struct status {
    watch_t listener;
    watch_t client; /* one at a time, the others wait in the queue */
    char *text;     /* what it gets */
    size_t length, sent;
    uint64_t drop_at_ms;
    uint64_t progress_at_ms;
};

static socklen_t address_of(struct sockaddr_un *address, uid_t user, long pid)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "aclshmemrun-%u-%ld",
                          (unsigned)user, pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* The state letter the system has for a process, '?' when it cannot be read. */
static char state_letter(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return '?';
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] ? end[2] : '?';
}

static void missing_pes(const job_t *job, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < job->n_pes && at < size - 16; i++)
        if (!job->pes[i].pmi.in_barrier)
            at += (size_t)snprintf(out + at, size - at, " %d", i);
    if (at >= size - 16)
        snprintf(out + at, size - at, " ...");
}

static void describe(const pe_t *pe, char *out, size_t size)
{
    char missing[128];
    double since = (double)(now_ms() - pe->pmi.since_ms) / 1000.0;
    double runs = (double)(now_ms() - pe->started_ms) / 1000.0;
    if (pe->state == PE_WAITING)
        snprintf(out, size, "starting");
    else if (pe->state == PE_ENDED && WIFSIGNALED(pe->status))
        snprintf(out, size, "ended by signal %d", WTERMSIG(pe->status));
    else if (pe->state == PE_ENDED)
        snprintf(out, size, "ended %d", WEXITSTATUS(pe->status));
    else if (pe->pmi.in_barrier) {
        missing_pes(pe->job, missing, sizeof(missing));
        snprintf(out, size, "waiting in the start barrier for PE%s, %.0f s", missing, since);
    } else if (pe->pmi.waits[0])
        snprintf(out, size, "waiting for %s, %.0f s", pe->pmi.waits, since);
    else {
        char letter = state_letter(pe->pid);
        snprintf(out, size, "%s, %.0f s",
                 letter == 'R'   ? "running"
                 : letter == 'T' ? "stopped"
                 : letter == 't' ? "stopped by a debugger"
                 : letter == 'D' ? "waiting for a device or disk"
                                 : "running (asleep)",
                 runs);
    }
}

/* --- Asked from outside --- */

static void make_text(job_t *job)
{
    struct status *status = job->status;
    char state[256];
    FILE *memory = open_memstream(&status->text, &status->length);
    if (!memory)
        return;
    fprintf(memory, "job %s, aclshmemrun pid %d, %d PEs on %s\n", job->id, (int)getppid(), job->n_pes,
            job->host);
    fprintf(memory, "%5s %8s  %s\n", "PE", "pid", "state");
    for (int i = 0; i < job->n_pes; i++) {
        describe(&job->pes[i], state, sizeof(state));
        fprintf(memory, "%5d %8d  %s\n", i, (int)job->pes[i].pid, state);
    }
    (void)fclose(memory);
}

static void drop_client(struct status *status)
{
    watch_close(&status->client);
    free(status->text);
    status->text = NULL;
    status->length = status->sent = 0;
    (void)watch_set(&status->listener, EPOLLIN);
}

static void client_ready(watch_t *watch, uint32_t events)
{
    struct status *status = watch->owner;
    (void)events;
    while (status->sent < status->length) {
        ssize_t done = send(watch->fd, status->text + status->sent, status->length - status->sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (done < 0 && errno == EAGAIN)
            return;
        if (done < 0 && errno != EINTR)
            break;
        status->sent += done > 0 ? (size_t)done : 0;
    }
    drop_client(status);
}

static void listener_ready(watch_t *watch, uint32_t events)
{
    job_t *job = watch->owner;
    struct status *status = job->status;
    struct ucred peer;
    socklen_t size = sizeof(peer);
    (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || (peer.uid != getuid() && peer.uid != 0)) {
        close(fd);
        return;
    }
    make_text(job);
    status->client = (watch_t){.fd = fd, .ready = client_ready, .owner = status};
    status->drop_at_ms = now_ms() + ANSWER_MS;
    (void)watch_set(&status->listener, 0);
    if (watch_set(&status->client, EPOLLOUT))
        drop_client(status);
}

/* --- Said by ourselves --- */

static void say_progress(const job_t *job)
{
    int running = 0, waiting = 0, ended = 0;
    char example[256] = "";
    for (int i = 0; i < job->n_pes; i++) {
        const pe_t *pe = &job->pes[i];
        bool waits = pe->state == PE_STARTED && (pe->pmi.in_barrier || pe->pmi.waits[0]);
        if (waits && !waiting++)
            describe(pe, example, sizeof(example));
        running += pe->state == PE_STARTED && !waits;
        ended += pe->state == PE_ENDED;
    }
    say("%.0f s, PEs: %d running, %d waiting, %d ended%s%s", (double)(now_ms() - job->started_ms) / 1000.0,
        running, waiting, ended, example[0] ? "; " : "", example);
}

int status_timeout(job_t *job)
{
    const struct status *status = job->status;
    uint64_t next = 0, now = now_ms();
    if (!status)
        return -1;
    if (status->client.fd >= 0)
        next = status->drop_at_ms;
    if (status->progress_at_ms && (!next || status->progress_at_ms < next))
        next = status->progress_at_ms;
    return !next ? -1 : next <= now ? 0 : (int)(next - now);
}

void status_tick(job_t *job)
{
    struct status *status = job->status;
    uint64_t now = now_ms();
    if (!status)
        return;
    if (status->client.fd >= 0 && now >= status->drop_at_ms)
        drop_client(status);
    if (status->progress_at_ms && now >= status->progress_at_ms) {
        status->progress_at_ms = now + PROGRESS_MS;
        if (job->alive)
            say_progress(job);
    }
}

/* A machine without such sockets loses --status and nothing else. */
int status_open(job_t *job)
{
    struct sockaddr_un address;
    struct status *status = calloc(1, sizeof(*status));
    if (!status)
        return -1;
    job->status = status;
    status->client.fd = -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    status->listener = (watch_t){.fd = fd, .ready = listener_ready, .owner = job};
    socklen_t size = address_of(&address, getuid(), getppid());
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 4) ||
                    watch_set(&status->listener, EPOLLIN)))
        watch_close(&status->listener);
    if (job->options->progress)
        status->progress_at_ms = now_ms() + PROGRESS_MS;
    return 0;
}

void status_close(job_t *job)
{
    if (!job->status)
        return;
    if (job->status->client.fd >= 0)
        drop_client(job->status);
    watch_close(&job->status->listener);
    free(job->status);
    job->status = NULL;
}

/* --- The one who asks --- */

static int ask(long pid)
{
    struct sockaddr_un address;
    char text[4096];
    socklen_t size = address_of(&address, getuid(), pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, size)) {
        say("no job of yours has process %ld here: %s", pid, strerror(errno));
        if (fd >= 0)
            close(fd);
        return 1;
    }
    int result = 1;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ssize_t got = poll(&ready, 1, ANSWER_MS) > 0 ? read(fd, text, sizeof(text)) : -1;
        if (got <= 0)
            break;
        fwrite(text, 1, (size_t)got, stdout);
        result = 0;
    }
    close(fd);
    if (result)
        say("process %ld does not answer", pid);
    return result;
}

int status_ask(const char *pid)
{
    char line[512], prefix[64];
    long number;
    if (pid[0] && parse_range(pid, 1, 1L << 30, &number)) {
        say("--status: \"%s\" is not allowed; give the process number of an aclshmemrun, or nothing", pid);
        return EXIT_USAGE;
    }
    if (pid[0])
        return ask(number);
    int answered = 0;
    FILE *file = fopen("/proc/net/unix", "re");
    snprintf(prefix, sizeof(prefix), "@aclshmemrun-%u-", (unsigned)getuid());
    while (file && fgets(line, sizeof(line), file)) {
        char *name = strstr(line, prefix);
        if (!name)
            continue;
        name[strcspn(name, "\n")] = 0;
        /* connections carry the name of their listener too; state 01 is listening */
        if (parse_range(name + strlen(prefix), 1, 1L << 30, &number) == 0 && strstr(line, " 00010000 "))
            answered += ask(number) == 0;
    }
    if (file)
        fclose(file);
    if (!answered)
        say("no job of yours is running here");
    return answered ? 0 : 1;
}
