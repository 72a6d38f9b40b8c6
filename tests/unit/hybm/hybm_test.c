/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments on the real runtime: memory seen by two processes, ends in every state, every failure, limits.
 *
 * Every test runs in processes of its own, forked before any of them opens the runtime, as PEs are.
 */
#define LOG_MODULE "test"

#include "host/hybm/hybm.h"
#include "host/npu/acl_table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

enum { DEADLINE_MS = 60000, HUGE_AUTO = 0, HUGE_OFF = 1, HUGE_RESERVED = 2 };

static aclshmemi_env_t settings(void)
{
    static aclshmemi_env_t from_environment; /* where the runtime is, when it is not the one of this build */
    static bool have;
    if (!have) {
        t_check_int(aclshmemi_env_init(&from_environment), 0);
        have = true;
    }
    return (aclshmemi_env_t){
        .ascend_home_path = from_environment.ascend_home_path, .npu_fail = "", .huge_pages = HUGE_AUTO};
}

static void open_with(const aclshmemi_env_t *env)
{
    t_check_int(npu_open(env), 0);
    t_check_int(npu_device_set(0), 0);
}

static void open_runtime(void)
{
    aclshmemi_env_t env = settings();
    open_with(&env);
}

static void close_runtime(void)
{
    t_check_int(npu_device_reset(0), 0);
    npu_close();
}

/* Sanitizers map memory of their own as they go; descriptors are counted exactly everywhere. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define check_flat(before, mappings, kib)                                                                    \
    t_resources_expect((before), (mappings) + (SANITIZED ? 100 : 0), (kib) + (SANITIZED ? 65536 : 0))

static void check_zeroed(const aclshmemi_segment_t *segment)
{
    static const aclshmemi_segment_t nothing;
    t_check_memory(segment, &nothing, sizeof nothing);
}

/* --- Talking to a peer process --- */

typedef struct peer {
    t_child_t child;
    int fd; /* our end; the peer sees its end of life here */
} peer_t;

static void send_bytes(int fd, const void *data, size_t size)
{
    t_check_int(send(fd, data, size, MSG_NOSIGNAL), (ssize_t)size);
}

