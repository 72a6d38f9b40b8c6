/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided put and get. Elements move one after the other in ascending order, so that ranges which overlap on the own PE
 * have a result that can be written down; strides 1 and 1 are a plain copy.
 */
#define LOG_MODULE "rma"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/transfer.h"

/* A strided move as the user gave it; strides and count in elements. */
typedef struct strided {
    const char *call;
    void *dest;
    const void *source;
    ptrdiff_t dst, sst;
    size_t count;
    size_t width; /* bytes of an element: 1, 2, 4, 8, 16 */
    int pe;
} strided_t;

/* Bytes from the first element to the end of the last one. */
static int measure(const strided_t *move, ptrdiff_t stride, size_t *span)
{
    size_t steps;
    if (__builtin_mul_overflow(move->count - 1, (size_t)stride, &steps) ||
        __builtin_mul_overflow(steps, move->width, span) || __builtin_add_overflow(*span, move->width, span))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "%s: %zu elements of %zu bytes at a stride of %td elements reach further than memory can",
                    move->call, move->count, move->width, stride);
    return 0;
}

static int check_strides(const strided_t *move, const void *local, bool written)
{
    size_t bytes;
    if (move->dst < 1 || move->sst < 1)
        return fail(
            ACLSHMEM_INVALID_PARAM,
            "%s: the strides are %td in the destination and %td in the source, both must be at least 1 "
            "element",
            move->call, move->dst, move->sst);
    return aclshmemi_check_local(move->call, local, move->count, move->width, written, &bytes);
}

/* Elements of any alignment; each is one load and one store. */
typedef uint8_t __attribute__((may_alias)) element8_t;
typedef uint16_t __attribute__((may_alias, aligned(1))) element16_t;
typedef uint32_t __attribute__((may_alias, aligned(1))) element32_t;
typedef uint64_t __attribute__((may_alias, aligned(1))) element64_t;
typedef uint8_t __attribute__((vector_size(16), may_alias, aligned(1))) element128_t;

/* Four elements per turn: compilers leave the loop as it stands, since strides are not known to them. */
#define DEFINE_MOVE(BITS)                                                                                    \
    static void move_##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t count)      \
    {                                                                                                        \
        element##BITS##_t *to = dest;                                                                        \
        const element##BITS##_t *from = source;                                                              \
        for (; count >= 4; count -= 4, to += 4 * dst, from += 4 * sst) {                                     \
            to[0] = from[0];                                                                                 \
            to[dst] = from[sst];                                                                             \
            to[2 * dst] = from[2 * sst];                                                                     \
            to[3 * dst] = from[3 * sst];                                                                     \
        }                                                                                                    \
        for (size_t i = 0; i < count; i++)                                                                   \
            to[(ptrdiff_t)i * dst] = from[(ptrdiff_t)i * sst];                                               \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_SIZE_FUNC(DEFINE_MOVE);

/* The move between two addresses of this process. */
static void move_here(const strided_t *move, void *dest, const void *source)
{
    if (move->dst == 1 && move->sst == 1)
        aclshmemi_copy(dest, source, move->count * move->width);
    else if (move->width == 1)
        move_8(dest, source, move->dst, move->sst, move->count);
    else if (move->width == 2)
        move_16(dest, source, move->dst, move->sst, move->count);
    else if (move->width == 4)
        move_32(dest, source, move->dst, move->sst, move->count);
    else if (move->width == 8)
        move_64(dest, source, move->dst, move->sst, move->count);
    else
        move_128(dest, source, move->dst, move->sst, move->count);
}

/* Where only a transport moves bytes, it moves elements, of which many are on the way at a time; contiguous ranges go as
 * one. */
static int put_by_transport(const strided_t *move, aclshmemi_target_t target)
{
    bool plain = move->dst == 1 && move->sst == 1;
    size_t count = plain ? 1 : move->count, bytes = plain ? move->count * move->width : move->width;
    const char *from = move->source;
    for (size_t i = 0; i < count; i++) {
        TRY(target.transport->ops.start_put(target.transport, target.remote, from, bytes));
        target.remote.offset += (size_t)move->dst * move->width;
        from += (size_t)move->sst * move->width;
    }
    return target.transport->ops.quiet(target.transport);
}

static int get_by_transport(const strided_t *move, aclshmemi_target_t target)
{
    bool plain = move->dst == 1 && move->sst == 1;
    size_t count = plain ? 1 : move->count, bytes = plain ? move->count * move->width : move->width;
    char *to = move->dest;
    for (size_t i = 0; i < count; i++) {
        TRY(target.transport->ops.start_get(target.transport, to, target.remote, bytes));
        target.remote.offset += (size_t)move->sst * move->width;
        to += (size_t)move->dst * move->width;
    }
    return target.transport->ops.quiet(target.transport);
}

static int iput(const strided_t *move)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0 || move->count == 0)
        return aclshmemi_check_pe(in, move->call, move->pe);
    size_t remote_bytes = 0, local_bytes = 0;
    TRY(check_strides(move, move->source, false));
    TRY(measure(move, move->dst, &remote_bytes));
    TRY(measure(move, move->sst, &local_bytes));
    char *address = aclshmemi_reach(in, move->dest, remote_bytes, move->pe);
    if (address == NULL) {
        aclshmemi_target_t target;
        TRY(aclshmemi_reach_slowly(in, move->call, move->dest, remote_bytes, move->pe, &target));
        if (target.address == NULL)
            return put_by_transport(move, target);
        address = target.address;
    }
    move_here(move, address, move->source);
    aclshmemi_notify(in, move->pe);
    return 0;
}

