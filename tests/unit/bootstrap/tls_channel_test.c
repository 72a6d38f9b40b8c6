/* SPDX-License-Identifier: Apache-2.0 */
/* Channels, encrypted and plain: the same calls come to the same ends, whatever the peer and the socket do. */
#include "tls_support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

static aclshmemi_tls_context_t *context; /* of a unique id; NULL: plain */

static aclshmemi_tls_context_t *make_context(void)
{
    aclshmemi_env_t env = t_tls_env("");
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {1, 2, 3};
    aclshmemi_tls_context_t *made = NULL;
    assert_int_equal(aclshmemi_tls_context_create(&env, secret, &made), 0);
    assert_non_null(made);
    return made;
}

static int with_tls(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    context = make_context();
    return 0;
}

static int without_tls(void **state)
{
    (void)state;
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    context = NULL;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    aclshmemi_tls_context_destroy(context);
    t_log_expect_clean(); /* channels are quiet: the store decides what to log */
    t_unit_log_stop();
    return 0;
}

static void open_good(t_pair_t *pair)
{
    t_pair_open(pair, context, context);
    t_check_that(pair->client.rc == 0, "client: %s", pair->client.text);
    t_check_that(pair->server.rc == 0, "server: %s", pair->server.text);
}

/* ---- what works ---- */

static void test_both_ways(void **state)
{
    (void)state;
    t_pair_t pair;
    char byte;
    open_good(&pair);
    t_check_int(aclshmemi_channel_handshake(pair.client.channel), 0); /* once more does no harm */
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEMI_CHANNEL_WANT_READ);
    t_pair_send(&pair.client, &pair.server, "from the client");
    t_pair_send(&pair.server, &pair.client, "from the server");
    t_check_int(t_side_read(&pair.client, &byte, 1), ACLSHMEMI_CHANNEL_WANT_READ);
    assert_int_not_equal(aclshmemi_channel_fd(pair.client.channel),
                         aclshmemi_channel_fd(pair.server.channel));
    t_pair_close(&pair);
}

static void test_pending_tells_of_held_bytes(void **state)
{
    (void)state;
    t_pair_t pair;
    char text[] = "0123456789", got[11] = "";
    open_good(&pair);
    assert_false(aclshmemi_channel_pending(pair.server.channel));
    t_check_int(aclshmemi_channel_write(pair.client.channel, text, 10), 10);
    for (int i = 0; i < 10; i++) {
        t_check_int(t_side_read(&pair.server, got + i, 1), 1);
        assert_int_equal(aclshmemi_channel_pending(pair.server.channel), i < 9);
    }
    assert_string_equal(got, text);
    t_check_int(t_side_read(&pair.server, got, 1), ACLSHMEMI_CHANNEL_WANT_READ);
    assert_false(aclshmemi_channel_pending(pair.server.channel));
    t_pair_close(&pair);
}

/* Several small messages in one segment: all must come out although the socket is told empty by then. */
static void test_a_burst_is_read_to_its_end(void **state)
{
    (void)state;
    t_pair_t pair;
    char got[64];
    open_good(&pair);
    for (int i = 0; i < 20; i++)
        t_check_int(aclshmemi_channel_write(pair.client.channel, "abc", 3), 3);
    size_t total = 0;
    ssize_t n;
    while ((n = t_side_read(&pair.server, got, sizeof got)) > 0)
        total += (size_t)n;
    t_check_int(n, ACLSHMEMI_CHANNEL_WANT_READ);
    t_check_uint(total, 60);
    t_pair_close(&pair);
}

typedef struct stream {
    size_t sent, received, total;
    size_t chunk; /* read and write sizes vary around it */
} stream_t;

static uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 2654435761u >> 13);
}

/* Writes what the socket takes, from a buffer that is elsewhere each time. */
static bool push(t_side_t *side, stream_t *stream)
{
    size_t size = stream->total - stream->sent < stream->chunk ? stream->total - stream->sent : stream->chunk;
    if (size == 0)
        return false;
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = pattern(stream->sent + i);
    ssize_t n = aclshmemi_channel_write(side->channel, data, size);
    free(data);
    if (n == ACLSHMEMI_CHANNEL_WANT_WRITE)
        return false;
    t_check_that(n > 0, "write: %zd, %s", n, aclshmemi_status_last_text());
    stream->sent += (size_t)n;
    return true;
}

