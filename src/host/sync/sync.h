/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for peers, and barriers. The door of this folder.
 *
 * Every wait of the host goes through one primitive with three stages: spin for a few microseconds while the PEs of this
 * host fit its cores, give the core away, and when that lasts, sleep on a doorbell with a time-out that doubles up to a
 * millisecond (a plain store by a user rings no bell). It notices deadlines and dead PEs, and says now and then who is
 * missing.
 *
 *     aclshmemi_wait_t wait;
 *     aclshmemi_wait_begin(&wait, instance, bell, ACLSHMEMI_CALL_WAIT, timeout_ms);
 *     while (!(condition) && (rc = aclshmemi_wait_pause(&wait)) == 0)
 *         ;
 */
#ifndef ACLSHMEMI_SYNC_H
#define ACLSHMEMI_SYNC_H

#include "host/instance.h"
#include "host/utils/clock.h"

typedef struct aclshmemi_wait aclshmemi_wait_t;

/* Looks of a PE that has a core to itself, before anything else is done about a wait: some ten microseconds. */
#define ACLSHMEMI_SPINS 1000

static inline void aclshmemi_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Describes the wait for reports: what for, and who is missing. */
typedef void aclshmemi_wait_describe_t(const aclshmemi_wait_t *wait, char *out, size_t size);

struct aclshmemi_wait {
    aclshmemi_instance_t *instance;
    aclshmemi_doorbell_t *bell; /* NULL: memory the host cannot touch, sleeps by the clock alone */
    aclshmemi_call_t call;
    uint64_t timeout_ms;
    aclshmemi_wait_describe_t *describe;
    const void *subject; /* for describe */
    uint32_t turns;      /* pauses so far */
    uint32_t rings_seen;
    bool armed;          /* the mark is left, the next pause sleeps */
    uint64_t sleep_ns;   /* of the next sleep */
    uint64_t started_ns; /* set by the first pause that looks at the clock */
    uint64_t report_ns;  /* when to report next */
    uint64_t report_gap_ns;
};

static inline void aclshmemi_wait_begin(aclshmemi_wait_t *wait, aclshmemi_instance_t *instance,
                                        aclshmemi_doorbell_t *bell, aclshmemi_call_t call,
                                        uint64_t timeout_ms)
{
    *wait = (aclshmemi_wait_t){.instance = instance, .bell = bell, .call = call, .timeout_ms = timeout_ms};
}

/* One step of waiting after a look that failed. 0: look again; TIMEOUT_ERROR or SMEM_ERROR (a PE died): give up, the
 * failure is logged with the description. */
int aclshmemi_wait_pause(aclshmemi_wait_t *wait) ACLSHMEMI_MUST_CHECK;

/* After a failure: when a PE died and the job is to stop (SHMEM_ON_PEER_DEATH), waits here for the end, which the control
 * plane's thread brings. A caller that returned instead would end the process with a status of its own, which hides whose
 * death it was. Returns at once otherwise, and after a while in any case. */
void aclshmemi_await_end(const aclshmemi_instance_t *in);

/* --- Control block and doorbell of a PE --- */

static inline aclshmemi_control_t *aclshmemi_control_of(const aclshmemi_instance_t *in, int pe)
{
    return (aclshmemi_control_t *)(void *)(in->space[ACLSHMEMI_SPACE_DEVICE].peers[pe] + in->control_offset);
}

void aclshmemi_doorbell_ring(aclshmemi_doorbell_t *bell) __attribute__((cold));

/* After a write to memory of a PE. One load of a line that is nearly always cached. base: where that PE's heap starts here. */
static inline void aclshmemi_notify_at(const aclshmemi_instance_t *in, char *base)
{
    aclshmemi_doorbell_t *bell = &((aclshmemi_control_t *)(void *)(base + in->control_offset))->bell;
    if (__builtin_expect(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) != 0, 0))
        aclshmemi_doorbell_ring(bell);
}

static inline void aclshmemi_notify(const aclshmemi_instance_t *in, int pe)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[pe];
    if (__builtin_expect(in->touch && base != NULL, 1))
        aclshmemi_notify_at(in, base);
}

/* Notes what this PE does now; peers that wait for it read the note. */
void aclshmemi_activity_set(aclshmemi_instance_t *in, aclshmemi_call_t call);
const char *aclshmemi_call_name(uint32_t call);

/* --- Groups and their barriers --- */

