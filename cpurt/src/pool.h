/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that serve as cores, kept between launches. */
#ifndef CPURT_POOL_H
#define CPURT_POOL_H

#include "core.h"

/* Runs the gang: the caller is one of its threads, the pool lends the others. Returns when all are out of it; fails
 * when there cannot be enough threads, and then nothing has run. */
aclError cpurt_pool_run(cpurt_gang_t *gang);
void cpurt_pool_end(void);

#endif
