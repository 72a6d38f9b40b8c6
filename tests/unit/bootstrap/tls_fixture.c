/* SPDX-License-Identifier: Apache-2.0 */
/* A CA, two PEs with certificates, and a folder that passes for OpenSSL's. */
#include "tls_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/bootstrap/tls/settings.h"

char t_dir[256];
char t_package[300];
aclshmemi_env_t t_env;
EVP_PKEY *t_ca_key, *t_other_ca_key, *t_pe_key, *t_peer_key;
X509 *t_ca, *t_other_ca;

const char *t_in_dir(const char *name)
{
    static char path[4][600];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", t_dir, name);
    return path[next];
}

/* A folder that passes for OpenSSL's, so that the tests need no particular installation. */
void t_make_package(const char *path)
{
    char file[400];
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof file, "%s/libssl.so", path);
    t_file_write(file, "x");
    snprintf(file, sizeof file, "%s/libcrypto.so", path);
    t_file_write(file, "x");
}

X509 *t_make(const char *name, EVP_PKEY *key, const X509 *issuer, EVP_PKEY *issuer_key)
{
    return t_certificate_make(
        &(t_certificate_t){.name = name, .key = key, .issuer = issuer, .issuer_key = issuer_key});
}

X509 *t_make_ca(const char *name, EVP_PKEY *key)
{
    return t_certificate_make(&(t_certificate_t){.name = name, .key = key, .ca = true});
}

void t_write_once(const char *name, const X509 *certificate)
{
    unlink(t_in_dir(name));
    t_certificate_write(t_in_dir(name), certificate);
}

void t_make_and_write(const char *file, const char *name, EVP_PKEY *key, const X509 *issuer,
                      EVP_PKEY *issuer_key)
{
    X509 *made = t_make(name, key, issuer, issuer_key);
    t_write_once(file, made);
    X509_free(made);
}

int t_fixture_setup(void **state)
{
    (void)state;
    t_clean_environment();
    t_dir_make(t_dir, sizeof t_dir);
    snprintf(t_package, sizeof t_package, "%s/openssl", t_dir);
    t_make_package(t_package);
    t_env = t_tls_env("");
    t_ca_key = t_key_ec("P-256");
    t_other_ca_key = t_key_ec("P-256");
    t_pe_key = t_key_ec("P-256");
    t_peer_key = t_key_ec("P-256");
    t_ca = t_make_ca("ca", t_ca_key);
    t_other_ca = t_make_ca("other ca", t_other_ca_key);
    t_write_once("ca.pem", t_ca);
    t_write_once("other_ca.pem", t_other_ca);
    t_make_and_write("pe.pem", "pe", t_pe_key, t_ca, t_ca_key);
    t_make_and_write("peer.pem", "peer", t_peer_key, t_ca, t_ca_key);
    return 0;
}

int t_fixture_teardown(void **state)
{
    (void)state;
    X509_free(t_ca);
    X509_free(t_other_ca);
    EVP_PKEY_free(t_ca_key);
    EVP_PKEY_free(t_other_ca_key);
    EVP_PKEY_free(t_pe_key);
    EVP_PKEY_free(t_peer_key);
    t_dir_remove(t_dir);
    return 0;
}

int t_fixture_start(void **state)
{
    (void)state;
    aclshmemi_tls_settings_reset();
    t_unit_log_start(ACLSHMEMI_LOG_INFO);
    return 0;
}

int t_fixture_stop(void **state)
{
    (void)state;
    aclshmemi_tls_settings_reset();
    t_unit_log_stop();
    return 0;
}

/* ---- ways to ask for a context ---- */

void t_configure(const char *ca_file, const char *cert, const char *more)
{
    char info[2048];
    int length = snprintf(info, sizeof info, "tlsCaPath:%s; tlsCaFile:%s; tlsCert:%s; packagePath:%s; %s",
                          t_dir, ca_file, t_in_dir(cert), t_package, more);
    assert_int_equal(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
}

void t_set_key(EVP_PKEY *key)
{
    char *pem = t_key_pem(key, NULL);
    assert_int_equal(aclshmemi_tls_set_key(pem, (uint32_t)strlen(pem), NULL, 0, NULL), 0);
    free(pem);
}

aclshmemi_tls_context_t *t_context_of(const char *ca_file, const char *cert, EVP_PKEY *key, const char *more)
{
    aclshmemi_tls_context_t *context = NULL;
    t_configure(ca_file, cert, more);
    t_set_key(key);
    int rc = aclshmemi_tls_context_create(&t_env, NULL, &context);
    if (rc != 0)
        t_fail("no context: %s", aclshmemi_status_last_text());
    assert_non_null(context);
    return context;
}

/* No context with what is configured, and these words. */
void t_expect_refusal(int code, const char *words)
{
    aclshmemi_tls_context_t *context = (void *)&t_env;
    t_check_int(aclshmemi_tls_context_create(&t_env, NULL, &context), code);
    t_check_contains(aclshmemi_status_last_text(), words);
    assert_ptr_equal(context, (void *)&t_env); /* outputs only on success */
    assert_false(t_log_contains(t_dir));       /* names of files stay out of the log */
}
