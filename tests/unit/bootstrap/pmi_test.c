/* SPDX-License-Identifier: Apache-2.0 */
/* The PMI-1 client against servers that behave, misbehave, or say nothing. */
#define LOG_MODULE "test"
#include "host/bootstrap/pmi/pmi.h"
#undef fail /* cmocka has one of its own */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/pmi/line.h"
#include "host/utils/net.h"
#include "support/unit.h"

#define SOON_MS 5000

static aclshmemi_deadline_t soon(void)
{
    return aclshmemi_deadline_after_ms(SOON_MS);
}

/* --- lines --- */

static bool parse(const char *text, aclshmemi_pmi_line_t *line)
{
    static char copy[512];
    size_t size = strlen(text);
    memcpy(copy, text, size);
    copy[size] = 'x'; /* a missing bound would run on */
    return aclshmemi_pmi_line_parse(copy, size, line);
}

static void test_lines(void **state)
{
    (void)state;
    aclshmemi_pmi_line_t line;
    assert_true(parse("cmd=get_result rc=0 msg=success value=a=b", &line));
    assert_string_equal(aclshmemi_pmi_line_get(&line, "cmd"), "get_result");
    assert_string_equal(aclshmemi_pmi_line_get(&line, "value"), "a=b");
    assert_null(aclshmemi_pmi_line_get(&line, "val"));
    assert_true(parse("cmd=x  a=  lost words here\tb=2 ", &line));
    assert_string_equal(aclshmemi_pmi_line_get(&line, "a"), "");
    assert_string_equal(aclshmemi_pmi_line_get(&line, "b"), "2");
    assert_true(parse("cmd= =y", &line));
    assert_string_equal(aclshmemi_pmi_line_get(&line, "cmd"), "");
    assert_false(parse("", &line));
    assert_false(parse("cmd", &line));
    assert_false(parse("hello world", &line));
    assert_false(parse(" cmd=x", &line));
    assert_false(parse("cmd=x\x01", &line));
    assert_false(parse("cmd=x v=caf\xc3\xa9", &line));
    assert_false(parse("cmd=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 p=1 q=1", &line));
}

static void test_hex(void **state)
{
    (void)state;
    unsigned char bytes[3] = {0x00, 0xaf, 0x10}, back[3] = {1, 2, 3};
    char text[7];
    aclshmemi_pmi_hex_print(bytes, 3, text);
    assert_string_equal(text, "00af10");
    assert_true(aclshmemi_pmi_hex_parse("00AF10", back, 3));
    assert_memory_equal(bytes, back, 3);
    assert_false(aclshmemi_pmi_hex_parse("00af1", back, 3));
    assert_false(aclshmemi_pmi_hex_parse("00af100", back, 3));
    assert_false(aclshmemi_pmi_hex_parse("00ag10", back, 3));
    assert_false(aclshmemi_pmi_hex_parse("", back, 3));
}

/* --- a server that behaves --- */

enum { CLIENTS_MAX = 4, ENTRIES_MAX = 256 };

typedef struct server {
    int n_clients;
    int key_max, value_max;
    int fd[CLIENTS_MAX];     /* the server's ends */
    int client[CLIENTS_MAX]; /* the other ends */
    pthread_t thread[CLIENTS_MAX];
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t moved;
    int waiting, generation, n_entries, longest_value, finalized, abort_code;
    char entry[ENTRIES_MAX][2][1100];
} server_t;

typedef struct seat {
    server_t *server;
    int index;
} seat_t;

