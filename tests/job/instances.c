/* SPDX-License-Identifier: Apache-2.0 */
/* Several jobs in one process: by address and by id, over some of the processes, in every order. */
/* */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

#include "job.h"

static void quiet_log(bool quiet)
{
    aclshmemx_set_extern_logger(quiet ? t_log_callback : NULL);
}

/* --- Ports --- */

static bool is_free(uint16_t port)
{
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    t_check(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool got = bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0;
    close(fd);
    return got;
}

enum { RANGE = 10 };

/* SHMEM_INSTANCE_PORT_RANGE with ports nobody uses, below those the system hands out by itself. */
static int set_range(void)
{
    char text[32];
    int start = 10000 + (int)(getpid() * 37 % 20000) / RANGE * RANGE;
    for (int used = 1; used < RANGE;)
        if (is_free((uint16_t)(start + used)))
            used++;
        else
            start = start + RANGE < 32000 ? start + RANGE : 10000, used = 1;
    snprintf(text, sizeof text, "%d:%d", start, start + RANGE - 1);
    setenv("SHMEM_INSTANCE_PORT_RANGE", text, 1);
    return start;
}

/* --- Making and using --- */

static aclshmemx_init_attr_t instance_attr(const job_t *job, uint64_t id, int pe, int n_pes)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    attr.n_pes = n_pes;
    attr.instance_id = id;
    if (id != 0)
        strcpy(attr.ip_port, "tcp://127.0.0.1:0");
    return attr;
}

static void enter(const job_t *job, uint64_t id, int pe, int n_pes)
{
    aclshmemx_init_attr_t attr = instance_attr(job, id, pe, n_pes);
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
    t_check_that(rc == 0, "init of instance %d, PE %d, gave %d: %s", (int)id, pe, rc,
                 aclshmemx_last_error(NULL));
    t_check_uint(attr.instance_id, id);
    t_check_uint(aclshmemx_instance_ctx_get()->id, id);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    t_check_int(aclshmem_my_pe(), pe);
    t_check_int(aclshmem_n_pes(), n_pes);
}

static void leave(uint64_t id)
{
    int rc = aclshmemx_finalize(id);
    t_check_that(rc == 0, "finalize of instance %d gave %d: %s", (int)id, rc, aclshmemx_last_error(NULL));
    t_check_uint(aclshmemx_instance_ctx_get()->id, 0);
}

static void use(uint64_t id)
{
    t_check_int(aclshmemx_instance_ctx_set(id), 0);
    t_check_uint(aclshmemx_instance_ctx_get()->id, id);
}

/* Everybody writes to everybody in the current instance. */
static void work(int tag)
{
    int me = aclshmem_my_pe(), n = aclshmem_n_pes();
    int32_t *row = aclshmem_calloc((size_t)n, sizeof *row);
    t_check(row != NULL);
    for (int pe = 0; pe < n; pe++)
        aclshmem_int32_p(&row[me], tag * 1000 + me * 10 + pe, pe);
    aclshmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        t_check_int(row[pe], tag * 1000 + pe * 10 + me);
    aclshmem_free(row);
}

static void expect_none(void)
{
    t_check_uint(aclshmemx_instance_ctx_get()->id, 0);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    t_check_int(aclshmem_my_pe(), -1);
}

/* Alone under an id; the struct serves the same instance again, and another one with a new address only. */
static void one_with_an_id(job_t *job, int pe)
{
    int start = *(int *)job->arg;
    char expected[64];
    aclshmemx_init_attr_t attr = instance_attr(job, 1, pe, job->n_pes);
    snprintf(expected, sizeof expected, "tcp://127.0.0.1:%d", start + 1);
    for (int round = 0; round < 3; round++) {
        t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
        t_check_uint(attr.instance_id, 1);
        t_check_text(attr.ip_port, expected);
        t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
        work(round);
        attr.instance_id = 2;
        quiet_log(true);
        t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), ACLSHMEM_INVALID_VALUE);
        job_check_error(ACLSHMEM_INVALID_VALUE, "set ip_port again");
        quiet_log(false);
        attr.instance_id = 1;
        t_check_uint(aclshmemx_instance_ctx_get()->id, 1);
        leave(1);
        expect_none();
    }
    strcpy(attr.ip_port, "tcp://127.0.0.1:0");
    attr.instance_id = 2;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    leave(2);
}

