/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the launcher start as PEs: one program, its first argument says what to do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int number_of(const char *name)
{
    const char *value = getenv(name);
    return value ? atoi(value) : -1;
}

static int put(int fd, const char *text)
{
    size_t length = strlen(text);
    return write(fd, text, length) == (ssize_t)length ? 0 : 1;
}

/* Only the PE named first does what follows, the others wait to be ended. */
static bool not_me(const char *pe)
{
    return atoi(pe) != number_of("SHMEM_PE");
}

static int wait_for_ever(void)
{
    while (pause() < 0 && errno == EINTR)
        ;
    return 1;
}

static int do_exit(char **args) /* PE code */
{
    return not_me(args[0]) ? wait_for_ever() : atoi(args[1]);
}

static int do_exit_all(char **args) /* code per PE, or - to wait */
{
    const char *mine = args[number_of("SHMEM_PE")];
    return mine[0] == '-' ? wait_for_ever() : atoi(mine);
}

static int do_die(char **args) /* PE signal */
{
    if (not_me(args[0]))
        return wait_for_ever();
    fprintf(stderr, "about to die\nof signal %s\n", args[1]);
    raise(atoi(args[1]));
    return 1;
}

/* Lines of growing length, written in odd pieces, so that a careless reader tears them. */
static int do_lines(char **args)
{
    long count = atol(args[0]);
    int pe = number_of("SHMEM_PE");
    char buffer[8192];
    size_t used = 0;
    for (long i = 0; i < count; i++) {
        char line[256];
        int length = snprintf(line, sizeof(line), "<%d %ld %.*s>\n", pe, i, (int)(i % 97),
                              "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
                              "abcdefghijklmnopqrstuvwxyz");
        for (int k = 0; k < length; k++) {
            buffer[used++] = line[k];
            if (used == 4096 + (size_t)pe * 13) {
                if (write(1, buffer, used) != (ssize_t)used)
                    return 1;
                used = 0;
            }
        }
    }
    return write(1, buffer, used) == (ssize_t)used ? 0 : 1;
}

static int do_flood(char **args) /* MiB, without or with newlines */
{
    static char block[1 << 20];
    memset(block, 'x', sizeof(block));
    if (args[1])
        for (size_t i = 99; i < sizeof(block); i += 100)
            block[i] = '\n';
    for (long i = atol(args[0]); i > 0; i--)
        for (size_t at = 0; at < sizeof(block);) {
            ssize_t done = write(1, block + at, sizeof(block) - at);
            if (done <= 0)
                return 1;
            at += (size_t)done;
        }
    return 0;
}

static int do_cat(char **args)
{
    char buffer[4096];
    ssize_t got;
    (void)args;
    long bytes = 0;
    while ((got = read(0, buffer, sizeof(buffer))) > 0)
        bytes += got;
    printf("PE %d read %ld\n", number_of("SHMEM_PE"), bytes);
    return 0;
}

static int do_env(char **args)
{
    for (; *args; args++)
        printf("%s%s=%s\n", getenv(*args) ? "" : "no ", *args, getenv(*args) ? getenv(*args) : "");
    return 0;
}

static int do_fds(char **args)
{
    (void)args;
    int secret = number_of("SHMEM_SECRET_FD"), life = number_of("SHMEM_LIFE_FD"), pmi = number_of("PMI_FD");
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    if (!folder)
        return 1;
    while ((entry = readdir(folder)) != NULL) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(folder))
            continue;
        printf("%s\n", fd <= 2        ? entry->d_name
                       : fd == secret ? "secret"
                       : fd == life   ? "life"
                       : fd == pmi    ? "pmi"
                                      : "stranger");
    }
    closedir(folder);
    return 0;
}

/* The secret, read by read() so that a shared offset would show. */
static int do_secret(char **args)
{
    unsigned char secret[33];
    (void)args;
    int fd = number_of("SHMEM_SECRET_FD");
    if (read(fd, secret, sizeof(secret)) != 32 || pwrite(fd, "x", 1, 0) >= 0 || ftruncate(fd, 0) == 0)
        return 1;
    for (int i = 0; i < 32; i++)
        printf("%02x", secret[i]);
    printf("\n");
    return 0;
}

/* Says which signals come, one word each; ends with KILL, or with TERM when asked to. */
static int do_listen(char **args)
{
    sigset_t all;
    struct signalfd_siginfo info;
    sigfillset(&all);
    if (sigprocmask(SIG_BLOCK, &all, NULL))
        return 1;
    int fd = signalfd(-1, &all, SFD_CLOEXEC);
    if (put(1, "ready\n"))
        return 1;
    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        char text[32];
        snprintf(text, sizeof(text), "got %u\n", info.ssi_signo);
        if (put(1, text))
            return 1;
        if (args[0] && atoi(args[0]) == (int)info.ssi_signo)
            return args[1] ? atoi(args[1]) : 0;
    }
    return 1;
}

static int do_ready(char **args)
{
    (void)args;
    return put(1, "ready\n") ? 1 : wait_for_ever();
}

