/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies between libshmem.so and the plug-in that speaks MPI. MPIs differ in their binary interface, so the plug-in is
 * built once for each and only it links one; nothing of MPI's types appears here. The plug-in uses nothing of the library:
 * a call returns 0 or one of our codes, and writes the words into text.
 *
 * Calls for one communicator come from one thread at a time. None of them waits longer than it is told, except MPI's
 * own start and end.
 */
#ifndef ACLSHMEMI_MPI_PLUGIN_H
#define ACLSHMEMI_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACLSHMEMI_MPI_PLUGIN_VERSION 1
#define ACLSHMEMI_MPI_PLUGIN_ENTRY   "aclshmemi_bootstrap_plugin_init"

typedef struct aclshmemi_mpi_words {
    char text[512];
} aclshmemi_mpi_words_t;

typedef struct aclshmemi_mpi_plugin {
    uint32_t version; /* of this table; set by the library, checked by the plug-in */
    uint32_t bytes;   /* size of this table, likewise */
    char kind[16];    /* "openmpi", "mpich": which binary interface it was built for */
    const void
        *probe; /* PMPI_Initialized as the plug-in sees it: tells whether the process has the same MPI */

    /* What the MPI calls itself. */
    void (*describe)(char *out, size_t bytes);
    /* Place in *(MPI_Comm *)comm, NULL: the world. Starts MPI when nobody did. */
    int (*locate)(void *comm, int *pe, int *n_pes, aclshmemi_mpi_words_t *words);
    /* Collective: a duplicate of comm. farewell: what the last allgather of 8 bytes sends; when the program ends MPI
     * first, that allgather is done on the way. */
    int (*open)(void *comm, uint64_t farewell, uint64_t timeout_ms, void **state,
                aclshmemi_mpi_words_t *words);
    /* Collective: bytes from each PE into recv, in their order. */
    int (*allgather)(void *state, const void *send, void *recv, uint64_t bytes, uint64_t timeout_ms,
                     aclshmemi_mpi_words_t *words);
    /* The program has ended MPI, and all PEs had said farewell by then. */
    bool (*parted)(void *state);
    /* Ends the whole job; does not return. */
    void (*abort)(void *state, int status);
    /* Gives the duplicate back; ends MPI when this side started it and no duplicate is left. Words "": all is well. */
    void (*close)(void *state, aclshmemi_mpi_words_t *words);
} aclshmemi_mpi_plugin_t;

/* The entry: fills the table, or returns nonzero with the reason when it cannot serve such a table. */
typedef int aclshmemi_mpi_entry_t(aclshmemi_mpi_plugin_t *plugin, aclshmemi_mpi_words_t *words);
aclshmemi_mpi_entry_t aclshmemi_bootstrap_plugin_init;

#endif
