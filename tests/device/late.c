/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of kernels that are never over: the report says who waits for what, and reaches the host. */
#include "device.h"

/* Runs a kernel that has to fail with a text that holds all these words. */
static void fails_with(const char *kernel, uint32_t blocks, const void *args, size_t bytes,
                       const char *const *words)
{
    char text[512];
    CHECK(device_try(kernel, blocks, args, bytes, text) != ACL_SUCCESS);
    for (; *words != NULL; words++)
        if (strstr(text, *words) == NULL) {
            fprintf(stderr, "kernel %s said \"%s\", without \"%s\"\n", kernel, text, *words);
            exit(1);
        }
}

static void waits(int32_t *word)
{
    struct {
        int32_t *word;
        int many;
    } args = {word, 0};
    const char *one[] = {"waited", "signal_wait_until on PE 0: element 0 of 1 at heap offset",
                         "is 4, wanted >= 9", NULL};
    const char *any[] = {"int32_wait_until_any on PE 0: element 0 of 3", "is 4, wanted == 77", NULL};
    *word = 4;
    fails_with("wait_for_ever", 1, &args, sizeof args, one);
    args.many = 1;
    fails_with("wait_for_ever", 1, &args, sizeof args, any);
}

/* Cores that do not come, and PEs. Afterwards nobody can meet any more, and is told so. */
static void meetings(void)
{
    int missing = 1;
    aclshmem_team_t world = ACLSHMEM_TEAM_WORLD;
    const char *cores[] = {"waited", "barrier_all of team 0 on PE 0: 2 of 3 cores of this launch have come",
                           NULL};
    const char *pes[] = {"barrier_all of team 0 on PE 1, meeting 1: missing PE 0", NULL};
    const char *later[] = {"another launch is inside a barrier of that team, or failed inside one", NULL};
    bool first = aclshmem_my_pe() == 0;
    fails_with("meet_some", 3, &missing, sizeof missing, first ? cores : pes);
    fails_with("meet_team", 1, &world, sizeof world, later);
}

int main(void)
{
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    int32_t *words = aclshmem_calloc(16, sizeof *words);
    CHECK(words != NULL);
    if (aclshmem_n_pes() == 1)
        waits(words);
    if (aclshmem_my_pe() < 2)
        meetings();
    aclshmem_barrier_all();
    pe_finalize();
    return 0;
}
