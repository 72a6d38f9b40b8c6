/* SPDX-License-Identifier: Apache-2.0 */
/* Which launcher a set of variables means, and where its PEs meet: no process is started here. */
#define LOG_MODULE "test"
#include "host/bootstrap/launch/launch.h"
#undef fail /* cmocka has one of its own */

#include <stdio.h>
#include <string.h>

#include "support/unit.h"

/* --- a made-up environment: "NAME=value", later ones win --- */

typedef struct world {
    const char *set[64];
    size_t count;
} world_t;

static const char *get(void *context, const char *name)
{
    const world_t *world = context;
    size_t length = strlen(name);
    for (size_t i = world->count; i-- > 0;) {
        if (strncmp(world->set[i], name, length) == 0 && world->set[i][length] == '=')
            return world->set[i] + length + 1;
    }
    return NULL;
}

static void add(world_t *world, const char *const *set)
{
    for (; *set != NULL; set++) {
        assert_true(world->count < 64);
        world->set[world->count++] = *set;
    }
}

static aclshmemi_source_t source_of(world_t *world, const char *forced)
{
    return (aclshmemi_source_t){.get = get, .context = world, .has_pmix = true, .forced = forced};
}

static aclshmemi_sighting_t look(world_t *world, const char *forced)
{
    aclshmemi_sighting_t seen;
    aclshmemi_source_t source = source_of(world, forced);
    t_check_that(aclshmemi_launch_look(&source, &seen) == 0, "%s", aclshmemi_status_last_text());
    return seen;
}

static void refuse(world_t *world, const char *forced, const char *reason)
{
    aclshmemi_sighting_t seen = {.launch = {.pe = 77}};
    aclshmemi_source_t source = source_of(world, forced);
    assert_int_equal(aclshmemi_launch_look(&source, &seen), ACLSHMEM_INVALID_VALUE);
    t_check_contains(aclshmemi_status_last_text(), reason);
    assert_int_equal(seen.launch.pe, 77);
}

/* What each launcher sets, in the order of precedence; every one has its own numbers. */
typedef struct launcher {
    const char *name;
    const char *set[16];
    int pe, n_pes, local_pe, local_npes;
    bool single_host;
    aclshmemi_ask_t ask;
} launcher_t;

