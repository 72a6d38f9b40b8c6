/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PEs that meet without a launcher's service: processes with made-up variables, in any order, among strangers.
 *
 * Every PE is a meet_pe, which proves that the id it got works.
 */
#define LOG_MODULE "test"
#include "host/bootstrap/launch/place.h"
#undef fail /* cmocka has one of its own */

#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/unit.h"

enum { PES_MAX = 12, LIMIT_MS = 60000 };

static char meet_pe[512];
static char scratch[256]; /* with the secret file */
static int next_port = 0; /* of a made-up MASTER_PORT, different for each job */

typedef struct job {
    const char *const *common; /* NULL-terminated, formats without arguments */
    int n_pes;
    int master_port;
    char secret[300];
    t_child_t pe[PES_MAX];
    bool started[PES_MAX];
    bool finished;
} job_t;

static void open_job(job_t *job, const char *const *common, int n_pes)
{
    memset(job, 0, sizeof *job);
    job->common = common;
    job->n_pes = n_pes;
    job->master_port = 29500 + getpid() % 1000 + 20 * next_port++;
    snprintf(job->secret, sizeof job->secret, "SHMEM_SECRET_FILE=%s/secret", scratch);
}

/* slot: which child; pe and n_pes: what it is told. */
static void start_as(job_t *job, int slot, int pe, int n_pes, const char *const *arguments)
{
    char text[3][64];
    const char *environment[24], *argv[8] = {meet_pe};
    size_t used = 0;
    for (; job->common != NULL && job->common[used] != NULL; used++)
        environment[used] = job->common[used];
    snprintf(text[0], sizeof text[0], "RANK=%d", pe);
    snprintf(text[1], sizeof text[1], "WORLD_SIZE=%d", n_pes);
    snprintf(text[2], sizeof text[2], "MASTER_PORT=%d", job->master_port);
    for (int i = 0; i < 3; i++)
        environment[used++] = text[i];
    environment[used++] = job->secret;
    environment[used] = NULL;
    for (int i = 0; arguments != NULL && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    t_start(&job->pe[slot], argv, environment);
    job->started[slot] = true;
}

static void start_pe(job_t *job, int pe, const char *const *arguments)
{
    start_as(job, pe, pe, job->n_pes, arguments);
}

/* Starts those not yet started in random order, and waits for all. */
static void start_rest(job_t *job, const char *const *arguments)
{
    int left = 0, order[PES_MAX];
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (!job->started[pe])
            order[left++] = pe;
    }
    while (left > 0) {
        int at = rand() % left;
        start_pe(job, order[at], arguments);
        order[at] = order[--left];
    }
}

static void finish_job(job_t *job)
{
    for (int pe = 0; pe < PES_MAX && !job->finished; pe++) {
        if (job->started[pe])
            t_finish(&job->pe[pe], LIMIT_MS);
    }
    job->finished = true;
}

static void free_job(job_t *job)
{
    for (int pe = 0; pe < PES_MAX; pe++) {
        if (job->started[pe])
            t_child_free(&job->pe[pe]);
    }
}

/* All passed, silently, and agree about the ids; gives that number. */
static unsigned long check_job(job_t *job, const char *launcher)
{
    unsigned long ids = 0;
    finish_job(job);
    /* One PE's failure is explained by another's words. */
    for (int pe = 0; pe < job->n_pes; pe++)
        fputs(job->pe[pe].err, stderr);
    for (int pe = 0; pe < job->n_pes; pe++) {
        char expected[64];
        t_check_exit(&job->pe[pe], 0);
        t_check_text(job->pe[pe].err, "");
        snprintf(expected, sizeof expected, "launcher %s PE %d of %d,", launcher, pe, job->n_pes);
        t_check_contains(job->pe[pe].out, expected);
        const char *at = strstr(job->pe[pe].out, "ids ");
        unsigned long own = strtoul(at + 4, NULL, 16);
        if (pe == 0)
            ids = own;
        assert_int_equal(own, ids);
    }
    return ids;
}

static const char *const torchrun_here[] = {"TORCHELASTIC_RUN_ID=none", "LOCAL_WORLD_SIZE=6",
                                            "MASTER_ADDR=localhost", NULL};
