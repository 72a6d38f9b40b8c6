/* SPDX-License-Identifier: Apache-2.0 */
/* The description of the certificates: its grammar, its setters' limits, and the watch over expiry. */
#include "tls_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/tls/expiry.h"
#include "host/bootstrap/tls/info.h"
#include "host/bootstrap/tls/settings.h"

#define GOOD "tlsCaPath:/ca;tlsCaFile:ca.pem;tlsCert:/pe.pem;packagePath:/lib"

static char *text; /* what the parsed info points into */

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
    free(text);
    text = NULL;
    t_unit_log_stop();
    return 0;
}

static int parse(const char *what, aclshmemi_tls_info_t *info)
{
    free(text);
    text = strdup(what); /* no byte more: a read past the end is seen */
    return aclshmemi_tls_info_parse(text, info);
}

/* [T-07] */
static void test_a_full_description(void **state)
{
    (void)state;
    aclshmemi_tls_info_t info;
    t_check_int(
        parse("  tlsCaPath :\t/etc/ca dir/ ; tlsCaFile: a.pem , b c.pem,d.pem ;\n tlsCert:/pe.pem;;"
              "tlsCrlPath:/crl;tlsCrlFile:x.crl;packagePath : /usr/lib ; tlsAllowedSubjects: pe 1, pe 2 ; ",
              &info),
        0);
    t_check_text(info.ca_path, "/etc/ca dir/");
    t_check_text(info.cert, "/pe.pem");
    t_check_text(info.crl_path, "/crl");
    t_check_text(info.package_path, "/usr/lib");
    const char *files[] = {"a.pem", "b c.pem", "d.pem"}, *item = info.ca_files.first;
    t_check_uint(info.ca_files.count, 3);
    for (int i = 0; i < 3; i++, item = aclshmemi_tls_list_next(item))
        t_check_text(item, files[i]);
    t_check_uint(info.crl_files.count, 1);
    t_check_text(info.crl_files.first, "x.crl");
    t_check_uint(info.allowed_subjects.count, 2);
    t_check_text(aclshmemi_tls_list_next(info.allowed_subjects.first), "pe 2");
    t_log_expect_clean();
}

static void test_the_least_description(void **state)
{
    (void)state;
    aclshmemi_tls_info_t info;
    t_check_int(parse(GOOD, &info), 0);
    assert_null(info.crl_path);
    t_check_uint(info.crl_files.count, 0);
    t_check_uint(info.allowed_subjects.count, 0);
    t_check_int(parse(GOOD ";tlsCrlPath:;tlsCrlFile : ", &info), 0); /* left empty is left out */
    assert_null(info.crl_path);
    t_log_expect_clean();
}

/* [T-06] */
static void test_missing_keys(void **state)
{
    (void)state;
    static const char *const items[] = {"tlsCaPath:/ca", "tlsCaFile:ca.pem", "tlsCert:/pe.pem",
                                        "packagePath:/lib"};
    for (int missing = 0; missing < 4; missing++) {
        aclshmemi_tls_info_t info = {.cert = "untouched"};
        char made[256] = "", words[64];
        for (int i = 0; i < 4; i++)
            if (i != missing)
                snprintf(made + strlen(made), sizeof made - strlen(made), "%s;", items[i]);
        t_check_int(parse(made, &info), ACLSHMEM_INNER_ERROR);
        snprintf(words, sizeof words, "key %.*s is missing", (int)strcspn(items[missing], ":"),
                 items[missing]);
        t_check_contains(aclshmemi_status_last_text(), words);
        t_check_text(info.cert, "untouched");
    }
}

/* [T-06] */
static void test_malformed_items(void **state)
{
    (void)state;
    const struct {
        const char *text, *words;
    } all[] = {
        {GOOD ";garbage", "item 5 of the TLS description has no ':'"},
        {GOOD ";:value", "item 5 of the TLS description has no key"},
        {"tlsCert;" GOOD, "item 1 of the TLS description has no ':'"},
        {"tlsCert:/a;" GOOD, "key tlsCert stands twice"},
        {GOOD ";tlsCrlPath:/a:/b", "the value of tlsCrlPath in the TLS description contains ':'"},
        {GOOD ";tlsCrlPath:/a,/b", "the value of tlsCrlPath in the TLS description contains ','"},
        {GOOD ";tlsCrlPath:a", "is not an absolute path"},
        {GOOD ";tlsCrlFile:a,,b", "the list of tlsCrlFile in the TLS description has an empty entry"},
        {GOOD ";tlsCrlFile:a,b,", "has an empty entry"},
        {GOOD ";tlsCrlFile:,", "has an empty entry"},
        {GOOD ";tlsCrlFile:../a", "takes file names, not paths: the folder is tlsCrlPath's"},
        {GOOD ";tlsCrlFile:..", "takes file names, not paths"},
        {GOOD ";tlsCrlFile:a\001b", "contains a control character"},
        {"tlsCaPath:;tlsCaFile:ca.pem;tlsCert:/pe.pem;packagePath:/lib",
         "key tlsCaPath in the TLS description has no value"},
        {GOOD ";un\033known:x", "the value of a key in the TLS description contains a control character"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        aclshmemi_tls_info_t info;
        t_check_int(parse(all[i].text, &info), ACLSHMEM_INVALID_PARAM);
        t_check_contains(aclshmemi_status_last_text(), all[i].words);
    }
}

/* [T-07] */
static void test_what_is_ignored_is_said(void **state)
{
    (void)state;
    aclshmemi_tls_info_t info;
    t_check_int(parse("tlsPk:/key.pem;tlsPkPwd:hush;foo:bar:baz;tlscert:/x;" GOOD, &info), 0);
    t_log_expect_level(ACLSHMEMI_LOG_WARN,
                       "key tlsPk in the TLS description is ignored: private key and pass phrase are "
                       "set by aclshmemx_set_config_store_tls_key");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "key tlsPkPwd in the TLS description is ignored");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "unknown key foo in the TLS description is ignored");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "unknown key tlscert in the TLS description is ignored");
    assert_false(t_log_contains("hush"));
    assert_false(t_log_contains("/key.pem"));
    t_log_forget();
    t_check_int(parse(GOOD ";tlsCrlPath:/crl", &info), 0);
    t_log_expect_level(ACLSHMEMI_LOG_WARN,
                       "only one of tlsCrlPath and tlsCrlFile: no revocation list is used");
    t_log_forget();
    t_check_int(parse(GOOD ";tlsCrlFile:crl", &info), 0);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "only one of tlsCrlPath and tlsCrlFile");
}

