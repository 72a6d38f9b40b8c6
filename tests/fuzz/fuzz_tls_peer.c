/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a stranger can send before anybody knows who it is: aclshmemi_channel_handshake and _read of a client, a
 * server and a plain channel, with the judging of first bytes, notices and names of keys below them. Beyond not crashing:
 * nobody who does not know the secret gets past a handshake, and a refusal has words.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/bootstrap/tls/psk.h"
#include "host/bootstrap/tls/tls.h"

static aclshmemi_tls_context_t *context;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    aclshmemi_env_t env;
    uint8_t secret[ACLSHMEMI_SECRET_LEN] = {1};
    (void)argc;
    (void)argv;
    memset(&env, 0, sizeof env);
    env.conf_store_tls = true;
    env.secret_fd = -1;
    env.secret_file = "";
    expect(aclshmemi_tls_context_create(&env, secret, &context) == 0);
    return 0;
}

static void identity(const uint8_t *data, size_t size)
{
    aclshmemi_tls_kind_t kind = ACLSHMEMI_TLS_NONE;
    uint32_t hash;
    if (aclshmemi_psk_identity_parse(data, size, &kind, &hash))
        expect(size < ACLSHMEMI_PSK_IDENTITY_LEN && kind >= ACLSHMEMI_TLS_UID && kind <= ACLSHMEMI_TLS_USER);
}

/* Feeds the bytes in two parts, so that waits in the middle are met as well. */
static void connection(aclshmemi_tls_context_t *with, bool server, const uint8_t *data, size_t size)
{
    int fds[2];
    char got[64];
    aclshmemi_channel_t *channel = NULL;
    expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    expect(aclshmemi_channel_create(with, fds[0], server, &channel) == 0);
    size_t parts[2] = {size > 0 ? data[size - 1] % (size + 1) : 0, 0};
    parts[1] = size - parts[0];
    for (int i = 0; i < 2; i++) {
        if (parts[i] > 0)
            expect(write(fds[1], i ? data + parts[0] : data, parts[i]) == (ssize_t)parts[i]);
        if (i == 1)
            expect(shutdown(fds[1], SHUT_WR) == 0);
        int rc = aclshmemi_channel_handshake(channel);
        expect(rc == 0 || rc == ACLSHMEM_INNER_ERROR || rc == ACLSHMEMI_CHANNEL_WANT_READ);
        expect(!with == (rc == 0));
        expect(rc != ACLSHMEM_INNER_ERROR || strlen(aclshmemi_status_last_text()) > 0);
        expect(rc != ACLSHMEMI_CHANNEL_WANT_READ || i == 0); /* past the end there is nothing to wait for */
    }
    if (!with) {
        ssize_t n;
        while ((n = aclshmemi_channel_read(channel, got, sizeof got)) > 0)
            ;
        expect(n == ACLSHMEMI_CHANNEL_CLOSED || n == ACLSHMEM_INNER_ERROR);
    }
    aclshmemi_channel_destroy(channel, false);
    close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    identity(data, size);
    connection(context, true, data, size);
    connection(context, false, data, size);
    connection(NULL, true, data, size);
    return 0;
}
