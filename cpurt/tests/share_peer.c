/* SPDX-License-Identifier: Apache-2.0 */
/* The peer's side and the test's side of share_peer.h. */
#include "share_peer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_FD 3

/* --- The peer --- */

static aclrtDrvMemHandle memory;
static unsigned char *mapped;
static bool without_proc;

static aclError map_it(void)
{
    aclError error = aclrtReserveMemAddress((void **)&mapped, T_BYTES, 0, NULL, 1);

    if (error == ACL_SUCCESS)
        error = aclrtMapMem(mapped, T_BYTES, 0, memory, 0);
    return error;
}

static aclError make(aclrtMemFabricHandle *shared)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE,
                                       .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclError error = aclrtMallocPhysical(&memory, T_BYTES, &prop, 0);

    if (error == ACL_SUCCESS)
        error = map_it();
    if (error == ACL_SUCCESS)
        error = aclrtMemExportToShareableHandleV2(memory, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
                                                  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, shared);
    return error;
}

static aclError take(aclrtMemFabricHandle *shared)
{
    const aclError error =
        aclrtMemImportFromShareableHandleV2(shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &memory);

    return error == ACL_SUCCESS ? map_it() : error;
}

static aclError drop(void)
{
    aclError error = aclrtUnmapMem(mapped);

    if (error == ACL_SUCCESS)
        error = aclrtReleaseMemAddress(mapped);
    return error == ACL_SUCCESS ? aclrtFreePhysical(memory) : error;
}

static aclError hide_proc(void)
{
    without_proc = true;
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                   umount2("/proc", MNT_DETACH) == 0
               ? ACL_SUCCESS
               : ACL_ERROR_FAILURE;
}

static void obey(const t_request_t *request, t_reply_t *reply)
{
    aclrtMemFabricHandle shared = request->shared;

    switch (request->what) {
    case 'm':
        reply->error = make(&reply->shared);
        break;
    case 't':
        reply->error = take(&shared);
        break;
    case 'd':
        reply->error = drop();
        break;
    case 'w':
        mapped[0] = mapped[T_BYTES - 1] = request->value;
        break;
    case 'r':
        reply->value = mapped[0];
        reply->error = mapped[0] == mapped[T_BYTES - 1] ? ACL_SUCCESS : ACL_ERROR_FAILURE;
        break;
    case 'h':
        reply->holdings = t_holdings();
        break;
    case 'n':
        reply->error = setresuid(65534, 65534, 65534) == 0 ? ACL_SUCCESS : ACL_ERROR_FAILURE;
        break;
    case 'u':
        reply->error = hide_proc();
        break;
    default:
        reply->error = ACL_ERROR_INVALID_PARAM;
    }
    (void)snprintf(reply->text, sizeof reply->text, "%.255s", aclGetRecentErrMsg());
}

int t_peer_main(void)
{
    t_request_t request;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
        return 1;
    for (;;) {
        t_reply_t reply = {0};
        const ssize_t got = recv(PEER_FD, &request, sizeof request, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof request)
            break; /* the test is done, or gone */
        obey(&request, &reply);
        if (send(PEER_FD, &reply, sizeof reply, MSG_NOSIGNAL) != (ssize_t)sizeof reply)
            break;
    }
    const int code = aclFinalize() == ACL_SUCCESS ? 0 : 2;
    if (without_proc)
        _exit(code); /* what sanitizers do at exit needs /proc */
    return code;
}

/* --- The test --- */

/* In the child: other namespaces, then the program anew. A new pid namespace holds only children, hence the second
 * fork; the process in between passes on how it went. */
static void become_peer(const int pair[2], int flags)
{
    int status = 0, socket = pair[1];

    (void)close(pair[0]);
    if (dup2(socket, PEER_FD) != PEER_FD || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(3);
    if (flags != 0 && unshare(flags) != 0)
        _exit(77);
    if ((flags & CLONE_NEWPID) != 0) {
        const pid_t child = fork();

        if (child != 0) {
            (void)close(PEER_FD);
            if (socket != PEER_FD)
                (void)close(socket);
            _exit(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                                        : 4);
        }
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    (void)execl("/proc/self/exe", "peer", "peer", (char *)NULL);
    _exit(5);
}

bool t_peer_start(t_peer_t *peer, int flags)
{
    int pair[2], status = 0;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    (void)fflush(NULL);
    peer->pid = fork();
    assert_true(peer->pid >= 0);
    if (peer->pid == 0)
        become_peer(pair, flags);
    (void)close(pair[1]);
    peer->socket = pair[0];
    /* It answers once its runtime is up; where unshare is not permitted it ends instead. */
    t_request_t request = {.what = 'h'};
    t_reply_t reply;
    if (send(peer->socket, &request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request &&
        recv(peer->socket, &reply, sizeof reply, 0) == (ssize_t)sizeof reply)
        return true;
    (void)close(peer->socket);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 77);
    return false;
}

void t_peer_end(t_peer_t *peer)
{
    int status = -1;

    (void)close(peer->socket);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    assert_int_equal(status, 0);
}

void t_peer_kill(t_peer_t *peer)
{
    int status = -1;

    assert_int_equal(kill(peer->pid, SIGKILL), 0);
    assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
    assert_true(WIFSIGNALED(status));
    (void)close(peer->socket);
}

t_reply_t t_peer_do(const t_peer_t *peer, t_request_t request)
{
    t_reply_t reply = {0};

    assert_int_equal(send(peer->socket, &request, sizeof request, MSG_NOSIGNAL), (ssize_t)sizeof request);
    assert_int_equal(recv(peer->socket, &reply, sizeof reply, 0), (ssize_t)sizeof reply);
    return reply;
}

static t_reply_t must(const t_peer_t *peer, t_request_t request)
{
    const t_reply_t reply = t_peer_do(peer, request);

    if (reply.error != ACL_SUCCESS)
        fail_msg("peer %d, request %c: %d: %s", (int)peer->pid, request.what, reply.error, reply.text);
    return reply;
}

aclrtMemFabricHandle t_peer_make(const t_peer_t *peer)
{
    return must(peer, (t_request_t){.what = 'm'}).shared;
}

void t_peer_take(const t_peer_t *peer, aclrtMemFabricHandle shared)
{
    (void)must(peer, (t_request_t){.what = 't', .shared = shared});
}

void t_peer_drop(const t_peer_t *peer)
{
    (void)must(peer, (t_request_t){.what = 'd'});
}

void t_peer_write(const t_peer_t *peer, unsigned char value)
{
    (void)must(peer, (t_request_t){.what = 'w', .value = value});
}

unsigned char t_peer_read(const t_peer_t *peer)
{
    return must(peer, (t_request_t){.what = 'r'}).value;
}

t_holdings_t t_peer_holdings(const t_peer_t *peer)
{
    return must(peer, (t_request_t){.what = 'h'}).holdings;
}

bool t_peer_hide_proc(const t_peer_t *peer)
{
    return t_peer_do(peer, (t_request_t){.what = 'u'}).error == ACL_SUCCESS;
}
