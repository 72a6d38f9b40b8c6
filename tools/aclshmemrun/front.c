/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front: the process the user started. It catches signals and hands their numbers to the keeper, so that each
 * counts once however it was sent (a terminal sends to both of us, kill to the front alone). It outlives the keeper by
 * a moment and cleans up when that one was killed.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

static const int passed_on[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};
static sigset_t inherited_mask;

static bool inherited_ignored(int signal_number)
{
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Blocks what we take from the signalfd, and what would stop or end us for using a terminal or a pipe. */
static int block_signals(sigset_t *caught)
{
    sigset_t blocked;
    sigemptyset(caught);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(caught, passed_on[i]);
    if (inherited_ignored(SIGHUP)) /* nohup: the job is to survive it */
        sigdelset(caught, SIGHUP);
    sigaddset(caught, SIGCHLD);
    blocked = *caught;
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGTTOU);
    sigaddset(&blocked, SIGTTIN);
    if (signal(SIGCHLD, SIG_DFL) == SIG_ERR) /* ignored, it would hide our children's ends */
        return -1;
    return sigprocmask(SIG_BLOCK, &blocked, &inherited_mask);
}

/* Groups of their own keep the PEs from a terminal's ^C, so the reason a shell had for ignoring INT and QUIT in
 * background jobs is gone: what we pass on is meant. */
void front_restore_signals(void)
{
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGQUIT, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

static void pass_on(int channel, unsigned char number)
{
    (void)!send(channel, &number, 1, MSG_NOSIGNAL);
}

static void stop_all(pid_t keeper)
{
    (void)kill(keeper, SIGSTOP);
    (void)kill(getpid(), SIGSTOP); /* we go on here after a CONT, which then also waits in the signalfd */
}

/* The keeper says 'S' when the PEs have got their TSTP, or PE 0 got one from the terminal it has; 'T' when PE 0 reads
 * the terminal while we are in its background. */
static void take_word(int channel, pid_t keeper)
{
    char word;
    if (read(channel, &word, 1) != 1)
        return;
    if (word == 'T' && children_own_terminal())
        pass_on(channel, SIGCONT); /* not any more */
    else
        stop_all(keeper);
}

static void take_signal(int signals, int channel, pid_t keeper)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info) || info.ssi_signo == SIGCHLD)
        return;
    if (info.ssi_signo == SIGCONT)
        (void)kill(keeper, SIGCONT);
    pass_on(channel, (unsigned char)info.ssi_signo);
}

/* The exit code, or -1 while the keeper lives. */
static int keeper_code(pid_t keeper)
{
    int status;
    pid_t pid = waitpid(keeper, &status, WNOHANG);
    if (pid != keeper)
        return pid < 0 && errno != EINTR ? 1 : -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    bool gone = children_kill_all(10000) == 0;
    children_take_terminal(0);
    say("its working process was ended by signal %d (%s); %s", WTERMSIG(status), strsignal(WTERMSIG(status)),
        gone ? "the PEs have been killed" : "some PEs cannot be killed");
    return 128 + WTERMSIG(status);
}

static int watch_keeper(int signals, int channel, pid_t keeper)
{
    for (;;) {
        struct pollfd ready[] = {{.fd = signals, .events = POLLIN}, {.fd = channel, .events = POLLIN}};
        (void)poll(ready, 2, -1);
        if (ready[1].revents & POLLIN)
            take_word(channel, keeper);
        if (ready[0].revents & POLLIN)
            take_signal(signals, channel, keeper);
        int code = keeper_code(keeper);
        if (code >= 0)
            return code;
        if (ready[1].revents & POLLHUP) /* it is about to end; its death wakes us */
            channel = -1;
    }
}

int front_run(options_t *options)
{
    sigset_t caught;
    int pair[2];
    if (block_signals(&caught) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
        prctl(PR_SET_CHILD_SUBREAPER, 1)) {
        say("cannot start: %s", strerror(errno));
        return 1;
    }
    int signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t front = getpid(), keeper = signals < 0 ? -1 : fork();
    if (keeper < 0) {
        say("cannot start: %s", strerror(errno));
        return 1;
    }
    if (keeper == 0) {
        close(signals);
        close(pair[0]);
        /* a stopped keeper must wake up when the front dies, to see its end of the channel close */
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) || prctl(PR_SET_PDEATHSIG, SIGCONT) || getppid() != front)
            _exit(1);
        int code = job_run(options, pair[1]);
        options_free(options);
        bind_unload();
        exit(code);
    }
    close(pair[1]);
    return watch_keeper(signals, pair[0], keeper);
}