/* Some of the processes make one; the job of all does not notice. */
static void subset(job_t *job, int pe)
{
    enter(job, 0, pe, job->n_pes);
    if (pe % 2 == 1) {
        enter(job, 1, pe / 2, job->n_pes / 2);
        void *block = aclshmem_malloc(4096);
        t_check(block != NULL);
        aclshmem_free(block);
        work(1);
        leave(1);
    }
    work(2);
    leave(0);
}

/* Two that share the last process, whose numbers differ. */
static void overlap(job_t *job, int pe)
{
    int last = job->n_pes - 1;
    if (pe == 0 || pe == last)
        enter(job, 2, pe == 0 ? 0 : 1, 2);
    if (pe == last - 1 || pe == last)
        enter(job, 4, last - pe, 2); /* the last process is PE 0 here and PE 1 there */
    if (pe == 0 || pe == last) {
        use(2);
        work(2);
    }
    if (pe == last - 1 || pe == last) {
        use(4);
        work(4);
    }
    if (pe == last)
        use(2);
    if (pe == last - 1 || pe == last)
        leave(4);
    if (pe == 0 || pe == last) {
        use(2);
        work(22);
        leave(2);
    }
    expect_none();
}

/* */
static void bad_choices(job_t *job, int pe)
{
    static const struct {
        uint64_t id;
        const char *range, *ip_port;
    } rows[] = {
        {1, NULL, "tcp://127.0.0.1:0"},
        {1, "", "tcp://127.0.0.1:0"},
        {1, "20000", "tcp://127.0.0.1:0"},
        {1, "a:b", "tcp://127.0.0.1:0"},
        {1, "30000:20000", "tcp://127.0.0.1:0"},
        {1, "20000:70000", "tcp://127.0.0.1:0"},
        {1, "-1:20000", "tcp://127.0.0.1:0"},
        {1, "20000:", "tcp://127.0.0.1:0"},
        {9, "20000:20008", "tcp://127.0.0.1:0"},
        {5, "100:200", "tcp://127.0.0.1:0"},
        {1, "20000:21023", "tcp://127.0.0.1"},
        {1, "20000:21023", "tcp://127.0.0.1:1234"},
        {1, "20000:21023", ""},
        {1025, "20000:21023", "tcp://127.0.0.1:0"},
        {255, "20000:21023", "tcp://127.0.0.1:0"},
        {(UINT64_C(1) << 32) + 1, "20000:21023", "tcp://127.0.0.1:0"},
    };
    quiet_log(true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        aclshmemx_init_attr_t attr = instance_attr(job, rows[i].id, pe, 1);
        strcpy(attr.ip_port, rows[i].ip_port);
        if (rows[i].range != NULL)
            setenv("SHMEM_INSTANCE_PORT_RANGE", rows[i].range, 1);
        else
            unsetenv("SHMEM_INSTANCE_PORT_RANGE");
        int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr);
        t_check_that(rc == ACLSHMEM_INVALID_VALUE, "row %zu: init gave %d", i, rc);
        t_check_text(attr.ip_port, rows[i].ip_port); /* as it was */
        expect_none();
    }
    quiet_log(false);
}

/* */
static void lowest_port(job_t *job, int pe)
{
    setenv("SHMEM_INSTANCE_PORT_RANGE", "1024:2047", 1);
    aclshmemx_init_attr_t attr = instance_attr(job, 1, pe, job->n_pes);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    t_check_text(attr.ip_port, "tcp://127.0.0.1:1025");
    leave(1);
}