static bool receive_bytes(int fd, void *data, size_t size)
{
    ssize_t got;
    do
        got = recv(fd, data, size, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

static void start_peer(peer_t *peer, void (*function)(int fd))
{
    int ends[2];
    t_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    struct timeval patience = {.tv_sec = DEADLINE_MS / 1000};
    for (int i = 0; i < 2; i++)
        t_check_int(setsockopt(ends[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    fflush(NULL);
    pid_t pid = fork();
    t_check(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        function(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    *peer = (peer_t){.child = {.pid = pid}, .fd = ends[0]};
}

static void end_peer(peer_t *peer)
{
    int status;
    close(peer->fd);
    while (waitpid(peer->child.pid, &status, 0) < 0)
        t_check_int(errno, EINTR);
    t_check_that(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the peer ended with status %d", status);
}

static void kill_peer(peer_t *peer)
{
    int status;
    t_check_int(kill(peer->child.pid, SIGKILL), 0);
    while (waitpid(peer->child.pid, &status, 0) < 0)
        t_check_int(errno, EINTR);
    close(peer->fd);
}

/* --- One PE --- */

static void alone(aclshmemi_npu_place_t place)
{
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    open_runtime();
    t_check_int(aclshmemi_segment_create(&segment, place, 3 * MIB, &env), 0);
    t_check_uint(segment.bytes, 4 * MIB);
    t_check_uint(segment.slot_bytes, GIB);
    t_check(aclshmemi_segment_address(&segment, 0) == NULL);
    t_check_int(aclshmemi_segment_reserve(&segment, 3, 1), 0);
    t_check(aclshmemi_segment_address(&segment, 1) == NULL);
    t_check_int(aclshmemi_segment_map_own(&segment), 0);
    char *own = aclshmemi_segment_address(&segment, 1);
    t_check(own == segment.base + GIB);
    t_check_uint((uintptr_t)own % ACLSHMEMI_NPU_GRANULARITY, 0);
    t_check(aclshmemi_segment_address(&segment, 0) == NULL);
    t_check(aclshmemi_segment_address(&segment, 2) == NULL);
    t_check(aclshmemi_segment_address(&segment, 3) == NULL);
    t_check(aclshmemi_segment_address(&segment, -1) == NULL);
    if (npu_host_can_touch()) {
        t_check_int(own[0], 0);
        memset(own, 0x5a, segment.bytes);
        t_check_int(own[segment.bytes - 1], 0x5a);
    }
    char back = 0;
    t_check_int(npu_fill(own + 4 * MIB - 8, 7, 8), 0);
    t_check_int(npu_copy(&back, own + 4 * MIB - 1, 1, ACLSHMEMI_NPU_DEVICE_TO_HOST), 0);
    t_check_int(back, 7);
    aclshmemi_segment_fini(&segment);
    check_zeroed(&segment);
    aclshmemi_segment_fini(&segment); /* and once more */
    close_runtime();
}

static void alone_on_device(void *unused)
{
    (void)unused;
    alone(ACLSHMEMI_NPU_ON_DEVICE);
}

static void alone_on_host(void *unused)
{
    (void)unused;
    alone(ACLSHMEMI_NPU_ON_HOST);
}

static void larger_than_the_machine(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    t_check_int(setenv("SHMEM_CPU_HBM_SIZE", "1T", 1), 0); /* what a virtual card has is a setting */
    open_runtime();
    uint64_t before_ms = t_now_ms();
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 200 * GIB, &env), 0);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, 1), 0);
    t_check_int(aclshmemi_segment_map_own(&segment), 0);
    t_check_that(t_now_ms() - before_ms < 10000, "it took as long as if the memory had been touched");
    char *own = aclshmemi_segment_address(&segment, 1);
    for (size_t offset = 0; offset < segment.bytes; offset += 17 * GIB) {
        own[offset] = 1;
        own[offset + GIB - 1] = 2;
    }
    own[segment.bytes - 1] = 3;
    t_check_int(own[segment.bytes - 1], 3);
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

/* --- Two PEs --- */

typedef struct pair {
    aclshmemi_segment_t segment;
    char *own, *other;
} pair_t;

/* Everything init does with a segment, on either side. */
static void join(pair_t *pair, int fd, int own_slot, aclshmemi_npu_place_t place)
{
    aclshmemi_env_t env = settings();
    aclshmemi_segment_blob_t mine, theirs;
    *pair = (pair_t){0};
    t_check_int(aclshmemi_segment_create(&pair->segment, place, 8 * MIB, &env), 0);
    t_check_int(aclshmemi_segment_export(&pair->segment, &mine), 0);
    send_bytes(fd, &mine, sizeof mine);
    t_check(receive_bytes(fd, &theirs, sizeof theirs));
    t_check_int(aclshmemi_segment_reserve(&pair->segment, 2, own_slot), 0);
    t_check_int(aclshmemi_segment_map_own(&pair->segment), 0);
    t_check_int(aclshmemi_segment_map_peer(&pair->segment, !own_slot, &theirs), 0);
    pair->own = aclshmemi_segment_address(&pair->segment, own_slot);
    pair->other = aclshmemi_segment_address(&pair->segment, !own_slot);
    t_check(pair->own != NULL && pair->other != NULL);
}

static void meet(int fd)
{
    char byte = 1;
    send_bytes(fd, &byte, 1);
    t_check(receive_bytes(fd, &byte, 1));
}

static unsigned char pattern(size_t offset, int slot)
{
    return (unsigned char)(offset * 31 + (offset >> 12) + (size_t)slot * 101 + 1);
}

/* Each writes the first half of its own memory and the second half of the other's; then both look at both. */
static void write_and_read(int fd, int slot, aclshmemi_npu_place_t place)
{
    pair_t pair;
    open_runtime();
    join(&pair, fd, slot, place);
    size_t half = pair.segment.bytes / 2;
    for (size_t i = 0; i < half; i++) {
        pair.own[i] = (char)pattern(i, slot);
        pair.other[half + i] = (char)pattern(half + i, !slot);
    }
    meet(fd);
    for (size_t i = 0; i < pair.segment.bytes; i++) {
        t_check_that((unsigned char)pair.own[i] == pattern(i, slot), "own byte %zu of slot %d", i, slot);
        t_check_that((unsigned char)pair.other[i] == pattern(i, !slot), "byte %zu of the peer of slot %d", i,
                     slot);
    }
    meet(fd);
    aclshmemi_segment_fini(&pair.segment);
    check_zeroed(&pair.segment);
    close_runtime();
}

static void device_slot_1(int fd)
{
    write_and_read(fd, 1, ACLSHMEMI_NPU_ON_DEVICE);
}

static void host_slot_1(int fd)
{
    write_and_read(fd, 1, ACLSHMEMI_NPU_ON_HOST);
}

static void two_on_device(void *unused)
{
    (void)unused;
    peer_t peer;
    start_peer(&peer, device_slot_1);
    write_and_read(peer.fd, 0, ACLSHMEMI_NPU_ON_DEVICE);
    end_peer(&peer);
}

static void two_on_host(void *unused)
{
    (void)unused;
    peer_t peer;
    start_peer(&peer, host_slot_1);
    write_and_read(peer.fd, 0, ACLSHMEMI_NPU_ON_HOST);
    end_peer(&peer);
}

static void joins_and_hangs(int fd)
{
    pair_t pair;
    open_runtime();
    join(&pair, fd, 1, ACLSHMEMI_NPU_ON_DEVICE);
    memset(pair.own, 0x42, pair.segment.bytes);
    meet(fd);
    char byte;
    (void)receive_bytes(fd, &byte, 1); /* until killed */
}

static void killed_peer(void *unused)
{
    (void)unused;
    peer_t peer;
    pair_t pair;
    start_peer(&peer, joins_and_hangs);
    open_runtime();
    join(&pair, peer.fd, 0, ACLSHMEMI_NPU_ON_DEVICE);
    meet(peer.fd);
    kill_peer(&peer);
    for (size_t i = 0; i < pair.segment.bytes; i += 4096) /* what it left is still there, and still memory */
        t_check_int(pair.other[i], 0x42);
    memset(pair.other, 1, pair.segment.bytes);
    t_check_int(pair.other[pair.segment.bytes - 1], 1);
    aclshmemi_segment_fini(&pair.segment);
    close_runtime();
}

/* A peer that makes and names a segment, then waits for the end. */
static void exports_and_waits(int fd)
{
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    aclshmemi_segment_blob_t blob;
    open_runtime();
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, &env), 0);
    t_check_int(aclshmemi_segment_export(&segment, &blob), 0);
    send_bytes(fd, &blob, sizeof blob);
    char byte;
    (void)receive_bytes(fd, &byte, 1);
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

static void blob_of_a_dead_peer(void *unused)
{
    (void)unused;
    peer_t peer;
    aclshmemi_segment_blob_t blob;
    aclshmemi_env_t env = settings();
    start_peer(&peer, exports_and_waits);
    t_check(receive_bytes(peer.fd, &blob, sizeof blob));
    kill_peer(&peer);
    aclshmemi_segment_t segment = {0};
    open_runtime();
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, &env), 0);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, 0), 0);
    t_resources_t before = t_resources_now();
    for (int i = 0; i < 20; i++) {
        t_check(aclshmemi_segment_map_peer(&segment, 1, &blob) != 0);
        t_check(aclshmemi_segment_address(&segment, 1) == NULL);
    }
    check_flat(&before, 0, 512);
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

/* --- Wrong use --- */

static void wrong_arguments(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    aclshmemi_segment_blob_t blob, other;
    open_runtime();
    t_check_int(aclshmemi_segment_export(&segment, &blob), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_reserve(&segment, 1, 0), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_map_own(&segment), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 0, &env), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, SIZE_MAX, &env),
                ACLSHMEM_INVALID_PARAM);
    check_zeroed(&segment);

    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 4 * MIB, &env), 0);
    t_check_int(aclshmemi_segment_export(&segment, &blob), 0);
    t_check_int(aclshmemi_segment_map_own(&segment), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_map_peer(&segment, 0, &blob), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_reserve(&segment, 0, 0), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, 2), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, -1), ACLSHMEM_INVALID_PARAM);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, 0), 0);
    t_check_int(aclshmemi_segment_reserve(&segment, 2, 0), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_map_own(&segment), 0);
    t_check_int(aclshmemi_segment_map_own(&segment), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_map_peer(&segment, 0, &blob), ACLSHMEM_INNER_ERROR); /* our own slot */
    t_check_int(aclshmemi_segment_map_peer(&segment, 2, &blob), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemi_segment_map_peer(&segment, -1, &blob), ACLSHMEM_INNER_ERROR);
    other = blob;
    other.bytes *= 2;
    t_check_int(aclshmemi_segment_map_peer(&segment, 1, &other), ACLSHMEM_INVALID_VALUE);
    t_check_contains(aclshmemi_status_last_text(), "8388608");
    t_check_contains(aclshmemi_status_last_text(), "4194304");
    memset(&other.handle, 0xee, sizeof other.handle); /* bytes that were never a name */
    other.bytes = blob.bytes;
    t_resources_t before = t_resources_now();
    t_check(aclshmemi_segment_map_peer(&segment, 1, &other) != 0);
    memset(&other.handle, 0, sizeof other.handle);
    t_check(aclshmemi_segment_map_peer(&segment, 1, &other) != 0);
    check_flat(&before, 0, 512);
    aclshmemi_segment_fini(&segment);
    check_zeroed(&segment);
    close_runtime();
}