static int iget(const strided_t *move)
{
    const aclshmemi_instance_t *in = aclshmemi_current();
    if (in->n_pes == 0 || move->count == 0)
        return aclshmemi_check_pe(in, move->call, move->pe);
    size_t remote_bytes = 0, local_bytes = 0;
    TRY(check_strides(move, move->dest, true));
    TRY(measure(move, move->sst, &remote_bytes));
    TRY(measure(move, move->dst, &local_bytes));
    const char *address = aclshmemi_reach(in, move->source, remote_bytes, move->pe);
    if (address == NULL) {
        aclshmemi_target_t target;
        TRY(aclshmemi_reach_slowly(in, move->call, move->source, remote_bytes, move->pe, &target));
        if (target.address == NULL)
            return get_by_transport(move, target);
        address = target.address;
    }
    move_here(move, move->dest, address);
    return 0;
}

#define MOVE(CALL, WIDTH) (&(strided_t){CALL, dest, source, dst, sst, nelems, WIDTH, pe})

#define DEFINE_TYPED(NAME, TYPE)                                                                             \
    void aclshmem_##NAME##_iput(TYPE *dest, TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,       \
                                int pe)                                                                      \
    {                                                                                                        \
        (void)!iput(MOVE(#NAME "_iput", sizeof(TYPE)));                                                      \
    }                                                                                                        \
    void aclshmem_##NAME##_iget(TYPE *dest, TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,       \
                                int pe)                                                                      \
    {                                                                                                        \
        (void)!iget(MOVE(#NAME "_iget", sizeof(TYPE)));                                                      \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

#define DEFINE_SIZED(BITS)                                                                                   \
    void aclshmem_iput##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)  \
    {                                                                                                        \
        (void)!iput(MOVE("iput" #BITS, (BITS) / 8));                                                         \
    }                                                                                                        \
    void aclshmem_iget##BITS(void *dest, void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)  \
    {                                                                                                        \
        (void)!iget(MOVE("iget" #BITS, (BITS) / 8));                                                         \
    }                                                                                                        \
    struct aclshmemi_needs_a_semicolon

ACLSHMEM_TYPE_FUNC(DEFINE_TYPED);
ACLSHMEM_SIZE_FUNC(DEFINE_SIZED);
