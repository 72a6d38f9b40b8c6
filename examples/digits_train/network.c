/* SPDX-License-Identifier: Apache-2.0 */
/* 64 inputs, 64 rectified hidden units, 10 classes with softmax and cross entropy. */
#include <math.h>
#include <string.h>

#include "digits.h"

/* splitmix64: the same numbers on every PE and machine. */
static double uniform(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 * 2.0 - 1.0;
}

static void fill(double *weights, size_t count, size_t inputs, uint64_t *state)
{
    double range = sqrt(6.0 / (double)inputs);
    for (size_t i = 0; i < count; i++)
        weights[i] = range * uniform(state);
}

void network_init(network_t *net, uint64_t seed)
{
    memset(net, 0, sizeof *net);
    fill(&net->hidden_weight[0][0], HIDDEN * PIXELS, PIXELS, &seed);
    fill(&net->out_weight[0][0], CLASSES * HIDDEN, HIDDEN, &seed);
}

static double hidden_unit(const network_t *net, const double *pixel, int h)
{
    double sum = net->hidden_bias[h];
    for (int i = 0; i < PIXELS; i++)
        sum += net->hidden_weight[h][i] * pixel[i];
    return sum > 0.0 ? sum : 0.0;
}

double network_hidden(const network_t *net, const sample_t *sample, int unit)
{
    return hidden_unit(net, sample->pixel, unit);
}

static void forward(const network_t *net, const double *pixel, double *hidden, double *probability)
{
    double highest = -INFINITY, total = 0.0;
    for (int h = 0; h < HIDDEN; h++)
        hidden[h] = hidden_unit(net, pixel, h);
    for (int c = 0; c < CLASSES; c++) {
        double sum = net->out_bias[c];
        for (int h = 0; h < HIDDEN; h++)
            sum += net->out_weight[c][h] * hidden[h];
        probability[c] = sum;
        highest = sum > highest ? sum : highest;
    }
    for (int c = 0; c < CLASSES; c++)
        total += probability[c] = exp(probability[c] - highest);
    for (int c = 0; c < CLASSES; c++)
        probability[c] /= total;
}

double network_backward(const network_t *net, const sample_t *sample, network_t *gradient)
{
    double hidden[HIDDEN], probability[CLASSES], back[HIDDEN] = {0};
    forward(net, sample->pixel, hidden, probability);
    for (int c = 0; c < CLASSES; c++) {
        double error = probability[c] - (c == sample->label);
        gradient->out_bias[c] += error;
        for (int h = 0; h < HIDDEN; h++) {
            gradient->out_weight[c][h] += error * hidden[h];
            back[h] += error * net->out_weight[c][h];
        }
    }
    for (int h = 0; h < HIDDEN; h++) {
        if (hidden[h] <= 0.0)
            continue;
        gradient->hidden_bias[h] += back[h];
        for (int i = 0; i < PIXELS; i++)
            gradient->hidden_weight[h][i] += back[h] * sample->pixel[i];
    }
    return -log(fmax(probability[sample->label], 1e-300));
}

int network_classify(const network_t *net, const sample_t *sample)
{
    double hidden[HIDDEN], probability[CLASSES];
    forward(net, sample->pixel, hidden, probability);
    int best = 0;
    for (int c = 1; c < CLASSES; c++)
        best = probability[c] > probability[best] ? c : best;
    return best;
}

double network_accuracy(const network_t *net, const sample_t *samples, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += network_classify(net, &samples[i]) == samples[i].label;
    return (double)right / (double)count;
}