/* --- Ends in every state, and every failure --- */

enum { STEPS = 6 };

/* The first so many steps of a segment's life; the code of the first that fails. */
static int live(aclshmemi_segment_t *segment, const aclshmemi_env_t *env,
                const aclshmemi_segment_blob_t *peer, int steps)
{
    aclshmemi_segment_blob_t blob;
    if (steps > 0)
        TRY(aclshmemi_segment_create(segment, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, env));
    if (steps > 1)
        TRY(aclshmemi_segment_export(segment, &blob));
    if (steps > 2)
        TRY(aclshmemi_segment_reserve(segment, 4, 2));
    if (steps > 3)
        TRY(aclshmemi_segment_map_own(segment));
    if (steps > 4)
        TRY(aclshmemi_segment_map_peer(segment, 0, peer));
    if (steps > 5)
        TRY(aclshmemi_segment_map_peer(segment, 3, peer)); /* twice is legal, both see the same memory */
    return 0;
}

static void ends_in_every_state(void *unused)
{
    (void)unused;
    peer_t peer;
    aclshmemi_segment_blob_t blob;
    aclshmemi_env_t env = settings();
    start_peer(&peer, exports_and_waits);
    t_check(receive_bytes(peer.fd, &blob, sizeof blob));
    open_runtime();
    aclshmemi_segment_t segment = {0};
    t_check_int(live(&segment, &env, &blob, STEPS), 0); /* once, for what is made on first use */
    aclshmemi_segment_fini(&segment);
    for (int steps = 0; steps <= STEPS; steps++) {
        t_resources_t before = t_resources_now();
        t_check_int(live(&segment, &env, &blob, steps), 0);
        aclshmemi_segment_fini(&segment);
        check_zeroed(&segment);
        check_flat(&before, 0, 512);
    }
    close_runtime();
    end_peer(&peer);
}

