/* SPDX-License-Identifier: Apache-2.0 */
/* Peers with certificates: who is let in, who is refused, and what each side says about it. */
#include "tls_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "host/bootstrap/tls/settings.h"

/* ---- what works ---- */

static void test_two_pes_with_certificates(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *a = t_context_of("ca.pem", "pe.pem", t_pe_key, "");
    aclshmemi_tls_context_t *b = t_context_of("ca.pem", "peer.pem", t_peer_key, "");
    assert_string_equal(aclshmemi_tls_context_describe(a), "tls 1.3, certificates");
    t_pair_t pair;
    t_pair_open(&pair, a, b);
    t_check_int(pair.client.rc, 0);
    t_check_int(pair.server.rc, 0);
    t_pair_send(&pair.client, &pair.server, "hello");
    t_pair_send(&pair.server, &pair.client, "hello yourself");
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(a);
    aclshmemi_tls_context_destroy(b);
    t_log_expect_clean();
}

/* [T-14] */
static void test_rsa_3072_and_a_chain(void **state)
{
    (void)state;
    EVP_PKEY *rsa = t_key_rsa(3072), *middle_key = t_key_ec("P-384");
    X509 *middle = t_certificate_make(&(t_certificate_t){
        .name = "middle", .key = middle_key, .issuer = t_ca, .issuer_key = t_ca_key, .ca = true});
    t_make_and_write("rsa.pem", "rsa", rsa, middle, middle_key);
    t_certificate_write(t_in_dir("rsa.pem"), middle); /* the way to the CA follows the certificate */
    aclshmemi_tls_context_t *a = t_context_of("ca.pem", "rsa.pem", rsa, "");
    aclshmemi_tls_context_t *b = t_context_of("ca.pem, other_ca.pem", "peer.pem", t_peer_key, "");
    t_pair_t pair;
    t_pair_open(&pair, a, b);
    t_check_int(pair.client.rc, 0);
    t_check_int(pair.server.rc, 0);
    t_pair_send(&pair.server, &pair.client, "over a chain");
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(a);
    aclshmemi_tls_context_destroy(b);
    X509_free(middle);
    EVP_PKEY_free(middle_key);
    t_log_expect_clean();
}

/* ---- what is refused of a peer ---- */

/* The server refuses the client, which learns it as soon as it reads. */
static void expect_server_refuses(aclshmemi_tls_context_t *client, aclshmemi_tls_context_t *server,
                                  const char *words, const char *client_words)
{
    t_pair_t pair;
    char byte;
    t_pair_open(&pair, client, server);
    t_check_int(pair.server.rc, ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.server.text, words);
    if (pair.client.rc == 0)
        t_check_int(t_side_read(&pair.client, &byte, 1), ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.client.text, client_words);
    t_pair_close(&pair);
}

/* [T-15] */
static void test_peers_of_another_ca(void **state)
{
    (void)state;
    t_make_and_write("foreign.pem", "foreign", t_peer_key, t_other_ca, t_other_ca_key);
    t_make_and_write("self.pem", "self", t_peer_key, NULL, NULL);
    aclshmemi_tls_context_t *good = t_context_of("ca.pem", "pe.pem", t_pe_key, "");
    aclshmemi_tls_context_t *foreign = t_context_of("ca.pem,other_ca.pem", "foreign.pem", t_peer_key, "");
    aclshmemi_tls_context_t *self = t_context_of("ca.pem", "self.pem", t_peer_key, "");
    expect_server_refuses(foreign, good,
                          "peer's certificate was refused: self-signed certificate in certificate chain",
                          "peer refused the connection: unknown CA");
    expect_server_refuses(self, good, "peer's certificate was refused: self-signed certificate",
                          "peer refused the connection: unknown CA");
    t_pair_t pair; /* and the other way round: the client refuses */
    t_pair_open(&pair, good, foreign);
    t_check_int(pair.client.rc, ACLSHMEM_INNER_ERROR);
    t_check_int(pair.server.rc, ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.client.text,
                     "peer's certificate was refused: self-signed certificate in certificate chain");
    t_check_contains(pair.server.text, "peer refused the connection: unknown CA");
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(good);
    aclshmemi_tls_context_destroy(foreign);
    aclshmemi_tls_context_destroy(self);
}

