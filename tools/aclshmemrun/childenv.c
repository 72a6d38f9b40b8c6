/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of the PEs: what other launchers left is taken out, what ours promises is put in. The SHMEM_ names
 * come from the library's own table, so they are spelled once.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

enum { HIDDEN = 1, FOREIGN = 2, GIVEN = 4, SECRET = 8 };

enum {
#define ENV(field, name, type, dflt, range, flags, text) NAME_##field,
#include "host/utils/env.def"
#undef ENV
    NAME_COUNT
};

static const struct {
    const char *name;
    const char *range;
    int flags;
} names[NAME_COUNT] = {
#define ENV(field, name, type, dflt, range, flags, text)                                                     \
    {((flags)&FOREIGN) ? name : "SHMEM_" name, range, flags},
#include "host/utils/env.def"
#undef ENV
};

/* Set per PE by us, beside the GIVEN rows of the table. */
static const char *const own_names[] = {"PMI_FD", "PMI_RANK",   "PMI_SIZE",   "PMI_APPNUM",
                                        "RANK",   "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};

/* What launchers leave in the environment of their processes; a star ends a prefix. */
static const char *const foreign_names[] = {
    "OMPI_*",        "PMIX_*",           "PMI_*",
    "PMI2_*",        "TORCHELASTIC_*",   "GROUP_RANK",
    "ROLE_RANK",     "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE",
    "ROLE_NAME",     "MPI_LOCALRANKID",  "MPI_LOCALNRANKS",
    "HYDI_*",        "HYDRA_*",          "MV2_COMM_WORLD_*",
    "PALS_*",        "FLUX_TASK_*",      "FLUX_JOB_SIZE",
    "SLURM_PROCID",  "SLURM_LOCALID",    "SLURM_NODEID",
    "SLURM_STEP_ID", "SLURM_STEPID",     "SLURM_STEP_NUM_TASKS",
    "SLURM_GTIDS",   "SLURM_TASK_PID",   "RANK_ID",
    "RANK_SIZE",     "SHMEM_RUN_*",      "RANK",
    "WORLD_SIZE",    "LOCAL_RANK",       "LOCAL_WORLD_SIZE",
};

static bool matches(const char *pattern, const char *name, size_t length)
{
    size_t bytes = strlen(pattern);
    if (pattern[bytes - 1] == '*')
        return length >= bytes - 1 && strncmp(pattern, name, bytes - 1) == 0;
    return length == bytes && strncmp(pattern, name, bytes) == 0;
}

bool childenv_is_ours(const char *name, size_t length)
{
    for (int i = 0; i < NAME_COUNT; i++)
        if ((names[i].flags & GIVEN) && matches(names[i].name, name, length))
            return true;
    for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
        if (matches(own_names[i], name, length))
            return true;
    return false;
}

static bool is_foreign(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(foreign_names) / sizeof(foreign_names[0]); i++)
        if (matches(foreign_names[i], name, length))
            return true;
    return false;
}

static int parse_size(const char *text, const char **end, double *bytes)
{
    static const char suffixes[] = "KMGT";
    char *rest;
    if (*text < '0' || *text > '9')
        return -1;
    double value = (double)strtoull(text, &rest, 10);
    const char *suffix = *rest && *rest != '.' ? strchr(suffixes, *rest & ~32) : NULL;
    for (int i = 0; suffix && i <= suffix - suffixes; i++)
        value *= 1024;
    *end = rest + (suffix ? 1 : 0);
    *bytes = value;
    return 0;
}

/* The library checks it again; here one line replaces one per PE. */
static int check_size(const char *text)
{
    const char *end, *range = names[NAME_symmetric_size].range;
    double bytes, low, high;
    if (parse_size(range, &end, &low) == 0 && parse_size(end + 2, &end, &high) == 0 &&
        parse_size(text, &end, &bytes) == 0 && !*end && bytes >= low && bytes <= high)
        return 0;
    say("--mem: \"%s\" is not allowed; give bytes, or a number with K, M, G or T, in %s", text, range);
    return -1;
}

int childenv_check(const options_t *options)
{
    for (size_t i = 0; i < options->exports.count; i++) {
        const char *item = options->exports.items[i];
        size_t length = strcspn(item, "=");
        if (!length) {
            say("-x: \"%s\" is not allowed; give NAME or NAME=VALUE", item);
            return -1;
        }
        if (childenv_is_ours(item, length)) {
            say("-x: %.*s is set by aclshmemrun itself, differently for each PE", (int)length, item);
            return -1;
        }
        if (!item[length] && !getenv(item))
            say("-x %s: it is not set here, so it is not set for the PEs", item);
    }
    return options->mem ? check_size(options->mem) : 0;
}

/* A port nobody has now, below the range the system hands out by itself. 0 when there is none. */
static int free_port(void)
{
    for (int attempt = 0; attempt < 64; attempt++) {
        uint16_t random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            random = (uint16_t)(getpid() + attempt * 97);
        int port = 20000 + random % 12000;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
        if (fd >= 0)
            close(fd);
        if (bound)
            return port;
    }
    return 0;
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1))
        say("cannot set %s: %s", name, strerror(errno));
}

static void set_number(const char *name, long value)
{
    char text[32];
    snprintf(text, sizeof(text), "%ld", value);
    set(name, text);
}

static void remove_foreign(void)
{
    char name[256];
    for (size_t at = 0; environ[at];) {
        size_t length = strcspn(environ[at], "=");
        if (length < sizeof(name) &&
            (is_foreign(environ[at], length) || childenv_is_ours(environ[at], length))) {
            memcpy(name, environ[at], length);
            name[length] = 0;
            if (unsetenv(name) == 0) {
                at = 0;
                continue;
            }
        }
        at++;
    }
}

