/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the plug-in. Open MPI and MPICH differ in their binary interface, so the choice follows, in this order: the
 * setting; the MPI that the process has loaded; the launcher; the MPI that was the machine's default at build time.
 * A plug-in of the wrong kind, or one that brings a second MPI along, is refused before it calls anything.
 */
#include "host/bootstrap/mpi/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/utils/dl.h"

#define LOG_MODULE "bootstrap"

#define DEFAULT_NAME "aclshmem_bootstrap_mpi.so"

/* The MPI in this process, whoever loaded it. */
typedef struct present {
    char kind[16]; /* "" when there is none */
    char path[PATH_MAX];
    const void *probe; /* its PMPI_Initialized */
} present_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the two below */
static aclshmemi_mpi_loaded_t loaded;
static bool is_loaded;

static bool look_into(void *handle, present_t *out)
{
    const void *probe = dlsym(handle, "PMPI_Initialized");
    if (probe == NULL)
        return false;
    out->probe = probe;
    snprintf(out->kind, sizeof out->kind, "%s",
             dlsym(handle, "ompi_mpi_comm_world") != NULL ? "openmpi" : "mpich");
    return true;
}

/* A library that was opened for one module only, as Python does, is in nobody's sight but on this list. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    present_t *out = argument;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strncmp(slash != NULL ? slash + 1 : info->dlpi_name, "libmpi", 6) != 0)
        return 0;
    snprintf(out->path, sizeof out->path, "%s", info->dlpi_name);
    return 1;
}

static bool find_present(present_t *out)
{
    memset(out, 0, sizeof *out);
    if (look_into(RTLD_DEFAULT, out)) {
        Dl_info info;
        bool known = dladdr(out->probe, &info) != 0 && info.dli_fname != NULL;
        snprintf(out->path, sizeof out->path, "%s", known ? info.dli_fname : "the program");
        return true;
    }
    if (dl_iterate_phdr(look_at_object, out) == 0)
        return false;
    void *handle = dlopen(out->path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return false;
    bool found = look_into(handle, out);
    dlclose(handle); /* the process holds it */
    return found;
}

static const char *kind_of_launcher(void)
{
    if (aclshmemi_env_raw("PMI_FD") != NULL || aclshmemi_env_raw("PMI_PORT") != NULL)
        return "mpich";
    return aclshmemi_env_raw("OMPI_COMM_WORLD_SIZE") != NULL ? "openmpi" : "";
}

/* Takes path when it holds a plug-in that fits; reason says why not. */
static bool try_path(const char *path, const present_t *present, char *reason, size_t size)
{
    aclshmemi_mpi_words_t words = {""};
    aclshmemi_mpi_plugin_t plugin = {.version = ACLSHMEMI_MPI_PLUGIN_VERSION, .bytes = sizeof plugin};
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();
        snprintf(reason, size, "%s", why != NULL ? why : "cannot be loaded");
        return false;
    }
    void *symbol = dlsym(handle, ACLSHMEMI_MPI_PLUGIN_ENTRY);
    aclshmemi_mpi_entry_t *entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    if (entry == NULL)
        snprintf(reason, size, "%s has no function %s", path, ACLSHMEMI_MPI_PLUGIN_ENTRY);
    else if (entry(&plugin, &words) != 0)
        snprintf(reason, size, "%s: %s", path, words.text);
    else if (present->kind[0] != '\0' && strcmp(present->kind, plugin.kind) != 0)
        snprintf(reason, size, "%s is for the MPI family %s, and this process uses %s, of the family %s",
                 path, plugin.kind, present->path, present->kind);
    else if (present->probe != NULL && present->probe != plugin.probe)
        snprintf(reason, size, "%s brings another MPI than %s, which this process uses", path, present->path);
    else {
        loaded.plugin = plugin;
        plugin.describe(loaded.library, sizeof loaded.library);
        log_info("MPI bootstrap by %s, %s", path, loaded.library);
        return true;
    }
    dlclose(handle);
    return false;
}

/* First beside this library, then where the system looks. */
static bool try_name(const char *name, const char *folder, const present_t *present, char *reason,
                     size_t size)
{
    char path[PATH_MAX];
    if (strchr(name, '/') == NULL && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
        access(path, F_OK) == 0)
        return try_path(path, present, reason, size);
    return try_path(name, present, reason, size);
}

static int load(const aclshmemi_env_t *env)
{
    char folder[PATH_MAX], fitting[64], reason[1024] = "";
    present_t present;
    const char *names[2] = {env->bootstrap_mpi_lib, NULL};
    TRY(aclshmemi_dl_own_directory(folder, sizeof folder));
    const char *kind = find_present(&present) ? present.kind : kind_of_launcher();
    snprintf(fitting, sizeof fitting, "aclshmem_bootstrap_mpi_%s.so", kind);
    if (names[0][0] == '\0') {
        names[0] = kind[0] != '\0' ? fitting : DEFAULT_NAME;
        names[1] = kind[0] != '\0' ? DEFAULT_NAME : NULL;
    }
    for (size_t i = 0; i < 2 && names[i] != NULL; i++)
        if (try_name(names[i], folder, &present, reason, sizeof reason))
            return 0;
    return fail(ACLSHMEM_INVALID_VALUE,
                "no MPI bootstrap plug-in: %s%s%s is neither in %s nor where the system looks for libraries, "
                "or cannot be used (%s); it is part of a build on a machine with MPI, and "
                "SHMEM_BOOTSTRAP_MPI_LIB can name another",
                names[0], names[1] != NULL ? " or " : "", names[1] != NULL ? names[1] : "", folder, reason);
}

int aclshmemi_mpi_load(const aclshmemi_env_t *env, const aclshmemi_mpi_loaded_t **out)
{
    pthread_mutex_lock(&lock);
    int rc = is_loaded ? 0 : load(env);
    is_loaded = is_loaded || rc == 0;
    pthread_mutex_unlock(&lock);
    if (rc == 0)
        *out = &loaded;
    return rc;
}
