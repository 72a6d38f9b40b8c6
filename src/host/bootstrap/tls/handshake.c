/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handshake, and the words for its failures. OpenSSL knows only that something did not fit; what each side uses is
 * learnt from the name of the key a client offers, from the first bytes, and from the notice of a side that gave up.
 */
#include "host/bootstrap/tls/channel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/openssl.h"
#include "host/bootstrap/tls/x509.h"

int aclshmemi_channel_give_up(aclshmemi_channel_t *channel, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(channel->text, sizeof channel->text, format, args);
    va_end(args);
    channel->stage = ACLSHMEMI_STAGE_FAILED;
    return fail_quietly(ACLSHMEM_INNER_ERROR, "%s", channel->text);
}

/* --- Callbacks --- */

static int find_session(SSL *ssl, const unsigned char *identity, size_t size, SSL_SESSION **session)
{
    aclshmemi_channel_t *channel = SSL_get_app_data(ssl);
    const aclshmemi_psk_t *psk = &channel->context->psk;
    *session = NULL;
    channel->offered_key = true;
    if (!aclshmemi_psk_identity_parse(identity, size, &channel->peer_kind, &channel->peer_hash))
        return 1; /* no session: OpenSSL goes on without a key and fails, as this side has no certificate */
    if (size != strlen(psk->identity) || memcmp(identity, psk->identity, size) != 0)
        return 1;
    *session = aclshmemi_psk_session(psk, ssl);
    return *session != NULL;
}

static int use_session(SSL *ssl, const EVP_MD *md, const unsigned char **identity, size_t *size,
                       SSL_SESSION **session)
{
    aclshmemi_channel_t *channel = SSL_get_app_data(ssl);
    const aclshmemi_psk_t *psk = &channel->context->psk;
    *session = NULL;
    if (md && !EVP_MD_is_a(md, "SHA256"))
        return 1; /* the server retries with another hash, for which there is no key */
    *session = aclshmemi_psk_session(psk, ssl);
    if (!*session)
        return 0;
    *identity = (const unsigned char *)psk->identity;
    *size = strlen(psk->identity);
    return 1;
}

/* A certificate where a shared key was asked for proves nothing. */
static int refuse_certificate(X509_STORE_CTX *store, void *arg)
{
    (void)arg;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    aclshmemi_channel_t *channel = SSL_get_app_data(ssl);
    channel->got_certificate = true;
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
}

/* Whose certificate is good may still not be wanted. */
static int check_subject(int good, X509_STORE_CTX *store)
{
    if (!good || X509_STORE_CTX_get_error_depth(store) > 0)
        return good;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    aclshmemi_channel_t *channel = SSL_get_app_data(ssl);
    if (aclshmemi_x509_allowed(&channel->context->info.allowed_subjects,
                               X509_STORE_CTX_get_current_cert(store)))
        return 1;
    channel->not_allowed = true;
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

void aclshmemi_handshake_install(SSL_CTX *ssl, bool x509)
{
    if (x509) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, check_subject);
        return;
    }
    SSL_CTX_set_psk_find_session_callback(ssl, find_session);
    SSL_CTX_set_psk_use_session_callback(ssl, use_session);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ssl, refuse_certificate, NULL);
}

/* --- Words --- */

/* Two sides with the same kind of secret, and not the same secret. */
static int tell_other_secret(aclshmemi_channel_t *channel)
{
    switch (channel->context->kind) {
    case ACLSHMEMI_TLS_UID:
        return aclshmemi_channel_give_up(
            channel, "peer uses another unique id: all PEs must be given the same 136 bytes");
    case ACLSHMEMI_TLS_JOB:
        return aclshmemi_channel_give_up(channel,
                                         "peer belongs to another job: its launcher's secret is another one");
    default: /* both sides name the same direction: PE 0, the server, has the file that counts */
        return aclshmemi_channel_give_up(
            channel,
            channel->server
                ? "peer has another secret file: copy %s of this host to the same place on the peer's host"
                : "peer has another secret file: copy that of the host of PE 0 to %s of this host",
            channel->context->secret_path);
    }
}

static int tell_mismatch(aclshmemi_channel_t *channel)
{
    aclshmemi_tls_kind_t own = channel->context->kind, peer = channel->peer_kind;
    if (own != peer)
        return aclshmemi_channel_give_up(channel, "peer uses %s, this PE %s", aclshmemi_tls_kind_text(peer),
                                         aclshmemi_tls_kind_text(own));
    return tell_other_secret(channel);
}

/* This side found the fault: say so to the peer. Strangers are not told which secret this is. */
static void notify(aclshmemi_channel_t *channel)
{
    bool known = channel->peer_kind >= ACLSHMEMI_TLS_X509;
    aclshmemi_tls_kind_t kind = channel->wire.stranger ? ACLSHMEMI_TLS_SOME : channel->context->kind;
    bool keyed = channel->context->kind != ACLSHMEMI_TLS_X509;
    aclshmemi_notice_send(&channel->wire, kind, known && keyed ? channel->context->psk.hash : 0);
}

