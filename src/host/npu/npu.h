/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device port: everything the host library asks of a device runtime, one page. A new card answers this page.
 *
 * Pointers are non-NULL and sizes positive unless said otherwise; 0 is success, other codes are ours (negative) or
 * the runtime's (positive), and whoever returns one has logged it with the runtime's name for the call. All calls
 * need npu_open first; those marked D act on the device that is current in the calling thread.
 */
#ifndef ACLSHMEMI_NPU_H
#define ACLSHMEMI_NPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/utils/env.h"
#include "host/utils/status.h"

typedef void *aclshmemi_npu_mem_t;    /* physical memory, not yet at an address */
typedef void *aclshmemi_npu_stream_t; /* work in order */
typedef void *aclshmemi_npu_event_t;
typedef void *aclshmemi_npu_binary_t; /* a file of kernels */
typedef void *aclshmemi_npu_kernel_t;
typedef void *aclshmemi_npu_notify_t; /* a flag that queues of the device set and streams wait for */
typedef void *aclshmemi_npu_dma_queue_t;

#define ACLSHMEMI_NPU_HANDLE_LEN  128
#define ACLSHMEMI_NPU_GRANULARITY (UINT64_C(2) << 20) /* sizes of physical memory and of mappings */

/* A name for physical memory that another process of this machine can import. */
typedef struct aclshmemi_npu_handle {
    uint8_t bytes[ACLSHMEMI_NPU_HANDLE_LEN];
} aclshmemi_npu_handle_t;

typedef enum aclshmemi_npu_copy {
    ACLSHMEMI_NPU_HOST_TO_HOST,
    ACLSHMEMI_NPU_HOST_TO_DEVICE,
    ACLSHMEMI_NPU_DEVICE_TO_HOST,
    ACLSHMEMI_NPU_DEVICE_TO_DEVICE
} aclshmemi_npu_copy_t;

typedef enum aclshmemi_npu_place { ACLSHMEMI_NPU_ON_HOST, ACLSHMEMI_NPU_ON_DEVICE } aclshmemi_npu_place_t;

/* --- The runtime --- */

/* Finds and opens AscendCL: one already in the process, CANN's (ASCEND_HOME_PATH), ours beside this library. Counted;
 * thread safe. Failure names what was looked for where. */
int npu_open(const aclshmemi_env_t *env) ACLSHMEMI_MUST_CHECK;
void npu_close(void);
const char *npu_runtime_path(void);   /* file the runtime came from, "" when it was in the process already */
const char *npu_runtime_reason(void); /* one sentence: why this one */
bool npu_host_can_touch(void);        /* host code may load and store device addresses */
const char *npu_soc_name(void);

/* --- Devices --- */

int npu_device_count(int *count) ACLSHMEMI_MUST_CHECK;
int npu_device_current(int *device) ACLSHMEMI_MUST_CHECK; /* fails when the thread has none; quiet */
int npu_device_set(int device) ACLSHMEMI_MUST_CHECK;
int npu_device_reset(int device) ACLSHMEMI_MUST_CHECK;
int npu_device_memory(size_t *free_bytes, size_t *total_bytes) ACLSHMEMI_MUST_CHECK; /* D */
int npu_device_sync(uint64_t timeout_ms) ACLSHMEMI_MUST_CHECK; /* D; all its streams, where the runtime can */
int npu_peer_enable(int device) ACLSHMEMI_MUST_CHECK;          /* D */

/* --- Plain memory --- */

int npu_alloc(size_t bytes, void **address) ACLSHMEMI_MUST_CHECK; /* D; contents undefined */
void npu_free(void *address);                                     /* accepts NULL */
int npu_host_alloc(size_t bytes, void **address) ACLSHMEMI_MUST_CHECK;
void npu_host_free(void *address); /* accepts NULL */
int npu_copy(void *to, const void *from, size_t bytes,
             aclshmemi_npu_copy_t kind) ACLSHMEMI_MUST_CHECK; /* done on return */
