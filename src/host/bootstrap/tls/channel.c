/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: one code path for the store, whether bytes are encrypted or not. */
#include "host/bootstrap/tls/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/openssl.h"

static int make_ssl(aclshmemi_channel_t *channel)
{
    aclshmemi_tls_errors_begin();
    BIO *bio = aclshmemi_wire_bio(&channel->wire);
    SSL *ssl = bio ? SSL_new(channel->context->ssl) : NULL;
    unsigned long error = aclshmemi_tls_errors_end();
    if (!ssl) {
        BIO_free(bio);
        return fail(ACLSHMEM_INNER_ERROR, "a TLS connection cannot be set up: %s",
                    aclshmemi_tls_error_text(error));
    }
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, channel);
    if (channel->server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    channel->ssl = ssl;
    return 0;
}

int aclshmemi_channel_create(aclshmemi_tls_context_t *context, int fd, bool server, aclshmemi_channel_t **out)
{
    aclshmemi_channel_t *channel = calloc(1, sizeof *channel);
    if (!channel) {
        close(fd);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a connection of %zu bytes", sizeof *channel);
    }
    aclshmemi_wire_init(&channel->wire, fd, context != NULL);
    channel->context = context;
    channel->server = server;
    channel->stage = context ? ACLSHMEMI_STAGE_SHAKING : ACLSHMEMI_STAGE_OPEN;
    int rc = context ? make_ssl(channel) : 0;
    if (rc != 0) {
        aclshmemi_channel_destroy(channel, true);
        return rc;
    }
    *out = channel;
    return 0;
}

static int say_again(const aclshmemi_channel_t *channel)
{
    return fail_quietly(ACLSHMEM_INNER_ERROR, "%s", channel->text);
}

int aclshmemi_channel_handshake(aclshmemi_channel_t *channel)
{
    if (channel->stage == ACLSHMEMI_STAGE_FAILED)
        return say_again(channel);
    if (channel->stage == ACLSHMEMI_STAGE_OPEN)
        return 0;
    if (!aclshmemi_tls_library_alive())
        return aclshmemi_channel_give_up(channel, "the process is ending, TLS is no longer available");
    return aclshmemi_handshake_step(channel);
}

/* --- Plain --- */

static int tell_socket_failure(aclshmemi_channel_t *channel, const char *what)
{
    if (!channel->wire.stranger)
        return aclshmemi_channel_give_up(channel, "%s the socket failed: %m", what);
    aclshmemi_notice_send(&channel->wire, ACLSHMEMI_TLS_PLAIN, 0);
    return aclshmemi_channel_give_up(channel, "peer speaks TLS, this PE plain TCP: all PEs must agree");
}

static ssize_t plain_read(aclshmemi_channel_t *channel, void *data, size_t size)
{
    ssize_t n = aclshmemi_wire_recv(&channel->wire, data, size);
    return n == ACLSHMEM_INNER_ERROR ? tell_socket_failure(channel, "reading from") : n;
}

static ssize_t plain_write(aclshmemi_channel_t *channel, const void *data, size_t size)
{
    ssize_t n = aclshmemi_wire_send(&channel->wire, data, size);
    return n == ACLSHMEM_INNER_ERROR ? tell_socket_failure(channel, "writing to") : n;
}

/* --- Encrypted --- */

/* Why a call on an open connection moved nothing. */
static int explain(aclshmemi_channel_t *channel, unsigned long error, int saved_errno)
{
    aclshmemi_wire_t *wire = &channel->wire;
    if (error == 0 && (SSL_get_shutdown(channel->ssl) & SSL_RECEIVED_SHUTDOWN))
        return ACLSHMEMI_CHANNEL_CLOSED;
    if (error == 0 && wire->want_read)
        return ACLSHMEMI_CHANNEL_WANT_READ;
    if (error == 0 && wire->want_write)
        return ACLSHMEMI_CHANNEL_WANT_WRITE;
    /* A client is done before the server has looked at its certificate: the refusal comes as an alert later. */
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET)
        return aclshmemi_channel_give_up(
            channel, "peer refused the connection: %s",
            SSL_alert_desc_string_long(ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET));
    if (wire->closed)
        return ACLSHMEMI_CHANNEL_CLOSED;
    if (error == 0) {
        errno = saved_errno;
        return aclshmemi_channel_give_up(channel, "the socket of a TLS connection failed: %m");
    }
    return aclshmemi_channel_give_up(channel, "the TLS connection broke: %s",
                                     aclshmemi_tls_error_text(error));
}

static int check_usable(aclshmemi_channel_t *channel, size_t size)
{
    if (channel->stage == ACLSHMEMI_STAGE_FAILED)
        return say_again(channel);
    if (channel->stage != ACLSHMEMI_STAGE_OPEN)
        return fail_quietly(ACLSHMEM_INNER_ERROR, "a connection was used before its handshake was done");
    if (size == 0)
        return fail_quietly(ACLSHMEM_INNER_ERROR, "a connection was asked to move 0 bytes");
    if (channel->ssl && !aclshmemi_tls_library_alive())
        return aclshmemi_channel_give_up(channel, "the process is ending, TLS is no longer available");
    return 0;
}

ssize_t aclshmemi_channel_read(aclshmemi_channel_t *channel, void *data, size_t size)
{
    TRY(check_usable(channel, size));
    if (!channel->ssl)
        return plain_read(channel, data, size);
    size_t moved = 0;
    channel->wire.want_read = channel->wire.want_write = false;
    aclshmemi_tls_errors_begin();
    int done = SSL_read_ex(channel->ssl, data, size, &moved);
    int saved_errno = errno;
    unsigned long error = aclshmemi_tls_errors_end();
    return done == 1 ? (ssize_t)moved : explain(channel, error, saved_errno);
}

ssize_t aclshmemi_channel_write(aclshmemi_channel_t *channel, const void *data, size_t size)
{
    TRY(check_usable(channel, size));
    if (!channel->ssl)
        return plain_write(channel, data, size);
    size_t moved = 0;
    channel->wire.want_read = channel->wire.want_write = false;
    aclshmemi_tls_errors_begin();
    int done = SSL_write_ex(channel->ssl, data, size, &moved);
    int saved_errno = errno;
    unsigned long error = aclshmemi_tls_errors_end();
    return done == 1 ? (ssize_t)moved : explain(channel, error, saved_errno);
}

bool aclshmemi_channel_pending(const aclshmemi_channel_t *channel)
{
    if (channel->wire.begin != channel->wire.end)
        return true;
    return channel->ssl && aclshmemi_tls_library_alive() && SSL_pending(channel->ssl) > 0;
}

int aclshmemi_channel_fd(const aclshmemi_channel_t *channel)
{
    return channel->wire.fd;
}

void aclshmemi_channel_destroy(aclshmemi_channel_t *channel, bool silent)
{
    if (!channel)
        return;
    bool alive = aclshmemi_tls_library_alive();
    if (!silent && channel->ssl && alive && channel->stage == ACLSHMEMI_STAGE_OPEN) {
        aclshmemi_tls_errors_begin();
        SSL_shutdown(
            channel->ssl); /* one try; a peer that does not read sees the end of the stream instead */
        (void)aclshmemi_tls_errors_end();
    }
    if (!silent && channel->stage == ACLSHMEMI_STAGE_FAILED) {
        shutdown(channel->wire.fd, SHUT_WR);
        aclshmemi_wire_drain(&channel->wire);
    }
    if (channel->ssl && alive)
        SSL_free(channel->ssl);
    close(channel->wire.fd);
    explicit_bzero(channel, sizeof *channel);
    free(channel);
}
