/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an observer of the network sees of a job: TLS 1.3 records by default and in every mode of meeting, and readable
 * frames only when TLS was switched off. [T-01] [T-02] [T-03] Captured with a packet socket on the loopback interface of a
 * network namespace of our own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job/job.h"

enum { CAPTURE_MAX = 8 << 20 };

static struct capture {
    int fd;
    unsigned char *bytes; /* TCP payloads, one after the other */
    size_t size;
    unsigned client_hellos, tls_records, tls13_offers, other;
} cap;

static bool holds(const unsigned char *bytes, size_t size, const void *part, size_t part_size)
{
    return memmem(bytes, size, part, part_size) != NULL;
}

/* A payload is either TLS records (first byte 20..23, version 3.x) or something else. */
static void classify(const unsigned char *payload, size_t size)
{
    static const unsigned char versions_tls13[] = {0x00, 0x2b}, tls13[] = {0x03, 0x04};
    if (size >= 5 && payload[0] >= 20 && payload[0] <= 23 && payload[1] == 3) {
        cap.tls_records++;
        if (payload[0] == 22 && size > 5 && payload[5] == 1) {
            cap.client_hellos++;
            cap.tls13_offers += holds(payload, size, versions_tls13, 2) && holds(payload, size, tls13, 2);
        }
    } else {
        cap.other++;
    }
}

static void take_packet(const unsigned char *frame, size_t size)
{
    const unsigned char *ip = frame + ETH_HLEN;
    if (size < ETH_HLEN + 40 || ip[9] != IPPROTO_TCP)
        return;
    size_t header = (size_t)(ip[0] & 15) * 4, total = (size_t)ip[2] << 8 | ip[3];
    const unsigned char *tcp = ip + header;
    size_t offset = header + (size_t)(tcp[12] >> 4) * 4;
    if (total <= offset || ETH_HLEN + total > size)
        return;
    size_t payload = total - offset;
    classify(ip + offset, payload);
    if (cap.size + payload <= CAPTURE_MAX)
        memcpy(cap.bytes + cap.size, ip + offset, payload);
    cap.size += payload;
}

/* The socket's buffer holds the whole job, so nothing needs to run beside it. */
static void take_all(void)
{
    static unsigned char frame[70000];
    struct sockaddr_ll from;
    for (ssize_t size = 0; size >= 0;) {
        socklen_t length = sizeof from;
        size = recvfrom(cap.fd, frame, sizeof frame, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
        if (size > 0 && from.sll_pkttype != PACKET_OUTGOING) /* loopback shows each packet twice */
            take_packet(frame, (size_t)size);
    }
}

static void capture_start(void)
{
    memset(&cap, 0, sizeof cap);
    cap.bytes = malloc(CAPTURE_MAX);
    cap.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
    if (cap.fd < 0)
        t_skip("no packet socket: %s", strerror(errno));
    int room = 32 << 20;
    t_check(cap.bytes != NULL && setsockopt(cap.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) == 0);
}

static void capture_stop(void)
{
    struct tpacket_stats lost;
    socklen_t length = sizeof lost;
    take_all();
    t_check(getsockopt(cap.fd, SOL_PACKET, PACKET_STATISTICS, &lost, &length) == 0 && lost.tp_drops == 0);
    close(cap.fd);
}

/* A job that makes the control plane carry a size nobody would send by chance. */
static void body_with(job_t *job, int pe, aclshmemx_bootstrap_t mode)
{
    aclshmemx_init_attr_t attr = job_attr(job, pe);
    if (mode == ACLSHMEMX_INIT_WITH_UNIQUEID)
        attr.comm_args = job->arg;
    int rc = aclshmemx_init_attr(mode, &attr);
    t_check_that(rc == 0, "init gave %d: %s", rc, aclshmemx_last_error(NULL));
    void *p = aclshmem_malloc(0x123450);
    t_check(p != NULL);
    aclshmem_free(p);
    job_leave();
}

static void by_address(job_t *job, int pe)
{
    body_with(job, pe, ACLSHMEMX_INIT_WITH_DEFAULT);
}

static void by_address_plain(job_t *job, int pe)
{
    t_check_int(aclshmemx_set_conf_store_tls(false, NULL, 0), 0);
    body_with(job, pe, ACLSHMEMX_INIT_WITH_DEFAULT);
}

static void by_id(job_t *job, int pe)
{
    /* PE 0 makes the id and hands it over through a pipe of the test */
    int *pipes = job->arg;
    aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
    if (pe == 0) {
        t_check_int(aclshmemx_get_uniqueid(&id), 0);
        for (int i = 1; i < job->n_pes; i++)
            t_check(write(pipes[1], &id, sizeof id) == (ssize_t)sizeof id);
    } else {
        t_check(read(pipes[0], &id, sizeof id) == (ssize_t)sizeof id);
    }
    job->arg = &id;
    body_with(job, pe, ACLSHMEMX_INIT_WITH_UNIQUEID);
}

static void run(job_body_t *body, void *arg, bool encrypted)
{
    static const char word[] =
        "local_mem_size"; /* of the first frame; part of "malloc" requests is the size below */
    static const unsigned char size_bytes[] = {0x50, 0x34, 0x12, 0, 0, 0, 0, 0};
    job_t job;
    job_init(&job, 3);
    job.arg = arg;
    capture_start();
    job_run(&job, body);
    capture_stop();
    t_check(cap.size > 1000 && cap.size < CAPTURE_MAX);
    bool readable = holds(cap.bytes, cap.size, word, sizeof word - 1) ||
                    holds(cap.bytes, cap.size, size_bytes, sizeof size_bytes);
    t_check_int(readable, !encrypted);
    if (encrypted) {
        /* PE 0's own link need not touch the network */
        t_check_that(cap.client_hellos >= 2 && cap.tls13_offers == cap.client_hellos,
                     "%u client hellos, %u of them offer TLS 1.3", cap.client_hellos, cap.tls13_offers);
        t_check_int(cap.other, 0);
    } else {
        t_check_int(cap.client_hellos, 0);
    }
    free(cap.bytes);
}

int main(void)
{
    char home[256];
    int pipes[2];
    t_clean_environment();
    if (!t_unshare_network())
        t_skip("no network namespace of our own is to be had");
    t_dir_make(home, sizeof home);
    setenv("XDG_CONFIG_HOME", home, 1); /* no secret file yet: it is made by this run */
    run(by_address, NULL, true);
    run(by_address_plain, NULL, false);
    t_check_int(pipe(pipes), 0);
    run(by_id, pipes, true);
    t_dir_remove(home);
    return 0;
}
