/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing memory across namespaces, as between containers: where it works, and what is said where it cannot. */
/* */
#include "share_peer.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int extra; /* what it takes to be allowed the others: nothing, or a user namespace */

static int try_unshare(void *flags)
{
    return unshare(*(const int *)flags) == 0 ? 0 : 77;
}

static bool permitted(void)
{
    for (int i = 0; i < 2; i++) {
        int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | (i == 0 ? 0 : CLONE_NEWUSER);

        if (t_fork(try_unshare, &flags) == 0) {
            extra = flags & CLONE_NEWUSER;
            return true;
        }
    }
    return false;
}

/* Back and forth between a peer there and one here. */
static void exchange(int flags, bool without_proc)
{
    t_peer_t there, here;

    assert_true(t_peer_start(&there, flags | extra));
    assert_true(t_peer_start(&here, 0));
    if (without_proc && !t_peer_hide_proc(&there)) {
        assert_int_not_equal(extra, 0); /* root may */
        t_peer_end(&there);
        t_peer_end(&here);
        skip();
    }
    const size_t inheritable = t_peer_holdings(&here).inheritable;
    for (int i = 0; i < 50; i++) {
        const t_peer_t *const owner = i % 2 == 0 ? &there : &here;
        const t_peer_t *const user = i % 2 == 0 ? &here : &there;

        t_peer_take(user, t_peer_make(owner));
        t_peer_write(owner, (unsigned char)i);
        assert_int_equal(t_peer_read(user), i);
        t_peer_write(user, (unsigned char)(200 - i));
        assert_int_equal(t_peer_read(owner), 200 - i);
        assert_int_equal(t_peer_holdings(&here).inheritable, inheritable);
        t_peer_drop(owner);
        t_peer_drop(user);
    }
    t_peer_end(&there);
    t_peer_end(&here);
}

static void other_mounts_and_ipc(void **state)
{
    (void)state;
    exchange(CLONE_NEWNS | CLONE_NEWIPC, false);
}

static void other_processes(void **state)
{
    (void)state;
    exchange(CLONE_NEWPID, false);
}

static void all_but_the_network(void **state)
{
    (void)state;
    exchange(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWUTS, false);
}

static void no_proc_at_all(void **state)
{
    (void)state;
    exchange(CLONE_NEWNS | CLONE_NEWPID, true);
}

static void other_network_says_so(void **state)
{
    t_peer_t there, here;

    (void)state;
    assert_true(t_peer_start(&there, CLONE_NEWNET | extra));
    assert_true(t_peer_start(&here, 0));
    const t_reply_t reply = t_peer_do(&here, (t_request_t){.what = 't', .shared = t_peer_make(&there)});
    assert_int_equal(reply.error, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    assert_non_null(strstr(reply.text, "another network namespace"));
    t_peer_end(&there);
    t_peer_end(&here);
}

/* The owner's socket, as anybody can see it: the one listed whose name is somewhere in the handle. */
static size_t find_socket(const aclrtMemFabricHandle *shared, struct sockaddr_un *address)
{
    char line[256], name[64];
    size_t length = 0;
    FILE *const list = fopen("/proc/net/unix", "re");

    assert_non_null(list);
    while (length == 0 && fgets(line, sizeof line, list) != NULL) {
        unsigned char bytes[16];

        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s @%32[0-9a-f]", name) != 1 || strlen(name) != 32)
            continue;
        for (size_t i = 0; i < 16; i++)
            (void)sscanf(name + 2 * i, "%2hhx", &bytes[i]);
        if (memmem(shared->data, sizeof shared->data, bytes, sizeof bytes) == NULL)
            continue;
        memset(address, 0, sizeof *address);
        address->sun_family = AF_UNIX;
        memcpy(address->sun_path + 1, name, 32);
        length = offsetof(struct sockaddr_un, sun_path) + 33;
    }
    (void)fclose(list);
    return length;
}

/* Strangers on the socket: idle ones, loud ones, more than the server holds at a time. */
static void strangers_do_no_harm(void **state)
{
    enum { STRANGERS = 100 };
    int strangers[STRANGERS];
    struct sockaddr_un address;
    t_peer_t owner, user;
    char junk[4096];

    (void)state;
    memset(junk, 0x5a, sizeof junk);
    assert_true(t_peer_start(&owner, CLONE_NEWPID | extra)); /* so that /proc is no way to it */
    assert_true(t_peer_start(&user, 0));
    const aclrtMemFabricHandle shared = t_peer_make(&owner);
    const t_holdings_t before = t_peer_holdings(&owner);
    const socklen_t length = (socklen_t)find_socket(&shared, &address);
    assert_true(length > 0);
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        assert_true(strangers[i] >= 0);
        assert_int_equal(connect(strangers[i], (const struct sockaddr *)(const void *)&address, length), 0);
        if (i % 2 == 0)
            (void)send(strangers[i], junk, (size_t)i * 40 + 1, MSG_NOSIGNAL);
    }
    t_peer_take(&user, shared);
    t_peer_write(&owner, 9);
    assert_int_equal(t_peer_read(&user), 9);
    /* All of them are shown the door, without anything in hand. */
    for (int i = 0; i < STRANGERS; i++) {
        char byte;
        struct pollfd one = {.fd = strangers[i], .events = POLLIN};

        assert_int_equal(poll(&one, 1, 20000), 1);
        assert_true(recv(strangers[i], &byte, 1, MSG_DONTWAIT) <= 0);
        (void)close(strangers[i]);
    }
    assert_int_equal(t_peer_holdings(&owner).descriptors, before.descriptors);
    t_peer_end(&owner);
    t_peer_end(&user);
}