/* [T-16] [T-17] */
static void test_revoked_peers(void **state)
{
    (void)state;
    X509 *revoked = t_make("revoked", t_peer_key, t_ca, t_ca_key);
    t_write_once("revoked.pem", revoked);
    X509_CRL *crl = t_crl_make(t_ca, t_ca_key, revoked, 1000000),
             *old = t_crl_make(t_ca, t_ca_key, NULL, -1000);
    t_crl_write(t_in_dir("crl.pem"), crl);
    t_crl_write(t_in_dir("old_crl.pem"), old);
    char with_crl[700], with_old[700];
    snprintf(with_crl, sizeof with_crl, "tlsCrlPath:%s;tlsCrlFile:crl.pem", t_dir);
    snprintf(with_old, sizeof with_old, "tlsCrlPath:%s;tlsCrlFile:old_crl.pem", t_dir);
    aclshmemi_tls_context_t *server = t_context_of("ca.pem", "pe.pem", t_pe_key, with_crl);
    aclshmemi_tls_context_t *unaware = t_context_of("ca.pem", "pe.pem", t_pe_key, "");
    aclshmemi_tls_context_t *client = t_context_of("ca.pem", "revoked.pem", t_peer_key, "");
    aclshmemi_tls_context_t *fine = t_context_of("ca.pem", "peer.pem", t_peer_key, "");
    t_log_expect_clean();
    expect_server_refuses(client, server, "peer's certificate was refused: certificate revoked",
                          "peer refused the connection: certificate revoked");
    t_pair_t pair;
    t_pair_open(&pair, fine, server);
    t_check_int(pair.server.rc, 0);
    t_pair_close(&pair);
    t_pair_open(&pair, client, unaware); /* nobody told it */
    t_check_int(pair.server.rc, 0);
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(server);
    server = t_context_of("ca.pem", "pe.pem", t_pe_key, with_old);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "a revocation list is past its next update");
    expect_server_refuses(fine, server, "peer's certificate was refused: CRL has expired",
                          "peer refused the connection");
    aclshmemi_tls_context_destroy(server);
    aclshmemi_tls_context_destroy(unaware);
    aclshmemi_tls_context_destroy(client);
    aclshmemi_tls_context_destroy(fine);
    X509_CRL_free(crl);
    X509_CRL_free(old);
    X509_free(revoked);
}

static void test_allowed_subjects(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *open =
        t_context_of("ca.pem", "pe.pem", t_pe_key, "tlsAllowedSubjects: someone, peer");
    aclshmemi_tls_context_t *narrow =
        t_context_of("ca.pem", "pe.pem", t_pe_key, "tlsAllowedSubjects: pee, peers, Peer");
    aclshmemi_tls_context_t *peer = t_context_of("ca.pem", "peer.pem", t_peer_key, "");
    t_pair_t pair;
    t_pair_open(&pair, peer, open);
    t_check_int(pair.server.rc, 0);
    t_pair_close(&pair);
    expect_server_refuses(peer, narrow, "peer's certificate was refused: tlsAllowedSubjects lacks its name",
                          "peer refused the connection");
    t_pair_open(&pair, narrow, peer);
    t_check_int(pair.client.rc, ACLSHMEM_INNER_ERROR);
    t_check_contains(pair.client.text, "tlsAllowedSubjects lacks its name");
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(open);
    aclshmemi_tls_context_destroy(narrow);
    aclshmemi_tls_context_destroy(peer);
}

/* ---- a client of another make ---- */

