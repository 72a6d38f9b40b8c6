/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which AscendCL this process uses: finding it, opening it once, closing it last, and reporting its failures.
 *
 * The order is: one that is in the process already, since two runtimes in one process would not know each other's
 * pointers; CANN's; the CPU runtime that was installed with this library. Whatever is found is said with its reason.
 */
#define LOG_MODULE "npu"

#include "host/npu/acl_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/utils/dl.h"

#define LIBRARY_NAME "libascendcl.so"
/* Kernels that run on CPU cores call it; a card's host library has no such thing. */
#define MARKER_NAME "aicore_self"

enum { NOTES_LEN = 3 * PATH_MAX };

#ifndef ACLSHMEMI_LIBDIR
#define ACLSHMEMI_LIBDIR "lib"
#endif

aclshmemi_acl_t aclshmemi_acl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* open and close */
static _Atomic int open_count;

/* A runtime that we opened stays open for the life of the process, as its threads and thread-local data may; the next
 * npu_open finds it here. One that was in the process already is looked for anew each time. */
static struct {
    void *handle;     /* of dlopen, NULL when the symbols are visible to everybody */
    bool ours;        /* opened by us */
    bool initialized; /* by us, so we finalize */
    bool host_can_touch;
    char path[PATH_MAX]; /* "" unless ours */
    char reason[NOTES_LEN + 64];
    char soc_name[64];
} runtime;

static struct {
    _Atomic int call;     /* aclshmemi_npu_call_t, -1: none */
    _Atomic int64_t left; /* calls until the one that fails */
} fault = {.call = -1};

static const char *const call_names[] = {
#define CALL_NAME(name) #name,
    ACLSHMEMI_NPU_CALL_MAP(CALL_NAME)
#undef CALL_NAME
};

/* --- Entering and reporting --- */

bool aclshmemi_npu_is_open(void)
{
    return atomic_load_explicit(&open_count, memory_order_acquire) > 0;
}

static int check_fault(aclshmemi_npu_call_t call)
{
    if (atomic_load_explicit(&fault.call, memory_order_relaxed) != (int)call)
        return 0;
    if (atomic_fetch_sub_explicit(&fault.left, 1, memory_order_relaxed) != 1)
        return 0;
    return fail(ACLSHMEM_INNER_ERROR, "npu_%s fails because the setting SHMEM_NPU_FAIL says so",
                call_names[call]);
}

int aclshmemi_npu_enter(aclshmemi_npu_call_t call)
{
    if (__builtin_expect(!aclshmemi_npu_is_open(), 0))
        return fail(ACLSHMEM_NOT_INITED, "npu_%s before npu_open: no device runtime yet", call_names[call]);
    return check_fault(call);
}

const char *aclshmemi_npu_runtime_text(void)
{
    const char *text = aclshmemi_acl.aclGetRecentErrMsg ? aclshmemi_acl.aclGetRecentErrMsg() : NULL;
    return text ? text : "";
}

static int our_code(int code)
{
    return code > 0 ? code
                    : ACLSHMEM_DL_FUNC_FAILED; /* AscendCL's are positive; anything else is not a code */
}

int aclshmemi_npu_result(int code, const char *function, const char *file, int line, const char *format, ...)
{
    if (__builtin_expect(code == 0, 1))
        return 0;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const char *text = aclshmemi_npu_runtime_text();
    return aclshmemi_status_fail(our_code(code), LOG_MODULE, file, line, "%s failed with code %d, %s%s%s",
                                 function, code, what, *text ? ": " : "", text);
}

void aclshmemi_npu_noted(int code, const char *function)
{
    if (code == 0)
        return;
    const char *text = aclshmemi_npu_runtime_text();
    log_warn("%s failed with code %d%s%s", function, code, *text ? ": " : "", text);
}

/* --- The setting that makes a call fail --- */

static int set_fault(const char *text)
{
    atomic_store(&fault.call, -1);
    if (!*text)
        return 0;
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    const char *name = strncmp(text, "npu_", 4) == 0 ? text + 4 : text;
    length -= (size_t)(name - text);
    int64_t count = 1;
    if (colon && aclshmemi_parse_int(colon + 1, 1, INT64_MAX, &count) != 0)
        return fail(ACLSHMEM_INVALID_VALUE, "SHMEM_NPU_FAIL is \"%s\": a number from 1 must follow the colon",
                    text);
    for (int call = 0; call < ACLSHMEMI_NPU_CALLS; call++)
        if (strlen(call_names[call]) == length && strncmp(call_names[call], name, length) == 0) {
            atomic_store(&fault.left, count);
            atomic_store(&fault.call, call);
            return 0;
        }
    return fail(ACLSHMEM_INVALID_VALUE,
                "SHMEM_NPU_FAIL is \"%s\": no such device function; mem_create:2 is a valid one", text);
}

