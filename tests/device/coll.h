/* SPDX-License-Identifier: Apache-2.0 */
/* What one launch of a collective is about. */
#ifndef DEVICE_COLL_H
#define DEVICE_COLL_H

#include <stddef.h>
#include <stdint.h>

enum {
    COLL_BROADCAST,
    COLL_FCOLLECT,
    COLL_ALLTOALL,
    COLL_SUM,
    COLL_PROD,
    COLL_MIN,
    COLL_MAX,
    COLL_AND,
    COLL_OR,
    COLL_XOR,
    COLL_KINDS
};

typedef struct coll_args {
    void *dest;
    const void *source;
    size_t count;
    int team, root, kind;
    int core; /* that calls; -1: all do */
} coll_args_t;

#endif
