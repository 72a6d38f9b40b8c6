/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few calls that the benchmark of operations needs, under names of its own, so that one source measures several
 * libraries: this one, an OpenSHMEM (-DPEER_OSHMEM, compiled by oshcc) and, for collectives, an MPI (-DPEER_MPI, by
 * mpicc). Every call does one thing in each library and adds nothing to it.
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

#if defined(PEER_OSHMEM)
#include "peer_oshmem.h"
#elif defined(PEER_MPI)
#include "peer_mpi.h"
#else
#include "peer_aclshmem.h"
#endif

#endif
