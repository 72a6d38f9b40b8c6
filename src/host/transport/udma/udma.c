/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine with jetties, one per peer: the same queues and the same kind of proxy as rdma under its own numbers. A request
 * moves 256 MiB at most.
 */
#define LOG_MODULE "udma"
#include "host/transport/queue/queue.h"

static const aclshmemi_queue_kind_t kind = {
    .name = "udma",
    .depth = 256,
    .request_bytes_log2 = 28,
    .road = &aclshmemi_road_loop,
};

static int udma_open(aclshmemi_transport_t *t)
{
    return aclshmemi_queue_open(t, &kind);
}

const aclshmemi_transport_ops_t aclshmemi_transport_udma = {
    .name = "udma",
    .bit = ACLSHMEM_TRANSPORT_UDMA,
    .open = udma_open,
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