/* --- Finding it --- */

/* What was looked at so far, for the reason and for the error. */
typedef struct notes {
    char text[NOTES_LEN];
    size_t used;
} notes_t;

static __attribute__((format(printf, 2, 3))) void note(notes_t *notes, const char *format, ...)
{
    size_t left = sizeof notes->text - notes->used;
    int separator = snprintf(notes->text + notes->used, left, "%s", notes->used ? "; " : "");
    notes->used += (size_t)separator < left ? (size_t)separator : left - 1;
    left = sizeof notes->text - notes->used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(notes->text + notes->used, left, format, args);
    va_end(args);
    if (length > 0)
        notes->used += (size_t)length < left ? (size_t)length : left - 1;
}

static int fill_table(void *handle)
{
    aclshmemi_acl_t found = {0};
    const aclshmemi_dl_symbol_t symbols[] = {
#define SYMBOL(required, result, name, parameters) {#name, (void **)(void *)&found.name, required},
        ACLSHMEMI_ACL_MAP(SYMBOL)
#undef SYMBOL
    };
    TRY(aclshmemi_dl_lookup(handle, symbols, sizeof symbols / sizeof symbols[0]));
    aclshmemi_acl = found;
    return 0;
}

static const char *file_of(void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "the program";
}

/* The symbols may be visible to everybody, or the library is here but somebody opened it for himself. */
static int try_in_process(notes_t *notes, bool *found)
{
    void *address = dlsym(RTLD_DEFAULT, "aclrtSetDevice");
    void *handle = NULL;
    if (!address) {
        handle = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_NOLOAD);
        address = handle ? dlsym(handle, "aclrtSetDevice") : NULL;
    }
    *found = address != NULL;
    if (!address) {
        if (handle)
            dlclose(handle);
        note(notes, "none in the process");
        return 0;
    }
    const char *file = file_of(address);
    if (fill_table(handle ? handle : RTLD_DEFAULT) != 0) {
        /* Not the next one: the caller's pointers come from this runtime. */
        if (handle)
            dlclose(handle);
        return fail(ACLSHMEM_UNDER_API_UNLOAD,
                    "the AscendCL that is already in the process, %s, cannot be used: %s", file,
                    aclshmemi_status_last_text());
    }
    runtime.handle = handle;
    snprintf(runtime.reason, sizeof runtime.reason, "%s was in the process already", file);
    return 0;
}

/* Why a directory that code is to be loaded from cannot be trusted, NULL if it can. */
static const char *why_distrusted(const char *directory)
{
    struct stat info;
    if (stat(directory, &info) != 0)
        return errno == ENOENT ? "no such directory" : strerror(errno);
    if (!S_ISDIR(info.st_mode))
        return "not a directory";
    if (info.st_uid != 0 && info.st_uid != geteuid())
        return "refused, it belongs neither to this user nor to root";
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return "refused, group or others may write there";
    return NULL;
}

static bool try_file(notes_t *notes, const char *path, const char *reason)
{
    if (strchr(path, '/') && access(path, F_OK) != 0) {
        note(notes, "%s: %s", path, errno == ENOENT ? "no such file" : strerror(errno));
        return false;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        note(notes, "%s: %s", path, text ? text : "cannot be loaded");
        return false;
    }
    if (fill_table(handle) != 0) {
        note(notes, "%s: %s", path, aclshmemi_status_last_text());
        dlclose(handle);
        return false;
    }
    runtime.handle = handle;
    runtime.ours = true;
    snprintf(runtime.path, sizeof runtime.path, "%s", file_of((void *)aclshmemi_acl.aclrtSetDevice));
    snprintf(runtime.reason, sizeof runtime.reason, "%s (%s)", reason, notes->text);
    return true;
}

/* CANN that was asked for and cannot be used is worth a warning: what follows is the CPU. */
static bool try_cann(notes_t *notes, const char *home)
{
    if (!*home) {
        note(notes, "ASCEND_HOME_PATH is not set");
        return false;
    }
    char directory[PATH_MAX], path[PATH_MAX];
    size_t before = notes->used;
    int length = snprintf(directory, sizeof directory, "%s/lib64", home);
    int whole = snprintf(path, sizeof path, "%s/lib64/" LIBRARY_NAME, home);
    const char *why = home[0] != '/'                            ? "not an absolute path"
                      : length < 0 || whole >= (int)sizeof path ? "path too long"
                                                                : why_distrusted(directory);
    if (why)
        note(notes, "ASCEND_HOME_PATH, %s/lib64: %s", home, why);
    else if (try_file(notes, path, "named by ASCEND_HOME_PATH"))
        return true;
    log_warn("no CANN runtime although ASCEND_HOME_PATH is set: %s", notes->text + before + (before ? 2 : 0));
    return false;
}

