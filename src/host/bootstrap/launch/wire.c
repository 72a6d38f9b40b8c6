/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the meeting: layout, and moving them over a channel with or without waiting. */
#include "host/bootstrap/launch/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "host/utils/buf.h"

#define TAG         UINT32_C(0x4d484353)
#define POLL_CAP_MS 60000

int aclshmemi_meet_parse(const aclshmemi_meet_frame_t *frame, int *kind, size_t *length)
{
    aclshmemi_reader_t reader;
    if (frame->got < ACLSHMEMI_MEET_HEADER) {
        *length = ACLSHMEMI_MEET_HEADER - frame->got;
        return 1;
    }
    aclshmemi_reader_init(&reader, frame->bytes, frame->got);
    uint32_t tag = aclshmemi_read_u32(&reader);
    *kind = aclshmemi_read_u16(&reader);
    *length = aclshmemi_read_u16(&reader);
    size_t have = aclshmemi_reader_left(&reader);
    if (tag != TAG || *kind < ACLSHMEMI_MEET_HELLO || *kind > ACLSHMEMI_MEET_FAILED ||
        *length > ACLSHMEMI_MEET_PAYLOAD || have > *length)
        return -1;
    if (have == *length)
        return 0;
    *length -= have;
    return 1;
}

const uint8_t *aclshmemi_meet_payload(const aclshmemi_meet_frame_t *frame)
{
    return frame->bytes + ACLSHMEMI_MEET_HEADER;
}

bool aclshmemi_meet_parse_hello(const void *payload, size_t length, aclshmemi_meet_hello_t *hello)
{
    aclshmemi_reader_t reader;
    aclshmemi_reader_init(&reader, payload, length);
    hello->pe = aclshmemi_read_u32(&reader);
    hello->n_pes = aclshmemi_read_u32(&reader);
    hello->round = aclshmemi_read_u32(&reader);
    aclshmemi_read_bytes(&reader, hello->digest, sizeof hello->digest);
    return aclshmemi_reader_finished(&reader);
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
    return at + 4;
}

size_t aclshmemi_meet_print_hello(const aclshmemi_meet_hello_t *hello, uint8_t out[ACLSHMEMI_MEET_PAYLOAD])
{
    uint8_t *at = put_u32(put_u32(put_u32(out, hello->pe), hello->n_pes), hello->round);
    memcpy(at, hello->digest, sizeof hello->digest);
    return (size_t)(at - out) + sizeof hello->digest;
}

/* Anything but "moved some bytes" of a channel call. */
static aclshmemi_meet_io_t judge(ssize_t rc)
{
    switch (rc) {
    case ACLSHMEMI_CHANNEL_WANT_READ:
        return ACLSHMEMI_MEET_WANT_READ;
    case ACLSHMEMI_CHANNEL_WANT_WRITE:
        return ACLSHMEMI_MEET_WANT_WRITE;
    default:
        return ACLSHMEMI_MEET_GONE;
    }
}

aclshmemi_meet_io_t aclshmemi_meet_pull(aclshmemi_channel_t *channel, aclshmemi_meet_frame_t *frame,
                                        int *kind, size_t *length)
{
    for (;;) {
        size_t need = 0;
        int rc = aclshmemi_meet_parse(frame, kind, &need);
        if (rc < 0)
            return ACLSHMEMI_MEET_GONE;
        if (rc == 0) {
            *length = need;
            return ACLSHMEMI_MEET_DONE;
        }
        ssize_t n = aclshmemi_channel_read(channel, frame->bytes + frame->got, need);
        if (n <= 0)
            return judge(n);
        frame->got += (size_t)n;
    }
}

/* Waits for what a channel call asked for; DONE: try again. */
static aclshmemi_meet_io_t wait_for(const aclshmemi_channel_t *channel, aclshmemi_meet_io_t want,
                                    aclshmemi_deadline_t deadline)
{
    struct pollfd entry = {.fd = aclshmemi_channel_fd(channel),
                           .events = want == ACLSHMEMI_MEET_WANT_READ ? POLLIN : POLLOUT};
    for (;;) {
        int rc = poll(&entry, 1, aclshmemi_deadline_left_ms(deadline, POLL_CAP_MS));
        if (rc > 0)
            return ACLSHMEMI_MEET_DONE;
        if (rc < 0 && errno != EINTR)
            return ACLSHMEMI_MEET_GONE;
        if (aclshmemi_deadline_passed(deadline))
            return ACLSHMEMI_MEET_LATE;
    }
}

static bool wants(aclshmemi_meet_io_t io)
{
    return io == ACLSHMEMI_MEET_WANT_READ || io == ACLSHMEMI_MEET_WANT_WRITE;
}

aclshmemi_meet_io_t aclshmemi_meet_send(aclshmemi_channel_t *channel, int kind, const void *payload,
                                        size_t length, aclshmemi_deadline_t deadline)
{
    uint8_t bytes[ACLSHMEMI_MEET_HEADER + ACLSHMEMI_MEET_PAYLOAD];
    size_t size = ACLSHMEMI_MEET_HEADER + length;
    aclshmemi_meet_io_t io = ACLSHMEMI_MEET_DONE;
    put_u32(put_u32(bytes, TAG), (uint32_t)kind | (uint32_t)length << 16);
    if (length > 0)
        memcpy(bytes + ACLSHMEMI_MEET_HEADER, payload, length);
    for (size_t at = 0; at < size && io == ACLSHMEMI_MEET_DONE;) {
        ssize_t n = aclshmemi_channel_write(channel, bytes + at, size - at);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        io = judge(n);
        if (wants(io))
            io = wait_for(channel, io, deadline);
    }
    explicit_bzero(bytes, sizeof bytes);
    return io;
}

aclshmemi_meet_io_t aclshmemi_meet_receive(aclshmemi_channel_t *channel, aclshmemi_meet_frame_t *frame,
                                           int *kind, size_t *length, aclshmemi_deadline_t deadline)
{
    frame->got = 0;
    for (;;) {
        aclshmemi_meet_io_t io = aclshmemi_meet_pull(channel, frame, kind, length);
        if (wants(io))
            io = wait_for(channel, io, deadline);
        else
            return io;
        if (io != ACLSHMEMI_MEET_DONE)
            return io;
    }
}

aclshmemi_meet_io_t aclshmemi_meet_handshake(aclshmemi_channel_t *channel, aclshmemi_deadline_t deadline)
{
    for (;;) {
        int rc = aclshmemi_channel_handshake(channel);
        if (rc == 0)
            return ACLSHMEMI_MEET_DONE;
        aclshmemi_meet_io_t io = judge(rc);
        if (wants(io))
            io = wait_for(channel, io, deadline);
        if (io != ACLSHMEMI_MEET_DONE)
            return io;
    }
}
