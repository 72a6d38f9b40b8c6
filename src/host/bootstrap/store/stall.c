/* SPDX-License-Identifier: Apache-2.0 */
/* Watching a connection that is blocked. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/stall.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define LOOK_MS      1000
#define GONE_MS      3000 /* with the first look and the first lost probes: noticed within 5 s */
#define PROBES_LOST  2    /* one may just be under way */
#define RESENDS_LOST 3

static bool peer_answers(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return true; /* no TCP, so its end is on this host */
    return info.tcpi_probes < PROBES_LOST && info.tcpi_retransmits < RESENDS_LOST;
}

static void look(void *owner)
{
    aclshmemi_store_stall_t *stall = owner;
    uint64_t now = aclshmemi_clock_ns();
    if (peer_answers(stall->fd))
        stall->answered_ns = now;
    if (now - stall->answered_ns >= GONE_MS * ACLSHMEMI_NS_PER_MS)
        stall->gone(stall->owner);
    else
        aclshmemi_store_timer_set(stall->loop, &stall->timer, aclshmemi_deadline_after_ms(LOOK_MS));
}

void aclshmemi_store_stall_begin(aclshmemi_store_stall_t *stall)
{
    unsigned none = 0;
    socklen_t size = sizeof stall->user_timeout_ms;
    if (stall->blocked)
        return;
    stall->blocked = true;
    stall->answered_ns = aclshmemi_clock_ns();
    stall->user_timeout_ms = 0;
    (void)getsockopt(stall->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stall->user_timeout_ms, &size);
    (void)setsockopt(stall->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &none, sizeof none);
    stall->timer.expire = look;
    stall->timer.owner = stall;
    aclshmemi_store_timer_set(stall->loop, &stall->timer, aclshmemi_deadline_after_ms(LOOK_MS));
}

void aclshmemi_store_stall_end(aclshmemi_store_stall_t *stall)
{
    if (!stall->blocked)
        return;
    stall->blocked = false;
    (void)setsockopt(stall->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stall->user_timeout_ms,
                     sizeof stall->user_timeout_ms);
    aclshmemi_store_timer_clear(stall->loop, &stall->timer);
}
