/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side of all PEs but 0: look at every place until PE 0 answers at one, then wait for the id.
 *
 * Whatever else may be met on the way - nobody, a stranger's socket, another service on the port, another job - only
 * means to look further; what was seen last becomes the text of the error when the time is up.
 */
#define LOG_MODULE "launch"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/bootstrap/launch/serve.h"
#include "host/bootstrap/uid/uid.h"

#define TRY_MS_MIN   2000 /* for one connection and handshake; grows while PE 0 is slow */
#define TRY_MS_MAX   15000
#define PAUSE_MS_MAX 64
#define GRACE_MS     3000 /* PE 0's verdict may come that long after our own deadline */
#define TWINS_MS     2000 /* as long as PE 0 may need to notice that an earlier connection of ours is dead */

typedef enum outcome { GOT_IT, REFUSED, NOTHING } outcome_t;

typedef struct search {
    aclshmemi_meeting_t *meeting;
    const aclshmemi_places_t *places;
    uint64_t try_ms;
    aclshmemi_deadline_t twins; /* until when "you are already here" is believed to pass; 0: not heard yet */
    int weight;                 /* of what was seen: a vaguer sight does not displace a clearer one */
    char last[400];             /* what was seen last */
    aclshmemx_uniqueid_t id;
} search_t;

enum {
    NOBODY,
    SOMEBODY,
    PE_0
}; /* weights: nobody there, something slow or strange, an answer that tells why not */

static void __attribute__((format(printf, 3, 4))) note(search_t *search, int weight, const char *format, ...)
{
    va_list args;
    if (weight < search->weight)
        return;
    search->weight = weight;
    va_start(args, format);
    vsnprintf(search->last, sizeof search->last, format, args);
    va_end(args);
}

/* A text PE 0 sent: printable, bounded. */
static void note_text(search_t *search, const uint8_t *text, size_t length)
{
    char copy[sizeof search->last];
    size_t n = length < sizeof copy - 1 ? length : sizeof copy - 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = text[i] >= ' ' && text[i] < 127 ? (char)text[i] : '?';
    copy[n] = '\0';
    note(search, PE_0, "%s", copy);
}

static int accept_id(search_t *search, const uint8_t *payload, const aclshmemi_addr_t *reached)
{
    uint32_t round = 0;
    for (int i = 0; i < 4; i++)
        round |= (uint32_t)payload[i] << (8 * i);
    memcpy(&search->id, payload + 4, sizeof search->id);
    search->meeting->round = round;
    return search->places->local ? 0 : aclshmemi_uid_readdress(reached, &search->id);
}

static outcome_t judge_answer(search_t *search, aclshmemi_channel_t *channel,
                              const aclshmemi_meet_frame_t *frame, int kind, size_t length,
                              const aclshmemi_addr_t *reached)
{
    const uint8_t *payload = aclshmemi_meet_payload(frame);
    switch (kind) {
    case ACLSHMEMI_MEET_ID:
        if (length != 4 + sizeof search->id || accept_id(search, payload, reached) != 0)
            break;
        if (aclshmemi_meet_send(channel, ACLSHMEMI_MEET_THANKS, NULL, 0,
                                aclshmemi_deadline_after_ms(GRACE_MS)) != ACLSHMEMI_MEET_DONE)
            break;
        return GOT_IT;
    case ACLSHMEMI_MEET_FAILED:
        note_text(search, payload, length);
        return REFUSED;
    case ACLSHMEMI_MEET_LATER:
        note_text(search, payload, length);
        if (search->twins == 0)
            search->twins = aclshmemi_deadline_after_ms(TWINS_MS);
        return aclshmemi_deadline_passed(search->twins) ? REFUSED : NOTHING;
    case ACLSHMEMI_MEET_OTHER:
        note_text(search, payload, length);
        return NOTHING;
    default:
        break;
    }
    note(search, SOMEBODY, "PE 0 broke the rules of the meeting");
    return NOTHING;
}

/* Waiting among those PE 0 knows; it tells when the time is up, so it gets a little longer than we have. */
static outcome_t stay(search_t *search, aclshmemi_channel_t *channel, const aclshmemi_addr_t *reached)
{
    aclshmemi_meet_frame_t frame;
    int kind = 0;
    size_t length = 0;
    aclshmemi_deadline_t due = search->meeting->deadline;
    due = due > ACLSHMEMI_NEVER - GRACE_MS * ACLSHMEMI_NS_PER_MS ? due : due + GRACE_MS * ACLSHMEMI_NS_PER_MS;
    outcome_t outcome = NOTHING;
    aclshmemi_meet_io_t io = aclshmemi_meet_receive(channel, &frame, &kind, &length, due);
    if (io == ACLSHMEMI_MEET_DONE)
        outcome = judge_answer(search, channel, &frame, kind, length, reached);
    else
        note(search, PE_0, "%s",
             io == ACLSHMEMI_MEET_LATE ? "PE 0 is there but waits for others" : "PE 0 closed the connection");
    explicit_bzero(&frame, sizeof frame);
    return outcome;
}