int npu_copy_async(void *to, const void *from, size_t bytes, aclshmemi_npu_copy_t kind,
                   aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK;
int npu_fill(void *address, int byte, size_t bytes) ACLSHMEMI_MUST_CHECK; /* done on return */
int npu_fill_async(void *address, int byte, size_t bytes, aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK;

/* --- Address space and physical memory --- */

int npu_reserve(size_t bytes, void **address) ACLSHMEMI_MUST_CHECK; /* 2 MiB aligned */
void npu_release(void *address);
/* huge is a wish: without huge pages the memory comes in ordinary ones, and an info line says so. */
int npu_mem_create(size_t bytes, aclshmemi_npu_place_t place, bool huge,
                   aclshmemi_npu_mem_t *mem) ACLSHMEMI_MUST_CHECK; /* D */
void npu_mem_destroy(aclshmemi_npu_mem_t mem);                     /* mappings stay valid; accepts NULL */
int npu_map(void *address, size_t bytes,
            aclshmemi_npu_mem_t mem) ACLSHMEMI_MUST_CHECK; /* inside a reservation, all of mem */
void npu_unmap(void *address);
int npu_export(aclshmemi_npu_mem_t mem, aclshmemi_npu_handle_t *handle) ACLSHMEMI_MUST_CHECK;
/* Quiet failure NOT_SUPPORTED when the other process cannot be reached from here (another host, another container). */
int npu_import(const aclshmemi_npu_handle_t *handle, aclshmemi_npu_mem_t *mem) ACLSHMEMI_MUST_CHECK;

/* --- Streams, events --- */

int npu_stream_create(aclshmemi_npu_stream_t *stream) ACLSHMEMI_MUST_CHECK; /* D */
void npu_stream_destroy(aclshmemi_npu_stream_t stream); /* waits for queued work; accepts NULL */
int npu_stream_sync(aclshmemi_npu_stream_t stream,
                    uint64_t timeout_ms) ACLSHMEMI_MUST_CHECK; /* NULL: default one */
int npu_stream_call(aclshmemi_npu_stream_t stream, void (*function)(void *),
                    void *argument) ACLSHMEMI_MUST_CHECK;
int npu_event_create(aclshmemi_npu_event_t *event) ACLSHMEMI_MUST_CHECK; /* D */
void npu_event_destroy(aclshmemi_npu_event_t event);                     /* accepts NULL */
int npu_event_record(aclshmemi_npu_event_t event, aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK;
int npu_event_wait(aclshmemi_npu_event_t event,
                   aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK; /* the stream waits */

/* --- Kernels --- */

int npu_binary_load(const char *path, aclshmemi_npu_binary_t *binary) ACLSHMEMI_MUST_CHECK; /* D */
void npu_binary_unload(aclshmemi_npu_binary_t binary);                                      /* accepts NULL */
int npu_kernel_get(aclshmemi_npu_binary_t binary, const char *name,
                   aclshmemi_npu_kernel_t *kernel) ACLSHMEMI_MUST_CHECK;
int npu_kernel_launch(aclshmemi_npu_kernel_t kernel, uint32_t blocks, const void *args, size_t args_bytes,
                      aclshmemi_npu_stream_t stream) ACLSHMEMI_MUST_CHECK;
/* Where kernels find what they must know: an address for each slot below 256 (NULL: nothing there), and the slot that
 * launches enqueued from now on start with. On a runtime that has no such slots nothing happens: its kernels have other
 * ways to an address. Any thread. */
int npu_state_publish(uint32_t slot, void *address) ACLSHMEMI_MUST_CHECK; /* address may be NULL */
void npu_state_select(uint32_t slot);

/* --- DMA queues --- */

/* A ring of 64-byte entries (host_device/engine.h) that the device carries out in order; host and kernels fill it. */
typedef struct aclshmemi_npu_dma_info {
    void *ring;
    void *doorbell; /* its first word takes the new tail */
    const volatile uint32_t *head;
    const volatile uint32_t *error;
    uint32_t depth;
    uint32_t id;
} aclshmemi_npu_dma_info_t;

/* Quiet failure NOT_SUPPORTED on a runtime without such queues; fails when the device has none left. */
int npu_dma_queue_create(aclshmemi_npu_dma_queue_t *queue,
                         aclshmemi_npu_dma_info_t *info) ACLSHMEMI_MUST_CHECK; /* D */
void npu_dma_queue_destroy(aclshmemi_npu_dma_queue_t queue); /* waits for what is in it; accepts NULL */
int npu_notify_create(aclshmemi_npu_notify_t *notify, uint32_t *id) ACLSHMEMI_MUST_CHECK; /* D */
void npu_notify_destroy(aclshmemi_npu_notify_t notify);                                   /* accepts NULL */

/* --- Timeline --- */

/* A span of the calling thread in the timeline of a runtime that writes one (SHMEM_TRACE); begin is 0 and end does nothing
 * where none is written. key names the number that goes with it; NULL: none. Any thread. */
uint64_t npu_trace_begin(void);
void npu_trace_end(uint64_t begin, const char *name, const char *key, uint64_t value);

uint64_t npu_sync_config(void); /* address or word A2/A3 kernels need for barriers; 0 when there is none */

#endif
