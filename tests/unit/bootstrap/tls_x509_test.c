/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates: what is accepted, what is refused at the start, what is refused of a peer, and with which words. */
#include "tls_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "host/bootstrap/tls/settings.h"

static char dir[256];
static char package[300];
static aclshmemi_env_t env;
static EVP_PKEY *ca_key, *other_ca_key, *pe_key, *peer_key;
static X509 *ca, *other_ca;

static const char *in_dir(const char *name)
{
    static char path[4][600];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
    return path[next];
}

/* A folder that passes for OpenSSL's, so that the tests need no particular installation. */
static void make_package(const char *path)
{
    char file[400];
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof file, "%s/libssl.so", path);
    t_file_write(file, "x");
    snprintf(file, sizeof file, "%s/libcrypto.so", path);
    t_file_write(file, "x");
}

static X509 *make(const char *name, EVP_PKEY *key, const X509 *issuer, EVP_PKEY *issuer_key)
{
    return t_certificate_make(
        &(t_certificate_t){.name = name, .key = key, .issuer = issuer, .issuer_key = issuer_key});
}

static X509 *make_ca(const char *name, EVP_PKEY *key)
{
    return t_certificate_make(&(t_certificate_t){.name = name, .key = key, .ca = true});
}

static void write_once(const char *name, const X509 *certificate)
{
    unlink(in_dir(name));
    t_certificate_write(in_dir(name), certificate);
}

static void make_and_write(const char *file, const char *name, EVP_PKEY *key, const X509 *issuer,
                           EVP_PKEY *issuer_key)
{
    X509 *made = make(name, key, issuer, issuer_key);
    write_once(file, made);
    X509_free(made);
}

static int setup(void **state)
{
    (void)state;
    t_clean_environment();
    t_dir_make(dir, sizeof dir);
    snprintf(package, sizeof package, "%s/openssl", dir);
    make_package(package);
    env = t_tls_env("");
    ca_key = t_key_ec("P-256");
    other_ca_key = t_key_ec("P-256");
    pe_key = t_key_ec("P-256");
    peer_key = t_key_ec("P-256");
    ca = make_ca("ca", ca_key);
    other_ca = make_ca("other ca", other_ca_key);
    write_once("ca.pem", ca);
    write_once("other_ca.pem", other_ca);
    make_and_write("pe.pem", "pe", pe_key, ca, ca_key);
    make_and_write("peer.pem", "peer", peer_key, ca, ca_key);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    X509_free(ca);
    X509_free(other_ca);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(other_ca_key);
    EVP_PKEY_free(pe_key);
    EVP_PKEY_free(peer_key);
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
    aclshmemi_tls_settings_reset();
    t_unit_log_stop();
    return 0;
}

/* ---- ways to ask for a context ---- */

static void configure(const char *ca_file, const char *cert, const char *more)
{
    char info[2048];
    int length = snprintf(info, sizeof info, "tlsCaPath:%s; tlsCaFile:%s; tlsCert:%s; packagePath:%s; %s",
                          dir, ca_file, in_dir(cert), package, more);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
}

static void set_key(EVP_PKEY *key)
{
    char *pem = t_key_pem(key, NULL);
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), NULL, 0, NULL), 0);
    free(pem);
}

static aclshmemi_tls_context_t *context_of(const char *ca_file, const char *cert, EVP_PKEY *key,
                                           const char *more)
{
    aclshmemi_tls_context_t *context = NULL;
    configure(ca_file, cert, more);
    set_key(key);
    int rc = aclshmemi_tls_context_create(&env, NULL, &context);
    if (rc != 0)
        t_fail("no context: %s", aclshmemi_status_last_text());
    assert_non_null(context);
    return context;
}

/* No context with what is configured, and these words. */
static void expect_refusal(int code, const char *words)
{
    aclshmemi_tls_context_t *context = (void *)&env;
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), code);
    t_check_contains(aclshmemi_status_last_text(), words);
    assert_ptr_equal(context, (void *)&env); /* outputs only on success */
    assert_false(t_log_contains(dir));       /* names of files stay out of the log */
}