static void barrier(server_t *server)
{
    pthread_mutex_lock(&server->lock);
    int generation = server->generation;
    if (++server->waiting == server->n_clients) {
        server->waiting = 0;
        server->generation++;
        pthread_cond_broadcast(&server->moved);
    }
    while (generation == server->generation)
        pthread_cond_wait(&server->moved, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

static void store(server_t *server, const aclshmemi_pmi_line_t *line)
{
    const char *value = aclshmemi_pmi_line_get(line, "value");
    pthread_mutex_lock(&server->lock);
    assert_true(server->n_entries < ENTRIES_MAX);
    assert_true((int)strlen(aclshmemi_pmi_line_get(line, "key")) < server->key_max);
    assert_true((int)strlen(value) < server->value_max);
    if ((int)strlen(value) > server->longest_value)
        server->longest_value = (int)strlen(value);
    strcpy(server->entry[server->n_entries][0], aclshmemi_pmi_line_get(line, "key"));
    strcpy(server->entry[server->n_entries++][1], value);
    pthread_mutex_unlock(&server->lock);
}

static void look_up(server_t *server, const char *key, char *answer, size_t size)
{
    snprintf(answer, size, "cmd=get_result rc=-1 msg=key_%s_not_found value=unknown\n", key);
    pthread_mutex_lock(&server->lock);
    for (int i = 0; i < server->n_entries; i++) {
        if (strcmp(server->entry[i][0], key) == 0)
            snprintf(answer, size, "cmd=get_result rc=0 msg=success value=%s\n", server->entry[i][1]);
    }
    pthread_mutex_unlock(&server->lock);
}

/* False: the client is gone for good. */
static bool answer(server_t *server, FILE *stream, char *text, size_t size)
{
    aclshmemi_pmi_line_t line;
    char out[1300] = "";
    assert_true(text[size - 1] == '\n');
    assert_true(aclshmemi_pmi_line_parse(text, size - 1, &line));
    const char *cmd = aclshmemi_pmi_line_get(&line, "cmd");
    if (strcmp(cmd, "init") == 0)
        strcpy(out, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    else if (strcmp(cmd, "get_maxes") == 0)
        snprintf(out, sizeof out, "cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d\n", server->key_max,
                 server->value_max);
    else if (strcmp(cmd, "get_my_kvsname") == 0)
        strcpy(out, "cmd=my_kvsname kvsname=kvs_1_0_77_here\n");
    else if (strcmp(cmd, "barrier_in") == 0)
        strcpy(out, "cmd=barrier_out\n");
    else if (strcmp(cmd, "put") == 0)
        strcpy(out, "cmd=put_result rc=0 msg=success\n");
    else if (strcmp(cmd, "get") == 0)
        look_up(server, aclshmemi_pmi_line_get(&line, "key"), out, sizeof out);
    else if (strcmp(cmd, "finalize") == 0)
        strcpy(out, "cmd=finalize_ack\n");
    else
        assert_string_equal(cmd, "abort");
    if (strcmp(cmd, "barrier_in") == 0)
        barrier(server);
    if (strcmp(cmd, "put") == 0)
        store(server, &line);
    pthread_mutex_lock(&server->lock);
    server->finalized += strcmp(cmd, "finalize") == 0;
    if (strcmp(cmd, "abort") == 0)
        server->abort_code = atoi(aclshmemi_pmi_line_get(&line, "exitcode"));
    pthread_mutex_unlock(&server->lock);
    fputs(out, stream);
    fflush(stream);
    return strcmp(cmd, "finalize") != 0 && strcmp(cmd, "abort") != 0;
}

static void *serve(void *argument)
{
    seat_t *seat = argument;
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    FILE *stream = fdopen(seat->server->fd[seat->index], "r+");
    assert_non_null(stream);
    while ((size = getline(&text, &room, stream)) > 0 && answer(seat->server, stream, text, (size_t)size))
        ;
    fclose(stream);
    free(text);
    free(seat);
    return NULL;
}

static void start_server(server_t *server, int n_clients, int key_max, int value_max)
{
    memset(server, 0, sizeof *server);
    server->n_clients = n_clients;
    server->key_max = key_max;
    server->value_max = value_max;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->moved, NULL);
    for (int i = 0; i < n_clients; i++) {
        int pair[2];
        seat_t *seat = malloc(sizeof *seat);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        server->fd[i] = pair[0];
        server->client[i] = pair[1];
        *seat = (seat_t){server, i};
        assert_int_equal(pthread_create(&server->thread[i], NULL, serve, seat), 0);
    }
}

static void end_server(server_t *server)
{
    for (int i = 0; i < server->n_clients; i++) {
        close(server->client[i]);
        pthread_join(server->thread[i], NULL);
    }
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->moved);
}

static void open_fd(aclshmemi_pmi_t *pmi, int fd)
{
    char number[12];
    snprintf(number, sizeof number, "%d", fd);
    assert_int_equal(aclshmemi_pmi_open(pmi, number, NULL, NULL, soon()), 0);
    assert_int_not_equal(pmi->fd, fd);
    assert_true(fcntl(pmi->fd, F_GETFD) & FD_CLOEXEC);
}

static int finalized(server_t *server)
{
    pthread_mutex_lock(&server->lock);
    int count = server->finalized;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void exchange_sizes(int key_max, int value_max, size_t size)
{
    static server_t server;
    aclshmemi_pmi_t pmi;
    unsigned char sent[256], got[256] = {0};
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (unsigned char)(i * 37 + 11);
    start_server(&server, 1, key_max, value_max);
    open_fd(&pmi, server.client[0]);
    assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), 0);
    assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), 0); /* again is fine */
    assert_int_equal(aclshmemi_pmi_put(&pmi, "key", sent, size, soon()), 0);
    assert_int_equal(aclshmemi_pmi_barrier(&pmi, soon()), 0);
    assert_int_equal(aclshmemi_pmi_get(&pmi, "key", got, size, soon()), 0);
    assert_memory_equal(sent, got, size);
    assert_int_equal(got[size], 0);
    assert_int_equal(aclshmemi_pmi_finalize(&pmi, soon()), 0);
    assert_int_equal(finalized(&server), 1);
    aclshmemi_pmi_close(&pmi);
    aclshmemi_pmi_close(&pmi);
    end_server(&server);
}

