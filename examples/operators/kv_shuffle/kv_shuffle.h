/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernel of the key-value shuffle agree on. */
#ifndef KV_SHUFFLE_H
#define KV_SHUFFLE_H

#include <stdint.h>

#define KV_LINE 16 /* words between flags */

typedef struct kv_shuffle_params {
    char *key, *value;   /* the caches: blocks of block_bytes, symmetric */
    const int32_t *from; /* count numbers of blocks of mine that go out */
    const int32_t *to;   /* count numbers of the blocks at the partner that take them */
    int32_t *free_flags; /* one per core: the partner's blocks may be written; symmetric */
    int32_t *done_flags; /* one per core: mine have been; symmetric */
    uint64_t block_bytes;
    int32_t count;
    int32_t partner;
    int32_t round; /* from 1 */
} kv_shuffle_params_t;

#endif
