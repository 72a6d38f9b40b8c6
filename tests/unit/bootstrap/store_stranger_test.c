/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers at PE 0's port, and PEs that send what makes no sense. */
/* */
#define LOG_MODULE "test"
#include "pes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/bootstrap/store/server.h"

static pes_t job;

static int knock(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {20, 0};
    t_check(fd >= 0);
    t_check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    close(fd);
    return -1;
}

static void knock_until_open(uint16_t port)
{
    uint64_t end = t_now_ms() + 20000;
    int fd;
    while ((fd = knock(port)) < 0) {
        t_check(t_now_ms() < end);
        usleep(1000);
    }
    close(fd);
}

static void run_job(pe_t *pe)
{
    t_resources_t before = t_resources_now();
    pe_open_ok(pe);
    t_check_int(pe_barrier(pe), 0);
    pe_check_allgather(pe, 1000);
    aclshmemi_bootstrap_close(&pe->bs);
    t_check_uint(t_resources_now().descriptors, before.descriptors);
}

/* PE 0 is up, strangers come by a function of the test, then the PEs: they must not be slower than usual. */
static void run_among(void (*strangers)(uint16_t port), int limit_ms)
{
    pes_init(&job, 4, run_job);
    pes_start(&job, 0);
    knock_until_open(job.port);
    strangers(job.port);
    uint64_t begin = t_now_ms();
    for (int pe = 1; pe < 4; pe++)
        pes_start(&job, pe);
    pes_finish(&job, 30000);
    pes_expect(&job, 0);
    t_check_that(t_now_ms() - begin < (uint64_t)limit_ms, "took %llu ms",
                 (unsigned long long)(t_now_ms() - begin));
    t_check_contains(job.child[0].err, "no PE");
    int lines = 0;
    for (const char *c = job.child[0].err; *c; c++)
        lines += *c == '\n';
    t_check_that(lines <= 3, "%d lines:\n%s", lines, job.child[0].err);
    pes_fini(&job);
}

static int held[4000], n_held;

static void release(void)
{
    while (n_held > 0)
        close(held[--n_held]);
}

static void thousand_silent(uint16_t port)
{
    for (int i = 0; i < 1000; i++)
        t_check((held[n_held++] = knock(port)) >= 0);
}

static void more_than_fit(uint16_t port)
{
    for (int i = 0; i < 3000; i++)
        t_check((held[n_held++] = knock(port)) >= 0);
}

/* [B-26] [T-30] */
static void test_silent_strangers(void **state)
{
    (void)state;
    run_among(thousand_silent, 3000);
    release();
}

/* [B-28] */
static void test_more_silent_strangers_than_fit(void **state)
{
    (void)state;
    run_among(more_than_fit, 8000);
    release();
}

static void say(int fd, const void *bytes, size_t size)
{
    (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* All kinds of beginnings, some right up to the last byte that can be right. */
static void talkers(uint16_t port)
{
    static uint8_t noise[1 << 20];
    static const uint8_t client_hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
    static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    aclshmemi_store_hello_t hello = {
        .version = ACLSHMEMI_STORE_VERSION, .magic = 12345, .n_pes = 4, .rank = 1};
    aclshmemi_writer_t body;
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    unsigned seed = 9;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)rand_r(&seed);
    aclshmemi_writer_init(&body, 4096);
    aclshmemi_store_hello_encode(&hello, &body);
    aclshmemi_store_header_encode(
        &(aclshmemi_store_header_t){.type = ACLSHMEMI_STORE_HELLO, .length = (uint32_t)body.size}, head);
    for (int i = 0; i < 70; i++) {
        int fd = held[n_held++] = knock(port);
        t_check(fd >= 0);
        switch (i % 7) {
        case 0:
            say(fd, noise, sizeof noise);
            break;
        case 1:
            say(fd, http, sizeof http - 1);
            break;
        case 2:
            say(fd, client_hello, sizeof client_hello), say(fd, noise, 9000);
            break;
        case 3:
            say(fd, head, 1 + (size_t)i % sizeof head);
            break;
        case 4:
            say(fd, head, sizeof head), say(fd, body.data, body.size);
            break; /* of another job */
        case 5:
            say(fd, head, sizeof head), say(fd, noise, body.size);
            break;
        default:
            say(fd, client_hello, sizeof client_hello), shutdown(fd, SHUT_WR);
        }
    }
    aclshmemi_writer_fini(&body);
}

/* [B-27] */
static void test_talking_strangers(void **state)
{
    (void)state;
    run_among(talkers, 3000);
    release();
}

typedef struct noise_maker {
    uint16_t port;
    _Atomic bool stop;
} noise_maker_t;

static void *make_noise(void *argument)
{
    noise_maker_t *maker = argument;
    static const uint8_t client_hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3,
                                           0,    0, 0, 0, 0, 0, 0, 0, 0,    0, 0};
    for (unsigned i = 0; !atomic_load(&maker->stop); i++) {
        int fd = knock(maker->port);
        if (fd >= 0 && i % 3 == 1)
            say(fd, client_hello, sizeof client_hello);
        else if (fd >= 0 && i % 3 == 2)
            say(fd, "hello, is this the web?", 23);
        if (fd >= 0)
            close(fd);
        usleep(500);
    }
    return NULL;
}