static void test_values_of_every_length(void **state)
{
    (void)state;
    exchange_sizes(64, 1024, 136);
    exchange_sizes(64, 273, 136); /* just fits */
    exchange_sizes(64, 272, 136); /* just does not */
    exchange_sizes(64, 64, 136);
    exchange_sizes(64, 3, 136); /* one byte per key */
    exchange_sizes(8, 33, 1);
    exchange_sizes(64, 1000000, 255);
}

static void *one_pe(void *argument)
{
    aclshmemi_pmi_t pmi;
    seat_t *seat = argument;
    char text[16], got[16];
    snprintf(text, sizeof text, "hello %d", 0);
    open_fd(&pmi, seat->server->client[seat->index]);
    for (int round = 0; round < 5; round++) {
        char key[16];
        snprintf(key, sizeof key, "r%d", round);
        assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), 0);
        if (seat->index == 0)
            assert_int_equal(aclshmemi_pmi_put(&pmi, key, text, sizeof text, soon()), 0);
        assert_int_equal(aclshmemi_pmi_barrier(&pmi, soon()), 0);
        assert_int_equal(aclshmemi_pmi_get(&pmi, key, got, sizeof got, soon()), 0);
        assert_string_equal(got, text);
    }
    assert_int_equal(aclshmemi_pmi_finalize(&pmi, soon()), 0);
    aclshmemi_pmi_close(&pmi);
    return NULL;
}

