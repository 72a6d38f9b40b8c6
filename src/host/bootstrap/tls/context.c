/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: which credentials, and the one way all connections are set up. */
#include "host/bootstrap/tls/channel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/ssl.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/tls/openssl.h"
#include "host/bootstrap/tls/settings.h"
#include "host/bootstrap/tls/x509.h"

/* X25519 first: the fastest on both sides, and the key share a client sends unasked. */
static char groups[] = "X25519:P-256:P-384"; /* the macro that takes it casts const away */
/* A pre-shared key is bound to SHA-256, so the suite with SHA-384 cannot be agreed on with one. */
#define SUITES_PSK "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256"
#define SUITES_X509                                                                                          \
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256"

/* The configuration of the system may say otherwise about any of these, so all are said. */
static bool set_rules(SSL_CTX *ssl, bool x509)
{
    SSL_CTX_set_options(ssl, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_clear_options(ssl, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_PRIORITIZE_CHACHA |
                                   SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(ssl, 0);
    SSL_CTX_set_security_level(ssl, 3);
    return SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_ciphersuites(ssl, x509 ? SUITES_X509 : SUITES_PSK) == 1 &&
           SSL_CTX_set1_groups_list(ssl, groups) == 1 && SSL_CTX_set_num_tickets(ssl, 0) == 1 &&
           SSL_CTX_set_session_id_context(ssl, aclshmemi_psk_session_context,
                                          sizeof aclshmemi_psk_session_context) == 1 &&
           SSL_CTX_set_max_early_data(ssl, 0) == 1 && SSL_CTX_set_recv_max_early_data(ssl, 0) == 1;
}

static SSL_CTX *build_ssl(bool x509)
{
    OSSL_LIB_CTX *library = aclshmemi_tls_library();
    SSL_CTX *made = library ? SSL_CTX_new_ex(library, NULL, TLS_method()) : NULL;
    if (made && set_rules(made, x509)) {
        aclshmemi_handshake_install(made, x509);
        return made;
    }
    SSL_CTX_free(made);
    return NULL;
}

/* What pre-shared keys need of OpenSSL holds no key, as the callbacks ask the channel for it. So the process makes it once,
 * at a quarter of a millisecond, and every later context uses it too. */
static pthread_mutex_t keyed_lock = PTHREAD_MUTEX_INITIALIZER; /* of the next */
static SSL_CTX *keyed_ssl;

static SSL_CTX *share_keyed_ssl(void)
{
    pthread_mutex_lock(&keyed_lock);
    if (!keyed_ssl)
        keyed_ssl = build_ssl(false);
    SSL_CTX *shared = keyed_ssl && SSL_CTX_up_ref(keyed_ssl) == 1 ? keyed_ssl : NULL;
    pthread_mutex_unlock(&keyed_lock);
    return shared;
}

static int make_ssl(aclshmemi_tls_context_t *context)
{
    aclshmemi_tls_errors_begin();
    context->ssl = context->kind == ACLSHMEMI_TLS_X509 ? build_ssl(true) : share_keyed_ssl();
    unsigned long error = aclshmemi_tls_errors_end();
    if (!context->ssl)
        return fail(ACLSHMEM_INNER_ERROR, "TLS 1.3 cannot be set up: %s", aclshmemi_tls_error_text(error));
    return 0;
}

/* --- Credentials --- */

static int find_secret(aclshmemi_tls_context_t *context, const aclshmemi_env_t *env,
                       const uint8_t *uid_secret)
{
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {0};
    int rc = 0;
    if (uid_secret) {
        context->kind = ACLSHMEMI_TLS_UID;
        memcpy(secret, uid_secret, sizeof secret);
    } else if (env->secret_fd >= 0) {
        context->kind = ACLSHMEMI_TLS_JOB;
        rc = aclshmemi_secret_of_launcher((int)env->secret_fd, secret);
    } else {
        context->kind = ACLSHMEMI_TLS_USER;
        rc = aclshmemi_secret_of_user(env, secret, context->secret_path);
    }
    if (rc == 0)
        rc = aclshmemi_psk_derive(context->kind, secret, &context->psk);
    explicit_bzero(secret, sizeof secret);
    return rc;
}

/* Contexts with certificates that are in use. The key is wiped once the first is built and cannot be set again while an
 * instance exists, so instances made beside it share what OpenSSL holds. */
static pthread_mutex_t certified_lock = PTHREAD_MUTEX_INITIALIZER; /* of the next */
static aclshmemi_tls_context_t *certified;

static void enter_certified(aclshmemi_tls_context_t *context)
{
    pthread_mutex_lock(&certified_lock);
    context->next = certified;
    certified = context;
    pthread_mutex_unlock(&certified_lock);
}

static void leave_certified(aclshmemi_tls_context_t *context)
{
    pthread_mutex_lock(&certified_lock);
    aclshmemi_tls_context_t **link = &certified;
    while (*link != NULL && *link != context)
        link = &(*link)->next;
    if (*link != NULL)
        *link = context->next;
    pthread_mutex_unlock(&certified_lock);
}

/* Takes part in a context of the same description; *shared tells whether there was one. */
static int share_certified(aclshmemi_tls_context_t *context, bool *shared)
{
    int rc = 0;
    pthread_mutex_lock(&certified_lock);
    aclshmemi_tls_context_t *other = certified;
    while (other != NULL && strcmp(other->info_text, context->info_text) != 0)
        other = other->next;
    *shared = other != NULL && SSL_CTX_up_ref(other->ssl) == 1;
    if (*shared)
        context->ssl = other->ssl;
    for (int i = 0; *shared && rc == 0 && i < sk_X509_num(other->expiry.certificates); i++)
        rc = aclshmemi_expiry_add(&context->expiry, sk_X509_value(other->expiry.certificates, i));
    pthread_mutex_unlock(&certified_lock);
    return rc == 0 && *shared ? aclshmemi_expiry_start(&context->expiry, time(NULL)) : rc;
}

/* Parsed first: what is malformed is said before anything is loaded. */
static int load_certificates(aclshmemi_tls_context_t *context, const aclshmemi_env_t *env,
                             const aclshmemi_tls_key_t *key)
{
    TRY(aclshmemi_tls_info_parse(context->info_text, &context->info));
    TRY(aclshmemi_expiry_init(&context->expiry, env));
    bool shared = false;
    if (!key->key)
        TRY(share_certified(context, &shared));
    if (shared)
        return 0;
    TRY(make_ssl(context));
    return aclshmemi_x509_load(context->ssl, &context->info, key, &context->expiry);
}

static int load(aclshmemi_tls_context_t *context, const aclshmemi_env_t *env, const uint8_t *uid_secret,
                const aclshmemi_tls_key_t *key)
{
    TRY(aclshmemi_tls_settings_info(&context->info_text));
    if (context->info_text) {
        context->kind = ACLSHMEMI_TLS_X509;
        return load_certificates(context, env, key);
    }
    if (key->key)
        log_warn("a private key was set without a description of the certificates, it is not used");
    TRY(find_secret(context, env, uid_secret));
    return make_ssl(context);
}

bool aclshmemi_tls_enabled(const aclshmemi_env_t *env)
{
    int set = aclshmemi_tls_settings_enabled();
    return set < 0 ? env->conf_store_tls : set == 1;
}

int aclshmemi_tls_describe(const aclshmemi_env_t *env, char *out, size_t size)
{
    char path[ACLSHMEMI_SECRET_PATH_LEN];
    char *info = NULL;
    TRY(aclshmemi_tls_settings_info(&info));
    bool certificates = info != NULL;
    free(info);
    if (!aclshmemi_tls_enabled(env)) {
        snprintf(out, size, "off: the control plane is plain TCP");
    } else if (certificates) {
        snprintf(out, size, "TLS 1.3, certificates");
    } else if (env->secret_fd >= 0) {
        snprintf(out, size,
                 "TLS 1.3, pre-shared key of the unique id where there is one, else of the launcher");
    } else {
        TRY(aclshmemi_secret_path(env, path));
        snprintf(out, size,
                 "TLS 1.3, pre-shared key of the unique id where there is one, else of secret file %s", path);
    }
    return 0;
}

int aclshmemi_tls_context_create(const aclshmemi_env_t *env, const uint8_t *uid_secret,
                                 aclshmemi_tls_context_t **out)
{
    aclshmemi_tls_key_t key;
    if (!aclshmemi_tls_enabled(env)) {
        aclshmemi_tls_drop_key();
        *out = NULL;
        return 0;
    }
    if (!aclshmemi_tls_library_alive())
        return fail(ACLSHMEM_INNER_ERROR, "the process is ending, TLS is no longer available");
    aclshmemi_tls_context_t *context = calloc(1, sizeof *context);
    if (!context)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a TLS context of %zu bytes", sizeof *context);
    aclshmemi_tls_settings_take_key(&key);
    int rc = load(context, env, uid_secret, &key);
    aclshmemi_tls_key_wipe(&key);
    if (rc != 0) {
        aclshmemi_tls_context_destroy(context);
        return rc;
    }
    if (context->kind == ACLSHMEMI_TLS_X509)
        enter_certified(context);
    log_info("control plane uses %s", aclshmemi_tls_context_describe(context));
    *out = context;
    return 0;
}

void aclshmemi_tls_context_destroy(aclshmemi_tls_context_t *context)
{
    if (!context)
        return;
    leave_certified(context);
    if (aclshmemi_tls_library_alive()) {
        SSL_CTX_free(context->ssl);
        aclshmemi_expiry_fini(&context->expiry);
    }
    free(context->info_text);
    explicit_bzero(context, sizeof *context);
    free(context);
}

const char *aclshmemi_tls_context_describe(const aclshmemi_tls_context_t *context)
{
    if (!context)
        return "plain";
    switch (context->kind) {
    case ACLSHMEMI_TLS_X509:
        return "tls 1.3, certificates";
    case ACLSHMEMI_TLS_UID:
        return "tls 1.3, pre-shared key of the unique id";
    case ACLSHMEMI_TLS_JOB:
        return "tls 1.3, pre-shared key of the launcher";
    default:
        return "tls 1.3, pre-shared key of the user's secret file";
    }
}

void aclshmemi_tls_context_check_expiry(aclshmemi_tls_context_t *context)
{
    if (context && context->kind == ACLSHMEMI_TLS_X509 && aclshmemi_tls_library_alive())
        aclshmemi_expiry_look(&context->expiry, time(NULL));
}
