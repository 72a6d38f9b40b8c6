/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Litmus programs of the memory model: small races whose outcome the model restricts, run many times.
 *
 *     litmus [rounds [name]]    2000 rounds without argument; with one, a table of what was seen
 *
 * A program has two to four roles. Role r is played by PE r % n, so with few PEs several roles are threads of one process:
 * there the thread sanitizer sees the order that the library makes. In each round roles act on a slot of symmetric words,
 * after a random delay; a round writes its number, so nothing has to be reset. Results meet on PE 0, which knows the
 * forbidden ones.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "pe.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

enum {
    ROLES = 4,
    SLOTS = 16, /* rounds between two barriers */
    DATA_MAX = 64 << 10,
    PATIENCE = 10000 /* tests without luck before a wait with a deadline takes over */
};

/* Each word has a line of its own. */
typedef struct slot {
    _Alignas(64) int32_t x;
    _Alignas(64) int32_t y;
    _Alignas(64) int32_t flag[ROLES]; /* of the role that waits */
    _Alignas(64) int32_t word[ROLES]; /* data that a plain p or g moves */
} slot_t;

typedef struct role {
    int number;
    uint64_t random;
    int32_t round;
    slot_t *slot;
    unsigned char *data; /* symmetric, DATA_MAX bytes, of this slot */
    uint64_t *scratch;   /* DATA_MAX bytes, local */
    pthread_t thread;
} role_t;

typedef struct litmus {
    const char *name;
    int roles;
    int32_t (*act[ROLES])(role_t *role);
    bool (*forbidden)(const int32_t *r);
    bool (*rare)(const int32_t *r); /* allowed, and a sign that roles really met */
} litmus_t;

static int me, n;
static int32_t rounds = 2000;
static slot_t *slots;
static unsigned char *blocks;
static int32_t *results; /* on PE 0: [slot][role] */
static pthread_barrier_t threads_meet;
static int threads_here;
static const litmus_t *now;

static int pe_of(int role)
{
    return role % n;
}

/* --- Delay --- */

static uint64_t draw(role_t *role)
{
    role->random ^= role->random << 13;
    role->random ^= role->random >> 7;
    role->random ^= role->random << 17;
    return role->random;
}

static void dawdle(role_t *role)
{
    uint64_t r = draw(role);
    if (r % 61 == 0)
        sched_yield();
    for (volatile uint64_t i = 0; i < (r >> 8) % 40; i++)
        ;
}

/* --- Data in blocks --- */

static size_t block_bytes(const role_t *role)
{
    uint64_t hash = (uint64_t)role->round * UINT64_C(0x9e3779b97f4a7c15);
    size_t limit = (size_t)1 << (hash >> 32) % 17; /* 1 B to 64 KiB, every size in the end */
    return 1 + (size_t)(hash >> 40) % limit;
}

static void fill(role_t *role, size_t bytes)
{
    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        role->scratch[i] = ((uint64_t)role->round << 32) + i;
}

/* 0: as the writer of this round has left it. */
static int32_t check(role_t *role, size_t bytes)
{
    fill(role, bytes);
    return memcmp(role->data, role->scratch, bytes) != 0;
}

/* --- Telling and waiting, in every way there is --- */

/* The thread sanitizer does not understand fences, which is what gives p its place behind the data. */
static void tell(role_t *role, int to)
{
    int32_t *flag = &role->slot->flag[to];
#ifdef UNDER_TSAN
    unsigned int way = 1 + (unsigned)role->round % 3;
#else
    unsigned int way = (unsigned)role->round % 4;
#endif
    if (way == 0)
        aclshmem_int32_p(flag, role->round, pe_of(to));
    else if (way == 1)
        aclshmem_int32_atomic_set(flag, role->round, pe_of(to));
    else if (way == 2)
        aclshmemx_signal_op(flag, role->round, ACLSHMEM_SIGNAL_SET, pe_of(to));
    else
        (void)aclshmem_int32_atomic_swap(flag, role->round, pe_of(to));
}

