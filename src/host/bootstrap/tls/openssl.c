/* SPDX-License-Identifier: Apache-2.0 */
/* The library context, and the error queue handed back as it was found. */
#include "host/bootstrap/tls/openssl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static OSSL_LIB_CTX *library;
static atomic_bool cleaned_up;

static void note_cleanup(void)
{
    atomic_store(&cleaned_up, true);
}

/* Never freed: threads that used it release their parts of it when they end, whenever that is. The settings file of
 * OpenSSL is still read for the default context, as the first OpenSSL call of the application would have done; skipping
 * that would leave the application without it. */
static void make_library(void)
{
    if (OPENSSL_init_ssl(0, NULL) != 1 || OPENSSL_atexit(note_cleanup) != 1)
        return;
    library = OSSL_LIB_CTX_new();
}

OSSL_LIB_CTX *aclshmemi_tls_library(void)
{
    pthread_once(&library_once, make_library);
    return library;
}

bool aclshmemi_tls_library_alive(void)
{
    return !atomic_load(&cleaned_up);
}

/* --- The error queue --- */

/* OpenSSL takes the oldest error of the thread for the cause of what it did last, and a handshake empties the queue. So
 * what the application has in it is put aside meanwhile; nearly always that is nothing. */
typedef struct kept {
    unsigned long code;
    int line;
    char *file, *function, *data; /* owned */
} kept_t;

enum { KEPT_MAX = 16 }; /* the queue is no longer */

static _Thread_local kept_t kept[KEPT_MAX];
static _Thread_local int kept_count;

void aclshmemi_tls_errors_begin(void)
{
    kept_count = 0;
    while (kept_count < KEPT_MAX && ERR_peek_error() != 0) {
        const char *file = "", *function = "", *data = "";
        int flags = 0;
        kept_t *one = &kept[kept_count++];
        one->code = ERR_get_error_all(&file, &one->line, &function, &data, &flags);
        one->file = strdup(file);
        one->function = strdup(function);
        one->data = (flags & ERR_TXT_STRING) && data[0] != '\0' ? strdup(data) : NULL;
    }
}

static void put_back(kept_t *one)
{
    ERR_new();
    ERR_set_debug(one->file, one->line, one->function);
    if (one->data)
        ERR_set_error(ERR_GET_LIB(one->code), ERR_GET_REASON(one->code), "%s", one->data);
    else
        ERR_set_error(ERR_GET_LIB(one->code), ERR_GET_REASON(one->code), NULL);
    free(one->file);
    free(one->function);
    free(one->data);
}

unsigned long aclshmemi_tls_errors_end(void)
{
    unsigned long last = ERR_peek_last_error();
    if (last != 0)
        ERR_clear_error();
    for (int i = 0; i < kept_count; i++)
        put_back(&kept[i]);
    kept_count = 0;
    return last;
}

const char *aclshmemi_tls_error_text(unsigned long error)
{
    const char *text = error ? ERR_reason_error_string(error) : NULL;
    return text ? text : "no reason given";
}
