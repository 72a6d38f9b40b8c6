/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A destination of output: our own standard output or error, or a file. It has a bounded queue and never blocks us,
 * except on files, which do not block.
 */
#ifndef ACLSHMEMRUN_SINK_H
#define ACLSHMEMRUN_SINK_H

#include "run.h"

typedef enum sink_kind {
    SINK_FILE,   /* written straight away */
    SINK_OPEN,   /* a description of our own, not blocking */
    SINK_POLLED, /* shared with others, so only written where poll promises room */
    SINK_SOCKET
} sink_kind_t;

struct sink {
    watch_t watch;
    sink_kind_t kind;
    char *queue;
    size_t head, length;
    bool mid_line; /* the last byte queued is not a newline */
    bool dead;     /* nobody reads, or it cannot be written */
    bool terminal;
    stream_t *owner;      /* whose unfinished line stands at the end */
    bool owner_soft;      /* anybody may complete that line */
    uint64_t owner_bytes; /* of that line so far */
    char *name;           /* of a file, NULL otherwise */
    dev_t device;
    ino_t inode;
    struct sink *next;
};

sink_t *sink_of_fd(int fd);             /* the same one for descriptors of the same file */
sink_t *sink_of_file(const char *name); /* the same one for the same name; makes parent folders */
size_t sink_room(const sink_t *sink);
void sink_add(sink_t *sink, const char *data, size_t length); /* the caller has asked for room */
void sink_flush(sink_t *sink);
void sinks_flush(void);
bool sinks_empty(void);
void sinks_close(void);

#endif