static const char *const env_here[] = {"MASTER_ADDR=127.0.0.1", NULL};
/* Told apart by nothing but the local size, every PE seems to be on a host of its own. */
static const char *const torchrun_hosts[] = {"TORCHELASTIC_RUN_ID=job 7", "LOCAL_WORLD_SIZE=1",
                                             "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1", NULL};
static const char *const plain_hosts[] = {
    "TORCHELASTIC_RUN_ID=job 7", "LOCAL_WORLD_SIZE=1",     "LOCAL_RANK=0",
    "MASTER_ADDR=127.0.0.1",     "SHMEM_CONF_STORE_TLS=0", NULL};

static const char *const ipv6_hosts[] = {"TORCHELASTIC_RUN_ID=job 7", "LOCAL_WORLD_SIZE=1", "LOCAL_RANK=0",
                                         "MASTER_ADDR=::1", NULL};

static const char *const three_rounds[] = {"rounds=3", NULL};
static const char *const late[] = {"rounds=3", "delay=1000", NULL};
static const char *const impatient[] = {"timeout=1500", NULL};

static const char *variable(void *context, const char *name)
{
    const job_t *job = context;
    static char text[64];
    if (strcmp(name, "MASTER_PORT") == 0) {
        snprintf(text, sizeof text, "%d", job->master_port);
        return text;
    }
    return strcmp(name, "MASTER_ADDR") == 0 ? "127.0.0.1" : NULL;
}

static void places_of(job_t *job, aclshmemi_places_t *places)
{
    aclshmemi_job_t described;
    aclshmemi_launch_t launch = {.name = "env", .n_pes = job->n_pes, .single_host = true};
    aclshmemi_source_t source = {.get = variable, .context = job, .forced = "auto"};
    assert_int_equal(aclshmemi_launch_job(&source, &launch, 1, 0, &described), 0);
    assert_int_equal(aclshmemi_places_init(places, &described, aclshmemi_deadline_after_ms(60000)), 0);
}

static void test_any_order_one_late(void **state)
{
    (void)state;
    for (int who = 0; who < 2; who++) {
        job_t job;
        open_job(&job, torchrun_here, 6);
        start_pe(&job, who == 0 ? 0 : 4, late);
        start_rest(&job, three_rounds);
        check_job(&job, "torchrun");
        free_job(&job);
    }
}

static void test_two_jobs_at_once(void **state)
{
    (void)state;
    job_t a, b;
    open_job(&a, env_here, 4);
    open_job(&b, env_here, 4);
    start_pe(&a, 3, NULL);
    start_rest(&b, NULL);
    start_rest(&a, NULL);
    assert_true(check_job(&a, "env") != check_job(&b, "env"));
    free_job(&a);
    free_job(&b);
}

static void expect_failure(const job_t *job, int pe, const char *text)
{
    t_check_exit(&job->pe[pe], 1);
    t_check_contains(job->pe[pe].err, text);
}

static void test_a_missing_pe_is_named(void **state)
{
    (void)state;
    job_t job;
    open_job(&job, env_here, 4);
    uint64_t before = t_now_ms();
    start_pe(&job, 0, impatient);
    start_pe(&job, 1, impatient);
    start_pe(&job, 3, impatient);
    finish_job(&job);
    assert_true(t_now_ms() - before < 20000);
    expect_failure(&job, 0, "PEs 2 did not come");
    expect_failure(&job, 1, "PEs 2 did not come"); /* the same verdict, from PE 0 */
    expect_failure(&job, 3, "PEs 2 did not come");
    free_job(&job);
}

static void test_a_missing_pe_0(void **state)
{
    (void)state;
    job_t job;
    open_job(&job, env_here, 3);
    start_pe(&job, 1, impatient);
    start_pe(&job, 2, impatient);
    finish_job(&job);
    expect_failure(&job, 1, "did not find PE 0");
    expect_failure(&job, 2, "did not find PE 0");
    free_job(&job);
}

/* The first meeting fails for all, the second one finds the late PE. */
static void test_failing_and_trying_again(void **state)
{
    (void)state;
    static const char *const again[] = {"timeout=1000", "tries=20", "rounds=2", NULL};
    static const char *const very_late[] = {"timeout=1000", "tries=20", "rounds=2", "delay=2500", NULL};
    job_t job;
    open_job(&job, env_here, 3);
    start_pe(&job, 2, very_late);
    start_rest(&job, again);
    finish_job(&job);
    for (int pe = 0; pe < 3; pe++)
        t_check_exit(&job.pe[pe], 0);
    t_check_contains(job.pe[0].err, "PEs 2 did not come");
    free_job(&job);
}

