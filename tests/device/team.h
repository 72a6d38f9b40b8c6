/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of the team test report about one team. */
#ifndef DEVICE_TEAM_H
#define DEVICE_TEAM_H

#include <stdint.h>

enum { ASKED = 8 }; /* PEs and indices asked about, from -1 */

typedef struct answers {
    int my_pe, n_pes, team_my_pe, team_n_pes;
    int mapping[ASKED];  /* of index i - 1 */
    int to_world[ASKED]; /* of index i - 1 */
    int to_team[ASKED];  /* of PE i - 1 */
    uint64_t state;
} answers_t;

/* Answers without a kernel, given by the file of kernels. */
void ask_on_this_thread(int team, answers_t *out);
int use_instance_on_this_thread(uint64_t id);
void *ptr_on_this_thread(void *ptr, int pe);

#endif
