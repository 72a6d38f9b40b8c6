/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framework around the bootstraps: checks what every backend would have to check, fills the blanks of their
 * tables, and knows fingerprints. The backends live in self/, store/ and the MPI plugin.
 */
#include "host/bootstrap/bootstrap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MODULE "bootstrap"
#include "host/utils/log.h"

#define PES_MAX 16384

static int check_params(const aclshmemi_bootstrap_params_t *params)
{
    if (params->n_pes < 1 || params->n_pes > PES_MAX)
        return fail(ACLSHMEM_INVALID_VALUE, "%d PEs, allowed are 1..%d", params->n_pes, PES_MAX);
    if (params->pe < 0 || params->pe >= params->n_pes)
        return fail(ACLSHMEM_INVALID_PARAM, "PE %d is not in 0..%d", params->pe, params->n_pes - 1);
    if (params->init_timeout_ms == 0 || params->operation_timeout_ms == 0)
        return fail(ACLSHMEM_INVALID_VALUE, "a timeout of 0, allowed is 1 ms and more");
    if (!params->env)
        return fail(ACLSHMEM_INVALID_PARAM, "no settings given to the bootstrap");
    return 0;
}

int aclshmemi_bootstrap_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_ops_t *ops,
                             const aclshmemi_bootstrap_params_t *params)
{
    memset(bs, 0, sizeof *bs);
    atomic_init(&bs->failed_pe, -1);
    TRY(check_params(params));
    bs->pe = params->pe;
    bs->n_pes = params->n_pes;
    snprintf(bs->describe, sizeof bs->describe, "%s", ops->name);
    int rc = ops->open(bs, params);
    if (rc != 0) {
        memset(bs, 0, sizeof *bs);
        atomic_init(&bs->failed_pe, -1);
        return rc;
    }
    bs->ops = ops;
    log_info("PE %d of %d meets the others by %s", bs->pe, bs->n_pes, bs->describe);
    return 0;
}

static int check_open(const aclshmemi_bootstrap_t *bs, const char *what)
{
    if (!bs->ops)
        return fail(ACLSHMEM_NOT_INITED, "%s on a bootstrap that is not open", what);
    return 0;
}

int aclshmemi_bootstrap_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes)
{
    size_t total = 0;
    TRY(check_open(bs, "allgather"));
    if (__builtin_mul_overflow(bytes, (size_t)bs->n_pes, &total))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "allgather of %zu bytes from %d PEs does not fit the address space", bytes, bs->n_pes);
    if (bytes > 0 && (!send || !recv))
        return fail(ACLSHMEM_INVALID_PARAM, "allgather of %zu bytes without a %s buffer", bytes,
                    send ? "receive" : "send");
    return bs->ops->allgather(bs, send, recv, bytes);
}