static void expect_refused_cert(const char *cert, EVP_PKEY *key, const char *words)
{
    configure("ca.pem", cert, "");
    set_key(key);
    expect_refusal(ACLSHMEM_INNER_ERROR, words);
}

/* ---- what works ---- */

static void test_two_pes_with_certificates(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *a = context_of("ca.pem", "pe.pem", pe_key, "");
    aclshmemi_tls_context_t *b = context_of("ca.pem", "peer.pem", peer_key, "");
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

static void test_rsa_3072_and_a_chain(void **state)
{
    (void)state;
    EVP_PKEY *rsa = t_key_rsa(3072), *middle_key = t_key_ec("P-384");
    X509 *middle = t_certificate_make(&(t_certificate_t){
        .name = "middle", .key = middle_key, .issuer = ca, .issuer_key = ca_key, .ca = true});
    make_and_write("rsa.pem", "rsa", rsa, middle, middle_key);
    t_certificate_write(in_dir("rsa.pem"), middle); /* the way to the CA follows the certificate */
    aclshmemi_tls_context_t *a = context_of("ca.pem", "rsa.pem", rsa, "");
    aclshmemi_tls_context_t *b = context_of("ca.pem, other_ca.pem", "peer.pem", peer_key, "");
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

static void test_setters_copy_and_the_last_call_wins(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = NULL;
    char info[2048], text[] = "tlsCaPath:/nowhere";
    /* Neither terminated nor valid behind the length given. */
    int length =
        snprintf(info, sizeof info, "tlsCaPath : %s ;tlsCaFile: ca.pem ; tlsCert:%s;packagePath :%s;;garbage",
                 dir, in_dir("pe.pem"), package);
    assert_int_equal(aclshmemi_tls_configure(true, text, sizeof text - 1), 0);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length - 8), 0);
    memset(info, 'x', sizeof info);
    char *pem = t_key_pem(pe_key, NULL);
    assert_int_equal(aclshmemi_tls_set_key("rubbish", 7, NULL, 0, NULL), 0);
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), NULL, 0, NULL), 0);
    memset(pem, 'x', strlen(pem));
    free(pem);
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    assert_non_null(context);
    aclshmemi_tls_context_destroy(context);
    t_log_expect_clean();
}

static void test_each_init_needs_the_key_again(void **state)
{
    (void)state;
    aclshmemi_tls_context_destroy(context_of("ca.pem", "pe.pem", pe_key, ""));
    expect_refusal(ACLSHMEM_INNER_ERROR,
                   "must be set with aclshmemx_set_config_store_tls_key before each init");
    set_key(pe_key);
    aclshmemi_tls_drop_key();
    expect_refusal(ACLSHMEM_INNER_ERROR, "needs a private key");
}

/* ---- what is refused at the start ---- */

static void test_validity(void **state)
{
    (void)state;
    const struct {
        const char *file, *words;
        long from_s, to_s;
    } bad[] = {{"expired.pem", "the certificate of this PE expired on 20", -2000, -1000},
               {"early.pem", "the certificate of this PE is not valid before 20", 1000, 2000}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        X509 *made = t_certificate_make(&(t_certificate_t){.name = "pe",
                                                           .key = pe_key,
                                                           .issuer = ca,
                                                           .issuer_key = ca_key,
                                                           .from_s = bad[i].from_s,
                                                           .to_s = bad[i].to_s});
        write_once(bad[i].file, made);
        X509_free(made);
        expect_refused_cert(bad[i].file, pe_key, bad[i].words);
    }
    X509 *old = t_certificate_make(
        &(t_certificate_t){.name = "old ca", .key = ca_key, .from_s = -2000, .to_s = -1000, .ca = true});
    write_once("old_ca.pem", old);
    X509_free(old);
    configure("ca.pem,old_ca.pem", "pe.pem", "");
    set_key(pe_key);
    expect_refusal(ACLSHMEM_INNER_ERROR, "CA certificate 2 expired on 20");
}