static void test_counts_that_differ(void **state)
{
    (void)state;
    job_t job;
    open_job(&job, env_here, 3);
    uint64_t before = t_now_ms();
    start_as(&job, 0, 0, 3, NULL);
    start_as(&job, 1, 1, 3, NULL);
    start_as(&job, 2, 2, 4, NULL);
    finish_job(&job);
    assert_true(t_now_ms() - before < 15000); /* not at the deadline of 20 s */
    for (int pe = 0; pe < 3; pe++)
        expect_failure(&job, pe, "PE 2 was started as one of 4 PEs, PE 0 as one of 3");
    free_job(&job);
}

static void test_two_with_one_number(void **state)
{
    (void)state;
    static const char *const patient[] = {"timeout=6000", NULL};
    job_t job;
    open_job(&job, env_here, 3);
    start_as(&job, 0, 0, 3, patient);
    start_as(&job, 1, 1, 3, patient);
    start_as(&job, 2, 1, 3, patient);
    finish_job(&job);
    bool first = strstr(job.pe[1].err, "already here") != NULL;
    expect_failure(&job, first ? 1 : 2, "PE 1 is already here; two processes have the same number");
    expect_failure(&job, first ? 2 : 1, "PEs 2 did not come");
    expect_failure(&job, 0, "PEs 2 did not come");
    free_job(&job);
}

static void wait_for_pe_0(job_t *job)
{
    aclshmemi_places_t places;
    aclshmemi_addr_t unused;
    int fd = -1;
    places_of(job, &places);
    aclshmemi_deadline_t limit = aclshmemi_deadline_after_ms(10000);
    while (aclshmemi_places_connect(&places, 0, limit, &fd, &unused) != 0)
        assert_false(aclshmemi_deadline_passed(limit));
    aclshmemi_net_close(&fd);
}

static void test_two_jobs_that_cannot_be_told_apart(void **state)
{
    (void)state;
    static const char *const patient[] = {"timeout=6000", NULL};
    job_t job;
    open_job(&job, env_here, 2);
    start_as(&job, 0, 0, 2, patient);
    wait_for_pe_0(&job);
    start_as(&job, 1, 0, 2, impatient);
    finish_job(&job);
    expect_failure(&job, 1, "another job of this user");
    expect_failure(&job, 1, "SHMEM_JOB_ID");
    expect_failure(&job, 0, "PEs 1 did not come");
    free_job(&job);
}

static void test_a_job_id_tells_them_apart(void **state)
{
    (void)state;
    static const char *const first[] = {"MASTER_ADDR=127.0.0.1", "SHMEM_JOB_ID=1", NULL};
    static const char *const second[] = {"MASTER_ADDR=127.0.0.1", "SHMEM_JOB_ID=2", NULL};
    job_t a, b;
    open_job(&a, first, 3);
    open_job(&b, second, 3);
    b.master_port = a.master_port;
    start_rest(&a, NULL);
    start_rest(&b, NULL);
    check_job(&a, "env");
    check_job(&b, "env");
    free_job(&a);
    free_job(&b);
}

/* --- strangers --- */

/* Another user takes the first two names before the job does: one listens, one is only bound. */
static void squat(void *argument)
{
    const aclshmemi_places_t *places = argument;
    if (setuid(65534) != 0)
        t_skip("not root, so there is no other user to be");
    for (size_t i = 0; i < 2; i++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s.%zu", places->name, i);
        t_check(bind(fd, (struct sockaddr *)&name, (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)n)) == 0);
        t_check(i == 1 || listen(fd, 8) == 0);
    }
    t_check(write(STDOUT_FILENO, "ready\n", 6) == 6);
    pause();
}

/* The child's output is kept in a file, which has something in it as soon as the child is ready. */
static void wait_for_output(const t_child_t *child)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct stat about = {.st_size = 0};
    aclshmemi_deadline_t limit = aclshmemi_deadline_after_ms(20000);
    while (fstat(child->out_fd, &about) == 0 && about.st_size == 0) {
        assert_false(aclshmemi_deadline_passed(limit));
        nanosleep(&pause, NULL);
    }
    assert_true(about.st_size > 0);
}

