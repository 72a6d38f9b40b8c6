/* SPDX-License-Identifier: Apache-2.0 */
/* Pre-shared keys: whose secret is used, what two sides that share none say, and what strangers get. */
#include "tls_support.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bootstrap/tls/psk.h"
#include "host/bootstrap/tls/settings.h"
#include "host/utils/net.h"

static char dir[256];
static char file_a[300], file_b[300];

static int setup(void **state)
{
    (void)state;
    t_clean_environment();
    t_dir_make(dir, sizeof dir);
    snprintf(file_a, sizeof file_a, "%s/secret_a", dir);
    snprintf(file_b, sizeof file_b, "%s/secret_b", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    t_dir_remove(dir);
    return 0;
}

static int start(void **state)
{
    (void)state;
    aclshmemi_tls_settings_reset();
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    t_unit_log_stop();
    return 0;
}

/* ---- contexts of each kind ---- */

static aclshmemi_tls_context_t *make(const char *secret_file, int secret_fd, const uint8_t *uid_secret)
{
    aclshmemi_env_t env = t_tls_env(secret_file);
    aclshmemi_tls_context_t *context = NULL;
    env.secret_fd = secret_fd;
    int rc = aclshmemi_tls_context_create(&env, uid_secret, &context);
    t_check_that(rc == 0, "no context: %s", aclshmemi_status_last_text());
    assert_non_null(context);
    return context;
}

static aclshmemi_tls_context_t *of_user(const char *file)
{
    return make(file, -1, NULL);
}

static aclshmemi_tls_context_t *of_uid(uint8_t seed)
{
    uint8_t secret[ACLSHMEMI_SECRET_LEN];
    memset(secret, seed, sizeof secret);
    return make(file_a, -1, secret);
}

static int secret_fd_of(const char *text, size_t size)
{
    int fd = memfd_create("secret", 0); /* stays open in children, as a launcher leaves it */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    return fd;
}

static aclshmemi_tls_context_t *of_job(const char *text)
{
    int fd = secret_fd_of(text, ACLSHMEMI_SECRET_LEN);
    aclshmemi_tls_context_t *made = make(file_a, fd, NULL);
    close(fd);
    return made;
}

static void expect_good(aclshmemi_tls_context_t *client, aclshmemi_tls_context_t *server)
{
    t_pair_t pair;
    t_pair_open(&pair, client, server);
    t_check_that(pair.client.rc == 0, "client: %s", pair.client.text);
    t_check_that(pair.server.rc == 0, "server: %s", pair.server.text);
    t_pair_send(&pair.client, &pair.server, "hello");
    t_pair_send(&pair.server, &pair.client, "hello");
    t_pair_close(&pair);
}

static void expect_bad(aclshmemi_tls_context_t *client, aclshmemi_tls_context_t *server,
                       const char *client_text, const char *server_text)
{
    t_pair_t pair;
    t_pair_open(&pair, client, server);
    t_check_int(pair.client.rc, ACLSHMEM_INNER_ERROR);
    t_check_int(pair.server.rc, ACLSHMEM_INNER_ERROR);
    t_check_text(pair.client.text, client_text);
    t_check_text(pair.server.text, server_text);
    t_pair_close(&pair);
}

/* ---- the order of credentials ---- */

static void test_each_kind_of_secret(void **state)
{
    (void)state;
    static const char job_secret[] = "0123456789abcdef0123456789abcdef";
    aclshmemi_tls_context_t *pairs[3][2] = {
        {of_uid(1), of_uid(1)}, {of_job(job_secret), of_job(job_secret)}, {of_user(file_a), of_user(file_a)}};
    const char *const words[] = {"tls 1.3, pre-shared key of the unique id",
                                 "tls 1.3, pre-shared key of the launcher",
                                 "tls 1.3, pre-shared key of the user's secret file"};
    for (int i = 0; i < 3; i++) {
        t_check_text(aclshmemi_tls_context_describe(pairs[i][0]), words[i]);
        t_log_expect_level(ACLSHMEMI_LOG_INFO, words[i]);
        expect_good(pairs[i][0], pairs[i][1]);
        aclshmemi_tls_context_destroy(pairs[i][0]);
        aclshmemi_tls_context_destroy(pairs[i][1]);
    }
    t_log_expect_clean();
}

static void test_an_id_comes_before_the_launcher_before_the_file(void **state)
{
    (void)state;
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {1};
    int fd = secret_fd_of("0123456789abcdef0123456789abcdef", ACLSHMEMI_SECRET_LEN);
    aclshmemi_tls_context_t *by_id = make("/nonexistent/secret", fd, secret);
    aclshmemi_tls_context_t *by_job = make("/nonexistent/secret", fd, NULL);
    t_check_contains(aclshmemi_tls_context_describe(by_id), "unique id");
    t_check_contains(aclshmemi_tls_context_describe(by_job), "launcher");
    aclshmemi_tls_context_destroy(by_id);
    aclshmemi_tls_context_destroy(by_job);
    close(fd);
}

static void test_switched_off(void **state)
{
    (void)state;
    aclshmemi_env_t env = t_tls_env(file_a);
    aclshmemi_tls_context_t *context = (void *)&env;
    env.conf_store_tls = false;
    assert_false(aclshmemi_tls_enabled(&env));
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    assert_null(context);
    env.conf_store_tls = true;
    assert_true(aclshmemi_tls_enabled(&env));
    t_check_int(aclshmemi_tls_configure(false, NULL, 0), 0); /* the program has the last word */
    assert_false(aclshmemi_tls_enabled(&env));
    context = (void *)&env;
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    assert_null(context);
    env.conf_store_tls = false;
    t_check_int(aclshmemi_tls_configure(true, "x", 1), 0); /* in either direction */
    assert_true(aclshmemi_tls_enabled(&env));
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), ACLSHMEM_INVALID_PARAM);
    aclshmemi_tls_settings_reset();
}