static void test_four_clients(void **state)
{
    (void)state;
    static server_t server;
    pthread_t thread[CLIENTS_MAX];
    seat_t seat[CLIENTS_MAX];
    start_server(&server, CLIENTS_MAX, 64, 1024);
    for (int i = 0; i < CLIENTS_MAX; i++) {
        seat[i] = (seat_t){&server, i};
        assert_int_equal(pthread_create(&thread[i], NULL, one_pe, &seat[i]), 0);
    }
    for (int i = 0; i < CLIENTS_MAX; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(finalized(&server), CLIENTS_MAX);
    end_server(&server);
}

/* The second client stays away: the barrier is given up, asked for again, and ends when the second comes. */
static void test_a_barrier_that_was_given_up(void **state)
{
    (void)state;
    static server_t server;
    aclshmemi_pmi_t early, late;
    char byte = 0;
    start_server(&server, 2, 64, 1024);
    open_fd(&early, server.client[0]);
    open_fd(&late, server.client[1]);
    assert_int_equal(aclshmemi_pmi_start(&early, soon()), 0);
    assert_int_equal(aclshmemi_pmi_start(&late, soon()), 0);
    assert_int_equal(aclshmemi_pmi_barrier(&early, aclshmemi_deadline_after_ms(50)), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "did not come");
    assert_true(early.barrier_pending && !early.broken);
    assert_false(aclshmemi_pmi_barrier_settle(&early));
    assert_int_equal(aclshmemi_pmi_get(&early, "k", &byte, 1, soon()),
                     ACLSHMEM_INNER_ERROR); /* would mix up answers */
    assert_false(early.broken);
    assert_int_equal(aclshmemi_pmi_barrier(&late, soon()), 0);
    assert_int_equal(aclshmemi_pmi_barrier(&early, soon()), 0);
    assert_false(early.barrier_pending);

    /* And once more, ended in between. */
    assert_int_equal(aclshmemi_pmi_barrier(&early, aclshmemi_deadline_after_ms(50)), ACLSHMEM_INNER_ERROR);
    assert_int_equal(aclshmemi_pmi_barrier(&late, soon()), 0);
    aclshmemi_deadline_t limit = soon();
    while (!aclshmemi_pmi_barrier_settle(&early))
        assert_false(aclshmemi_deadline_passed(limit));
    assert_false(aclshmemi_pmi_barrier_settle(&early));
    assert_int_equal(aclshmemi_pmi_finalize(&early, soon()), 0);
    assert_int_equal(aclshmemi_pmi_finalize(&late, soon()), 0);
    aclshmemi_pmi_close(&early);
    aclshmemi_pmi_close(&late);
    end_server(&server);
}

static void test_abort_carries_the_status(void **state)
{
    (void)state;
    static server_t server;
    aclshmemi_pmi_t pmi;
    start_server(&server, 1, 64, 1024);
    open_fd(&pmi, server.client[0]);
    aclshmemi_pmi_abort_job(pmi.fd, 77, soon());
    aclshmemi_pmi_abort_job(-1, 78, soon());
    aclshmemi_pmi_close(&pmi);
    end_server(&server);
    assert_int_equal(server.abort_code, 77);
}

static void test_a_key_nobody_put(void **state)
{
    (void)state;
    static server_t server;
    aclshmemi_pmi_t pmi;
    char byte = 5;
    start_server(&server, 1, 64, 1024);
    open_fd(&pmi, server.client[0]);
    assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), 0);
    assert_int_equal(aclshmemi_pmi_get(&pmi, "absent", &byte, 1, soon()), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "absent-0");
    assert_int_equal(byte, 5);
    assert_int_equal(aclshmemi_pmi_put(&pmi, "short", "ab", 2, soon()), 0);
    assert_int_equal(aclshmemi_pmi_get(&pmi, "short", &byte, 1, soon()),
                     ACLSHMEM_INNER_ERROR); /* another length */
    assert_int_equal(byte, 5);
    aclshmemi_pmi_close(&pmi);
    end_server(&server);
}

/* --- servers that do not behave: canned answers, one per request, then silence or the end --- */

typedef struct canned {
    const char *answers[5];
    bool hang_up; /* after the last answer; else silence */
    const char *reason;
    bool put; /* the trouble comes at a put */
} canned_t;

typedef struct canned_server {
    const canned_t *script;
    int fd;
} canned_server_t;