static const launcher_t launchers[] = {
    {"aclshmemrun",
     {"SHMEM_PE=1", "SHMEM_NPES=21", "SHMEM_LOCAL_PE=0", "SHMEM_LOCAL_NPES=3", "SHMEM_NNODES=7", "PMI_FD=5",
      "PMI_RANK=1", "PMI_SIZE=21", "RANK=1", "WORLD_SIZE=21", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=3",
      "MASTER_ADDR=node1"},
     1,
     21,
     0,
     3,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"torchrun",
     {"TORCHELASTIC_RUN_ID=none", "RANK=2", "WORLD_SIZE=22", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=22",
      "MASTER_ADDR=node1", "MASTER_PORT=29500", "TORCHELASTIC_RESTART_COUNT=0"},
     2,
     22,
     2,
     22,
     true,
     ACLSHMEMI_ASK_NOBODY},
    {"pmix",
     {"PMIX_RANK=3", "PMIX_NAMESPACE=1153236993", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=23",
      "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=4"},
     3,
     23,
     1,
     4,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"pmi",
     {"PMI_RANK=4", "PMI_SIZE=24", "PMI_FD=6", "MPI_LOCALRANKID=4", "MPI_LOCALNRANKS=24"},
     4,
     24,
     4,
     24,
     true,
     ACLSHMEMI_ASK_NOBODY},
    {"ompi",
     {"OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=25", "OMPI_COMM_WORLD_LOCAL_RANK=5",
      "OMPI_COMM_WORLD_LOCAL_SIZE=25"},
     5,
     25,
     5,
     25,
     true,
     ACLSHMEMI_ASK_NOBODY},
    {"mvapich",
     {"MV2_COMM_WORLD_RANK=6", "MV2_COMM_WORLD_SIZE=26", "MV2_COMM_WORLD_LOCAL_RANK=1",
      "MV2_COMM_WORLD_LOCAL_SIZE=13"},
     6,
     26,
     1,
     13,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"pals",
     {"PALS_RANKID=7", "PALS_LOCAL_RANKID=0", "PMI_SIZE=27", "PMI_LOCAL_SIZE=9", "PALS_APID=abc"},
     7,
     27,
     0,
     9,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"flux",
     {"FLUX_TASK_RANK=8", "FLUX_JOB_SIZE=28", "FLUX_TASK_LOCAL_ID=8", "FLUX_JOB_NNODES=1"},
     8,
     28,
     8,
     28,
     true,
     ACLSHMEMI_ASK_NOBODY},
    {"slurm",
     {"SLURM_PROCID=9", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=29", "SLURM_LOCALID=2", "SLURM_NODEID=1",
      "SLURM_STEP_TASKS_PER_NODE=7(x3),8", "SLURM_JOB_ID=12", "SLURM_STEP_NODELIST=n[1-4]",
      "SLURM_NTASKS=29"},
     9,
     29,
     2,
     7,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"env",
     {"RANK=10", "WORLD_SIZE=30", "MASTER_ADDR=node1", "MASTER_PORT=29500", "LOCAL_RANK=4"},
     10,
     30,
     4,
     -1,
     false,
     ACLSHMEMI_ASK_NOBODY},
    {"ascend", {"RANK_ID=11", "RANK_SIZE=31"}, 11, 31, -1, -1, false, ACLSHMEMI_ASK_NOBODY},
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static void expect(const aclshmemi_sighting_t *seen, const launcher_t *expected)
{
    assert_string_equal(seen->launch.name, expected->name);
    assert_int_equal(seen->launch.pe, expected->pe);
    assert_int_equal(seen->launch.n_pes, expected->n_pes);
    assert_int_equal(seen->ask, expected->ask);
}

static void test_each_launcher_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAUNCHERS; i++) {
        world_t world = {.count = 0};
        add(&world, launchers[i].set);
        aclshmemi_sighting_t seen = look(&world, "auto");
        expect(&seen, &launchers[i]);
        assert_int_equal(seen.launch.local_pe, launchers[i].local_pe);
        assert_int_equal(seen.launch.local_npes, launchers[i].local_npes);
        assert_int_equal(seen.launch.single_host, launchers[i].single_host);
        assert_string_equal(seen.warning, "");
        /* And forced, alone or with nothing else to choose. */
        seen = look(&world, launchers[i].name);
        expect(&seen, &launchers[i]);
    }
}

static bool shares_names(size_t inner, size_t outer)
{
    for (const char *const *a = launchers[inner].set; *a != NULL; a++) {
        for (const char *const *b = launchers[outer].set; *b != NULL; b++) {
            if (strncmp(*a, *b, strcspn(*a, "=") + 1) == 0)
                return true;
        }
    }
    return false;
}

/* Inner before outer, whichever the outer is; the outer's count makes a warning, and forcing turns it round. */
static void test_all_pairs(void **state)
{
    (void)state;
    for (size_t inner = 0; inner < LAUNCHERS; inner++) {
        for (size_t outer = inner + 1; outer < LAUNCHERS; outer++) {
            world_t world = {.count = 0};
            add(&world, launchers[outer].set);
            add(&world, launchers[inner].set); /* the inner one overwrites what both set */
            aclshmemi_sighting_t seen = look(&world, "auto");
            t_check_that(strcmp(seen.launch.name, launchers[inner].name) == 0, "%s in %s is taken for %s",
                         launchers[inner].name, launchers[outer].name, seen.launch.name);
            expect(&seen, &launchers[inner]);
            char part[80];
            aclshmemi_sighting_t forced;
            aclshmemi_source_t source = source_of(&world, launchers[outer].name);
            int rc = aclshmemi_launch_look(&source, &forced);
            if (rc != 0 || forced.launch.n_pes == launchers[inner].n_pes) {
                /* They share their names, so there is nothing to tell apart. */
                t_check_that(shares_names(inner, outer), "%s in %s", launchers[inner].name,
                             launchers[outer].name);
                continue;
            }
            snprintf(part, sizeof part, "variables of %s say %d PEs", launchers[inner].name,
                     launchers[inner].n_pes);
            t_check_contains(seen.warning, part);
            t_check_contains(seen.warning, "SHMEM_LAUNCHER=");
            assert_string_equal(forced.warning, "");
        }
    }
}

