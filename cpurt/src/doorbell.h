/* SPDX-License-Identifier: Apache-2.0 */
/* The sleeping side of doorbells (aicore_pipe.h has the other one). */
#ifndef CPURT_DOORBELL_H
#define CPURT_DOORBELL_H

#include "aicore/aicore.h"

/* Announces a sleeper; what comes back is for the sleep. The caller looks for work once more in between. */
uint32_t cpurt_doorbell_announce(aicore_doorbell_t *bell);
/* Until somebody rings, or has rung since the announcement, or the time is over. Takes the announcement back. */
void cpurt_doorbell_sleep(aicore_doorbell_t *bell, uint32_t seen, uint64_t timeout_ns);
void cpurt_doorbell_withdraw(aicore_doorbell_t *bell);

#endif