/* What the server said to a client with these suites, in the newest version given; "" when they agreed. */
static const char *foreign_client(aclshmemi_tls_context_t *server, const char *suites, bool with_certificate,
                                  int version)
{
    static char text[512];
    int fds[2], rc = ACLSHMEMI_CHANNEL_WANT_READ;
    aclshmemi_channel_t *channel = NULL;
    SSL_CTX *made = SSL_CTX_new(TLS_client_method());
    X509 *certificate = t_make("foreign client", t_peer_key, t_ca, t_ca_key);
    assert_int_equal(SSL_CTX_set_max_proto_version(made, version), 1);
    assert_int_equal(SSL_CTX_set_ciphersuites(made, suites), 1);
    if (with_certificate) {
        assert_int_equal(SSL_CTX_use_certificate(made, certificate), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey(made, t_peer_key), 1);
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(aclshmemi_channel_create(server, fds[1], true, &channel), 0);
    SSL *ssl = SSL_new(made);
    assert_int_equal(SSL_set_fd(ssl, fds[0]), 1);
    SSL_set_connect_state(ssl);
    for (int turn = 0; turn < 10 && rc == ACLSHMEMI_CHANNEL_WANT_READ; turn++) {
        (void)!SSL_do_handshake(ssl);
        rc = aclshmemi_channel_handshake(channel);
    }
    snprintf(text, sizeof text, "%s", rc == 0 ? "" : aclshmemi_status_last_text());
    aclshmemi_channel_destroy(channel, false);
    SSL_free(ssl);
    SSL_CTX_free(made);
    X509_free(certificate);
    close(fds[0]);
    return text;
}

/* [T-26] */
static void test_suites_and_versions(void **state)
{
    (void)state;
    static const char *const suites[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                         "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256"};
    aclshmemi_tls_context_t *server = t_context_of("ca.pem", "pe.pem", t_pe_key, "");
    for (int i = 0; i < 4; i++)
        t_check_text(foreign_client(server, suites[i], true, TLS1_3_VERSION), "");
    t_check_contains(foreign_client(server, "TLS_AES_128_CCM_8_SHA256", true, TLS1_3_VERSION),
                     "TLS handshake failed" /* releases of OpenSSL differ in the reason */);
    t_check_contains(foreign_client(server, suites[0], true, TLS1_2_VERSION), "unsupported protocol");
    t_check_contains(foreign_client(server, suites[0], false, TLS1_3_VERSION),
                     "peer did not return a certificate");
    aclshmemi_tls_context_destroy(server);
}

static void test_certificates_against_a_shared_key(void **state)
{
    (void)state;
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {7};
    aclshmemi_tls_context_t *keyed = NULL, *certified = t_context_of("ca.pem", "pe.pem", t_pe_key, "");
    aclshmemi_tls_settings_reset();
    assert_int_equal(aclshmemi_tls_context_create(&t_env, secret, &keyed), 0);
    t_pair_t pair;
    for (int i = 0; i < 2; i++) {
        t_pair_open(&pair, i ? keyed : certified, i ? certified : keyed);
        t_side_t *with_key = i ? &pair.client : &pair.server,
                 *with_certificate = i ? &pair.server : &pair.client;
        t_check_int(with_key->rc, ACLSHMEM_INNER_ERROR);
        t_check_int(with_certificate->rc, ACLSHMEM_INNER_ERROR);
        t_check_text(with_certificate->text, "peer uses the unique id's secret, this PE certificates");
        t_check_contains(with_key->text, i ? "peer uses certificates, this PE the unique id's secret"
                                           : "peer offers no pre-shared key (");
        t_pair_close(&pair);
    }
    aclshmemi_tls_context_destroy(keyed);
    aclshmemi_tls_context_destroy(certified);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, t_fixture_start, t_fixture_stop)
    const struct CMUnitTest tests[] = {
        TEST(test_two_pes_with_certificates),
        TEST(test_rsa_3072_and_a_chain),
        TEST(test_peers_of_another_ca),
        TEST(test_revoked_peers),
        TEST(test_allowed_subjects),
        TEST(test_suites_and_versions),
        TEST(test_certificates_against_a_shared_key),
    };
    return cmocka_run_group_tests(tests, t_fixture_setup, t_fixture_teardown);
}
