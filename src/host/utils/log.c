/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: who may speak, how a line looks, and where it goes. It never stops the job: what cannot be written is
 * dropped, and a reader that is gone or asleep costs at most a second once.
 */
#include "host/utils/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/utils/clock.h"
#include "host/utils/env.h"
#include "host/utils/log_file.h"
#include "host/utils/log_filter.h"
#include "host/utils/log_time.h"

#define LOG_MODULE "log"

#define LINE_LEN       4096 /* PIPE_BUF: up to here lines of several processes do not mix in a pipe */
#define TEXT_LEN       3584
#define FORMAT_LEN     65
#define SLOW_READER_MS 1000
#define COLOUR_LEN     16

_Atomic int aclshmemi_log_threshold = ACLSHMEMI_LOG_WARN;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock, which is held for nothing longer than a few comparisons. */
static struct {
    aclshmemi_log_filter_t filter;
    int sink;
    char timestamp[FORMAT_LEN];
} settings = {.filter = {.level = ACLSHMEMI_LOG_WARN}, .sink = 2};

static _Atomic int pe_number = -1;
static _Atomic uint64_t lines_lost;
static void (*_Atomic callback)(int level, const char *message);

static _Thread_local uint32_t lines_held; /* left out before this thread's next line, by log_sparse */
static _Thread_local bool in_callback;

/* ---- fork: a child must find the locks free, and must not write into its parent's file ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
    aclshmemi_log_file_lock();
    aclshmemi_log_time_lock();
}

static void after_fork_in_parent(void)
{
    aclshmemi_log_time_unlock();
    aclshmemi_log_file_unlock();
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    aclshmemi_log_time_forked();
    aclshmemi_log_file_forget();
    aclshmemi_log_time_unlock();
    aclshmemi_log_file_unlock();
    pthread_mutex_unlock(&lock);
}

static void register_fork_handlers(void)
{
    /* Without them the log still works, except in a child forked at the wrong moment: not worth failing for. */
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handlers);
}

/* ---- settings ---- */

static void use_filter(const aclshmemi_log_filter_t *filter)
{
    settings.filter = *filter;
    atomic_store_explicit(&aclshmemi_log_threshold, aclshmemi_log_filter_least(filter), memory_order_relaxed);
}

