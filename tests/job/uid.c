/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unique ids as programs use them: made on one PE, carried to the others by their own means, given to init; and what the calls
 * around them refuse.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"

enum { ROUNDS = 5, PATIENCE_MS = 60000 };

/* What the PEs share besides SHMEM. */
typedef struct board {
    _Atomic int written, done[2];
    aclshmemx_uniqueid_t id;
} board_t;

static board_t *board;

static void await(_Atomic int *word, int value)
{
    for (uint64_t end = t_now_ms() + PATIENCE_MS; atomic_load(word) < value; usleep(1000))
        t_check(t_now_ms() < end);
}

/* The id of this round, at an odd address in memory of its own. */
static char *fetch_id(int pe, int round)
{
    if (pe == 0) {
        t_check_int(aclshmemx_get_uniqueid(&board->id), 0);
        atomic_store(&board->written, round);
    }
    await(&board->written, round);
    char *copy = malloc(1 + sizeof board->id);
    t_check(copy != NULL);
    memcpy(copy + 1, &board->id, sizeof board->id);
    return copy;
}

static void *odd(char *copy)
{
    return copy + 1;
}

/* A round is over when nobody looks at its id any more. */
static void end_round(int pe, int round)
{
    atomic_store(&board->done[pe], round);
    await(&board->done[1 - pe], round);
}

static void work(int pe)
{
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    t_check(word != NULL);
    aclshmem_int32_p(word, pe + 41, 1 - pe);
    aclshmem_barrier_all();
    t_check_int(*word, 1 - pe + 41);
    aclshmem_free(word);
}

/* [U-02] [U-03] [U-35] [U-36] [B-11] [T-28] With the helper, by id and by DEFAULT without an address; the id is gone after
 * init, and TLS cannot be changed while the instance lives. */
static void with_the_helper(job_t *job, int pe)
{
    for (int round = 1; round <= ROUNDS; round++) {
        aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
        char *copy = fetch_id(pe, round);
        t_check_int(aclshmemx_set_attr_uniqueid_args(pe, job->n_pes, 2 << 20, odd(copy), &attr), 0);
        aclshmemx_bootstrap_t mode =
            round % 2 != 0 ? ACLSHMEMX_INIT_WITH_UNIQUEID : ACLSHMEMX_INIT_WITH_DEFAULT;
        t_check_int(aclshmemx_init_attr(mode, &attr), 0);
        memset(copy, 0x5a, 1 + sizeof board->id);
        free(copy);
        memset(&attr, 0x5a, sizeof attr);
        t_check_int(aclshmem_my_pe(), pe);
        work(pe);
        aclshmemx_set_extern_logger(t_log_callback);
        t_check_int(aclshmemx_set_conf_store_tls(false, NULL, 0), ACLSHMEM_INNER_ERROR);
        t_check_int(aclshmemx_set_config_store_tls_key("key", 3, NULL, 0, NULL), ACLSHMEM_INNER_ERROR);
        aclshmemx_set_extern_logger(NULL);
        work(pe);
        job_leave();
        end_round(pe, round);
    }
}

/* [I-18] With several modes the id comes first: the address leads nowhere. [B-12] With DEFAULT alone the address comes first:
 * the id is none. */
static void which_comes_first(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    char *copy = fetch_id(pe, 1);
    memcpy(attr.ip_port, "tcp://203.0.113.77:4000", 24);
    attr.comm_args = odd(copy);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT | ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
    work(pe);
    job_leave();
    attr = job_attr(job, pe);
    memset(copy, 0, 1 + sizeof board->id);
    attr.comm_args = odd(copy);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    work(pe);
    job_leave();
    free(copy);
}

/* [U-04] Ids and addresses take turns on one port. */
static void one_port(job_t *job, int pe)
{
    setenv("SHMEM_UID_SESSION_ID", job->ip_port + strlen("tcp://"), 1);
    for (int round = 1; round <= 3; round++) {
        aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
        char *copy = fetch_id(pe, round);
        t_check_int(aclshmemx_set_attr_uniqueid_args(pe, job->n_pes, 2 << 20, odd(copy), &attr), 0);
        t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
        work(pe);
        job_leave();
        job_enter(job, pe);
        work(pe);
        job_leave();
        free(copy);
        end_round(pe, round);
    }
}

/* [U-34] The time-out of the attributes counts with ids as well; the other PE never comes. */
static void nobody_comes(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    (void)job;
    aclshmemx_set_extern_logger(t_log_callback);
    t_check_int(aclshmemx_get_uniqueid(&board->id), 0);
    t_check_int(aclshmemx_set_attr_uniqueid_args(pe, 2, 2 << 20, &board->id, &attr), 0);
    attr.option_attr.control_operation_timeout = 2;
    uint64_t begin = t_now_ms();
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), ACLSHMEM_SMEM_ERROR);
    uint64_t took = t_now_ms() - begin;
    t_check_that(took >= 1900 && took < 60000, "init gave up after %llu ms", (unsigned long long)took);
    job_check_error(ACLSHMEM_SMEM_ERROR, "missing: PE 1");
}

/* ---- what is refused ---- */

static void expect_init(const void *id, int code)
{
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.n_pes = 1;
    attr.local_mem_size = 2 << 20;
    attr.comm_args = (void *)(uintptr_t)id;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), code);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

