/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bootstrap of a job with one PE: no socket, no thread, nobody to wait for. The template for the others.
 */
#include <string.h>

#define LOG_MODULE "bootstrap"
#include "host/bootstrap/bootstrap.h"

static int self_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params)
{
    (void)bs;
    if (params->n_pes != 1)
        return fail(ACLSHMEM_INVALID_PARAM, "the bootstrap of a single PE was asked to serve %d",
                    params->n_pes);
    return 0;
}

static int self_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes)
{
    (void)bs;
    if (bytes > 0)
        memmove(recv, send, bytes); /* send may be recv */
    return 0;
}

static int self_barrier(aclshmemi_bootstrap_t *bs, const aclshmemi_fingerprint_t *fingerprint)
{
    (void)bs;
    (void)fingerprint; /* agrees with itself */
    return 0;
}

static void self_close(aclshmemi_bootstrap_t *bs)
{
    (void)bs;
}

/* Nobody can die but ourselves, and abort has nobody to tell: the framework fills those blanks. */
const aclshmemi_bootstrap_ops_t aclshmemi_bootstrap_self = {
    .name = "self",
    .open = self_open,
    .allgather = self_allgather,
    .barrier = self_barrier,
    .close = self_close,
};
