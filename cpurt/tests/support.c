/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the runtime's tests. */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void t_ok(aclError error, const char *call, const char *file, int line)
{
    if (error == ACL_SUCCESS)
        return;
    print_error("%s: %d: %s\n", call, error, aclGetRecentErrMsg());
    _fail(file, line);
}

void t_fails(aclError error, aclError wanted, const char *words, const char *call, const char *file, int line)
{
    if (error == wanted && strstr(aclGetRecentErrMsg(), words) != NULL)
        return;
    print_error("%s: %d instead of %d, \"%s\" instead of \"%s\"\n", call, error, wanted, aclGetRecentErrMsg(),
                words);
    _fail(file, line);
}

int t_begin(void **state)
{
    (void)state;
    return aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS ? 0 : -1;
}

int t_end(void **state)
{
    (void)state;
    return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : -1;
}

static size_t entries(const char *path)
{
    size_t count = 0;
    DIR *const folder = opendir(path);

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

/* Standard streams and the like come from outside; what the runtime opens lies above them. */
static size_t inheritable(void)
{
    size_t count = 0;

    for (int fd = 3; fd < 1024; fd++) {
        const int flags = fcntl(fd, F_GETFD);

        count += flags >= 0 && (flags & FD_CLOEXEC) == 0;
    }
    return count;
}

t_holdings_t t_holdings(void)
{
    t_holdings_t holdings = {.descriptors = entries("/proc/self/fd"),
                             .threads = entries("/proc/self/task"),
                             .inheritable = inheritable()};
    char line[512];
    FILE *const maps = fopen("/proc/self/maps", "re");

    /* Only what the runtime maps: allocators and sanitizers come and go as they please. */
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        holdings.mappings += strstr(line, "/memfd:acl-") != NULL;
    if (maps != NULL)
        (void)fclose(maps);
    return holdings;
}

uint64_t t_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int t_fork(int (*body)(void *), void *argument)
{
    int status = 0;

    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(body(argument));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
