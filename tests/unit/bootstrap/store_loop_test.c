/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop and the links of the store, in one process. */
#define LOG_MODULE "test"
#include "pes.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/bootstrap/store/link.h"

static aclshmemi_store_loop_t *loop;

static int make_loop(void **state)
{
    (void)state;
    return aclshmemi_store_loop_create(&loop);
}

static int drop_loop(void **state)
{
    (void)state;
    aclshmemi_store_loop_stop(loop);
    aclshmemi_store_loop_destroy(loop);
    return 0;
}

/* --- Timers --- */

enum { TIMERS = 500 };

typedef struct alarm_clock {
    aclshmemi_store_timer_t timer;
    uint64_t due; /* 0: off */
} alarm_clock_t;

static alarm_clock_t clocks[TIMERS];
static uint64_t last_due;
static int rung;

static void ring(void *owner)
{
    alarm_clock_t *clock = owner;
    t_check(clock->due != 0);
    t_check(clock->due >= last_due); /* in order */
    t_check(aclshmemi_clock_ns() >= clock->due);
    last_due = clock->due;
    clock->due = 0;
    rung++;
}

/* Sets, moves and clears at random; what is left rings once each, in the order of its time. */
static void test_timers_ring_in_order(void **state)
{
    unsigned seed = 3;
    (void)state;
    memset(clocks, 0, sizeof clocks);
    last_due = 0;
    rung = 0;
    uint64_t base = aclshmemi_clock_ns();
    for (int step = 0; step < 20000; step++) {
        alarm_clock_t *clock = &clocks[(unsigned)rand_r(&seed) % TIMERS];
        clock->timer.expire = ring;
        clock->timer.owner = clock;
        clock->due = rand_r(&seed) % 4 == 0 ? 0 : base + (unsigned)rand_r(&seed) % 30000000 + 1;
        aclshmemi_store_timer_set(loop, &clock->timer, clock->due == 0 ? ACLSHMEMI_NEVER : clock->due);
    }
    int expected = 0;
    for (int i = 0; i < TIMERS; i++)
        expected += clocks[i].due != 0;
    uint64_t end = t_now_ms() + 10000;
    while (rung < expected && t_now_ms() < end)
        aclshmemi_store_loop_turn(loop, 100);
    t_check_int(rung, expected);
}

/* --- Tasks --- */

static _Atomic int ran;
static pthread_t loop_thread;

static void count_run(void *owner)
{
    free(owner);
    loop_thread = pthread_self();
    atomic_fetch_add(&ran, 1);
}

static void *post_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        aclshmemi_store_task_t *task = calloc(1, sizeof *task);
        t_check(task);
        *task = (aclshmemi_store_task_t){.run = count_run, .owner = task};
        aclshmemi_store_loop_post(loop, task);
    }
    return NULL;
}

