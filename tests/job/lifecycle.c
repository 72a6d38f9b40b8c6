/* SPDX-License-Identifier: Apache-2.0 */
/* Init, status, finalize: every argument, every order, every round. */
/* Scenarios: [I-06] [I-07] [I-08] [I-09] [I-10] [I-11] [I-13] [I-14] [I-16] [I-17] [I-38] [B-06] [B-07] [B-08]
 * [B-09] [B-10] */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"

static void quiet_log(void)
{
    aclshmemx_set_extern_logger(t_log_callback);
}

/* [I-01] [I-21] [I-22] [I-30] [L-25 is in exit.c] Nothing initialised. */
static void before_anything(void)
{
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    t_check_int(aclshmem_my_pe(), -1);
    t_check_int(aclshmem_n_pes(), -1);
    t_check_int(aclshmem_finalize(), 0);
    t_check_int(aclshmem_finalize(), 0);
    t_check_int(aclshmemx_failed_pe(), -1);
    aclshmem_instance_ctx *ctx = aclshmemx_instance_ctx_get(); /* */
    t_check(ctx != NULL && ctx->id == 0 && ctx->instance == NULL);
    t_check_int(aclshmemx_instance_ctx_set(7), ACLSHMEM_INNER_ERROR);
    t_check_int(aclshmemx_instance_ctx_set(0), 0);
    t_check_int(aclshmemx_finalize(999), ACLSHMEM_INNER_ERROR);
}

typedef struct bad_argument {
    const char *what;
    int expected;
    aclshmemx_bootstrap_t flags;
    void (*spoil)(aclshmemx_init_attr_t *attr);
} bad_argument_t;

#define SPOIL(name, statement)                                                                               \
    static void name(aclshmemx_init_attr_t *attr)                                                            \
    {                                                                                                        \
        statement;                                                                                           \
    }

SPOIL(nothing, (void)attr)
SPOIL(pe_negative, attr->my_pe = -1)
SPOIL(pes_many, attr->n_pes = 16385)
SPOIL(pes_none, attr->n_pes = 0)
SPOIL(pes_negative, attr->n_pes = -3)
SPOIL(pe_is_count, attr->my_pe = attr->n_pes)
SPOIL(heap_none, attr->local_mem_size = 0)
SPOIL(heap_huge, attr->local_mem_size = ACLSHMEM_MAX_LOCAL_SIZE + 1)
SPOIL(no_init_time, attr->option_attr.shm_init_timeout = 0)
SPOIL(no_control_time, attr->option_attr.control_operation_timeout = 0)
SPOIL(no_engine, attr->option_attr.data_op_engine_type = (data_op_engine_type_t)0)
SPOIL(engine_16, attr->option_attr.data_op_engine_type = (data_op_engine_type_t)0x10)
SPOIL(engine_31, attr->option_attr.data_op_engine_type = (data_op_engine_type_t)0x1f)
SPOIL(no_address, attr->ip_port[0] = '\0')
SPOIL(unterminated, memset(attr->ip_port, '1', sizeof attr->ip_port))
SPOIL(instance_255, attr->instance_id = 255)
SPOIL(instance_wide, attr->instance_id = (UINT64_C(1) << 32) + 1)
SPOIL(no_plugin, (void)attr; setenv("SHMEM_BOOTSTRAP_MPI_LIB", "no_such_plugin.so", 1))
SPOIL(no_scheme, strcpy(attr->ip_port, "127.0.0.1:9999"))
SPOIL(upper_scheme, strcpy(attr->ip_port, "TCP://127.0.0.1:9999"))
SPOIL(udp_scheme, strcpy(attr->ip_port, "udp://127.0.0.1:9999"))
SPOIL(no_port, strcpy(attr->ip_port, "tcp://127.0.0.1"))
SPOIL(no_host, strcpy(attr->ip_port, "tcp://:9999"))
SPOIL(v6_after_tcp, strcpy(attr->ip_port, "tcp://[::1]:9999"))
SPOIL(v4_after_tcp6, strcpy(attr->ip_port, "tcp6://127.0.0.1:9999"))
SPOIL(v6_bare, strcpy(attr->ip_port, "tcp6://::1:9999"))
SPOIL(port_0, strcpy(attr->ip_port, "tcp://127.0.0.1:0"))
SPOIL(port_80, strcpy(attr->ip_port, "tcp://127.0.0.1:80"))
SPOIL(port_1024, strcpy(attr->ip_port, "tcp://127.0.0.1:1024"))
SPOIL(port_65536, strcpy(attr->ip_port, "tcp://127.0.0.1:65536"))
SPOIL(port_12a, strcpy(attr->ip_port, "tcp://127.0.0.1:12a"))
SPOIL(port_minus, strcpy(attr->ip_port, "tcp://127.0.0.1:-5"))
SPOIL(port_blank, strcpy(attr->ip_port, "tcp://127.0.0.1: 9999"))

