/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the PEs of a job meet when their launcher offers no service: a name or port that follows from variables all
 * PEs have and no other job has.
 *
 * MASTER_PORT itself is never used: torch's own store holds it, in torchrun even before the program starts.
 */
#define LOG_MODULE "launch"
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/launch/launch.h"
#include "host/utils/net.h"

#define IDS_MAX 5
#define PORTS   9 /* the port and the eight after it */

/* What tells jobs of one launcher apart, equal on all PEs; at least one must be set. */
typedef struct kind {
    const char *name;
    const char *ids[IDS_MAX];
    const char *restart; /* how often the launcher started the job again */
    bool by_master;      /* several hosts meet at MASTER_ADDR */
    bool by_slurm;       /* several hosts meet at the first of Slurm's list */
} kind_t;

static const kind_t kinds[] = {
    {.name = "torchrun",
     .ids = {"TORCHELASTIC_RUN_ID", "MASTER_PORT"},
     .restart = "TORCHELASTIC_RESTART_COUNT",
     .by_master = true},
    {.name = "env", .ids = {"MASTER_PORT"}, .by_master = true},
    {.name = "ascend", .ids = {"MASTER_PORT"}, .by_master = true},
    {.name = "ompi", .ids = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
    {.name = "pmix", .ids = {"PMIX_NAMESPACE"}},
    {.name = "mvapich", .ids = {"MPISPAWN_MPIRUN_ID", "PMI_PORT", "PBS_JOBID"}},
    {.name = "pals", .ids = {"PALS_APID"}},
    {.name = "flux", .ids = {"FLUX_JOB_ID", "FLUX_KVS_NAMESPACE"}},
    {.name = "slurm",
     .ids = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     .restart = "SLURM_RESTART_COUNT",
     .by_slurm = true},
};

static const kind_t *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

static void add_text(EVP_MD_CTX *hash, bool *ok, const char *name, const char *value)
{
    *ok = *ok && EVP_DigestUpdate(hash, name, strlen(name) + 1) == 1 &&
          EVP_DigestUpdate(hash, value, strlen(value) + 1) == 1;
}

/* MASTER_ADDR may be spelled differently from host to host, so it counts on one host only. */
static int digest_job(const aclshmemi_source_t *source, const kind_t *kind, int64_t restarts,
                      aclshmemi_job_t *job)
{
    char number[24];
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1, known = false;
    const char *given = aclshmemi_source_get(source, "SHMEM_JOB_ID");
    const char *master = aclshmemi_source_get(source, "MASTER_ADDR");
    add_text(hash, &ok, "launcher", kind->name);
    for (int i = 0; i < IDS_MAX && kind->ids[i] != NULL; i++) {
        const char *value = aclshmemi_source_get(source, kind->ids[i]);
        if (value == NULL)
            continue;
        known = true;
        add_text(hash, &ok, kind->ids[i], value);
    }
    if (given != NULL)
        add_text(hash, &ok, "SHMEM_JOB_ID", given);
    if (job->local && kind->by_master && master != NULL)
        add_text(hash, &ok, "MASTER_ADDR", master);
    snprintf(number, sizeof number, "%lld", (long long)restarts);
    add_text(hash, &ok, "restarts", number);
    ok = ok && EVP_DigestFinal_ex(hash, job->digest, NULL) == 1;
    EVP_MD_CTX_free(hash);
    if (!ok)
        return fail(ACLSHMEM_INNER_ERROR, "the crypto library has no sha256");
    if (!known && given == NULL)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "nothing tells this job of launcher %s from other jobs of the same user: %s is not set; "
                    "set it, or "
                    "SHMEM_JOB_ID, to the same value on all PEs and another one in every job, or give init "
                    "an address "
                    "or a unique id",
                    kind->name, kind->ids[0]);
    return 0;
}

