/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data-parallel training of a small network on handwritten digits.
 *
 *     aclshmemrun -n 4 digits_train [--epochs N] [--batch N] [--data FILE] [--out FILE] [--sum reduce|put-signal]
 *     mpirun -n 4 digits_train [--bootstrap mpi] ...
 *
 * Every PE holds all parameters and works on its share of each batch; gradients are summed through the symmetric heap
 * (exchange.c), by the library's reduction or by puts with signals. Under mpirun the PEs find each other as under any launcher;
 * with --bootstrap mpi they meet through MPI itself. All PEs end with the same bits, and runs with different PE counts agree to 1e-6 in every
 * parameter, since only the order of additions differs. --out writes the parameters as text. Exit status: 0; 1 after
 * a failure or when the network did not learn (accuracy below 95 %) or PEs disagree; 2 for wrong arguments.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "digits.h"
#include "shmem.h"

#define LEARNING_RATE 0.05
#define MOMENTUM      0.9
#define GOAL          0.95

typedef struct options {
    int epochs;
    int batch;
    const char *data;
    const char *out;
    exchange_method_t sum;
    bool by_mpi;
} options_t;

typedef struct training {
    options_t options;
    dataset_t data;
    network_t net, velocity;
    size_t *order; /* of the training samples in this epoch, the same on all PEs */
    exchange_t *exchange;
    int pe, n_pes;
    double computing_s, communicating_s;
} training_t;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void shuffle(size_t *order, size_t count, int epoch)
{
    uint64_t state = UINT64_C(0x2545f4914f6cdd1d) * (uint64_t)(epoch + 1);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t j = (size_t)((state >> 33) % (i + 1));
        size_t held = order[i];
        order[i] = order[j];
        order[j] = held;
    }
}

/* One step on order[first .. first + count): our share, the sum over PEs, the same update everywhere. */
static int train_batch(training_t *t, size_t first, size_t count, double *loss)
{
    struct {
        network_t gradient;
        double loss;
    } step;
    memset(&step, 0, sizeof step);
    double started = now_s();
    for (size_t i = first + (size_t)t->pe; i < first + count; i += (size_t)t->n_pes)
        step.loss += network_backward(&t->net, &t->data.train[t->order[i]], &step.gradient);
    double computed = now_s();
    if (exchange_sum(t->exchange, (double *)&step) != 0)
        return -1;
    double summed = now_s();
    double *net = (double *)&t->net, *velocity = (double *)&t->velocity;
    const double *gradient = (const double *)&step.gradient;
    for (size_t i = 0; i < PARAMETERS; i++) {
        velocity[i] = MOMENTUM * velocity[i] - LEARNING_RATE * gradient[i] / (double)count;
        net[i] += velocity[i];
    }
    *loss += step.loss;
    t->computing_s += (computed - started) + (now_s() - summed);
    t->communicating_s += summed - computed;
    return 0;
}

static int train(training_t *t)
{
    for (int epoch = 1; epoch <= t->options.epochs; epoch++) {
        double loss = 0.0;
        size_t batch = (size_t)t->options.batch, count = t->data.n_train;
        shuffle(t->order, count, epoch);
        for (size_t first = 0; first < count; first += batch)
            if (train_batch(t, first, count - first < batch ? count - first : batch, &loss) != 0)
                return -1;
        if (t->pe == 0)
            progress_show(epoch, t->options.epochs, loss / (double)count,
                          network_accuracy(&t->net, t->data.test, t->data.n_test));
    }
    if (t->pe == 0)
        progress_end();
    return 0;
}