static void run_rounds_in_noise(pe_t *pe)
{
    for (int i = 0; i < 15; i++)
        run_job(pe);
}

static void test_rounds_under_constant_noise(void **state)
{
    pthread_t thread;
    (void)state;
    pes_init(&job, 3, run_rounds_in_noise);
    noise_maker_t maker = {.port = job.port};
    pes_start_all(&job);
    t_check_int(pthread_create(&thread, NULL, make_noise, &maker), 0);
    pes_finish(&job, 60000);
    atomic_store(&maker.stop, true);
    pthread_join(thread, NULL);
    pes_expect(&job, 0);
    pes_fini(&job);
}

/* --- A server in this process, and hands to write bytes to it --- */

static aclshmemi_store_loop_t *loop;
static aclshmemi_store_server_t *server;
static uint16_t port;
static uint32_t epoch;
static aclshmemi_fingerprint_t agree;

static void start_server(int n_pes)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    t_check(bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0 && listen(fd, 64) == 0 &&
            getsockname(fd, (struct sockaddr *)&addr, &length) == 0);
    port = ntohs(addr.sin_port);
    agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){1});
    aclshmemi_store_server_params_t params = {.n_pes = n_pes,
                                              .magic = 77,
                                              .agree = agree,
                                              .build = "one",
                                              .tree_above = 64,
                                              .fanout = 16,
                                              .waiting_max = 64,
                                              .listen_fd = fd};
    t_check_int(aclshmemi_store_loop_create(&loop), 0);
    t_check_int(aclshmemi_store_server_create(loop, &params, &server), 0);
    t_check_int(aclshmemi_store_loop_start(loop), 0);
}

static void stop_server(void)
{
    aclshmemi_store_loop_stop(loop);
    aclshmemi_store_server_destroy(server);
    aclshmemi_store_loop_destroy(loop);
}

static void send_raw(int fd, int type, uint32_t sequence, uint32_t claimed, const void *body, size_t size)
{
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    aclshmemi_store_header_encode(
        &(aclshmemi_store_header_t){.type = (int16_t)type,
                                    .length = claimed,
                                    .sequence = sequence,
                                    .epoch = type == ACLSHMEMI_STORE_HELLO ? 0 : epoch},
        head);
    t_check(send(fd, head, sizeof head, MSG_NOSIGNAL) == (ssize_t)sizeof head || errno == EPIPE ||
            errno == ECONNRESET);
    if (size > 0)
        (void)!send(fd, body, size, MSG_NOSIGNAL);
}

static bool recv_all(int fd, void *out, size_t size)
{
    return size == 0 || recv(fd, out, size, MSG_WAITALL) == (ssize_t)size;
}