static int read_setting(const aclshmemi_source_t *source, const char *name, int64_t low, int64_t high,
                        int64_t *out)
{
    const char *text = aclshmemi_source_get(source, name);
    if (text == NULL)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "%s is not set, so PEs of several hosts do not know where to meet; set it, or "
                    "give init an address or a unique id",
                    name);
    if (aclshmemi_parse_int(text, low, high, out) != 0)
        return fail(ACLSHMEM_INVALID_VALUE, "%s is \"%.40s\", not a number in %lld..%lld", name, text,
                    (long long)low, (long long)high);
    return 0;
}

static int place_by_master(const aclshmemi_source_t *source, int64_t shift, aclshmemi_job_t *job)
{
    int64_t port = 0;
    const char *host = aclshmemi_source_get(source, "MASTER_ADDR");
    if (host == NULL || strlen(host) >= sizeof job->host)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "MASTER_ADDR is %s, so PEs of several hosts do not know where to meet; set it "
                    "to a name or address of PE 0's host, or give init an address or a unique id",
                    host == NULL ? "not set" : "too long");
    TRY(read_setting(source, "MASTER_PORT", 1, ACLSHMEMI_PORT_MAX, &port));
    if (port + shift < ACLSHMEMI_PORT_MIN || port + shift + PORTS - 1 > ACLSHMEMI_PORT_MAX)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "MASTER_PORT %lld leads to the meeting ports %lld..%lld, which are not all in "
                    "%d..%d; change MASTER_PORT or SHMEM_PORT_OFFSET",
                    (long long)port, (long long)(port + shift), (long long)(port + shift + PORTS - 1),
                    ACLSHMEMI_PORT_MIN, ACLSHMEMI_PORT_MAX);
    snprintf(job->host, sizeof job->host, "%s", host);
    job->port = (uint16_t)(port + shift);
    return 0;
}

static int place_by_slurm(const aclshmemi_source_t *source, int64_t shift, aclshmemi_job_t *job)
{
    int64_t id = 0, step = 0;
    const char *nodes = aclshmemi_source_get(source, "SLURM_STEP_NODELIST");
    TRY(read_setting(source, "SLURM_JOB_ID", 0, INT32_MAX, &id));
    TRY(read_setting(source, "SLURM_STEP_ID", 0, UINT32_MAX, &step));
    if (nodes == NULL)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "SLURM_STEP_NODELIST is not set; start the program with srun, or give init an "
                    "address or a unique id");
    TRY(aclshmemi_slurm_first_host(nodes, job->host, sizeof job->host));
    job->port = (uint16_t)(20000 + (17 * id + step + shift) % 20000);
    return 0;
}

int aclshmemi_launch_job(const aclshmemi_source_t *source, const aclshmemi_launch_t *launch,
                         int64_t port_offset, int64_t restart_count, aclshmemi_job_t *job)
{
    aclshmemi_job_t out;
    memset(&out, 0, sizeof out);
    const kind_t *kind = find_kind(launch->name);
    if (kind == NULL)
        return fail(ACLSHMEM_NOT_SUPPORTED, "launcher %s has no meeting point of its own", launch->name);
    out.local = launch->single_host;
    int64_t restarts = restart_count;
    if (kind->restart != NULL && aclshmemi_source_get(source, kind->restart) != NULL)
        TRY(read_setting(source, kind->restart, 0, 1000000, &restarts));
    TRY(digest_job(source, kind, restarts, &out));
    if (out.local) {
        snprintf(out.label, sizeof out.label, "the meeting point of this job on this host");
    } else if (kind->by_master) {
        TRY(place_by_master(source, port_offset + restarts, &out));
    } else if (kind->by_slurm) {
        TRY(place_by_slurm(source, port_offset - 1 + restarts, &out));
    } else {
        return fail(
            ACLSHMEM_NOT_SUPPORTED,
            "PEs of several hosts under launcher %s need PMI or PMIx to meet, and it offers neither here; "
            "install libpmix, or give init an address or a unique id",
            launch->name);
    }
    if (!out.local)
        snprintf(out.label, sizeof out.label, "%.60s, ports %d..%d", out.host, out.port,
                 out.port + PORTS - 1);
    *job = out;
    return 0;
}
