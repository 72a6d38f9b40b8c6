/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycle counts of kernels. SHMEM_CYCLE_PROF_PE names one PE; there, init puts a record into device memory and its address
 * into the state that kernels read, kernels count in it, and the calls here copy it back.
 */
#define LOG_MODULE "prof"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/init/init.h"
#include "host/utils/shmem_log.h"

/* The PE that is named, -1 when none is. What is no PE of this job means PE 0, so that a typing error shows. */
static int chosen_pe(const aclshmemi_instance_t *in)
{
    const char *text = in->env.cycle_prof_pe;
    if (text[0] == '\0')
        return -1;
    char *end;
    errno = 0;
    long pe = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && pe >= 0 && pe < in->n_pes)
        return (int)pe;
    if (in->pe == 0)
        log_warn("SHMEM_CYCLE_PROF_PE is \"%.32s\", no PE of 0..%d; cycles are counted on PE 0", text,
                 in->n_pes - 1);
    return 0;
}

int aclshmemi_prof_init(aclshmemi_instance_t *in)
{
    if (chosen_pe(in) != in->pe)
        return 0;
    in->profile = calloc(1, sizeof *in->profile);
    if (in->profile == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the cycle counts");
    in->profile->pe_id = in->pe;
    TRY(npu_alloc(sizeof *in->profile, &in->profile_on_device));
    return npu_copy(in->profile_on_device, in->profile, sizeof *in->profile, ACLSHMEMI_NPU_HOST_TO_DEVICE);
}

void aclshmemi_prof_fini(aclshmemi_instance_t *in)
{
    npu_free(in->profile_on_device);
    in->profile_on_device = NULL;
    free(in->profile);
    in->profile = NULL;
}

/* The counter of kernels runs at 1 GHz on the 950 series and at 50 MHz elsewhere, the CPU runtime included. */
static double cycles_per_us(void)
{
    return strncmp(npu_soc_name(), "Ascend950", 9) == 0 ? 1000.0 : 50.0;
}

static void print_block(FILE *out, int block, const aclshmem_prof_block_t *counts)
{
    for (int frame = 0; frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT; frame++) {
        int64_t passes = counts->ccount[frame], cycles = counts->cycles[frame];
        if (passes != 0)
            fprintf(out, "%-8d %-8d %16" PRId64 " %12" PRId64 " %16.3f\n", block, frame, cycles, passes,
                    (double)cycles / (double)passes / cycles_per_us());
    }
}

/* In one piece, so that it does not mix with what other PEs print. */
static int print_table(const aclshmem_prof_pe_t *profile)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the table of cycle counts");
    fprintf(out, "%-8s %-8s %16s %12s %16s\n", "BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)");
    for (int block = 0; block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK; block++)
        print_block(out, block, &profile->block_prof[block]);
    if (profile->dropped != 0)
        fprintf(out, "%u passes of blocks from %d on, or of frames from %d on, were not counted\n",
                profile->dropped, ACLSHMEM_CYCLE_PROF_MAX_BLOCK, ACLSHMEM_CYCLE_PROF_FRAME_CNT);
    int rc =
        fclose(out) != 0 ? fail(ACLSHMEM_MALLOC_FAILED, "out of memory for the table of cycle counts") : 0;
    if (rc == 0 && (fwrite(text, 1, length, stdout) != length || fflush(stdout) != 0))
        rc = fail(ACLSHMEM_INNER_ERROR, "the table of cycle counts could not be printed: %m");
    free(text);
    return rc;
}

void aclshmemx_get_prof(aclshmem_prof_pe_t **out_profs, bool verbose)
{
    aclshmemi_instance_t *in = aclshmemi_current();
    if (out_profs != NULL)
        *out_profs = NULL;
    if (out_profs == NULL && !verbose)
        return;
    if (in->n_pes == 0) {
        (void)aclshmemi_instance_missing("get_prof");
        return;
    }
    if (in->profile == NULL ||
        npu_copy(in->profile, in->profile_on_device, sizeof *in->profile, ACLSHMEMI_NPU_DEVICE_TO_HOST) != 0)
        return;
    if (out_profs != NULL)
        *out_profs = in->profile;
    if (verbose)
        (void)print_table(in->profile);
}

void aclshmemx_show_prof(void)
{
    aclshmemx_get_prof(NULL, true);
}