static uint64_t fingerprint(const network_t *net)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const unsigned char *bytes = (const unsigned char *)net;
    for (size_t i = 0; i < sizeof *net; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static int write_parameters(const training_t *t)
{
    FILE *file = fopen(t->options.out, "w");
    if (file == NULL) {
        fprintf(stderr, "cannot write %s: %s\n", t->options.out, strerror(errno));
        return -1;
    }
    const double *net = (const double *)&t->net;
    for (size_t i = 0; i < PARAMETERS; i++)
        fprintf(file, "%.17g\n", net[i]);
    if (fclose(file) != 0) {
        fprintf(stderr, "cannot write %s: %s\n", t->options.out, strerror(errno));
        return -1;
    }
    return 0;
}

static int report(training_t *t)
{
    double accuracy = network_accuracy(&t->net, t->data.test, t->data.n_test);
    uint64_t print = fingerprint(&t->net);
    bool same = exchange_same(t->exchange, print);
    if (t->pe == 0) {
        printf("accuracy on %zu held-out digits: %.2f %%\n", t->data.n_test, 100.0 * accuracy);
        printf("parameters: %d, %s on %d PE%s (fingerprint %016" PRIx64 ")\n", PARAMETERS,
               same ? "bit-identical" : "DIFFERENT", t->n_pes, t->n_pes == 1 ? "" : "s", print);
        printf("time on PE 0: computing %.2f s, communicating %.2f s; %.2f MiB %s by each PE\n",
               t->computing_s, t->communicating_s, (double)exchange_bytes(t->exchange) / 1048576.0,
               t->options.sum == EXCHANGE_REDUCE ? "given to reductions" : "put");
        if (t->options.out != NULL && write_parameters(t) != 0)
            return -1;
    }
#ifdef DIGITS_INFER
    double spread = infer_accuracy(&t->net, t->data.test, t->data.n_test);
    if (t->pe == 0)
        printf("the same digits with the hidden layer spread over %d PE%s: %.2f %%\n", t->n_pes,
               t->n_pes == 1 ? "" : "s", 100.0 * spread);
    if (spread != accuracy) {
        fprintf(stderr, "PE %d: inference by all PEs together gives another accuracy\n", t->pe);
        return -1;
    }
#endif
    if (!same) {
        fprintf(stderr, "PE %d: the PEs hold different parameters\n", t->pe);
        return -1;
    }
    if (accuracy < GOAL) {
        if (t->pe == 0)
            fprintf(stderr,
                    "the network did not learn: %.2f %% is below the goal of %.0f %% (more --epochs?)\n",
                    100.0 * accuracy, 100.0 * GOAL);
        return -1;
    }
    return 0;
}

static int run(const options_t *options)
{
    training_t *t = calloc(1, sizeof *t);
    if (t == NULL || dataset_load(options->data, &t->data) != 0) {
        free(t);
        return -1;
    }
    int rc = -1;
    t->options = *options;
    t->pe = aclshmem_my_pe();
    t->n_pes = aclshmem_n_pes();
    t->order = malloc(t->data.n_train * sizeof *t->order);
    t->exchange = exchange_create(PARAMETERS + 1, options->sum); /* the loss travels behind the gradient */
    if (t->order != NULL && t->exchange != NULL) {
        network_init(&t->net, 2026);
        rc = train(t);
        if (rc == 0)
            rc = report(t);
    }
    if (t->exchange != NULL)
        exchange_destroy(t->exchange);
    free(t->order);
    dataset_free(&t->data);
    free(t);
    return rc;
}

static int usage(const char *reason)
{
    if (reason != NULL)
        fprintf(stderr, "digits_train: %s\n", reason);
    fprintf(stderr, "usage: digits_train [--epochs 1..10000] [--batch 1..100000] [--data FILE] [--out FILE]\n"
                    "                    [--sum reduce|put-signal] [--bootstrap auto|mpi]\n");
    return 2;
}

static bool number(const char *text, long high, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1 || value > high)
        return false;
    *out = (int)value;
    return true;
}

/* One of two words; false for anything else. */
static bool choose(const char *text, const char *no, const char *yes, bool *out)
{
    *out = strcmp(text, yes) == 0;
    return *out || strcmp(text, no) == 0;
}

/* Through whatever started us, or through MPI, which tells PE and count; there the device is chosen by the program. */
static int meet(bool by_mpi)
{
    if (!by_mpi)
        return aclshmemx_init();
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 16 << 20;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        fprintf(stderr, "digits_train: there is no device\n");
        return -1;
    }
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attr);
}

/* The data lies beside the program's folder in a build and in an install; the path compiled in comes last. */
static const char *default_data(void)
{
    static char path[4096];
    static const char *const places[] = {"../data/digits.csv.gz",
                                         "../share/aclshmem/examples/data/digits.csv.gz"};
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    char *slash = NULL;
    if (length > 0) {
        path[length] = '\0';
        slash = strrchr(path, '/');
    }
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        memcpy(slash + 1, places[i], strlen(places[i]) + 1);
        if (access(path, R_OK) == 0)
            return path;
    }
    return DIGITS_DATA;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"epochs", required_argument, NULL, 'e'}, {"batch", required_argument, NULL, 'b'},
        {"data", required_argument, NULL, 'd'},   {"out", required_argument, NULL, 'o'},
        {"sum", required_argument, NULL, 's'},    {"bootstrap", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    bool by_hand = false;
    options_t options = {.epochs = 30, .batch = 48, .data = NULL};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'e' && !number(optarg, 10000, &options.epochs))
            return usage("--epochs takes a whole number from 1 to 10000");
        if (c == 'b' && !number(optarg, 100000, &options.batch))
            return usage("--batch takes a whole number from 1 to 100000");
        if (c == 's' && !choose(optarg, "reduce", "put-signal", &by_hand))
            return usage("--sum takes reduce or put-signal");
        if (c == 'm' && !choose(optarg, "auto", "mpi", &options.by_mpi))
            return usage("--bootstrap takes auto or mpi");
        if (c == 'd')
            options.data = optarg;
        if (c == 'o')
            options.out = optarg;
        if (c == 'h' || c == '?')
            return c == 'h' ? (usage(NULL), 0) : usage(NULL);
    }
    if (optind < argc)
        return usage("there are no other arguments");
    if (options.data == NULL)
        options.data = default_data();
    options.sum = by_hand ? EXCHANGE_PUT_SIGNAL : EXCHANGE_REDUCE;
    if (meet(options.by_mpi) != 0)
        return 1; /* the library has said why */
    int rc = run(&options);
    if (aclshmem_finalize() != 0)
        rc = -1;
    return rc == 0 ? 0 : 1;
}