static void test_agreeing_rows_do_not_warn(void **state)
{
    (void)state;
    world_t world = {.count = 0};
    /* torchrun has all of env's names, mpirun with PMIx all of ompi's. */
    add(&world, launchers[1].set);
    assert_string_equal(look(&world, "auto").warning, "");
    const char *mpirun[] = {"PMI_RANK=2", "PMI_SIZE=22", "PMI_FD=9", NULL};
    add(&world, mpirun);
    assert_string_equal(look(&world, "auto").warning, "");
}

static void test_signs_must_be_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAUNCHERS; i++) {
        world_t world = {.count = 0};
        add(&world, launchers[i].set);
        world.set[0] = "UNRELATED=1"; /* the first is a sign everywhere */
        assert_string_not_equal(look(&world, "auto").launch.name, launchers[i].name);
        world_t empty = {.count = 0};
        add(&empty, launchers[i].set);
        char unset[64];
        snprintf(unset, sizeof unset, "%.*s=", (int)strcspn(launchers[i].set[0], "="), launchers[i].set[0]);
        empty.set[empty.count++] = unset; /* set to nothing is not set */
        assert_string_not_equal(look(&empty, "auto").launch.name, launchers[i].name);
    }
}

static void test_pmix_without_its_library(void **state)
{
    (void)state;
    world_t world = {.count = 0};
    aclshmemi_sighting_t seen;
    add(&world, launchers[2].set);
    aclshmemi_source_t source = source_of(&world, "auto");
    source.has_pmix = false;
    assert_int_equal(aclshmemi_launch_look(&source, &seen), 0);
    assert_string_equal(seen.launch.name, "ompi");
    assert_int_equal(seen.launch.n_pes, 23);
    source.forced = "pmix";
    assert_int_equal(aclshmemi_launch_look(&source, &seen), ACLSHMEM_INVALID_VALUE);
    t_check_contains(aclshmemi_status_last_text(), "libpmix.so.2");
}

static void test_who_must_be_asked(void **state)
{
    (void)state;
    world_t pmix = {{"PMIX_RANK=1", "PMIX_NAMESPACE=prterun-1@1"}, 2};
    aclshmemi_sighting_t seen = look(&pmix, "auto");
    assert_string_equal(seen.launch.name, "pmix");
    assert_int_equal(seen.ask, ACLSHMEMI_ASK_PMIX);
    world_t port = {{"PMI_ID=1", "PMI_PORT=host:33883", "MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1"}, 4};
    seen = look(&port, "auto");
    assert_string_equal(seen.launch.name, "pmi");
    assert_int_equal(seen.ask, ACLSHMEMI_ASK_PMI);
    assert_int_equal(seen.launch.local_npes, 2);
    port.set[port.count++] = "PMI_RANK=0";
    port.set[port.count++] = "PMI_SIZE=2";
    seen = look(&port, "pmi");
    assert_int_equal(seen.ask, ACLSHMEMI_ASK_NOBODY);
    assert_int_equal(seen.launch.pe, 0);
    assert_true(seen.launch.single_host);
}

static void test_batch_script_is_no_task(void **state)
{
    (void)state;
    /* In a batch script the names of one task are there, and the count of the whole job. */
    world_t script = {{"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=4"}, 4};
    aclshmemi_sighting_t seen = look(&script, "auto");
    assert_string_equal(seen.launch.name, "alone");
    t_check_contains(seen.warning, "SLURM_NTASKS is 4");
    t_check_contains(seen.warning, "SHMEM_LAUNCHER=none");
    /* A step with one task is one PE. */
    world_t step = {{"SLURM_PROCID=0", "SLURM_STEP_ID=3", "SLURM_STEP_NUM_TASKS=1", "SLURM_NTASKS=1"}, 4};
    seen = look(&step, "auto");
    assert_string_equal(seen.launch.name, "alone");
    assert_string_equal(seen.warning, "");
    /* Our launcher inside it, and torchrun inside mpirun. */
    add(&script, launchers[0].set);
    assert_string_equal(look(&script, "auto").launch.name, "aclshmemrun");
}