/* What is refused leaves the current one as it is. */
static void refused(job_t *job, int pe)
{
    enter(job, 1, pe, job->n_pes);
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    aclshmem_instance_ctx *ctx = aclshmemx_instance_ctx_get();
    aclshmemx_init_attr_t again = instance_attr(job, 1, pe, job->n_pes);
    quiet_log(true);
    t_check_int(aclshmemx_finalize(999), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemx_finalize((UINT64_C(1) << 32) + 1), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemx_finalize(2), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemx_instance_ctx_set(7), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &again), ACLSHMEM_INNER_ERROR);
    quiet_log(false);
    t_check(aclshmemx_instance_ctx_get() == ctx && ctx->id == 1);
    aclshmem_int32_p(word, 5, (pe + 1) % job->n_pes);
    aclshmem_barrier_all();
    t_check_int(*word, 5);
    work(1);
    leave(1);
}

/* Each has memory of its own, also at the same offsets. */
static void separate(job_t *job, int pe)
{
    enum { COUNT = 3, WORDS = 4096 };
    static const uint64_t ids[COUNT] = {0, 2, 5};
    int64_t *block[COUNT];
    int peer = (pe + 1) % job->n_pes;
    for (int i = 0; i < COUNT; i++)
        enter(job, ids[i], pe, job->n_pes);
    for (int i = COUNT - 1; i >= 0; i--) {
        use(ids[i]);
        char *base = aclshmemx_get_heap_base(DEVICE_SIDE);
        block[i] = aclshmem_malloc(WORDS * sizeof(int64_t));
        t_check(block[i] != NULL && (char *)block[i] > base &&
                (char *)(block[i] + WORDS) <= base + job->heap_bytes + ACLSHMEM_EXTRA_SIZE);
    }
    for (int i = 0; i < COUNT; i++) {
        int64_t source[WORDS];
        use(ids[i]);
        for (int k = 0; k < WORDS; k++)
            source[k] = (i + 1) * 1000000 + pe * 10000 + k;
        aclshmem_int64_put(block[i], source, WORDS, peer);
        /* an address of another instance is none of this one */
        quiet_log(true);
        t_check(aclshmem_ptr(block[(i + 1) % COUNT], peer) == NULL);
        quiet_log(false);
    }
    for (int i = 0; i < COUNT; i++) {
        use(ids[i]);
        aclshmem_barrier_all();
        for (int k = 0; k < WORDS; k++)
            t_check_int(block[i][k], (i + 1) * 1000000 + (pe + job->n_pes - 1) % job->n_pes * 10000 + k);
    }
    for (int i = 0; i < COUNT; i++)
        leave(ids[i]);
}

/* Five, made and ended in different orders, most processes in several. */
static void many_orders(job_t *job, int pe)
{
    static const struct {
        uint64_t id;
        int members[4], n;
    } made[] = {{1, {0, 1, 2, 3}, 4}, {2, {3, 1}, 2}, {3, {2}, 1}, {0, {1, 2, 0}, 3}, {6, {3, 2, 1, 0}, 4}};
    static const int orders[][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
    for (size_t round = 0; round < sizeof orders / sizeof orders[0]; round++) {
        for (int step = 0; step < 15; step++) {
            int which = orders[(round + (size_t)step / 5) % 3][step % 5], index = -1;
            for (int i = 0; i < made[which].n; i++)
                index = made[which].members[i] == pe ? i : index;
            if (index < 0)
                continue;
            if (step < 5) {
                enter(job, made[which].id, index, made[which].n);
                work(step);
                continue;
            }
            use(made[which].id);
            void *block = aclshmem_malloc(256);
            t_check(block != NULL);
            aclshmem_barrier_all();
            aclshmem_free(block);
            if (step >= 10)
                leave(made[which].id);
        }
        expect_none();
    }
}

/* Every instance has teams of its own; another one's end does not touch them. */
static void own_teams(job_t *job, int pe)
{
    aclshmem_team_t first = ACLSHMEM_TEAM_INVALID, second = ACLSHMEM_TEAM_INVALID;
    enter(job, 0, pe, job->n_pes);
    t_check_int(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 1, 1, job->n_pes - 1, &first), 0);
    enter(job, 3, job->n_pes - 1 - pe, job->n_pes);
    t_check_int(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, 2, &second), 0);
    int here = job->n_pes - 1 - pe;
    t_check_int(aclshmem_team_my_pe(ACLSHMEM_TEAM_WORLD), here);
    if (here % 2 == 0 && here < 4) {
        t_check_int(aclshmem_team_n_pes(second), 2);
        t_check_int(aclshmem_team_my_pe(second), here / 2);
        t_check_int(aclshmem_team_translate_pe(second, 1, ACLSHMEM_TEAM_WORLD), 2);
        aclshmem_barrier(second);
    }
    use(0);
    if (pe > 0) {
        t_check_int(aclshmem_team_n_pes(first), job->n_pes - 1);
        t_check_int(aclshmem_team_my_pe(first), pe - 1);
    }
    leave(3);
    for (int round = 0; round < 3; round++)
        if (pe > 0) {
            t_check_int(aclshmem_team_translate_pe(first, 0, ACLSHMEM_TEAM_WORLD), 1);
            aclshmem_barrier(first);
        }
    t_check_int(aclshmem_team_n_pes(ACLSHMEM_TEAM_WORLD), job->n_pes);
    if (pe > 0)
        aclshmem_team_destroy(first);
    work(1);
    leave(0);
}

