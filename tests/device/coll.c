/* SPDX-License-Identifier: Apache-2.0 */
/* [G-24] Collectives of kernels: every function of every type, by one core and by all, on the world and on a team. */
#include "coll.h"

#include "device.h"

enum { MAX_COUNT = 700, MAX_PES = 8, CORES = 3 };

static char *source, *dest;

/* --- Small whole numbers, which all types hold exactly --- */

static uint16_t to_half(double value)
{
    unsigned number = (unsigned)value;
    int log = number == 0 ? 0 : 31 - __builtin_clz(number);
    return number == 0 ? 0 : (uint16_t)((log + 15) << 10 | (int)(number << 10 >> log & 0x3ff));
}

static uint16_t to_bfloat16(double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

#define AS_half(value)     to_half(value)
#define AS_bfloat16(value) to_bfloat16(value)
#define AS_float(value)    (float)(value)
#define AS_double(value)   (value)
#define AS_int8(value)     (int8_t)(value)
#define AS_int16(value)    (int16_t)(value)
#define AS_int32(value)    (int32_t)(value)
#define AS_int64(value)    (int64_t)(value)
#define AS_uint8(value)    (uint8_t)(value)
#define AS_uint16(value)   (uint16_t)(value)
#define AS_uint32(value)   (uint32_t)(value)
#define AS_uint64(value)   (uint64_t)(value)
#define AS_char(value)     (char)(value)

/* What element k of PE i starts as; products stay small. */
static double start(int kind, int i, size_t k)
{
    return kind == COLL_PROD ? 1 + ((size_t)i + k) % 4 / 3 : (double)(((size_t)i * 7 + k * 3) % 13 + 1);
}

static double combine(int kind, double a, double b)
{
    switch (kind) {
    case COLL_SUM:
        return a + b;
    case COLL_PROD:
        return a * b;
    case COLL_MIN:
        return a < b ? a : b;
    case COLL_MAX:
        return a > b ? a : b;
    case COLL_AND:
        return (double)((int)a & (int)b);
    case COLL_OR:
        return (double)((int)a | (int)b);
    default:
        return (double)((int)a ^ (int)b);
    }
}

static int pe_of(int team, int index)
{
    return aclshmem_team_translate_pe(team, index, ACLSHMEM_TEAM_WORLD);
}

/* What element k of dest has to be on this PE. */
static double expected(const coll_args_t *a, size_t k)
{
    int me = aclshmem_team_my_pe(a->team), n = aclshmem_team_n_pes(a->team);
    if (a->kind == COLL_BROADCAST)
        return start(a->kind, pe_of(a->team, a->root), k);
    if (a->kind == COLL_FCOLLECT)
        return start(a->kind, pe_of(a->team, (int)(k / a->count)), k % a->count);
    if (a->kind == COLL_ALLTOALL)
        return start(a->kind, pe_of(a->team, (int)(k / a->count)), (size_t)me * a->count + k % a->count);
    double result = start(a->kind, pe_of(a->team, 0), k);
    for (int i = 1; i < n; i++)
        result = combine(a->kind, result, start(a->kind, pe_of(a->team, i), k));
    return result;
}

static size_t elements_of(const coll_args_t *a)
{
    bool blocks = a->kind == COLL_FCOLLECT || a->kind == COLL_ALLTOALL;
    return a->count * (blocks ? (size_t)aclshmem_team_n_pes(a->team) : 1);
}

#define DEFINE_RUN(NAME, TYPE)                                                                               \
    static void run_##NAME(const char *kernel, coll_args_t a, uint32_t blocks)                               \
    {                                                                                                        \
        TYPE *from = (TYPE *)(void *)source, *to = (TYPE *)a.dest;                                           \
        memset(dest, 0x77, 64);                                                                              \
        for (size_t k = 0; k < MAX_COUNT * MAX_PES; k++)                                                     \
            from[k] = AS_##NAME(start(a.kind, aclshmem_my_pe(), k));                                         \
        aclshmem_barrier_all();                                                                              \
        if (a.team != ACLSHMEM_TEAM_INVALID) {                                                               \
            device_run(kernel, blocks, &a, sizeof a);                                                        \
            for (size_t k = 0; k < elements_of(&a); k++)                                                     \
                if (to[k] != AS_##NAME(expected(&a, k))) {                                                   \
                    fprintf(stderr, "PE %d: kernel %s, kind %d, core %d, element %zu of %zu is wrong\n",     \
                            aclshmem_my_pe(), kernel, a.kind, a.core, k, a.count);                           \
                    exit(1);                                                                                 \
                }                                                                                            \
        }                                                                                                    \
        aclshmem_barrier_all();                                                                              \
    }                                                                                                        \
    struct needs_a_semicolon
ACLSHMEM_COLL_TYPE_FUNC(DEFINE_RUN);

typedef void run_t(const char *kernel, coll_args_t args, uint32_t blocks);

static void type(const char *name, run_t *run, int team)
{
    static const size_t counts[] = {1, 37, MAX_COUNT, 6, 130};
    char kernel[32];
    snprintf(kernel, sizeof kernel, "coll_%s", name);
    for (int kind = COLL_BROADCAST; kind <= COLL_MAX; kind++)
        for (int core = -1; core < 1; core++) {
            coll_args_t a = {dest, source, counts[(size_t)(kind + core + 1) % 5], team, 0, kind, core};
            if (team != ACLSHMEM_TEAM_INVALID)
                a.root = aclshmem_team_n_pes(team) - 1;
            run(kernel, a, CORES);
        }
}

static void bits(const char *name, run_t *run)
{
    char kernel[32];
    snprintf(kernel, sizeof kernel, "bits_%s", name);
    for (int kind = COLL_AND; kind <= COLL_XOR; kind++)
        for (int core = -1; core < 1; core++)
            run(kernel, (coll_args_t){dest, source, 65, ACLSHMEM_TEAM_WORLD, 0, kind, core}, 2);
}

/* All sizes, in place, launches of different sizes, any core. */
static void shapes(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 15, 16, 17, 159, 160, 161, 321, MAX_COUNT};
    uint32_t blocks = 1 + (uint32_t)aclshmem_my_pe() % 4;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (int core = -1; core < 1; core++) {
            coll_args_t a = {source, source, counts[i], ACLSHMEM_TEAM_WORLD, 0, COLL_SUM, core};
            run_int32("coll_int32", a, blocks);
            a.kind = COLL_BROADCAST;
            a.root = (int)i % aclshmem_n_pes();
            run_int32("coll_int32", a, blocks);
            a.dest = dest;
            a.root = 0;
            a.kind = COLL_ALLTOALL;
            if (core == 0)
                a.core = (int)blocks - 1;
            run_int32("coll_int32", a, blocks);
        }
}

