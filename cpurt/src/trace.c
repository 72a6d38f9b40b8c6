/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans become lines of a JSON array, one event each ("X": a span with its length, "M": a name). Whole lines are written,
 * and not later than a fraction of a second after they came up, so that the file of a killed process lacks no more
 * than the bracket at its end, which viewers do without.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "acl/acl_cpu.h"
#include "trace_file.h"

#define BUFFER_BYTES 65536
#define LINE_BYTES   1024 /* longest */
#define FLUSH_NS     UINT64_C(200000000)

atomic_bool cpurt_trace_on;
pthread_mutex_t cpurt_trace_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static char buffer[BUFFER_BYTES];
static size_t used;
static bool empty = true; /* no event is in the file yet */
static uint64_t flushed_ns;
static atomic_uint generation; /* counts files, so that each gets the names of its rows */

static _Thread_local unsigned int named_in; /* generation in which this thread's row got its name */
static _Thread_local char thread_name[32];

/* --- Lines; the lock is held in the functions named _locked --- */

static void give_up_locked(void)
{
    (void)fprintf(stderr, "acl: cannot write the timeline, which ends here: %s\n", strerror(errno));
    atomic_store(&cpurt_trace_on, false);
    used = 0;
}

static void flush_locked(void)
{
    if (used > 0 && !cpurt_trace_file_write(buffer, used))
        give_up_locked();
    used = 0;
    flushed_ns = cpurt_now_ns();
}

__attribute__((format(printf, 1, 2))) static void line_locked(const char *format, ...)
{
    va_list arguments;

    if (used + LINE_BYTES > sizeof buffer)
        flush_locked();
    va_start(arguments, format);
    const int head = snprintf(buffer + used, LINE_BYTES, empty ? "" : ",\n");
    const int length = vsnprintf(buffer + used + head, (size_t)(LINE_BYTES - head), format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LINE_BYTES - head)
        return; /* names are cut before, so this does not happen; half a line would spoil the file */
    used += (size_t)head + (size_t)length;
    empty = false;
}

/* Text as it may stand between the quotes of a JSON string, cut where the room ends. */
static const char *escape(const char *text, char *out, size_t size)
{
    size_t length = 0;

    for (; text != NULL && *text != '\0' && length + 7 < size; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            length += (size_t)snprintf(out + length, size - length, "\\%c", c);
        else if (c < 0x20 ||
                 c >= 0x7f) /* bytes above are no text unless they are UTF-8, which nobody promises */
            length += (size_t)snprintf(out + length, size - length, "\\u%04x", c);
        else
            out[length++] = (char)c;
    }
    out[length] = '\0';
    return out;
}

static void name_row_locked(const char *what, uint64_t row, const char *name)
{
    char safe[128];

    line_locked("{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu64 ",\"args\":{\"name\":\"%s\"}}",
                what, (int)getpid(), row, escape(name, safe, sizeof safe));
}

static uint64_t this_row(void)
{
    static _Thread_local uint64_t row;
    static _Thread_local unsigned int of; /* a fork's child has another number, and another file */

    if (row == 0 || of != atomic_load_explicit(&generation, memory_order_relaxed)) {
        of = atomic_load_explicit(&generation, memory_order_relaxed);
        row = (uint64_t)syscall(SYS_gettid);
    }
    return row;
}

static void name_this_row_locked(void)
{
    char name[32] = "";

    named_in = atomic_load_explicit(&generation, memory_order_relaxed);
    if (thread_name[0] != '\0')
        (void)snprintf(name, sizeof name, "%s", thread_name);
    else if (pthread_getname_np(pthread_self(), name, sizeof name) != 0)
        (void)snprintf(name, sizeof name, "thread");
    name_row_locked("thread_name", this_row(), name);
}

/* --- Spans --- */

