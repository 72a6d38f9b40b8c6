/* SPDX-License-Identifier: Apache-2.0 */
/* Loading certificates, and what they must be like. */
#include "host/bootstrap/tls/x509.h"

#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/files.h"
#include "host/bootstrap/tls/openssl.h"
#include "host/bootstrap/tls/private_key.h"

#define RSA_BITS_MIN      3072
#define EC_BITS_MIN       256
#define SECURITY_BITS_MIN 128 /* of any other kind of key */

static int check_strength(const EVP_PKEY *key, const char *what)
{
    int bits = key ? EVP_PKEY_get_bits(key) : 0;
    if (!key)
        return fail(ACLSHMEM_INNER_ERROR, "the public key in %s cannot be used", what);
    bool rsa = EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "RSA-PSS");
    bool ec = EVP_PKEY_is_a(key, "EC");
    if (rsa && bits < RSA_BITS_MIN)
        return fail(ACLSHMEM_INNER_ERROR, "the RSA key in %s has %d bits, it must have at least %d", what,
                    bits, RSA_BITS_MIN);
    if (ec && bits < EC_BITS_MIN)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the elliptic-curve key in %s has %d bits, it must have at least %d", what, bits,
                    EC_BITS_MIN);
    if (!rsa && !ec && EVP_PKEY_get_security_bits(key) < SECURITY_BITS_MIN)
        return fail(ACLSHMEM_INNER_ERROR, "the key in %s is worth %d bits, it must be worth at least %d",
                    what, EVP_PKEY_get_security_bits(key), SECURITY_BITS_MIN);
    return 0;
}

/* The next certificate of a PEM text, NULL at its end or where it breaks; the error queue tells which. */
static X509 *next_certificate(BIO *bio)
{
    X509 *certificate = X509_new_ex(aclshmemi_tls_library(), NULL);
    if (certificate && PEM_read_bio_X509(bio, &certificate, NULL, NULL))
        return certificate;
    X509_free(certificate);
    return NULL;
}

static bool at_end(unsigned long error)
{
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/* Calls use for each certificate of the bytes; it takes ownership. At least one must be there. */
static int each_certificate(const aclshmemi_tls_bytes_t *bytes, const char *key,
                            int (*use)(X509 *certificate, size_t index, void *arg), void *arg)
{
    BIO *bio = BIO_new_mem_buf(bytes->data, (int)bytes->size);
    if (!bio)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory to read certificates");
    int rc = 0;
    size_t count = 0;
    while (rc == 0) {
        aclshmemi_tls_errors_begin();
        X509 *certificate = next_certificate(bio);
        unsigned long error = aclshmemi_tls_errors_end();
        if (!certificate && at_end(error) && count > 0)
            break;
        if (certificate)
            rc = use(certificate, count++, arg);
        else
            rc = fail(ACLSHMEM_INNER_ERROR, "a file of %s is not a PEM text with certificates: %s", key,
                      aclshmemi_tls_error_text(error));
    }
    BIO_free(bio);
    return rc;
}

/* --- CAs and revocation lists --- */

typedef struct trust {
    X509_STORE *store; /* the context's */
    aclshmemi_expiry_t *expiry;
} trust_t;

static int use_ca(X509 *certificate, size_t index, void *arg)
{
    trust_t *trust = arg;
    (void)index;
    int rc = check_strength(X509_get0_pubkey(certificate), "a CA certificate");
    if (rc == 0)
        rc = aclshmemi_expiry_add(trust->expiry, certificate);
    if (rc == 0) {
        aclshmemi_tls_errors_begin();
        int added = X509_STORE_add_cert(trust->store, certificate);
        unsigned long error = aclshmemi_tls_errors_end();
        if (added != 1)
            rc = fail(ACLSHMEM_INNER_ERROR, "a CA certificate cannot be used: %s",
                      aclshmemi_tls_error_text(error));
    }
    X509_free(certificate);
    return rc;
}

static int load_cas(const aclshmemi_tls_info_t *info, trust_t *trust)
{
    TRY(aclshmemi_tls_check_directory(info->ca_path, "tlsCaPath"));
    const char *name = info->ca_files.first;
    for (size_t i = 0; i < info->ca_files.count; i++, name = aclshmemi_tls_list_next(name)) {
        aclshmemi_tls_bytes_t bytes;
        TRY(aclshmemi_tls_read_file(info->ca_path, name, "tlsCaFile", &bytes));
        int rc = each_certificate(&bytes, "tlsCaFile", use_ca, trust);
        aclshmemi_tls_bytes_free(&bytes);
        TRY(rc);
    }
    return 0;
}

static int use_crl(X509_STORE *store, X509_CRL *crl)
{
    const ASN1_TIME *next = X509_CRL_get0_nextUpdate(crl);
    if (next && X509_cmp_current_time(next) <= 0)
        log_warn("a revocation list is past its next update: peers will be refused until it is renewed");
    aclshmemi_tls_errors_begin();
    int added = X509_STORE_add_crl(store, crl);
    unsigned long error = aclshmemi_tls_errors_end();
    if (added != 1)
        return fail(ACLSHMEM_INNER_ERROR, "a revocation list cannot be used: %s",
                    aclshmemi_tls_error_text(error));
    return 0;
}

static int each_crl(const aclshmemi_tls_bytes_t *bytes, X509_STORE *store)
{
    BIO *bio = BIO_new_mem_buf(bytes->data, (int)bytes->size);
    if (!bio)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory to read revocation lists");
    int rc = 0;
    for (size_t count = 0; rc == 0; count++) {
        aclshmemi_tls_errors_begin();
        X509_CRL *crl = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL);
        unsigned long error = aclshmemi_tls_errors_end();
        if (!crl && at_end(error) && count > 0)
            break;
        if (crl)
            rc = use_crl(store, crl);
        else
            rc =
                fail(ACLSHMEM_INNER_ERROR, "a file of tlsCrlFile is not a PEM text with revocation lists: %s",
                     aclshmemi_tls_error_text(error));
        X509_CRL_free(crl);
    }
    BIO_free(bio);
    return rc;
}