static void test_a_near_end_is_a_warning(void **state)
{
    (void)state;
    X509 *made = t_certificate_make(&(t_certificate_t){.name = "pe",
                                                       .key = pe_key,
                                                       .issuer = ca,
                                                       .issuer_key = ca_key,
                                                       .from_s = -1000,
                                                       .to_s = 10 * 86400L + 3600});
    write_once("soon.pem", made);
    X509_free(made);
    aclshmemi_tls_context_destroy(context_of("ca.pem", "soon.pem", pe_key, ""));
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "the certificate of this PE expires in 10 days, on 20");
    t_log_forget();
    aclshmemi_env_t relaxed = env;
    relaxed.cert_check_ahead = 7;
    configure("ca.pem", "soon.pem", "");
    set_key(pe_key);
    aclshmemi_tls_context_t *context = NULL;
    assert_int_equal(aclshmemi_tls_context_create(&relaxed, NULL, &context), 0);
    aclshmemi_tls_context_destroy(context);
    t_log_expect_clean();
}

static void test_weak_keys(void **state)
{
    (void)state;
    EVP_PKEY *weak = t_key_rsa(2048), *weak_ec = t_key_ec("P-224");
    make_and_write("weak.pem", "pe", weak, ca, ca_key);
    expect_refused_cert(
        "weak.pem", weak,
        "the RSA key in the certificate of this PE has 2048 bits, it must have at least 3072");
    make_and_write("weak_ec.pem", "pe", weak_ec, ca, ca_key);
    expect_refused_cert("weak_ec.pem", weak_ec, "has 224 bits, it must have at least 256");
    X509 *weak_ca = make_ca("weak ca", weak);
    write_once("weak_ca.pem", weak_ca);
    X509_free(weak_ca);
    configure("weak_ca.pem", "pe.pem", "");
    set_key(pe_key);
    expect_refusal(ACLSHMEM_INNER_ERROR, "the RSA key in a CA certificate has 2048 bits");
    EVP_PKEY_free(weak_ec);
}

typedef enum place { IN_CERT, IN_CAS, IN_CRLS } place_t;

/* A description that is good but for one file. */
static void configure_bad_file(place_t place, const char *name)
{
    char info[4096];
    int length = snprintf(info, sizeof info,
                          "tlsCaPath:%s;tlsCaFile:ca.pem%s%s;tlsCert:%s;packagePath:%s;tlsCrlPath:%s;"
                          "tlsCrlFile:good_crl.pem%s%s",
                          dir, place == IN_CAS ? "," : "", place == IN_CAS ? name : "",
                          in_dir(place == IN_CERT ? name : "pe.pem"), package, dir,
                          place == IN_CRLS ? "," : "", place == IN_CRLS ? name : "");
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    set_key(pe_key);
}

/* A file in each bad shape. key: which item of the description names it; good: a file of its kind. */
static void check_bad_file(place_t place, const char *key, const char *good)
{
    const struct {
        const char *name, *words;
    } shapes[] = {
        {"missing.pem", "cannot be opened: No such file"},
        {"a_folder.pem", "not a regular file"},
        {"a_link.pem", "is a symbolic link"},
        {"big.pem", "allowed are 1..10485760"},
        {"empty.pem", "has 0 bytes"},
        {"open.pem", "can be written by others (mode 0620)"},
        {"garbage.pem", "is not a PEM text"},
        {"a_pipe.pem", "not a regular file"},
    };
    mkdir(in_dir("a_folder.pem"), 0700);
    unlink(in_dir("a_link.pem"));
    assert_int_equal(symlink(in_dir(good), in_dir("a_link.pem")), 0);
    t_file_write(in_dir("big.pem"), "");
    assert_int_equal(truncate(in_dir("big.pem"), (10 << 20) + 1), 0);
    t_file_write(in_dir("empty.pem"), "");
    char *content = t_file_read(in_dir(good));
    t_file_write(in_dir("open.pem"), content);
    assert_int_equal(chmod(in_dir("open.pem"), 0620), 0);
    free(content);
    t_file_write(in_dir("garbage.pem"), "no certificate at all\n");
    unlink(in_dir("a_pipe.pem"));
    assert_int_equal(mkfifo(in_dir("a_pipe.pem"), 0600), 0);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        configure_bad_file(place, shapes[i].name);
        expect_refusal(ACLSHMEM_INNER_ERROR, shapes[i].words);
        t_check_contains(aclshmemi_status_last_text(), key);
    }
}

