/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short names as a plug-in finds them: by dlsym, without our headers' macros. Each of them leads to the function of the
 * same meaning, and a program's own function of that name is not disturbed.
 */
#define ACLSHMEM_NO_SHMEM_ALIASES
#include <dlfcn.h>
#include <string.h>

#include "pe.h"

/* The program has one of its own, as with an OpenSHMEM linked in front. */
int shmem_team_n_pes(aclshmem_team_t team);
int shmem_team_n_pes(aclshmem_team_t team)
{
    return team + 4711;
}

static void *library;

static void *look_up(const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s is not exported: %s\n", name, dlerror());
        exit(1);
    }
    return symbol;
}

/* short_call(shmem_ptr, aclshmem_ptr) is the first, with the type of the second. */
#define short_call(name, target) ((__typeof__(&(target)))look_up(name))

static int32_t *signal_word;

static void expect_signal(int32_t value)
{
    aclshmem_signal_wait_until(signal_word, ACLSHMEM_CMP_EQ, value);
    aclshmem_barrier_all();
    *signal_word = 0;
    aclshmem_barrier_all();
}

/* Every typed name once, with the next PE: values that show a wrong width or a wrong place. */
#define CHECK_TYPE(NAME, TYPE)                                                                               \
    static void check_##NAME(int next)                                                                       \
    {                                                                                                        \
        TYPE *there = aclshmem_calloc(4, sizeof(TYPE)), here[4] = {1, 2, 3, 4}, back[4] = {0};               \
        CHECK(there != NULL);                                                                                \
        short_call("shmem_put_" #NAME "_mem", aclshmem_##NAME##_put)(there, here, 2, next);                  \
        short_call("shmem_put_" #NAME "_mem_nbi", aclshmem_##NAME##_put_nbi)(there + 2, here + 2, 1, next);  \
        short_call("shmem_" #NAME "_p", aclshmem_##NAME##_p)(there + 3, (TYPE)4, next);                      \
        aclshmem_barrier_all();                                                                              \
        CHECK(memcmp(there, here, sizeof here) == 0);                                                        \
        CHECK((short_call("shmem_" #NAME "_g", aclshmem_##NAME##_g)(there + 2, next)) == (TYPE)3);           \
        short_call("shmem_get_" #NAME "_mem", aclshmem_##NAME##_get)(back, there, 2, next);                  \
        short_call("shmem_get_" #NAME "_mem_nbi", aclshmem_##NAME##_get_nbi)(back + 2, there + 2, 2, next);  \
        aclshmem_barrier_all();                                                                              \
        CHECK(memcmp(back, here, sizeof here) == 0);                                                         \
        short_call("shmem_put_" #NAME "_mem_signal", aclshmem_##NAME##_put_signal)(                          \
            there, here + 3, 1, (uint8_t *)signal_word, 1, ACLSHMEM_SIGNAL_ADD, next);                       \
        short_call("shmem_put_" #NAME "_mem_signal_nbi", aclshmem_##NAME##_put_signal_nbi)(                  \
            there + 1, here + 2, 1, (uint8_t *)signal_word, 6, ACLSHMEM_SIGNAL_ADD, next);                   \
        expect_signal(7);                                                                                    \
        CHECK(there[0] == here[3] && there[1] == here[2] && there[2] == here[2]);                            \
        aclshmem_free(there);                                                                                \
    }                                                                                                        \
    struct needs_a_semicolon
ACLSHMEM_TYPE_FUNC(CHECK_TYPE);

static void types(int next)
{
#define CALL_TYPE(NAME, TYPE) check_##NAME(next)
    ACLSHMEM_TYPE_FUNC(CALL_TYPE);
}

static void memory(int next)
{
    static char letters[] = "abc\0def\0g\0h";
    char *block = short_call("shmem_calloc", aclshmem_calloc)(16, 1), text[16] = {0};
    char *aligned = short_call("shmem_align", aclshmem_align)(4096, 64);
    char *plain = short_call("shmem_malloc", aclshmem_malloc)(64);
    CHECK(block != NULL && plain != NULL && aligned != NULL && (uintptr_t)aligned % 4096 == 0);
    CHECK(short_call("shmem_ptr", aclshmem_ptr)(block, next) == aclshmem_ptr(block, next));
    short_call("shmem_putmem", aclshmem_putmem)(block, letters, 4, next);
    short_call("shmem_putmem_nbi", aclshmem_putmem_nbi)(block + 4, letters + 4, 4, next);
    short_call("shmem_putmem_signal", aclshmemx_putmem_signal)(block + 8, letters + 8, 2, signal_word, 1,
                                                               ACLSHMEM_SIGNAL_ADD, next);
    short_call("shmem_putmem_signal_nbi", aclshmemx_putmem_signal_nbi)(
        block + 10, letters + 10, 2, signal_word, 2, ACLSHMEM_SIGNAL_ADD, next);
    expect_signal(3);
    short_call("shmem_getmem", aclshmem_getmem)(text, block, 8, next);
    short_call("shmem_getmem_nbi", aclshmem_getmem_nbi)(text + 8, block + 8, 4, next);
    aclshmem_quiet();
    CHECK(memcmp(text, letters, 12) == 0);
    void (*give_back)(void *) = short_call("shmem_free", aclshmem_free);
    give_back(plain);
    give_back(aligned);
    give_back(block);
}

static void streams(int next)
{
    int32_t *words = aclshmem_calloc(2, sizeof *words);
    CHECK(words != NULL);
    int32_t value = 5 + aclshmem_my_pe(), got = 0;
    short_call("shmemx_putmem_on_stream", aclshmemx_putmem_on_stream)(words, &value, sizeof value, next,
                                                                      NULL);
    short_call("shmem_signal_op_on_stream", aclshmemx_signal_op_on_stream)(signal_word, 9,
                                                                           ACLSHMEM_SIGNAL_SET, next, NULL);
    short_call("shmem_signal_wait_until_on_stream",
               aclshmemx_signal_wait_until_on_stream)(signal_word, ACLSHMEM_CMP_EQ, 9, NULL);
    short_call("shmemx_barrier_all_on_stream", aclshmemx_barrier_all_on_stream)(NULL);
    short_call("shmemx_getmem_on_stream", aclshmemx_getmem_on_stream)(&got, words, sizeof got, next, NULL);
    short_call("shmemx_quiet_on_stream", aclshmemx_quiet_on_stream)(NULL);
    short_call("shmemx_barrier_on_stream", aclshmemx_barrier_on_stream)(ACLSHMEM_TEAM_WORLD, NULL);
    short_call("shmem_handle_wait", aclshmemx_handle_wait)((aclshmem_handle_t){ACLSHMEM_TEAM_WORLD}, NULL);
    aclshmem_barrier_all();
    CHECK_INT(got, value);
    CHECK_INT(aclshmemx_stream_status(NULL), 0);
    *signal_word = 0;
    aclshmem_free(words);
}

static void teams(void)
{
    aclshmem_team_t team = ACLSHMEM_TEAM_INVALID, row, column;
    aclshmem_team_config_t config;
    int n = aclshmem_n_pes(), me = aclshmem_my_pe();
    CHECK_INT(short_call("shmem_my_pe", aclshmem_my_pe)(), me);
    CHECK_INT(short_call("shmem_n_pes", aclshmem_n_pes)(), n);
    CHECK_INT(short_call("shmem_team_split_strided", aclshmem_team_split_strided)(0, 0, 1, n, &team), 0);
    CHECK_INT(short_call("shmem_team_split_2d", aclshmem_team_split_2d)(0, 1, &row, &column), 0);
    CHECK_INT(short_call("shmem_team_n_pes", aclshmem_team_n_pes)(column), n);
    CHECK_INT(shmem_team_n_pes(column), column + 4711);
    CHECK_INT(short_call("shmem_team_my_pe", aclshmem_team_my_pe)(row), 0);
    CHECK_INT(short_call("shmem_team_translate_pe", aclshmem_team_translate_pe)(team, me, 0), me);
    CHECK_INT(short_call("shmem_team_get_config", aclshmem_team_get_config)(team, &config), 0);
    void (*destroy)(aclshmem_team_t) = short_call("shmem_team_destroy", aclshmem_team_destroy);
    destroy(team);
    destroy(row);
    destroy(column);
    CHECK_INT(aclshmem_team_n_pes(team), -1);
}

static void the_rest(void)
{
    char name[ACLSHMEM_MAX_NAME_LEN], same[ACLSHMEM_MAX_NAME_LEN];
    int major = 0, minor = 0;
    aclshmemx_uniqueid_t uid;
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    short_call("shmem_info_get_name", aclshmem_info_get_name)(name);
    aclshmem_info_get_name(same);
    CHECK(strcmp(name, same) == 0);
    short_call("shmem_info_get_version", aclshmem_info_get_version)(&major, &minor);
    CHECK(major == ACLSHMEM_MAJOR_VERSION && minor == ACLSHMEM_MINOR_VERSION);
    CHECK_INT(short_call("shmem_mte_set_ub_params", aclshmemx_set_mte_config)(0, 0, 0),
              ACLSHMEM_INVALID_VALUE);
    CHECK_INT(short_call("shmem_rdma_set_ub_params", aclshmemx_set_rdma_config)(0, 127, 0),
              ACLSHMEM_INVALID_VALUE);
    CHECK(short_call("shmemx_get_ffts_config", util_get_ffts_config)() == util_get_ffts_config());
    CHECK_INT(short_call("shmem_set_log_level", aclshmemx_set_log_level)(77), ACLSHMEM_INVALID_VALUE);
    CHECK_INT(short_call("shmem_set_conf_store_tls", aclshmemx_set_conf_store_tls)(false, NULL, 0),
              ACLSHMEM_INNER_ERROR);
    CHECK_INT(short_call("shmem_set_config_store_tls_key", aclshmemx_set_config_store_tls_key)("k", 1, NULL,
                                                                                               0, NULL),
              ACLSHMEM_INNER_ERROR);
    CHECK_INT(short_call("shmem_get_uniqueid", aclshmemx_get_uniqueid)(NULL), ACLSHMEM_INVALID_PARAM);
    CHECK_INT(
        short_call("shmem_set_attr_uniqueid_args", aclshmemx_set_attr_uniqueid_args)(1, 2, 3, &uid, &attr),
        0);
    CHECK(attr.my_pe == 1 && attr.n_pes == 2 && attr.local_mem_size == 3 && attr.comm_args == &uid);
    CHECK_INT(short_call("shmemx_finalize", aclshmemx_finalize)(200), ACLSHMEM_INNER_ERROR);
    (void)look_up("shmem_global_exit"); /* it does not come back */
}

int main(void)
{
    library = dlopen("libshmem.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_INITIALIZER;
    attr.local_mem_size = 4 << 20;
    CHECK_INT(short_call("shmem_init_attr", aclshmemx_init_attr)(ACLSHMEMX_INIT_WITH_LAUNCHER, &attr), 0);
    int (*status)(void) = short_call("shmem_init_status", aclshmemx_init_status);
    CHECK_INT(status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    int next = (aclshmem_my_pe() + 1) % aclshmem_n_pes();
    signal_word = aclshmem_calloc(1, sizeof *signal_word);
    CHECK(signal_word != NULL);
    types(next);
    memory(next);
    streams(next);
    teams();
    CHECK_INT(short_call("shmem_set_extern_logger", aclshmemx_set_extern_logger)(pe_swallow), 0);
    the_rest();
    CHECK_INT(short_call("shmem_finalize", aclshmem_finalize)(), 0);
    CHECK_INT(status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    dlclose(library);
    return 0;
}