static int load_crls(const aclshmemi_tls_info_t *info, X509_STORE *store)
{
    if (!info->crl_path || info->crl_files.count == 0)
        return 0;
    TRY(aclshmemi_tls_check_directory(info->crl_path, "tlsCrlPath"));
    const char *name = info->crl_files.first;
    for (size_t i = 0; i < info->crl_files.count; i++, name = aclshmemi_tls_list_next(name)) {
        aclshmemi_tls_bytes_t bytes;
        TRY(aclshmemi_tls_read_file(info->crl_path, name, "tlsCrlFile", &bytes));
        int rc = each_crl(&bytes, store);
        aclshmemi_tls_bytes_free(&bytes);
        TRY(rc);
    }
    if (X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) != 1)
        return fail(ACLSHMEM_INNER_ERROR, "revocation cannot be checked");
    return 0;
}

/* --- Own certificate and key --- */

typedef struct own {
    SSL_CTX *ssl;
    aclshmemi_expiry_t *expiry;
} own_t;

/* The first certificate of the file is ours, others lead from it to a CA. */
static int use_own(X509 *certificate, size_t index, void *arg)
{
    own_t *own = arg;
    int rc = check_strength(X509_get0_pubkey(certificate), "the certificate of this PE");
    if (rc == 0 && index == 0)
        rc = aclshmemi_expiry_add(own->expiry, certificate);
    if (rc == 0) {
        aclshmemi_tls_errors_begin();
        int used = index == 0 ? SSL_CTX_use_certificate(own->ssl, certificate)
                              : (int)SSL_CTX_add1_chain_cert(own->ssl, certificate);
        unsigned long error = aclshmemi_tls_errors_end();
        if (used != 1)
            rc = fail(ACLSHMEM_INNER_ERROR, "the certificate of this PE cannot be used: %s",
                      aclshmemi_tls_error_text(error));
    }
    X509_free(certificate);
    return rc;
}

static int load_own(SSL_CTX *ssl, const aclshmemi_tls_info_t *info, const aclshmemi_tls_key_t *key,
                    aclshmemi_expiry_t *expiry)
{
    aclshmemi_tls_bytes_t bytes;
    EVP_PKEY *pkey = NULL;
    TRY(aclshmemi_tls_read_file(NULL, info->cert, "tlsCert", &bytes));
    int rc = each_certificate(&bytes, "tlsCert", use_own, &(own_t){ssl, expiry});
    aclshmemi_tls_bytes_free(&bytes);
    TRY(rc);
    TRY(aclshmemi_private_key_read(key, &pkey));
    aclshmemi_tls_errors_begin();
    int used = SSL_CTX_use_PrivateKey(ssl, pkey) == 1 && SSL_CTX_check_private_key(ssl) == 1;
    unsigned long error = aclshmemi_tls_errors_end();
    EVP_PKEY_free(pkey);
    if (!used)
        return fail(ACLSHMEM_INNER_ERROR, "the private key does not fit the certificate of this PE: %s",
                    aclshmemi_tls_error_text(error));
    return 0;
}

int aclshmemi_x509_load(SSL_CTX *ssl, const aclshmemi_tls_info_t *info, const aclshmemi_tls_key_t *key,
                        aclshmemi_expiry_t *expiry)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    if (!key->key)
        return fail(ACLSHMEM_INNER_ERROR, "TLS with certificates needs a private key: it must be set with "
                                          "aclshmemx_set_config_store_tls_key before each init");
    TRY(aclshmemi_tls_check_package(info->package_path));
    TRY(load_own(ssl, info, key, expiry));
    TRY(load_cas(info, &(trust_t){store, expiry}));
    TRY(aclshmemi_expiry_start(expiry, time(NULL)));
    TRY(load_crls(info, store));
    if (X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) != 1)
        return fail(ACLSHMEM_INNER_ERROR, "chains of certificates cannot be checked");
    return 0;
}

/* --- Peers --- */

bool aclshmemi_x509_allowed(const aclshmemi_tls_list_t *subjects, const X509 *certificate)
{
    if (subjects->count == 0)
        return true;
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
        return false; /* none or several: nothing to compare with */
    unsigned char *name = NULL;
    int length = ASN1_STRING_to_UTF8(&name, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    bool found = false;
    const char *item = subjects->first;
    for (size_t i = 0; length > 0 && !found && i < subjects->count; i++, item = aclshmemi_tls_list_next(item))
        found = strlen(item) == (size_t)length && memcmp(item, name, (size_t)length) == 0;
    OPENSSL_free(name);
    return found;
}
