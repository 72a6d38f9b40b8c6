/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words in symmetric memory that PEs use to wait for each other: the doorbell, the barrier, the activity note. Written
 * and read by every PE of a host; part of what both sides of the bridge agree on. All zero is the valid first state.
 */
#ifndef ACLSHMEMI_HOST_DEVICE_SYNC_H
#define ACLSHMEMI_HOST_DEVICE_SYNC_H

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#define ACLSHMEMI_LINE 64

/* Who is about to sleep on a PE's memory sets sleepers and waits for rings to move; who writes to that memory looks at
 * sleepers, takes it back and rings only if it was set. */
typedef struct aclshmemi_doorbell {
    alignas(ACLSHMEMI_LINE) uint32_t rings; /* futex word */
    uint32_t sleepers;
} aclshmemi_doorbell_t;

/* What a PE does, for the reports of those who wait for it. Written by its own PE only. */
typedef struct aclshmemi_activity {
    alignas(ACLSHMEMI_LINE) uint64_t since_ns; /* CLOCK_MONOTONIC, the same clock for all PEs of a host */
    uint32_t call;                             /* aclshmemi_call_t */
    uint32_t pid;
} aclshmemi_activity_t;

typedef enum aclshmemi_call {
    ACLSHMEMI_CALL_NONE,
    ACLSHMEMI_CALL_INIT,
    ACLSHMEMI_CALL_BARRIER,
    ACLSHMEMI_CALL_SYNC,
    ACLSHMEMI_CALL_WAIT,
    ACLSHMEMI_CALL_MALLOC,
    ACLSHMEMI_CALL_FREE,
    ACLSHMEMI_CALL_FINALIZE,
    ACLSHMEMI_CALL_SPLIT,
    ACLSHMEMI_CALL_COLLECTIVE,
    ACLSHMEMI_CALL_STREAM_BARRIER,
    ACLSHMEMI_CALL_COUNT
} aclshmemi_call_t;

/* What a PE brings to a split of a team: read by the others between two barriers of the parent. */
typedef struct aclshmemi_split_note {
    alignas(ACLSHMEMI_LINE) uint64_t ready; /* 1: this PE has memory for the new team */
    int64_t args[5];                  /* parent, kind of split and its arguments, to find PEs that differ */
    int64_t verdict;                  /* 0: this PE found a handle for the team it will be in */
    uint64_t free_handles[2048 / 64]; /* bit set: this PE does not use that handle */
} aclshmemi_split_note_t;

/* One per PE, at the same offset of every device heap. */
typedef struct aclshmemi_control {
    aclshmemi_doorbell_t bell;
    aclshmemi_activity_t activity;
    aclshmemi_split_note_t split;
} aclshmemi_control_t;

#define ACLSHMEMI_MESSAGE_BYTES 48
#define ACLSHMEMI_WORD_BYTES    8 /* of a message that two members tell each other without further lines */

/* What a member brings to a meeting, in its own memory: read by the others after it. */
typedef struct aclshmemi_message {
    alignas(ACLSHMEMI_LINE)
        uint64_t hash; /* of a collective's arguments; its low half is not 0 unless they were refused */
    uint8_t data[ACLSHMEMI_MESSAGE_BYTES]; /* what is small enough to come along */
} aclshmemi_message_t;

/*
 * Where two members meet: one line for both, in the memory of the first. A line that one has just read is the reader's to
 * write on most processors, so it crosses once per meeting; with a line for each direction, or with lines in turn, it would
 * cross twice.
 */
typedef struct aclshmemi_pair_side {
    uint64_t round;   /* meetings this member came to; written last */
    uint32_t hash[2]; /* low half of that of the message, by the lowest bit of the round */
    uint64_t word[2]; /* start of its data, by the same bit */
} aclshmemi_pair_side_t;

typedef struct aclshmemi_pair {
    alignas(ACLSHMEMI_LINE) aclshmemi_pair_side_t side[2]; /* by index in the team */
} aclshmemi_pair_t;

static_assert(sizeof(aclshmemi_pair_t) == ACLSHMEMI_LINE, "two members meet in one line");

/* The arguments of a collective in full, for those whose counts may differ and for the words when PEs disagree: in the
 * member's own memory, written before a barrier of the call and read by the others before its last. */
typedef struct aclshmemi_coll_note {
    uint32_t kind;         /* of collective */
    uint32_t op_width;     /* reduction and type, or element width */
    uint64_t count;        /* elements */
    uint64_t source, dest; /* heap offsets */
    int64_t root_or_stride;
    int64_t second_stride;
    uint64_t refused; /* the member's own arguments were wrong */
} aclshmemi_coll_note_t;