static void await(role_t *role)
{
    int32_t *flag = &role->slot->flag[role->number], wanted = role->round;
    size_t found = 0;
    int holds = 0;
    switch (draw(role) % 5) {
    case 0:
        aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, wanted);
        break;
    case 1:
        aclshmem_int32_wait_until_any(flag, 1, NULL, ACLSHMEM_CMP_GE, wanted, &found);
        break;
    case 2:
        aclshmem_int32_wait_until_all_vector(flag, 1, NULL, ACLSHMEM_CMP_EQ, &wanted);
        break;
    case 3:
        for (int i = 0; i < PATIENCE && !holds; i++) {
            aclshmem_int32_test(flag, ACLSHMEM_CMP_EQ, wanted, &holds);
            if (i % 64 == 63)
                sched_yield();
        }
        if (holds)
            break;
        /* fallthrough */
    default:
        aclshmem_int32_wait_until(flag, ACLSHMEM_CMP_EQ, wanted);
    }
}

/* --- Message passing --- */

static int32_t put_then_quiet(role_t *role)
{
    size_t bytes = block_bytes(role) % 512 + 1;
    fill(role, bytes);
    if (role->round % 2 == 0)
        aclshmem_putmem(role->data, role->scratch, bytes, pe_of(1));
    else
        aclshmem_putmem_nbi(role->data, role->scratch, bytes, pe_of(1));
    aclshmem_quiet();
    tell(role, 1);
    return 0;
}

static int32_t put_then_fence(role_t *role)
{
    size_t bytes = block_bytes(role) % 512 + 1;
    fill(role, bytes);
    if (role->round % 2 == 0)
        aclshmem_putmem(role->data, role->scratch, bytes, pe_of(1));
    else
        aclshmem_iput8(role->data, role->scratch, 1, 1, bytes, pe_of(1));
    aclshmem_fence();
    tell(role, 1);
    return 0;
}

static int32_t read_small(role_t *role)
{
    await(role);
    return check(role, block_bytes(role) % 512 + 1);
}

static int32_t put_with_signal(role_t *role)
{
    size_t bytes = block_bytes(role);
    int32_t *flag = &role->slot->flag[1];
    fill(role, bytes);
    if (role->round % 3 == 0)
        aclshmemx_putmem_signal_nbi(role->data, role->scratch, bytes, flag, role->round, ACLSHMEM_SIGNAL_SET,
                                    pe_of(1));
    else
        aclshmemx_putmem_signal(role->data, role->scratch, bytes, flag, role->round, ACLSHMEM_SIGNAL_SET,
                                pe_of(1));
    return 0;
}

static int32_t read_large(role_t *role)
{
    await(role);
    return check(role, block_bytes(role));
}

static bool reader_saw_old(const int32_t *r)
{
    return r[1] != 0;
}

/* The reader does not wait: it looks once, and if it sees the flag it must see the word. */
static int32_t word_then_flag(role_t *role)
{
    aclshmem_int32_p(&role->slot->word[0], role->round, pe_of(1));
    aclshmem_fence();
    aclshmem_int32_atomic_set(&role->slot->x, role->round, 0);
    return 0;
}

static int32_t flag_then_word(role_t *role)
{
    int32_t flag = aclshmem_int32_atomic_fetch(&role->slot->x, 0);
    int32_t word = aclshmem_int32_g(&role->slot->word[0], pe_of(1));
    return (flag == role->round) << 1 | (word == role->round);
}

static bool flag_without_word(const int32_t *r)
{
    return r[1] == 2;
}

static bool word_without_flag(const int32_t *r)
{
    return r[1] == 1;
}

/* Told by the second, the third sees what the first has done: visibility is transitive. */
static int32_t start_chain(role_t *role)
{
    aclshmem_int32_p(&role->slot->word[0], role->round, pe_of(2));
    aclshmem_quiet();
    tell(role, 1);
    return 0;
}

static int32_t pass_on(role_t *role)
{
    await(role);
    tell(role, 2);
    return 0;
}

static int32_t end_chain(role_t *role)
{
    await(role);
    return aclshmem_int32_g(&role->slot->word[0], pe_of(2)) != role->round;
}

