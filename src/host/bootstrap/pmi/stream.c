/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending and receiving lines with a deadline.
 *
 * The descriptor may be shared with an MPI library in the same process, so its flags stay as they are: waiting is
 * poll's business, and each transfer is asked not to block.
 */
#include "host/bootstrap/pmi/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define POLL_CAP_MS 60000

static aclshmemi_pmi_outcome_t wait_for(int fd, short events, aclshmemi_deadline_t deadline)
{
    for (;;) {
        struct pollfd entry = {.fd = fd, .events = events};
        int rc = poll(&entry, 1, aclshmemi_deadline_left_ms(deadline, POLL_CAP_MS));
        if (rc > 0)
            return ACLSHMEMI_PMI_DONE;
        if (rc < 0 && errno != EINTR)
            return ACLSHMEMI_PMI_NO_SOCKET;
        if (rc == 0 && aclshmemi_deadline_passed(deadline))
            return ACLSHMEMI_PMI_LATE;
    }
}

static bool try_again(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

aclshmemi_pmi_outcome_t aclshmemi_pmi_send(int fd, const char *text, aclshmemi_deadline_t deadline)
{
    size_t size = strlen(text), sent = 0;
    while (sent < size) {
        ssize_t n = send(fd, text + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
            continue;
        }
        if (errno == EPIPE || errno == ECONNRESET)
            return ACLSHMEMI_PMI_HUNG_UP;
        if (!try_again())
            return ACLSHMEMI_PMI_NO_SOCKET;
        aclshmemi_pmi_outcome_t outcome = wait_for(fd, POLLOUT, deadline);
        if (outcome != ACLSHMEMI_PMI_DONE)
            return outcome;
    }
    return ACLSHMEMI_PMI_DONE;
}

/* Takes the first line out of what has arrived; false when there is none yet. */
static bool take_line(aclshmemi_pmi_t *pmi, char *text, size_t *size)
{
    char *end = memchr(pmi->in, '\n', pmi->in_used);
    if (end == NULL)
        return false;
    *size = (size_t)(end - pmi->in);
    memcpy(text, pmi->in, *size);
    pmi->in_used -= *size + 1;
    memmove(pmi->in, end + 1, pmi->in_used);
    return true;
}

aclshmemi_pmi_outcome_t aclshmemi_pmi_receive(aclshmemi_pmi_t *pmi, char text[ACLSHMEMI_PMI_LINE_MAX + 1],
                                              aclshmemi_pmi_line_t *line, aclshmemi_deadline_t deadline)
{
    size_t size = 0;
    while (!take_line(pmi, text, &size)) {
        if (pmi->in_used == sizeof pmi->in)
            return ACLSHMEMI_PMI_GARBAGE;
        ssize_t n = recv(pmi->fd, pmi->in + pmi->in_used, sizeof pmi->in - pmi->in_used, MSG_DONTWAIT);
        if (n > 0) {
            pmi->in_used += (size_t)n;
            continue;
        }
        if (n == 0 || errno == ECONNRESET)
            return ACLSHMEMI_PMI_HUNG_UP;
        if (!try_again())
            return ACLSHMEMI_PMI_NO_SOCKET;
        aclshmemi_pmi_outcome_t outcome = wait_for(pmi->fd, POLLIN, deadline);
        if (outcome != ACLSHMEMI_PMI_DONE)
            return outcome;
    }
    return aclshmemi_pmi_line_parse(text, size, line) ? ACLSHMEMI_PMI_DONE : ACLSHMEMI_PMI_GARBAGE;
}