/* False: the link was closed. */
static bool recv_raw(int fd, aclshmemi_store_header_t *header, uint8_t *body, size_t max)
{
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    if (!recv_all(fd, head, sizeof head))
        return false;
    aclshmemi_store_header_decode(head, header);
    t_check_that(header->length <= max, "a reply of %u bytes", header->length);
    return recv_all(fd, body, header->length);
}

static int say_hello(int fd, const aclshmemi_store_hello_t *hello, aclshmemi_store_welcome_t *welcome)
{
    aclshmemi_store_header_t header;
    aclshmemi_writer_t body;
    uint8_t answer[2048];
    aclshmemi_writer_init(&body, 4096);
    aclshmemi_store_hello_encode(hello, &body);
    send_raw(fd, ACLSHMEMI_STORE_HELLO, 5, (uint32_t)body.size, body.data, body.size);
    aclshmemi_writer_fini(&body);
    t_check(recv_raw(fd, &header, answer, sizeof answer));
    t_check_int(header.type, ACLSHMEMI_STORE_HELLO);
    t_check_uint(header.sequence, 5);
    t_check_int(aclshmemi_store_welcome_decode(answer, header.length, welcome), 0);
    return header.result;
}

static aclshmemi_store_hello_t good_hello(uint32_t rank, uint32_t n_pes)
{
    return (aclshmemi_store_hello_t){.version = ACLSHMEMI_STORE_VERSION,
                                     .magic = 77,
                                     .rank = rank,
                                     .n_pes = n_pes,
                                     .pid = 4711,
                                     .build = "one",
                                     .host = "here",
                                     .agree = agree};
}

static int join_raw(uint32_t rank, uint32_t n_pes)
{
    aclshmemi_store_welcome_t welcome;
    aclshmemi_store_hello_t hello = good_hello(rank, n_pes);
    int fd = knock(port);
    t_check(fd >= 0);
    t_check_int(say_hello(fd, &hello, &welcome), 0);
    epoch = welcome.epoch;
    t_check(epoch != 0);
    return fd;
}

static void check_refused(const aclshmemi_store_hello_t *hello, int code, const char *part)
{
    aclshmemi_store_welcome_t welcome;
    aclshmemi_store_header_t header;
    uint8_t byte;
    int fd = knock(port);
    t_check_int(say_hello(fd, hello, &welcome), code);
    t_check_contains(welcome.text, part);
    t_check(!recv_raw(fd, &header, &byte, 0)); /* and hangs up */
    close(fd);
}

/* [B-27] [U-05] */
static void test_hello_is_checked(void **state)
{
    const struct {
        const char *part;
        int code;
        int what;
    } cases[] = {{"another job", ACLSHMEM_BOOTSTRAP_ERROR, 0},
                 {"another job", ACLSHMEM_BOOTSTRAP_ERROR, 1},
                 {"speaks version 9 of the store's protocol, PE 0 speaks 1", ACLSHMEM_INVALID_PARAM, 2},
                 {"was started for 5 PEs, PE 0 for 3", ACLSHMEM_INVALID_PARAM, 3},
                 {"claims to be PE 3, but the PEs are 0..2", ACLSHMEM_INVALID_PARAM, 4},
                 {"uses build two of the library, PE 0 uses one", ACLSHMEM_INVALID_PARAM, 5},
                 {"the PEs do not agree: PE 0 calls init(size 1), PE 1 calls init(size 2)",
                  ACLSHMEM_INVALID_PARAM, 6}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_server(3);
        int member = join_raw(0, 3);
        aclshmemi_store_hello_t hello = good_hello(1, 3);
        switch (cases[i].what) {
        case 0:
            hello.magic = 78;
            break;
        case 1:
            hello.role = ACLSHMEMI_STORE_ROLE_TREE;
            break;
        case 2:
            hello.version = 9;
            break;
        case 3:
            hello.n_pes = 5;
            break;
        case 4:
            hello.rank = 3;
            break;
        case 5:
            strcpy(hello.build, "two");
            break;
        default:
            hello.agree = aclshmemi_fingerprint("init", "size", 1, (uint64_t[]){2});
        }
        check_refused(&hello, cases[i].code, cases[i].part);
        aclshmemi_store_hello_t right = good_hello(2, 3);
        if (cases[i].code == ACLSHMEM_BOOTSTRAP_ERROR) {
            close(join_raw(2, 3)); /* a stranger spoils nothing */
        } else { /* a PE that does not fit is told to everybody, those who are here and those who come */
            aclshmemi_store_header_t header;
            aclshmemi_store_note_t note;
            uint8_t body[2048];
            t_check(recv_raw(member, &header, body, sizeof body));
            t_check_int(header.type, ACLSHMEMI_STORE_EVENT);
            t_check_int(aclshmemi_store_note_decode(body, header.length, &note), 0);
            t_check_int(note.kind, ACLSHMEMI_STORE_EVENT_FAILED);
            t_check_contains(note.text, cases[i].part);
            check_refused(&right, cases[i].code, cases[i].part);
            check_refused(&right, ACLSHMEM_BOOTSTRAP_ERROR,
                          "a job that failed"); /* it knows: this is another try */
        }
        close(member);
        stop_server();
    }
}