static bool end_saw_old(const int32_t *r)
{
    return r[2] != 0;
}

/* --- Two words, two writers --- */

static int32_t *word_of(role_t *role, int which)
{
    return which == 0 ? &role->slot->x : &role->slot->y;
}

static int32_t is_set(role_t *role, int which)
{
    return aclshmem_int32_atomic_fetch(word_of(role, which), pe_of(which)) == role->round;
}

static int32_t set_quiet_look(role_t *role)
{
    aclshmem_int32_atomic_set(word_of(role, role->number), role->round, pe_of(role->number));
    aclshmem_quiet();
    return is_set(role, 1 - role->number);
}

static int32_t swap_swap(role_t *role)
{
    int other = 1 - role->number;
    (void)aclshmem_int32_atomic_swap(word_of(role, role->number), role->round, pe_of(role->number));
    return aclshmem_int32_atomic_fetch_add(word_of(role, other), 0, pe_of(other)) == role->round;
}

static bool nobody_saw(const int32_t *r)
{
    return r[0] == 0 && r[1] == 0;
}

static bool both_saw(const int32_t *r)
{
    return r[0] != 0 && r[1] != 0;
}

/* Load buffering: each looks at the other's word first, then sets its own. */
static int32_t look_set(role_t *role)
{
    int32_t seen = is_set(role, 1 - role->number);
    aclshmem_int32_atomic_set(word_of(role, role->number), role->round, pe_of(role->number));
    return seen;
}

/* Independent readers of independent writers agree on the order of the two. */
static int32_t set_own(role_t *role)
{
    aclshmem_int32_atomic_set(word_of(role, role->number), role->round, pe_of(role->number));
    return 0;
}

static int32_t look_twice(role_t *role)
{
    int first = role->number - 2;
    int32_t seen = is_set(role, first) << 1;
    return seen | is_set(role, 1 - first);
}

static bool readers_disagree(const int32_t *r)
{
    return r[2] == 2 && r[3] == 2;
}

static bool reader_between(const int32_t *r)
{
    return r[2] == 2 || r[3] == 2;
}

/* Everybody takes a number from one counter: all different. Written down as a set of bits. */
static int32_t take_number(role_t *role)
{
    int32_t before = aclshmem_int32_atomic_fetch_add(&role->slot->x, 1, 0);
    return before % ROLES;
}

static bool same_number(const int32_t *r)
{
    return (1 << r[0] | 1 << r[1] | 1 << r[2] | 1 << r[3]) != 15;
}

static bool out_of_order(const int32_t *r)
{
    return r[0] > r[1] || r[1] > r[2] || r[2] > r[3];
}

/* A word that only grows is never seen to shrink. */
static int32_t grow(role_t *role)
{
    aclshmem_int32_p(&role->slot->word[1], 2 * role->round, pe_of(1));
    aclshmem_int32_p(&role->slot->word[1], 2 * role->round + 1, pe_of(1));
    return 0;
}

static int32_t look_back(role_t *role)
{
    int32_t first = aclshmem_int32_g(&role->slot->word[1], pe_of(1));
    int32_t second = aclshmem_int32_g(&role->slot->word[1], pe_of(1));
    return second < first ? 1 : second > first ? 2 : 0;
}

static bool shrank(const int32_t *r)
{
    return r[1] == 1;
}

static bool grew(const int32_t *r)
{
    return r[1] == 2;
}

static const litmus_t programs[] = {
    {"put, quiet, flag", 2, {put_then_quiet, read_small}, reader_saw_old, NULL},
    {"put, fence, flag", 2, {put_then_fence, read_small}, reader_saw_old, NULL},
    {"put with signal", 2, {put_with_signal, read_large}, reader_saw_old, NULL},
    {"message passing", 2, {word_then_flag, flag_then_word}, flag_without_word, word_without_flag},
    {"transitive", 3, {start_chain, pass_on, end_chain}, end_saw_old, NULL},
    {"store buffering, quiet", 2, {set_quiet_look, set_quiet_look}, nobody_saw, both_saw},
    {"store buffering, fetching", 2, {swap_swap, swap_swap}, nobody_saw, both_saw},
    {"load buffering", 2, {look_set, look_set}, both_saw, nobody_saw},
    {"independent readers", 4, {set_own, set_own, look_twice, look_twice}, readers_disagree, reader_between},
    {"tickets", 4, {take_number, take_number, take_number, take_number}, same_number, out_of_order},
    {"one word", 2, {grow, look_back}, shrank, grew},
};