/* A child in our group, one that has left it, and one below that one: all must go with the PE. "leave": the PE ends
 * once they are there; "stubborn": the first of them does not hear a request to end. */
static int do_tree(char **args)
{
    int there[2];
    char bytes[2];
    if (pipe2(there, O_CLOEXEC))
        return 1;
    if (fork() == 0) {
        if (args[0] && args[1])
            signal(SIGTERM, SIG_IGN);
        return put(there[1], "1") ? 1 : wait_for_ever();
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0 && fork() == 0) {
            put(1, "ready\n");
            return put(there[1], "2") ? 1 : wait_for_ever();
        }
        return wait_for_ever();
    }
    for (int count = 0; count < 2; count++)
        if (read(there[0], bytes, 1) != 1)
            return 1;
    return args[0] ? 0 : wait_for_ever();
}

static int do_life(char **args) /* ends well when the life pipe does, however it was asked to end */
{
    char byte;
    (void)args;
    prctl(PR_SET_PDEATHSIG, 0);
    if (put(1, "ready\n"))
        return 1;
    ssize_t got = read(number_of("SHMEM_LIFE_FD"), &byte, 1);
    if (args[0]) {
        int fd = open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        return got == 0 && fd >= 0 ? 0 : 1;
    }
    return 0;
}

/* Words are lines to send; ? reads an answer and prints it, ! prints what comes up to the end of the connection. */
static int do_pmi(char **args)
{
    int fd = number_of("PMI_FD");
    FILE *from = fdopen(dup(fd), "r");
    char line[8192];
    if (!from)
        return 1;
    for (; *args; args++) {
        if (strcmp(*args, "?") == 0) {
            if (!fgets(line, sizeof(line), from))
                return put(1, "connection closed\n");
            fputs(line, stdout);
        } else if (strcmp(*args, "exit0") == 0) {
            fflush(stdout);
            _exit(0);
        } else if (strcmp(*args, "wait") == 0) {
            fflush(stdout);
            return wait_for_ever();
        } else if (dprintf(fd, "%s\n", *args) < 0) {
            return 1;
        }
    }
    return fclose(from) ? 1 : 0;
}

/* Bytes no PMI client would send; the answer, if any, is not looked at. */
static int do_garbage(char **args)
{
    unsigned seed = (unsigned)atoi(args[0]) * 7919u + (unsigned)number_of("SHMEM_PE");
    int fd = number_of("PMI_FD");
    static const char *const parts[] = {
        "cmd=",   "put",           "get",      " key=",      " kvsname=",      "value=", "\n",
        "mcmd=",  "spawn\n",       "endcmd\n", "barrier_in", "init",           " ",      "=",
        "abort_", "pmi_version=1", "%s%n",     "\t",         "cmd=get_maxes\n"};
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        const char *part = parts[(seed >> 16) % (sizeof(parts) / sizeof(parts[0]))];
        struct pollfd ready = {.fd = fd, .events = POLLOUT | POLLIN};
        char answers[4096];
        if (poll(&ready, 1, 20000) <= 0)
            return 1; /* it neither listens nor hangs up: a deadlock */
        if (ready.revents & POLLIN && read(fd, answers, sizeof(answers)) <= 0)
            break;
        if (ready.revents & POLLOUT && write(fd, part, strlen(part)) < 0)
            break;
    }
    return 0;
}

static int do_last_words(char **args) /* PE text: no newline at the end, then fails */
{
    if (not_me(args[0]))
        return wait_for_ever();
    fprintf(stderr, "first\n%s", args[1]);
    return 3;
}

static int do_restart(char **args) /* fails until the count is reached */
{
    printf("attempt %d\n", number_of("SHMEM_RESTART_COUNT"));
    return number_of("SHMEM_RESTART_COUNT") < atoi(args[0]) ? 5 : 0;
}

static int do_print(char **args)
{
    for (; *args; args++)
        printf("%s%s", *args, args[1] ? " " : "\n");
    return 0;
}

static int do_place(char **args)
{
    char folder[4096];
    (void)args;
    printf("%s %s\n", getcwd(folder, sizeof(folder)) ? folder : "?", getenv("PWD"));
    return 0;
}

static const struct {
    const char *name;
    int (*act)(char **args);
} acts[] = {
    {"exit", do_exit},       {"exit-all", do_exit_all},
    {"die", do_die},         {"lines", do_lines},
    {"flood", do_flood},     {"cat", do_cat},
    {"env", do_env},         {"fds", do_fds},
    {"secret", do_secret},   {"listen", do_listen},
    {"ready", do_ready},     {"tree", do_tree},
    {"life", do_life},       {"pmi", do_pmi},
    {"garbage", do_garbage}, {"last-words", do_last_words},
    {"restart", do_restart}, {"print", do_print},
    {"place", do_place},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
        if (strcmp(acts[i].name, argv[1]) == 0)
            return acts[i].act(argv + 2);
    fprintf(stderr, "unknown word %s\n", argc > 1 ? argv[1] : "(none)");
    return 99;
}