static void *recite(void *argument)
{
    canned_server_t *server = argument;
    char request[2048];
    for (int i = 0; i < 5 && server->script->answers[i] != NULL; i++) {
        if (recv(server->fd, request, sizeof request, 0) <= 0)
            break;
        const char *text = server->script->answers[i];
        assert_int_equal(aclshmemi_net_send_all(server->fd, text, strlen(text), soon()), 0);
    }
    if (server->script->hang_up)
        shutdown(server->fd, SHUT_RDWR);
    return NULL;
}

#define INIT  "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
#define MAXES "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
#define NAME  "cmd=my_kvsname kvsname=k\n"

static const canned_t scripts[] = {
    {{NULL}, false, "did not answer \"init\" in time", false},
    {{NULL}, true, "hung up at \"init\"", false},
    {{"cmd=response_to_init pmi_version=1"}, false, "in time", false}, /* no end of line */
    {{"SSH-2.0-OpenSSH_9.2\n"}, false, "something other than pmi-1", false},
    {{"\n"}, false, "something other than pmi-1", false},
    {{"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"}, false, "version 2", false},
    {{"cmd=response_to_init pmi_version=1 rc=-1\n"}, false, "version", false},
    {{"cmd=response_to_init rc=0\n"}, false, "version none", false},
    {{"cmd=maxes\n"}, false, "instead of \"response_to_init\"", false},
    {{INIT}, false, "get_maxes", false},
    {{INIT, "cmd=maxes kvsname_max=256 keylen_max=64\n"}, false, "vallen_max", false},
    {{INIT, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=2\n"}, false, "vallen_max", false},
    {{INIT, "cmd=maxes kvsname_max=256 keylen_max=-1 vallen_max=1024\n"}, false, "keylen_max", false},
    {{INIT, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=99999999999999999999\n"},
     false,
     "vallen_max",
     false},
    {{INIT, MAXES, "cmd=my_kvsname\n"}, false, "name of its key space", false},
    {{INIT, MAXES, "cmd=my_kvsname kvsname=\n"}, false, "name of its key space", false},
    {{INIT, MAXES, "cmd=my_kvsname kvsname=x rc=1\n"}, false, "name of its key space", false},
    {{INIT, MAXES, NAME, "cmd=put_result rc=-1 msg=no\n"}, false, "refuses key", true},
    {{INIT, MAXES, NAME, "cmd=barrier_out\n"}, false, "instead of \"put_result\"", true},
    {{INIT, MAXES, NAME}, true, "hung up at \"put\"", true},
    {{INIT, "cmd=maxes kvsname_max=256 keylen_max=4 vallen_max=1024\n", NAME},
     false,
     "keys of 3 characters",
     true},
};

static int talk(aclshmemi_pmi_t *pmi, const canned_t *script, aclshmemi_deadline_t deadline)
{
    int rc = aclshmemi_pmi_start(pmi, deadline);
    if (!script->put)
        return rc;
    assert_int_equal(rc, 0);
    return aclshmemi_pmi_put(pmi, "a-long-key", "secret", 6, deadline);
}

static void test_servers_that_misbehave(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        int pair[2];
        pthread_t thread;
        aclshmemi_pmi_t pmi;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        canned_server_t server = {&scripts[i], pair[0]};
        assert_int_equal(pthread_create(&thread, NULL, recite, &server), 0);
        open_fd(&pmi, pair[1]);
        uint64_t before = t_now_ms();
        int rc = talk(&pmi, &scripts[i], aclshmemi_deadline_after_ms(300));
        assert_int_equal(rc, ACLSHMEM_INNER_ERROR);
        assert_true(t_now_ms() - before < SOON_MS);
        t_check_contains(aclshmemi_status_last_text(), scripts[i].reason);
        t_check_contains(aclshmemi_status_last_text(), "SHMEM_LAUNCHER");
        aclshmemi_pmi_close(&pmi);
        close(pair[1]);
        pthread_join(thread, NULL);
        close(pair[0]);
    }
    assert_false(t_log_contains("736563726574")); /* values do not appear in messages */
}

static void test_an_endless_line(void **state)
{
    (void)state;
    int pair[2];
    aclshmemi_pmi_t pmi;
    char noise[ACLSHMEMI_PMI_LINE_MAX + 100];
    memset(noise, 'x', sizeof noise);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(aclshmemi_net_send_all(pair[0], noise, sizeof noise, soon()), 0);
    open_fd(&pmi, pair[1]);
    assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "something other than pmi-1");
    assert_int_equal(aclshmemi_pmi_barrier(&pmi, soon()), ACLSHMEM_INNER_ERROR); /* out of step for good */
    assert_int_equal(aclshmemi_pmi_start(&pmi, soon()), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "out of step");
    aclshmemi_pmi_close(&pmi);
    close(pair[0]);
    close(pair[1]);
}

/* A deadline holds although the server keeps sending something. */
static void *trickle(void *argument)
{
    int fd = *(int *)argument;
    const struct timespec pause = {.tv_nsec = 10000000};
    while (send(fd, "c", 1, MSG_NOSIGNAL) == 1)
        nanosleep(&pause, NULL);
    return NULL;
}

static void test_a_trickle_does_not_move_the_deadline(void **state)
{
    (void)state;
    int pair[2];
    pthread_t thread;
    aclshmemi_pmi_t pmi;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pthread_create(&thread, NULL, trickle, &pair[0]), 0);
    open_fd(&pmi, pair[1]);
    uint64_t before = t_now_ms();
    assert_int_equal(aclshmemi_pmi_start(&pmi, aclshmemi_deadline_after_ms(200)), ACLSHMEM_INNER_ERROR);
    uint64_t taken = t_now_ms() - before;
    assert_true(taken >= 200 && taken < SOON_MS);
    aclshmemi_pmi_close(&pmi);
    close(pair[1]);
    pthread_join(thread, NULL);
    close(pair[0]);
}

