/* SPDX-License-Identifier: Apache-2.0 */
/* How an instance is made and unmade; private to this folder. */
#ifndef ACLSHMEMI_INIT_H
#define ACLSHMEMI_INIT_H

#include "host/instance.h"

/* Checks the arguments in the documented order, before anything is touched. */
int aclshmemi_attr_check(aclshmemx_bootstrap_t flags, const aclshmemx_init_attr_t *attr) ACLSHMEMI_MUST_CHECK;
/* The one mode that decides: UNIQUEID, MPI, DEFAULT, LAUNCHER; 0 when none is known. */
aclshmemx_bootstrap_t aclshmemi_attr_mode(aclshmemx_bootstrap_t flags);
/* ip_port holds an address (and not only the id in comm_args counts). */
bool aclshmemi_attr_has_address(const aclshmemx_init_attr_t *attr);
/* DEFAULT mode of an instance other than 0: turns port 0 of the template into a port of SHMEM_INSTANCE_PORT_RANGE. */
int aclshmemi_attr_choose_port(const aclshmemi_env_t *env, aclshmemx_init_attr_t *attr) ACLSHMEMI_MUST_CHECK;
/* LAUNCHER mode: completes PE, count and size. */
int aclshmemi_attr_from_launcher(const aclshmemi_env_t *env, aclshmemx_init_attr_t *attr,
                                 aclshmemi_launch_t *launch) ACLSHMEMI_MUST_CHECK;

/* Builds everything of a new instance bottom-up; on failure all of it is undone and the storage is as before. */
int aclshmemi_build(aclshmemi_instance_t *in, aclshmemx_bootstrap_t mode,
                    const aclshmemx_init_attr_t *attr) ACLSHMEMI_MUST_CHECK;
/* Top-down. orderly: with the barriers of finalize; their failure is returned, and everything is released all the same. */
int aclshmemi_unbuild(aclshmemi_instance_t *in, bool orderly) ACLSHMEMI_MUST_CHECK;

/* The record of SHMEM_CYCLE_PROF_PE, on the PE it names; fini undoes it from any point. */
int aclshmemi_prof_init(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;
void aclshmemi_prof_fini(aclshmemi_instance_t *in);

#endif
