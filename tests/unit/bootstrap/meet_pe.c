/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One PE of a job: asks who started it, meets the others, and proves that the id works by a connection to PE 0.
 *
 *     meet_pe [rounds=N] [timeout=MS] [delay=MS] [tries=N] [done=each|last|never] [abort=STATUS] [detect=1] [fork=1]
 *
 * Prints "launcher torchrun PE 1 of 4, 1 of 4 here, 3 rounds, ids 1234abcd" and ends with 0, or with 1 when something
 * failed (the log says what). delay: come that late. tries: after a failed meeting try again. abort: PE 1 ends the job
 * through the launcher after the meeting. detect: do not meet. fork: a child ends between the rounds.
 */
#define LOG_MODULE "test"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/uid/uid.h"

static int is_child; /* of our own fork */

#ifdef __SANITIZE_ADDRESS__
/* A few bytes that libpmix keeps are not ours to free; and a child cannot be searched beside libpmix's threads. */
#define FOR_SANITIZER __attribute__((visibility("default")))
FOR_SANITIZER const char *__lsan_default_suppressions(void);
FOR_SANITIZER const char *__lsan_default_options(void);
FOR_SANITIZER int __lsan_is_turned_off(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix";
}
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
int __lsan_is_turned_off(void)
{
    return is_child;
}
#endif

static struct {
    int rounds, timeout_ms, delay_ms, tries, abort_status;
    bool done_each, done_never, detect, fork;
} wish = {.rounds = 1, .timeout_ms = 20000, .tries = 1, .abort_status = -1};

static int meetings; /* for which the launcher has not heard that they are over */

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        int number = value == NULL ? 0 : atoi(value + 1);
        if (strncmp(argv[i], "rounds=", 7) == 0)
            wish.rounds = number;
        else if (strncmp(argv[i], "timeout=", 8) == 0)
            wish.timeout_ms = number;
        else if (strncmp(argv[i], "delay=", 6) == 0)
            wish.delay_ms = number;
        else if (strncmp(argv[i], "tries=", 6) == 0)
            wish.tries = number;
        else if (strncmp(argv[i], "abort=", 6) == 0)
            wish.abort_status = number;
        else if (strcmp(argv[i], "done=each") == 0)
            wish.done_each = true;
        else if (strcmp(argv[i], "done=never") == 0)
            wish.done_never = true;
        else if (strcmp(argv[i], "fork=1") == 0)
            wish.fork = true;
        else if (strcmp(argv[i], "detect=1") == 0)
            wish.detect = true;
        else if (strcmp(argv[i], "done=last") != 0)
            exit(2);
    }
}

static void wait_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0)
        ;
}

static aclshmemi_deadline_t soon(void)
{
    return aclshmemi_deadline_after_ms(10000);
}

