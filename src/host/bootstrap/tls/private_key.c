/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the private key. Pass phrases live in buffers of ours, which are wiped, and are never asked for on a terminal. */
#include "host/bootstrap/tls/private_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/pem.h>

#define LOG_MODULE "tls"
#include "host/bootstrap/tls/openssl.h"
#include "host/utils/log.h"

typedef struct phrase {
    char *text;  /* owned, wiped; NULL: none */
    size_t size; /* of the buffer */
    size_t length;
    bool asked; /* the key turned out to be encrypted */
    bool too_long;
} phrase_t;

#define FILLER 0x5a /* anything but a terminator, so that a missing one is seen */

/* The handler gets twice the length of the cipher text; a little more is there in case it counts its terminator badly. */
static int decrypt_phrase(const aclshmemi_tls_key_t *key, phrase_t *phrase)
{
    size_t room = 2 * key->pass_len, length = room;
    phrase->size = room + 64;
    phrase->text = malloc(phrase->size);
    if (!phrase->text)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a pass phrase of %zu bytes", room);
    memset(phrase->text, FILLER, phrase->size);
    int rc = key->decrypt(key->pass, key->pass_len, phrase->text, &length);
    if (rc != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the decrypt handler for the pass phrase returned %d, it must return 0", rc);
    if (length > room)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the decrypt handler says the pass phrase has %zu bytes, there is room for %zu", length,
                    room);
    size_t end = strnlen(phrase->text, room);
    if (end == room || (end != length && end + 1 != length))
        return fail(ACLSHMEM_INNER_ERROR,
                    "the decrypt handler says the pass phrase has %zu bytes, but the text does not end there",
                    length);
    phrase->length = end;
    return 0;
}

static int get_phrase(const aclshmemi_tls_key_t *key, phrase_t *phrase)
{
    if (!key->pass)
        return 0;
    if (key->decrypt)
        return decrypt_phrase(key, phrase);
    phrase->text = strdup(key->pass); /* a terminator counted in the length is no part of it */
    if (!phrase->text)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a pass phrase of %zu bytes", key->pass_len);
    phrase->size = phrase->length = strlen(phrase->text);
    return 0;
}

static void drop_phrase(phrase_t *phrase)
{
    if (phrase->text)
        explicit_bzero(phrase->text, phrase->size);
    free(phrase->text);
}

static int hand_over(char *buffer, int size, int writing, void *arg)
{
    phrase_t *phrase = arg;
    (void)writing;
    phrase->asked = true;
    if (!phrase->text)
        return -1;
    if (phrase->length > (size_t)size) {
        phrase->too_long = true;
        return -1;
    }
    memcpy(buffer, phrase->text, phrase->length);
    return (int)phrase->length;
}

static int explain(const phrase_t *phrase, unsigned long error)
{
    if (phrase->too_long)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the pass phrase of the private key has %zu bytes, more than OpenSSL takes",
                    phrase->length);
    if (phrase->asked && !phrase->text)
        return fail(ACLSHMEM_INNER_ERROR, "the private key is encrypted, and no pass phrase was set");
    if (phrase->asked)
        return fail(ACLSHMEM_INNER_ERROR, "the pass phrase does not fit the private key");
    return fail(ACLSHMEM_INNER_ERROR, "the private key is not a PEM text with a private key: %s",
                aclshmemi_tls_error_text(error));
}

int aclshmemi_private_key_read(const aclshmemi_tls_key_t *key, EVP_PKEY **out)
{
    phrase_t phrase = {0};
    int rc = get_phrase(key, &phrase);
    if (rc != 0)
        goto drop;
    aclshmemi_tls_errors_begin();
    BIO *bio = BIO_new_mem_buf(key->key, (int)key->key_len);
    EVP_PKEY *made =
        bio ? PEM_read_bio_PrivateKey_ex(bio, NULL, hand_over, &phrase, aclshmemi_tls_library(), NULL) : NULL;
    BIO_free(bio);
    unsigned long error = aclshmemi_tls_errors_end();
    if (made)
        *out = made;
    else
        rc = explain(&phrase, error);
drop:
    drop_phrase(&phrase);
    return rc;
}