/* ---- the setters ---- */

/* [T-05] [T-29] */
static void test_limits_of_the_setters(void **state)
{
    (void)state;
    char *big = malloc(10241);
    memset(big, 'x', 10241);
    t_check_int(aclshmemi_tls_configure(true, NULL, 5), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_configure(true, "x", 0), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_configure(true, big, 10241), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "has 10241 bytes, allowed are 1..10240");
    t_check_int(aclshmemi_tls_settings_enabled(), -1); /* a refused call changes nothing */
    t_check_int(aclshmemi_tls_configure(true, big, 10240), 0);
    t_check_int(aclshmemi_tls_settings_enabled(), 1);
    t_check_int(aclshmemi_tls_configure(false, NULL, 99999), 0); /* the others do not matter then */
    t_check_int(aclshmemi_tls_settings_enabled(), 0);
    char *info = big;
    t_check_int(aclshmemi_tls_settings_info(&info), 0);
    assert_null(info);
    t_check_int(aclshmemi_tls_set_key(NULL, 5, NULL, 0, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_set_key(big, 0, NULL, 0, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_set_key(big, 10241, NULL, 0, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_set_key(big, 10240, big, 10241, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_set_key(big, 10240, big, 10240, NULL), 0);
    aclshmemi_tls_key_t key;
    aclshmemi_tls_settings_take_key(&key);
    t_check_uint(key.key_len, 10240);
    t_check_uint(key.pass_len, 10240);
    t_check_memory(key.pass, big, 10240);
    aclshmemi_tls_key_wipe(&key);
    t_check_int(aclshmemi_tls_set_key(NULL, 0, NULL, 0, NULL), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_tls_set_key("a", 1, "b", 1, NULL),
                0); /* which does not stand in the way of a good call */
    t_check_int(aclshmemi_tls_set_key("c", 1, NULL, 20000, NULL), 0);
    aclshmemi_tls_settings_take_key(&key);
    t_check_text(key.key, "c");
    assert_null(key.pass);
    aclshmemi_tls_key_wipe(&key);
    aclshmemi_tls_settings_take_key(&key); /* once only */
    assert_null(key.key);
    free(big);
}

/* ---- expiry ---- */

#define DAY_S 86400L

static void test_expiry_is_looked_at_each_period(void **state)
{
    (void)state;
    aclshmemi_env_t env = t_tls_env("");
    aclshmemi_expiry_t expiry = {0};
    EVP_PKEY *key = t_key_ec("P-256");
    X509 *own = t_certificate_make(
        &(t_certificate_t){.name = "pe", .key = key, .from_s = -DAY_S, .to_s = 100 * DAY_S + 60});
    X509 *ca = t_certificate_make(
        &(t_certificate_t){.name = "ca", .key = key, .from_s = -DAY_S, .to_s = 200 * DAY_S + 60, .ca = true});
    time_t now = time(NULL);
    t_check_int(aclshmemi_expiry_init(&expiry, &env), 0);
    t_check_int(aclshmemi_expiry_add(&expiry, own), 0);
    t_check_int(aclshmemi_expiry_add(&expiry, ca), 0);
    X509_free(own);
    X509_free(ca);
    t_check_uint(expiry.period_ms, UINT64_C(168) * 3600 * 1000);
    t_check_int(aclshmemi_expiry_start(&expiry, now), 0);
    t_log_expect_clean();
    aclshmemi_expiry_look(&expiry, now + 99 * DAY_S); /* not yet due, whatever the date */
    t_log_expect_clean();
    expiry.next = 0;
    aclshmemi_expiry_look(&expiry, now + 60 * DAY_S);
    t_log_expect_clean();
    assert_true(expiry.next > aclshmemi_clock_ns());
    expiry.next = 0;
    aclshmemi_expiry_look(&expiry, now + 75 * DAY_S);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "the certificate of this PE expires in 25 days, on 20");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, " UTC");
    assert_false(t_log_contains("CA certificate"));
    expiry.next = 0;
    t_log_forget();
    aclshmemi_expiry_look(&expiry, now + 190 * DAY_S);
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "the certificate of this PE expired on 20");
    t_log_expect_level(ACLSHMEMI_LOG_WARN, "CA certificate 1 expires in 10 days");
    t_check_uint(t_log_count(ACLSHMEMI_LOG_ERROR), 0);
    t_check_int(aclshmemi_expiry_start(&expiry, now + 101 * DAY_S), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_expiry_start(&expiry, now - 2 * DAY_S), ACLSHMEM_INNER_ERROR);
    aclshmemi_expiry_fini(&expiry);
    EVP_PKEY_free(key);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_a_full_description),
        TEST(test_the_least_description),
        TEST(test_missing_keys),
        TEST(test_malformed_items),
        TEST(test_what_is_ignored_is_said),
        TEST(test_limits_of_the_setters),
        TEST(test_expiry_is_looked_at_each_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