static void test_bad_files(void **state)
{
    (void)state;
    X509_CRL *crl = t_crl_make(ca, ca_key, NULL, 1000000);
    t_crl_write(in_dir("good_crl.pem"), crl);
    X509_CRL_free(crl);
    check_bad_file(IN_CERT, "tlsCert", "pe.pem");
    check_bad_file(IN_CAS, "tlsCaFile", "ca.pem");
    check_bad_file(IN_CRLS, "tlsCrlFile", "good_crl.pem");
}

static void test_bad_folders(void **state)
{
    (void)state;
    char link[600], info[4096];
    snprintf(link, sizeof link, "%s_link", dir);
    unlink(link);
    assert_int_equal(symlink(dir, link), 0);
    const char *const folders[] = {link, "/nonexistent/folder", in_dir("ca.pem")};
    const char *const words[] = {"is a symbolic link", "cannot be looked at", "does not name a directory"};
    for (int i = 0; i < 9; i++) {
        const char *bad = folders[i % 3],
                   *slash = i % 3 == 0 ? "/" : ""; /* a slash at the end must not hide the link */
        int length = snprintf(info, sizeof info,
                              "tlsCaPath:%s%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s%s;tlsCrlPath:%s%s;"
                              "tlsCrlFile:good_crl.pem",
                              i / 3 == 0 ? bad : dir, i / 3 == 0 ? slash : "", in_dir("pe.pem"),
                              i / 3 == 1 ? bad : package, i / 3 == 1 ? slash : "", i / 3 == 2 ? bad : dir,
                              i / 3 == 2 ? slash : "");
        assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
        set_key(pe_key);
        expect_refusal(ACLSHMEM_INNER_ERROR, words[i % 3]);
    }
    unlink(link);
}

static void expect_bad_package(const char *path, const char *words)
{
    char info[2048];
    int length = snprintf(info, sizeof info, "tlsCaPath:%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s", dir,
                          in_dir("pe.pem"), path);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    set_key(pe_key);
    expect_refusal(ACLSHMEM_INNER_ERROR, words);
}

static void test_bad_packages(void **state)
{
    (void)state;
    char path[400], file[500];
    snprintf(path, sizeof path, "%s/package", dir);
    make_package(path);
    assert_int_equal(chmod(path, 0777), 0);
    expect_bad_package(path, "the directory of packagePath can be written by others (mode 0777)");
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(file, sizeof file, "%s/libssl.so", path);
    assert_int_equal(chmod(file, 0664), 0);
    expect_bad_package(path, "library libssl.so of packagePath can be written by others");
    assert_int_equal(chmod(file, 0755), 0);
    snprintf(file, sizeof file, "%s/libcrypto.so", path);
    assert_int_equal(unlink(file), 0);
    expect_bad_package(path, "packagePath has no library libcrypto.so");
    assert_int_equal(symlink("/bin/true", file), 0);
    expect_bad_package(path, "library libcrypto.so of packagePath is a link to another directory");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("libssl.so", file), 0); /* as installations do: a link beside its file */
    char info[2048];
    int length = snprintf(info, sizeof info, "tlsCaPath:%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s", dir,
                          in_dir("pe.pem"), path);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    set_key(pe_key);
    aclshmemi_tls_context_t *context = NULL;
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    aclshmemi_tls_context_destroy(context);
}

static void test_keys_that_do_not_fit(void **state)
{
    (void)state;
    expect_refused_cert("pe.pem", peer_key, "the private key does not fit the certificate of this PE");
    expect_refused_cert("pe.pem", t_key_rsa(3072), "the private key does not fit the certificate of this PE");
    configure("ca.pem", "pe.pem", "");
    assert_int_equal(aclshmemi_tls_set_key("rubbish", 7, NULL, 0, NULL), 0);
    expect_refusal(ACLSHMEM_INNER_ERROR, "the private key is not a PEM text with a private key");
}

