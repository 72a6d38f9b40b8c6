/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors. A program may run with 0, 1 or 2 closed; what we open must not land there, or somebody's printf would
 * end up in our sockets and files. */
#ifndef ACLSHMEMI_UTILS_FD_H
#define ACLSHMEMI_UTILS_FD_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Takes a descriptor as open() or socket() returned it, -1 included; gives it back above 2, close-on-exec. errno is
 * the failing call's. */
static inline int aclshmemi_fd_above_stdio(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return moved;
}

#endif