static void test_names_taken_by_another_user(void **state)
{
    (void)state;
    job_t job;
    aclshmemi_places_t places;
    t_child_t other;
    if (geteuid() != 0) {
        print_message("skipped: not root, so there is no other user to be\n");
        skip();
    }
    open_job(&job, env_here, 4);
    places_of(&job, &places);
    t_start_function(&other, squat, &places);
    wait_for_output(&other);
    uint64_t before = t_now_ms();
    start_rest(&job, three_rounds);
    check_job(&job, "env");
    assert_true(t_now_ms() - before < 15000);
    kill(other.pid, SIGKILL);
    t_finish(&other, 5000);
    t_child_free(&other);
    free_job(&job);
}

/* Keeps calling, at random silent, noisy, or at once gone. */
static void pester(void *argument)
{
    const aclshmemi_places_t *places = argument;
    char noise[600];
    int kept[64];
    memset(kept, -1, sizeof kept);
    for (unsigned i = 0;; i++) {
        int fd = -1;
        aclshmemi_addr_t unused;
        if (aclshmemi_places_connect(places, 0, aclshmemi_deadline_after_ms(100), &fd, &unused) != 0) {
            const struct timespec pause = {.tv_nsec = 1000000};
            nanosleep(&pause, NULL);
            continue;
        }
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (char)rand();
        if (i % 3 == 0)
            memcpy(noise, "SCHM\1\0\54\0", 8); /* a header that is right, then nonsense */
        if (i % 4 != 0)
            (void)!send(fd, noise, (size_t)rand() % sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT);
        aclshmemi_net_close(&kept[i % 64]);
        if (i % 4 == 3)
            aclshmemi_net_close(&fd);
        kept[i % 64] = fd;
    }
}

static void run_among_noise(job_t *job, const aclshmemi_places_t *places, const char *launcher)
{
    t_child_t noise;
    aclshmemi_places_t copy = *places;
    t_start_function(&noise, pester, &copy);
    uint64_t before = t_now_ms();
    start_rest(job, three_rounds);
    finish_job(job);
    kill(noise.pid, SIGKILL);
    t_finish(&noise, 5000);
    t_child_free(&noise);
    check_job(job, launcher);
    assert_true(t_now_ms() - before < 25000);
}

static void test_noise_on_the_name(void **state)
{
    (void)state;
    job_t job;
    aclshmemi_places_t places;
    open_job(&job, env_here, 4);
    places_of(&job, &places);
    run_among_noise(&job, &places, "env");
    free_job(&job);
}

/* --- several hosts, played on one --- */

static void test_between_hosts(void **state)
{
    (void)state;
    const char *const *ways[] = {torchrun_hosts, plain_hosts, ipv6_hosts};
    for (int i = 0; i < (t_has_ipv6() ? 3 : 2); i++) {
        job_t job;
        open_job(&job, ways[i], 5);
        start_pe(&job, 0, late);
        start_rest(&job, three_rounds);
        check_job(&job, "torchrun");
        free_job(&job);
    }
}

/* Slurm without PMI: on one host, and on several whose first is this one. */
static void test_slurm(void **state)
{
    (void)state;
    for (int hosts = 1; hosts <= 2; hosts++) {
        job_t job;
        char text[3][40];
        open_job(&job, NULL, 4);
        for (int pe = 3; pe >= 0; pe--) {
            snprintf(text[0], sizeof text[0], "SLURM_PROCID=%d", pe);
            snprintf(text[1], sizeof text[1], "SLURM_JOB_ID=%d", job.master_port);
            snprintf(text[2], sizeof text[2], "SLURM_STEP_NUM_NODES=%d", hosts);
            const char *const slurm[] = {text[0],
                                         text[1],
                                         text[2],
                                         "SLURM_STEP_ID=1",
                                         "SLURM_STEP_NUM_TASKS=4",
                                         "SLURM_LOCALID=0",
                                         "SLURM_STEP_NODELIST=localhost,other[1-3]",
                                         NULL};
            job.common = slurm;
            start_pe(&job, pe, three_rounds);
        }
        check_job(&job, "slurm");
        free_job(&job);
    }
}

