/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates and keys at the start: what is accepted, what is refused, and with which words. */
#include "tls_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bootstrap/tls/settings.h"

static void expect_refused_cert(const char *cert, EVP_PKEY *key, const char *words)
{
    t_configure("ca.pem", cert, "");
    t_set_key(key);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, words);
}

/* [T-08] [T-09] [T-21] */
static void test_setters_copy_and_the_last_call_wins(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *context = NULL;
    char info[2048], text[] = "tlsCaPath:/nowhere";
    /* Neither terminated nor valid behind the length given. */
    int length =
        snprintf(info, sizeof info, "tlsCaPath : %s ;tlsCaFile: ca.pem ; tlsCert:%s;packagePath :%s;;garbage",
                 t_dir, t_in_dir("pe.pem"), t_package);
    assert_int_equal(aclshmemi_tls_configure(true, text, sizeof text - 1), 0);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length - 8), 0);
    memset(info, 'x', sizeof info);
    char *pem = t_key_pem(t_pe_key, NULL);
    assert_int_equal(aclshmemi_tls_set_key("rubbish", 7, NULL, 0, NULL), 0);
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), NULL, 0, NULL), 0);
    memset(pem, 'x', strlen(pem));
    free(pem);
    t_check_int(aclshmemi_tls_context_create(&t_env, NULL, &context), 0);
    assert_non_null(context);
    aclshmemi_tls_context_destroy(context);
    t_log_expect_clean();
}

/* [T-18] [T-23] */
static void test_each_init_needs_the_key_again(void **state)
{
    (void)state;
    aclshmemi_tls_context_destroy(t_context_of("ca.pem", "pe.pem", t_pe_key, ""));
    t_expect_refusal(ACLSHMEM_INNER_ERROR,
                     "must be set with aclshmemx_set_config_store_tls_key before each init");
    t_set_key(t_pe_key);
    aclshmemi_tls_drop_key();
    t_expect_refusal(ACLSHMEM_INNER_ERROR, "needs a private key");
}

/* While one is in use, further ones need no key, since none could be set. */
static void test_instances_share(void **state)
{
    (void)state;
    aclshmemi_tls_context_t *first = t_context_of("ca.pem", "pe.pem", t_pe_key, ""), *second = NULL;
    t_check_int(aclshmemi_tls_context_create(&t_env, NULL, &second), 0);
    t_check_text(aclshmemi_tls_context_describe(second), "tls 1.3, certificates");
    aclshmemi_tls_context_destroy(first);
    t_pair_t pair;
    t_pair_open(&pair, second, second);
    t_pair_send(&pair.client, &pair.server, "hello");
    t_pair_close(&pair);
    aclshmemi_tls_context_destroy(second);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, "needs a private key");
}

/* ---- what is refused at the start ---- */

/* [T-12] */
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
                                                           .key = t_pe_key,
                                                           .issuer = t_ca,
                                                           .issuer_key = t_ca_key,
                                                           .from_s = bad[i].from_s,
                                                           .to_s = bad[i].to_s});
        t_write_once(bad[i].file, made);
        X509_free(made);
        expect_refused_cert(bad[i].file, t_pe_key, bad[i].words);
    }
    X509 *old = t_certificate_make(
        &(t_certificate_t){.name = "old ca", .key = t_ca_key, .from_s = -2000, .to_s = -1000, .ca = true});
    t_write_once("old_ca.pem", old);
    X509_free(old);
    t_configure("ca.pem,old_ca.pem", "pe.pem", "");
    t_set_key(t_pe_key);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, "CA certificate 2 expired on 20");
}

