/* SPDX-License-Identifier: Apache-2.0 */
/* Pre-shared keys of TLS 1.3, made from the secrets two PEs may share. */
#include "host/bootstrap/tls/psk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/openssl.h"
#include "host/bootstrap/tls/tls.h"

#define IDENTITY_PREFIX "aclshmem1:"

/* Words that name a kind in labels and identities: part of the wire format. */
static const char *kind_word(aclshmemi_tls_kind_t kind)
{
    switch (kind) {
    case ACLSHMEMI_TLS_UID:
        return "uid";
    case ACLSHMEMI_TLS_JOB:
        return "job";
    case ACLSHMEMI_TLS_USER:
        return "user";
    default:
        return NULL;
    }
}

const char *aclshmemi_tls_kind_text(aclshmemi_tls_kind_t kind)
{
    switch (kind) {
    case ACLSHMEMI_TLS_PLAIN:
        return "plain TCP";
    case ACLSHMEMI_TLS_SOME:
        return "TLS";
    case ACLSHMEMI_TLS_X509:
        return "certificates";
    case ACLSHMEMI_TLS_UID:
        return "the unique id's secret";
    case ACLSHMEMI_TLS_JOB:
        return "the launcher's secret";
    case ACLSHMEMI_TLS_USER:
        return "the user's secret file";
    default:
        return "something unknown";
    }
}

/* HKDF (RFC 5869) with SHA-256, no salt: the secrets are uniformly random. */
static bool expand(const uint8_t *secret, const char *label, uint8_t *out, size_t size)
{
    char digest[] = "SHA256";
    char info[64];
    uint8_t key[ACLSHMEMI_SECRET_LEN]; /* the parameter wants it writable */
    snprintf(info, sizeof info, "%s", label);
    memcpy(key, secret, sizeof key);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key, sizeof key),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, strlen(info)),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *kdf = EVP_KDF_fetch(aclshmemi_tls_library(), "HKDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    bool done = context && EVP_KDF_derive(context, out, size, params) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    explicit_bzero(key, sizeof key);
    return done;
}

int aclshmemi_psk_derive(aclshmemi_tls_kind_t kind, const uint8_t *secret, aclshmemi_psk_t *psk)
{
    char label[64];
    uint8_t hash[4];
    const char *word = kind_word(kind);
    if (!word)
        return fail(ACLSHMEM_INNER_ERROR, "no pre-shared key is made from %s", aclshmemi_tls_kind_text(kind));
    aclshmemi_tls_errors_begin();
    snprintf(label, sizeof label, "aclshmem control plane key 1 %s", word);
    bool done = expand(secret, label, psk->key, sizeof psk->key);
    snprintf(label, sizeof label, "aclshmem control plane name 1 %s", word);
    done = done && expand(secret, label, hash, sizeof hash);
    unsigned long error = aclshmemi_tls_errors_end();
    if (!done) {
        explicit_bzero(psk, sizeof *psk);
        return fail(ACLSHMEM_INNER_ERROR, "a pre-shared key could not be made from %s: %s",
                    aclshmemi_tls_kind_text(kind), aclshmemi_tls_error_text(error));
    }
    psk->hash = (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 | (uint32_t)hash[2] << 8 | hash[3];
    snprintf(psk->identity, sizeof psk->identity, IDENTITY_PREFIX "%s:%08" PRIx32, word, psk->hash);
    return 0;
}

/* Eight hexadecimal digits, small letters, as they are written. */
static bool parse_hash(const char *text, uint32_t *hash)
{
    uint32_t value = 0;
    for (int i = 0; i < 8; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    if (text[8] != '\0')
        return false;
    *hash = value;
    return true;
}

bool aclshmemi_psk_identity_parse(const uint8_t *identity, size_t size, aclshmemi_tls_kind_t *kind,
                                  uint32_t *hash)
{
    static const aclshmemi_tls_kind_t kinds[] = {ACLSHMEMI_TLS_UID, ACLSHMEMI_TLS_JOB, ACLSHMEMI_TLS_USER};
    char text[ACLSHMEMI_PSK_IDENTITY_LEN];
    if (size >= sizeof text)
        return false;
    memcpy(text, identity, size);
    text[size] = '\0';
    size_t prefix = strlen(IDENTITY_PREFIX);
    if (strncmp(text, IDENTITY_PREFIX, prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *word = kind_word(kinds[i]);
        size_t length = strlen(word);
        if (strncmp(text + prefix, word, length) != 0 || text[prefix + length] != ':')
            continue;
        if (!parse_hash(text + prefix + length + 1, hash))
            return false;
        *kind = kinds[i];
        return true;
    }
    return false;
}

const unsigned char aclshmemi_psk_session_context[8] = {'a', 'c', 'l', 's', 'h', 'm', 'e', 'm'};

/* The suite fixes the hash of the key, SHA-256; any suite with that hash can then be agreed on. */
SSL_SESSION *aclshmemi_psk_session(const aclshmemi_psk_t *psk, SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const SSL_CIPHER *suite = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION *session = suite ? SSL_SESSION_new() : NULL;
    if (!session)
        return NULL;
    if (SSL_SESSION_set1_master_key(session, psk->key, sizeof psk->key) == 1 &&
        SSL_SESSION_set_cipher(session, suite) == 1 &&
        SSL_SESSION_set1_id_context(session, aclshmemi_psk_session_context,
                                    sizeof aclshmemi_psk_session_context) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}