/* ---- pass phrases ---- */

#define PASS "correct horse battery staple"

static int handler_mode;

static int handle(const char *cipher, size_t cipher_len, char *plain, size_t *plain_len)
{
    size_t length = strlen(PASS);
    t_check_int(cipher_len, sizeof "cipher text of some length" - 1);
    t_check_memory(cipher, "cipher text of some length", cipher_len);
    t_check_int(*plain_len, 2 * cipher_len);
    memcpy(plain, PASS, length + 1);
    *plain_len = handler_mode == 1 ? length + 1 : length; /* with or without the terminator */
    if (handler_mode == 3)
        *plain_len = 2 * cipher_len + 1;
    if (handler_mode == 4)
        plain[length] = 'x';
    if (handler_mode == 5)
        *plain_len = length - 3;
    if (handler_mode >= 6) /* no terminator */
        memset(plain, 'x', 2 * cipher_len);
    if (handler_mode == 7)
        *plain_len = 2 * cipher_len;
    return handler_mode == 2;
}

static int try_pass(const char *pass, size_t pass_len, int (*decrypt)(const char *, size_t, char *, size_t *))
{
    aclshmemi_tls_context_t *context = NULL;
    char *pem = t_key_pem(pe_key, PASS);
    configure("ca.pem", "pe.pem", "");
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), pass, (uint32_t)pass_len, decrypt), 0);
    free(pem);
    int rc = aclshmemi_tls_context_create(&env, NULL, &context);
    aclshmemi_tls_context_destroy(context);
    assert_false(t_log_contains(PASS));
    return rc;
}

static void test_pass_phrases(void **state)
{
    (void)state;
    char long_pass[5000];
    t_check_int(try_pass(PASS, strlen(PASS), NULL), 0);
    t_check_int(try_pass(PASS, sizeof PASS, NULL), 0); /* its terminator counted */
    t_check_int(try_pass("wrong", 5, NULL), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "the pass phrase does not fit the private key");
    t_check_int(try_pass(NULL, 0, NULL), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(),
                     "the private key is encrypted, and no pass phrase was set");
    t_check_int(try_pass("", 0, NULL), ACLSHMEM_INNER_ERROR);
    memset(long_pass, 'x', sizeof long_pass);
    t_check_int(try_pass(long_pass, sizeof long_pass, NULL), ACLSHMEM_INNER_ERROR);
    t_check_contains(aclshmemi_status_last_text(), "has 5000 bytes, more than OpenSSL takes");
}