/* [T-13] */
static void test_a_near_end_is_a_warning(void **state)
{
    (void)state;
    X509 *made = t_certificate_make(&(t_certificate_t){.name = "pe",
                                                       .key = t_pe_key,
                                                       .issuer = t_ca,
                                                       .issuer_key = t_ca_key,
                                                       .from_s = -1000,
                                                       .to_s = 10 * 86400L + 3600});
    t_write_once("soon.pem", made);
    X509_free(made);
    aclshmemi_tls_context_destroy(t_context_of("ca.pem", "soon.pem", t_pe_key, ""));
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "the certificate of this PE expires in 10 days, on 20");
    t_log_forget();
    aclshmemi_env_t relaxed = t_env;
    relaxed.cert_check_ahead = 7;
    t_configure("ca.pem", "soon.pem", "");
    t_set_key(t_pe_key);
    aclshmemi_tls_context_t *context = NULL;
    assert_int_equal(aclshmemi_tls_context_create(&relaxed, NULL, &context), 0);
    aclshmemi_tls_context_destroy(context);
    t_log_expect_clean();
}

/* [T-14] */
static void test_weak_keys(void **state)
{
    (void)state;
    EVP_PKEY *weak = t_key_rsa(2048), *weak_ec = t_key_ec("P-224");
    t_make_and_write("weak.pem", "pe", weak, t_ca, t_ca_key);
    expect_refused_cert(
        "weak.pem", weak,
        "the RSA key in the certificate of this PE has 2048 bits, it must have at least 3072");
    t_make_and_write("weak_ec.pem", "pe", weak_ec, t_ca, t_ca_key);
    expect_refused_cert("weak_ec.pem", weak_ec, "has 224 bits, it must have at least 256");
    X509 *weak_ca = t_make_ca("weak ca", weak);
    t_write_once("weak_ca.pem", weak_ca);
    X509_free(weak_ca);
    t_configure("weak_ca.pem", "pe.pem", "");
    t_set_key(t_pe_key);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, "the RSA key in a CA certificate has 2048 bits");
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
                          t_dir, place == IN_CAS ? "," : "", place == IN_CAS ? name : "",
                          t_in_dir(place == IN_CERT ? name : "pe.pem"), t_package, t_dir,
                          place == IN_CRLS ? "," : "", place == IN_CRLS ? name : "");
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    t_set_key(t_pe_key);
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
    mkdir(t_in_dir("a_folder.pem"), 0700);
    unlink(t_in_dir("a_link.pem"));
    assert_int_equal(symlink(t_in_dir(good), t_in_dir("a_link.pem")), 0);
    t_file_write(t_in_dir("big.pem"), "");
    assert_int_equal(truncate(t_in_dir("big.pem"), (10 << 20) + 1), 0);
    t_file_write(t_in_dir("empty.pem"), "");
    char *content = t_file_read(t_in_dir(good));
    t_file_write(t_in_dir("open.pem"), content);
    assert_int_equal(chmod(t_in_dir("open.pem"), 0620), 0);
    free(content);
    t_file_write(t_in_dir("garbage.pem"), "no certificate at all\n");
    unlink(t_in_dir("a_pipe.pem"));
    assert_int_equal(mkfifo(t_in_dir("a_pipe.pem"), 0600), 0);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        configure_bad_file(place, shapes[i].name);
        t_expect_refusal(ACLSHMEM_INNER_ERROR, shapes[i].words);
        t_check_contains(aclshmemi_status_last_text(), key);
    }
}

/* [T-10] [T-11] [T-17] */
static void test_bad_files(void **state)
{
    (void)state;
    X509_CRL *crl = t_crl_make(t_ca, t_ca_key, NULL, 1000000);
    t_crl_write(t_in_dir("good_crl.pem"), crl);
    X509_CRL_free(crl);
    check_bad_file(IN_CERT, "tlsCert", "pe.pem");
    check_bad_file(IN_CAS, "tlsCaFile", "ca.pem");
    check_bad_file(IN_CRLS, "tlsCrlFile", "good_crl.pem");
}