static int tell_own_fault(aclshmemi_channel_t *channel, unsigned long error)
{
    bool keyed = channel->context->kind != ACLSHMEMI_TLS_X509;
    long verified = SSL_get_verify_result(channel->ssl);
    notify(channel);
    if (channel->got_certificate) {
        channel->peer_kind = ACLSHMEMI_TLS_X509;
        return tell_mismatch(channel);
    }
    if (keyed && channel->server && channel->peer_kind >= ACLSHMEMI_TLS_UID &&
        (channel->peer_kind != channel->context->kind || channel->peer_hash != channel->context->psk.hash))
        return tell_mismatch(channel);
    if (keyed && channel->server && channel->offered_key && channel->peer_kind == ACLSHMEMI_TLS_NONE)
        return aclshmemi_channel_give_up(channel,
                                         "peer is no PE: it offers a pre-shared key with a foreign name");
    if (keyed && channel->server && !channel->offered_key)
        return aclshmemi_channel_give_up(channel, "peer offers no pre-shared key (%s), this PE uses %s",
                                         aclshmemi_tls_error_text(error),
                                         aclshmemi_tls_kind_text(channel->context->kind));
    if (channel->not_allowed)
        return aclshmemi_channel_give_up(channel,
                                         "peer's certificate was refused: tlsAllowedSubjects lacks its name");
    if (!keyed && verified != X509_V_OK)
        return aclshmemi_channel_give_up(channel, "peer's certificate was refused: %s",
                                         X509_verify_cert_error_string(verified));
    return aclshmemi_channel_give_up(channel, "TLS handshake failed: %s", aclshmemi_tls_error_text(error));
}

static int tell_failure(aclshmemi_channel_t *channel, unsigned long error, int saved_errno)
{
    aclshmemi_wire_t *wire = &channel->wire;
    if (wire->stranger) {
        notify(channel);
        return aclshmemi_channel_give_up(channel, "peer speaks plain TCP, this PE TLS: all PEs must agree");
    }
    if (error != 0 && ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET) {
        int alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;
        snprintf(channel->text, sizeof channel->text, "%s", SSL_alert_desc_string_long(alert));
        channel->stage = ACLSHMEMI_STAGE_LISTENING;
        return 0;
    }
    if (wire->closed)
        return aclshmemi_channel_give_up(channel, "peer closed the connection during the TLS handshake");
    if (error == 0) {
        errno = saved_errno;
        return aclshmemi_channel_give_up(channel, "the socket failed during the TLS handshake: %m");
    }
    return tell_own_fault(channel, error);
}

/* --- Steps --- */

/* The peer refused us. Its notice is on the way, or its end. */
static int listen_for_notice(aclshmemi_channel_t *channel)
{
    int rc = aclshmemi_notice_recv(&channel->wire, &channel->peer_kind, &channel->peer_hash);
    if (rc == ACLSHMEMI_CHANNEL_WANT_READ)
        return rc;
    aclshmemi_tls_kind_t own = channel->context->kind;
    bool keyed = own != ACLSHMEMI_TLS_X509;
    if (rc == 0 && channel->peer_kind >= ACLSHMEMI_TLS_X509 &&
        (own != channel->peer_kind ||
         (keyed && channel->peer_hash != 0 && channel->peer_hash != channel->context->psk.hash)))
        return tell_mismatch(channel);
    char alert[sizeof channel->text];
    snprintf(alert, sizeof alert, "%s", channel->text);
    return aclshmemi_channel_give_up(channel, "peer refused the connection: %s", alert);
}

/* What OpenSSL must have enforced already, looked at once more: it is what everything rests on. */
static int check_result(aclshmemi_channel_t *channel)
{
    bool right = SSL_version(channel->ssl) == TLS1_3_VERSION;
    X509 *certificate = SSL_get0_peer_certificate(channel->ssl);
    if (channel->context->kind == ACLSHMEMI_TLS_X509)
        right = right && certificate && SSL_get_verify_result(channel->ssl) == X509_V_OK;
    else
        right = right && !certificate && SSL_session_reused(channel->ssl) == 1;
    if (!right)
        return aclshmemi_channel_give_up(channel, "TLS handshake ended without authenticating the peer");
    channel->stage = ACLSHMEMI_STAGE_OPEN;
    return 0;
}

int aclshmemi_handshake_step(aclshmemi_channel_t *channel)
{
    aclshmemi_wire_t *wire = &channel->wire;
    if (channel->stage == ACLSHMEMI_STAGE_SHAKING) {
        wire->want_read = wire->want_write = false;
        aclshmemi_tls_errors_begin();
        int done = SSL_do_handshake(channel->ssl);
        int saved_errno = errno;
        unsigned long error = aclshmemi_tls_errors_end();
        if (done == 1)
            return check_result(channel);
        if (error == 0 && wire->want_read)
            return ACLSHMEMI_CHANNEL_WANT_READ;
        if (error == 0 && wire->want_write)
            return ACLSHMEMI_CHANNEL_WANT_WRITE;
        TRY(tell_failure(channel, error, saved_errno));
    }
    return listen_for_notice(channel);
}
