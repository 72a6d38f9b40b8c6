/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHMEM: symmetric memory for many devices and many hosts. The one header a program includes.
 *
 * Short shmem_* names come with it, as programs for Ascend's SHMEM expect; a program that also uses an OpenSHMEM defines
 * ACLSHMEM_NO_SHMEM_ALIASES first.
 */
#ifndef ACLSHMEM_SHMEM_H
#define ACLSHMEM_SHMEM_H

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

#ifndef ACLSHMEM_NO_SHMEM_ALIASES
#include "host_device/shmem_short_names.h"
#endif

#endif