/* [T-11] */
static void test_bad_folders(void **state)
{
    (void)state;
    char link[600], info[4096];
    snprintf(link, sizeof link, "%s_link", t_dir);
    unlink(link);
    assert_int_equal(symlink(t_dir, link), 0);
    const char *const folders[] = {link, "/nonexistent/folder", t_in_dir("ca.pem")};
    const char *const words[] = {"is a symbolic link", "cannot be looked at", "does not name a directory"};
    for (int i = 0; i < 9; i++) {
        const char *bad = folders[i % 3],
                   *slash = i % 3 == 0 ? "/" : ""; /* a slash at the end must not hide the link */
        int length = snprintf(info, sizeof info,
                              "tlsCaPath:%s%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s%s;tlsCrlPath:%s%s;"
                              "tlsCrlFile:good_crl.pem",
                              i / 3 == 0 ? bad : t_dir, i / 3 == 0 ? slash : "", t_in_dir("pe.pem"),
                              i / 3 == 1 ? bad : t_package, i / 3 == 1 ? slash : "", i / 3 == 2 ? bad : t_dir,
                              i / 3 == 2 ? slash : "");
        assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
        t_set_key(t_pe_key);
        t_expect_refusal(ACLSHMEM_INNER_ERROR, words[i % 3]);
    }
    unlink(link);
}

static void expect_bad_package(const char *path, const char *words)
{
    char info[2048];
    int length = snprintf(info, sizeof info, "tlsCaPath:%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s", t_dir,
                          t_in_dir("pe.pem"), path);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    t_set_key(t_pe_key);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, words);
}

/* [T-25] */
static void test_bad_packages(void **state)
{
    (void)state;
    char path[400], file[500];
    snprintf(path, sizeof path, "%s/package", t_dir);
    t_make_package(path);
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
    int length = snprintf(info, sizeof info, "tlsCaPath:%s;tlsCaFile:ca.pem;tlsCert:%s;packagePath:%s", t_dir,
                          t_in_dir("pe.pem"), path);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    t_set_key(t_pe_key);
    aclshmemi_tls_context_t *context = NULL;
    t_check_int(aclshmemi_tls_context_create(&t_env, NULL, &context), 0);
    aclshmemi_tls_context_destroy(context);
}

/* [T-18] */
static void test_keys_that_do_not_fit(void **state)
{
    (void)state;
    expect_refused_cert("pe.pem", t_peer_key, "the private key does not fit the certificate of this PE");
    expect_refused_cert("pe.pem", t_key_rsa(3072), "the private key does not fit the certificate of this PE");
    t_configure("ca.pem", "pe.pem", "");
    assert_int_equal(aclshmemi_tls_set_key("rubbish", 7, NULL, 0, NULL), 0);
    t_expect_refusal(ACLSHMEM_INNER_ERROR, "the private key is not a PEM text with a private key");
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
    char *pem = t_key_pem(t_pe_key, PASS);
    t_configure("ca.pem", "pe.pem", "");
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), pass, (uint32_t)pass_len, decrypt), 0);
    free(pem);
    int rc = aclshmemi_tls_context_create(&t_env, NULL, &context);
    aclshmemi_tls_context_destroy(context);
    assert_false(t_log_contains(PASS));
    return rc;
}

/* [T-19] */
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

/* [T-20] */
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

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, t_fixture_start, t_fixture_stop)
    const struct CMUnitTest tests[] = {
        TEST(test_setters_copy_and_the_last_call_wins),
        TEST(test_each_init_needs_the_key_again),
        TEST(test_instances_share),
        TEST(test_validity),
        TEST(test_a_near_end_is_a_warning),
        TEST(test_weak_keys),
        TEST(test_bad_files),
        TEST(test_bad_folders),
        TEST(test_bad_packages),
        TEST(test_keys_that_do_not_fit),
        TEST(test_pass_phrases),
        TEST(test_decrypt_handlers),
    };
    return cmocka_run_group_tests(tests, t_fixture_setup, t_fixture_teardown);
}
