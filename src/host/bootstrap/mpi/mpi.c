/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MPI bootstrap: a duplicate of a communicator of the user, or of the world. Death of a PE is MPI's business: its
 * launcher ends the job. MPI's traffic is its own too, so the TLS settings do not apply.
 */
#define LOG_MODULE "bootstrap"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/mpi/load.h"

typedef struct mpi {
    const aclshmemi_mpi_plugin_t *plugin;
    const char *library;
    void *comm; /* the plug-in's */
    uint64_t timeout_ms;
    aclshmemi_fingerprint_t farewell;
} mpi_t;

/* What the attributes of a PE say. */
typedef struct claim {
    int32_t pe, n_pes;
} claim_t;

static int mpi_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes)
{
    mpi_t *mpi = bs->state;
    aclshmemi_mpi_words_t words;
    int rc = mpi->plugin->allgather(mpi->comm, send, recv, bytes, mpi->timeout_ms, &words);
    return rc == 0 ? 0 : fail(rc, "%s", words.text);
}

static int mpi_barrier(aclshmemi_bootstrap_t *bs, const aclshmemi_fingerprint_t *fingerprint)
{
    mpi_t *mpi = bs->state;
    bool farewell = memcmp(fingerprint, &mpi->farewell, sizeof *fingerprint) == 0;
    if (farewell && mpi->plugin->parted(mpi->comm))
        return 0; /* the program ended MPI before, and everybody was there */
    return aclshmemi_bootstrap_barrier_by_allgather(bs, &aclshmemi_bootstrap_mpi, fingerprint);
}

/* Everybody looks at everybody's claim, so one wrong PE is an error of all, at once. */
static int check_claims(aclshmemi_bootstrap_t *bs, int rank, int size)
{
    claim_t own = {bs->pe, bs->n_pes};
    claim_t *all = malloc((size_t)size * sizeof *all);
    if (all == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory to meet %d PEs", size);
    int rc = mpi_allgather(bs, &own, all, sizeof own);
    for (int i = 0; rc == 0 && i < size; i++)
        if (all[i].pe != i || all[i].n_pes != size)
            rc =
                fail(ACLSHMEM_INVALID_VALUE,
                     "the attributes of the PE with rank %d of %d in MPI%s say PE %d of %d; leave n_pes 0 to "
                     "follow MPI",
                     i, size, i == rank ? " (this one)" : "", all[i].pe, all[i].n_pes);
    free(all);
    return rc;
}

static void ignore_tls(void)
{
    if (aclshmemi_tls_is_described())
        log_warn(
            "certificates were set, and this instance does not use them: PEs meet by MPI, whose traffic is "
            "its own");
    aclshmemi_tls_drop_key();
}

static int meet(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params)
{
    mpi_t *mpi = bs->state;
    aclshmemi_mpi_words_t words;
    int rank, size;
    int rc = mpi->plugin->locate(params->comm, &rank, &size, &words);
    if (rc != 0)
        return fail(rc, "%s", words.text);
    /* A world of one is what a program gets that was started alone, or by the launcher of another MPI. */
    if (size == 1 && params->n_pes > 1)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "the attributes say PE %d of %d, and %s knows of one process only: was this program "
                    "started by the launcher of that MPI?",
                    params->pe, params->n_pes, mpi->library);
    uint64_t farewell = aclshmemi_fingerprint_hash(&mpi->farewell);
    rc = mpi->plugin->open(params->comm, farewell, params->init_timeout_ms, &mpi->comm, &words);
    if (rc != 0)
        return fail(rc, "%s", words.text);
    rc = check_claims(bs, rank, size);
    if (rc == 0)
        rc = aclshmemi_bootstrap_barrier_by_allgather(bs, &aclshmemi_bootstrap_mpi, &params->agree);
    if (rc != 0)
        mpi->plugin->close(mpi->comm, &words);
    return rc;
}

static int mpi_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params)
{
    mpi_t *mpi = calloc(1, sizeof *mpi);
    if (mpi == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the bootstrap");
    bs->state = mpi;
    mpi->timeout_ms = params->operation_timeout_ms;
    mpi->farewell = aclshmemi_fingerprint_farewell();
    ignore_tls();
    const aclshmemi_mpi_loaded_t *loaded = NULL;
    int rc = aclshmemi_mpi_load(params->env, &loaded);
    if (rc == 0) {
        mpi->plugin = &loaded->plugin;
        mpi->library = loaded->library;
        rc = meet(bs, params);
    }
    if (rc == 0)
        snprintf(bs->describe, sizeof bs->describe, "mpi, %s", mpi->library);
    else
        free(mpi);
    return rc;
}

/* The caller's buffers hold its output, and MPI_Abort does not come back. */
static void mpi_abort(aclshmemi_bootstrap_t *bs, int status)
{
    mpi_t *mpi = bs->state;
    fflush(NULL);
    mpi->plugin->abort(mpi->comm, status);
}

static void mpi_close(aclshmemi_bootstrap_t *bs)
{
    mpi_t *mpi = bs->state;
    aclshmemi_mpi_words_t words;
    mpi->plugin->close(mpi->comm, &words);
    if (words.text[0] != '\0')
        log_warn("%s", words.text);
    free(mpi);
}

const aclshmemi_bootstrap_ops_t aclshmemi_bootstrap_mpi = {
    .name = "mpi",
    .open = mpi_open,
    .allgather = mpi_allgather,
    .barrier = mpi_barrier,
    .abort = mpi_abort,
    .close = mpi_close,
};

int aclshmemi_mpi_locate(const aclshmemi_env_t *env, void *comm, int *pe, int *n_pes)
{
    const aclshmemi_mpi_loaded_t *loaded = NULL;
    aclshmemi_mpi_words_t words;
    TRY(aclshmemi_mpi_load(env, &loaded));
    int rank, size, rc = loaded->plugin.locate(comm, &rank, &size, &words);
    if (rc != 0)
        return fail(rc, "%s", words.text);
    *pe = rank;
    *n_pes = size;
    return 0;
}