int aclshmemi_log_configure(const aclshmemi_log_options_t *options)
{
    prepare_once();
    if (options->sink < 0 || options->sink > 2)
        return fail(ACLSHMEM_INVALID_PARAM, "log sink %d is not 0 (files), 1 (stdout) or 2 (stderr)",
                    options->sink);
    const char *timestamp = options->timestamp ? options->timestamp : "";
    if (strlen(timestamp) >= FORMAT_LEN)
        return fail(ACLSHMEM_INVALID_PARAM, "log time format of %zu characters, at most %d are allowed",
                    strlen(timestamp), FORMAT_LEN - 1);
    aclshmemi_log_filter_t filter;
    pthread_mutex_lock(&lock);
    filter = settings.filter;
    pthread_mutex_unlock(&lock);
    int rc = options->levels ? aclshmemi_log_filter_set_levels(&filter, options->levels) : 0;
    if (!rc)
        rc = aclshmemi_log_filter_set_subsystems(&filter, options->subsystems ? options->subsystems : "");
    if (rc)
        return fail(rc, "log settings: %s", aclshmemi_status_last_text());
    pthread_mutex_lock(&lock);
    use_filter(&filter);
    settings.sink = options->file && options->file[0] ? 0 : options->sink;
    snprintf(settings.timestamp, sizeof settings.timestamp, "%s", timestamp);
    pthread_mutex_unlock(&lock);
    if (!aclshmemi_log_file_configure(options->directory, options->file))
        log_warn("log folder \"%.200s\" is empty, too long or contains \"..\", the default folder is used",
                 options->directory);
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_log_set_level(int level)
{
    if (level < ACLSHMEMI_LOG_DEBUG || level > ACLSHMEMI_LOG_FATAL)
        return fail(ACLSHMEM_INVALID_VALUE, "log level %d is not in 0..4 (debug info warn error fatal)",
                    level);
    pthread_mutex_lock(&lock);
    aclshmemi_log_filter_t filter = settings.filter;
    filter.level = level;
    filter.level_count = 0; /* "this level" means everywhere */
    use_filter(&filter);
    pthread_mutex_unlock(&lock);
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_log_get_level(void)
{
    pthread_mutex_lock(&lock);
    int level = settings.filter.level;
    pthread_mutex_unlock(&lock);
    return level;
}

void aclshmemi_log_set_pe(int pe)
{
    atomic_store_explicit(&pe_number, pe, memory_order_relaxed);
}

void aclshmemi_log_set_callback(void (*function)(int level, const char *message))
{
    atomic_store_explicit(&callback, function, memory_order_release);
}

void aclshmemi_log_close(void)
{
    aclshmemi_log_file_close();
}

bool aclshmemi_log_sparse_pass(aclshmemi_log_sparse_t *sparse)
{
    int64_t now = (int64_t)aclshmemi_clock_ns();
    int64_t next = atomic_load_explicit(&sparse->next_ns, memory_order_relaxed);
    if (now < next ||
        !atomic_compare_exchange_strong_explicit(&sparse->next_ns, &next, now + (int64_t)ACLSHMEMI_NS_PER_S,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&sparse->held, 1, memory_order_relaxed);
        return false;
    }
    lines_held = atomic_exchange_explicit(&sparse->held, 0, memory_order_relaxed);
    return true;
}

/* ---- a line ---- */

static const char *level_word(int level)
{
    static const char *const words[] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
    return words[level < ACLSHMEMI_LOG_TRACE ? 0 : level > ACLSHMEMI_LOG_FATAL ? 5 : level + 1];
}

static const char *level_colour(int level)
{
    return level >= ACLSHMEMI_LOG_ERROR ? "\033[31m" : level == ACLSHMEMI_LOG_WARN ? "\033[33m" : "\033[2m";
}

static bool wants_colour(int fd)
{
    if (!isatty(fd))
        return false;
    const char *no_colour = aclshmemi_env_raw("NO_COLOR");
    const char *terminal = aclshmemi_env_raw("TERM");
    return !(no_colour && no_colour[0]) && terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
}

/* One line is one line: what a peer or a file put into a text must not forge another one or steer a terminal. */
static void make_printable(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n' || c == '\t' || c == '\r')
            *text = ' ';
        else if (c < 0x20 || c == 0x7f)
            *text = '?';
    }
}

static void __attribute__((format(printf, 3, 0)))
print_text(char out[TEXT_LEN], uint32_t held, const char *format, va_list args)
{
    int length = vsnprintf(out, TEXT_LEN, format, args);
    if (length < 0)
        snprintf(out, TEXT_LEN, "(a text that cannot be printed: %s)", format);
    else if (length >= TEXT_LEN)
        memcpy(out + TEXT_LEN - 4, "...", 4);
    size_t end = strlen(out);
    while (end && out[end - 1] == '\n')
        out[--end] = '\0';
    make_printable(out);
    if (held && end + 48 < TEXT_LEN)
        snprintf(out + end, TEXT_LEN - end, " (%u more like this left out)", held);
}

static size_t print_line(char line[LINE_LEN], const char *stamp, int level, bool colour, const char *module,
                         const char *text)
{
    int pe = atomic_load_explicit(&pe_number, memory_order_relaxed);
    char number[16] = "-";
    if (pe >= 0)
        snprintf(number, sizeof number, "%d", pe);
    int length = snprintf(line, LINE_LEN, "%s%s%s%s %s %.64s: %s\n", stamp, colour ? level_colour(level) : "",
                          level_word(level), colour ? "\033[0m" : "", number, module, text);
    return length < 0 ? 0 : length < LINE_LEN ? (size_t)length : LINE_LEN - 1;
}

/* ---- out ---- */

/* False when the reader sleeps. Once it has slept a second, the next lines do not wait for it. */
static bool writable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    bool was_lost = atomic_load_explicit(&lines_lost, memory_order_relaxed) != 0;
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(was_lost ? 0 : SLOW_READER_MS);
    for (;;) {
        int n = poll(&wait, 1, aclshmemi_deadline_left_ms(deadline, SLOW_READER_MS));
        if (n > 0 || (n < 0 && errno != EINTR))
            return true; /* an error shows in write() */
        if (aclshmemi_deadline_passed(deadline))
            return false;
    }
}

