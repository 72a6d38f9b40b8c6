/* SPDX-License-Identifier: Apache-2.0 */
/* What every PE of these tests does between init and finalize. */
#ifndef WORK_H
#define WORK_H

#include "acl/acl.h"
#include "shmem.h"
#include "support/support.h"

void work_device(void); /* a current device */
/* 2 MiB of heap, n_pes 0: the place comes from MPI. */
aclshmemx_init_attr_t work_attr(void *comm);
void work_enter(void *comm, uint64_t instance); /* init must succeed */
void work_leave(void);
/* Sums and puts among the PEs of the current instance; tag makes the data of jobs side by side differ. */
void work_some(int tag);

#define work_check_error(code, part) work_check_error_at(__FILE__, __LINE__, (code), (part))
void work_check_error_at(const char *file, int line, int code, const char *part);

#endif