static void in_bytes(void)
{
    enum { COUNT = 100 };
    int n = aclshmem_n_pes(), me = aclshmem_my_pe();
    coll_args_t a = {dest, source, COUNT, ACLSHMEM_TEAM_WORLD, n / 2, 0, 0};
    for (int k = 0; k < COUNT * n; k++)
        source[k] = (char)(me * 31 + k);
    aclshmem_barrier_all();
    device_run("coll_mem", CORES, &a, sizeof a);
    for (int form = 0; form < 2; form++) {
        const char *got = dest + (size_t)form * 3 * COUNT * (size_t)n;
        for (int k = 0; k < COUNT; k++)
            CHECK(got[k] == (char)(n / 2 * 31 + k));
        for (int k = 0; k < COUNT * n; k++) {
            CHECK(got[COUNT * n + k] == (char)(k / COUNT * 31 + k % COUNT));
            CHECK(got[2 * COUNT * n + k] == (char)(k / COUNT * 31 + me * COUNT + k % COUNT));
        }
    }
    aclshmem_barrier_all();
}

static void two_teams(void)
{
    struct {
        char *words;
        aclshmem_team_t one, other;
    } args = {source, ACLSHMEM_TEAM_WORLD, ACLSHMEM_TEAM_INVALID};
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, aclshmem_n_pes(), &args.other), 0);
    device_run("coll_two_teams", 2, &args, sizeof args);
    aclshmem_team_destroy(args.other);
}

static void mistakes(void)
{
    coll_args_t none = {dest, source, 4, ACLSHMEM_TEAM_INVALID, 0, COLL_SUM, -1};
    device_run("coll_int32", 2, &none, sizeof none);
    coll_args_t a = {dest, source, 4, ACLSHMEM_TEAM_WORLD, aclshmem_n_pes(), COLL_BROADCAST, 0};
    device_fails("coll_int32", &a, sizeof a, "broadcast: root");
    a.root = 0;
    a.team = 77;
    device_fails("coll_int32", &a, sizeof a, "broadcast: 77 is no team");
    a.team = ACLSHMEM_TEAM_WORLD;
    a.count = SIZE_MAX / 4;
    a.kind = COLL_FCOLLECT;
    device_fails("coll_int32", &a, sizeof a, "not in the symmetric heap");
    a.count = 4;
    a.kind = COLL_SUM;
    a.source = &a;
    device_fails("coll_int32", &a, sizeof a, "not in the symmetric heap");
    a.source = source + 1;
    device_fails("coll_int32", &a, sizeof a, "is not aligned to 4 bytes");
    a.source = source;
    aclshmem_barrier_all();
    if (aclshmem_n_pes() != 2)
        return;
    a.kind = aclshmem_my_pe() == 0 ? COLL_SUM : COLL_MAX;
    device_fails("coll_int32", &a, sizeof a, "is in another call, or gave other arguments");
    a.kind = COLL_SUM;
    device_fails("coll_int32", &a, sizeof a, "another core is inside a collective of that team, or failed");
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    source = aclshmem_calloc(MAX_COUNT * MAX_PES, sizeof(int64_t));
    dest = aclshmem_calloc(MAX_COUNT * MAX_PES, sizeof(int64_t));
    CHECK(source != NULL && dest != NULL);
    aclshmem_team_t odd = ACLSHMEM_TEAM_INVALID;
    int n = aclshmem_n_pes();
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, n > 2, n > 2 ? 2 : 1, n > 2 ? n / 2 : n, &odd),
              0);
    if (n <= 3) { /* what is about types and not about PEs */
#define TYPE_ON_WORLD(NAME, TYPE) type(#NAME, run_##NAME, ACLSHMEM_TEAM_WORLD)
        ACLSHMEM_COLL_TYPE_FUNC(TYPE_ON_WORLD);
#define BITS_OF(NAME, TYPE) bits(#NAME, run_##NAME)
        ACLSHMEM_COLL_BITWISE_FUNC(BITS_OF);
    }
    type("half", run_half, ACLSHMEM_TEAM_WORLD);
    bits("uint16", run_uint16);
    type("int16", run_int16, odd);
    type("double", run_double, odd);
    shapes();
    in_bytes();
    two_teams();
    mistakes();
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
