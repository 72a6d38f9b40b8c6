/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launcher started this process: a table of signs, innermost launcher first.
 *
 * Outer launchers leave their names in the environment of what they start, so the order of rows is what makes a
 * torchrun inside an mpirun inside a batch job come out right. A row decides when all its signs are there. Rows below
 * it that see the same PE lend what it does not know, rows that disagree about the number of PEs are named in a
 * warning.
 */
#define LOG_MODULE "launch"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/launch/launch.h"

#define NAMES_MAX 4
#define PES_MAX   16384

typedef struct row {
    const char *name;
    const char *signs[NAMES_MAX];
    const char *rank[NAMES_MAX]; /* the first that is set */
    const char *size[NAMES_MAX];
    const char *local_rank[NAMES_MAX];
    const char *local_size[NAMES_MAX];
    const char *hosts[NAMES_MAX]; /* number of hosts */
    const char *tasks_per_node;   /* Slurm's "2(x3),1" and the number of this node */
    const char *node;
    bool needs_pmix;
    bool needs_several;  /* a batch script has the names of one task too */
    aclshmemi_ask_t ask; /* who knows the size when no name does */
} row_t;

/* The same launcher may stand in two rows with different signs. */
static const row_t rows[] = {
    {.name = "aclshmemrun",
     .signs = {"SHMEM_PE", "SHMEM_NPES", "PMI_FD"},
     .rank = {"SHMEM_PE"},
     .size = {"SHMEM_NPES"},
     .local_rank = {"SHMEM_LOCAL_PE"},
     .local_size = {"SHMEM_LOCAL_NPES"},
     .hosts = {"SHMEM_NNODES"}},
    {.name = "torchrun",
     .signs = {"TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE"},
     .rank = {"RANK"},
     .size = {"WORLD_SIZE"},
     .local_rank = {"LOCAL_RANK"},
     .local_size = {"LOCAL_WORLD_SIZE"}},
    {.name = "pmix",
     .signs = {"PMIX_RANK", "PMIX_NAMESPACE"},
     .rank = {"PMIX_RANK"},
     .size = {"OMPI_COMM_WORLD_SIZE"},
     .local_rank = {"OMPI_COMM_WORLD_LOCAL_RANK"},
     .local_size = {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     .needs_pmix = true,
     .ask = ACLSHMEMI_ASK_PMIX},
    {.name = "pmi",
     .signs = {"PMI_RANK", "PMI_SIZE", "PMI_FD"},
     .rank = {"PMI_RANK"},
     .size = {"PMI_SIZE"},
     .local_rank = {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"},
     .local_size = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"}},
    {.name = "pmi",
     .signs = {"PMI_RANK", "PMI_SIZE", "PMI_PORT"},
     .rank = {"PMI_RANK"},
     .size = {"PMI_SIZE"},
     .local_rank = {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"},
     .local_size = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"}},
    {.name = "pmi",
     .signs = {"PMI_ID", "PMI_PORT"},
     .rank = {"PMI_ID"},
     .local_rank = {"MPI_LOCALRANKID"},
     .local_size = {"MPI_LOCALNRANKS"},
     .ask = ACLSHMEMI_ASK_PMI},
    {.name = "ompi",
     .signs = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     .rank = {"OMPI_COMM_WORLD_RANK"},
     .size = {"OMPI_COMM_WORLD_SIZE"},
     .local_rank = {"OMPI_COMM_WORLD_LOCAL_RANK"},
     .local_size = {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {.name = "mvapich",
     .signs = {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
     .rank = {"MV2_COMM_WORLD_RANK"},
     .size = {"MV2_COMM_WORLD_SIZE"},
     .local_rank = {"MV2_COMM_WORLD_LOCAL_RANK"},
     .local_size = {"MV2_COMM_WORLD_LOCAL_SIZE"}},
    {.name = "pals",
     .signs = {"PALS_RANKID", "PMI_SIZE"},
     .rank = {"PALS_RANKID"},
     .size = {"PMI_SIZE"},
     .local_rank = {"PALS_LOCAL_RANKID"},
     .local_size = {"PMI_LOCAL_SIZE"}},
    {.name = "flux",
     .signs = {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
     .rank = {"FLUX_TASK_RANK"},
     .size = {"FLUX_JOB_SIZE"},
     .local_rank = {"FLUX_TASK_LOCAL_ID"},
     .hosts = {"FLUX_JOB_NNODES"}},
    {.name = "slurm",
     .signs = {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"},
     .rank = {"SLURM_PROCID"},
     .size = {"SLURM_STEP_NUM_TASKS"},
     .local_rank = {"SLURM_LOCALID"},
     .hosts = {"SLURM_STEP_NUM_NODES"},
     .tasks_per_node = "SLURM_STEP_TASKS_PER_NODE",
     .node = "SLURM_NODEID",
     .needs_several = true},
    {.name = "env",
     .signs = {"RANK", "WORLD_SIZE", "MASTER_ADDR"},
     .rank = {"RANK"},
     .size = {"WORLD_SIZE"},
     .local_rank = {"LOCAL_RANK"},
     .local_size = {"LOCAL_WORLD_SIZE"}},
    {.name = "ascend", .signs = {"RANK_ID", "RANK_SIZE"}, .rank = {"RANK_ID"}, .size = {"RANK_SIZE"}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Names that hold a number of PEs, for "alone although". */
static const char *const counts[] = {
    "SHMEM_NPES",    "WORLD_SIZE",           "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
    "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",         "RANK_SIZE"};

const char *aclshmemi_source_get(const aclshmemi_source_t *source, const char *name)
{
    const char *value = source->get(source->context, name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static const char *first_set(const aclshmemi_source_t *source, const char *const names[NAMES_MAX])
{
    for (int i = 0; i < NAMES_MAX && names[i] != NULL; i++) {
        if (aclshmemi_source_get(source, names[i]) != NULL)
            return names[i];
    }
    return NULL;
}

static bool shows(const aclshmemi_source_t *source, const row_t *row)
{
    int64_t tasks = 0;
    for (int i = 0; i < NAMES_MAX && row->signs[i] != NULL; i++) {
        if (aclshmemi_source_get(source, row->signs[i]) == NULL)
            return false;
    }
    if (row->needs_pmix && !source->has_pmix)
        return false;
    if (!row->needs_several)
        return true;
    /* A number that does not parse is shown as an error, not skipped. */
    return aclshmemi_parse_int(aclshmemi_source_get(source, row->size[0]), 0, INT32_MAX, &tasks) != 0 ||
           tasks > 1;
}

/* The number under the first of these names that is set; absent: out keeps what it has. */
static int read_number(const aclshmemi_source_t *source, const row_t *row, const char *const names[NAMES_MAX],
                       int low, int high, int *out)
{
    int64_t value = 0;
    const char *name = first_set(source, names);
    if (name == NULL)
        return 0;
    const char *text = aclshmemi_source_get(source, name);
    if (aclshmemi_parse_int(text, low, high, &value) != 0)
        return fail_quietly(
            ACLSHMEM_INVALID_VALUE,
            "%s is \"%.40s\", not a number in %d..%d; it was taken for a variable of launcher %s: "
            "correct or unset it, or choose another by SHMEM_LAUNCHER",
            name, text, low, high, row->name);
    *out = (int)value;
    return 0;
}

static int read_local_size(const aclshmemi_source_t *source, const row_t *row, int n_pes, int *out)
{
    int64_t node = 0;
    const char *tasks =
        row->tasks_per_node == NULL ? NULL : aclshmemi_source_get(source, row->tasks_per_node);
    const char *text = row->node == NULL ? NULL : aclshmemi_source_get(source, row->node);
    if (tasks == NULL || text == NULL)
        return read_number(source, row, row->local_size, 1, n_pes, out);
    if (aclshmemi_parse_int(text, 0, INT32_MAX, &node) != 0)
        return fail_quietly(ACLSHMEM_INVALID_VALUE, "%s is \"%.40s\", not a number", row->node, text);
    return aclshmemi_slurm_tasks_of(tasks, node, out);
}

static int read_row(const aclshmemi_source_t *source, const row_t *row, aclshmemi_sighting_t *out)
{
    aclshmemi_launch_t launch = {.pe = -1, .n_pes = -1, .local_pe = -1, .local_npes = -1};
    snprintf(launch.name, sizeof launch.name, "%s", row->name);
    int hosts = -1;
    TRY(read_number(source, row, row->size, 1, PES_MAX, &launch.n_pes));
    int known = launch.n_pes > 0 ? launch.n_pes : PES_MAX;
    TRY(read_number(source, row, row->rank, 0, known - 1, &launch.pe));
    TRY(read_local_size(source, row, known, &launch.local_npes));
    TRY(read_number(source, row, row->local_rank, 0, (launch.local_npes > 0 ? launch.local_npes : known) - 1,
                    &launch.local_pe));
    TRY(read_number(source, row, row->hosts, 1, PES_MAX, &hosts));
    if (launch.local_npes < 0 && hosts == 1)
        launch.local_npes = launch.n_pes;
    launch.single_host = launch.n_pes > 0 && (launch.n_pes == 1 || launch.local_npes == launch.n_pes);
    out->launch = launch;
    out->ask = launch.n_pes < 0 ? row->ask : ACLSHMEMI_ASK_NOBODY;
    return 0;
}

/* A host that every PE must be on to reach it. */
static bool names_loopback(const char *host)
{
    struct in_addr v4;
    if (host == NULL)
        return false;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

/* What rows below the chosen one add, and where they differ. Their own mistakes do not matter. */
static void compare_rest(const aclshmemi_source_t *source, const row_t *chosen,
                         aclshmemi_sighting_t *sighting)
{
    aclshmemi_launch_t *launch = &sighting->launch;
    for (int i = 0; i < ROWS; i++) {
        aclshmemi_sighting_t other;
        if (strcmp(rows[i].name, chosen->name) == 0 || !shows(source, &rows[i]) ||
            read_row(source, &rows[i], &other) != 0 || other.launch.n_pes < 0 || launch->n_pes < 0)
            continue;
        if (other.launch.n_pes != launch->n_pes) {
            if (sighting->warning[0] == '\0')
                snprintf(sighting->warning, sizeof sighting->warning,
                         "the variables of %s say %d PEs, those of %s say %d; following %s; "
                         "SHMEM_LAUNCHER=%s would "
                         "follow the other",
                         chosen->name, launch->n_pes, rows[i].name, other.launch.n_pes, chosen->name,
                         rows[i].name);
        } else if (other.launch.pe == launch->pe) {
            launch->local_pe = launch->local_pe < 0 ? other.launch.local_pe : launch->local_pe;
            launch->local_npes = launch->local_npes < 0 ? other.launch.local_npes : launch->local_npes;
            launch->single_host = launch->single_host || other.launch.single_host;
        }
    }
}

static void warn_if_alone(const aclshmemi_source_t *source, aclshmemi_sighting_t *sighting)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        int64_t count = 0;
        const char *text = aclshmemi_source_get(source, counts[i]);
        if (text == NULL || aclshmemi_parse_int(text, 2, INT32_MAX, &count) != 0)
            continue;
        snprintf(sighting->warning, sizeof sighting->warning,
                 "running as PE 0 of 1 although %s is %.20s: no launcher's variables are complete, so nobody "
                 "said which "
                 "PE this is; start the program with a launcher, or set SHMEM_LAUNCHER=none if this is meant",
                 counts[i], text);
        return;
    }
}

static void be_alone(aclshmemi_sighting_t *sighting)
{
    aclshmemi_launch_t alone = {.name = "alone", .n_pes = 1, .local_npes = 1, .single_host = true};
    sighting->launch = alone;
}

/* A forced launcher needs who and how many, not all of its signs. */
static int pick_forced(const aclshmemi_source_t *source, const row_t **chosen)
{
    const char *missing = NULL;
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, source->forced) != 0)
            continue;
        if (rows[i].needs_pmix && !source->has_pmix)
            return fail_quietly(ACLSHMEM_INVALID_VALUE,
                                "SHMEM_LAUNCHER is pmix, but libpmix.so.2 cannot be loaded or this "
                                "library was built without it; choose ompi on one host");
        bool has_rank = first_set(source, rows[i].rank) != NULL;
        bool has_size = first_set(source, rows[i].size) != NULL || rows[i].ask != ACLSHMEMI_ASK_NOBODY;
        if (has_rank && has_size && *chosen == NULL)
            *chosen = &rows[i];
        else if (missing == NULL)
            missing = has_rank ? rows[i].size[0] : rows[i].rank[0];
        if (shows(source, &rows[i])) {
            *chosen = &rows[i];
            return 0;
        }
    }
    if (*chosen == NULL)
        return fail_quietly(ACLSHMEM_INVALID_VALUE,
                            "SHMEM_LAUNCHER is %s, but %s is not set; start the program with that "
                            "launcher, or unset SHMEM_LAUNCHER",
                            source->forced, missing);
    return 0;
}

static int look(const aclshmemi_source_t *source, aclshmemi_sighting_t *sighting)
{
    const row_t *chosen = NULL;
    bool forced = strcmp(source->forced, "auto") != 0;
    if (forced && (strcmp(source->forced, "none") == 0 || strcmp(source->forced, "alone") == 0)) {
        be_alone(sighting);
        return 0;
    }
    if (forced)
        TRY(pick_forced(source, &chosen));
    for (int i = 0; i < ROWS && chosen == NULL; i++) {
        if (shows(source, &rows[i]))
            chosen = &rows[i];
    }
    if (chosen == NULL) {
        be_alone(sighting);
        warn_if_alone(source, sighting);
        return 0;
    }
    TRY(read_row(source, chosen, sighting));
    compare_rest(source, chosen, sighting);
    if (forced)
        sighting->warning[0] = '\0';
    bool by_master = strcmp(chosen->name, "env") == 0 || strcmp(chosen->name, "ascend") == 0;
    if (by_master && names_loopback(aclshmemi_source_get(source, "MASTER_ADDR")))
        sighting->launch.single_host = true;
    return 0;
}

int aclshmemi_launch_look(const aclshmemi_source_t *source, aclshmemi_sighting_t *sighting)
{
    aclshmemi_sighting_t seen;
    memset(&seen, 0, sizeof seen);
    int rc = look(source, &seen);
    if (rc != 0)
        return fail(rc, "%s", aclshmemi_status_last_text());
    *sighting = seen;
    return 0;
}
