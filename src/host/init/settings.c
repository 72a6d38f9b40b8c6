/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of an instance, the log they configure, and the public calls about both. */
#define LOG_MODULE "env"
#include "host/init/settings.h"

#include <string.h>

#include "host/utils/shmem_log.h"

static bool is_set(const aclshmemi_env_t *env, int row)
{
    return env->origin[row] != ACLSHMEMI_ORIGIN_DEFAULT;
}

/* A level the program chose by a call stays unless a variable says otherwise. */
static int configure_log(const aclshmemi_env_t *env)
{
    static const char *const debug_levels[] = {NULL, NULL, "WARN", "INFO", "TRACE"};
    aclshmemi_log_options_t options = {
        .levels = is_set(env, ACLSHMEMI_ENV_log_level) ? env->log_level : debug_levels[env->debug],
        .subsystems = env->debug_subsys,
        .sink = (int)env->log_to_stdout,
        .directory = env->log_path[0] != '\0' ? env->log_path : NULL,
        .file = env->log_file[0] != '\0' ? env->log_file : NULL,
        .timestamp = env->log_timestamp[0] != '\0' ? env->log_timestamp : NULL,
    };
    if (options.directory != NULL && !is_set(env, ACLSHMEMI_ENV_log_to_stdout))
        options.sink = 0; /* who names a folder wants files */
    return aclshmemi_log_configure(&options);
}

int aclshmemi_settings_load(aclshmemi_env_t *env)
{
    TRY(aclshmemi_env_init(env));
    int rc = configure_log(env);
    if (rc != 0) {
        aclshmemi_env_fini(env);
        return rc;
    }
    aclshmemi_env_warn_unknown();
    return 0;
}

int32_t aclshmemx_set_extern_logger(void (*func)(int level, const char *msg))
{
    aclshmemi_log_set_callback(func);
    return 0;
}

static bool variable_decides_level(void)
{
    static const char *const words[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
    const char *text = aclshmemi_env_raw("SHMEM_LOG_LEVEL");
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return aclshmemi_log_set_level((int)i) == 0;
    return false;
}

int32_t aclshmemx_set_log_level(int level)
{
    return variable_decides_level() ? 0 : aclshmemi_log_set_level(level);
}

int aclshmemx_setting_count(void)
{
    aclshmemi_env_t env;
    if (aclshmemi_env_init(&env) != 0)
        return -1;
    aclshmemi_env_fini(&env);
    return ACLSHMEMI_ENV_COUNT;
}

int aclshmemx_setting_get(int index, aclshmemx_setting_t *setting)
{
    static const char *const origins[] = {"default", "file", "environment"};
    if (index < 0 || index >= ACLSHMEMI_ENV_COUNT)
        return fail(ACLSHMEM_INVALID_VALUE, "setting %d does not exist, 0..%d do", index,
                    ACLSHMEMI_ENV_COUNT - 1);
    if (setting == NULL)
        return fail(ACLSHMEM_INVALID_PARAM, "the place for setting %d is NULL", index);
    aclshmemi_env_t env;
    TRY(aclshmemi_env_init(&env));
    const aclshmemi_env_row_t *row = &aclshmemi_env_rows()[index];
    *setting = (aclshmemx_setting_t){
        .name = row->name,
        .type = row->type,
        .dflt = row->dflt,
        .range = row->range,
        .text = row->text,
        .origin = origins[env.origin[index]],
        .hidden = (row->flags & ACLSHMEMI_ENV_HIDDEN) != 0,
        .given = (row->flags & ACLSHMEMI_ENV_GIVEN) != 0,
    };
    aclshmemi_env_print(&env, index, setting->value, sizeof setting->value);
    aclshmemi_env_fini(&env);
    return 0;
}