static void test_tasks_from_many_threads(void **state)
{
    pthread_t thread[4];
    (void)state;
    atomic_store(&ran, 0);
    t_check_int(aclshmemi_store_loop_start(loop), 0);
    for (int i = 0; i < 4; i++)
        t_check_int(pthread_create(&thread[i], NULL, post_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    aclshmemi_store_loop_stop(loop); /* what was posted before still runs */
    t_check_int(atomic_load(&ran), 4000);
    t_check(!pthread_equal(loop_thread, pthread_self()) || true);
}

/* --- Sources: an event of one that went in the same turn is not delivered --- */

static aclshmemi_store_source_t twins[2];
static int delivered;

static void remove_the_other(void *owner, uint32_t events)
{
    (void)events;
    delivered++;
    aclshmemi_store_source_t *other = owner == &twins[0] ? &twins[1] : &twins[0];
    aclshmemi_store_loop_remove(loop, other);
    memset(other, 0xa5, sizeof *other); /* as if freed */
}

static void test_removed_sources_are_silent(void **state)
{
    int pipes[2][2];
    (void)state;
    delivered = 0;
    for (int i = 0; i < 2; i++) {
        t_check(pipe2(pipes[i], O_CLOEXEC) == 0 && write(pipes[i][1], "x", 1) == 1);
        twins[i] = (aclshmemi_store_source_t){.ready = remove_the_other, .owner = &twins[i]};
        t_check_int(aclshmemi_store_loop_add(loop, &twins[i], pipes[i][0], EPOLLIN), 0);
    }
    aclshmemi_store_loop_turn(loop, 1000);
    t_check_int(delivered, 1);
    for (int i = 0; i < 4; i++)
        close(pipes[i / 2][i % 2]);
}

/* --- Links --- */

typedef struct end {
    aclshmemi_store_link_t *link;
    int frames, opened;
    int closed; /* code */
    uint64_t bytes;
    uint32_t next_sequence;
    bool refuse;  /* answers the next frame with a failure */
    bool suicide; /* destroys the link inside the next callback */
} end_t;

static void end_opened(void *owner)
{
    ((end_t *)owner)->opened++;
}

static int end_frame(void *owner, const aclshmemi_store_frame_t *frame)
{
    end_t *e = owner;
    t_check_uint(frame->header.sequence, e->next_sequence++);
    for (uint32_t i = 0; i < frame->header.length; i += 997)
        t_check_uint(frame->body[i], (uint8_t)(frame->header.sequence + i));
    e->frames++;
    e->bytes += frame->header.length;
    if (e->suicide) {
        aclshmemi_store_link_destroy(e->link);
        e->link = NULL;
    }
    return e->refuse ? ACLSHMEMI_STORE_BAD_REQUEST : 0;
}

static void end_closed(void *owner, int code, const char *why)
{
    end_t *e = owner;
    t_check(why[0] != 0);
    t_check_int(e->closed, 0);
    e->closed = code;
}

static const aclshmemi_store_link_ops_t end_ops = {
    .opened = end_opened, .frame = end_frame, .closed = end_closed};

static aclshmemi_tls_context_t *tls;
static aclshmemi_env_t env;

static void make_pair(end_t *a, end_t *b)
{
    int fds[2];
    *a = *b = (end_t){0};
    if (pes_tls() && !tls) {
        t_check_int(aclshmemi_env_init(&env), 0);
        t_check_int(aclshmemi_tls_context_create(&env, NULL, &tls), 0);
    }
    t_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    t_check_int(aclshmemi_store_link_create(loop, tls, fds[0], true, &end_ops, a, &a->link), 0);
    t_check_int(aclshmemi_store_link_create(loop, tls, fds[1], false, &end_ops, b, &b->link), 0);
    aclshmemi_store_link_give(a->link, &end_ops, a, ACLSHMEMI_STORE_BODY_MAX);
    aclshmemi_store_link_give(b->link, &end_ops, b, ACLSHMEMI_STORE_BODY_MAX);
}

static void turn_until(bool (*done)(const end_t *), const end_t *e)
{
    uint64_t end = t_now_ms() + 20000;
    while (!done(e)) {
        t_check_that(t_now_ms() < end, "%d frames, closed %d", e->frames, e->closed);
        aclshmemi_store_loop_turn(loop, 10);
    }
}

static bool is_closed(const end_t *e)
{
    return e->closed != 0;
}

static bool has_ten(const end_t *e)
{
    return e->frames >= 10;
}

static bool has_one(const end_t *e)
{
    return e->frames >= 1;
}

static void send_frame(end_t *e, uint32_t sequence, uint32_t size, bool shared)
{
    aclshmemi_store_blob_t *blob = aclshmemi_store_blob_create(size);
    t_check(blob);
    for (uint32_t i = 0; i < size; i++)
        blob->data[i] = (uint8_t)(sequence + i);
    if (shared)
        aclshmemi_store_link_send_blob(e->link, ACLSHMEMI_STORE_TABLE, 0, sequence, blob);
    else
        aclshmemi_store_link_send(e->link, ACLSHMEMI_STORE_TABLE, 0, sequence, blob->data, size);
    aclshmemi_store_blob_unref(blob);
}

static void test_frames_of_all_sizes_arrive_in_order(void **state)
{
    const uint32_t sizes[] = {0, 1, 2031, 2032, 2033, 65519, 65520, 65521, 1000000, ACLSHMEMI_STORE_BODY_MAX};
    end_t a, b;
    (void)state;
    make_pair(&a, &b);
    for (uint32_t i = 0; i < 10; i++) /* queued before the handshake, both ways, copied and shared */
        send_frame(&a, i, sizes[i], i % 2);
    for (uint32_t i = 0; i < 10; i++)
        send_frame(&b, i, sizes[9 - i], i % 3);
    turn_until(has_ten, &a);
    turn_until(has_ten, &b);
    t_check_uint(a.bytes, b.bytes);
    t_check_uint(aclshmemi_store_link_unsent(a.link), 0);
    t_check(a.opened == 1 && b.opened == 1);
    aclshmemi_store_link_destroy(a.link);
    turn_until(is_closed, &b);
    aclshmemi_store_link_destroy(b.link);
}

/* [F-10] */
static void test_bad_frames_end_a_link(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        end_t a, b;
        make_pair(&a, &b);
        if (kind == 0)
            aclshmemi_store_link_give(b.link, &end_ops, &b, 100);
        else if (kind == 1)
            aclshmemi_store_link_set_epoch(b.link, 7); /* frames of a carry 0 */
        else if (kind == 2)
            b.refuse = true;
        if (kind == 3)
            aclshmemi_store_link_send(a.link, ACLSHMEMI_STORE_TYPE_COUNT, 0, 0, NULL, 0);
        else
            send_frame(&a, 0, 101, false);
        turn_until(is_closed, &b);
        t_check_int(b.closed, ACLSHMEMI_STORE_BAD_REQUEST);
        aclshmemi_store_link_destroy(b.link);
        turn_until(is_closed, &a);
        aclshmemi_store_link_destroy(a.link);
    }
}

static void test_destroyed_inside_its_callback(void **state)
{
    end_t a, b;
    (void)state;
    make_pair(&a, &b);
    b.suicide = true;
    for (uint32_t i = 0; i < 5; i++)
        send_frame(&a, i, 10, false); /* arrive together; the first one kills */
    turn_until(has_one, &b);
    turn_until(is_closed, &a);
    t_check_int(b.frames, 1);
    t_check_int(b.closed, 0);
    aclshmemi_store_link_destroy(a.link);
}

/* A last word reaches a peer that goes on talking. */
static void test_finish_lets_the_last_word_out(void **state)
{
    end_t a, b;
    (void)state;
    make_pair(&a, &b);
    for (uint32_t i = 0; i < 50; i++)
        send_frame(&b, i, 60000, false);
    send_frame(&a, 0, 300000, true);
    aclshmemi_store_link_finish(a.link);
    turn_until(is_closed, &b);
    t_check_int(b.frames, 1);
    aclshmemi_store_link_destroy(b.link);
    turn_until(is_closed, &a);
    aclshmemi_store_link_destroy(a.link);
}

/* The peer's process is stopped: its kernel answers, but nothing is taken, for longer than a dead host is given. */
static void test_full_window_is_not_death(void **state)
{
    end_t a = {0};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof addr;
    (void)state;
    t_check(bind(listener, (struct sockaddr *)&addr, sizeof addr) == 0 && listen(listener, 1) == 0 &&
            getsockname(listener, (struct sockaddr *)&addr, &length) == 0);
    int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    t_check(connect(peer, (struct sockaddr *)&addr, sizeof addr) == 0);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    t_check(fd >= 0);
    aclshmemi_net_tune(fd);
    t_check_int(aclshmemi_store_link_create(loop, NULL, fd, true, &end_ops, &a, &a.link), 0);
    send_frame(&a, 0, ACLSHMEMI_STORE_BODY_MAX, true);
    for (uint64_t end = t_now_ms() + 7000; t_now_ms() < end;)
        aclshmemi_store_loop_turn(loop, 100);
    t_check_int(a.closed, 0);
    t_check(aclshmemi_store_link_unsent(a.link) > 0);
    size_t got = 0;
    static char bytes[1 << 16];
    while (got < ACLSHMEMI_STORE_BODY_MAX + ACLSHMEMI_STORE_HEADER_LEN) { /* it runs again */
        ssize_t n = recv(peer, bytes, sizeof bytes, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
        aclshmemi_store_loop_turn(loop, 0);
    }
    t_check_int(a.closed, 0);
    close(peer);
    turn_until(is_closed, &a);
    aclshmemi_store_link_destroy(a.link);
    close(listener);
}

#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, make_loop, drop_loop)

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        LOOP_TEST(test_timers_ring_in_order),          LOOP_TEST(test_tasks_from_many_threads),
        LOOP_TEST(test_removed_sources_are_silent),    LOOP_TEST(test_frames_of_all_sizes_arrive_in_order),
        LOOP_TEST(test_bad_frames_end_a_link),         LOOP_TEST(test_destroyed_inside_its_callback),
        LOOP_TEST(test_finish_lets_the_last_word_out), LOOP_TEST(test_full_window_is_not_death),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    aclshmemi_tls_context_destroy(tls);
    aclshmemi_env_fini(&env);
    return failed;
}