static void test_alone(void **state)
{
    (void)state;
    world_t nothing = {.count = 0};
    aclshmemi_sighting_t seen = look(&nothing, "auto");
    assert_string_equal(seen.launch.name, "alone");
    assert_int_equal(seen.launch.pe, 0);
    assert_int_equal(seen.launch.n_pes, 1);
    assert_true(seen.launch.single_host);
    assert_string_equal(seen.warning, "");
    /* Half a torch environment: a count, but not which PE. */
    world_t half = {{"WORLD_SIZE=4", "MASTER_ADDR=node1"}, 2};
    seen = look(&half, "auto");
    assert_string_equal(seen.launch.name, "alone");
    t_check_contains(seen.warning, "WORLD_SIZE is 4");
    world_t one = {{"WORLD_SIZE=1"}, 1};
    assert_string_equal(look(&one, "auto").warning, "");
    /* Who says so is alone without a warning. */
    world_t torch = {.count = 0};
    add(&torch, launchers[1].set);
    seen = look(&torch, "none");
    assert_string_equal(seen.launch.name, "alone");
    assert_int_equal(seen.launch.n_pes, 1);
    assert_string_equal(seen.warning, "");
    assert_string_equal(look(&torch, "alone").launch.name, "alone");
}

static void test_forcing(void **state)
{
    (void)state;
    world_t world = {{"RANK=1", "WORLD_SIZE=2"}, 2};
    assert_string_equal(look(&world, "torchrun").launch.name, "torchrun"); /* who and how many is enough */
    assert_string_equal(look(&world, "env").launch.name, "env");
    refuse(&world, "slurm", "SLURM_PROCID is not set");
    refuse(&world, "pmi", "PMI_RANK is not set");
    world_t rank_only = {{"RANK=1"}, 1};
    refuse(&rank_only, "env", "WORLD_SIZE is not set");
}