static bool pull(t_side_t *side, stream_t *stream, size_t size)
{
    uint8_t *data = malloc(size);
    ssize_t n = t_side_read(side, data, size);
    if (n != ACLSHMEMI_CHANNEL_WANT_READ)
        t_check_that(n > 0, "read: %zd, %s", n, aclshmemi_status_last_text());
    for (ssize_t i = 0; i < n; i++)
        t_check_int(data[i], pattern(stream->received + (size_t)i));
    free(data);
    stream->received += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static void test_streams_both_ways_through_a_narrow_socket(void **state)
{
    (void)state;
    t_pair_t pair;
    open_good(&pair);
    int size = 4096;
    assert_int_equal(
        setsockopt(aclshmemi_channel_fd(pair.client.channel), SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    assert_int_equal(
        setsockopt(aclshmemi_channel_fd(pair.server.channel), SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    stream_t up = {.total = 700001, .chunk = 100000}, down = {.total = 500000, .chunk = 777};
    for (size_t turn = 0; up.received < up.total || down.received < down.total; turn++) {
        bool moved = push(&pair.client, &up);
        moved |= push(&pair.server, &down);
        moved |= pull(&pair.server, &up, 1 + turn * 37 % 20000);
        moved |= pull(&pair.client, &down, 1 + turn * 91 % 3000);
        t_check_that(moved, "stuck after %zu and %zu bytes", up.received, down.received);
    }
    t_pair_close(&pair);
}

/* ---- ends ---- */

static void test_an_orderly_end(void **state)
{
    (void)state;
    for (int silent = 0; silent < 2; silent++) {
        t_pair_t pair;
        char got[16] = "";
        open_good(&pair);
        t_check_int(aclshmemi_channel_write(pair.client.channel, "last words", 10), 10);
        aclshmemi_channel_destroy(pair.client.channel, silent);
        pair.client.channel = NULL;
        t_check_int(t_side_read(&pair.server, got, sizeof got), 10);
        t_check_text(got, "last words");
        t_check_int(t_side_read(&pair.server, got, sizeof got), ACLSHMEMI_CHANNEL_CLOSED);
        t_check_int(t_side_read(&pair.server, got, sizeof got), ACLSHMEMI_CHANNEL_CLOSED);
        t_pair_close(&pair);
    }
}

/* [F-20] SIGPIPE has its default action here, which would end this program. */
static void test_writing_to_a_closed_peer(void **state)
{
    (void)state;
    t_pair_t pair;
    open_good(&pair);
    aclshmemi_channel_destroy(pair.client.channel, false);
    pair.client.channel = NULL;
    for (int i = 0; i < 3; i++)
        t_check_int(aclshmemi_channel_write(pair.server.channel, "x", 1), ACLSHMEMI_CHANNEL_CLOSED);
    t_pair_close(&pair);
}

static void test_misuse_is_refused(void **state)
{
    (void)state;
    t_pair_t pair;
    char byte;
    open_good(&pair);
    t_check_int(aclshmemi_channel_read(pair.client.channel, &byte, 0), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_channel_write(pair.client.channel, &byte, 0), ACLSHMEM_INNER_ERROR);
    t_pair_close(&pair);
    aclshmemi_channel_destroy(NULL, false);
    aclshmemi_tls_context_destroy(NULL);
    aclshmemi_tls_context_check_expiry(NULL);
    assert_string_equal(aclshmemi_tls_context_describe(NULL), "plain");
}

/* Sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MORE_KIB 1000000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MORE_KIB 1000000
#endif
#endif
#ifndef MORE_KIB
#define MORE_KIB 2048
#endif

static void test_rounds_leave_nothing_behind(void **state)
{
    (void)state;
    t_pair_t pair;
    open_good(&pair);
    t_pair_close(&pair);
    t_resources_t before = t_resources_now();
    for (int i = 0; i < 50; i++) {
        open_good(&pair);
        t_pair_send(&pair.client, &pair.server, "round");
        t_pair_close(&pair);
    }
    t_resources_expect(&before, MORE_KIB / 100, MORE_KIB);
}

/* ---- only with TLS ---- */

static aclshmemi_channel_t *channel_on(int fd, bool server)
{
    aclshmemi_channel_t *channel = NULL;
    assert_int_equal(aclshmemi_channel_create(context, fd, server, &channel), 0);
    return channel;
}

static void make_sockets(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
}

/* [T-30] */
static void test_a_stalled_peer_holds_up_nobody(void **state)
{
    (void)state;
    int fds[2];
    make_sockets(fds);
    aclshmemi_channel_t *stalled = channel_on(fds[0], true);
    t_check_int(aclshmemi_channel_handshake(stalled), ACLSHMEMI_CHANNEL_WANT_READ);
    assert_int_equal(write(fds[1], "\x16", 1), 1); /* as much as a record's first byte, then nothing */
    t_check_int(aclshmemi_channel_handshake(stalled), ACLSHMEMI_CHANNEL_WANT_READ);
    char byte;
    t_check_int(aclshmemi_channel_read(stalled, &byte, 1),
                ACLSHMEM_INNER_ERROR); /* not before the handshake */
    t_pair_t pair;
    open_good(&pair);
    t_pair_close(&pair);
    t_check_int(aclshmemi_channel_handshake(stalled), ACLSHMEMI_CHANNEL_WANT_READ);
    close(fds[1]);
    for (int i = 0; i < 2; i++) { /* and says so as often as it is asked */
        t_check_int(aclshmemi_channel_handshake(stalled), ACLSHMEM_INNER_ERROR);
        t_check_text(aclshmemi_status_last_text(), "peer closed the connection during the TLS handshake");
    }
    aclshmemi_channel_destroy(stalled, false);
}

/* Both directions one byte at a time, which puts every wait of the handshake to the test. */
static void test_a_handshake_in_single_bytes(void **state)
{
    (void)state;
    int left[2], right[2];
    make_sockets(left);
    make_sockets(right);
    aclshmemi_channel_t *client = channel_on(left[0], false), *server = channel_on(right[0], true);
    int client_rc = ACLSHMEMI_CHANNEL_WANT_READ, server_rc = client_rc;
    for (int turn = 0; turn < 10000 && (client_rc != 0 || server_rc != 0); turn++) {
        char byte;
        client_rc = aclshmemi_channel_handshake(client);
        server_rc = aclshmemi_channel_handshake(server);
        t_check_that(client_rc == 0 || client_rc == ACLSHMEMI_CHANNEL_WANT_READ, "client %d", client_rc);
        t_check_that(server_rc == 0 || server_rc == ACLSHMEMI_CHANNEL_WANT_READ, "server %d", server_rc);
        if (read(left[1], &byte, 1) == 1)
            assert_int_equal(write(right[1], &byte, 1), 1);
        if (read(right[1], &byte, 1) == 1)
            assert_int_equal(write(left[1], &byte, 1), 1);
    }
    t_check_int(client_rc, 0);
    t_check_int(server_rc, 0);
    aclshmemi_channel_destroy(client, true);
    aclshmemi_channel_destroy(server, true);
    close(left[1]);
    close(right[1]);
}

static void test_the_errors_of_the_program_stay(void **state)
{
    (void)state;
    t_pair_t pair;
    char byte;
    ERR_clear_error();
    ERR_raise_data(ERR_LIB_USER, 42, "why"); /* would be taken for the cause of whatever comes next */
    ERR_raise(ERR_LIB_USER, 43);
    open_good(&pair);
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEMI_CHANNEL_WANT_READ);
    t_pair_send(&pair.client, &pair.server, "hello");
    t_pair_close(&pair);
    t_pair_open(&pair, context, NULL); /* one that fails */
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_pair_close(&pair);
    const char *data = NULL;
    int flags = 0;
    assert_int_equal(ERR_GET_REASON(ERR_get_error_all(NULL, NULL, NULL, &data, &flags)), 42);
    t_check_text(data, "why");
    assert_int_equal(ERR_GET_REASON(ERR_get_error()), 43);
    assert_true(ERR_get_error() == 0);
}

static void garble(int fd, unsigned seed)
{
    uint8_t record[600] = {0x16, 0x03, 0x01, 0x02, 0x00};
    for (size_t i = 5; i < sizeof record; i++)
        record[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 16);
    if (seed % 3 == 0)
        record[5] = 0x01; /* at least the type of a client's greeting */
    assert_int_equal(write(fd, record, sizeof record), sizeof record);
}

static void test_garbage_is_refused(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        int fds[2];
        make_sockets(fds);
        aclshmemi_channel_t *channel = channel_on(fds[0], seed % 2);
        int rc = aclshmemi_channel_handshake(channel);
        t_check_int(rc, ACLSHMEMI_CHANNEL_WANT_READ);
        garble(fds[1], seed);
        shutdown(fds[1], SHUT_WR);
        t_check_int(aclshmemi_channel_handshake(channel), ACLSHMEM_INNER_ERROR);
        assert_true(aclshmemi_status_last_text()[0] != '\0');
        aclshmemi_channel_destroy(channel, false);
        close(fds[1]);
    }
}

/* A record that was changed on its way. */
static void test_a_damaged_record_ends_the_connection(void **state)
{
    (void)state;
    t_pair_t pair;
    char record[256], byte;
    open_good(&pair);
    int client = aclshmemi_channel_fd(pair.client.channel),
        server = aclshmemi_channel_fd(pair.server.channel);
    t_check_int(aclshmemi_channel_write(pair.client.channel, "hello", 5), 5);
    ssize_t size = read(server, record, sizeof record);
    assert_true(size > 10);
    record[size - 1] ^= 1;
    assert_int_equal(write(client, record, (size_t)size), size);
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.server.text,
                     "the TLS connection broke: " /* OpenSSL 3.0 and 3.5 word the reason differently */);
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_channel_write(pair.server.channel, "x", 1), ACLSHMEM_INNER_ERROR);
    t_check_int(t_side_read(&pair.client, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.client.text, "peer refused the connection: bad record mac");
    t_pair_close(&pair);
}

/* Instances of one process have a store each, and threads of their own. */
static void *run_rounds(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10; i++) {
        t_pair_t pair;
        aclshmemi_tls_context_t *own = make_context();
        t_pair_open(&pair, own, context); /* one side is of this thread, the other of all */
        t_check_int(pair.client.rc, 0);
        t_check_int(pair.server.rc, 0);
        t_pair_send(&pair.client, &pair.server, "hello");
        t_pair_close(&pair);
        aclshmemi_tls_context_destroy(own);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_rounds, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Libraries that are unloaded or destructors that run late may still hold channels. */
static void use_after_cleanup(void *unused)
{
    (void)unused;
    t_pair_t pair;
    char byte;
    context = make_context();
    open_good(&pair);
    int fds[2];
    make_sockets(fds);
    aclshmemi_channel_t *young = channel_on(fds[0], true);
    OPENSSL_cleanup();
    t_check_int(aclshmemi_channel_read(pair.client.channel, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "the process is ending");
    t_check_int(aclshmemi_channel_write(pair.server.channel, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_channel_handshake(young), ACLSHMEM_INNER_ERROR);
    assert_false(aclshmemi_channel_pending(pair.client.channel));
    aclshmemi_channel_destroy(young, false);
    t_pair_close(&pair);
    aclshmemi_tls_context_check_expiry(context);
    aclshmemi_tls_context_destroy(context);
    aclshmemi_env_t env = t_tls_env("");
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {0};
    t_check_int(aclshmemi_tls_context_create(&env, secret, &context), ACLSHMEM_INNER_ERROR);
    _exit(0); /* what OpenSSL left unfreed is not ours to complain about */
}

static void test_use_after_openssl_cleaned_up(void **state)
{
    (void)state;
    t_child_t child;
    t_run_function(&child, use_after_cleanup, NULL, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

/* ---- only without ---- */

/* Bytes that begin like a greeting of TLS or a notice, and are neither. */
static void test_plain_bytes_that_look_like_others(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t size;
    } all[] = {{"\x16\x02 record", 9},
               {"\x15\x04", 2},
               {"ACLSHARK", 8},
               {"ACLSHMEN and more", 17},
               {"A\x16\x03", 3}};
    for (size_t i = 0; i < 2 * sizeof all / sizeof all[0]; i++) {
        t_pair_t pair;
        char got[64] = "";
        size_t size = all[i / 2].size, total = 0;
        const char *text = all[i / 2].text;
        open_good(&pair);
        for (size_t at = 0; at < size;) { /* at once, and byte by byte */
            size_t part = i % 2 ? 1 : size;
            t_check_int(aclshmemi_channel_write(pair.client.channel, text + at, part), part);
            at += part;
            ssize_t n = t_side_read(&pair.server, got + total, sizeof got - total);
            t_check_that(n > 0 || n == ACLSHMEMI_CHANNEL_WANT_READ, "read: %zd", n);
            total += n > 0 ? (size_t)n : 0;
        }
        t_check_uint(total, size);
        t_check_memory(got, text, size);
        t_pair_close(&pair);
    }
}

int main(void)
{
#define EITHER(function)                                                                                     \
    {#function " tls", function, with_tls, stop, NULL},                                                      \
    {                                                                                                        \
#function " plain", function, without_tls, stop, NULL                                                \
    }
#define TLS(function)   cmocka_unit_test_setup_teardown(function, with_tls, stop)
#define PLAIN(function) cmocka_unit_test_setup_teardown(function, without_tls, stop)
    const struct CMUnitTest tests[] = {
        EITHER(test_both_ways),
        EITHER(test_pending_tells_of_held_bytes),
        EITHER(test_a_burst_is_read_to_its_end),
        EITHER(test_streams_both_ways_through_a_narrow_socket),
        EITHER(test_an_orderly_end),
        EITHER(test_writing_to_a_closed_peer),
        EITHER(test_misuse_is_refused),
        EITHER(test_rounds_leave_nothing_behind),
        TLS(test_a_stalled_peer_holds_up_nobody),
        TLS(test_a_handshake_in_single_bytes),
        TLS(test_the_errors_of_the_program_stay),
        TLS(test_garbage_is_refused),
        TLS(test_a_damaged_record_ends_the_connection),
        TLS(test_threads),
        TLS(test_use_after_openssl_cleaned_up),
        PLAIN(test_plain_bytes_that_look_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