/* On the first port somebody listens and says nothing, on the second somebody talks. */
static void occupy(void *argument)
{
    int port = *(int *)argument;
    int fd[2];
    for (int i = 0; i < 2; i++) {
        aclshmemi_addr_t addr = {.length = sizeof addr.v4};
        addr.v4.sin_family = AF_INET;
        addr.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        addr.v4.sin_port = htons((uint16_t)(port + 1 + i));
        t_check(aclshmemi_net_bind(&addr, &fd[i]) == 0);
        t_check(aclshmemi_net_listen(fd[i], 100) == 0);
    }
    t_check(write(STDOUT_FILENO, "ready\n", 6) == 6);
    for (;;) {
        struct pollfd entry = {.fd = fd[1], .events = POLLIN};
        (void)!poll(&entry, 1, -1);
        int caller = accept4(fd[1], NULL, NULL, SOCK_CLOEXEC);
        (void)!send(caller, "220 mail.example ESMTP\r\n", 24, MSG_NOSIGNAL);
        close(caller);
    }
}

static void test_ports_taken_by_other_services(void **state)
{
    (void)state;
    job_t job;
    t_child_t other;
    open_job(&job, torchrun_hosts, 3);
    t_start_function(&other, occupy, &job.master_port);
    wait_for_output(&other);
    start_rest(&job, NULL);
    finish_job(&job);
    kill(other.pid, SIGKILL);
    t_finish(&other, 5000);
    t_child_free(&other);
    check_job(&job, "torchrun");
    free_job(&job);
}

static void test_noise_on_the_port(void **state)
{
    (void)state;
    job_t job;
    aclshmemi_places_t places = {.count = 1};
    open_job(&job, torchrun_hosts, 3);
    places.addr[0].length = sizeof places.addr[0].v4;
    places.addr[0].v4.sin_family = AF_INET;
    places.addr[0].v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    places.addr[0].v4.sin_port = htons((uint16_t)(job.master_port + 1));
    run_among_noise(&job, &places, "torchrun");
    free_job(&job);
}

static void test_secrets_that_differ(void **state)
{
    (void)state;
    job_t job;
    open_job(&job, torchrun_hosts, 2);
    start_pe(&job, 0, impatient);
    snprintf(job.secret, sizeof job.secret, "SHMEM_SECRET_FILE=%s/other", scratch);
    start_pe(&job, 1, impatient);
    finish_job(&job);
    expect_failure(&job, 0, "PEs 1 did not come");
    expect_failure(&job, 1, "secret");
    free_job(&job);
}

static void test_pe_0_on_the_wrong_host(void **state)
{
    (void)state;
    static const char *const elsewhere[] = {"TORCHELASTIC_RUN_ID=x", "LOCAL_WORLD_SIZE=1",
                                            "MASTER_ADDR=203.0.113.9", NULL};
    static const char *const nowhere[] = {"TORCHELASTIC_RUN_ID=x", "LOCAL_WORLD_SIZE=1",
                                          "MASTER_ADDR=no-such-host.invalid", NULL};
    job_t job;
    open_job(&job, elsewhere, 2);
    start_pe(&job, 0, impatient);
    finish_job(&job);
    expect_failure(&job, 0, "PE 0 must run on that host");
    free_job(&job);
    open_job(&job, nowhere, 2);
    start_pe(&job, 1, impatient);
    finish_job(&job);
    expect_failure(&job, 1, "no-such-host.invalid");
    free_job(&job);
}

static bool shell(const char *command, int number)
{
    char text[256];
    snprintf(text, sizeof text, "%s %d", command, number);
    return system(text) == 0;
}

/* From now on /etc/hosts says this, for us and our children. */
static bool use_hosts(const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/hosts.%d", scratch, (int)getpid());
    t_file_write(path, text);
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(path, "/etc/hosts", NULL, MS_BIND, NULL) == 0;
}