/* --- opening --- */

static void test_what_cannot_be_opened(void **state)
{
    (void)state;
    aclshmemi_pmi_t pmi;
    const struct {
        const char *fd, *port, *id;
        int code;
        const char *reason;
    } cases[] = {{NULL, NULL, NULL, ACLSHMEM_INNER_ERROR, "neither PMI_FD nor PMI_PORT"},
                 {"seven", NULL, NULL, ACLSHMEM_INVALID_VALUE, "PMI_FD is \"seven\""},
                 {"-1", NULL, NULL, ACLSHMEM_INVALID_VALUE, "PMI_FD"},
                 {"999999", NULL, NULL, ACLSHMEM_INNER_ERROR, "descriptor 999999"},
                 {"0", NULL, NULL, ACLSHMEM_INNER_ERROR, "no socket"},
                 {NULL, "here", "0", ACLSHMEM_INVALID_VALUE, "not HOST:PORT"},
                 {NULL, ":5", "0", ACLSHMEM_INVALID_VALUE, "not HOST:PORT"},
                 {NULL, "127.0.0.1:70000", "0", ACLSHMEM_INVALID_VALUE, "not HOST:PORT"},
                 {NULL, "127.0.0.1:1", "0", ACLSHMEM_INNER_ERROR, "cannot be reached"}};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(dup2(null, 0), 0); /* whatever runs this test */
    close(null);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int rc = aclshmemi_pmi_open(&pmi, cases[i].fd, cases[i].port, cases[i].id, soon());
        assert_int_equal(rc, cases[i].code);
        t_check_contains(aclshmemi_status_last_text(), cases[i].reason);
        assert_int_equal(pmi.fd, -1);
    }
}

