/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to copy, at every alignment and around every change of path; nothing beside the range is touched. */
#define LOG_MODULE "test"
#include "host/utils/copy.h"

#include <stdlib.h>

#include "support/unit.h"

enum { ROOM = 3 << 20, GAP = 128 };

static unsigned char *from, *to;

static void fill(void)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < ROOM; i++) {
        seed = seed * 1664525u + 1013904223u;
        from[i] = (unsigned char)(seed >> 24 | 1); /* never 0 */
    }
}

static void check(size_t at, size_t source, size_t bytes)
{
    t_check(memcmp(to + at, from + source, bytes) == 0);
    for (size_t i = 0; i < GAP; i++)
        t_check(to[at - GAP + i] == 0 && to[at + bytes + i] == 0);
    memset(to + at, 0, bytes);
}

static void every_way(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,   63,   511,  512,  513,  575,   576,   640,   767,  768,
                                   769, 2047, 2048, 4096, 5001, 32767, 32768, 32900, 70001};
    for (aclshmemi_copy_way_t way = 0; way < ACLSHMEMI_COPY_WAYS; way++) {
        if (!aclshmemi_copy_has(way))
            continue;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (size_t shift = 0; shift < 66; shift += 1 + shift / 3) {
                aclshmemi_copy_by(way, to + GAP + shift, from + GAP + 65 - shift, sizes[s]);
                check(GAP + shift, GAP + 65 - shift, sizes[s]);
            }
    }
}

static void every_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {1 << 14, (1 << 14) - 1, 1 << 16,      (1 << 18) - 1,
                                   1 << 18, 1 << 20,       (2 << 20) + 5};
    for (size_t bytes = 0; bytes < 5000; bytes += 1 + bytes / 50) {
        aclshmemi_copy(to + GAP + 3, from + 9, bytes);
        check(GAP + 3, 9, bytes);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        aclshmemi_copy(to + GAP + 1, from, sizes[s]);
        check(GAP + 1, 0, sizes[s]);
        t_check(aclshmemi_copy_has(aclshmemi_copy_way(sizes[s])));
    }
}

static void overlap(void **state)
{
    (void)state;
    static const size_t sizes[] = {8, 100, 3000, 70000, 1 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int forward = 0; forward < 2; forward++) {
            memcpy(to + GAP, from, sizes[s] + 5);
            aclshmemi_copy(to + GAP + (forward ? 5 : 0), to + GAP + (forward ? 0 : 5), sizes[s]);
            t_check(memcmp(to + GAP + (forward ? 5 : 0), from + (forward ? 0 : 5), sizes[s]) == 0);
            memset(to + GAP, 0, sizes[s] + 5);
        }
        aclshmemi_copy(from, from, sizes[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),
        cmocka_unit_test(every_size),
        cmocka_unit_test(overlap),
    };
    from = malloc(ROOM);
    to = calloc(1, ROOM);
    if (from == NULL || to == NULL)
        return 1;
    fill();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(from);
    free(to);
    return failed;
}
