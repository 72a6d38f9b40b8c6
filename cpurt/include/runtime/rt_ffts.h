/* SPDX-License-Identifier: Apache-2.0 */
/* The one call programs take from the vendor's lower runtime: where cores of a card synchronise. */
#ifndef RUNTIME_RT_FFTS_H
#define RUNTIME_RT_FFTS_H

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rtError_t;

#define RT_ERROR_NONE 0

/* Address 0 and length 0: cores of this runtime need no such memory. */
ACL_FUNC_VISIBILITY rtError_t rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len);

#ifdef __cplusplus
}
#endif

#endif