/* What this PE knows of one kind of barrier of a group. */
typedef struct aclshmemi_lane {
    uint64_t round;              /* barriers this PE entered */
    bool broken;                 /* one was given up: later ones fail at once */
    aclshmemi_barrier_t *words;  /* own ones; NULL until the first barrier */
    aclshmemi_pair_t *pair;      /* of a group of two, else NULL */
    aclshmemi_doorbell_t *other; /* of the other one of two */
    uint32_t said_hash[2];       /* what the two said in the last exchange */
    uint64_t said_word[2];
} aclshmemi_lane_t;

/* PEs that meet: member i is PE start + i * stride. Every team has one; the world's has all PEs. */
typedef struct aclshmemi_group {
    int start, stride, size;
    int index;            /* of this PE */
    uint64_t sync_offset; /* of aclshmemi_sync_array_t in the device heap of every member */
    bool mapped;          /* all members share memory with us */
    aclshmemi_lane_t lane[ACLSHMEMI_LANE_COUNT];
    bool taken; /* atomic: a thread of the host is in a collective */
    /* Collective work on streams runs in the order of the calls, whatever streams it is on: the n-th call holds ticket n
     * and waits for turn n. */
    uint64_t tickets; /* given out; by the thread that calls */
    uint64_t turn;    /* atomic: those that are over */
} aclshmemi_group_t;

static inline int aclshmemi_group_pe(const aclshmemi_group_t *group, int index)
{
    return group->start + index * group->stride;
}

/* Index of a PE in the group, -1 when it is no member. */
static inline int aclshmemi_group_index(const aclshmemi_group_t *group, int pe)
{
    int distance = pe - group->start;
    if (distance < 0 || distance % group->stride != 0 || distance / group->stride >= group->size)
        return -1;
    return distance / group->stride;
}

/* For a new group, between two barriers of its parent: it starts at the highest round that any earlier user of the slot
 * has reached on a member, with empty counts in our own memory. */
void aclshmemi_group_join(aclshmemi_instance_t *in, aclshmemi_group_t *group);

/* Around a collective of a host thread. A second thread of this PE in one of the same group is told, in as far as it comes
 * while the first is inside: a mistake that would bring the members out of step. */
int aclshmemi_collective_taken(const aclshmemi_group_t *group, const char *call) __attribute__((cold));

/* A load and a store, no exchange: threads that collide within nanoseconds are not worth a locked instruction in every
 * barrier. */
static inline bool aclshmemi_collective_enter(aclshmemi_group_t *group)
{
    if (__atomic_load_n(&group->taken, __ATOMIC_ACQUIRE))
        return false;
    __atomic_store_n(&group->taken, true, __ATOMIC_RELAXED);
    return true;
}

static inline int aclshmemi_collective_begin(aclshmemi_group_t *group, const char *call)
{
    return __builtin_expect(aclshmemi_collective_enter(group), 1) ? 0
                                                                  : aclshmemi_collective_taken(group, call);
}

static inline void aclshmemi_collective_end(aclshmemi_group_t *group)
{
    __atomic_store_n(&group->taken, false, __ATOMIC_RELEASE);
}

/* All members; what they stored before is visible to all afterwards. By a host thread, one at a time per group. */
int aclshmemi_barrier(aclshmemi_instance_t *in, aclshmemi_group_t *group,
                      aclshmemi_call_t call) ACLSHMEMI_MUST_CHECK;

/*
 * The same in either lane. What a stream carries out takes a ticket where it is enqueued, and when the stream comes to
 * it waits for its turn, meets the members in the lane of streams as often as it needs to, and ends its turn, whatever
 * happened.
 */
int aclshmemi_barrier_in(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t lane,
                         aclshmemi_call_t call) ACLSHMEMI_MUST_CHECK;
/*
 * The same, and every member brings a message with `bytes` bytes of data, as many as the others. What member i brought,
 * the own one included, can be read until this PE comes to the second meeting after this one: the hash, and the data, which is
 * aligned to 8 bytes. In a team of two a hash has 32 bits.
 */
int aclshmemi_exchange(aclshmemi_instance_t *in, aclshmemi_group_t *group, aclshmemi_lane_index_t lane,
                       aclshmemi_call_t call, const aclshmemi_message_t *bring,
                       size_t bytes) ACLSHMEMI_MUST_CHECK;
static inline const aclshmemi_message_t *aclshmemi_message_of(const aclshmemi_instance_t *in,
                                                              const aclshmemi_group_t *group,
                                                              aclshmemi_lane_index_t lane, int i)
{
    char *base = in->space[ACLSHMEMI_SPACE_DEVICE].peers[aclshmemi_group_pe(group, i)];
    return &((aclshmemi_sync_array_t *)(void *)(base + group->sync_offset))
                ->lane[lane]
                .message[group->lane[lane].round % 2];
}

