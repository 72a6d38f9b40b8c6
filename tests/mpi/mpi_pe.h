/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the PE program. */
#ifndef MPI_PE_H
#define MPI_PE_H

#include <mpi.h>

#include "work.h"

extern int mpi_rank, mpi_size; /* after begin() */

void begin(int level); /* starts MPI */
void quiet_log(bool quiet);
void check_mpi_works(void);

/* mpi_order.c */
void scenario_ended(void);
void scenario_first(void);
void scenario_crossed(void);
void scenario_launcher(void);

#endif
