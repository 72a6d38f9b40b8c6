/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams against a brute-force model that keeps a list of PEs: every strided split of the world, every split of each of
 * those, every 2D split; translation both ways; handles that agree; barriers of disjoint teams; 2048 teams; mistakes.
 * [R-13] [R-20]
 */
/* Scenarios: [G-01] [G-02] [G-03] [G-04] [G-05] [G-06] [G-07] [G-08] [G-09] [G-10] [G-11] [G-12] [G-13] [G-14]
 * [G-15] [G-16] [G-17] [G-18] [G-19] [G-20] [G-21] [G-22] [Y-02] [Y-03] [Y-04] */
#include <string.h>

#include "pe.h"

enum { PES_MAX = 64 };

static int me, n;
static int32_t *handles; /* symmetric, by PE */

/* The model: a team is a list of PEs. */
typedef struct model {
    int pe[PES_MAX];
    int size;
} model_t;

static model_t model_split(const model_t *parent, int start, int stride, int size)
{
    model_t m = {.size = size};
    for (int i = 0; i < size; i++)
        m.pe[i] = parent->pe[start + i * stride];
    return m;
}

static int model_index(const model_t *m, int pe)
{
    for (int i = 0; i < m->size; i++)
        if (m->pe[i] == pe)
            return i;
    return -1;
}

/* The team is what the model says, seen from this PE; its members hold the same handle and meet in its barrier. */
static void check_team(aclshmem_team_t team, const model_t *m)
{
    int index = model_index(m, me);
    CHECK_INT(team != ACLSHMEM_TEAM_INVALID, index >= 0);
    CHECK_INT(aclshmem_team_my_pe(team), index);
    CHECK_INT(aclshmem_team_n_pes(team), index >= 0 ? m->size : -1);
    if (index < 0)
        return;
    for (int i = 0; i < m->size; i++) {
        CHECK_INT(aclshmem_team_translate_pe(team, i, ACLSHMEM_TEAM_WORLD), m->pe[i]);
        aclshmem_int32_p(&handles[me], team, m->pe[i]);
    }
    for (int pe = 0; pe < n; pe++)
        CHECK_INT(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, pe, team), model_index(m, pe));
    CHECK_INT(aclshmem_team_translate_pe(team, m->size, ACLSHMEM_TEAM_WORLD), -1);
    CHECK_INT(aclshmem_team_translate_pe(team, -1, ACLSHMEM_TEAM_WORLD), -1);
    aclshmem_barrier(team);
    for (int i = 0; i < m->size; i++)
        CHECK_INT(handles[m->pe[i]], team);
    aclshmem_sync(team);
}

static void destroy(aclshmem_team_t team)
{
    if (team == ACLSHMEM_TEAM_INVALID)
        return;
    aclshmem_team_destroy(team);
    CHECK_INT(aclshmem_team_n_pes(team), -1);
}

/* Calls body for every legal strided split of a set of count members. */
#define FOR_ALL_SPLITS(count, start, stride, size)                                                           \
    for (int start = 0; start < (count); start++)                                                            \
        for (int stride = 1; stride <= (count); stride++)                                                    \
            for (int size = 1; start + (size - 1) * stride < (count) && (size == 1 ? stride == 1 : 1); size++)

static void all_splits_of(aclshmem_team_t parent, const model_t *m, int depth)
{
    FOR_ALL_SPLITS(m->size, start, stride, size)
    {
        aclshmem_team_t team = 12345;
        CHECK_INT(aclshmem_team_split_strided(parent, start, stride, size, &team), 0);
        model_t made = model_split(m, start, stride, size);
        check_team(team, &made);
        if (depth > 0 && team != ACLSHMEM_TEAM_INVALID)
            all_splits_of(team, &made, depth - 1);
        destroy(team);
    }
}

