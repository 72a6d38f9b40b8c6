/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the benchmark of operations share: buffers, how long to measure, and how a row is printed. */
#ifndef OPS_H
#define OPS_H

#include <stdbool.h>

#include "bench.h"
#include "peer.h"

typedef struct ops {
    int me, count;
    bool quick;       /* a few repeats, to see that it works */
    bool large;       /* buffers of 16 MiB and more too */
    const char *only; /* rows whose name starts so; NULL: all */
    size_t only_size; /* rows of so many bytes; 0: all */
    char *source, *dest;
    size_t bytes; /* of each of the two */
    size_t size;  /* of the row that is measured */
    int64_t *words;
    int64_t round; /* of ping-pongs, the same on both PEs */
} ops_t;

bool ops_wanted(const ops_t *ops, const char *name, size_t size);

/* All PEs run the body; factor: operations in one repeat. Prints name, size and the nanoseconds of one operation. */
void ops_together(ops_t *ops, const char *name, size_t size, bench_body_t *body, double factor);
/* PE 0 runs it while the others are busy with something else. */
void ops_alone(ops_t *ops, const char *name, size_t size, bench_body_t *body, double factor);

void ops_point(ops_t *ops); /* put, get, atomics, signals: two PEs */
int ops_coll(ops_t *ops);   /* barrier and collectives; 1 when a result is wrong */

#endif
