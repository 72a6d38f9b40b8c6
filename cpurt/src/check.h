/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked mode, as the files of a core see it: they issue here what they otherwise carry out. A core has this state when
 * SHMEM_CPU_CHECK is on, and does without it else.
 */
#ifndef CPURT_CHECK_H
#define CPURT_CHECK_H

#include "copy_ub.h"

typedef struct cpurt_check cpurt_check_t;

cpurt_check_t *cpurt_check_create(void);
void cpurt_check_destroy(cpurt_check_t *check);
/* Around the run of a block; the end carries out what is left, and does not return when a store is lost. */
void cpurt_check_begin(cpurt_core_t *core);
void cpurt_check_end(cpurt_core_t *core);

/* Pipes. Arguments have been checked, and so has the balance of flags. */
void cpurt_check_copy(cpurt_core_t *core, const char *call, const cpurt_copy_t *copy);
void cpurt_check_flag_set(cpurt_core_t *core, aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
void cpurt_check_flag_wait(cpurt_core_t *core, aicore_pipe_t from, aicore_pipe_t to, uint32_t number);
void cpurt_check_barrier(cpurt_core_t *core); /* of all pipes */
void cpurt_check_touch(cpurt_core_t *core, aicore_pipe_t pipe, uint64_t ub, uint64_t bytes, bool writes);
/* Time goes by while the scalar unit waits: pipes get on with their work. */
void cpurt_check_progress(cpurt_core_t *core);

/* The scalar unit's cache. */
uint64_t cpurt_check_load(cpurt_core_t *core, const volatile void *address, uint32_t bytes);
void cpurt_check_store(cpurt_core_t *core, volatile void *address, uint64_t value, uint32_t bytes);
void cpurt_check_cache_range(cpurt_core_t *core, const volatile void *address, uint64_t bytes);
void cpurt_check_cache_all(cpurt_core_t *core);

#endif
