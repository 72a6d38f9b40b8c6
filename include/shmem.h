/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHMEM: symmetric memory for many devices and many hosts. The one header a program includes.
 *
 * A source file of kernels is compiled with __CCE_AICORE__ (CANN's compiler) or __CCE_KT_TEST__ (any compiler, for the CPU
 * runtime) defined and gets the calls for kernels; every other file gets those for the host. A C file is one or the other,
 * since 310 names exist on both sides, half of them with other parameters.
 *
 * Short shmem_* names come with it, as programs for Ascend's SHMEM expect; a program that also uses an OpenSHMEM defines
 * ACLSHMEM_NO_SHMEM_ALIASES first.
 */
#ifndef ACLSHMEM_SHMEM_H
#define ACLSHMEM_SHMEM_H

#if defined(__CCE_AICORE__) || defined(__CCE_KT_TEST__)

#include "device/shmem_def.h"
#include "device/team/shmem_device_team.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device/ub2gm/shmem_device_rma.h"
#include "device/shmem_device_prof.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/gm2gm/shmem_device_amo.h"
#include "device/gm2gm/shmem_device_mo.h"
#include "device/gm2gm/engine/shmem_device_sdma.h"
#include "device/gm2gm/engine/shmem_device_rdma.h"
#include "device/gm2gm/engine/shmem_device_udma.h"
#include "device/gm2gm/shmem_device_cc.h"
#include "device/gm2gm/shmem_device_coll.h"

#ifdef __cplusplus
/* In C++ names may be overloaded, so kernels and the program that launches them may share a file: calls that move data are
 * those of kernels, and with them come the host's calls for a job, its heap, its teams and its log. Where both sides have
 * one prototype (aclshmem_my_pe) the kernel's answers, which works on a thread of the host, too. */
#if defined(AICORE_UB_CLASS) || defined(AICORE_UB_SEGMENT)
#include "device/shmem_overloads.h"
#endif
#include "host/shmem_host_def.h"
#include "host/mem/shmem_host_heap.h"
#include "host/init/shmem_host_init.h"
#include "host/team/shmem_host_team.h"
#include "host/utils/shmem_log.h"
#endif

#else

#include "host/shmem_host_def.h"
#include "host/mem/shmem_host_heap.h"
#include "host/init/shmem_host_init.h"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/shmem_host_amo.h"
#include "host/data_plane/shmem_host_coll.h"
#include "host/data_plane/shmem_host_so.h"
#include "host/data_plane/shmem_host_p2p_sync.h"
#include "host/data_plane/shmem_host_cc.h"
#include "host/team/shmem_host_team.h"
#include "host/utils/shmem_log.h"

#endif

#ifndef ACLSHMEM_NO_SHMEM_ALIASES
#include "host_device/shmem_short_names.h"
#if defined(__CCE_AICORE__) || defined(__CCE_KT_TEST__)
#include "device/shmem_device_short_names.h"
#endif
#endif

#endif