void cpurt_trace_span(uint64_t begin_ns, const cpurt_span_t *span)
{
    char name[160], category[64], key[64], args[128] = "";

    if (begin_ns == 0)
        return;
    const uint64_t end_ns = span->end_ns != 0 ? span->end_ns : cpurt_now_ns(), length_ns = end_ns - begin_ns;
    if (span->key != NULL)
        (void)snprintf(args, sizeof args, ",\"args\":{\"%s\":%" PRIu64 "}",
                       escape(span->key, key, sizeof key), span->value);
    (void)escape(span->name, name, sizeof name);
    (void)escape(span->category, category, sizeof category);
    (void)pthread_mutex_lock(&cpurt_trace_lock);
    if (atomic_load_explicit(&cpurt_trace_on, memory_order_relaxed)) {
        if (span->lane == 0 && named_in != atomic_load_explicit(&generation, memory_order_relaxed))
            name_this_row_locked();
        line_locked("{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
                    ".%03u,\"pid\":%d,\"tid\":%" PRIu64 "%s}",
                    name, category, begin_ns / 1000, (unsigned)(begin_ns % 1000), length_ns / 1000,
                    (unsigned)(length_ns % 1000), (int)getpid(), span->lane != 0 ? span->lane : this_row(),
                    args);
        if (end_ns - flushed_ns > FLUSH_NS)
            flush_locked();
    }
    (void)pthread_mutex_unlock(&cpurt_trace_lock);
}

void cpurt_trace_wait(uint64_t begin_ns, const char *name)
{
    if (begin_ns != 0 && cpurt_now_ns() - begin_ns >= CPURT_TRACE_WAIT_NS)
        cpurt_trace_span(begin_ns, &(cpurt_span_t){.category = "wait", .name = name});
}

void cpurt_trace_name_thread(const char *what, int number)
{
    (void)snprintf(thread_name, sizeof thread_name, "%s %d", what, number);
}

void cpurt_trace_name_lane(uint64_t lane, const char *name)
{
    (void)pthread_mutex_lock(&cpurt_trace_lock);
    if (atomic_load_explicit(&cpurt_trace_on, memory_order_relaxed))
        name_row_locked("thread_name", lane, name);
    (void)pthread_mutex_unlock(&cpurt_trace_lock);
}

/* --- Life --- */

static void begin_file_locked(void)
{
    (void)atomic_fetch_add(&generation, 1);
    used = 0;
    flushed_ns = 0; /* the first span is written at once */
    name_row_locked("process_name", (uint64_t)getpid(), program_invocation_short_name);
    atomic_store(&cpurt_trace_on, true);
}

aclError cpurt_trace_start(void)
{
    bool opened = false;

    (void)pthread_mutex_lock(&cpurt_trace_lock);
    const aclError error = cpurt_trace_file_open(&opened, &empty);
    if (opened)
        begin_file_locked();
    (void)pthread_mutex_unlock(&cpurt_trace_lock);
    return error;
}

void cpurt_trace_stop(void)
{
    (void)pthread_mutex_lock(&cpurt_trace_lock);
    if (atomic_load_explicit(&cpurt_trace_on, memory_order_relaxed)) {
        flush_locked();
        atomic_store(&cpurt_trace_on, false);
    }
    cpurt_trace_file_close();
    (void)pthread_mutex_unlock(&cpurt_trace_lock);
}

bool cpurt_trace_after_fork(void)
{
    const bool on = atomic_load(&cpurt_trace_on);

    used = 0;
    atomic_store(&cpurt_trace_on, false);
    cpurt_trace_file_forget();
    return on;
}

/* A program need not call aclFinalize. */
__attribute__((destructor)) static void at_exit(void)
{
    cpurt_trace_stop();
}

/* --- For others --- */

uint64_t aclcpuTraceBegin(void)
{
    return cpurt_trace_begin();
}

void aclcpuTraceEnd(uint64_t begin, const char *category, const char *name, const char *key, uint64_t value)
{
    if (__builtin_expect(begin != 0, 0))
        cpurt_trace_span(begin,
                         &(cpurt_span_t){.category = category, .name = name, .key = key, .value = value});
}
