/* SPDX-License-Identifier: Apache-2.0 */
/* Which plug-in serves the MPI mode in this process; private to this folder. */
#ifndef ACLSHMEMI_MPI_LOAD_H
#define ACLSHMEMI_MPI_LOAD_H

#include "host/bootstrap/mpi/plugin/plugin.h"
#include "host/utils/env.h"
#include "host/utils/status.h"

typedef struct aclshmemi_mpi_loaded {
    aclshmemi_mpi_plugin_t plugin;
    char library[96]; /* what its MPI calls itself */
} aclshmemi_mpi_loaded_t;

/* Loads it at the first call; it stays for the life of the process, as MPI does. */
int aclshmemi_mpi_load(const aclshmemi_env_t *env, const aclshmemi_mpi_loaded_t **out) ACLSHMEMI_MUST_CHECK;

#endif
