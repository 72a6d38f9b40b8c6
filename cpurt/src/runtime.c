/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the runtime in a process: first call, aclInit, aclFinalize, and what fork means to it. */
#include "runtime.h"

#include "device.h"
#include "dma.h"
#include "kernel.h"
#include "memory.h"
#include "pool.h"
#include "share.h"
#include "slot.h"
#include "stream.h"
#include "trace.h"
#include "vmm.h"

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER; /* settings, handlers */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;  /* aclInit and aclFinalize, one at a time */
static atomic_bool started;
static atomic_bool forked; /* we are the child of a process that was using the runtime */
static atomic_bool initialised;
static atomic_long live;
static cpurt_config_t config;

static pthread_mutex_t *const fork_locks[] = {
    &start_lock,        &cpurt_device_lock, &cpurt_dma_lock,  &cpurt_vmm_lock,    &cpurt_share_lock,
    &cpurt_memory_lock, &cpurt_kernel_lock, &cpurt_pool_lock, &cpurt_handle_lock, &cpurt_trace_lock};
#define FORK_LOCKS (sizeof fork_locks / sizeof fork_locks[0])

static void before_fork(void)
{
    for (size_t i = 0; i < FORK_LOCKS; i++)
        (void)pthread_mutex_lock(fork_locks[i]);
}

static void in_parent(void)
{
    for (size_t i = FORK_LOCKS; i-- > 0;)
        (void)pthread_mutex_unlock(fork_locks[i]);
}

static void in_child(void)
{
    const bool traced = cpurt_trace_after_fork();

    if (atomic_load(&live) > 0) {
        atomic_store(&forked, true);
        cpurt_share_after_fork();
        cpurt_vmm_after_fork();
    } else if (traced) {
        atomic_store(&started, false); /* its first call opens a file of its own */
    }
    in_parent();
}

void cpurt_live_add(int delta)
{
    (void)atomic_fetch_add_explicit(&live, delta, memory_order_relaxed);
}

const cpurt_config_t *cpurt_config(void)
{
    return &config;
}

static aclError start(void)
{
    static bool handlers;
    aclError error = ACL_SUCCESS;

    (void)pthread_mutex_lock(&start_lock);
    if (!atomic_load(&started)) {
        if (!handlers && pthread_atfork(before_fork, in_parent, in_child) != 0)
            error = cpurt_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "out of memory at the start of the runtime");
        else
            handlers = true;
        if (error == ACL_SUCCESS)
            error = cpurt_config_read(&config);
        if (error == ACL_SUCCESS)
            error = cpurt_trace_start();
        if (error == ACL_SUCCESS)
            atomic_store_explicit(&started, true, memory_order_release);
    }
    (void)pthread_mutex_unlock(&start_lock);
    return error;
}

aclError cpurt_enter(void)
{
    if (atomic_load_explicit(&forked, memory_order_relaxed))
        return cpurt_fail(ACL_ERROR_UNINITIALIZE,
                          "this process was forked while its parent was using the device runtime; "
                          "fork before the first call, or start a new program");
    if (atomic_load_explicit(&started, memory_order_acquire))
        return ACL_SUCCESS;
    return start();
}

aclError aclInit(const char *configPath)
{
    aclError error = ACL_SUCCESS;

    (void)configPath;
    TRY(cpurt_enter());
    if (cpurt_on_worker())
        return cpurt_fail(ACL_ERROR_FAILURE,
                          "aclInit cannot be called from a function that runs on a stream");
    (void)pthread_mutex_lock(&life_lock);
    if (atomic_load(&initialised)) {
        error = cpurt_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before in this process");
    } else {
        error = cpurt_enter(); /* another thread may have finalised meanwhile */
        if (error == ACL_SUCCESS) {
            atomic_store(&initialised, true);
            cpurt_live_add(1);
        }
    }
    (void)pthread_mutex_unlock(&life_lock);
    return error;
}

/* From the top down: what runs, what it uses, then what others could ask us for. */
static void tear_down(void)
{
    cpurt_devices_end();
    cpurt_dma_end(-1);
    cpurt_streams_end_marks();
    cpurt_kernels_end();
    cpurt_slots_end();
    cpurt_pool_end();
    cpurt_share_end();
    cpurt_vmm_end();
    cpurt_memory_end();
    cpurt_trace_stop();
    (void)pthread_mutex_lock(&start_lock);
    atomic_store(&started, false);
    (void)pthread_mutex_unlock(&start_lock);
}

aclError aclFinalize(void)
{
    aclError error = ACL_SUCCESS;

    TRY(cpurt_enter());
    if (cpurt_on_worker())
        return cpurt_fail(ACL_ERROR_FAILURE,
                          "aclFinalize cannot be called from a function that runs on a stream");
    (void)pthread_mutex_lock(&life_lock);
    if (!atomic_load(&initialised)) {
        error = cpurt_fail(ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit");
    } else {
        tear_down();
        atomic_store(&initialised, false);
        cpurt_live_add(-1);
    }
    (void)pthread_mutex_unlock(&life_lock);
    return error;
}
