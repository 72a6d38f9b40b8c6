/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of three PEs, two of which join and then send what the input says: links (link.c), the dispatch of frames
 * (server.c), collectives, payloads, the tree, the table and the ends. Input: records of
 *     1 byte: bit 7 which PE, bit 6 raw bytes instead of a frame, low 6 bits type    2 bytes: length    payload
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_MODULE "fuzz"
#include "host/bootstrap/store/server_inside.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static aclshmemi_store_loop_t *loop;
static aclshmemi_store_server_t *server;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return aclshmemi_log_set_level(ACLSHMEMI_LOG_FATAL);
}

static void closed(void *owner)
{
    (void)owner;
}

static void send_frame(int fd, int type, uint32_t epoch, uint32_t sequence, const uint8_t *body, size_t size)
{
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    aclshmemi_store_header_t header = {
        .type = (int16_t)type, .length = (uint32_t)size, .sequence = sequence, .epoch = epoch};
    aclshmemi_store_header_encode(&header, head);
    (void)!send(fd, head, sizeof head, MSG_NOSIGNAL);
    if (size > 0)
        (void)!send(fd, body, size, MSG_NOSIGNAL);
}

static void turn_and_drain(const int fds[2])
{
    static uint8_t bytes[1 << 16];
    for (int i = 0; i < 3; i++)
        aclshmemi_store_loop_turn(loop, 0);
    for (int i = 0; i < 2; i++) {
        while (recv(fds[i], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            ;
    }
}

static int join(uint32_t rank, const aclshmemi_fingerprint_t *agree)
{
    int pair[2];
    aclshmemi_writer_t body;
    aclshmemi_store_hello_t hello = {.version = ACLSHMEMI_STORE_VERSION,
                                     .magic = 7,
                                     .rank = rank,
                                     .n_pes = 3,
                                     .build = "b",
                                     .agree = *agree};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        abort();
    if (aclshmemi_store_server_admit(server, pair[0]) != 0)
        abort();
    aclshmemi_writer_init(&body, 4096);
    aclshmemi_store_hello_encode(&hello, &body);
    send_frame(pair[1], ACLSHMEMI_STORE_HELLO, 0, 0, body.data, body.size);
    aclshmemi_writer_fini(&body);
    return pair[1];
}

static void play(const int fds[2], const uint8_t *data, size_t size)
{
    uint32_t sequence = 0;
    while (size >= 3) {
        uint8_t what = data[0];
        size_t length = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        length = length < size ? length : size;
        int fd = fds[what >> 7];
        if (what & 0x40)
            (void)!send(fd, data, length, MSG_NOSIGNAL);
        else
            send_frame(fd, what & 0x3f, server->epoch, ++sequence, data, length);
        data += length;
        size -= length;
        turn_and_drain(fds);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aclshmemi_store_server_params_t params = {.n_pes = 3,
                                              .magic = 7,
                                              .build = "b",
                                              .tree_above = size > 0 && data[0] & 1 ? 1 : 64,
                                              .fanout = 2,
                                              .wait_report_ms = 1,
                                              .waiting_max = 8,
                                              .listen_fd = -1};
    params.agree = aclshmemi_fingerprint("init", "", 0, NULL);
    if (aclshmemi_store_loop_create(&loop) != 0 || aclshmemi_store_server_create(loop, &params, &server) != 0)
        abort();
    int fds[2] = {join(0, &params.agree), join(1, &params.agree)};
    turn_and_drain(fds);
    if (aclshmemi_store_server_joined(server) != 2)
        abort();
    if (size > 0)
        play(fds, data + 1, size - 1);
    close(fds[1]);
    turn_and_drain(fds);
    aclshmemi_store_server_close(server, aclshmemi_clock_ns(), closed, NULL);
    turn_and_drain(fds);
    aclshmemi_store_server_destroy(server);
    aclshmemi_store_loop_destroy(loop);
    close(fds[0]);
    return 0;
}