static inline bool aclshmemi_message_has(const aclshmemi_instance_t *in, const aclshmemi_group_t *group,
                                         aclshmemi_lane_index_t lane, int i, uint64_t hash)
{
    if (group->size == 2)
        return group->lane[lane].said_hash[i] == (uint32_t)hash;
    return aclshmemi_message_of(in, group, lane, i)->hash == hash;
}

static inline const uint8_t *aclshmemi_message_data(const aclshmemi_instance_t *in,
                                                    const aclshmemi_group_t *group,
                                                    aclshmemi_lane_index_t lane, int i, size_t bytes)
{
    if (group->size == 2 && bytes <= ACLSHMEMI_WORD_BYTES)
        return (const uint8_t *)&group->lane[lane].said_word[i];
    return aclshmemi_message_of(in, group, lane, i)->data;
}

int aclshmemi_turn_begin(aclshmemi_instance_t *in, aclshmemi_group_t *group, uint64_t ticket,
                         aclshmemi_call_t call) ACLSHMEMI_MUST_CHECK;
void aclshmemi_turn_end(aclshmemi_instance_t *in, aclshmemi_group_t *group);

/* Waits until everything that was put on streams for the group is over. */
int aclshmemi_group_settle(aclshmemi_instance_t *in, aclshmemi_group_t *group,
                           aclshmemi_call_t call) ACLSHMEMI_MUST_CHECK;

/* --- Streams --- */

typedef struct aclshmemi_task aclshmemi_task_t;

/* Something a task needs from the runtime: made by the caller's thread, kept for the next task, since a task may not call
 * the runtime. */
typedef struct aclshmemi_stream_aid {
    struct aclshmemi_stream_aid *next;
    aclshmemi_npu_event_t event;
    int32_t *word; /* host memory that copies on streams may read */
} aclshmemi_stream_aid_t;

/* A piece of work for the host in the order of a stream. A call embeds it at the front of what it has to remember and allocates
 * that with malloc. */
struct aclshmemi_task {
    int (*run)(aclshmemi_task_t *task); /* on a thread of the runtime; a failure has been logged */
    aclshmemi_instance_t *in;
    aclshmemi_npu_stream_t stream;
    aclshmemi_stream_aid_t
        *aid; /* NULL or given back after the task; set aside when the stream refuses the task */
};

/* First line of every call that works on a stream: fails without an instance, puts the own stream for NULL, and passes on
 * to this thread's last error what failed on the stream before. */
int aclshmemi_stream_enter(aclshmemi_instance_t *in, const char *call,
                           aclshmemi_npu_stream_t *stream) ACLSHMEMI_MUST_CHECK;
/* Takes the task, also when it fails; run, in and stream are filled in. */
int aclshmemi_stream_task(aclshmemi_task_t *task) ACLSHMEMI_MUST_CHECK;
/* The task, and whatever comes after it on its stream, starts after all that was put on the own stream before. */
int aclshmemi_stream_task_after_own(aclshmemi_task_t *task) ACLSHMEMI_MUST_CHECK;
/* Something other than a task was put on the stream. */
void aclshmemi_stream_used(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream);
int aclshmemi_stream_aid_take(aclshmemi_instance_t *in, aclshmemi_stream_aid_t **aid) ACLSHMEMI_MUST_CHECK;
void aclshmemi_stream_aid_give(aclshmemi_instance_t *in, aclshmemi_stream_aid_t *aid);
/* Code of the first failure on the stream since the last look, its text as last error; 0: none. */
int aclshmemi_stream_take_failure(aclshmemi_instance_t *in, aclshmemi_npu_stream_t stream);

/* What this PE put on the own stream is complete, and its stores are in order. */
int aclshmemi_stream_complete(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;
/* Nothing is under way: what this PE issued was done by its own loads and stores. */
static inline bool aclshmemi_all_done(const aclshmemi_instance_t *in)
{
    return __builtin_expect(in->transports.direct &&
                                atomic_load_explicit(&in->streams.issued, memory_order_acquire) ==
                                    atomic_load_explicit(&in->streams.complete, memory_order_acquire),
                            1);
}

/* Everything this PE issued is complete: the same, and what transports still carry. */
int aclshmemi_quiet(aclshmemi_instance_t *in) ACLSHMEMI_MUST_CHECK;

/* Finalize: waits for the work on streams (whole_device: that of the user too) as long as a control operation may take,
 * then fails and tells the tasks to end. *left: some did not; it must find memory and instance in place. */
void aclshmemi_streams_init(aclshmemi_instance_t *in);
int aclshmemi_streams_drain(aclshmemi_instance_t *in, bool whole_device, bool *left) ACLSHMEMI_MUST_CHECK;
void aclshmemi_streams_fini(aclshmemi_instance_t *in);

#endif