/*
 * A barrier of a team: the count on member 0, or the line of two. There are two of every message, which is enough for
 * everybody: a member comes to round r + 2 only when all came to r + 1, and so have done with what was said in r. Rounds
 * only grow, over all teams that ever use the slot: a PE that is late in leaving a team's last barrier still sees it
 * complete.
 */
typedef struct aclshmemi_barrier {
    alignas(ACLSHMEMI_LINE) uint64_t arrived; /* members that came in this round */
    alignas(ACLSHMEMI_LINE) uint64_t round;   /* rounds that are complete */
    aclshmemi_doorbell_t bell;                /* of those who wait for round */
    aclshmemi_pair_t pair;                    /* of a team of two */
    aclshmemi_message_t message[2];           /* by the lowest bit of the round */
    alignas(ACLSHMEMI_LINE) uint64_t entered; /* rounds this PE entered, in its own memory; for reports */
    aclshmemi_coll_note_t note;
} aclshmemi_barrier_t;

/* Collective calls of the host and those that streams carry out never meet: each kind has words of its own, so that
 * their order on one PE does not matter and a stream that is late holds up nobody but its own kind. */
typedef enum aclshmemi_lane_index {
    ACLSHMEMI_LANE_HOST,
    ACLSHMEMI_LANE_STREAM,
    ACLSHMEMI_LANE_COUNT
} aclshmemi_lane_index_t;

/* --- Kernels --- */

#define ACLSHMEMI_MEET_ROUNDS 5  /* with 8 PEs looked at in each, enough for 9^5 */
#define ACLSHMEMI_MEET_FEW    16 /* up to so many members one round is enough: each looks at all */

/*
 * How kernels of a team's members meet. A PE shows how far it is in a line that only it writes and that the others read;
 * PEs that cannot read it are told, each by a word of its own in their memory. Counts only grow, over all teams that
 * ever use the slot.
 */
typedef struct aclshmemi_meet {
    /* By round: the last meeting in which this PE came to it. */
    alignas(ACLSHMEMI_LINE) uint64_t reached[ACLSHMEMI_MEET_ROUNDS];
    /* Of that meeting and the one before, by parity: call and a hash of its arguments, to find PEs that differ. */
    uint64_t purpose[2];
    /* By round and distance of the teller: the low half of its count. */
    alignas(ACLSHMEMI_LINE) int32_t told[ACLSHMEMI_MEET_ROUNDS][ACLSHMEMI_MEET_FEW];
} aclshmemi_meet_t;

typedef enum aclshmemi_meet_index {
    ACLSHMEMI_MEET_LAUNCHES, /* barriers and other calls of all cores of a launch */
    ACLSHMEMI_MEET_CORES,    /* collectives of one core */
    ACLSHMEMI_MEET_COUNT
} aclshmemi_meet_index_t;

/* The cores of a launch meet in words of their own PE; the last one to come meets the other PEs. */
typedef struct aclshmemi_kernel_sync {
    aclshmemi_meet_t meet[ACLSHMEMI_MEET_COUNT];
    alignas(ACLSHMEMI_LINE) uint32_t arrived;  /* cores that came */
    uint32_t launch;                           /* whose barrier is under way; 0: nobody's */
    uint32_t busy;                             /* a core is in a collective of its own */
    alignas(ACLSHMEMI_LINE) uint64_t released; /* barriers that are over */
} aclshmemi_kernel_sync_t;

/* A team's sync array. */
typedef struct aclshmemi_sync_array {
    aclshmemi_barrier_t lane[ACLSHMEMI_LANE_COUNT];
    aclshmemi_kernel_sync_t kernel;
} aclshmemi_sync_array_t;

static_assert(sizeof(aclshmemi_sync_array_t) <= 2560, "fits the sync array of a team");

#define ACLSHMEMI_ROCE_ROUNDS 14 /* 2^14 PEs */

/* A team's counters: how members meet over ROCE. In round r the PE 2^r before this one adds one, and this PE takes it away
 * again: between meetings all are 0, whatever team has the slot. */
typedef struct aclshmemi_counters {
    uint32_t arrived[ACLSHMEMI_ROCE_ROUNDS];
    uint32_t reserved[2];
} aclshmemi_counters_t;

static_assert(sizeof(aclshmemi_counters_t) == 64, "fits the counters of a team");

#endif
