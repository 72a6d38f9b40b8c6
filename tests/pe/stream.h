/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of streams share: a task that holds a stream up, and notes that tasks take. */
#ifndef STREAM_H
#define STREAM_H

#include <semaphore.h>

#include "acl/acl.h"
#include "pe.h"

#define ACL(call) CHECK_INT(call, 0)

/* A task at which a stream stops until somebody opens it: nothing behind it has run before. */
typedef struct gate {
    sem_t open;
} gate_t;

static inline void gate_task(void *argument)
{
    gate_t *gate = argument;
    while (sem_wait(&gate->open) != 0)
        ;
}

static inline void gate_close(gate_t *gate, aclrtStream stream)
{
    CHECK_INT(sem_init(&gate->open, 0, 0), 0);
    ACL(aclrtLaunchHostFunc(stream, gate_task, gate));
}

static inline void gate_open(gate_t *gate)
{
    CHECK_INT(sem_post(&gate->open), 0);
}

/* A word that a task of a stream copies when the stream comes to it. */
typedef struct note {
    const int32_t *word;
    int32_t seen;
    int taken; /* atomic */
} note_t;

static inline void note_task(void *argument)
{
    note_t *note = argument;
    note->seen = __atomic_load_n(note->word, __ATOMIC_ACQUIRE);
    __atomic_store_n(&note->taken, 1, __ATOMIC_RELEASE);
}

static inline void note_take(note_t *note, const int32_t *word, aclrtStream stream)
{
    *note = (note_t){.word = word};
    ACL(aclrtLaunchHostFunc(stream, note_task, note));
}

static inline bool note_taken(const note_t *note)
{
    return __atomic_load_n(&note->taken, __ATOMIC_ACQUIRE) != 0;
}

#endif
