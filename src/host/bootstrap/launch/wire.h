/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of PEs that meet without a launcher's service, over a Unix or TCP channel. Inside launch/.
 *
 *     PE n                                            PE 0
 *     HELLO pe, n_pes, round, digest of the job  -->
 *                                                <--  WELCOME            known; wait until all are here
 *                                                <--  ID round, id       all are here
 *     THANKS                                     -->
 *                                                <--  OTHER text         not this job: look further
 *                                                <--  LATER text         come again
 *                                                <--  FAILED text        the meeting is off
 *
 * Each message: 4 bytes tag, 2 bytes kind, 2 bytes length, payload; little endian.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_LAUNCH_WIRE_H
#define ACLSHMEMI_BOOTSTRAP_LAUNCH_WIRE_H

#include "host/bootstrap/launch/launch.h"
#include "host/bootstrap/tls/tls.h"

#define ACLSHMEMI_MEET_HEADER  8
#define ACLSHMEMI_MEET_PAYLOAD 512

enum {
    ACLSHMEMI_MEET_HELLO = 1,
    ACLSHMEMI_MEET_WELCOME,
    ACLSHMEMI_MEET_ID,
    ACLSHMEMI_MEET_THANKS,
    ACLSHMEMI_MEET_OTHER,
    ACLSHMEMI_MEET_LATER,
    ACLSHMEMI_MEET_FAILED
};

typedef struct aclshmemi_meet_hello {
    uint32_t pe, n_pes;
    uint32_t round; /* meetings this PE has behind it */
    uint8_t digest[32];
} aclshmemi_meet_hello_t;

/* A message as it arrives, piece by piece. */
typedef struct aclshmemi_meet_frame {
    size_t got;
    uint8_t bytes[ACLSHMEMI_MEET_HEADER + ACLSHMEMI_MEET_PAYLOAD];
} aclshmemi_meet_frame_t;

/* Of the bytes a frame has: 0 complete, kind and length set; 1 more needed, *length bytes; -1 not of this protocol. */
int aclshmemi_meet_parse(const aclshmemi_meet_frame_t *frame, int *kind, size_t *length);
const uint8_t *aclshmemi_meet_payload(const aclshmemi_meet_frame_t *frame);
bool aclshmemi_meet_parse_hello(const void *payload, size_t length, aclshmemi_meet_hello_t *hello);
size_t aclshmemi_meet_print_hello(const aclshmemi_meet_hello_t *hello, uint8_t out[ACLSHMEMI_MEET_PAYLOAD]);

/* What one call came to. */
typedef enum aclshmemi_meet_io {
    ACLSHMEMI_MEET_DONE,
    ACLSHMEMI_MEET_WANT_READ,
    ACLSHMEMI_MEET_WANT_WRITE,
    ACLSHMEMI_MEET_GONE, /* closed, broken, or not of this protocol */
    ACLSHMEMI_MEET_LATE
} aclshmemi_meet_io_t;

/* Without waiting: reads on until the frame is complete. */
aclshmemi_meet_io_t aclshmemi_meet_pull(aclshmemi_channel_t *channel, aclshmemi_meet_frame_t *frame,
                                        int *kind, size_t *length);
/* Waiting until the deadline. */
aclshmemi_meet_io_t aclshmemi_meet_send(aclshmemi_channel_t *channel, int kind, const void *payload,
                                        size_t length, aclshmemi_deadline_t deadline);
aclshmemi_meet_io_t aclshmemi_meet_receive(aclshmemi_channel_t *channel, aclshmemi_meet_frame_t *frame,
                                           int *kind, size_t *length, aclshmemi_deadline_t deadline);
aclshmemi_meet_io_t aclshmemi_meet_handshake(aclshmemi_channel_t *channel, aclshmemi_deadline_t deadline);

#endif
