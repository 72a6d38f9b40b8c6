/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE 5 of a job of 12 with a tree, in the middle of an exchange, and a PE 0 that sends what the input says: dial.c,
 * client.c, client_collect.c, client_tree.c. Input: records of
 *     1 byte: bit 6 raw bytes instead of a frame, low 6 bits type    1 byte: sequence    2 bytes: length    payload
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_MODULE "fuzz"
#include "host/bootstrap/store/client.h"

#define EPOCH 0x01020304

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static aclshmemi_store_loop_t *loop;
static int answers;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return aclshmemi_log_set_level(ACLSHMEMI_LOG_FATAL);
}

static void send_frame(int fd, int type, int result, uint32_t epoch, uint32_t sequence, const uint8_t *body,
                       size_t size)
{
    uint8_t head[ACLSHMEMI_STORE_HEADER_LEN];
    aclshmemi_store_header_t header = {.type = (int16_t)type,
                                       .result = (int16_t)result,
                                       .length = (uint32_t)size,
                                       .sequence = sequence,
                                       .epoch = epoch};
    aclshmemi_store_header_encode(&header, head);
    (void)!send(fd, head, sizeof head, MSG_NOSIGNAL);
    if (size > 0)
        (void)!send(fd, body, size, MSG_NOSIGNAL);
}

static void turn_and_drain(int fd)
{
    static uint8_t bytes[1 << 16];
    for (int i = 0; i < 3; i++)
        aclshmemi_store_loop_turn(loop, 0);
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

static void data_came(aclshmemi_store_collect_t *collect, size_t offset, size_t size, const uint8_t *data)
{
    uint8_t sum = 0;
    if (offset + size > collect->bytes)
        abort();
    for (size_t i = 0; i < 12 * size; i++)
        sum ^= data[i]; /* all of it can be read */
    answers += sum == 0xff;
}

static void done(aclshmemi_store_collect_t *collect, int result, const char *text)
{
    (void)collect;
    answers += result == 0 || text[0] != 0;
}

static void call_done(aclshmemi_store_call_t *call, int result, const uint8_t *body, size_t size,
                      const char *text)
{
    uint8_t sum = 0;
    (void)call, (void)result, (void)text;
    for (size_t i = 0; i < size; i++)
        sum ^= body[i];
    answers += sum == 0xff;
}

static void welcome(int fd, bool tree)
{
    aclshmemi_store_welcome_t answer = {.epoch = EPOCH, .fanout = tree ? 2 : 0};
    aclshmemi_writer_t body;
    aclshmemi_writer_init(&body, 4096);
    aclshmemi_store_welcome_encode(&answer, &body);
    send_frame(fd, ACLSHMEMI_STORE_HELLO, 0, 0, 1, body.data, body.size);
    aclshmemi_writer_fini(&body);
}

static void play(int fd, const uint8_t *data, size_t size)
{
    while (size >= 4) {
        uint8_t what = data[0];
        size_t length = (size_t)data[2] | (size_t)data[3] << 8;
        uint32_t sequence = data[1];
        data += 4;
        size -= 4;
        length = length < size ? length : size;
        if (what & 0x40)
            (void)!send(fd, data, length, MSG_NOSIGNAL);
        else
            send_frame(fd, what & 0x3f, what & 0x80 ? ACLSHMEM_SMEM_ERROR : 0, EPOCH, sequence, data, length);
        data += length;
        size -= length;
        turn_and_drain(fd);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const aclshmemi_store_client_ops_t ops;
    static uint8_t payload[40];
    int pair[2];
    aclshmemi_store_client_t *client;
    aclshmemi_store_call_t call = {.done = call_done};
    aclshmemi_store_collect_t collect = {.kind = ACLSHMEMI_STORE_ALLGATHER,
                                         .send = payload,
                                         .bytes = sizeof payload,
                                         .data = data_came,
                                         .done = done};
    if (size == 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return 0;
    aclshmemi_store_client_params_t params = {.pe = 5,
                                              .n_pes = 12,
                                              .magic = 7,
                                              .build = "b",
                                              .fd = pair[0],
                                              .join_deadline = ACLSHMEMI_NEVER,
                                              .operation_timeout_ms = 1000};
    if (aclshmemi_store_loop_create(&loop) != 0 ||
        aclshmemi_store_client_create(loop, &params, &ops, NULL, &client) != 0)
        abort();
    turn_and_drain(pair[1]);
    if (data[0] & 1)
        welcome(pair[1], data[0] & 2);
    turn_and_drain(pair[1]);
    aclshmemi_store_client_collect(client, &collect);
    aclshmemi_store_client_exit(client, &call, 3, aclshmemi_deadline_after_ms(1000));
    turn_and_drain(pair[1]);
    play(pair[1], data + 1, size - 1);
    close(pair[1]);
    for (int i = 0; i < 3; i++)
        aclshmemi_store_loop_turn(loop, 0);
    aclshmemi_store_client_destroy(client);
    aclshmemi_store_loop_destroy(loop);
    return 0;
}