/* --- Rounds --- */

/* All roles of all PEs. */
static void meet(void)
{
    if (threads_here == 1) {
        aclshmem_barrier_all();
        return;
    }
    if (pthread_barrier_wait(&threads_meet) == PTHREAD_BARRIER_SERIAL_THREAD)
        aclshmem_barrier_all();
    (void)pthread_barrier_wait(&threads_meet);
}

static void judge(int32_t last_round, int count, int64_t *rare)
{
    for (int i = 0; i < count; i++) {
        const int32_t *r = &results[i * ROLES];
        if (now->forbidden(r)) {
            fprintf(stderr, "litmus \"%s\", round %d: forbidden outcome %d %d %d %d\n", now->name,
                    last_round - count + 1 + i, r[0], r[1], r[2], r[3]);
            exit(1);
        }
        *rare += now->rare != NULL && now->rare(r);
    }
}

static void *play(void *argument)
{
    role_t *role = argument;
    int64_t rare = 0;
    bool acts = role->number < now->roles && pe_of(role->number) == me;
    for (int32_t done = 0; done < rounds;) {
        int count = rounds - done < SLOTS ? rounds - done : SLOTS;
        for (int i = 0; i < count && acts; i++) {
            role->round = done + i + 1;
            role->slot = &slots[i];
            role->data = blocks + (size_t)i * DATA_MAX;
            dawdle(role);
            aclshmem_int32_p(&results[i * ROLES + role->number], now->act[role->number](role), 0);
        }
        done += count;
        meet();
        if (me == 0 && role->number == 0)
            judge(done, count, &rare);
        meet();
    }
    if (me == 0 && role->number == 0 && rounds != 2000)
        printf("%-26s %9d rounds, %d PEs: 0 forbidden, %lld of the rare kind\n", now->name, rounds, n,
               (long long)rare);
    return NULL;
}

static void run(const litmus_t *program)
{
    role_t roles[ROLES] = {{0}};
    threads_here = (ROLES + n - 1) / n;
    now = program;
    memset(slots, 0, SLOTS * sizeof *slots);
    CHECK_INT(pthread_barrier_init(&threads_meet, NULL, (unsigned)threads_here), 0);
    aclshmem_barrier_all();
    for (int t = 0; t < threads_here; t++) {
        role_t *role = &roles[t];
        role->number = t * n + me;
        role->random = UINT64_C(0x2545f4914f6cdd1d) * (uint64_t)(role->number + 1);
        role->scratch = malloc(DATA_MAX + 8);
        CHECK(role->scratch != NULL);
        if (t > 0)
            CHECK_INT(pthread_create(&role->thread, NULL, play, role), 0);
    }
    (void)play(&roles[0]);
    for (int t = 0; t < threads_here; t++) {
        if (t > 0)
            CHECK_INT(pthread_join(roles[t].thread, NULL), 0);
        free(roles[t].scratch);
    }
    CHECK_INT(pthread_barrier_destroy(&threads_meet), 0);
    aclshmem_barrier_all();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    CHECK(rounds > 0 && rounds < INT32_MAX / 4);
    pe_init(UINT64_C(4) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    slots = aclshmem_align(64, SLOTS * sizeof *slots);
    blocks = aclshmem_calloc(SLOTS, DATA_MAX);
    results = aclshmem_calloc((size_t)SLOTS * ROLES, sizeof *results);
    CHECK(slots != NULL && blocks != NULL && results != NULL);
    bool found = false;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc < 3 || strcmp(argv[2], programs[i].name) == 0) {
            run(&programs[i]);
            found = true;
        }
    CHECK(found); /* a name that nobody knows is no success */
    pe_finalize();
    return 0;
}