/* [I-06] to [I-11] [I-13] [I-14] [I-17] [B-06] to [B-10] [U-06] [X-05] [X-22] [M-05] */
static const bad_argument_t bad_arguments[] = {
    {"my_pe -1", -2, 1, pe_negative},
    {"n_pes 16385", -2, 1, pes_many},
    {"n_pes 0", -2, 1, pes_none},
    {"n_pes -3", -2, 1, pes_negative},
    {"my_pe n_pes", -1, 1, pe_is_count},
    {"heap 0", -2, 1, heap_none},
    {"heap 40 GiB + 1", -2, 1, heap_huge},
    {"shm_init_timeout 0", -2, 1, no_init_time},
    {"control_operation_timeout 0", -2, 1, no_control_time},
    {"engine 0", -2, 1, no_engine},
    {"engine 0x10", -2, 1, engine_16},
    {"engine 0x1f", -2, 1, engine_31},
    {"flags 0", -1, 0, nothing},
    {"flags 4", -1, 4, nothing},
    {"id mode without id", -1, ACLSHMEMX_INIT_WITH_UNIQUEID, nothing},
    {"mpi without plugin", -2, ACLSHMEMX_INIT_WITH_MPI, no_plugin},
    {"no address", -1, 1, no_address},
    {"address without terminator", -1, 1, unterminated},
    {"instance 255", -2, 1, instance_255},
    {"instance 2^32 + 1", -2, 1, instance_wide},
    {"no scheme", -1, 1, no_scheme},
    {"TCP://", -1, 1, upper_scheme},
    {"udp://", -1, 1, udp_scheme},
    {"no port", -1, 1, no_port},
    {"no host", -1, 1, no_host},
    {"tcp://[::1]", -1, 1, v6_after_tcp},
    {"tcp6://127.0.0.1", -1, 1, v4_after_tcp6},
    {"tcp6://::1", -1, 1, v6_bare},
    {"port 0", -1, 1, port_0},
    {"port 80", -1, 1, port_80},
    {"port 1024", -1, 1, port_1024},
    {"port 65536", -1, 1, port_65536},
    {"port 12a", -1, 1, port_12a},
    {"port -5", -1, 1, port_minus},
    {"port blank", -1, 1, port_blank},
};

static void bad_argument_bodies(job_t *job, int pe)
{
    quiet_log();
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, NULL), ACLSHMEM_INVALID_PARAM); /* [I-16] */
    for (size_t i = 0; i < sizeof bad_arguments / sizeof bad_arguments[0]; i++) {
        const bad_argument_t *row = &bad_arguments[i];
        aclshmemx_init_attr_t attr = job_attr(job, pe);
        row->spoil(&attr);
        aclshmemx_clear_error();
        int rc = aclshmemx_init_attr(row->flags, &attr), code = 0;
        t_check_that(rc == row->expected, "%s: init gave %d, expected %d", row->what, rc, row->expected);
        t_check_that(aclshmemx_last_error(&code)[0] != '\0' && code == rc, "%s: no words for code %d",
                     row->what, rc);
        t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    }
    aclshmemx_set_extern_logger(NULL);
    job_enter(job, pe); /* and nothing of it left a trace */
    job_leave();
}

/* [I-02] [I-03] [I-29] [B-01] Two PEs meet, and everything is as given; afterwards nothing is left. */
static void plain_round(job_t *job, int pe)
{
    job_enter(job, pe);
    t_check(aclshmemx_get_heap_base(DEVICE_SIDE) != NULL);
    aclshmemx_heap_info_t info;
    t_check_int(aclshmemx_heap_info(DEVICE_SIDE, &info), 0);
    t_check_uint(info.size, job->heap_bytes + ACLSHMEM_EXTRA_SIZE);
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    t_check(word != NULL);
    aclshmem_int32_p(word, pe + 1, (pe + 1) % job->n_pes);
    aclshmem_barrier_all();
    t_check_int(*word, (pe + job->n_pes - 1) % job->n_pes + 1);
    aclshmem_free(word);
    job_leave();
    t_check_int(aclshmem_my_pe(), -1);
    t_check_int(aclshmem_n_pes(), -1);
    t_check(aclshmemx_get_heap_base(DEVICE_SIDE) == NULL);
}