static void test_the_words_for_tools(void **state)
{
    (void)state;
    aclshmemi_env_t env = t_tls_env(file_b);
    char text[600], expected[600];
    unlink(file_b);
    t_check_int(aclshmemi_tls_describe(&env, text, sizeof text), 0);
    snprintf(expected, sizeof expected,
             "TLS 1.3, pre-shared key of the unique id where there is one, else of secret file %s", file_b);
    t_check_text(text, expected);
    assert_int_equal(access(file_b, F_OK), -1); /* looking makes nothing */
    env.secret_fd = 99;
    t_check_int(aclshmemi_tls_describe(&env, text, sizeof text), 0);
    t_check_text(text, "TLS 1.3, pre-shared key of the unique id where there is one, else of the launcher");
    t_check_int(aclshmemi_tls_configure(true, "x", 1), 0);
    t_check_int(aclshmemi_tls_describe(&env, text, sizeof text), 0);
    t_check_text(text, "TLS 1.3, certificates");
    t_check_int(aclshmemi_tls_configure(false, NULL, 0), 0);
    t_check_int(aclshmemi_tls_describe(&env, text, sizeof text), 0);
    t_check_text(text, "off: the control plane is plain TCP");
    aclshmemi_tls_settings_reset();
}

static void test_a_key_without_certificates_is_said(void **state)
{
    (void)state;
    t_check_int(aclshmemi_tls_set_key("key", 3, NULL, 0, NULL), 0);
    aclshmemi_tls_context_destroy(of_uid(1));
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "a private key was set without a description of the certificates");
    t_log_forget();
    aclshmemi_tls_context_destroy(of_uid(1)); /* and is gone */
    t_log_expect_clean();
}

/* ---- the launcher's descriptor ---- */

static void test_the_launchers_descriptor(void **state)
{
    (void)state;
    int fd = secret_fd_of("0123456789abcdef0123456789abcdef and more", 41);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    aclshmemi_tls_context_t *first = make(file_a, fd, NULL);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC); /* open for a later init, closed in programs we start */
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 41);     /* siblings share its position */
    aclshmemi_tls_context_t *second = make(file_a, fd, NULL);
    expect_good(first, second);
    aclshmemi_tls_context_destroy(first);
    aclshmemi_tls_context_destroy(second);
    close(fd);
}

static void expect_bad_descriptor(int fd, const char *words)
{
    aclshmemi_env_t env = t_tls_env(file_a);
    aclshmemi_tls_context_t *context = NULL;
    env.secret_fd = fd;
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), ACLSHMEM_INNER_ERROR);
    assert_null(context); /* never the user's file instead */
    t_check_contains(aclshmemi_status_last_text(), words);
}

