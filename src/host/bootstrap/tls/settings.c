/* SPDX-License-Identifier: Apache-2.0 */
/* The two setters of the process, and how contexts get at what was set. */
#include "host/bootstrap/tls/settings.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/bootstrap.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the three below */
static int enabled = -1;
static char *info_text;
static aclshmemi_tls_key_t current_key;

/* A terminated copy; NULL when out of memory. */
static char *copy(const char *text, size_t length)
{
    char *made = malloc(length + 1);
    if (!made)
        return NULL;
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

static void wipe(char **text, size_t *length)
{
    if (*text)
        explicit_bzero(*text, *length);
    free(*text);
    *text = NULL;
    *length = 0;
}

void aclshmemi_tls_key_wipe(aclshmemi_tls_key_t *key)
{
    wipe(&key->key, &key->key_len);
    wipe(&key->pass, &key->pass_len);
    key->decrypt = NULL;
}

int aclshmemi_tls_configure(bool enable, const char *info, uint32_t info_len)
{
    char *made = NULL;
    if (enable && !info)
        return fail(ACLSHMEM_INVALID_PARAM, "TLS was switched on without a description of the certificates");
    if (enable && (info_len == 0 || info_len > ACLSHMEMI_TLS_TEXT_MAX))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "the description of the certificates has %u bytes, allowed are 1..%d", (unsigned)info_len,
                    ACLSHMEMI_TLS_TEXT_MAX);
    if (enable && !(made = copy(info, info_len)))
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a description of %u bytes", (unsigned)info_len);
    pthread_mutex_lock(&lock);
    char *old = info_text;
    enabled = enable;
    info_text = made;
    pthread_mutex_unlock(&lock);
    free(old);
    return 0;
}

int aclshmemi_tls_set_key(const char *key, uint32_t key_len, const char *pass, uint32_t pass_len,
                          int (*decrypt)(const char *, size_t, char *, size_t *))
{
    if (!key)
        return fail(ACLSHMEM_INVALID_PARAM, "no private key given");
    if (key_len == 0 || key_len > ACLSHMEMI_TLS_TEXT_MAX)
        return fail(ACLSHMEM_INVALID_PARAM, "the private key has %u bytes, allowed are 1..%d",
                    (unsigned)key_len, ACLSHMEMI_TLS_TEXT_MAX);
    if (pass && pass_len > ACLSHMEMI_TLS_TEXT_MAX)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "the pass phrase of the private key has %u bytes, allowed are 0..%d", (unsigned)pass_len,
                    ACLSHMEMI_TLS_TEXT_MAX);
    aclshmemi_tls_key_t made = {.key = copy(key, key_len), .key_len = key_len, .decrypt = decrypt};
    bool has_pass = pass && pass_len > 0;
    if (has_pass) {
        made.pass = copy(pass, pass_len);
        made.pass_len = pass_len;
    }
    if (!made.key || (has_pass && !made.pass)) {
        aclshmemi_tls_key_wipe(&made);
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a private key of %u bytes", (unsigned)key_len);
    }
    pthread_mutex_lock(&lock);
    aclshmemi_tls_key_t old = current_key;
    current_key = made;
    pthread_mutex_unlock(&lock);
    aclshmemi_tls_key_wipe(&old);
    return 0;
}

int aclshmemi_tls_settings_enabled(void)
{
    pthread_mutex_lock(&lock);
    int value = enabled;
    pthread_mutex_unlock(&lock);
    return value;
}

bool aclshmemi_tls_is_described(void)
{
    pthread_mutex_lock(&lock);
    bool described = enabled == 1 && info_text != NULL;
    pthread_mutex_unlock(&lock);
    return described;
}

int aclshmemi_tls_settings_info(char **info)
{
    pthread_mutex_lock(&lock);
    bool set = info_text != NULL;
    char *made = set ? strdup(info_text) : NULL;
    pthread_mutex_unlock(&lock);
    if (set && !made)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for the description of the certificates");
    *info = made;
    return 0;
}

void aclshmemi_tls_settings_take_key(aclshmemi_tls_key_t *key)
{
    pthread_mutex_lock(&lock);
    *key = current_key;
    current_key = (aclshmemi_tls_key_t){0};
    pthread_mutex_unlock(&lock);
}

void aclshmemi_tls_drop_key(void)
{
    aclshmemi_tls_key_t key;
    aclshmemi_tls_settings_take_key(&key);
    aclshmemi_tls_key_wipe(&key);
}

void aclshmemi_tls_settings_reset(void)
{
    pthread_mutex_lock(&lock);
    free(info_text);
    info_text = NULL;
    enabled = -1;
    pthread_mutex_unlock(&lock);
    aclshmemi_tls_drop_key();
}
