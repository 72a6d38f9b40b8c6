/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycle counts of parts of a kernel. On the PE that SHMEM_CYCLE_PROF_PE names, what lies between the two marks of a frame
 * (0 to 1023) is counted for each core, all its copies included; elsewhere the marks do nothing. The host reads the counts
 * with aclshmemx_get_prof. Cores from the 64th on, and other frames, are not counted, and how often that happened is told.
 */
#ifndef ACLSHMEM_DEVICE_PROF_H
#define ACLSHMEM_DEVICE_PROF_H

#include "device/shmem_def.h"

#define SHMEMI_PROF_START(frame) aclshmemi_prof_start(frame)
#define SHMEMI_PROF_END(frame)   aclshmemi_prof_end(frame)

#include "device/prof.inl"

#endif
