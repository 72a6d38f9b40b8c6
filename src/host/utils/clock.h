/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines on the monotonic clock: stepping the wall clock moves none of them. */
#ifndef ACLSHMEMI_UTILS_CLOCK_H
#define ACLSHMEMI_UTILS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define ACLSHMEMI_NS_PER_MS UINT64_C(1000000)
#define ACLSHMEMI_NS_PER_S  UINT64_C(1000000000)
#define ACLSHMEMI_NEVER     UINT64_MAX

/* A point in time, in nanoseconds of CLOCK_MONOTONIC. Passed by value; ACLSHMEMI_NEVER only where a caller proves
 * that something else ends the wait. */
typedef uint64_t aclshmemi_deadline_t;

static inline uint64_t aclshmemi_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * ACLSHMEMI_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline aclshmemi_deadline_t aclshmemi_deadline_after_ms(uint64_t ms)
{
    uint64_t now = aclshmemi_clock_ns();
    return ms > (UINT64_MAX - now) / ACLSHMEMI_NS_PER_MS ? ACLSHMEMI_NEVER : now + ms * ACLSHMEMI_NS_PER_MS;
}

static inline bool aclshmemi_deadline_passed(aclshmemi_deadline_t deadline)
{
    return deadline != ACLSHMEMI_NEVER && aclshmemi_clock_ns() >= deadline;
}

/* Milliseconds left, rounded up, for poll(): 0 when passed, at most cap_ms. */
static inline int aclshmemi_deadline_left_ms(aclshmemi_deadline_t deadline, int cap_ms)
{
    if (deadline == ACLSHMEMI_NEVER)
        return cap_ms;
    uint64_t now = aclshmemi_clock_ns();
    if (now >= deadline)
        return 0;
    uint64_t left = (deadline - now + ACLSHMEMI_NS_PER_MS - 1) / ACLSHMEMI_NS_PER_MS;
    return left > (uint64_t)cap_ms ? cap_ms : (int)left;
}

static inline aclshmemi_deadline_t aclshmemi_deadline_earlier(aclshmemi_deadline_t a, aclshmemi_deadline_t b)
{
    return a < b ? a : b;
}

#endif
