/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what callers may send to a meeting: aclshmemi_meet_parse and aclshmemi_meet_parse_hello, and the loop of PE 0
 * (aclshmemi_meeting_serve) with a caller that says the input and hangs up, beside a PE that behaves and must get the
 * id all the same.
 */
#define LOG_MODULE "fuzz"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/bootstrap/launch/serve.h"

FUZZ_INITIALIZE

static void parsers(const uint8_t *data, size_t size)
{
    aclshmemi_meet_frame_t frame;
    aclshmemi_meet_hello_t hello;
    int kind = 0;
    size_t length = 0;
    memset(&frame, 0, sizeof frame);
    frame.got = size < sizeof frame.bytes ? size : sizeof frame.bytes;
    memcpy(frame.bytes, data, frame.got);
    int rc = aclshmemi_meet_parse(&frame, &kind, &length);
    if (rc == 1)
        expect(length > 0 && frame.got + length <= sizeof frame.bytes);
    if (rc == 0) {
        expect(ACLSHMEMI_MEET_HEADER + length == frame.got);
        if (aclshmemi_meet_parse_hello(aclshmemi_meet_payload(&frame), length, &hello)) {
            uint8_t again[ACLSHMEMI_MEET_PAYLOAD];
            expect(aclshmemi_meet_print_hello(&hello, again) == length);
            expect(memcmp(again, aclshmemi_meet_payload(&frame), length) == 0);
        }
    }
}

static const aclshmemi_env_t env;
static const aclshmemi_job_t job = {.local = true, .label = "here", .digest = "a job of the fuzzer"};
static aclshmemi_places_t places;
static aclshmemx_uniqueid_t id;

static void *good_pe(void *argument)
{
    aclshmemi_meeting_t meeting = {.job = &job, .env = &env, .pe = 1, .n_pes = 2};
    aclshmemx_uniqueid_t got;
    meeting.deadline = aclshmemi_deadline_after_ms(10000);
    *(int *)argument = aclshmemi_meeting_call(&meeting, &places, &got);
    if (*(int *)argument == 0)
        expect(memcmp(&got, &id, sizeof id) == 0);
    return NULL;
}

/* A hello with the right digest takes part, so the outcome is its own; nobody else is waited for then. */
static bool may_be_of_the_job(const uint8_t *data, size_t size)
{
    return size >= 52 && memcmp(data + 20, job.digest, 32) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pthread_t thread;
    aclshmemi_addr_t unused;
    int listener = -1, stranger = -1, outcome = 0;
    bool alone = may_be_of_the_job(data, size);
    aclshmemi_meeting_t meeting = {.job = &job, .env = &env, .n_pes = alone ? 3 : 2};
    parsers(data, size);
    expect(aclshmemi_places_init(&places, &job, ACLSHMEMI_NEVER) == 0);
    snprintf(places.name + strlen(places.name), 12, ".%d", (int)getpid());
    memset(&id, 0x5a, sizeof id);
    meeting.deadline = aclshmemi_deadline_after_ms(alone ? 2 : 10000);
    expect(aclshmemi_places_listen(&places, &job, aclshmemi_deadline_after_ms(10000), &listener, &unused) ==
           0);
    expect(aclshmemi_places_connect(&places, 0, aclshmemi_deadline_after_ms(10000), &stranger, &unused) == 0);
    expect(size == 0 || send(stranger, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size);
    if (size % 2 == 0)
        expect(shutdown(stranger, SHUT_WR) == 0);
    if (!alone)
        expect(pthread_create(&thread, NULL, good_pe, &outcome) == 0);
    int rc = aclshmemi_meeting_serve(&meeting, listener, &id);
    close(listener);
    close(stranger);
    if (!alone)
        pthread_join(thread, NULL);
    expect(outcome == 0 && (rc != 0) == alone);
    return 0;
}
