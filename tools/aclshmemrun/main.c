/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aclshmemrun: starts the PEs of a job on this machine and collects them.
 */
#include <fcntl.h>
#include <unistd.h>

#include "run.h"

/* With 0, 1 or 2 closed, the next descriptor we open would be taken for a standard stream. */
static int open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        /* allowed: the PEs inherit these */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    static options_t options;
    int code;
    if (open_standard_streams())
        return 1;
    if (options_parse(&options, argc, argv, &code) == 0)
        code = front_run(&options);
    options_free(&options);
    bind_unload();
    return code;
}