/* PE 0 waits for everybody at the id's socket, which strangers may call as well. */
static int receive_all(const aclshmemi_uid_t *uid, int n_pes)
{
    enum { CALLERS_MAX = 500 };
    struct pollfd set[1 + CALLERS_MAX];
    nfds_t used = 1;
    int here = 1;
    aclshmemi_deadline_t deadline = soon();
    set[0] = (struct pollfd){.fd = aclshmemi_uid_take_socket(uid->magic), .events = POLLIN};
    if (set[0].fd < 0)
        return fail(ACLSHMEM_INNER_ERROR, "the socket of the id is not here");
    TRY(aclshmemi_net_listen(set[0].fd, 200));
    while (here < n_pes && !aclshmemi_deadline_passed(deadline)) {
        (void)!poll(set, used, aclshmemi_deadline_left_ms(deadline, 1000));
        for (nfds_t i = 1; i < used; i++) {
            uint64_t magic = 0;
            ssize_t n = recv(set[i].fd, &magic, sizeof magic, MSG_DONTWAIT);
            if (n < 0 && errno == EAGAIN)
                continue;
            if (n == sizeof magic && magic == uid->magic && ++here > 0)
                TRY(aclshmemi_net_send_all(set[i].fd, "k", 1, deadline));
            close(set[i].fd);
            set[i--] = set[--used];
        }
        int fd = used == CALLERS_MAX ? -1 : accept4(set[0].fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            set[used++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    for (nfds_t i = 0; i < used; i++)
        close(set[i].fd);
    return here == n_pes ? 0
                         : fail(ACLSHMEM_INNER_ERROR, "%d PEs of %d came to the id's address", here, n_pes);
}

static int report(const aclshmemi_uid_t *uid)
{
    aclshmemi_deadline_t deadline = soon();
    int fd = -1, rc;
    char byte = 0;
    while ((rc = aclshmemi_net_connect(&uid->addr, deadline, &fd)) != 0 &&
           !aclshmemi_deadline_passed(deadline))
        wait_ms(5);
    TRY(rc);
    TRY(aclshmemi_net_send_all(fd, &uid->magic, sizeof uid->magic, deadline));
    TRY(aclshmemi_net_recv_all(fd, &byte, 1, deadline));
    aclshmemi_net_close(&fd);
    return byte == 'k' ? 0 : fail(ACLSHMEM_INNER_ERROR, "PE 0 answers nonsense");
}

static int one_round(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, uint32_t *hash)
{
    aclshmemx_uniqueid_t id;
    aclshmemi_uid_t uid;
    int rc = -1;
    for (int i = 0; i < wish.tries && rc != 0; i++) {
        rc = aclshmemi_launch_meet(env, launch, (uint64_t)wish.timeout_ms, &id);
        meetings++;
    }
    TRY(rc);
    TRY(aclshmemi_uid_decode(&id, &uid));
    *hash ^= aclshmemi_magic_hash(uid.magic);
    if (launch->n_pes == 1)
        return 0;
    return launch->pe == 0 ? receive_all(&uid, launch->n_pes) : report(&uid);
}

static void say_done(void)
{
    for (; meetings > 0; meetings--)
        aclshmemi_launch_done();
}

/* A copy of this process ends in the orderly way, which is nobody's business but its own. */
static int lose_a_child(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        is_child = 1;
        exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return fail(ACLSHMEM_INNER_ERROR, "the child ended with status %d", status);
    return 0;
}

static int all_rounds(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch)
{
    uint32_t hash = 0;
    for (int round = 0; round < wish.rounds; round++) {
        TRY(one_round(env, launch, &hash));
        if (wish.fork)
            TRY(lose_a_child());
        if (wish.done_each)
            say_done();
    }
    printf("launcher %s PE %d of %d, %d of %d here, %d rounds, ids %08x\n", launch->name, launch->pe,
           launch->n_pes, launch->local_pe, launch->local_npes, wish.rounds, hash);
    return 0;
}

int main(int argc, char **argv)
{
    aclshmemi_env_t env;
    aclshmemi_launch_t launch;
    read_arguments(argc, argv);
    wait_ms(wish.delay_ms);
    if (aclshmemi_env_init(&env) != 0)
        return 1;
    aclshmemi_log_options_t options = {.levels = env.log_level, .sink = 2};
    if (aclshmemi_log_configure(&options) != 0 || aclshmemi_launch_detect(&env, &launch) != 0)
        return 1;
    aclshmemi_log_set_pe(launch.pe);
    if (wish.detect) {
        printf("launcher %s PE %d of %d, %d of %d here\n", launch.name, launch.pe, launch.n_pes,
               launch.local_pe, launch.local_npes);
        aclshmemi_env_fini(&env);
        return 0;
    }
    int rc = all_rounds(&env, &launch);
    if (rc == 0 && wish.abort_status >= 0) {
        fflush(stdout);
        if (launch.pe == 1)
            aclshmemi_launch_abort(wish.abort_status);
        wait_ms(20000); /* the launcher ends us */
    }
    if (!wish.done_never)
        say_done();
    aclshmemi_uid_drop_all();
    aclshmemi_env_fini(&env);
    return rc == 0 ? 0 : 1;
}
