/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data with a notice: a message travels round the ring of PEs, each adding its part, without any barrier. The signal
 * arrives after the data it announces, so the receiver needs nothing but to wait for it.
 *
 *     aclshmemrun -n 4 put_signal
 */
#include <stdio.h>

#include "shmem.h"

enum { WORDS = 1024, ROUNDS = 100 };

static int64_t message[WORDS]; /* the local side of a put may be any memory */

int main(void)
{
    if (aclshmemx_init() != 0)
        return 1;
    int me = aclshmem_my_pe(), n = aclshmem_n_pes(), wrong = 0;
    int64_t *inbox = aclshmem_calloc(WORDS, sizeof *inbox);
    int32_t *signal = aclshmem_calloc(1, sizeof *signal);
    if (inbox == NULL || signal == NULL)
        return 1;

    for (int round = 1; round <= ROUNDS; round++) {
        if (me != 0 || round > 1) { /* PE 0 starts; everybody else waits for its predecessor */
            aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, me == 0 ? round - 1 : round);
            int64_t so_far = (int64_t)(round - 1) * n * (n + 1) / 2 + (int64_t)me * (me + 1) / 2;
            for (int i = 0; i < WORDS; i++)
                wrong += inbox[i] != so_far;
        }
        for (int i = 0; i < WORDS; i++)
            message[i] = inbox[i] + me + 1;
        aclshmem_int64_put_signal(inbox, message, WORDS, (uint8_t *)signal, round, ACLSHMEM_SIGNAL_SET,
                                  (me + 1) % n);
    }
    if (me == 0) {
        aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, ROUNDS);
        int64_t all = (int64_t)ROUNDS * n * (n + 1) / 2;
        for (int i = 0; i < WORDS; i++)
            wrong += inbox[i] != all;
        printf("%d messages of %d bytes went round %d PEs, %s\n", ROUNDS, (int)sizeof message, n,
               wrong == 0 ? "every word right" : "with WRONG words");
    }
    aclshmem_free(signal);
    aclshmem_free(inbox);
    return aclshmem_finalize() != 0 || wrong != 0;
}
