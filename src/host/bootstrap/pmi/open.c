/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a PMI connection begins: an inherited descriptor (PMI_FD), or a port of the launcher (PMI_PORT, PMI_ID).
 *
 * Of an inherited descriptor a close-on-exec duplicate is used. An MPI library in the same process may close the
 * original and the number may then name something else; the duplicate stays what it is.
 */
#define LOG_MODULE "pmi"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/pmi/stream.h"
#include "host/utils/env.h"
#include "host/utils/net.h"

#define HOST_MAX      256
#define ADDRESSES_MAX 16

static int adopt(const char *text, int *fd)
{
    int64_t number = 0;
    int type = 0;
    socklen_t length = sizeof type;
    if (aclshmemi_parse_int(text, 0, 1 << 20, &number) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "PMI_FD is \"%.20s\", not the number of a descriptor; it is set by the "
                    "launcher, so leave it alone",
                    text);
    if (getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "PMI_FD names descriptor %d, which is no socket here (%m); an MPI library that has "
                    "ended in this program, or something before it, closed it; start SHMEM before "
                    "MPI ends, or let SHMEM_LAUNCHER choose another way to meet",
                    (int)number);
    *fd = fcntl((int)number, F_DUPFD_CLOEXEC, 3);
    if (*fd < 0)
        return fail(ACLSHMEM_INNER_ERROR, "descriptor %d of the launcher cannot be duplicated: %m",
                    (int)number);
    return 0;
}

static int dial(const char *text, aclshmemi_deadline_t deadline, int *fd)
{
    char host[HOST_MAX];
    aclshmemi_addr_t list[ADDRESSES_MAX];
    size_t count = 0;
    int64_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    if (length == 0 || length >= sizeof host || aclshmemi_parse_int(colon + 1, 1, 65535, &port) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "PMI_PORT is \"%.80s\", not HOST:PORT; it is set by the launcher, so leave it "
                    "alone",
                    text);
    memcpy(host, text, length);
    host[length] = '\0';
    TRY(aclshmemi_net_resolve(host, AF_UNSPEC, (uint16_t)port, deadline, list, ADDRESSES_MAX, &count));
    for (size_t i = 0; i < count; i++) {
        if (aclshmemi_net_connect(&list[i], deadline, fd) == 0)
            return 0;
    }
    char why[256];
    snprintf(why, sizeof why, "%s", aclshmemi_status_last_text());
    return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server at %.80s cannot be reached: %s", text, why);
}

/* In this form the server tells size, rank and a debug flag in lines of their own. */
static int introduce(aclshmemi_pmi_t *pmi, const char *id, aclshmemi_deadline_t deadline)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1], request[64];
    aclshmemi_pmi_line_t line;
    int64_t number = 0, value = 0;
    if (id == NULL || aclshmemi_parse_int(id, 0, INT32_MAX, &number) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "PMI_ID is \"%.20s\", not a number; it is set by the launcher, so leave it alone",
                    id == NULL ? "" : id);
    snprintf(request, sizeof request, "cmd=initack pmiid=%d\n", (int)number);
    if (aclshmemi_pmi_send(pmi->fd, request, deadline) != ACLSHMEMI_PMI_DONE)
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server does not take the first line");
    for (int i = 0; i < 4; i++) {
        if (aclshmemi_pmi_receive(pmi, text, &line, deadline) != ACLSHMEMI_PMI_DONE)
            return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server does not tell rank and size");
        const char *size = aclshmemi_pmi_line_get(&line, "size"),
                   *rank = aclshmemi_pmi_line_get(&line, "rank");
        if (size != NULL && aclshmemi_parse_int(size, 1, INT32_MAX, &value) == 0)
            pmi->n_pes = (int)value;
        if (rank != NULL && aclshmemi_parse_int(rank, 0, INT32_MAX, &value) == 0)
            pmi->rank = (int)value;
    }
    if (pmi->n_pes < 1 || pmi->rank < 0 || pmi->rank >= pmi->n_pes)
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server tells rank %d of %d", pmi->rank,
                    pmi->n_pes);
    return 0;
}

int aclshmemi_pmi_open(aclshmemi_pmi_t *pmi, const char *fd, const char *port, const char *id,
                       aclshmemi_deadline_t deadline)
{
    memset(pmi, 0, sizeof *pmi);
    pmi->fd = pmi->rank = pmi->n_pes = -1;
    if (fd != NULL)
        return adopt(fd, &pmi->fd);
    if (port == NULL)
        return fail(ACLSHMEM_INNER_ERROR,
                    "neither PMI_FD nor PMI_PORT is set; start the program with a launcher that "
                    "offers pmi, or let SHMEM_LAUNCHER choose another way to meet");
    TRY(dial(port, deadline, &pmi->fd));
    int rc = introduce(pmi, id, deadline);
    if (rc != 0)
        aclshmemi_pmi_close(pmi);
    return rc;
}

void aclshmemi_pmi_close(aclshmemi_pmi_t *pmi)
{
    aclshmemi_net_close(&pmi->fd);
    pmi->barrier_pending = false;
    pmi->broken = false;
    pmi->in_used = 0;
}
