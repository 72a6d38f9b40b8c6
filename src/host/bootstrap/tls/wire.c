/* SPDX-License-Identifier: Apache-2.0 */
/* The socket under a channel, and the notices two sides that cannot talk leave each other. */
#include "host/bootstrap/tls/wire.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>

#include "host/bootstrap/tls/tls.h"

#define TLS_ALERT     0x15
#define TLS_HANDSHAKE 0x16
#define TLS_MAJOR     0x03

static const uint8_t notice_magic[8] = {'A', 'C', 'L', 'S', 'H', 'M', 'E', 'M'};
#define NOTICE_VERSION 1

void aclshmemi_wire_init(aclshmemi_wire_t *wire, int fd, bool tls)
{
    memset(wire, 0, sizeof *wire);
    wire->fd = fd;
    wire->tls = tls;
}

/* --- Reading --- */

static bool link_is_lost(int error)
{
    return error == ECONNRESET || error == EPIPE || error == ETIMEDOUT || error == ECONNABORTED ||
           error == EHOSTUNREACH || error == ENETUNREACH || error == ENETDOWN || error == ENETRESET ||
           error == EHOSTDOWN || error == ENOTCONN;
}

static ssize_t recv_some(aclshmemi_wire_t *wire, void *data, size_t size)
{
    for (;;) {
        ssize_t n = recv(wire->fd, data, size, MSG_DONTWAIT);
        if (n > 0)
            return n;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            wire->want_read = true;
            return ACLSHMEMI_CHANNEL_WANT_READ;
        }
        if (n < 0 && !link_is_lost(errno))
            return ACLSHMEM_INNER_ERROR;
        wire->closed = true;
        return ACLSHMEMI_CHANNEL_CLOSED;
    }
}

typedef enum verdict { UNDECIDED, OURS, STRANGER } verdict_t;

static verdict_t judge(const aclshmemi_wire_t *wire)
{
    const uint8_t *first = wire->bytes + wire->begin;
    size_t have = (size_t)(wire->end - wire->begin);
    bool record = first[0] == TLS_HANDSHAKE || first[0] == TLS_ALERT;
    if (record && have < 2)
        return UNDECIDED;
    record = record && first[1] == TLS_MAJOR;
    if (wire->tls)
        return record ? OURS : STRANGER;
    if (record)
        return STRANGER;
    size_t known = have < sizeof notice_magic ? have : sizeof notice_magic;
    if (memcmp(first, notice_magic, known) != 0)
        return OURS;
    return known < sizeof notice_magic ? UNDECIDED : STRANGER;
}

static ssize_t fill(aclshmemi_wire_t *wire)
{
    if (wire->begin == wire->end)
        wire->begin = wire->end = 0;
    ssize_t n = recv_some(wire, wire->bytes + wire->end, sizeof wire->bytes - wire->end);
    if (n > 0)
        wire->end = (uint16_t)(wire->end + n);
    return n;
}

/* Reads until the first bytes tell what the peer speaks. */
static ssize_t judge_first_bytes(aclshmemi_wire_t *wire)
{
    verdict_t verdict = wire->begin == wire->end ? UNDECIDED : judge(wire);
    while (verdict == UNDECIDED) {
        ssize_t n = fill(wire);
        if (n <= 0)
            return n;
        verdict = judge(wire);
    }
    wire->judged = true;
    wire->stranger = verdict == STRANGER;
    return 1;
}

static size_t take(aclshmemi_wire_t *wire, void *data, size_t size)
{
    size_t have = (size_t)(wire->end - wire->begin);
    size_t count = size < have ? size : have;
    memcpy(data, wire->bytes + wire->begin, count);
    wire->begin = (uint16_t)(wire->begin + count);
    return count;
}

ssize_t aclshmemi_wire_recv(aclshmemi_wire_t *wire, void *data, size_t size)
{
    if (size == 0)
        return ACLSHMEM_INNER_ERROR;
    if (!wire->judged) {
        ssize_t n = judge_first_bytes(wire);
        if (n <= 0)
            return n;
    }
    if (wire->stranger)
        return ACLSHMEM_INNER_ERROR;
    if (wire->begin == wire->end) {
        if (size >= sizeof wire->bytes)
            return recv_some(wire, data, size);
        ssize_t n = fill(wire);
        if (n <= 0)
            return n;
    }
    return (ssize_t)take(wire, data, size);
}

