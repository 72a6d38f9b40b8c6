/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names with a deadline. A thread asks; who waited long enough leaves it alone with its question, and it cleans up when the
 * resolver comes back. Literal addresses are answered on the spot.
 */
#include "host/utils/net_name.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef struct question {
    char *host;
    struct addrinfo hints;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t answered;
    bool over, left_alone;
    int rc, reason;
    struct addrinfo *list;
} question_t;

static void destroy(question_t *q)
{
    if (q->list != NULL)
        freeaddrinfo(q->list);
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->lock);
    free(q->host);
    free(q);
}

static void *ask(void *argument)
{
    question_t *q = argument;
    struct addrinfo *list = NULL;
    int rc = getaddrinfo(q->host, NULL, &q->hints, &list), reason = errno;
    pthread_mutex_lock(&q->lock);
    q->over = true;
    q->rc = rc;
    q->reason = reason;
    q->list = rc == 0 ? list : NULL;
    bool alone = q->left_alone;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
    if (alone)
        destroy(q);
    return NULL;
}

static question_t *create(const char *host, const struct addrinfo *hints)
{
    pthread_condattr_t monotonic;
    question_t *q = calloc(1, sizeof *q);
    char *copy = strdup(host);
    if (q == NULL || copy == NULL) {
        free(q);
        free(copy);
        return NULL;
    }
    q->host = copy;
    q->hints = *hints;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return q;
}

/* Signals are for the program's own threads. */
static int start(question_t *q, pthread_t *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, ask, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* True when the answer is there. */
static bool await(question_t *q, aclshmemi_deadline_t deadline)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline / ACLSHMEMI_NS_PER_S),
                                   .tv_nsec = (long)(deadline % ACLSHMEMI_NS_PER_S)};
    pthread_mutex_lock(&q->lock);
    while (!q->over && pthread_cond_timedwait(&q->answered, &q->lock, &until) != ETIMEDOUT)
        ;
    bool over = q->over;
    q->left_alone = !over;
    pthread_mutex_unlock(&q->lock);
    return over;
}

/* Code that a thread still runs must not go away with dlclose(). The handle is kept for good. */
static void stay_loaded(void)
{
    Dl_info own;
    if (dladdr((void *)(uintptr_t)ask, &own) != 0 && own.dli_fname != NULL)
        (void)dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

static int ask_until(const char *host, const struct addrinfo *hints, aclshmemi_deadline_t deadline, int *rc,
                     struct addrinfo **list)
{
    pthread_t thread;
    question_t *q = create(host, hints);
    if (q == NULL)
        return fail_quietly(ACLSHMEM_MALLOC_FAILED, "out of memory for the name \"%.253s\"", host);
    int error = start(q, &thread);
    if (error != 0) {
        destroy(q);
        return fail_quietly(ACLSHMEM_INNER_ERROR, "no thread to look up \"%.253s\": %s", host,
                            strerror(error));
    }
    if (!await(q, deadline)) {
        pthread_detach(thread);
        stay_loaded();
        return fail_quietly(
            ACLSHMEM_TIMEOUT_ERROR,
            "the name servers of this machine did not tell in time what \"%.253s\" is; give the "
            "address instead of the name, or look at /etc/resolv.conf",
            host);
    }
    pthread_join(thread, NULL);
    *rc = q->rc;
    *list = q->list;
    q->list = NULL;
    errno = q->reason;
    destroy(q);
    return 0;
}

int aclshmemi_net_look_up(const char *host, int family, aclshmemi_deadline_t deadline, struct addrinfo **list)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    int rc = getaddrinfo(host, NULL, &hints, list); /* literals never ask a server */
    if (rc == EAI_NONAME) {
        hints.ai_flags = 0;
        TRY(ask_until(host, &hints, deadline, &rc, list));
    }
    if (rc == 0)
        return ACLSHMEM_SUCCESS;
    const char *kind = family == AF_INET ? "IPv4 " : family == AF_INET6 ? "IPv6 " : "";
    return fail_quietly(ACLSHMEM_INVALID_VALUE, "host \"%.253s\" has no %saddress: %s", host, kind,
                        rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
}