/* --- Requests that are wrong, each answered --- */

static void put_u64(aclshmemi_writer_t *w, uint64_t value)
{
    aclshmemi_write_u64(w, value);
}

static int table_result(int fd, const aclshmemi_writer_t *body)
{
    static uint32_t sequence = 100;
    static uint8_t answer[4096];
    aclshmemi_store_header_t header;
    send_raw(fd, ACLSHMEMI_STORE_TABLE, ++sequence, (uint32_t)body->size, body->data, body->size);
    t_check(recv_raw(fd, &header, answer, sizeof answer));
    t_check_int(header.type, ACLSHMEMI_STORE_TABLE);
    t_check_uint(header.sequence, sequence);
    t_check_uint(header.epoch, epoch);
    return header.result;
}

/* A SET with a key of key_size bytes, in parts that can be told to lie. */
static int raw_set(int fd, uint64_t total_off, int op, uint64_t n_keys, uint64_t key_size,
                   uint64_t claimed_value)
{
    aclshmemi_writer_t w;
    aclshmemi_writer_init(&w, 1 << 20);
    uint64_t real_keys = n_keys < 20 ? n_keys : 0;
    uint64_t total = 8 + 8 + 2 + 8 + real_keys * (8 + key_size) + 8 + 8 + 3;
    put_u64(&w, total + total_off);
    put_u64(&w, 0);
    aclshmemi_write_u16(&w, (uint16_t)op);
    put_u64(&w, n_keys);
    for (uint64_t k = 0; k < real_keys; k++) {
        put_u64(&w, key_size);
        void *key = aclshmemi_write_space(&w, key_size);
        memset(key, 'k', key_size);
    }
    put_u64(&w, 1);
    put_u64(&w, claimed_value);
    aclshmemi_write_bytes(&w, "val", 3);
    int result = table_result(fd, &w);
    aclshmemi_writer_fini(&w);
    return result;
}

/* [F-11] */
static void test_bad_requests_are_answered(void **state)
{
    (void)state;
    start_server(2);
    int fd = join_raw(0, 2);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, 3), 0);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 1024, 3), 0);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 1025, 3), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 2048, 3), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 2049, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 0, 3), ACLSHMEMI_STORE_BAD_KEY);
    t_check_int(raw_set(fd, 1, ACLSHMEMI_STORE_SET, 1, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, (uint64_t)-1, ACLSHMEMI_STORE_SET, 1, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_OP_COUNT, 1, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, -1, 1, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 0, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 2, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 11, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, UINT64_MAX, 3, 3), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, (64u << 20) + 1), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, UINT64_MAX), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, 4), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, 2), ACLSHMEMI_STORE_BAD_REQUEST);
    aclshmemi_writer_t empty = {0};
    t_check_int(table_result(fd, &empty), ACLSHMEMI_STORE_BAD_REQUEST);
    t_check_int(raw_set(fd, 0, ACLSHMEMI_STORE_SET, 1, 3, 3), 0); /* and it still works */
    close(fd);
    stop_server();
}

/* --- Frames that end the link, and nothing but the link --- */

