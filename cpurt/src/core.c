/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An AI core: a thread with a unified buffer, running one block after the other. A failing block jumps out of its
 * kernel; the others of the launch do so at their next look or meeting. looks.c has the looks, flags.c and copy_ub.c what
 * a core does besides.
 */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "core_state.h"
#include "trace.h"

/* Looked at by every primitive, so without the detour that a thread-local of a shared object usually takes. */
static _Thread_local cpurt_core_t *mine __attribute__((tls_model("initial-exec")));

cpurt_core_t *cpurt_core_running(void)
{
    return mine != NULL && mine->gang != NULL ? mine : NULL;
}

const aicore_core_t *aicore_self(void)
{
    static const aicore_core_t outside = {.block_count = 1, .sub_count = 1};

    return mine != NULL && mine->gang != NULL ? &mine->seen : &outside;
}

uint64_t aicore_cycles(void)
{
    return cpurt_now_ns() / 20;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t buffer_bytes(uint32_t ub_bytes)
{
    return ((size_t)ub_bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/* The core of the calling thread. Pages that cannot be touched stand around its buffer: running over the end should
 * be a fault, not another core's data. */
static cpurt_core_t *get_core(void)
{
    const uint32_t ub_bytes = cpurt_config()->ub_bytes;

    if (mine != NULL)
        return mine;
    cpurt_core_t *const core = calloc(1, sizeof *core);
    if (core == NULL)
        return NULL;
    core->map_bytes = buffer_bytes(ub_bytes) + 2 * page_bytes();
    core->map = mmap(NULL, core->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (core->map == MAP_FAILED ||
        mprotect((char *)core->map + page_bytes(), buffer_bytes(ub_bytes), PROT_READ | PROT_WRITE) != 0) {
        if (core->map != MAP_FAILED)
            (void)munmap(core->map, core->map_bytes);
        free(core);
        return NULL;
    }
    if (cpurt_config()->check && (core->check = cpurt_check_create()) == NULL) {
        (void)munmap(core->map, core->map_bytes);
        free(core);
        return NULL;
    }
    core->seen.ub = (char *)core->map + page_bytes();
    core->seen.ub_bytes = ub_bytes;
    cpurt_segment_set(core->seen.ub);
    mine = core;
    return core;
}

void cpurt_core_leave(void)
{
    if (mine != NULL) {
        cpurt_segment_set(NULL);
        (void)munmap(mine->map, mine->map_bytes);
        cpurt_check_destroy(mine->check);
        free(mine);
        mine = NULL;
    }
}

/* --- Gangs --- */

void cpurt_gang_init(cpurt_gang_t *gang, const aicore_kernel_t *kernel, const void *args, uint32_t blocks,
                     uint32_t slot, uint64_t timeout_ns)
{
    static atomic_uint launches;
    const uint32_t cores = (uint32_t)cpurt_config()->cores;

    gang->launch = atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) + 1;
    if (gang->launch == 0) /* went round; 0 is no launch */
        gang->launch = atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) + 1;
    gang->kernel = kernel;
    gang->args = args;
    gang->blocks = blocks;
    gang->slot = slot;
    gang->contexts = blocks * kernel->subs;
    gang->threads = gang->contexts < cores ? gang->contexts : cores;
    gang->timeout_ns = timeout_ns;
    atomic_init(&gang->next, 0);
    atomic_init(&gang->stop, false);
    atomic_init(&gang->arrived, 0);
    atomic_init(&gang->round, 0);
    (void)pthread_mutex_init(&gang->lock, NULL);
    gang->failure = ACL_SUCCESS;
    gang->text[0] = '\0';
    gang->next_open = NULL;
    gang->tickets = 0;
    atomic_init(&gang->left, 0);
}

void cpurt_gang_fini(cpurt_gang_t *gang)
{
    (void)pthread_mutex_destroy(&gang->lock);
}

void cpurt_core_fail(cpurt_core_t *core, aclError code, const char *reason)
{
    cpurt_gang_t *const gang = core->gang;
    char place[64] = "";

    if (core->seen.sub_count > 1)
        (void)snprintf(place, sizeof place, ", vector core %u", core->seen.sub);
    (void)pthread_mutex_lock(&gang->lock);
    if (gang->failure == ACL_SUCCESS) {
        gang->failure = code;
        (void)snprintf(gang->text, sizeof gang->text, "kernel %.128s, block %u of %u%s: %.320s",
                       gang->kernel->name, core->seen.block, gang->blocks, place, reason);
    }
    atomic_store_explicit(&gang->stop, true, memory_order_relaxed);
    (void)pthread_mutex_unlock(&gang->lock);
    cpurt_core_jump(core);
}

void cpurt_core_jump(cpurt_core_t *core)
{
    longjmp(core->out, 1);
}

/* Device code called by the host program: there is no launch to end, and no way to go on. */
static _Noreturn void end_program(const char *reason)
{
    (void)fprintf(stderr, "acl: trap outside a kernel: %s\n", reason);
    abort();
}

void aicore_trap(const char *format, ...)
{
    cpurt_core_t *const core = cpurt_core_running();
    char reason[256] = "";
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (core == NULL)
        end_program(reason);
    cpurt_core_fail(core, ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, reason);
}

void cpurt_core_refuse(const char *format, ...)
{
    cpurt_core_t *const core = cpurt_core_running();
    char reason[256] = "";
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (core == NULL)
        end_program(reason);
    cpurt_core_fail(core, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, reason);
}

cpurt_core_t *cpurt_core_needed(const char *call)
{
    cpurt_core_t *const core = cpurt_core_running();

    if (core == NULL)
        cpurt_core_refuse("%s is for kernels; this thread runs none", call);
    return core;
}

/* A function of its own, because nothing that lives across setjmp may change afterwards. */
static void run_context(cpurt_core_t *core, const cpurt_gang_t *gang)
{
    if (setjmp(core->out) == 0) {
        gang->kernel->entry(gang->args);
        cpurt_core_end_pipes(core);
    }
}

static void begin_context(cpurt_core_t *core, const cpurt_gang_t *gang, uint32_t context)
{
    const uint32_t subs = gang->kernel->subs;

    core->seen.block = context / subs;
    core->seen.block_count = gang->blocks;
    core->seen.sub = context % subs;
    core->seen.sub_count = subs;
    core->seen.launch = gang->launch;
    core->slot = gang->slot;
    memset(core->local, 0, sizeof core->local);
    cpurt_core_begin_looks(core);
    cpurt_core_begin_pipes(core);
}

void cpurt_gang_work(cpurt_gang_t *gang)
{
    cpurt_core_t *const core = get_core();

    if (core == NULL) {
        (void)pthread_mutex_lock(&gang->lock);
        if (gang->failure == ACL_SUCCESS) {
            gang->failure = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
            (void)snprintf(gang->text, sizeof gang->text,
                           "kernel %.128s: no memory for the unified buffer of a core", gang->kernel->name);
        }
        atomic_store_explicit(&gang->stop, true, memory_order_relaxed);
        (void)pthread_mutex_unlock(&gang->lock);
        return;
    }
    core->gang = gang;
    while (!atomic_load_explicit(&gang->stop, memory_order_relaxed)) {
        const uint32_t context = atomic_fetch_add_explicit(&gang->next, 1, memory_order_relaxed);

        if (context >= gang->contexts)
            break;
        begin_context(core, gang, context);
        const uint64_t begin_ns = cpurt_trace_begin();
        run_context(core, gang);
        cpurt_core_end_wait(core);
        if (begin_ns != 0)
            cpurt_trace_span(begin_ns, &(cpurt_span_t){.category = "core",
                                                       .name = gang->kernel->name,
                                                       .key = "block",
                                                       .value = core->seen.block});
    }
    core->gang = NULL;
}