static void all_2d_splits_of(aclshmem_team_t parent, const model_t *m)
{
    for (int width = 1; width <= m->size + 3; width++) {
        aclshmem_team_t x, y;
        CHECK_INT(aclshmem_team_split_2d(parent, width, &x, &y), 0);
        int cut = width < m->size ? width : m->size, index = model_index(m, me);
        model_t row = {.size = 0}, column = {.size = 0};
        for (int i = 0; i < m->size; i++) {
            if (i / cut == index / cut)
                row.pe[row.size++] = m->pe[i];
            if (i % cut == index % cut)
                column.pe[column.size++] = m->pe[i];
        }
        check_team(x, &row);
        check_team(y, &column);
        CHECK(x != y);
        CHECK(aclshmem_team_translate_pe(x, aclshmem_team_my_pe(x), y) == aclshmem_team_my_pe(y));
        destroy(y);
        destroy(x);
    }
}

/* Odd and even PEs go on independently: the odd ones meet many times while the even ones do nothing. */
static void disjoint_teams(void)
{
    aclshmem_team_t odd, even;
    if (n < 2)
        return;
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 2, n / 2, &odd), 0);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, &even), 0);
    CHECK_INT(aclshmem_team_translate_pe(odd, 0, even), -1);
    if (me % 2 == 1)
        for (int i = 0; i < 1000; i++)
            aclshmem_barrier(odd);
    aclshmem_barrier_all();
    for (int i = 0; i < 200; i++) {
        aclshmem_barrier(me % 2 == 1 ? odd : even);
        aclshmem_barrier_all();
    }
    /* PEs that made different numbers of teams still agree on the next handle. */
    aclshmem_team_t more[3] = {ACLSHMEM_TEAM_INVALID, ACLSHMEM_TEAM_INVALID, ACLSHMEM_TEAM_INVALID}, all;
    if (me % 2 == 1)
        for (int i = 0; i < 3; i++)
            CHECK_INT(aclshmem_team_split_strided(odd, 0, 1, n / 2, &more[i]), 0);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &all), 0);
    model_t m = {.size = n};
    for (int pe = 0; pe < n; pe++)
        m.pe[pe] = pe;
    check_team(all, &m);
    destroy(all);
    for (int i = 0; i < 3; i++)
        destroy(more[i]);
    destroy(odd);
    destroy(even);
}

static void the_limit(void)
{
    static aclshmem_team_t team[ACLSHMEM_MAX_TEAMS];
    int count = 0, rc = 0;
    aclshmemx_set_extern_logger(pe_swallow);
    while (count < ACLSHMEM_MAX_TEAMS &&
           (rc = aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &team[count])) == 0)
        count++;
    aclshmemx_set_extern_logger(NULL);
    CHECK_INT(count, ACLSHMEM_MAX_TEAMS - 1);
    CHECK_INT(rc, ACLSHMEM_INNER_ERROR);
    aclshmem_team_destroy(team[77]); /* in any order */
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n, &team[77]), 0);
    aclshmem_barrier(team[77]);
    for (int i = 0; i < count; i++)
        aclshmem_team_destroy(team[i]);
}