static outcome_t introduce(search_t *search, aclshmemi_channel_t *channel, const aclshmemi_addr_t *reached,
                           aclshmemi_deadline_t due)
{
    const aclshmemi_meeting_t *meeting = search->meeting;
    aclshmemi_meet_hello_t hello = {(uint32_t)meeting->pe, (uint32_t)meeting->n_pes, meeting->round, {0}};
    uint8_t payload[ACLSHMEMI_MEET_PAYLOAD];
    aclshmemi_meet_frame_t frame;
    int kind = 0;
    size_t length = 0;
    memcpy(hello.digest, meeting->job->digest, sizeof hello.digest);
    aclshmemi_status_clear();
    aclshmemi_meet_io_t io = aclshmemi_meet_handshake(channel, due);
    if (io != ACLSHMEMI_MEET_DONE) {
        if (io == ACLSHMEMI_MEET_LATE) {
            note(search, SOMEBODY, "something that answers slowly or not at all is there");
            search->try_ms = search->try_ms * 2 < TRY_MS_MAX ? search->try_ms * 2 : TRY_MS_MAX;
        } else {
            note(search, PE_0, "%s", aclshmemi_status_last_text());
        }
        return NOTHING;
    }
    io = aclshmemi_meet_send(channel, ACLSHMEMI_MEET_HELLO, payload,
                             aclshmemi_meet_print_hello(&hello, payload), due);
    if (io == ACLSHMEMI_MEET_DONE)
        io = aclshmemi_meet_receive(channel, &frame, &kind, &length, due);
    if (io != ACLSHMEMI_MEET_DONE) {
        note(search, SOMEBODY, "another service is there, or PE 0 is ending");
        return NOTHING;
    }
    if (kind != ACLSHMEMI_MEET_WELCOME)
        return judge_answer(search, channel, &frame, kind, length, reached);
    search->twins = 0;
    return stay(search, channel, reached);
}

static outcome_t look_at(search_t *search, size_t place)
{
    aclshmemi_addr_t reached;
    aclshmemi_channel_t *channel = NULL;
    int fd = -1;
    aclshmemi_deadline_t due =
        aclshmemi_deadline_earlier(search->meeting->deadline, aclshmemi_deadline_after_ms(search->try_ms));
    if (aclshmemi_places_connect(search->places, place, due, &fd, &reached) != 0 ||
        aclshmemi_channel_create(search->meeting->tls, fd, false, &channel) != 0) {
        note(search, NOBODY, "%s", aclshmemi_status_last_text());
        return NOTHING;
    }
    outcome_t outcome = introduce(search, channel, &reached, due);
    aclshmemi_channel_destroy(channel, false);
    return outcome;
}

static void rest(uint64_t *pause_ms)
{
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)(*pause_ms * ACLSHMEMI_NS_PER_MS)};
    nanosleep(&pause, NULL);
    *pause_ms = *pause_ms * 2 < PAUSE_MS_MAX ? *pause_ms * 2 : PAUSE_MS_MAX;
}

static outcome_t look_everywhere(search_t *search)
{
    for (size_t place = 0; place < ACLSHMEMI_PLACES; place++) {
        outcome_t outcome = look_at(search, place);
        if (outcome != NOTHING)
            return outcome;
    }
    return NOTHING;
}

int aclshmemi_meeting_call(aclshmemi_meeting_t *meeting, const aclshmemi_places_t *places,
                           aclshmemx_uniqueid_t *id)
{
    search_t search = {.meeting = meeting, .places = places, .try_ms = TRY_MS_MIN};
    uint64_t pause_ms = 1, report_ms = meeting->env->wait_report_ms;
    aclshmemi_deadline_t report = report_ms == 0 ? ACLSHMEMI_NEVER : aclshmemi_deadline_after_ms(report_ms);
    outcome_t outcome;
    while ((outcome = look_everywhere(&search)) == NOTHING && !aclshmemi_deadline_passed(meeting->deadline)) {
        if (aclshmemi_deadline_passed(report)) {
            log_info("PE %d looks for PE 0 at %s: %s", meeting->pe, meeting->job->label, search.last);
            report_ms *= 2;
            report = aclshmemi_deadline_after_ms(report_ms);
        }
        rest(&pause_ms);
    }
    if (outcome == GOT_IT)
        *id = search.id;
    explicit_bzero(&search.id, sizeof search.id);
    if (outcome == GOT_IT)
        return 0;
    if (outcome == REFUSED)
        return fail(ACLSHMEM_INNER_ERROR, "the meeting with PE 0 is off: %s", search.last);
    return fail(ACLSHMEM_INNER_ERROR,
                "PE %d did not find PE 0 at %s in time: %s; if PE 0 runs, compare the launcher's "
                "variables of both, or give init an address or a unique id",
                meeting->pe, meeting->job->label, search.last);
}
