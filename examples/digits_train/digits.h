/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of digits_train: data, network, exchange between PEs, and what the user sees. */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIXELS = 64, HIDDEN = 64, CLASSES = 10 };

/* --- dataset.c --- */

typedef struct sample {
    double pixel[PIXELS]; /* 0..1 */
    int label;            /* 0..9 */
} sample_t;

typedef struct dataset {
    sample_t *train;
    size_t n_train;
    sample_t *test; /* every fifth sample, never trained on */
    size_t n_test;
} dataset_t;

/* 0, or -1 with a line on standard error that names file, line and what was expected. */
int dataset_load(const char *path, dataset_t *data);
void dataset_free(dataset_t *data);

/* --- network.c --- */

/* All parameters in one flat array, which is also the shape of a gradient. */
typedef struct network {
    double hidden_weight[HIDDEN][PIXELS];
    double hidden_bias[HIDDEN];
    double out_weight[CLASSES][HIDDEN];
    double out_bias[CLASSES];
} network_t;

enum { PARAMETERS = sizeof(network_t) / sizeof(double) };

void network_init(network_t *net, uint64_t seed);
/* Adds the gradient of the loss on one sample; returns the loss. */
double network_backward(const network_t *net, const sample_t *sample, network_t *gradient);
int network_classify(const network_t *net, const sample_t *sample);
double network_accuracy(const network_t *net, const sample_t *samples, size_t count);
double network_hidden(const network_t *net, const sample_t *sample, int unit); /* value of one hidden unit */

/* --- infer.c, where the matmul operator is built --- */

/* The same accuracy, computed by kernels of all PEs together. Collective. Ends the program with a line when it fails. */
double infer_accuracy(const network_t *net, const sample_t *samples, size_t count);

/* --- exchange.c --- */

typedef struct exchange exchange_t;

/* How values are summed: by the library's reduction, or by puts with signals of our own. */
typedef enum exchange_method { EXCHANGE_REDUCE, EXCHANGE_PUT_SIGNAL } exchange_method_t;

/* Collective. NULL after a failure that the library has explained. */
exchange_t *exchange_create(size_t count, exchange_method_t method);
void exchange_destroy(exchange_t *x); /* collective */
/* Sums values over all PEs, in place, with the same bits on all of them. Collective. 0, or -1 after a failure. */
int exchange_sum(exchange_t *x, double *values);
uint64_t exchange_bytes(const exchange_t *x); /* put by this PE, or given to the reduction, so far */
/* True when all PEs pass the same bytes. Collective. */
bool exchange_same(exchange_t *x, uint64_t fingerprint);

/* --- progress.c --- */

/* A bar that is rewritten on a terminal; a plain line now and then elsewhere. PE 0 only. */
void progress_show(int epoch, int epochs, double loss, double accuracy);
void progress_end(void);

#endif