static void mistakes(void)
{
    aclshmem_team_t t = 5, u = 5;
    aclshmem_team_config_t config = {.num_contexts = 1};
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, 1, NULL), ACLSHMEM_INVALID_PARAM);
    static const int bad[][3] = {{-1, 1, 1}, {16383, 2, 2}, {0, -1, 1},    {0, 0, 1},         {0, 1, 0},
                                 {0, 1, -5}, {0, 16384, 1}, {0, 1, 16385}, {0, 2147483647, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        t = 5;
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, bad[i][0], bad[i][1], bad[i][2], &t),
                  ACLSHMEM_INVALID_PARAM);
        CHECK_INT(t, ACLSHMEM_TEAM_INVALID);
    }
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, n, 1, 1, &t), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, n + 1, &t), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 1, n, &t), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_strided(-1, 0, 1, 1, &t), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_strided(777, 0, 1, 1, &t), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, NULL, &u), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &u, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 0, &t, &u), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_split_2d(-1, 1, &t, &u), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_team_destroy(5000), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_team_destroy(-1), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_team_destroy(ACLSHMEM_TEAM_WORLD), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_barrier(777), ACLSHMEM_INVALID_PARAM);
    CHECK_ERROR(aclshmem_sync(5000), ACLSHMEM_INVALID_PARAM);
    aclshmem_barrier(ACLSHMEM_TEAM_INVALID);
    aclshmem_sync(ACLSHMEM_TEAM_INVALID);
    CHECK_INT(aclshmem_team_get_config(ACLSHMEM_TEAM_WORLD, NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_get_config(777, &config), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(aclshmem_team_get_config(ACLSHMEM_TEAM_WORLD, &config), 0);
    CHECK_INT(config.num_contexts, 0);
    CHECK(aclshmem_team_my_pe(-1) == -1 && aclshmem_team_n_pes(777) == -1);
    if (n > 1) { /* PEs that ask for different teams are all told */
        CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, me == 0 ? 1 : 2, &t),
                  ACLSHMEM_INVALID_PARAM);
        CHECK(strstr(aclshmemx_last_error(NULL), "PE 0 asks for (0, 1, 1)") != NULL);
    }
    aclshmemx_set_extern_logger(NULL);
    aclshmem_barrier_all();
}

/* [G-25] What lies on the stack does not get into a team: every place of its tables is asked for. */
static __attribute__((noinline)) void poison_stack(void)
{
    volatile unsigned char garbage[256 << 10];
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = 0xa5;
}

static void on_poisoned_stack(void)
{
    aclshmem_team_t team = 0x5a5a5a5a;
    aclshmem_team_config_t config;
    int members = (n + 1) / 2;
    poison_stack();
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, members, &team), 0);
    if (me % 2 != 0) {
        CHECK_INT(team, ACLSHMEM_TEAM_INVALID);
        return;
    }
    for (int i = -2; i < n + 8; i++) {
        CHECK_INT(aclshmem_team_translate_pe(team, i, ACLSHMEM_TEAM_WORLD),
                  i >= 0 && i < members ? 2 * i : -1);
        CHECK_INT(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, i, team),
                  i >= 0 && i < n && i % 2 == 0 ? i / 2 : -1);
    }
    memset(&config, 0xa5, sizeof config);
    CHECK_INT(aclshmem_team_get_config(team, &config), 0);
    static const aclshmem_team_config_t zero;
    CHECK(memcmp(&config, &zero, sizeof config) == 0);
    aclshmem_team_destroy(team);
}

int main(void)
{
    aclshmem_team_t t;
    aclshmemx_set_extern_logger(pe_swallow);
    CHECK_INT(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, 1, &t), ACLSHMEM_INVALID_PARAM);
    CHECK(aclshmem_team_n_pes(ACLSHMEM_TEAM_WORLD) == -1);
    aclshmemx_set_extern_logger(NULL);
    pe_init(UINT64_C(2) << 20);
    me = aclshmem_my_pe();
    n = aclshmem_n_pes();
    handles = aclshmem_calloc((size_t)n, sizeof *handles);
    CHECK(handles != NULL && n <= PES_MAX);
    model_t world = {.size = n};
    for (int pe = 0; pe < n; pe++)
        world.pe[pe] = pe;
    check_team(ACLSHMEM_TEAM_WORLD, &world);
    all_splits_of(ACLSHMEM_TEAM_WORLD, &world, n <= 5 ? 2 : n <= 8 ? 1 : 0);
    all_2d_splits_of(ACLSHMEM_TEAM_WORLD, &world);
    disjoint_teams();
    on_poisoned_stack();
    aclshmem_barrier_all();
    the_limit();
    mistakes();
    pe_finalize();
    CHECK(aclshmem_team_n_pes(ACLSHMEM_TEAM_WORLD) == -1);
    return 0;
}
