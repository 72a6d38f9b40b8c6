/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what turns text into settings: aclshmemi_parse_int, _size, _seconds, _bool, _choice; the level and module
 * lists of the log; aclshmemi_env_nearest; and settings files through aclshmemi_env_init with all it calls. Beyond not
 * crashing: what is accepted lies in its limits and reads the same when printed and read again.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/utils/env.h"
#include "host/utils/env_table.h"
#include "host/utils/log_filter.h"

static int file_fd = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[64];
    (void)argc;
    (void)argv;
    file_fd = memfd_create("settings", MFD_CLOEXEC);
    expect(file_fd >= 0);
    expect(fchmod(file_fd, 0600) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file_fd);
    expect(setenv("SHMEM_CONFIG_FILE", path, 1) == 0);
    aclshmemi_log_set_callback(swallow);
    return 0;
}

static void numbers(const char *text)
{
    char again[64];
    int64_t number = 0, number_again = 0;
    uint64_t size = 0, size_again = 0;
    bool truth;
    if (aclshmemi_parse_int(text, -1000, INT64_MAX, &number) == 0) {
        expect(number >= -1000);
        snprintf(again, sizeof again, "%lld", (long long)number);
        expect(aclshmemi_parse_int(again, number, number, &number_again) == 0);
    }
    if (aclshmemi_parse_size(text, 10, UINT64_C(1) << 50, &size) == 0) {
        expect(size >= 10 && size <= UINT64_C(1) << 50);
        snprintf(again, sizeof again, "%llu", (unsigned long long)size);
        expect(aclshmemi_parse_size(again, size, size, &size_again) == 0);
    }
    if (aclshmemi_parse_seconds(text, 1, 1000000, &size) == 0) {
        expect(size >= 1 && size <= 1000000);
        snprintf(again, sizeof again, "%llu.%03u", (unsigned long long)size / 1000, (unsigned)(size % 1000));
        expect(aclshmemi_parse_seconds(again, size, size, &size_again) == 0);
    }
    if (aclshmemi_parse_choice(text, "auto|none|a|pmix", &number) == 0)
        expect(number >= 0 && number < 4);
    (void)!aclshmemi_parse_bool(text, &truth);
}

static void lists(const char *text)
{
    aclshmemi_log_filter_t filter;
    aclshmemi_log_filter_init(&filter, ACLSHMEMI_LOG_WARN);
    if (aclshmemi_log_filter_set_levels(&filter, text) == 0)
        expect(aclshmemi_log_filter_least(&filter) >= -1 && aclshmemi_log_filter_least(&filter) <= 4);
    (void)!aclshmemi_log_filter_set_subsystems(&filter, text);
    aclshmemi_log_filter_allows(&filter, "store", ACLSHMEMI_LOG_INFO);
    const char *nearest = aclshmemi_env_nearest(text);
    expect(!nearest || aclshmemi_env_find(nearest) >= 0);
}

/* What was accepted, printed, must be accepted again and mean the same. */
static void print_and_read_again(const aclshmemi_env_t *env)
{
    char value[8192], value_again[8192];
    for (int row = 0; row < ACLSHMEMI_ENV_COUNT; row++) {
        if (env->origin[row] != ACLSHMEMI_ORIGIN_FILE)
            continue;
        aclshmemi_env_t second;
        const char *name = aclshmemi_env_rows()[row].name;
        expect(aclshmemi_env_print(env, row, value, sizeof value) < sizeof value);
        expect(setenv(name, value, 1) == 0);
        expect(aclshmemi_env_init(&second) == 0);
        expect(second.origin[row] == ACLSHMEMI_ORIGIN_ENVIRONMENT || value[0] == '\0');
        aclshmemi_env_print(&second, row, value_again, sizeof value_again);
        expect(strcmp(value, value_again) == 0);
        aclshmemi_env_fini(&second);
        expect(unsetenv(name) == 0);
    }
}

static void settings_file(const uint8_t *data, size_t size)
{
    aclshmemi_env_t env;
    expect(ftruncate(file_fd, 0) == 0);
    expect(pwrite(file_fd, data, size, 0) == (ssize_t)size);
    if (aclshmemi_env_init(&env) != 0) {
        expect(env.storage == NULL);
        expect(strlen(aclshmemi_status_last_text()) > 0);
        return;
    }
    expect(env.symmetric_size >= 2 << 20 && env.symmetric_size <= UINT64_C(40) << 30);
    expect(env.wait_timeout_ms >= 1 && env.rdma_tc % 4 == 0 && env.rdma_tc <= 255);
    print_and_read_again(&env);
    aclshmemi_env_fini(&env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of exactly that size, so that a byte too many is seen */
    expect(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    numbers(text);
    lists(text);
    free(text);
    settings_file(data, size);
    return 0;
}