typedef struct stranger {
    struct sockaddr_un address;
    socklen_t length;
    char request[24]; /* well formed, with a token nobody has given out */
} stranger_t;

/* Asks as the user given; 0: hung up on, 1: answered. */
static int ask(const stranger_t *stranger, uid_t user)
{
    char answer[64];
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (setresuid(user, user, user) != 0 || fd < 0 ||
        connect(fd, (const struct sockaddr *)(const void *)&stranger->address, stranger->length) != 0)
        return 2;
    (void)send(fd, stranger->request, sizeof stranger->request, MSG_NOSIGNAL);
    return recv(fd, answer, sizeof answer, 0) > 0 ? 1 : 0;
}

static int ask_as_me(void *stranger)
{
    return ask(stranger, geteuid());
}

static int ask_as_nobody(void *stranger)
{
    return ask(stranger, 65534);
}

static void other_users_are_not_served(void **state)
{
    stranger_t stranger = {0};
    t_peer_t owner, user;

    (void)state;
    if (extra != 0 || geteuid() != 0)
        skip(); /* only root may become somebody else */
    assert_true(t_peer_start(&owner, CLONE_NEWPID));
    assert_true(t_peer_start(&user, 0));
    const aclrtMemFabricHandle shared = t_peer_make(&owner);
    stranger.length = (socklen_t)find_socket(&shared, &stranger.address);
    memcpy(stranger.request, shared.data, 4); /* how both begin */
    assert_int_equal(t_fork(ask_as_me, &stranger), 1);
    assert_int_equal(t_fork(ask_as_nobody, &stranger), 0);
    (void)t_peer_do(&user, (t_request_t){.what = 'n'});
    const t_reply_t reply = t_peer_do(&user, (t_request_t){.what = 't', .shared = shared});
    assert_int_equal(reply.error, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    assert_non_null(strstr(reply.text, "user 65534 cannot map it"));
    t_peer_end(&owner);
    t_peer_end(&user);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_mounts_and_ipc),       cmocka_unit_test(other_processes),
        cmocka_unit_test(all_but_the_network),        cmocka_unit_test(no_proc_at_all),
        cmocka_unit_test(other_network_says_so),      cmocka_unit_test(strangers_do_no_harm),
        cmocka_unit_test(other_users_are_not_served),
    };

    if (argc > 1 && strcmp(argv[1], "peer") == 0)
        return t_peer_main();
    if (!permitted()) {
        print_message("skipped: this process may not make namespaces\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