/* [F-10] */
static void test_impossible_frames_end_the_link(void **state)
{
    aclshmemi_store_header_t header;
    uint8_t body[4096] = {0};
    (void)state;
    for (int what = 0; what < 9; what++) {
        start_server(3);
        int good = join_raw(0, 3), fd = join_raw(1, 3);
        uint32_t real = epoch;
        switch (what) {
        case 0:
            send_raw(fd, ACLSHMEMI_STORE_TABLE, 1, (10u << 20) + 1, NULL, 0);
            break;
        case 1:
            send_raw(fd, ACLSHMEMI_STORE_TABLE, 1, UINT32_MAX, NULL, 0);
            break;
        case 2:
            send_raw(fd, ACLSHMEMI_STORE_TYPE_COUNT, 1, 0, NULL, 0);
            break;
        case 3:
            send_raw(fd, -5, 1, 0, NULL, 0);
            break;
        case 4:
            epoch++, send_raw(fd, ACLSHMEMI_STORE_TABLE, 1, 0, NULL, 0), epoch = real;
            break;
        case 5:
            send_raw(fd, ACLSHMEMI_STORE_HELLO, 1, 0, NULL, 0);
            break;
        case 6:
            send_raw(fd, ACLSHMEMI_STORE_ARRIVE, 1, 121, body, 121);
            break; /* of round 0 */
        case 7:
            send_raw(fd, ACLSHMEMI_STORE_DOWN, 1, 20, body, 20);
            break;
        default:
            send_raw(fd, ACLSHMEMI_STORE_UP, 1, 20, body, 20);
        }
        while (recv_raw(fd, &header, body, sizeof body))
            t_check_int(header.type, ACLSHMEMI_STORE_EVENT);
        memset(body, 0, sizeof body);
        t_check(recv_raw(good, &header, body,
                         sizeof body)); /* the other one hears of a death, and is served on */
        t_check_int(header.type, ACLSHMEMI_STORE_EVENT);
        t_check_int(raw_set(good, 0, ACLSHMEMI_STORE_SET, 1, 3, 3), 0);
        close(fd);
        close(good);
        stop_server();
    }
}

/* Random bodies for every type, from a PE that joined: nothing but its own link may suffer. */
static void test_random_frames(void **state)
{
    static uint8_t body[3000];
    unsigned seed = 31;
    (void)state;
    for (int round = 0; round < 300; round++) {
        start_server(2);
        int fd = join_raw(1, 2);
        for (int i = 0; i < 30; i++) {
            int type = (int)((unsigned)rand_r(&seed) % ACLSHMEMI_STORE_TYPE_COUNT);
            uint32_t size = (unsigned)rand_r(&seed) % (i % 3 == 0 ? sizeof body : 130);
            for (uint32_t k = 0; k < size; k++)
                body[k] =
                    rand_r(&seed) % 3 == 0 ? (uint8_t)rand_r(&seed) : 0; /* small numbers are more telling */
            send_raw(fd, type, (uint32_t)i, size, body, size);
        }
        int good = knock(port);
        t_check(good >= 0); /* alive */
        close(good);
        close(fd);
        stop_server();
    }
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest processes[] = {
        cmocka_unit_test(test_silent_strangers),
        cmocka_unit_test(test_more_silent_strangers_than_fit),
        cmocka_unit_test(test_talking_strangers),
        cmocka_unit_test(test_rounds_under_constant_noise),
    };
    const struct CMUnitTest bytes[] = {
        cmocka_unit_test(test_hello_is_checked),
        cmocka_unit_test(test_bad_requests_are_answered),
        cmocka_unit_test(test_impossible_frames_end_the_link),
        cmocka_unit_test(test_random_frames),
    };
    int failed = cmocka_run_group_tests(processes, NULL, NULL);
    t_check_int(aclshmemi_log_set_level(ACLSHMEMI_LOG_FATAL), 0); /* strangers by the hundred */
    if (!pes_tls())                                               /* written by hand, in the open */
        failed += cmocka_run_group_tests(bytes, NULL, NULL);
    return failed != 0;
}