/* Beside this library, or beside its folder when the library is linked into a program of the build tree. */
static bool try_own(notes_t *notes)
{
    static const char *const places[] = {"", "/../" ACLSHMEMI_LIBDIR};
    char directory[PATH_MAX], path[2 * PATH_MAX];
    if (aclshmemi_dl_own_directory(directory, sizeof directory) != 0) {
        note(notes, "the folder of this library is unknown");
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s/" LIBRARY_NAME, directory, places[i]);
        if (try_file(notes, path, "found with this library"))
            return true;
    }
    return false;
}

static int find_runtime(const aclshmemi_env_t *env)
{
    if (runtime.ours)
        return 0;
    notes_t *notes = calloc(1, sizeof *notes);
    if (!notes)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory while looking for AscendCL");
    bool found;
    int rc = try_in_process(notes, &found);
    if (rc == 0 && !found && !try_cann(notes, env->ascend_home_path) && !try_own(notes) &&
        !try_file(notes, LIBRARY_NAME, "found by the loader"))
        rc = fail(ACLSHMEM_UNDER_API_UNLOAD, "no device runtime (" LIBRARY_NAME ") found: %s", notes->text);
    free(notes);
    return rc;
}

/* --- Opening and closing --- */

static void learn_soc_name(void)
{
    const char *name = aclshmemi_acl.aclrtGetSocName ? aclshmemi_acl.aclrtGetSocName() : NULL;
    snprintf(runtime.soc_name, sizeof runtime.soc_name, "%s", name ? name : "");
}

/* The table goes too: the owner of that runtime may take it away. */
static void forget_runtime(void)
{
    if (runtime.ours)
        return;
    memset(&aclshmemi_acl, 0, sizeof aclshmemi_acl);
    if (runtime.handle)
        dlclose(runtime.handle);
    memset(&runtime, 0, sizeof runtime);
}

static int open_first(const aclshmemi_env_t *env)
{
    TRY(set_fault(env->npu_fail));
    TRY(check_fault(ACLSHMEMI_NPU_open));
    TRY(find_runtime(env));
    int code = aclshmemi_acl.aclInit(NULL);
    runtime.initialized = code == 0;
    if (code != 0 && code != ACL_ERROR_REPEAT_INITIALIZE) {
        bool cann = runtime.ours && *env->ascend_home_path &&
                    strncmp(runtime.path, env->ascend_home_path, strlen(env->ascend_home_path)) == 0;
        int rc = aclshmemi_npu_result(
            code, "aclInit", __FILE__, __LINE__, "%s%s%s%s", runtime.path, runtime.ours ? ", " : "",
            runtime.reason, cann ? "; without ASCEND_HOME_PATH the CPU runtime would be taken" : "");
        forget_runtime();
        return rc;
    }
    learn_soc_name();
    /* The name can be set by the user, to run the code path of a certain card; the marker cannot. */
    runtime.host_can_touch = strcasestr(runtime.soc_name, "cpu") != NULL ||
                             dlsym(runtime.handle ? runtime.handle : RTLD_DEFAULT, MARKER_NAME) != NULL;
    log_info("device runtime %s: %s%s", runtime.soc_name, runtime.reason,
             runtime.host_can_touch ? ", memory is within reach of the host" : "");
    return 0;
}

int npu_open(const aclshmemi_env_t *env)
{
    pthread_mutex_lock(&lock);
    int rc = open_count == 0 ? open_first(env) : 0;
    if (rc == 0)
        atomic_fetch_add_explicit(&open_count, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    return rc;
}

void npu_close(void)
{
    pthread_mutex_lock(&lock);
    if (open_count > 0 && atomic_fetch_sub_explicit(&open_count, 1, memory_order_acq_rel) == 1) {
        if (runtime.initialized)
            aclshmemi_npu_noted(aclshmemi_acl.aclFinalize(), "aclFinalize");
        forget_runtime();
    }
    pthread_mutex_unlock(&lock);
}

const char *npu_runtime_path(void)
{
    return runtime.path;
}

const char *npu_runtime_reason(void)
{
    return runtime.reason;
}

bool npu_host_can_touch(void)
{
    return runtime.host_can_touch;
}

const char *npu_soc_name(void)
{
    return runtime.soc_name;
}
