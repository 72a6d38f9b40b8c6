/* SPDX-License-Identifier: Apache-2.0 */
/* The library context, and the error queue handed back as it was found. */
#include "host/bootstrap/tls/openssl.h"

#include <pthread.h>
#include <stdatomic.h>

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

#define SENTINEL_REASON 0xacc

/* SSL_get_error() and friends look at the oldest error of the thread, which may be the application's. So a sentinel of
 * our own is laid on top, and what lies above it afterwards is ours. */
void aclshmemi_tls_errors_begin(void)
{
    ERR_set_mark();
    ERR_new();
    ERR_set_error(ERR_LIB_USER, SENTINEL_REASON, NULL);
}

unsigned long aclshmemi_tls_errors_end(void)
{
    unsigned long last = ERR_peek_last_error();
    ERR_pop_to_mark();
    if (ERR_GET_LIB(last) == ERR_LIB_USER && ERR_GET_REASON(last) == SENTINEL_REASON)
        return 0;
    return last;
}

const char *aclshmemi_tls_error_text(unsigned long error)
{
    const char *text = error ? ERR_reason_error_string(error) : NULL;
    return text ? text : "no reason given";
}