/* Id 0 is known without existing. */
static void without_0(job_t *job, int pe)
{
    enter(job, 5, pe, job->n_pes);
    t_check_int(aclshmemx_finalize(0), 0);
    t_check_uint(aclshmemx_instance_ctx_get()->id, 5);
    work(5);
    use(0);
    expect_none();
    t_check_int(aclshmem_finalize(), 0);
    t_check(aclshmem_malloc(64) == NULL);
    use(5);
    work(55);
    t_check_int(aclshmem_finalize(), 0);
    expect_none();
}

/* One that cannot be made leaves the others, the current one and its port alone. */
static void no_room(job_t *job, int pe)
{
    enter(job, 1, pe, job->n_pes);
    aclshmemx_init_attr_t attr = instance_attr(job, 2, pe, job->n_pes);
    quiet_log(true);
    for (int round = 0; round < 2; round++) {
        attr.local_mem_size =
            round == 0 ? UINT64_C(1) << 30 : job->heap_bytes + 4096; /* no memory; odd size */
        t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0);
        t_check_text(attr.ip_port, "tcp://127.0.0.1:0");
        t_check_uint(aclshmemx_instance_ctx_get()->id, 1);
        t_check_int(aclshmem_my_pe(), pe);
    }
    quiet_log(false);
    work(1);
    enter(job, 2, pe, job->n_pes);
    work(2);
    leave(1);
    use(2);
    work(3);
    leave(2);
}

/* Both are encrypted. */
static void both_encrypted(job_t *job, int pe)
{
    setenv("SHMEM_LOG_LEVEL", "INFO", 1);
    quiet_log(true);
    for (uint64_t id = 1; id <= 2; id++) {
        t_log_forget();
        enter(job, id, pe, job->n_pes);
        t_check(t_log_contains("tls 1.3"));
    }
    leave(2);
    leave(1);
    quiet_log(false);
}

/* By ids that one PE makes and the others read from shared memory. */
static void by_id(job_t *job, int pe)
{
    enum { ROUNDS = 6 };
    struct board {
        _Atomic int written, read;
        aclshmemx_uniqueid_t id;
    } *board = *(struct board **)job->arg;
    enter(job, 0, pe, job->n_pes);
    for (int round = 1; round <= ROUNDS; round++) {
        aclshmemx_init_attr_t attr = instance_attr(job, 0, pe, job->n_pes);
        aclshmemx_uniqueid_t id;
        use(0);
        if (pe == 0) {
            t_check_int(aclshmemx_get_uniqueid(&board->id), 0);
            atomic_store(&board->written, round);
        }
        aclshmem_barrier_all();
        t_check_int(atomic_load(&board->written), round);
        id = board->id;
        attr.ip_port[0] = '\0';
        t_check_int(aclshmemx_set_attr_uniqueid_args(pe, job->n_pes, 2 << 20, &id, &attr), 0);
        attr.instance_id = 7;
        int mode = round % 2 == 0 ? ACLSHMEMX_INIT_WITH_UNIQUEID : ACLSHMEMX_INIT_WITH_DEFAULT;
        t_check_int(aclshmemx_init_attr((aclshmemx_bootstrap_t)mode, &attr), 0);
        work(round);
        leave(7);
    }
    leave(0);
}