static void test_numbers_are_strict(void **state)
{
    (void)state;
    const struct {
        const char *rank, *size, *local, *local_size, *reason;
    } cases[] = {{"RANK=1x", "WORLD_SIZE=2", "U=", "V=", "RANK is \"1x\""},
                 {"RANK=one", "WORLD_SIZE=2", "U=", "V=", "RANK is \"one\""},
                 {"RANK=1.0", "WORLD_SIZE=2", "U=", "V=", "RANK is"},
                 {"RANK=-1", "WORLD_SIZE=2", "U=", "V=", "0..1"},
                 {"RANK=2", "WORLD_SIZE=2", "U=", "V=", "0..1"},
                 {"RANK=0x1", "WORLD_SIZE=2", "U=", "V=", "RANK is"},
                 {"RANK=18446744073709551617", "WORLD_SIZE=2", "U=", "V=", "RANK is"},
                 {"RANK=0", "WORLD_SIZE=0", "U=", "V=", "WORLD_SIZE is \"0\", not a number in 1..16384"},
                 {"RANK=0", "WORLD_SIZE=16385", "U=", "V=", "WORLD_SIZE"},
                 {"RANK=0", "WORLD_SIZE=2 2", "U=", "V=", "WORLD_SIZE"},
                 {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=x", "V=", "LOCAL_RANK"},
                 {"RANK=0", "WORLD_SIZE=4", "LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2", "LOCAL_RANK is \"2\""},
                 {"RANK=0", "WORLD_SIZE=2", "U=", "LOCAL_WORLD_SIZE=3", "LOCAL_WORLD_SIZE"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        world_t world = {
            {"MASTER_ADDR=node1", cases[i].rank, cases[i].size, cases[i].local, cases[i].local_size}, 5};
        refuse(&world, "auto", cases[i].reason);
        t_check_contains(aclshmemi_status_last_text(), "SHMEM_LAUNCHER");
    }
    world_t slurm = {{"SLURM_PROCID=0", "SLURM_STEP_ID=1", "SLURM_STEP_NUM_TASKS=4x"}, 3};
    refuse(&slurm, "auto", "SLURM_STEP_NUM_TASKS is \"4x\"");
    /* Nonsense in names of a launcher that is not followed does not matter. */
    world_t outer = {.count = 0};
    add(&outer, launchers[0].set);
    outer.set[outer.count++] = "OMPI_COMM_WORLD_RANK=x";
    outer.set[outer.count++] = "OMPI_COMM_WORLD_SIZE=y";
    assert_string_equal(look(&outer, "auto").launch.name, "aclshmemrun");
}

static void test_one_host_by_master_address(void **state)
{
    (void)state;
    const char *const here[] = {"MASTER_ADDR=127.0.0.1", "MASTER_ADDR=localhost", "MASTER_ADDR=::1"};
    for (size_t i = 0; i < 3; i++) {
        world_t world = {{"RANK=1", "WORLD_SIZE=2", here[i]}, 3};
        assert_true(look(&world, "auto").launch.single_host);
    }
    world_t world = {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=127.example"}, 3};
    assert_false(look(&world, "auto").launch.single_host);
}

/* --- where PEs meet --- */

static aclshmemi_job_t job_of(world_t *world, int offset)
{
    aclshmemi_job_t job;
    aclshmemi_sighting_t seen = look(world, "auto");
    aclshmemi_source_t source = source_of(world, "auto");
    t_check_that(aclshmemi_launch_job(&source, &seen.launch, offset, 0, &job) == 0, "%s",
                 aclshmemi_status_last_text());
    return job;
}

static void refuse_job(world_t *world, int code, const char *reason)
{
    aclshmemi_job_t job;
    aclshmemi_sighting_t seen = look(world, "auto");
    aclshmemi_source_t source = source_of(world, "auto");
    assert_int_equal(aclshmemi_launch_job(&source, &seen.launch, 1, 0, &job), code);
    t_check_contains(aclshmemi_status_last_text(), reason);
    t_check_contains(aclshmemi_status_last_text(), "id"); /* a unique id always helps */
}

static bool same_job(world_t *a, world_t *b)
{
    aclshmemi_job_t x = job_of(a, 1), y = job_of(b, 1);
    return memcmp(x.digest, y.digest, sizeof x.digest) == 0;
}

static void test_jobs_are_told_apart(void **state)
{
    (void)state;
    world_t base = {{"TORCHELASTIC_RUN_ID=a", "RANK=0", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2",
                     "MASTER_ADDR=localhost", "MASTER_PORT=29500"},
                    6};
    world_t other = base;
    other.set[1] = "RANK=1";
    assert_true(same_job(&base, &other));
    assert_true(job_of(&base, 1).local);
    const struct {
        size_t at;
        const char *text;
    } changes[] = {{0, "TORCHELASTIC_RUN_ID=b"},
                   {5, "MASTER_PORT=29501"},
                   {4, "MASTER_ADDR=127.0.0.2"},
                   {6, "SHMEM_JOB_ID=7"},
                   {6, "TORCHELASTIC_RESTART_COUNT=1"}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        other = base;
        other.set[changes[i].at] = changes[i].text;
        other.count = 6 + (changes[i].at == 6);
        assert_false(same_job(&base, &other));
    }
    /* Not a matter of where one name ends and the next begins. */
    world_t x = {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=1", "SLURM_JOB_ID=1",
                  "SLURM_STEP_ID=23"},
                 5};
    world_t y = x;
    y.set[3] = "SLURM_JOB_ID=12";
    y.set[4] = "SLURM_STEP_ID=3";
    assert_false(same_job(&x, &y));
}

static void test_ports_between_hosts(void **state)
{
    (void)state;
    world_t world = {{"TORCHELASTIC_RUN_ID=a", "RANK=0", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2",
                      "MASTER_ADDR=node1.example", "MASTER_PORT=29500"},
                     6};
    aclshmemi_job_t job = job_of(&world, 1);
    assert_false(job.local);
    assert_string_equal(job.host, "node1.example");
    assert_int_equal(job.port, 29501);
    assert_int_equal(job_of(&world, 100).port, 29600);
    world.set[world.count++] = "TORCHELASTIC_RESTART_COUNT=3";
    assert_int_equal(job_of(&world, 1).port, 29504);
    /* How the name of PE 0's host is spelled does not make another job. */
    world_t spelled = world;
    spelled.set[4] = "MASTER_ADDR=10.0.0.1";
    assert_true(same_job(&world, &spelled));

    world_t slurm = {{"SLURM_PROCID=0", "SLURM_STEP_ID=3", "SLURM_STEP_NUM_TASKS=4", "SLURM_JOB_ID=123456",
                      "SLURM_STEP_NODELIST=node[07-09],x"},
                     5};
    job = job_of(&slurm, 1);
    assert_string_equal(job.host, "node07");
    assert_int_equal(job.port, 20000 + (17 * 123456 + 3) % 20000);
}

static void test_nowhere_to_meet(void **state)
{
    (void)state;
    world_t no_port = {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=node1"}, 3};
    refuse_job(&no_port, ACLSHMEM_INVALID_VALUE, "MASTER_PORT is not set");
    world_t no_address = {{"RANK_ID=0", "RANK_SIZE=2", "MASTER_PORT=29500"}, 3};
    refuse_job(&no_address, ACLSHMEM_INVALID_VALUE, "MASTER_ADDR is not set");
    world_t nothing = {{"RANK_ID=0", "RANK_SIZE=2"}, 2};
    refuse_job(&nothing, ACLSHMEM_INVALID_VALUE, "SHMEM_JOB_ID");
    world_t several = {{"MV2_COMM_WORLD_RANK=0", "MV2_COMM_WORLD_SIZE=4", "MV2_COMM_WORLD_LOCAL_SIZE=2",
                        "MPISPAWN_MPIRUN_ID=5"},
                       4};
    refuse_job(&several, ACLSHMEM_NOT_SUPPORTED, "libpmix");
    const char *const ports[] = {"MASTER_PORT=65530", "MASTER_PORT=70000", "MASTER_PORT=80", "MASTER_PORT=x"};
    for (size_t i = 0; i < 4; i++) {
        aclshmemi_job_t job;
        world_t world = {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=node1", ports[i]}, 4};
        aclshmemi_sighting_t seen = look(&world, "auto");
        aclshmemi_source_t source = source_of(&world, "auto");
        assert_int_equal(aclshmemi_launch_job(&source, &seen.launch, 1, 0, &job), ACLSHMEM_INVALID_VALUE);
        t_check_contains(aclshmemi_status_last_text(), "MASTER_PORT");
    }
}

static void test_slurm_lists(void **state)
{
    (void)state;
    const struct {
        const char *list, *host;
    } hosts[] = {{"node1", "node1"},
                 {"node1,node2", "node1"},
                 {"node[01-04,7]", "node01"},
                 {"node[7]", "node7"},
                 {"node[7,9],other", "node7"},
                 {"rack[2-3]n[05-06].ex.org,z", "rack2n05.ex.org"},
                 {"a-b_c.d", "a-b_c.d"},
                 {"", NULL},
                 {",a", NULL},
                 {"node[", NULL},
                 {"node[]", NULL},
                 {"node[a]", NULL},
                 {"node[-3]", NULL},
                 {"node[1", NULL},
                 {"node]1", NULL},
                 {"no de", NULL},
                 {"$(reboot)", NULL}};
    char out[64];
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        int rc = aclshmemi_slurm_first_host(hosts[i].list, out, sizeof out);
        t_check_that((rc == 0) == (hosts[i].host != NULL), "\"%s\" gives %d", hosts[i].list, rc);
        if (rc == 0)
            assert_string_equal(out, hosts[i].host);
    }
    assert_int_not_equal(aclshmemi_slurm_first_host("node1", out, 5), 0);

    const struct {
        const char *list;
        int node, tasks;
    } tasks[] = {{"2", 0, 2},         {"2(x3),1", 0, 2},   {"2(x3),1", 2, 2},   {"2(x3),1", 3, 1},
                 {"1,2(x2),3", 2, 2}, {"1,2(x2),3", 3, 3}, {"2(x3),1", 4, -1},  {"", 0, -1},
                 {"x", 0, -1},        {"2(x", 1, -1},      {"2(x3", 0, -1},     {"2(x0)", 0, -1},
                 {"0", 0, -1},        {"2,", 1, -1},       {"99999999", 0, -1}, {"2(x3)1", 4, -1}};
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        int count = -1;
        int rc = aclshmemi_slurm_tasks_of(tasks[i].list, tasks[i].node, &count);
        t_check_that(count == tasks[i].tasks && (rc == 0) == (count > 0), "\"%s\" gives %d", tasks[i].list,
                     count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_launcher_alone),
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_agreeing_rows_do_not_warn),
        cmocka_unit_test(test_signs_must_be_complete),
        cmocka_unit_test(test_pmix_without_its_library),
        cmocka_unit_test(test_who_must_be_asked),
        cmocka_unit_test(test_batch_script_is_no_task),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_forcing),
        cmocka_unit_test(test_numbers_are_strict),
        cmocka_unit_test(test_one_host_by_master_address),
        cmocka_unit_test(test_jobs_are_told_apart),
        cmocka_unit_test(test_ports_between_hosts),
        cmocka_unit_test(test_nowhere_to_meet),
        cmocka_unit_test(test_slurm_lists),
    };
    t_unit_log_start(ACLSHMEMI_LOG_ERROR); /* refusals are the point here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