static void test_decrypt_handlers(void **state)
{
    (void)state;
    static const char cipher[] = "cipher text of some length";
    const char *const words[] = {NULL,
                                 NULL,
                                 "returned 1, it must return 0",
                                 "says the pass phrase has 53 bytes",
                                 "does not end there",
                                 "does not end there",
                                 "does not end there",
                                 "does not end there"};
    for (handler_mode = 0; handler_mode <= 7; handler_mode++) {
        int rc = try_pass(cipher, strlen(cipher), handle);
        t_check_int(rc, words[handler_mode] ? ACLSHMEM_INNER_ERROR : 0);
        if (words[handler_mode])
            t_check_contains(aclshmemi_status_last_text(), words[handler_mode]);
    }
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

static void test_peers_of_another_ca(void **state)
{
    (void)state;
    make_and_write("foreign.pem", "foreign", peer_key, other_ca, other_ca_key);
    make_and_write("self.pem", "self", peer_key, NULL, NULL);
    aclshmemi_tls_context_t *good = context_of("ca.pem", "pe.pem", pe_key, "");
    aclshmemi_tls_context_t *foreign = context_of("ca.pem,other_ca.pem", "foreign.pem", peer_key, "");
    aclshmemi_tls_context_t *self = context_of("ca.pem", "self.pem", peer_key, "");
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

static void test_revoked_peers(void **state)
{
    (void)state;
    X509 *revoked = make("revoked", peer_key, ca, ca_key);
    write_once("revoked.pem", revoked);
    X509_CRL *crl = t_crl_make(ca, ca_key, revoked, 1000000), *old = t_crl_make(ca, ca_key, NULL, -1000);
    t_crl_write(in_dir("crl.pem"), crl);
    t_crl_write(in_dir("old_crl.pem"), old);
    char with_crl[700], with_old[700];
    snprintf(with_crl, sizeof with_crl, "tlsCrlPath:%s;tlsCrlFile:crl.pem", dir);
    snprintf(with_old, sizeof with_old, "tlsCrlPath:%s;tlsCrlFile:old_crl.pem", dir);
    aclshmemi_tls_context_t *server = context_of("ca.pem", "pe.pem", pe_key, with_crl);
    aclshmemi_tls_context_t *unaware = context_of("ca.pem", "pe.pem", pe_key, "");
    aclshmemi_tls_context_t *client = context_of("ca.pem", "revoked.pem", peer_key, "");
    aclshmemi_tls_context_t *fine = context_of("ca.pem", "peer.pem", peer_key, "");
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
    server = context_of("ca.pem", "pe.pem", pe_key, with_old);
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
        context_of("ca.pem", "pe.pem", pe_key, "tlsAllowedSubjects: someone, peer");
    aclshmemi_tls_context_t *narrow =
        context_of("ca.pem", "pe.pem", pe_key, "tlsAllowedSubjects: pee, peers, Peer");
    aclshmemi_tls_context_t *peer = context_of("ca.pem", "peer.pem", peer_key, "");
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
    X509 *certificate = make("foreign client", peer_key, ca, ca_key);
    assert_int_equal(SSL_CTX_set_max_proto_version(made, version), 1);
    assert_int_equal(SSL_CTX_set_ciphersuites(made, suites), 1);
    if (with_certificate) {
        assert_int_equal(SSL_CTX_use_certificate(made, certificate), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey(made, peer_key), 1);
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

static void test_suites_and_versions(void **state)
{
    (void)state;
    static const char *const suites[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                         "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256"};
    aclshmemi_tls_context_t *server = context_of("ca.pem", "pe.pem", pe_key, "");
    for (int i = 0; i < 4; i++)
        t_check_text(foreign_client(server, suites[i], true, TLS1_3_VERSION), "");
    t_check_contains(foreign_client(server, "TLS_AES_128_CCM_8_SHA256", true, TLS1_3_VERSION),
                     "no shared cipher");
    t_check_contains(foreign_client(server, suites[0], true, TLS1_2_VERSION), "unsupported protocol");
    t_check_contains(foreign_client(server, suites[0], false, TLS1_3_VERSION),
                     "peer did not return a certificate");
    aclshmemi_tls_context_destroy(server);
}

static void test_certificates_against_a_shared_key(void **state)
{
    (void)state;
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {7};
    aclshmemi_tls_context_t *keyed = NULL, *certified = context_of("ca.pem", "pe.pem", pe_key, "");
    aclshmemi_tls_settings_reset();
    assert_int_equal(aclshmemi_tls_context_create(&env, secret, &keyed), 0);
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
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_two_pes_with_certificates),
        TEST(test_rsa_3072_and_a_chain),
        TEST(test_setters_copy_and_the_last_call_wins),
        TEST(test_each_init_needs_the_key_again),
        TEST(test_validity),
        TEST(test_a_near_end_is_a_warning),
        TEST(test_weak_keys),
        TEST(test_bad_files),
        TEST(test_bad_folders),
        TEST(test_bad_packages),
        TEST(test_keys_that_do_not_fit),
        TEST(test_pass_phrases),
        TEST(test_decrypt_handlers),
        TEST(test_peers_of_another_ca),
        TEST(test_revoked_peers),
        TEST(test_allowed_subjects),
        TEST(test_suites_and_versions),
        TEST(test_certificates_against_a_shared_key),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
