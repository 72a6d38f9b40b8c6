/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of the library, and what it can tell about itself. Local, any thread.
 *
 * Unless a call says otherwise:
 * @who one PE, local
 * @reuse on return
 * @done on return
 * @threads any thread at any time
 */
#ifndef ACLSHMEM_HOST_LOG_H
#define ACLSHMEM_HOST_LOG_H

#include "host/shmem_host_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sends messages that pass the level filter to func instead of the built-in sink; NULL restores that. msg has the form
 * "[SHM_SHMEM file:line] text". func may be called from several threads at once and must not call this library.
 * @return 0.
 * @done on return; a line another thread has begun still goes to the old place
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_extern_logger(void (*func)(int level, const char *msg));

/** 0 debug, 1 info, 2 warn, 3 error, 4 fatal. A known word in SHMEM_LOG_LEVEL wins. @return 0, INVALID_VALUE. */
ACLSHMEM_HOST_API int32_t aclshmemx_set_log_level(int level);

/**
 * Cycles that kernels spent between their marks, on the one PE that SHMEM_CYCLE_PROF_PE names: per block and frame the number
 * of passes and the cycles of all of them. The kernels must be over (synchronize their streams first). One thread at a time.
 *
 * @param out_profs  may be NULL; on that PE it gets the counts, owned by the library, valid until finalize and refreshed by the
 *                   next call; NULL on other PEs, without profiling, and after an error (aclshmemx_last_error says which)
 * @param verbose    prints a table of the frames that were passed to standard output, times in microseconds
 * @done on return the counts of kernels that were over before the call are there
 * @threads one at a time
 */
ACLSHMEM_HOST_API void aclshmemx_get_prof(aclshmem_prof_pe_t **out_profs, bool verbose);
/**
 * Older name of aclshmemx_get_prof(NULL, true).
 * @threads one at a time
 */
ACLSHMEM_HOST_API void aclshmemx_show_prof(void);

/** Extension: one setting of the library as text. Pointers are static; value is what init would use now. */
typedef struct aclshmemx_setting_t {
    const char *name;   /* of the variable */
    const char *type;   /* "int", "size", "seconds", "bool", "choice", "text" */
    const char *dflt;   /* default, as text */
    const char *range;  /* or choices */
    const char *text;   /* what it is */
    const char *origin; /* "default", "file", "environment" */
    bool hidden;        /* for development */
    bool given;         /* set by launchers for their children */
    char value[256];    /* as text, terminated */
} aclshmemx_setting_t;

/** Extension. @return the number of settings; -1 when one of them does not parse (aclshmemx_last_error says which). */
ACLSHMEM_HOST_API int aclshmemx_setting_count(void);
/** Extension. @return 0, INVALID_VALUE (index), or the code of a setting that does not parse. */
ACLSHMEM_HOST_API int aclshmemx_setting_get(int index, aclshmemx_setting_t *setting);

/**
 * Extension: one fact about this library and machine as text: "version", "build", "compiler", "library", "runtime",
 * "runtime.reason", "soc", "devices", "launcher", "launcher.pe", "tls", "settings.file", "transport.mte",
 * "transport.sdma", "transport.rdma", "transport.udma". Contacts nobody.
 * @return 0; INVALID_PARAM for another topic; the code of what could not be found out, its text in out.
 */
ACLSHMEM_HOST_API int aclshmemx_describe(const char *topic, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