static void rounds_are_flat(void *unused)
{
    (void)unused;
    peer_t peer;
    aclshmemi_segment_blob_t blob;
    aclshmemi_env_t env = settings();
    start_peer(&peer, exports_and_waits);
    t_check(receive_bytes(peer.fd, &blob, sizeof blob));
    t_resources_t before = {0};
    for (int round = 0; round < 200; round++) {
        aclshmemi_segment_t segment = {0};
        open_runtime();
        t_check_int(live(&segment, &env, &blob, STEPS), 0);
        char *own = aclshmemi_segment_address(&segment, 2), *other = aclshmemi_segment_address(&segment, 3);
        t_check_int(own[round], 0); /* never what an earlier round left */
        memset(own, 1, MIB);
        other[round] = (char)round;
        aclshmemi_segment_fini(&segment);
        close_runtime();
        if (round == 20)
            before = t_resources_now();
    }
    check_flat(&before, 2, 2048);
    end_peer(&peer);
}

static const char *const call_names[] = {
#define NAME(name) #name,
    ACLSHMEMI_NPU_CALL_MAP(NAME)
#undef NAME
};

/* Fails the n-th call of every function in turn, for as long as that changes anything. */
static void every_failure(void *unused)
{
    (void)unused;
    peer_t peer;
    aclshmemi_segment_blob_t blob;
    int failures = 0;
    start_peer(&peer, exports_and_waits);
    t_check(receive_bytes(peer.fd, &blob, sizeof blob));
    t_resources_t before = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            before = t_resources_now();
        for (int call = ACLSHMEMI_NPU_open + 1; call < ACLSHMEMI_NPU_CALLS; call++)
            for (int count = 1, rc = ACLSHMEM_INNER_ERROR; rc != 0; count++) {
                if (call == ACLSHMEMI_NPU_device_set || call == ACLSHMEMI_NPU_device_reset)
                    break; /* those are ours */
                char text[64];
                aclshmemi_env_t env = settings();
                aclshmemi_segment_t segment = {0};
                snprintf(text, sizeof text, "%s:%d", call_names[call], count);
                env.npu_fail = text;
                open_with(&env);
                rc = live(&segment, &env, &blob, STEPS);
                t_check_that(rc == 0 || rc == ACLSHMEM_INNER_ERROR, "%s gives code %d", text, rc);
                failures += rc != 0;
                aclshmemi_segment_fini(&segment);
                check_zeroed(&segment);
                close_runtime();
            }
    }
    check_flat(&before, 2, 1024);
    t_check_int(failures, 2 * (1 + 1 + 1 + 3 + 2)); /* create, export, reserve, three maps, two imports */
    end_peer(&peer);
}