static void set_exports(const options_t *options)
{
    for (size_t i = 0; i < options->exports.count; i++) {
        char *item = options->exports.items[i], *equals = strchr(item, '=');
        if (!equals)
            continue; /* it is in our environment already */
        *equals = 0;
        set(item, equals + 1);
        *equals = '=';
    }
}

void childenv_prepare(job_t *job)
{
    const options_t *options = job->options;
    /* inside another launcher's process the meeting point is that launcher's, not the user's */
    if (getenv("TORCHELASTIC_RUN_ID") || getenv(names[NAME_pe].name) || getenv("OMPI_COMM_WORLD_RANK")) {
        (void)unsetenv("MASTER_ADDR");
        (void)unsetenv("MASTER_PORT");
    }
    /* values asked for by name survive the cleaning, whoever set them */
    strlist_t kept = {0};
    for (size_t i = 0; i < options->exports.count; i++) {
        const char *name = options->exports.items[i], *value = strchr(name, '=') ? NULL : getenv(name);
        char pair[4096];
        if (value && is_foreign(name, strlen(name)) &&
            snprintf(pair, sizeof(pair), "%s=%s", name, value) < (int)sizeof(pair))
            (void)strlist_add(&kept, pair, strlen(pair));
    }
    remove_foreign();
    for (size_t i = 0; i < kept.count; i++) {
        char *equals = strchr(kept.items[i], '=');
        *equals = 0;
        set(kept.items[i], equals + 1);
    }
    strlist_free(&kept);
    set_exports(options);
    set_number(names[NAME_npes].name, job->n_pes);
    set_number(names[NAME_local_npes].name, job->n_pes);
    set_number(names[NAME_node].name, 0);
    set_number(names[NAME_nnodes].name, 1);
    set(names[NAME_job_id].name, job->id);
    if (options->mem)
        set(names[NAME_symmetric_size].name, options->mem);
    set_number("PMI_SIZE", job->n_pes);
    set_number("WORLD_SIZE", job->n_pes);
    set_number("LOCAL_WORLD_SIZE", job->n_pes);
    if (!getenv("MASTER_ADDR"))
        set("MASTER_ADDR", "127.0.0.1");
    if (!getenv("PYTHONUNBUFFERED"))
        set("PYTHONUNBUFFERED", "1");
    if (job->n_pes > 1 && !getenv("OMP_NUM_THREADS")) {
        set("OMP_NUM_THREADS", "1");
        if (options->verbose)
            say("OMP_NUM_THREADS was not set, the PEs get 1");
    }
    job->own_port = !getenv("MASTER_PORT");
}

void childenv_attempt(job_t *job)
{
    int port = job->own_port ? free_port() : 0;
    set_number(names[NAME_restart_count].name, job->attempt);
    if (port)
        set_number("MASTER_PORT", port);
}

static void put_number(env_sink_t sink, void *to, const char *name, long value)
{
    char text[32];
    snprintf(text, sizeof(text), "%ld", value);
    sink(to, name, text);
}

void childenv_each(const pe_t *pe, int pmi_fd, int secret_fd, int life_fd, env_sink_t sink, void *to)
{
    put_number(sink, to, names[NAME_pe].name, pe->rank);
    put_number(sink, to, names[NAME_local_pe].name, pe->rank);
    put_number(sink, to, names[NAME_secret_fd].name, secret_fd);
    put_number(sink, to, names[NAME_life_fd].name, life_fd);
    put_number(sink, to, "PMI_FD", pmi_fd);
    put_number(sink, to, "PMI_RANK", pe->rank);
    put_number(sink, to, "PMI_APPNUM", pe->appnum);
    put_number(sink, to, "RANK", pe->rank);
    put_number(sink, to, "LOCAL_RANK", pe->rank);
    if (pe->segment->wdir) {
        char folder[4096];
        if (realpath(pe->segment->wdir, folder))
            sink(to, "PWD", folder);
    }
}

static void print_pair(void *to, const char *name, const char *value)
{
    bool descriptor = strlen(name) > 3 && strcmp(name + strlen(name) - 3, "_FD") == 0;
    fprintf(to, "%s=%s\n", name, descriptor ? "(a descriptor)" : value);
}

/* What PE 0 would get from us: the common part lies in our own environment already. */
void childenv_print(job_t *job, FILE *to)
{
    static const char *const common[] = {"PMI_SIZE",    "WORLD_SIZE",       "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                                         "MASTER_PORT", "PYTHONUNBUFFERED", "OMP_NUM_THREADS"};
    childenv_each(&job->pes[0], 0, 0, 0, print_pair, to);
    for (int i = 0; i < NAME_COUNT; i++) {
        bool per_pe = i == NAME_pe || i == NAME_local_pe || i == NAME_secret_fd || i == NAME_life_fd;
        const char *value = getenv(names[i].name);
        if (value && !per_pe && ((names[i].flags & GIVEN) || (i == NAME_symmetric_size && job->options->mem)))
            fprintf(to, "%s=%s\n", names[i].name, value);
    }
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        if (getenv(common[i]))
            fprintf(to, "%s=%s\n", common[i], getenv(common[i]));
    for (size_t i = 0; i < job->options->exports.count; i++) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(job->options->exports.items[i], "="),
                 job->options->exports.items[i]);
        if (getenv(name))
            fprintf(to, "%s=%s\n", name, getenv(name));
    }
}
