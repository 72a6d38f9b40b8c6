/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernels of the mixture-of-experts exchange agree on. */
#ifndef MOE_H
#define MOE_H

#include <stdint.h>

#define MOE_LINE   16  /* words between flags */
#define MOE_TOP    2   /* experts per token */
#define MOE_HIDDEN 256 /* numbers of a token */

/* A copy of a token on its way to one of its experts. */
typedef struct moe_route {
    int32_t token; /* number at home */
    int32_t choice;
    int32_t expert; /* number among those of all PEs */
    int32_t reserved;
} moe_route_t;

/* Flags and counts only grow, over all rounds. "From PE p": element p, a line apart. */
typedef struct moe_args {
    float *tokens;        /* mine, a row each */
    float *weights;       /* of my tokens' choices */
    moe_route_t *routes;  /* of my tokens, ordered by the PE of the expert */
    int32_t *route_start; /* n + 1 numbers: those to PE p are route_start[p] .. route_start[p + 1] */
    float *output;        /* mine, a row per token */

    float *rows;             /* what came for my experts: `capacity` rows from each PE; symmetric */
    moe_route_t *row_routes; /* of each of them; symmetric */
    int32_t *row_count;      /* from PE p: rows of this round; symmetric */
    int32_t *counted;        /* from PE p: last round whose row_count is here; symmetric */
    int32_t *arrived;        /* from PE p: rows that are here; symmetric */
    int32_t *expected;       /* from PE p: rows that were to come until now; mine */

    float *answers;    /* row token * MOE_TOP + choice; symmetric */
    int32_t *answered; /* answers that are here, one word; symmetric */

    int32_t tokens_count;
    int32_t capacity;
    int32_t round; /* from 1 */
} moe_args_t;

#endif