/* --- Limits and huge pages --- */

static void limit(int which, uint64_t value)
{
    struct rlimit now;
    t_check_int(getrlimit(which, &now), 0);
    now.rlim_cur = value;
    t_check_int(setrlimit(which, &now), 0);
}

static void little_address_space(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    uint64_t pages = 0;
    open_runtime();
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, &env), 0);
    FILE *file = fopen("/proc/self/statm", "re");
    t_check(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    uint64_t allowed = pages * (uint64_t)sysconf(_SC_PAGESIZE) + 2 * GIB;
    limit(RLIMIT_AS, allowed);
    t_check_int(aclshmemi_segment_reserve(&segment, 64, 0), ACLSHMEM_MALLOC_FAILED);
    char text[64];
    t_check_contains(aclshmemi_status_last_text(), "RLIMIT_AS");
    snprintf(text, sizeof text, "is %llu KiB", (unsigned long long)allowed >> 10);
    t_check_contains(aclshmemi_status_last_text(), text);
    snprintf(text, sizeof text, "%llu KiB more are needed", (unsigned long long)(64 * GIB) >> 10);
    t_check_contains(aclshmemi_status_last_text(), text);
    t_check_int(aclshmemi_segment_reserve(&segment, 1, 0), 0); /* what fits still works */
    t_check_int(aclshmemi_segment_map_own(&segment), 0);
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

static void small_files(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    open_runtime();
    limit(RLIMIT_FSIZE, 4 * MIB); /* beyond it the kernel sends a signal that ends the process */
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, &env),
                ACLSHMEM_MALLOC_FAILED);
    t_check_contains(aclshmemi_status_last_text(), "RLIMIT_FSIZE");
    t_check_contains(aclshmemi_status_last_text(), "4096 KiB");
    t_check_contains(aclshmemi_status_last_text(), "8192 KiB");
    check_zeroed(&segment);
    t_check_int(aclshmemi_segment_create(&segment, ACLSHMEMI_NPU_ON_DEVICE, 4 * MIB, &env), 0);
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

static void few_descriptors(void *unused)
{
    (void)unused;
    peer_t peer;
    aclshmemi_segment_blob_t blob;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    start_peer(&peer, exports_and_waits);
    t_check(receive_bytes(peer.fd, &blob, sizeof blob));
    open_runtime();
    t_check_int(live(&segment, &env, &blob, 4), 0);
    int next = dup(0);
    t_check(next >= 0);
    close(next);
    limit(RLIMIT_NOFILE, (uint64_t)next); /* not one more */
    int rc = aclshmemi_segment_map_peer(&segment, 0, &blob);
    if (rc != 0) { /* a runtime may keep one in store */
        t_check_int(rc, ACLSHMEM_MALLOC_FAILED);
        t_check_contains(aclshmemi_status_last_text(), "RLIMIT_NOFILE");
    }
    aclshmemi_segment_t second = {0};
    rc = aclshmemi_segment_create(&second, ACLSHMEMI_NPU_ON_DEVICE, 8 * MIB, &env);
    t_check_int(rc, ACLSHMEM_MALLOC_FAILED);
    t_check_contains(aclshmemi_status_last_text(), "RLIMIT_NOFILE");
    check_zeroed(&second);
    limit(RLIMIT_NOFILE, (uint64_t)next + 8);
    t_check_int(aclshmemi_segment_map_peer(&segment, 3, &blob), 0);
    aclshmemi_segment_fini(&segment);
    close_runtime();
    end_peer(&peer);
}

