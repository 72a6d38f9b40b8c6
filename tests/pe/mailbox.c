/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many senders, one receiver: every form of put with signal, and signals alone, from all PEs into the mailboxes of one, some
 * with nothing to send. Each signal counts once, and what its sender put is there when the count is.
 */
#include <string.h>

#include "stream.h"

enum { FORMS = 12, LENGTH = 33, ROUNDS = 20 };

static int me, n;
static int64_t *boxes;   /* on the receiver: [sender][form][LENGTH] */
static int32_t *counts;  /* on the receiver: one word per round, between words that nobody touches */
static int32_t *cleared; /* on each PE: rounds that the receiver has read */

static int64_t *box(int sender, int form)
{
    return boxes + ((size_t)sender * FORMS + (size_t)form) * LENGTH;
}

/* How many elements a sender brings in this form and round: often none. */
static size_t length_of(int sender, int form, int round)
{
    unsigned hash = ((unsigned)sender * 7919u + (unsigned)form * 104729u + (unsigned)round * 1299709u) >> 4;
    return hash % 3 == 0 ? 0 : hash % LENGTH;
}

static int64_t content(int sender, int form, int round, size_t i)
{
    return (int64_t)sender << 40 | (int64_t)form << 32 | (int64_t)round << 16 | (int64_t)i;
}

static void send(int form, int round, int to, int32_t *count, aclrtStream stream)
{
    static int64_t on_the_way[FORMS][LENGTH]; /* until quiet, for the forms that may take their time */
    int64_t *here = on_the_way[form], *there = box(me, form);
    size_t length = length_of(me, form, round);
    for (size_t i = 0; i < length; i++)
        here[i] = content(me, form, round, i);
    if (length == 0)
        there = here = NULL; /* not looked at */
    uint8_t *word = (uint8_t *)count;
    const int add = ACLSHMEM_SIGNAL_ADD;
    if (form == 0)
        aclshmem_int64_put_signal(there, here, length, word, 1, add, to);
    else if (form == 1)
        aclshmem_int64_put_signal_nbi(there, here, length, word, 1, add, to);
    else if (form == 2)
        aclshmem_double_put_signal((double *)(void *)there, (double *)(void *)here, length, word, 1, add, to);
    else if (form == 3)
        aclshmem_int8_put_signal((int8_t *)there, (int8_t *)here, length * 8, word, 1, add, to);
    else if (form == 4)
        aclshmem_put8_signal(there, here, length * 8, count, 1, add, to);
    else if (form == 5)
        aclshmem_put16_signal_nbi(there, here, length * 4, count, 1, add, to);
    else if (form == 6)
        aclshmem_put32_signal(there, here, length * 2, count, 1, add, to);
    else if (form == 7)
        aclshmem_put64_signal_nbi(there, here, length, count, 1, add, to);
    else if (form == 8)
        aclshmemx_putmem_signal(there, here, length * 8, count, 1, add, to);
    else if (form == 9)
        aclshmemx_putmem_signal_nbi(there, here, length * 8, count, 1, add, to);
    else if (form == 10) {
        aclshmem_int64_put_nbi(there, here, length, to);
        aclshmem_fence();
        aclshmemx_signal_op(count, 1, add, to);
    } else {
        aclshmemx_putmem_on_stream(there, here, length * 8, to, stream);
        aclshmemx_signal_op_on_stream(count, 1, add, to, stream);
    }
}

static void read_boxes(int round)
{
    for (int sender = 0; sender < n; sender++)
        for (int form = 0; form < FORMS; form++) {
            size_t length = length_of(sender, form, round);
            int64_t *found = box(sender, form);
            for (size_t i = 0; i < LENGTH; i++)
                CHECK_INT(found[i], i < length ? content(sender, form, round, i) : -1);
            memset(found, 0xff, LENGTH * sizeof *found);
        }
}

static void fan_in(int to)
{
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    memset(boxes, 0xff, (size_t)n * FORMS * LENGTH * sizeof *boxes);
    memset(counts, 0, (2 * ROUNDS + 1) * sizeof *counts);
    *cleared = 0;
    aclshmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        int32_t *count = &counts[2 * round + 1];
        for (int k = 0; k < FORMS; k++)
            send((k + me + round) % FORMS, round, to, count, stream);
        if (me == to) {
            aclshmem_int32_wait_until(count, ACLSHMEM_CMP_EQ, FORMS * n);
            read_boxes(round);
            for (int pe = 0; pe < n; pe++)
                aclshmemx_signal_op(cleared, 1, ACLSHMEM_SIGNAL_ADD, pe);
        }
        aclshmem_signal_wait_until(cleared, ACLSHMEM_CMP_EQ, round + 1);
        ACL(aclrtSynchronizeStream(stream));
        aclshmem_quiet();
    }
    aclshmem_barrier_all();
    for (int i = 0; i <= 2 * ROUNDS; i++)
        CHECK_INT(counts[i], me == to && i % 2 == 1 ? FORMS * n : 0);
    CHECK(aclshmemx_last_error(NULL)[0] == '\0');
    ACL(aclrtDestroyStream(stream));
    aclshmem_barrier_all();
}

int main(void)
{
    pe_init(UINT64_C(4) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    boxes = aclshmem_malloc((size_t)n * FORMS * LENGTH * sizeof *boxes);
    counts = aclshmem_calloc(2 * ROUNDS + 1, sizeof *counts);
    cleared = aclshmem_calloc(1, sizeof *cleared);
    CHECK(boxes != NULL && counts != NULL && cleared != NULL);
    fan_in(0);
    fan_in(n - 1);
    pe_finalize();
    return 0;
}