/* [I-05] The short names are the same calls. */
static void short_names(job_t *job, int pe)
{
    shmem_init_attr_t attr = job_attr(job, pe);
    t_check_int(shmem_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    t_check_int(shmem_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    t_check_int(shmem_my_pe(), pe);
    t_check_int(shmem_finalize(), 0);
}

/* [I-19] [B-14] A second init is refused and the first one lives on. */
static void init_twice(job_t *job, int pe)
{
    job_enter(job, pe);
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    quiet_log();
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), ACLSHMEM_INNER_ERROR);
    aclshmemx_set_extern_logger(NULL);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    void *p = aclshmem_malloc(64);
    t_check(p != NULL);
    aclshmem_barrier_all();
    job_leave();
    job_enter(job, pe);
    job_leave();
}

/* [I-20] [I-33] [B-15] Many rounds on one port; nothing grows, also with blocks still alive at the end of a round. */
static void many_rounds(job_t *job, int pe)
{
    int rounds = *(int *)job->arg;
    t_resources_t before = {0};
    for (int i = 0; i < rounds; i++) {
        job_enter(job, pe);
        t_check(aclshmem_malloc(4096) != NULL);
        t_check(aclshmemx_malloc(4096, HOST_SIDE) != NULL);
        aclshmem_barrier_all();
        job_leave();
        if (i == 4)
            before = t_resources_now();
    }
    t_resources_expect(&before, 4, 4096);
}

/* [I-31] Nothing of the caller's is read after init. */
static __attribute__((noinline)) void init_from_a_stack_that_goes(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    memset(&attr, 0xff, sizeof attr);
    __asm__ volatile("" ::"r"(&attr) : "memory");
}

static void attributes_gone(job_t *job, int pe)
{
    init_from_a_stack_that_goes(job, pe);
    t_check(aclshmemx_malloc(4096, HOST_SIDE) != NULL);
    job_leave();
}

/* [I-25] [I-27] A heap that is no multiple of 2 MiB, on all PEs; then the right one in the same processes. */
static void odd_heap(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    attr.local_mem_size += 4096;
    quiet_log();
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), ACLSHMEM_SMEM_ERROR);
    job_check_error(ACLSHMEM_SMEM_ERROR, "multiple of 2 MiB");
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    aclshmemx_set_extern_logger(NULL);
    job_enter(job, pe);
    job_leave();
}

/* [I-26] [I-27] [B-29] PEs that disagree are all told so, long before any time-out, and can try again. */
static void disagree(job_t *job, int pe, int n_pes, uint64_t heap_bytes, const char *word)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    attr.local_mem_size = heap_bytes;
    attr.n_pes = n_pes;
    quiet_log();
    uint64_t started = t_now_ms();
    int rc = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), code = 0;
    t_check_that(rc != 0, "PE %d entered a job that disagrees", pe);
    t_check_that(strstr(aclshmemx_last_error(&code), word) != NULL, "PE %d: \"%s\" does not name \"%s\"", pe,
                 aclshmemx_last_error(NULL), word);
    t_check(t_now_ms() - started < 20000);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    aclshmemx_set_extern_logger(NULL);
}

static void different_heaps(job_t *job, int pe)
{
    disagree(job, pe, job->n_pes, job->heap_bytes * (uint64_t)(pe + 1), "local_mem_size");
    job_enter(job, pe);
    job_leave();
}

static void different_counts(job_t *job, int pe)
{
    disagree(job, pe, pe == 0 ? 2 : 3, job->heap_bytes, "PE");
}

/* [B-30] Two PEs with one number: the second is refused with words. */
static void same_number(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe == 2 ? 1 : pe);
    attr.option_attr.shm_init_timeout = 5;
    attr.option_attr.control_operation_timeout = 5;
    quiet_log();
    t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0);
    aclshmemx_set_extern_logger(NULL);
}

