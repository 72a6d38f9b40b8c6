/* SPDX-License-Identifier: Apache-2.0 */
/* Peers of another make on a connection with a pre-shared key: what they can agree on with us, and what gets them nowhere. */
/* */
#include "tls_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "host/bootstrap/tls/psk.h"
#include "host/bootstrap/tls/settings.h"

static char dir[256];

static int setup(void **state)
{
    (void)state;
    t_clean_environment();
    t_dir_make(dir, sizeof dir);
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

static aclshmemi_tls_context_t *of_uid(uint8_t seed)
{
    aclshmemi_env_t env = t_tls_env("");
    aclshmemi_tls_context_t *context = NULL;
    uint8_t secret[ACLSHMEMI_SECRET_LEN];
    memset(secret, seed, sizeof secret);
    int rc = aclshmemi_tls_context_create(&env, secret, &context);
    t_check_that(rc == 0, "no context: %s", aclshmemi_status_last_text());
    return context;
}

/* A plain peer of another make answers something of its own. */
static void test_a_foreign_server(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = of_uid(1);
    int fds[2];
    aclshmemi_channel_t *client = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(aclshmemi_channel_create(context, fds[0], false, &client), 0);
    t_check_int(aclshmemi_channel_handshake(client), ACLSHMEMI_CHANNEL_WANT_READ);
    assert_int_equal(write(fds[1], "HTTP/1.1 400 Bad Request\r\n\r\n", 28), 28);
    t_check_int(aclshmemi_channel_handshake(client), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "peer speaks plain TCP");
    aclshmemi_channel_destroy(client, false);
    close(fds[1]);
    aclshmemi_tls_context_destroy(context);
}

/* ---- a client of another make, for what ours never does ---- */

typedef struct raw {
    SSL_CTX *context;
    SSL *ssl;
    aclshmemi_psk_t psk;
    aclshmemi_channel_t *server;
    int server_rc;
    char server_text[512];
    int tickets; /* sessions the server offered for later */
    bool done;
} raw_t;

static int raw_use_session(SSL *ssl, const EVP_MD *md, const unsigned char **identity, size_t *size,
                           SSL_SESSION **session)
{
    raw_t *raw = SSL_get_app_data(ssl);
    static const unsigned char suite[] = {0x13, 0x01};
    (void)md;
    *session = SSL_SESSION_new();
    SSL_SESSION_set1_master_key(*session, raw->psk.key, sizeof raw->psk.key);
    SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, suite));
    SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION);
    *identity = (const unsigned char *)raw->psk.identity;
    *size = strlen(raw->psk.identity);
    return 1;
}

static int raw_new_session(SSL *ssl, SSL_SESSION *session)
{
    raw_t *raw = SSL_get_app_data(ssl);
    (void)session;
    raw->tickets++;
    return 0;
}

static void raw_make(raw_t *raw, uint8_t seed)
{
    uint8_t secret[ACLSHMEMI_SECRET_LEN];
    memset(secret, seed, sizeof secret);
    memset(raw, 0, sizeof *raw);
    assert_int_equal(aclshmemi_psk_derive(ACLSHMEMI_TLS_UID, secret, &raw->psk), 0);
    raw->context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_psk_use_session_callback(raw->context, raw_use_session);
    SSL_CTX_set_session_cache_mode(raw->context, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(raw->context, raw_new_session);
}

static void raw_shake(raw_t *raw, aclshmemi_tls_context_t *context)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(aclshmemi_channel_create(context, fds[1], true, &raw->server), 0);
    raw->ssl = SSL_new(raw->context);
    SSL_set_app_data(raw->ssl, raw);
    assert_int_equal(SSL_set_fd(raw->ssl, fds[0]), 1);
    SSL_set_connect_state(raw->ssl);
    raw->server_rc = ACLSHMEMI_CHANNEL_WANT_READ;
    for (int turn = 0; turn < 20; turn++) {
        raw->done = raw->done || SSL_do_handshake(raw->ssl) == 1;
        if (raw->server_rc == ACLSHMEMI_CHANNEL_WANT_READ)
            raw->server_rc = aclshmemi_channel_handshake(raw->server);
        if (raw->server_rc == ACLSHMEM_INNER_ERROR)
            snprintf(raw->server_text, sizeof raw->server_text, "%s", aclshmemi_status_last_text());
    }
}

static void raw_free(raw_t *raw)
{
    int fd = raw->ssl ? SSL_get_fd(raw->ssl) : -1;
    aclshmemi_channel_destroy(raw->server, false);
    SSL_free(raw->ssl);
    SSL_CTX_free(raw->context);
    if (fd >= 0)
        close(fd);
}