/* The second network stack: waits for its end of the cable, then is PE 1. */
static void second_stack(void *argument)
{
    job_t *job = argument;
    char port[16];
    t_check(unshare(CLONE_NEWNET) == 0 && use_hosts("127.0.0.1 localhost\n10.77.0.1 node0.test\n"));
    t_check(write(STDOUT_FILENO, "ready\n", 6) == 6);
    aclshmemi_deadline_t limit = aclshmemi_deadline_after_ms(10000);
    while (if_nametoindex("b0") == 0)
        t_check(!aclshmemi_deadline_passed(limit));
    t_check(shell("ip link set lo up && ip addr add 10.77.0.2/24 dev b0 && ip link set b0 up || exit", 1));
    snprintf(port, sizeof port, "%d", job->master_port);
    t_check(putenv(job->secret) == 0);
    t_check(setenv("RANK", "1", 1) == 0 && setenv("WORLD_SIZE", "2", 1) == 0 &&
            setenv("MASTER_PORT", port, 1) == 0);
    for (size_t i = 0; job->common[i] != NULL; i++) {
        char *pair = strdup(job->common[i]);
        t_check(pair != NULL && putenv(pair) == 0);
    }
    execl(meet_pe, meet_pe, (char *)NULL);
    t_fail("cannot start %s", meet_pe);
}

/* Two network stacks joined by a cable; PE 1 lives in the second. argument: how PE 0's host is called. */
static void two_stacks(void *argument)
{
    const char *const apart[] = {"TORCHELASTIC_RUN_ID=x", "LOCAL_WORLD_SIZE=1", argument, NULL};
    job_t job;
    if (!t_unshare_network() || !use_hosts("127.0.0.1 localhost\n127.0.1.1 node0.test\n") ||
        !shell("ip link add a0 type veth peer name b0 2>/dev/null && ip addr add 10.77.0.1/24 dev a0 && "
               "ip link set a0 up || exit",
               1))
        t_skip("no namespaces here");
    open_job(&job, apart, 2);
    t_start_function(&job.pe[1], second_stack, &job);
    job.started[1] = true;
    wait_for_output(&job.pe[1]);
    t_check(shell("ip link set b0 netns", (int)job.pe[1].pid));
    start_pe(&job, 0, NULL);
    check_job(&job, "torchrun");
    free_job(&job);
}

static void join_stacks(const char *master)
{
    t_child_t child;
    char argument[64];
    snprintf(argument, sizeof argument, "%s", master);
    t_run_function(&child, two_stacks, argument, LIMIT_MS);
    bool skipped = child.exit_code == T_SKIP;
    if (skipped)
        print_message("%s", child.out);
    else
        t_check_exit(&child, 0);
    t_child_free(&child);
    if (skipped)
        skip();
}

static void test_two_network_stacks(void **state)
{
    (void)state;
    join_stacks("MASTER_ADDR=10.77.0.1");
}

/* PE 0's host calls itself by a loopback address, as distributions set it up; its peers know better. */
static void test_a_host_that_is_loopback_to_itself(void **state)
{
    (void)state;
    join_stacks("MASTER_ADDR=node0.test");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_one_late),
        cmocka_unit_test(test_two_jobs_at_once),
        cmocka_unit_test(test_a_missing_pe_is_named),
        cmocka_unit_test(test_a_missing_pe_0),
        cmocka_unit_test(test_failing_and_trying_again),
        cmocka_unit_test(test_counts_that_differ),
        cmocka_unit_test(test_two_with_one_number),
        cmocka_unit_test(test_two_jobs_that_cannot_be_told_apart),
        cmocka_unit_test(test_a_job_id_tells_them_apart),
        cmocka_unit_test(test_names_taken_by_another_user),
        cmocka_unit_test(test_noise_on_the_name),
        cmocka_unit_test(test_between_hosts),
        cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_ports_taken_by_other_services),
        cmocka_unit_test(test_noise_on_the_port),
        cmocka_unit_test(test_secrets_that_differ),
        cmocka_unit_test(test_pe_0_on_the_wrong_host),
        cmocka_unit_test(test_two_network_stacks),
        cmocka_unit_test(test_a_host_that_is_loopback_to_itself),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const char *own = t_own_path();
    snprintf(meet_pe, sizeof meet_pe, "%.*smeet_pe", (int)(strrchr(own, '/') - own + 1), own);
    srand((unsigned)t_now_ms());
    t_clean_environment();
    t_dir_make(scratch, sizeof scratch);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    t_dir_remove(scratch);
    return failed;
}
