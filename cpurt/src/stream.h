/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: tasks run in the order they were queued, by a worker of the stream's own, so that streams may wait for
 * each other. Everything a stream does goes through cpurt_stream_submit.
 */
#ifndef CPURT_STREAM_H
#define CPURT_STREAM_H

#include "device.h"

/* A piece of work; whoever makes one embeds this at its front and allocates it with malloc. */
typedef struct cpurt_task {
    struct cpurt_task *next;
    aclError (*run)(struct cpurt_task *task,
                    cpurt_stream_t *stream);  /* on the worker; a failure leaves its text */
    void (*release)(struct cpurt_task *task); /* lets go of what the task holds, not of itself */
    bool always;                              /* runs in a stopped stream too: others wait for it */
    bool repeats;                             /* may run any number of times, also at once */
    const char *category, *name;              /* for the timeline and for reports; live as long as the task */
    const char *unit;                         /* of amount: "bytes", "blocks"; NULL: there is none */
    uint64_t amount;
} cpurt_task_t;

struct cpurt_stream {
    cpurt_object_t object;
    void *context; /* handle */
    int device;
    uint32_t flags;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t queued;
    pthread_cond_t finished;
    cpurt_task_t *first;
    cpurt_task_t **last;
    atomic_uint_least64_t submitted; /* counts, also read without the lock by whoever spins */
    atomic_uint_least64_t completed;
    pthread_t worker;
    bool started; /* the worker */
    bool closing; /* takes no more work */
    bool stop_on_failure;
    struct cpurt_model *capture; /* what keeps new work instead of the queue; a reference, NULL else */
    aclError failure;            /* first since the last synchronise */
    bool fetched;                /* whether somebody was told of it */
    char text[CPURT_TEXT_LEN];
    cpurt_stream_t *reports;                /* for host functions the stream does not wait for */
    atomic_uint_least64_t closing_since_ns; /* 0: open */
};

/* What the worker does with a task, or a model with one of its own. */
aclError cpurt_task_run(cpurt_task_t *task, cpurt_stream_t *stream);
/* Lets go of a task that will not run any more. */
void cpurt_task_free(cpurt_task_t *task);

/* The stream a program named; NULL is the default stream of the calling thread's context. A new reference. */
aclError cpurt_stream_get(void *handle, cpurt_stream_t **stream);
void cpurt_stream_put(cpurt_stream_t *stream);
bool cpurt_stream_is_default(const cpurt_stream_t *stream);
/* Takes the task, also when it fails. */
aclError cpurt_stream_submit(cpurt_stream_t *stream, cpurt_task_t *task);
/* Fails while the stream captures, naming the call. */
aclError cpurt_stream_not_capturing(cpurt_stream_t *stream, const char *call);
/* Waits for what is queued now, then hands out the stream's failure. */
aclError cpurt_stream_synchronise(cpurt_stream_t *stream, uint64_t deadline_ns);
/* A stream that only runs report functions of another one; not in the handle table. */
aclError cpurt_stream_reports(cpurt_stream_t *stream, cpurt_stream_t **reports);

aclError cpurt_stream_make(int device, void *context, uint32_t flags, cpurt_stream_t **out);
/* Runs out and joins; takes the caller's reference, which must be the table's. */
void cpurt_stream_close(cpurt_stream_t *stream);

/* Whether a wait that runs on this stream should give up, because the stream is being destroyed and has waited long
 * enough. */
bool cpurt_stream_gives_up(const cpurt_stream_t *stream);

/* A snapshot of matching streams. */
aclError cpurt_streams_list(bool (*match)(const cpurt_object_t *, const void *), const void *argument,
                            cpurt_object_t ***list, size_t *count);
void cpurt_streams_list_free(cpurt_object_t **list, size_t count);
/* Ends all matching streams: none takes more work, all run out, then their workers are joined. */
void cpurt_streams_end(bool (*match)(const cpurt_object_t *, const void *), const void *argument);
/* Ends events and notifies. */
void cpurt_streams_end_marks(void);

#endif