/* [I-12] Address space is reserved, memory is used when touched. */
static void huge_heap(job_t *job, int pe)
{
    job->heap_bytes = UINT64_C(38) << 30;
    t_resources_t before = t_resources_now();
    uint64_t started = t_now_ms();
    job_enter(job, pe);
    t_check_that(t_now_ms() - started < 20000, "init took %llu ms",
                 (unsigned long long)(t_now_ms() - started));
    char *p = aclshmem_malloc((UINT64_C(38) << 30) - 4096);
    t_check(p != NULL);
    p[UINT64_C(37) << 30] = 1;
    aclshmem_barrier_all();
    t_check_int(aclshmem_char_g(&p[UINT64_C(37) << 30], (pe + 1) % job->n_pes), 1);
    t_check(t_resources_now().resident_kib < before.resident_kib + 65536);
    job_leave();
}

/* [B-18] [B-19] A socket of the caller's, good and bad; it stays the caller's. */
static void own_socket(job_t *job, int pe)
{
    int fd = *(int *)job->arg;
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    if (pe == 0)
        attr.option_attr.sockFd = fd;
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), 0);
    job_leave();
    if (pe != 0)
        return;
    t_check(fcntl(fd, F_GETFD) >= 0);
    attr.option_attr.shm_init_timeout = 2;
    attr.option_attr.control_operation_timeout = 2;
    quiet_log();
    attr.option_attr.sockFd = 1000; /* not open */
    t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* open, and no socket */
    attr.option_attr.sockFd = null;
    t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0);
    t_check(fcntl(null, F_GETFD) >= 0);
    close(null);
    aclshmemx_set_extern_logger(NULL);
}

static void run_own_socket(void)
{
    job_t job;
    job_init(&job, 2);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof addr;
    t_check(fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0);
    t_check_int(getsockname(fd, (struct sockaddr *)&addr, &length), 0);
    snprintf(job.ip_port, sizeof job.ip_port, "tcp://127.0.0.1:%u", ntohs(addr.sin_port));
    job.arg = &fd;
    job_run(&job, own_socket);
    close(fd);
}

/* [I-23] [U-22] An address that is not ours, then a good one. */
static void foreign_address(job_t *job, int pe)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    strcpy(attr.ip_port, "tcp://123.45.67.89:2345");
    attr.option_attr.shm_init_timeout = 3;
    quiet_log();
    uint64_t started = t_now_ms();
    t_check_int(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr), ACLSHMEM_INNER_ERROR);
    t_check(t_now_ms() - started < 10000);
    t_check_int(aclshmem_finalize(), 0);
    aclshmemx_set_extern_logger(NULL);
    job_enter(job, pe);
    job_leave();
}

/* [E-06] No device chosen: the runtime's code comes through. */
static void no_device(void *argument)
{
    job_t *job = argument;
    aclshmemx_init_attr_t attr = job_attr(job, 0);
    quiet_log();
    t_check(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0);
    t_check_int(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    t_check(strstr(aclshmemx_last_error(NULL), "device") != NULL);
}

/* [F-21] The standard descriptors may be closed. */
static void closed_descriptors(job_t *job, int pe)
{
    close(0);
    close(1);
    job_enter(job, pe);
    job_leave();
}

static void run(const char *name, int n_pes, job_body_t *body, void *arg)
{
    job_t job;
    (void)name;
    job_init(&job, n_pes);
    job.arg = arg;
    job_run(&job, body);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    aclshmemx_set_extern_logger(t_log_callback);
    before_anything();
    aclshmemx_set_extern_logger(NULL);
    run("bad arguments", 1, bad_argument_bodies, NULL);
    run("alone", 1, plain_round, NULL); /* [I-04] */
    run("two", 2, plain_round, NULL);
    run("five", 5, plain_round, NULL);
    run("short names", 2, short_names, NULL);
    run("twice", 2, init_twice, NULL);
    run("rounds alone", 1, many_rounds, &rounds);
    run("rounds", 3, many_rounds, &rounds);
    run("stack", 2, attributes_gone, NULL);
    run("odd heap", 2, odd_heap, NULL);
    run("heaps", 3, different_heaps, NULL);
    run("counts", 2, different_counts, NULL);
    run("numbers", 3, same_number, NULL);
    setenv("SHMEM_CPU_HBM_SIZE", "200G", 1); /* a card that has room for it */
    run("huge", 2, huge_heap, NULL);
    unsetenv("SHMEM_CPU_HBM_SIZE");
    run_own_socket();
    run("foreign", 1, foreign_address, NULL);
    run("closed", 2, closed_descriptors, NULL);
    job_t job;
    job_init(&job, 1);
    t_child_t child;
    t_run_function(&child, no_device, &job, 30000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    return 0;
}