uint64_t aclshmemi_fingerprint_hash(const aclshmemi_fingerprint_t *fingerprint)
{
    const unsigned char *bytes = (const unsigned char *)fingerprint;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < sizeof *fingerprint; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* They are known to differ; finds out who passed what. */
static int explain_difference(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_ops_t *ops,
                              const aclshmemi_fingerprint_t *fingerprint)
{
    char text[640] = "";
    aclshmemi_fingerprint_t *all = calloc((size_t)bs->n_pes, sizeof *all);
    if (!all)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory to compare what %d PEs call", bs->n_pes);
    int rc = ops->allgather(bs, fingerprint, all, sizeof *all);
    int other = 0;
    while (rc == 0 && other < bs->n_pes - 1 && memcmp(&all[0], &all[other], sizeof *all) == 0)
        other++;
    if (rc == 0) {
        aclshmemi_fingerprint_explain(&all[0], 0, &all[other], other, text, sizeof text);
        rc = fail(ACLSHMEM_INVALID_PARAM, "the PEs do not agree: %s", text);
    }
    free(all);
    return rc;
}

/* Eight bytes per PE when all agree, which is nearly always; every PE sees the same hashes and so goes the same way. */
int aclshmemi_bootstrap_barrier_by_allgather(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_ops_t *ops,
                                             const aclshmemi_fingerprint_t *fingerprint)
{
    uint64_t own = aclshmemi_fingerprint_hash(fingerprint);
    uint64_t *all = malloc((size_t)bs->n_pes * sizeof *all);
    if (!all)
        return fail(ACLSHMEM_MALLOC_FAILED, "out of memory for a barrier of %d PEs", bs->n_pes);
    int rc = ops->allgather(bs, &own, all, sizeof own);
    bool same = true;
    for (int pe = 0; rc == 0 && pe < bs->n_pes; pe++)
        same = same && all[pe] == own;
    free(all);
    /* Who equals all others sees all equal, so if one PE sees a difference, every PE does. */
    return rc != 0 || same ? rc : explain_difference(bs, ops, fingerprint);
}

int aclshmemi_bootstrap_barrier(aclshmemi_bootstrap_t *bs, const aclshmemi_fingerprint_t *fingerprint)
{
    TRY(check_open(bs, "barrier"));
    aclshmemi_fingerprint_t plain = aclshmemi_fingerprint("barrier", "", 0, NULL);
    const aclshmemi_fingerprint_t *print = fingerprint ? fingerprint : &plain;
    if (bs->ops->barrier)
        return bs->ops->barrier(bs, print);
    return aclshmemi_bootstrap_barrier_by_allgather(bs, bs->ops, print);
}

void aclshmemi_bootstrap_arm(aclshmemi_bootstrap_t *bs)
{
    if (bs->ops && bs->ops->arm)
        bs->ops->arm(bs);
}

void aclshmemi_bootstrap_abort(aclshmemi_bootstrap_t *bs, int status)
{
    if (bs->ops && bs->ops->abort)
        bs->ops->abort(bs, status);
}

void aclshmemi_bootstrap_close(aclshmemi_bootstrap_t *bs)
{
    if (!bs || !bs->ops)
        return;
    bs->ops->close(bs);
    bs->ops = NULL;
    bs->state = NULL;
}

void aclshmemi_bootstrap_forget(aclshmemi_bootstrap_t *bs)
{
    if (!bs || !bs->ops)
        return;
    if (bs->ops->forget)
        bs->ops->forget(bs);
    bs->ops = NULL;
    bs->state = NULL;
}

/* --- Fingerprints --- */

static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);
    memset(out, 0, size); /* compared byte for byte */
    memcpy(out, text, length);
}

aclshmemi_fingerprint_t aclshmemi_fingerprint(const char *call, const char *names, size_t count,
                                              const uint64_t *args)
{
    aclshmemi_fingerprint_t print;
    memset(&print, 0, sizeof print);
    copy_text(print.call, sizeof print.call, call);
    copy_text(print.names, sizeof print.names, names);
    size_t max = sizeof print.args / sizeof print.args[0];
    for (size_t i = 0; i < count && i < max; i++)
        print.args[i] = args[i];
    return print;
}

aclshmemi_fingerprint_t aclshmemi_fingerprint_farewell(void)
{
    return aclshmemi_fingerprint("finalize", "", 0, NULL);
}

/* Appends to a text of limited size; what does not fit is cut, the terminator stays. */
typedef struct text {
    char *at;
    size_t left;
} text_t;

static void put(text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text_t *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at, text->left, format, args);
    va_end(args);
    if (length <= 0 || text->left == 0)
        return;
    size_t step = (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += step;
    text->left -= step;
}

/* "malloc(size 64, alignment 16)": only the arguments that have a name. The texts may come from a peer, so they are
 * taken by size, and what is not printable becomes '?'. */
static void put_call(text_t *text, const aclshmemi_fingerprint_t *print)
{
    char names[sizeof print->names + 1] = {0};
    char call[sizeof print->call + 1] = {0};
    memcpy(names, print->names, sizeof print->names);
    memcpy(call, print->call, sizeof print->call);
    for (char *c = names; *c; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    for (char *c = call; *c; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    put(text, "%s(", call);
    char *rest = NULL;
    size_t max = sizeof print->args / sizeof print->args[0];
    char *name = strtok_r(names, " ", &rest);
    for (size_t i = 0; name && i < max; i++, name = strtok_r(NULL, " ", &rest))
        put(text, "%s%s %" PRIu64, i > 0 ? ", " : "", name, print->args[i]);
    put(text, ")");
}

void aclshmemi_fingerprint_explain(const aclshmemi_fingerprint_t *a, int pe_a,
                                   const aclshmemi_fingerprint_t *b, int pe_b, char *out, size_t size)
{
    char first[256] = "", second[256] = "";
    put_call(&(text_t){first, sizeof first}, a);
    put_call(&(text_t){second, sizeof second}, b);
    text_t text = {out, size};
    put(&text, "PE %d calls %s, PE %d calls %s", pe_a, first, pe_b, second);
    if (strcmp(first, second) == 0 && memcmp(a, b, sizeof *a) != 0)
        put(&text, ", with values that differ");
}
