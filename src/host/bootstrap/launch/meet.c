/* SPDX-License-Identifier: Apache-2.0 */
/* The front of launch/: who started us, meeting the others, and telling the launcher about our end. */
#define LOG_MODULE "launch"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/launch/launch.h"

#define ASK_MS 10000 /* what a launcher on this host may take to tell rank and size */

static _Atomic int meetings; /* begun and not yet done */

static const char *from_environment(void *context, const char *name)
{
    (void)context;
    return aclshmemi_env_raw(name);
}

/* The word of the setting, by its place in the table's list. */
static const char *launcher_word(const aclshmemi_env_t *env, char *out, size_t size)
{
    const char *at = aclshmemi_env_rows()[ACLSHMEMI_ENV_launcher].range;
    for (int64_t i = 0; i < env->launcher && *at != '\0'; i++) {
        at += strcspn(at, "|");
        at += *at == '|' ? 1 : 0;
    }
    snprintf(out, size, "%.*s", (int)strcspn(at, "|"), at);
    return out;
}

aclshmemi_source_t aclshmemi_source_of_process(const aclshmemi_env_t *env)
{
    static _Thread_local char forced[16];
    aclshmemi_source_t source = {.get = from_environment,
                                 .forced = launcher_word(env, forced, sizeof forced)};
    source.has_pmix = aclshmemi_env_raw("PMIX_RANK") != NULL && aclshmemi_pmix_loadable();
    return source;
}

static int ask(const aclshmemi_source_t *source, aclshmemi_sighting_t *seen)
{
    aclshmemi_launch_t *launch = &seen->launch;
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(ASK_MS);
    if (seen->ask == ACLSHMEMI_ASK_PMI)
        TRY(aclshmemi_pmi_ask(source, deadline, &launch->pe, &launch->n_pes));
    else if (seen->ask == ACLSHMEMI_ASK_PMIX)
        TRY(aclshmemi_pmix_ask(deadline, launch));
    launch->single_host = launch->single_host || launch->n_pes == 1 || launch->local_npes == launch->n_pes;
    return 0;
}

int aclshmemi_launch_detect(const aclshmemi_env_t *env, aclshmemi_launch_t *launch)
{
    aclshmemi_sighting_t seen;
    aclshmemi_source_t source = aclshmemi_source_of_process(env);
    TRY(aclshmemi_launch_look(&source, &seen));
    TRY(ask(&source, &seen));
    if (seen.warning[0] != '\0' && seen.launch.pe == 0)
        log_once(ACLSHMEMI_LOG_WARN, "%s", seen.warning);
    log_debug("launcher %s: PE %d of %d, %d of %d on this host", seen.launch.name, seen.launch.pe,
              seen.launch.n_pes, seen.launch.local_pe, seen.launch.local_npes);
    *launch = seen.launch;
    return 0;
}

static bool offers_pmi(const aclshmemi_source_t *source, const char *name)
{
    static const char *const maybe[] = {"mvapich", "pals", "flux"};
    if (strcmp(name, "aclshmemrun") == 0 || strcmp(name, "pmi") == 0)
        return true;
    for (size_t i = 0; i < sizeof maybe / sizeof maybe[0]; i++) {
        if (strcmp(name, maybe[i]) == 0)
            return aclshmemi_source_get(source, "PMI_FD") != NULL ||
                   (aclshmemi_source_get(source, "PMI_PORT") != NULL &&
                    aclshmemi_source_get(source, "PMI_ID") != NULL);
    }
    return false;
}

int aclshmemi_launch_meet(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, uint64_t timeout_ms,
                          aclshmemx_uniqueid_t *uid)
{
    aclshmemi_job_t job;
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms);
    aclshmemi_source_t source = aclshmemi_source_of_process(env);
    atomic_fetch_add(&meetings, 1);
    if (launch->n_pes == 1)
        return aclshmemi_uid_create(env, true, uid);
    if (offers_pmi(&source, launch->name))
        return aclshmemi_meet_pmi(&source, env, launch, deadline, uid);
    if (strcmp(launch->name, "pmix") == 0)
        return aclshmemi_meet_pmix(env, launch, deadline, uid);
    TRY(aclshmemi_launch_job(&source, launch, env->port_offset, env->restart_count, &job));
    return aclshmemi_meet_socket(&job, env, launch, deadline, uid);
}

void aclshmemi_launch_done(void)
{
    int before = atomic_load(&meetings);
    while (before > 0 && !atomic_compare_exchange_weak(&meetings, &before, before - 1))
        ;
    if (before > 1)
        return;
    aclshmemi_pmi_done();
    aclshmemi_pmix_done();
}

void aclshmemi_launch_abort(int status)
{
    aclshmemi_pmi_abort(status);
    aclshmemi_pmix_abort(status);
}

void aclshmemi_launch_forget(void)
{
    atomic_store(&meetings, 0);
    aclshmemi_pmi_forget();
    aclshmemi_pmix_forget();
}