static void backing_without_huge_pages(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    env.huge_pages = HUGE_OFF;
    open_with(&env);
    t_check_int(live(&segment, &env, NULL, 4), 0);
    t_check_text(segment.backing, sysconf(_SC_PAGESIZE) == 4096 ? "4 KiB pages" : "ordinary pages");
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

/* How much of the mapping that starts here is in huge pages now. */
static uint64_t huge_kib(const void *address)
{
    char line[512], start[32];
    uint64_t kib = 0, found = 0;
    bool inside = false;
    snprintf(start, sizeof start, "%lx-", (unsigned long)(uintptr_t)address);
    FILE *file = fopen("/proc/self/smaps", "re");
    t_check(file != NULL);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, start, strlen(start)) == 0)
            inside = true;
        else if (inside && strncmp(line, "VmFlags", 7) == 0)
            break;
        else if (inside && (sscanf(line, "ShmemPmdMapped: %lu kB", &kib) == 1 ||
                            sscanf(line, "Shared_Hugetlb: %lu kB", &kib) == 1 ||
                            sscanf(line, "Private_Hugetlb: %lu kB", &kib) == 1))
            found += kib;
    }
    fclose(file);
    return found;
}

/* What backing says must be what touching the memory shows. */
static void backing_is_true(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    open_with(&env);
    t_check_int(live(&segment, &env, NULL, 4), 0);
    char *own = aclshmemi_segment_address(&segment, 2);
    memset(own, 1, segment.bytes);
    print_message("backing: %s, %lu KiB of %zu in huge pages\n", segment.backing, huge_kib(own),
                  segment.bytes >> 10);
    if (strcmp(segment.backing, "4 KiB pages") == 0)
        t_check_uint(huge_kib(own), 0);
    else if (strcmp(segment.backing, "reserved huge pages") == 0)
        t_check_uint(huge_kib(own), segment.bytes >> 10);
    else
        t_check_text(segment.backing, "huge pages"); /* the kernel may, and under pressure does not */
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

static void reserved_huge_pages(void *unused)
{
    (void)unused;
    aclshmemi_env_t env = settings();
    aclshmemi_segment_t segment = {0};
    env.huge_pages = HUGE_RESERVED;
    open_with(&env);
    int rc = live(&segment, &env, NULL, 4);
    if (rc == 0) {
        t_check_text(segment.backing, "reserved huge pages");
    } else {
        t_check(rc == ACLSHMEM_MALLOC_FAILED || rc == ACLSHMEM_NOT_SUPPORTED);
        t_check_contains(aclshmemi_status_last_text(), "hugetlb");
        t_check_contains(aclshmemi_status_last_text(),
                         rc == ACLSHMEM_NOT_SUPPORTED ? "no huge pages" : "/proc/sys/vm/nr_hugepages");
        if (rc == ACLSHMEM_MALLOC_FAILED)
            t_check_contains(aclshmemi_status_last_text(), "4"); /* pages of 2 MiB in 8 MiB */
    }
    aclshmemi_segment_fini(&segment);
    close_runtime();
}

/* --- Running them --- */

static void run(void (*function)(void *))
{
    t_child_t child;
    t_run_function(&child, function, NULL, DEADLINE_MS);
    if (child.out && *child.out)
        print_message("%s", child.out);
    t_check_exit(&child, T_PASS);
    t_child_free(&child);
}

#define TEST(name)                                                                                           \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        run(name);                                                                                           \
    }
/* clang-format off */
#define TESTS(XX)                                                                                            \
    XX(alone_on_device) XX(alone_on_host) XX(larger_than_the_machine) XX(two_on_device) XX(two_on_host)      \
    XX(killed_peer) XX(blob_of_a_dead_peer) XX(wrong_arguments) XX(ends_in_every_state) XX(rounds_are_flat)  \
    XX(every_failure) XX(little_address_space) XX(small_files) XX(few_descriptors)                           \
    XX(backing_without_huge_pages) XX(backing_is_true) XX(reserved_huge_pages)
/* clang-format on */
TESTS(TEST)

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
        TESTS(ROW)
#undef ROW
    };
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