static bool write_line(int fd, const char *line, size_t length)
{
    while (length) {
        if (!writable(fd))
            return false;
        ssize_t n = write(fd, line, length);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return errno == EBADF || errno == EPIPE || errno == EIO; /* nobody is there to miss it */
        line += n;
        length -= (size_t)n;
    }
    return true;
}

/* write() to a pipe without reader kills by SIGPIPE, and there is no flag against it: hold the signal back, take it
 * away if it came from us. */
static bool write_without_sigpipe(int fd, const char *line, size_t length)
{
    sigset_t pipe_set, old_set, pending;
    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_set, &old_set);
    bool done = write_line(fd, line, length);
    if (!was_pending) {
        const struct timespec now = {0, 0};
        while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &old_set, NULL);
    return done;
}

static void to_descriptor(int fd, const char *stamp, int level, const char *module, const char *text)
{
    char line[LINE_LEN];
    bool colour = wants_colour(fd);
    if (!write_without_sigpipe(fd, line, print_line(line, stamp, level, colour, module, text))) {
        atomic_fetch_add_explicit(&lines_lost, 1, memory_order_relaxed);
        return;
    }
    uint64_t lost = atomic_exchange_explicit(&lines_lost, 0, memory_order_relaxed);
    if (lost) {
        char note[96];
        snprintf(note, sizeof note, "%llu lines were lost, nobody read them in time",
                 (unsigned long long)lost);
        write_without_sigpipe(fd, line,
                              print_line(line, stamp, ACLSHMEMI_LOG_WARN, colour, LOG_MODULE, note));
    }
}

static void to_file(const char *stamp, int level, const char *module, const char *text)
{
    char line[LINE_LEN];
    size_t length = print_line(line, stamp, level, false, module, text);
    int pe = atomic_load_explicit(&pe_number, memory_order_relaxed);
    switch (aclshmemi_log_file_write(line, length, pe)) {
    case ACLSHMEMI_LOG_FILE_OFF:
        to_descriptor(STDERR_FILENO, stamp, level, module, text);
        break;
    case ACLSHMEMI_LOG_FILE_FULL:
        if (level >= ACLSHMEMI_LOG_ERROR)
            to_descriptor(STDERR_FILENO, stamp, level, module, text);
        break;
    case ACLSHMEMI_LOG_FILE_WRITTEN:
        break;
    }
}

static void to_callback(void (*function)(int, const char *), int level, const char *file, int line,
                        const char *text)
{
    char message[LINE_LEN];
    const char *slash = strrchr(file, '/');
    snprintf(message, sizeof message, "[SHM_SHMEM %.128s:%d] %s", slash ? slash + 1 : file, line, text);
    in_callback = true;
    function(level < ACLSHMEMI_LOG_DEBUG ? ACLSHMEMI_LOG_DEBUG : level, message);
    in_callback = false;
}

void aclshmemi_log_write(aclshmemi_log_level_t level, const char *module, const char *file, int line,
                         const char *format, ...)
{
    int saved_errno = errno;
    uint32_t held = lines_held;
    lines_held = 0;
    prepare_once();
    char timestamp[FORMAT_LEN];
    pthread_mutex_lock(&lock);
    bool wanted = aclshmemi_log_filter_allows(&settings.filter, module, (int)level);
    int sink = settings.sink;
    memcpy(timestamp, settings.timestamp, sizeof timestamp);
    pthread_mutex_unlock(&lock);
    if (wanted) {
        char text[TEXT_LEN], stamp[ACLSHMEMI_LOG_STAMP_LEN];
        va_list args;
        errno = saved_errno; /* for %m */
        va_start(args, format);
        print_text(text, held, format, args);
        va_end(args);
        void (*function)(int, const char *) = atomic_load_explicit(&callback, memory_order_acquire);
        /* A callback that calls back into the library must not call itself for ever. */
        if (function && !in_callback) {
            to_callback(function, (int)level, file, line, text);
        } else {
            aclshmemi_log_time_print(timestamp, stamp);
            if (sink == 0)
                to_file(stamp, (int)level, module, text);
            else
                to_descriptor(sink == 1 ? STDOUT_FILENO : STDERR_FILENO, stamp, (int)level, module, text);
        }
    }
    errno = saved_errno;
}