static void *port_server(void *argument)
{
    int listener = *(int *)argument;
    char request[256];
    const char *texts[] = {"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=2\ncmd=set debug=0\n",
                           "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=9\ncmd=set debug=0\n"};
    for (int i = 0; i < 2; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        assert_true(fd >= 0);
        ssize_t n = recv(fd, request, sizeof request - 1, 0);
        assert_true(n > 0);
        request[n] = '\0';
        assert_string_equal(request, "cmd=initack pmiid=2\n");
        assert_int_equal(aclshmemi_net_send_all(fd, texts[i], strlen(texts[i]), soon()), 0);
        n = recv(fd, request, sizeof request, 0); /* until the client closes */
        assert_int_equal(n, 0);
        close(fd);
    }
    return NULL;
}

static void test_the_port_form(void **state)
{
    (void)state;
    aclshmemi_pmi_t pmi;
    aclshmemi_addr_t addr = {.length = sizeof addr.v4};
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_t thread;
    addr.v4.sin_family = AF_INET;
    addr.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, &addr.any, addr.length), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(aclshmemi_net_local(listener, &addr), 0);
    aclshmemi_addr_print(&addr, text);
    assert_int_equal(pthread_create(&thread, NULL, port_server, &listener), 0);
    assert_int_equal(aclshmemi_pmi_open(&pmi, NULL, text, "2", soon()), 0);
    assert_int_equal(pmi.n_pes, 4);
    assert_int_equal(pmi.rank, 2);
    aclshmemi_pmi_close(&pmi);
    assert_int_equal(aclshmemi_pmi_open(&pmi, NULL, text, "2", soon()), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "rank 9 of 4");
    pthread_join(thread, NULL);
    close(listener);
}

/* --- the meeting on top --- */

static int count_keys(server_t *server, const char *start)
{
    int count = 0;
    pthread_mutex_lock(&server->lock);
    for (int i = 0; i < server->n_entries; i++)
        count += strncmp(server->entry[i][0], start, strlen(start)) == 0;
    pthread_mutex_unlock(&server->lock);
    return count;
}

/* A slow PE may still get the key of one meeting when PE 0 puts that of the next. */
static void test_every_meeting_has_its_key(void **state)
{
    (void)state;
    static server_t server;
    static const aclshmemi_env_t env = {.uid_session_id = "", .uid_sock_ifname = ""};
    const aclshmemi_launch_t launch = {.name = "aclshmemrun", .pe = 0, .n_pes = 2, .single_host = true};
    aclshmemx_uniqueid_t id;
    char number[12];
    start_server(&server, 1, 64, 1024); /* a barrier of one: PE 1 is always there */
    snprintf(number, sizeof number, "%d", server.client[0]);
    assert_int_equal(setenv("PMI_FD", number, 1), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(aclshmemi_launch_meet(&env, &launch, SOON_MS, &id), 0);
    assert_int_equal(count_keys(&server, ""), 3);
    for (int i = 0; i < 3; i++) {
        char key[32];
        snprintf(key, sizeof key, "aclshmem-%d-", i);
        assert_int_equal(count_keys(&server, key), 1);
    }
    aclshmemi_launch_done();
    aclshmemi_launch_done();
    assert_int_equal(finalized(&server), 0); /* two of three */
    aclshmemi_launch_done();
    assert_int_equal(finalized(&server), 1);
    unsetenv("PMI_FD");
    end_server(&server);
    aclshmemi_uid_drop_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_values_of_every_length),
        cmocka_unit_test(test_four_clients),
        cmocka_unit_test(test_a_barrier_that_was_given_up),
        cmocka_unit_test(test_abort_carries_the_status),
        cmocka_unit_test(test_a_key_nobody_put),
        cmocka_unit_test(test_servers_that_misbehave),
        cmocka_unit_test(test_an_endless_line),
        cmocka_unit_test(test_a_trickle_does_not_move_the_deadline),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_the_port_form),
        cmocka_unit_test(test_every_meeting_has_its_key),
    };
    t_unit_log_start(ACLSHMEMI_LOG_DEBUG); /* refusals are the point here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