static void *switch_about(void *argument)
{
    _Atomic bool *stop = argument;
    while (!atomic_load(stop)) {
        t_check_int(aclshmemx_instance_ctx_set(1), 0);
        const aclshmem_instance_ctx *ctx = aclshmemx_instance_ctx_get();
        t_check(ctx != NULL && (ctx->id == 1 || ctx->id == 2));
        int pe = aclshmem_my_pe();
        t_check(pe == 0 || pe == 1);
    }
    return NULL;
}

/* */
static void two_threads(job_t *job, int pe)
{
    pthread_t thread;
    _Atomic bool stop = false;
    enter(job, 1, pe, 2);
    enter(job, 2, 1 - pe, 2);
    t_check_int(pthread_create(&thread, NULL, switch_about, &stop), 0);
    for (int i = 0; i < 20000; i++) {
        t_check_int(aclshmemx_instance_ctx_set(2), 0);
        const aclshmem_instance_ctx *ctx = aclshmemx_instance_ctx_get();
        t_check(ctx != NULL && (ctx->id == 1 || ctx->id == 2));
    }
    atomic_store(&stop, true);
    t_check_int(pthread_join(thread, NULL), 0);
    leave(2);
    leave(1);
}

/* As many as there are ids, and again. */
static void all_of_them(job_t *job, int pe)
{
    int32_t *word[ACLSHMEM_MAX_INSTANCES];
    (void)pe;
    for (int round = 0; round < 2; round++) {
        for (uint64_t id = 0; id < ACLSHMEM_MAX_INSTANCES; id++) {
            aclshmemx_init_attr_t attr = instance_attr(job, id, 0, 1);
            attr.ip_port[0] = '\0';
            int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr);
            t_check_that(rc == 0, "instance %d gave %d: %s", (int)id, rc, aclshmemx_last_error(NULL));
            word[id] = aclshmem_malloc(sizeof **word);
            t_check(word[id] != NULL);
            *word[id] = (int32_t)id;
        }
        for (uint64_t id = ACLSHMEM_MAX_INSTANCES; id-- > 0;) {
            use(id);
            t_check_int(aclshmem_int32_g(word[id], 0), (int32_t)id);
            if (id % 2 == 1)
                leave(id);
        }
        for (uint64_t id = 0; id < ACLSHMEM_MAX_INSTANCES; id += 2)
            leave(id);
    }
}

static void run(const char *name, int n_pes, job_body_t *body, void *arg)
{
    job_t job;
    uint64_t started = t_now_ms();
    job_init(&job, n_pes);
    job.arg = arg;
    job_run(&job, body);
    printf("%s: %llu ms\n", name, (unsigned long long)(t_now_ms() - started));
    fflush(stdout);
}

int main(void)
{
    int start = set_range();
    void *board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    t_check(board != MAP_FAILED);
    run("one with an id", 2, one_with_an_id, &start);
    run("subset", 4, subset, NULL);
    run("overlap", 3, overlap, NULL);
    run("bad choices", 1, bad_choices, NULL);
    if (is_free(1025))
        run("lowest port", 2, lowest_port, NULL);
    run("refused", 2, refused, NULL);
    run("separate", 3, separate, NULL);
    run("many orders", 4, many_orders, NULL);
    run("own teams", 4, own_teams, NULL);
    run("without 0", 2, without_0, NULL);
    setenv("SHMEM_CPU_HBM_SIZE", "200M", 1);
    run("no room", 2, no_room, NULL);
    unsetenv("SHMEM_CPU_HBM_SIZE");
    run("both encrypted", 2, both_encrypted, NULL);
    run("by id", 3, by_id, &board);
    run("two threads", 2, two_threads, NULL);
    run("all of them", 1, all_of_them, NULL);
    return 0;
}