/* [U-08] [U-09] [U-10] The helper refuses and writes nothing. */
static void helper_refuses(aclshmemx_uniqueid_t *id)
{
    static const struct {
        int pe, n_pes;
        int64_t bytes;
    } bad[] = {{0, 1, (INT64_C(40) << 30) + 1},
               {0, 1, INT64_MAX},
               {0, 1, -1},
               {0, 1, INT64_MIN},
               {0, 16385, 2 << 20},
               {16384, 16384, 2},
               {INT32_MAX, INT32_MAX, 2}};
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER, before = attr;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        t_check_int(aclshmemx_set_attr_uniqueid_args(bad[i].pe, bad[i].n_pes, bad[i].bytes, id, &attr),
                    ACLSHMEM_INVALID_VALUE);
        t_check_memory(&attr, &before, sizeof attr);
    }
    t_check_int(aclshmemx_set_attr_uniqueid_args(0, 1, 2 << 20, NULL, &attr), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemx_set_attr_uniqueid_args(0, 1, 2 << 20, id, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemx_get_uniqueid(NULL), ACLSHMEM_INVALID_PARAM);
    static const int numbers[][2] = {{-1, 1}, {0, -1}, {0, 0}}; /* these are left to init */
    for (int i = 0; i < 3; i++) {
        int rc = aclshmemx_set_attr_uniqueid_args(numbers[i][0], numbers[i][1], 2 << 20, id, &attr);
        if (rc == 0)
            rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr);
        t_check_int(rc, ACLSHMEM_INVALID_VALUE);
    }
}

/* [U-11] Four fields change, and no other. */
static void helper_changes_four_fields(aclshmemx_uniqueid_t *id)
{
    aclshmemx_init_attr_t attr, expected;
    memset(&attr, 0x3c, sizeof attr);
    memcpy(&expected, &attr, sizeof attr);
    expected.my_pe = 3;
    expected.n_pes = 5;
    expected.local_mem_size = 4 << 20;
    expected.comm_args = id;
    t_check_int(aclshmemx_set_attr_uniqueid_args(3, 5, 4 << 20, id, &attr), 0);
    t_check_memory(&attr, &expected, sizeof attr);
}

/* [U-01] [U-06] [U-07] [U-20] Ids that are none. */
static void refusals(job_t *job, int pe)
{
    aclshmemx_uniqueid_t id = {0}, other;
    char text[301];
    (void)job;
    (void)pe;
    aclshmemx_set_extern_logger(t_log_callback);
    t_check_int(aclshmemx_get_uniqueid(&id), 0);
    t_check_int(id.version, ACLSHMEM_UNIQUEID_VERSION);
    static const char nothing[sizeof id.internal];
    t_check(memcmp(id.internal, nothing, sizeof nothing) != 0);
    helper_refuses(&id);
    helper_changes_four_fields(&id);
    expect_init(NULL, ACLSHMEM_INVALID_PARAM);
    other = id;
    other.version++;
    expect_init(&other, ACLSHMEM_INVALID_PARAM);
    other = id;
    memset(other.internal, 0x77, sizeof other.internal);
    expect_init(&other, ACLSHMEM_INVALID_PARAM);
    memset(&other, 0, sizeof other);
    expect_init(&other, ACLSHMEM_INVALID_PARAM);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    setenv("SHMEM_UID_SESSION_ID", text, 1);
    other = id;
    t_check(aclshmemx_get_uniqueid(&other) != 0);
    t_check_memory(&other, &id, sizeof id);
}

/* ---- what may not be told ---- */

static char *told; /* all lines of the log */

static void keep_lines(int level, const char *message)
{
    (void)level;
    size_t length = told == NULL ? 0 : strlen(told), more = strlen(message);
    char *longer = realloc(told, length + more + 2);
    t_check(longer != NULL);
    memcpy(longer + length, message, more);
    memcpy(longer + length + more, "\n", 2);
    told = longer;
}

static void must_not_be_told(const unsigned char *bytes, size_t count)
{
    char text[64];
    for (int order = 0; order < 2;
         order++) { /* hexadecimal digits of eight bytes in a row, both ways round */
        for (size_t i = 0; i < count; i++)
            snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", bytes[order == 0 ? i : count - 1 - i]);
        t_check_that(strstr(told, text) == NULL, "the log has %s", text);
    }
}

/* [L-19] Neither the magic number nor the secret of an id is in the log, at any level. One PE alone: its calls log in turn. */
static void secrets_stay(job_t *job, int pe)
{
    enum { MAGIC_AT = 48, SECRET_AT = 64, SECRET_BYTES = 32 };
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    aclshmemx_uniqueid_t id;
    unsigned char raw[sizeof id];
    uint64_t magic;
    char decimal[32];
    (void)job;
    setenv("SHMEM_LOG_LEVEL", "DEBUG", 1);
    aclshmemx_set_extern_logger(keep_lines);
    t_check_int(aclshmemx_get_uniqueid(&id), 0);
    t_check_int(aclshmemx_set_attr_uniqueid_args(pe, 1, 2 << 20, &id, &attr), 0);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr), 0);
    job_leave();
    aclshmemx_set_extern_logger(NULL);
    t_check(told != NULL && strlen(told) > 100);
    memcpy(raw, &id, sizeof raw);
    must_not_be_told(raw + MAGIC_AT, sizeof magic);
    memcpy(&magic, raw + MAGIC_AT, sizeof magic);
    snprintf(decimal, sizeof decimal, "%llu", (unsigned long long)magic);
    t_check(strstr(told, decimal) == NULL);
    for (size_t i = 0; i < SECRET_BYTES; i += 8)
        must_not_be_told(raw + SECRET_AT + i, 8);
    free(told);
}

static void run(int n_pes, job_body_t *body)
{
    job_t job;
    memset(board, 0, sizeof *board);
    job_init(&job, n_pes);
    job_run(&job, body);
}

int main(void)
{
    t_clean_environment();
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    t_check(board != MAP_FAILED);
    run(2, with_the_helper);
    run(2, which_comes_first);
    run(2, one_port);
    run(1, nobody_comes);
    run(1, refusals);
    run(1, secrets_stay);
    return 0;
}