static void test_bad_descriptors_of_launchers(void **state)
{
    (void)state;
    int pipes[2], fd = secret_fd_of("short", 5);
    expect_bad_descriptor(fd, "the launcher's secret has 5 bytes, it must have 32");
    close(fd);
    expect_bad_descriptor(fd, "SHMEM_SECRET_FD names no open descriptor (Bad file descriptor)");
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    expect_bad_descriptor(pipes[0], "cannot be read from its descriptor: Illegal seek");
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- two sides that share nothing ---- */

static void test_other_secrets_are_told_apart(void **state)
{
    (void)state;
    char client_text[600], server_text[600];
    aclshmemi_tls_context_t *user = of_user(file_a), *other_user = of_user(file_b);
    aclshmemi_tls_context_t *uid = of_uid(1), *other_uid = of_uid(2);
    aclshmemi_tls_context_t *job = of_job("0123456789abcdef0123456789abcdef");
    aclshmemi_tls_context_t *other_job = of_job("another secret of another job 32");
    snprintf(client_text, sizeof client_text,
             "peer has another secret file: copy that of the host of PE 0 to %s of this host", file_a);
    snprintf(server_text, sizeof server_text,
             "peer has another secret file: copy %s of this host to the same place on the peer's host",
             file_b);
    expect_bad(user, other_user, client_text, server_text);
    const char *words = "peer uses another unique id: all PEs must be given the same 136 bytes";
    expect_bad(uid, other_uid, words, words);
    words = "peer belongs to another job: its launcher's secret is another one";
    expect_bad(job, other_job, words, words);
    expect_bad(user, uid, "peer uses the unique id's secret, this PE the user's secret file",
               "peer uses the user's secret file, this PE the unique id's secret");
    expect_bad(uid, job, "peer uses the launcher's secret, this PE the unique id's secret",
               "peer uses the unique id's secret, this PE the launcher's secret");
    expect_bad(job, user, "peer uses the user's secret file, this PE the launcher's secret",
               "peer uses the launcher's secret, this PE the user's secret file");
    aclshmemi_tls_context_t *all[] = {user, other_user, uid, other_uid, job, other_job};
    for (int i = 0; i < 6; i++)
        aclshmemi_tls_context_destroy(all[i]);
}

/* The secret of one kind is worth nothing as another kind, though the bytes are the same. */
static void test_kinds_do_not_mix(void **state)
{
    (void)state;
    aclshmemi_psk_t psk[3];
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {9};
    const aclshmemi_tls_kind_t kinds[] = {ACLSHMEMI_TLS_UID, ACLSHMEMI_TLS_JOB, ACLSHMEMI_TLS_USER};
    for (int i = 0; i < 3; i++) {
        t_check_int(aclshmemi_psk_derive(kinds[i], secret, &psk[i]), 0);
        for (int j = 0; j < i; j++) {
            assert_memory_not_equal(psk[i].key, psk[j].key, sizeof psk[i].key);
            assert_int_not_equal(psk[i].hash, psk[j].hash);
        }
        assert_null(memmem(psk[i].key, sizeof psk[i].key, &psk[i].hash, sizeof psk[i].hash));
    }
    assert_int_not_equal(aclshmemi_psk_derive(ACLSHMEMI_TLS_X509, secret, &psk[0]), 0);
}

/* HKDF-SHA256 with these labels, computed once by another implementation: PEs of two builds must agree for ever. */
static void test_the_key_is_what_it_always_was(void **state)
{
    (void)state;
    static const uint8_t expected[ACLSHMEMI_PSK_LEN] = {
        0x5e, 0xe8, 0x5c, 0x52, 0x5d, 0xcf, 0xd2, 0xa1, 0xe6, 0x48, 0xa7, 0x21, 0x71, 0xa8, 0x6e, 0x04,
        0x67, 0x0d, 0x2d, 0x98, 0x1f, 0xa5, 0xc3, 0xf6, 0x43, 0xe4, 0x24, 0xdd, 0x6b, 0x10, 0x01, 0x2e};
    uint8_t secret[ACLSHMEMI_SECRET_LEN];
    aclshmemi_psk_t psk;
    for (size_t i = 0; i < sizeof secret; i++)
        secret[i] = (uint8_t)i;
    t_check_int(aclshmemi_psk_derive(ACLSHMEMI_TLS_USER, secret, &psk), 0);
    t_check_memory(psk.key, expected, sizeof expected);
    t_check_text(psk.identity, "aclshmem1:user:96bedd90");
}

static void test_identities(void **state)
{
    (void)state;
    const struct {
        const char *text;
        aclshmemi_tls_kind_t kind;
        uint32_t hash;
    } all[] = {
        {"aclshmem1:user:00000000", ACLSHMEMI_TLS_USER, 0},
        {"aclshmem1:uid:deadbeef", ACLSHMEMI_TLS_UID, 0xdeadbeef},
        {"aclshmem1:job:0123abcd", ACLSHMEMI_TLS_JOB, 0x0123abcd},
        {"aclshmem1:job:0123ABCD", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem1:job:0123abc", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem1:job:0123abcde", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem2:job:0123abcd", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem1:x509:0123abcd", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem1:", ACLSHMEMI_TLS_NONE, 0},
        {"", ACLSHMEMI_TLS_NONE, 0},
        {"aclshmem1:user:00000000 and far more than fits", ACLSHMEMI_TLS_NONE, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        aclshmemi_tls_kind_t kind = ACLSHMEMI_TLS_NONE;
        uint32_t hash = 0;
        size_t size = strlen(all[i].text);
        uint8_t *exact = malloc(size + 1); /* so that a read past the end is seen */
        uint8_t *text = memcpy(exact + 1, all[i].text, size);
        assert_int_equal(aclshmemi_psk_identity_parse(text, size, &kind, &hash),
                         all[i].kind != ACLSHMEMI_TLS_NONE);
        assert_int_equal(kind, all[i].kind);
        assert_int_equal(hash, all[i].hash);
        free(exact);
    }
}

/* ---- plain and encrypted ---- */

static void test_plain_meets_tls(void **state)
{
    (void)state;
    static const char tls_here[] = "peer speaks plain TCP, this PE TLS: all PEs must agree";
    static const char plain_here[] = "peer speaks TLS, this PE plain TCP: all PEs must agree";
    aclshmemi_tls_context_t *context = of_uid(1);
    t_pair_t pair;
    char byte;
    t_pair_open(&pair, context, NULL); /* the greeting arrives at a plain server */
    t_check_int(pair.server.rc, 0);
    t_check_int(t_side_read(&pair.server, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_text(pair.server.text, plain_here);
    t_check_int(aclshmemi_channel_handshake(pair.client.channel), ACLSHMEM_INNER_ERROR);
    t_check_text(aclshmemi_status_last_text(), tls_here);
    t_pair_close(&pair);
    t_pair_open(&pair, NULL, context); /* a plain request arrives at an encrypted server */
    t_check_int(pair.client.rc, 0);
    t_check_int(aclshmemi_channel_write(pair.client.channel, "request", 7), 7);
    t_check_int(aclshmemi_channel_handshake(pair.server.channel), ACLSHMEM_INNER_ERROR);
    t_check_text(aclshmemi_status_last_text(), tls_here);
    aclshmemi_channel_destroy(pair.server.channel, false);
    pair.server.channel = NULL;
    t_check_int(t_side_read(&pair.client, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_text(pair.client.text, plain_here);
    t_check_int(t_side_read(&pair.client, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(context);
}

/* Closing a TCP socket with unread bytes resets the connection, and with it the notice on its way. */
static void test_a_long_request_still_gets_its_notice(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = of_uid(1);
    aclshmemi_addr_t addr = {.v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}},
                             .length = sizeof addr.v4};
    int listener = -1, fd = -1;
    char request[6000] = "request";
    aclshmemi_channel_t *client = NULL, *server = NULL;
    assert_int_equal(aclshmemi_net_bind(&addr, &listener), 0);
    assert_int_equal(aclshmemi_net_listen(listener, 1), 0);
    assert_int_equal(aclshmemi_net_local(listener, &addr), 0);
    assert_int_equal(aclshmemi_net_connect(&addr, aclshmemi_deadline_after_ms(10000), &fd), 0);
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 10000), 1);
    int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(accepted >= 0);
    assert_int_equal(aclshmemi_channel_create(NULL, fd, false, &client), 0);
    assert_int_equal(aclshmemi_channel_create(context, accepted, true, &server), 0);
    t_check_int(aclshmemi_channel_handshake(client), 0);
    t_check_int(aclshmemi_channel_write(client, request, sizeof request), sizeof request);
    ready = (struct pollfd){.fd = accepted, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 10000), 1);
    t_check_int(aclshmemi_channel_handshake(server), ACLSHMEM_INNER_ERROR);
    aclshmemi_channel_destroy(server, false);
    ready = (struct pollfd){.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 10000), 1);
    t_check_int(aclshmemi_channel_read(client, request, sizeof request), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "peer speaks TLS");
    aclshmemi_channel_destroy(client, false);
    close(listener);
    aclshmemi_tls_context_destroy(context);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_each_kind_of_secret),
        TEST(test_an_id_comes_before_the_launcher_before_the_file),
        TEST(test_switched_off),
        TEST(test_the_words_for_tools),
        TEST(test_a_key_without_certificates_is_said),
        TEST(test_the_launchers_descriptor),
        TEST(test_bad_descriptors_of_launchers),
        TEST(test_other_secrets_are_told_apart),
        TEST(test_kinds_do_not_mix),
        TEST(test_the_key_is_what_it_always_was),
        TEST(test_identities),
        TEST(test_plain_meets_tls),
        TEST(test_a_long_request_still_gets_its_notice),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