static void test_what_is_agreed_on(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = of_uid(3);
    raw_t raw;
    char byte;
    raw_make(&raw, 3);
    raw_shake(&raw, context);
    assert_true(raw.done);
    t_check_int(raw.server_rc, 0);
    t_check_int(SSL_version(raw.ssl), TLS1_3_VERSION);
    t_check_text(SSL_get_cipher_name(raw.ssl), "TLS_AES_128_GCM_SHA256");
    t_check_int(SSL_get_negotiated_group(raw.ssl), NID_X25519); /* never a key without a fresh exchange */
    assert_null(SSL_get0_peer_certificate(raw.ssl));
    assert_int_equal(SSL_read(raw.ssl, &byte, 1), -1);
    t_check_int(raw.tickets, 0);
    t_check_uint(SSL_SESSION_get_max_early_data(SSL_get_session(raw.ssl)), 0);
    assert_int_equal(SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED),
                     1); /* long jobs may renew their keys */
    assert_int_equal(SSL_write(raw.ssl, "x", 1), 1);
    ssize_t n = aclshmemi_channel_read(raw.server, &byte, 1);
    t_check_that(n == 1, "read: %zd, %s", n, aclshmemi_status_last_text());
    t_check_int(aclshmemi_channel_write(raw.server, "y", 1), 1);
    assert_int_equal(SSL_read(raw.ssl, &byte, 1), 1);
    raw_free(&raw);
    aclshmemi_tls_context_destroy(context);
}

/* [T-26] */
static void test_suites(void **state)
{
    (void)state;
    const struct {
        const char *suites;
        bool good;
    } all[] = {
        {"TLS_AES_128_GCM_SHA256", true},
        {"TLS_CHACHA20_POLY1305_SHA256", true},
        {"TLS_AES_128_CCM_SHA256", true},
        {"TLS_AES_128_CCM_8_SHA256", false},
        {"TLS_AES_256_GCM_SHA384", false}, /* the key is bound to SHA-256 */
        {"TLS_AES_128_CCM_8_SHA256:TLS_AES_128_CCM_SHA256:TLS_AES_128_GCM_SHA256", true},
    };
    aclshmemi_tls_context_t *context = of_uid(3);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        raw_t raw;
        raw_make(&raw, 3);
        assert_int_equal(SSL_CTX_set_ciphersuites(raw.context, all[i].suites), 1);
        raw_shake(&raw, context);
        t_check_that(raw.done == all[i].good, "%s: %d, %s", all[i].suites, raw.done, raw.server_text);
        t_check_int(raw.server_rc, all[i].good ? 0 : ACLSHMEM_INNER_ERROR);
        if (i == 5) /* the server chooses */
            t_check_text(SSL_get_cipher_name(raw.ssl), "TLS_AES_128_GCM_SHA256");
        raw_free(&raw);
    }
    aclshmemi_tls_context_destroy(context);
}

/* [T-26] */
static void test_old_versions(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = of_uid(3);
    raw_t raw;
    raw_make(&raw, 3);
    assert_int_equal(SSL_CTX_set_max_proto_version(raw.context, TLS1_2_VERSION), 1);
    raw_shake(&raw, context);
    assert_false(raw.done);
    t_check_int(raw.server_rc, ACLSHMEM_INNER_ERROR);
    t_check_contains(raw.server_text, "unsupported protocol");
    raw_free(&raw);
    aclshmemi_tls_context_destroy(context);
}

/* Knowing the name of a key is not knowing the key. */
static void test_a_liar(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = of_uid(3);
    raw_t raw;
    raw_make(&raw, 3);
    raw.psk.key[31] ^= 1;
    raw_shake(&raw, context);
    assert_false(raw.done);
    t_check_int(raw.server_rc, ACLSHMEM_INNER_ERROR);
    t_check_contains(raw.server_text, "TLS handshake failed: ");
    raw_free(&raw);
    raw_make(&raw, 3);
    snprintf(raw.psk.identity, sizeof raw.psk.identity, "somebody");
    raw_shake(&raw, context);
    assert_false(raw.done);
    t_check_contains(raw.server_text, "peer is no PE: it offers a pre-shared key with a foreign name");
    raw_free(&raw);
    raw_make(&raw, 3);
    SSL_CTX_set_psk_use_session_callback(raw.context, NULL); /* a browser, say */
    raw_shake(&raw, context);
    assert_false(raw.done);
    t_check_contains(raw.server_text, "peer offers no pre-shared key");
    raw_free(&raw);
    aclshmemi_tls_context_destroy(context);
}

/* ---- OpenSSL's own settings ---- */

