/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of quiet and fence: every engine this core has used. */
#ifndef ACLSHMEMI_DEVICE_MO_INL
#define ACLSHMEMI_DEVICE_MO_INL

#include "device/dispatch.inl"

ACLSHMEM_DEVICE void aclshmem_quiet(void)
{
    aclshmemi_quiet_core("quiet");
}

ACLSHMEM_DEVICE void aclshmem_fence(void)
{
    aclshmemi_fence_core("fence");
}

#endif
