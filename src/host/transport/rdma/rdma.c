/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote direct memory access: one queue per peer, as RoCE has a queue pair. A message is below 2 GiB there, so a request moves
 * 1 GiB at most. Order within a queue is the order at the target, so a fence has nothing to do.
 */
#define LOG_MODULE "rdma"
#include "host/transport/queue/queue.h"

static const aclshmemi_queue_kind_t kind = {
    .name = "rdma",
    .depth = 256,
    .request_bytes_log2 = 30,
    .road = &aclshmemi_road_loop,
};

static int rdma_open(aclshmemi_transport_t *t)
{
    return aclshmemi_queue_open(t, &kind);
}

const aclshmemi_transport_ops_t aclshmemi_transport_rdma = {
    .name = "rdma",
    .bit = ACLSHMEM_TRANSPORT_ROCE,
    .open = rdma_open,
    .close = aclshmemi_queue_close,
    .export_blob = aclshmemi_queue_export,
    .import_blob = aclshmemi_queue_import,
    .put = aclshmemi_queue_put,
    .get = aclshmemi_queue_get,
    .start_put = aclshmemi_queue_start_put,
    .start_get = aclshmemi_queue_start_get,
    .amo = aclshmemi_queue_amo,
    .quiet = aclshmemi_queue_quiet,
    .describe = aclshmemi_queue_describe,
};