/* Run as a program of its own, with OPENSSL_CONF set: contexts work as ever, whatever the system asks of others. */
static int be_configured(void)
{
    raw_t raw;
    aclshmemi_tls_context_t *context = of_uid(3);
    t_pair_t pair;
    t_pair_open(&pair, context, context);
    t_check_that(pair.client.rc == 0 && pair.server.rc == 0, "%s, %s", pair.client.text, pair.server.text);
    t_pair_close(&pair);
    raw_make(&raw, 3);
    SSL_CTX *of_program = SSL_CTX_new(TLS_client_method());
    t_check_that(SSL_CTX_get_max_proto_version(of_program) == TLS1_2_VERSION,
                 "the settings were not read for others");
    SSL_CTX_free(of_program);
    SSL_CTX_set_max_proto_version(raw.context, TLS1_3_VERSION);
    SSL_CTX_set1_groups_list(raw.context, (char[]){"X25519"});
    SSL_CTX_set_ciphersuites(raw.context, "TLS_AES_128_GCM_SHA256");
    raw_shake(&raw, context);
    t_check_that(raw.done, "%s", raw.server_text);
    char byte;
    t_check_int(SSL_read(raw.ssl, &byte, 1), -1);
    t_check_int(raw.tickets, 0);
    raw_free(&raw);
    aclshmemi_tls_context_destroy(context);
    return 0;
}

static void test_settings_of_openssl(void **state)
{
    (void)state;
    char path[300], variable[400];
    snprintf(path, sizeof path, "%s/openssl.cnf", dir);
    snprintf(variable, sizeof variable, "OPENSSL_CONF=%s", path);
    t_file_write(path,
                 "openssl_conf = all\n"
                 "[all]\nssl_conf = ssl\n"
                 "[ssl]\nsystem_default = rules\n"
                 "[rules]\nMaxProtocol = TLSv1.2\nGroups = P-521\nCiphersuites = TLS_AES_256_GCM_SHA384\n"
                 "Options = UnsafeLegacyRenegotiation\nVerifyMode = Peer\nNumTickets = 5\n");
    const char *const arguments[] = {t_own_path(), "configured", NULL}, *const environment[] = {variable,
                                                                                                NULL};
    t_child_t child;
    t_run(&child, arguments, environment, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
}

/* ---- the wire ---- */

static void test_nothing_readable_on_the_wire(void **state)
{
    (void)state;
    static const char words[] = "these words are for the peer alone";
    aclshmemi_tls_context_t *context = of_uid(3);
    int left[2], right[2], rc[2] = {ACLSHMEMI_CHANNEL_WANT_READ, ACLSHMEMI_CHANNEL_WANT_READ};
    aclshmemi_channel_t *side[2] = {NULL, NULL};
    uint8_t tape[16384];
    size_t size = 0;
    char got[64] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, left), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, right), 0);
    assert_int_equal(aclshmemi_channel_create(context, left[0], false, &side[0]), 0);
    assert_int_equal(aclshmemi_channel_create(context, right[0], true, &side[1]), 0);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 2; i++)
            if (rc[i] != 0)
                rc[i] = aclshmemi_channel_handshake(side[i]);
        if (turn == 10)
            t_check_int(aclshmemi_channel_write(side[0], words, sizeof words), sizeof words);
        for (int i = 0; i < 2; i++) { /* pass on, and keep a copy */
            ssize_t n = read(i ? right[1] : left[1], tape + size, sizeof tape - size);
            if (n <= 0)
                continue;
            assert_int_equal(write(i ? left[1] : right[1], tape + size, (size_t)n), n);
            size += (size_t)n;
        }
    }
    t_check_int(aclshmemi_channel_read(side[1], got, sizeof got), sizeof words);
    t_check_text(got, words);
    assert_null(memmem(tape, size, "for the peer", 12));
    assert_non_null(memmem(tape, size, "aclshmem1:uid:", 14)); /* the tape is of the right connection */
    static const uint8_t only_1_3[] = {0x00, 0x2b, 0x00, 0x03,
                                       0x02, 0x03, 0x04}; /* supported_versions of a client */
    assert_non_null(memmem(tape, size, only_1_3, sizeof only_1_3));
    for (int i = 0; i < 2; i++)
        aclshmemi_channel_destroy(side[i], true);
    close(left[1]);
    close(right[1]);
    aclshmemi_tls_context_destroy(context);
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "configured") == 0)
        return be_configured();
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_a_foreign_server),
        TEST(test_what_is_agreed_on),
        TEST(test_suites),
        TEST(test_old_versions),
        TEST(test_a_liar),
        TEST(test_settings_of_openssl),
        TEST(test_nothing_readable_on_the_wire),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
