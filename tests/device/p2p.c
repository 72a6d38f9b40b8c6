/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, waits and tests of kernels: every function of every type, with cores and PEs and the host at the other end. */
#include "device.h"
#include "host_device/shmem_type_lists.h"

typedef struct two {
    void *words;
    int32_t *turns;
} two_t;

static void all_types(void *words, int32_t *turns)
{
    two_t args = {words, turns};
#define RUN(NAME, TYPE)                                                                                      \
    do {                                                                                                     \
        if (aclshmem_n_pes() > 3 && sizeof(TYPE) != 4)                                                       \
            break; /* it is about types, not about PEs */                                                    \
        memset(words, 0, 64);                                                                                \
        *turns = 0;                                                                                          \
        aclshmem_barrier_all();                                                                              \
        device_run("waits_" #NAME, 2, &args, sizeof args);                                                   \
        aclshmem_barrier_all();                                                                              \
    } while (0)
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(RUN);
#undef RUN
    device_run("waits_nan", 1, &words, sizeof words);
}

static void signals(int32_t *words, uint32_t blocks)
{
    struct {
        int32_t *words;
        int32_t cores, rounds;
    } args = {words, (int32_t)blocks * aclshmem_n_pes(), 20};
    memset(words, 0, 64 * sizeof *words);
    aclshmem_barrier_all();
    device_run("signal_all", blocks, &args, sizeof args);
    aclshmem_barrier_all();
    CHECK_INT(words[0], args.cores * args.rounds);
    for (int pe = 0; pe < aclshmem_n_pes(); pe++)
        CHECK_INT(words[16 + pe], -args.rounds);
}

/* Kernels wait for what hosts and streams set, and hosts and streams for what kernels set. */
static void host_and_kernel(int32_t *words, bool on_stream)
{
    enum { LAST = 40 };
    int n = aclshmem_n_pes(), me = aclshmem_my_pe(), next = (me + 1) % n;
    struct {
        int32_t *words;
        int32_t last;
        int pe;
    } args = {words, LAST, (me + n - 1) % n};
    aclrtFuncHandle function = NULL;
    aclrtStream kernels = NULL, signals = NULL;
    words[0] = words[16] = 0;
    aclshmem_barrier_all();
    CHECK_ACL(aclrtBinaryGetFunction(NULL, "talk_to_host", &function));
    CHECK_ACL(aclrtCreateStream(&kernels));
    CHECK_ACL(aclrtCreateStream(&signals));
    CHECK_ACL(aclrtLaunchKernel(function, 1, &args, sizeof args, kernels));
    for (int32_t i = 1; i < LAST; i += 2) {
        if (on_stream) {
            aclshmemx_signal_wait_until_on_stream(words + 16, ACLSHMEM_CMP_EQ, i, signals);
            aclshmemx_signal_op_on_stream(words, i + 1, ACLSHMEM_SIGNAL_SET, next, signals);
        } else {
            aclshmem_signal_wait_until(words + 16, ACLSHMEM_CMP_EQ, i);
            aclshmemx_signal_op(words, i + 1, ACLSHMEM_SIGNAL_SET, next);
        }
    }
    CHECK_ACL(aclrtSynchronizeStream(signals));
    CHECK_ACL(aclrtSynchronizeStream(kernels));
    CHECK_INT(words[0], LAST);
    CHECK_ACL(aclrtDestroyStream(signals));
    CHECK_ACL(aclrtDestroyStream(kernels));
    aclshmem_barrier_all();
}

static void mistakes(char *word)
{
    struct {
        char *word;
        int cmp;
    } wait = {word, 6};
    device_fails("wait_with", &wait, sizeof wait, "int32_wait_until: comparison 6 is unknown");
    wait.cmp = -1;
    device_fails("wait_with", &wait, sizeof wait, "int32_wait_until: comparison -1 is unknown");
    wait.cmp = 0;
    wait.word = word + 2;
    device_fails("wait_with", &wait, sizeof wait, "not aligned to 4 bytes");
    wait.word = NULL;
    device_fails("wait_with", &wait, sizeof wait, "NULL or not aligned");
    device_fails("wait_for_some_of_nowhere", &word, sizeof word, "the list for indices is NULL");
    device_fails("wait_with_values_of_nowhere", &word, sizeof word, "the values to compare with are NULL");
    struct {
        void *word;
        int op, pe;
    } signal = {word, 2, 0};
    device_fails("signal_with", &signal, sizeof signal, "signal_op: signal operation 2 is unknown");
    signal.op = ACLSHMEM_SIGNAL_ADD;
    signal.pe = aclshmem_n_pes();
    device_fails("signal_with", &signal, sizeof signal, "does not exist");
    signal.pe = -1;
    device_fails("signal_with", &signal, sizeof signal, "PE -1 does not exist");
    signal.pe = 0;
    signal.word = word + 1;
    device_fails("signal_with", &signal, sizeof signal, "is not aligned to 4 bytes");
    signal.word = &signal;
    device_fails("signal_with", &signal, sizeof signal, "not in the symmetric heap");
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    char *words = aclshmem_calloc(1, 4096);
    CHECK(words != NULL);
    all_types(words, (int32_t *)(void *)(words + 1024));
    signals((int32_t *)(void *)words, 1);
    signals((int32_t *)(void *)words, 4);
    host_and_kernel((int32_t *)(void *)words, false);
    host_and_kernel((int32_t *)(void *)words, true);
    mistakes(words);
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