void aclshmemi_wire_drain(aclshmemi_wire_t *wire)
{
    uint8_t scrap[4096];
    for (int i = 0; i < 16; i++) { /* a peer that floods us gets its reset */
        ssize_t n = recv(wire->fd, scrap, sizeof scrap, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
    }
}

/* --- Writing --- */

ssize_t aclshmemi_wire_send(aclshmemi_wire_t *wire, const void *data, size_t size)
{
    for (;;) {
        ssize_t n = send(wire->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            return n;
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK) {
            wire->want_write = true;
            return ACLSHMEMI_CHANNEL_WANT_WRITE;
        }
        if (!link_is_lost(errno))
            return ACLSHMEM_INNER_ERROR;
        wire->closed = true;
        return ACLSHMEMI_CHANNEL_CLOSED;
    }
}

/* --- Notices --- */

void aclshmemi_notice_send(aclshmemi_wire_t *wire, aclshmemi_tls_kind_t kind, uint32_t hash)
{
    uint8_t notice[ACLSHMEMI_NOTICE_LEN] = {0};
    memcpy(notice, notice_magic, sizeof notice_magic);
    notice[8] = NOTICE_VERSION;
    notice[9] = (uint8_t)kind;
    for (int i = 0; i < 4; i++)
        notice[12 + i] = (uint8_t)(hash >> (24 - 8 * i));
    if (aclshmemi_wire_send(wire, notice, sizeof notice) < 0)
        return; /* the peer will have to do without */
}

int aclshmemi_notice_recv(aclshmemi_wire_t *wire, aclshmemi_tls_kind_t *kind, uint32_t *hash)
{
    while (wire->end - wire->begin < ACLSHMEMI_NOTICE_LEN) {
        size_t have = (size_t)(wire->end - wire->begin);
        size_t known = have < sizeof notice_magic ? have : sizeof notice_magic;
        if (memcmp(wire->bytes + wire->begin, notice_magic, known) != 0)
            return ACLSHMEMI_CHANNEL_CLOSED;
        memmove(wire->bytes, wire->bytes + wire->begin, have);
        wire->begin = 0;
        wire->end = (uint16_t)have;
        ssize_t n = fill(wire);
        if (n <= 0)
            return n == ACLSHMEMI_CHANNEL_WANT_READ ? ACLSHMEMI_CHANNEL_WANT_READ : ACLSHMEMI_CHANNEL_CLOSED;
    }
    const uint8_t *notice = wire->bytes + wire->begin;
    if (memcmp(notice, notice_magic, sizeof notice_magic) != 0 || notice[8] != NOTICE_VERSION)
        return ACLSHMEMI_CHANNEL_CLOSED;
    *kind = notice[9] <= ACLSHMEMI_TLS_USER ? (aclshmemi_tls_kind_t)notice[9] : ACLSHMEMI_TLS_NONE;
    *hash = (uint32_t)notice[12] << 24 | (uint32_t)notice[13] << 16 | (uint32_t)notice[14] << 8 | notice[15];
    return 0;
}

/* --- As OpenSSL sees it --- */

static int bio_read(BIO *bio, char *data, int size)
{
    BIO_clear_retry_flags(bio);
    ssize_t n = size > 0 ? aclshmemi_wire_recv(BIO_get_data(bio), data, (size_t)size) : -1;
    if (n == ACLSHMEMI_CHANNEL_WANT_READ)
        BIO_set_retry_read(bio);
    return n > 0 ? (int)n : -1;
}

static int bio_write(BIO *bio, const char *data, int size)
{
    BIO_clear_retry_flags(bio);
    ssize_t n = size > 0 ? aclshmemi_wire_send(BIO_get_data(bio), data, (size_t)size) : -1;
    if (n == ACLSHMEMI_CHANNEL_WANT_WRITE)
        BIO_set_retry_write(bio);
    return n > 0 ? (int)n : -1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return ((aclshmemi_wire_t *)BIO_get_data(bio))->closed;
    return command == BIO_CTRL_FLUSH;
}

static pthread_once_t method_once = PTHREAD_ONCE_INIT;
static BIO_METHOD *method;

static void make_method(void)
{
    int type = BIO_get_new_index();
    method = type > 0 ? BIO_meth_new(type | BIO_TYPE_SOURCE_SINK, "aclshmem socket") : NULL;
    if (!method)
        return;
    if (BIO_meth_set_read(method, bio_read) == 1 && BIO_meth_set_write(method, bio_write) == 1 &&
        BIO_meth_set_ctrl(method, bio_ctrl) == 1)
        return;
    BIO_meth_free(method);
    method = NULL;
}

BIO *aclshmemi_wire_bio(aclshmemi_wire_t *wire)
{
    pthread_once(&method_once, make_method);
    BIO *bio = method ? BIO_new(method) : NULL;
    if (!bio)
        return NULL;
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    BIO_set_shutdown(bio, 0);
    return bio;
}
