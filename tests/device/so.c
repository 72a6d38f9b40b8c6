/* SPDX-License-Identifier: Apache-2.0 */
/* Put with signal by kernels: every form of every type, order, reuse of sources, and mistakes. */
#include "so.h"

#include "device.h"
#include "host_device/shmem_type_lists.h"

enum { LARGE_BYTES = 200 * 1000, MOST_CORES = 4 };

static char *dst, *src;
static int32_t *signals;

static void run(const char *name, uint32_t cores)
{
    struct {
        char *to, *from;
        int32_t *signals;
    } args = {dst, src, signals};
    char kernel[32];
    snprintf(kernel, sizeof kernel, "so_%s", name);
    memset(dst, 0, MOST_CORES * SO_BYTES);
    memset(signals, 0, 512);
    aclshmem_barrier_all();
    device_run(kernel, cores, &args, sizeof args);
    aclshmem_barrier_all();
}

static void litmus(size_t bytes, int turns, uint32_t cores)
{
    struct {
        char *to, *from;
        int32_t *signals;
        size_t bytes;
        int turns;
    } args = {dst, src, signals, bytes, turns};
    memset(signals, 0, 512);
    aclshmem_barrier_all();
    device_run("so_litmus", cores, &args, sizeof args);
    aclshmem_barrier_all();
}

static void fence(void)
{
    struct {
        char *words;
        int32_t *signals;
        int turns;
    } args = {dst, signals, 50};
    memset(dst, 0, 4096);
    memset(signals, 0, 512);
    aclshmem_barrier_all();
    device_run("so_fence", 3, &args, sizeof args);
    aclshmem_barrier_all();
}

static void mistakes(void)
{
    struct {
        char *dst, *signal;
        int op, pe;
    } args = {dst, (char *)signals, 3, 0};
    device_fails("so_with", &args, sizeof args, "putmem_signal: signal operation 3 is unknown");
    args.op = ACLSHMEM_SIGNAL_ADD;
    args.pe = aclshmem_n_pes();
    device_fails("so_with", &args, sizeof args, "does not exist");
    args.pe = 0;
    args.signal++;
    device_fails("so_with", &args, sizeof args, "is not aligned to 4 bytes");
    args.signal = (char *)&args;
    device_fails("so_with", &args, sizeof args, "4 bytes at");
    args.signal = (char *)signals;
    args.dst = (char *)&args;
    signals[0] = 0;
    device_fails("so_with", &args, sizeof args, "8 bytes at");
    CHECK_INT(signals[0], 0); /* a call that fails has not signalled */
    struct {
        char *dst;
        int32_t *signal;
        uint32_t dst_ld;
    } rows = {dst, signals, 2};
    device_fails("so_rows_with", &rows, sizeof rows, "char_put_signal_rows to PE 0: rows of 3 elements");
    rows.dst_ld = 0;
    device_fails("so_rows_with", &rows, sizeof rows, "the description of the rows is NULL");
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    dst = aclshmem_malloc(LARGE_BYTES * 2);
    src = aclshmem_malloc(LARGE_BYTES * 2);
    signals = aclshmem_malloc(512);
    CHECK(dst != NULL && src != NULL && signals != NULL);
#define RUN(NAME, TYPE) run(#NAME, 1 + (uint32_t)sizeof(#NAME) % MOST_CORES)
    ACLSHMEM_COLL_TYPE_FUNC(RUN); /* the list that has half and bfloat16 */
    run("sized", 1);
    run("sized", MOST_CORES);
    litmus(8, 200, 2);
    litmus(4096, 50, 2);
    litmus(LARGE_BYTES, 5, 2);
    fence();
    mistakes();
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
