/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum over all PEs, through the symmetric heap: by the library's reduction, or by hand with puts that signal.
 *
 * By hand, every PE owns a piece of the array. Each PE puts its values of piece k into PE k's inbox and signals; PE k waits for
 * everybody, adds the inboxes up in the order of PEs, which makes the result the same bits for any timing, and
 * puts the sum to everybody with a second signal. Nothing else keeps the PEs in step: who sends round r + 1 has received
 * all sums of round r, so every owner is done with its inboxes, and everybody took its sums before sending.
 */
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "shmem.h"

struct exchange {
    exchange_method_t method;
    int pe, n_pes;
    size_t count, piece; /* values in all, values per owner */
    int32_t round;
    uint64_t bytes;
    double
        *inbox;  /* symmetric: [n_pes][piece], what each PE adds to our piece; what we give to a reduction */
    double *sum; /* symmetric: [n_pes][piece], the finished pieces */
    int32_t *inbox_signal; /* symmetric: [n_pes], round that arrived in inbox k */
    int32_t *sum_signal;   /* symmetric: [n_pes], round that arrived in piece k */
    uint64_t *prints;      /* symmetric: [n_pes] */
};

exchange_t *exchange_create(size_t count, exchange_method_t method)
{
    exchange_t *x = calloc(1, sizeof *x);
    if (x == NULL)
        return NULL;
    x->method = method;
    x->pe = aclshmem_my_pe();
    x->n_pes = aclshmem_n_pes();
    x->count = count;
    size_t n = (size_t)x->n_pes;
    x->piece = (count + n - 1) / n;
    x->inbox = aclshmem_calloc(n * x->piece, sizeof(double));
    x->sum = aclshmem_calloc(n * x->piece, sizeof(double));
    x->inbox_signal = aclshmem_calloc(n, sizeof(int32_t));
    x->sum_signal = aclshmem_calloc(n, sizeof(int32_t));
    x->prints = aclshmem_calloc(n, sizeof(uint64_t));
    if (x->inbox != NULL && x->sum != NULL && x->inbox_signal != NULL && x->sum_signal != NULL &&
        x->prints != NULL)
        return x;
    exchange_destroy(x);
    return NULL;
}

void exchange_destroy(exchange_t *x)
{
    aclshmem_free(x->prints);
    aclshmem_free(x->sum_signal);
    aclshmem_free(x->inbox_signal);
    aclshmem_free(x->sum);
    aclshmem_free(x->inbox);
    free(x);
}

/* Values in the piece of PE k; the last pieces may be short or empty. */
static size_t piece_length(const exchange_t *x, int k)
{
    size_t start = (size_t)k * x->piece;
    if (start >= x->count)
        return 0;
    return x->count - start < x->piece ? x->count - start : x->piece;
}

static void send_piece(exchange_t *x, double *to, double *values, int k, int32_t *signal, int pe)
{
    size_t length = piece_length(x, k);
    aclshmem_double_put_signal(to, values, length, (uint8_t *)signal, x->round, ACLSHMEM_SIGNAL_SET, pe);
    x->bytes += length * sizeof *values + sizeof *signal;
}

static int wait_for(int32_t *signal, int32_t round)
{
    int code;
    aclshmemx_clear_error();
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round);
    aclshmemx_last_error(&code);
    return code == 0 ? 0 : -1;
}

/* Sends start at the next PE, so that not everybody writes to PE 0 first. */
static void scatter(exchange_t *x, double *values)
{
    for (int step = 1; step <= x->n_pes; step++) {
        int k = (x->pe + step) % x->n_pes;
        send_piece(x, x->inbox + (size_t)x->pe * x->piece, values + (size_t)k * x->piece, k,
                   &x->inbox_signal[x->pe], k);
    }
}

static int add_own_piece(exchange_t *x)
{
    size_t length = piece_length(x, x->pe);
    double *own = x->sum + (size_t)x->pe * x->piece;
    for (int k = 0; k < x->n_pes; k++) {
        if (wait_for(&x->inbox_signal[k], x->round) != 0)
            return -1;
        const double *inbox = x->inbox + (size_t)k * x->piece;
        for (size_t i = 0; i < length; i++)
            own[i] = k == 0 ? inbox[i] : own[i] + inbox[i];
    }
    return 0;
}

static int reduce(exchange_t *x, double *values)
{
    memcpy(x->inbox, values, x->count * sizeof *values);
    if (aclshmem_double_sum_reduce(ACLSHMEM_TEAM_WORLD, x->sum, x->inbox, x->count) != 0)
        return -1;
    memcpy(values, x->sum, x->count * sizeof *values);
    x->bytes += x->count * sizeof *values;
    return 0;
}

static int put_and_signal(exchange_t *x, double *values)
{
    x->round++;
    scatter(x, values);
    if (add_own_piece(x) != 0)
        return -1;
    double *own = x->sum + (size_t)x->pe * x->piece;
    for (int step = 1; step <= x->n_pes; step++)
        send_piece(x, own, own, x->pe, &x->sum_signal[x->pe], (x->pe + step) % x->n_pes);
    for (int k = 0; k < x->n_pes; k++)
        if (wait_for(&x->sum_signal[k], x->round) != 0)
            return -1;
    memcpy(values, x->sum, x->count * sizeof *values);
    return 0;
}

int exchange_sum(exchange_t *x, double *values)
{
    return x->method == EXCHANGE_REDUCE ? reduce(x, values) : put_and_signal(x, values);
}

uint64_t exchange_bytes(const exchange_t *x)
{
    return x->bytes;
}

bool exchange_same(exchange_t *x, uint64_t fingerprint)
{
    for (int pe = 0; pe < x->n_pes; pe++)
        aclshmem_uint64_p(&x->prints[x->pe], fingerprint, pe);
    aclshmem_barrier_all();
    for (int pe = 0; pe < x->n_pes; pe++)
        if (x->prints[pe] != fingerprint)
            return false;
    return true;
}
