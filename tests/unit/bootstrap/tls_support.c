/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates made on the spot, and two channels driven in one thread. */
#include "tls_support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#define YEAR_S 31536000L

static void must(bool done, const char *what)
{
    if (done)
        return;
    ERR_print_errors_fp(stderr);
    t_fail("%s failed", what);
}

/* ---- keys ---- */

EVP_PKEY *t_key_rsa(unsigned bits)
{
    static EVP_PKEY *made[2]; /* big keys take a moment to find */
    static unsigned sizes[2];
    for (int i = 0; i < 2; i++) {
        if (made[i] && sizes[i] != bits)
            continue;
        if (!made[i])
            made[i] = EVP_RSA_gen(bits);
        sizes[i] = bits;
        must(made[i], "making an RSA key");
        return made[i];
    }
    t_fail("a third size of RSA keys");
}

EVP_PKEY *t_key_ec(const char *curve)
{
    EVP_PKEY *key = EVP_EC_gen(curve);
    must(key, "making an elliptic-curve key");
    return key;
}

char *t_key_pem(EVP_PKEY *key, const char *pass)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *data = NULL;
    must(bio && PEM_write_bio_PKCS8PrivateKey(bio, key, pass ? EVP_aes_256_cbc() : NULL, pass,
                                              pass ? (int)strlen(pass) : 0, NULL, NULL) == 1,
         "writing a private key");
    long size = BIO_get_mem_data(bio, &data);
    char *text = strndup(data, (size_t)size);
    must(text, "memory for a key");
    BIO_free(bio);
    return text;
}

/* ---- certificates ---- */

static void set_name(X509_NAME *name, const char *common)
{
    must(X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0) == 1 &&
             X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common, -1, -1, 0) ==
                 1,
         "naming a certificate");
}

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    must(extension && X509_add_ext(certificate, extension, -1) == 1, "an extension");
    X509_EXTENSION_free(extension);
}

X509 *t_certificate_make(const t_certificate_t *what)
{
    static long serial = 1;
    bool given = what->from_s != 0 || what->to_s != 0;
    X509 *made = X509_new();
    must(made && X509_set_version(made, 2) == 1 &&
             ASN1_INTEGER_set(X509_get_serialNumber(made), serial++) == 1 &&
             X509_gmtime_adj(X509_getm_notBefore(made), given ? what->from_s : -YEAR_S) &&
             X509_gmtime_adj(X509_getm_notAfter(made), given ? what->to_s : YEAR_S) &&
             X509_set_pubkey(made, what->key) == 1,
         "making a certificate");
    set_name(X509_get_subject_name(made), what->name);
    must(X509_set_issuer_name(made, X509_get_subject_name(what->issuer ? what->issuer : made)) == 1,
         "an issuer");
    add_extension(made, NID_basic_constraints, what->ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (what->ca)
        add_extension(made, NID_key_usage, "critical,keyCertSign,cRLSign");
    must(X509_sign(made, what->issuer ? what->issuer_key : what->key, EVP_sha256()) > 0,
         "signing a certificate");
    return made;
}

X509_CRL *t_crl_make(const X509 *ca, EVP_PKEY *ca_key, const X509 *revoked, long next_s)
{
    X509_CRL *crl = X509_CRL_new();
    ASN1_TIME *last = X509_gmtime_adj(NULL, -YEAR_S), *next = X509_gmtime_adj(NULL, next_s);
    must(crl && last && next && X509_CRL_set_version(crl, 1) == 1 &&
             X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca)) == 1 &&
             X509_CRL_set1_lastUpdate(crl, last) == 1 && X509_CRL_set1_nextUpdate(crl, next) == 1,
         "making a revocation list");
    if (revoked) {
        X509_REVOKED *entry = X509_REVOKED_new();
        ASN1_INTEGER *serial = ASN1_INTEGER_dup(X509_get0_serialNumber(revoked));
        must(entry && serial && X509_REVOKED_set_serialNumber(entry, serial) == 1 &&
                 X509_REVOKED_set_revocationDate(entry, last) == 1 && X509_CRL_add0_revoked(crl, entry) == 1,
             "revoking a certificate");
        ASN1_INTEGER_free(serial);
    }
    must(X509_CRL_sign(crl, ca_key, EVP_sha256()) > 0, "signing a revocation list");
    ASN1_TIME_free(last);
    ASN1_TIME_free(next);
    return crl;
}

static FILE *open_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
    must(file, "opening a file");
    return file;
}

void t_certificate_write(const char *path, const X509 *certificate)
{
    FILE *file = open_private(path);
    must(PEM_write_X509(file, certificate) == 1 && fclose(file) == 0, "writing a certificate");
}

void t_crl_write(const char *path, X509_CRL *crl)
{
    FILE *file = open_private(path);
    must(PEM_write_X509_CRL(file, crl) == 1 && fclose(file) == 0, "writing a revocation list");
}

/* ---- settings ---- */

aclshmemi_env_t t_tls_env(const char *secret_file)
{
    aclshmemi_env_t env;
    memset(&env, 0, sizeof env);
    env.conf_store_tls = true;
    env.secret_file = secret_file;
    env.secret_fd = -1;
    env.cert_check_period = 168;
    env.cert_check_ahead = 30;
    return env;
}

/* ---- two channels ---- */

static bool ended(const t_side_t *side)
{
    return side->rc != ACLSHMEMI_CHANNEL_WANT_READ && side->rc != ACLSHMEMI_CHANNEL_WANT_WRITE;
}

static void step(t_side_t *side)
{
    if (ended(side))
        return;
    side->rc = aclshmemi_channel_handshake(side->channel);
    if (side->rc == 0 || !ended(side))
        return;
    snprintf(side->text, sizeof side->text, "%s", aclshmemi_status_last_text());
    aclshmemi_channel_destroy(side->channel, false);
    side->channel = NULL;
}

void t_pair_open(t_pair_t *pair, aclshmemi_tls_context_t *client, aclshmemi_tls_context_t *server)
{
    int fds[2];
    memset(pair, 0, sizeof *pair);
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0, "a pair of sockets");
    must(aclshmemi_channel_create(client, fds[0], false, &pair->client.channel) == 0 &&
             aclshmemi_channel_create(server, fds[1], true, &pair->server.channel) == 0,
         "two channels");
    pair->client.rc = pair->server.rc = ACLSHMEMI_CHANNEL_WANT_READ;
    /* What one side writes the other can read at once, so a few turns are enough or something hangs. */
    for (int turn = 0; turn < 50 && !(ended(&pair->client) && ended(&pair->server)); turn++) {
        step(&pair->client);
        step(&pair->server);
    }
}

void t_pair_close(t_pair_t *pair)
{
    aclshmemi_channel_destroy(pair->client.channel, false);
    aclshmemi_channel_destroy(pair->server.channel, false);
    memset(pair, 0, sizeof *pair);
}

ssize_t t_side_read(t_side_t *side, void *data, size_t size)
{
    ssize_t n = aclshmemi_channel_read(side->channel, data, size);
    if (n < 0 && n > ACLSHMEMI_CHANNEL_WANT_READ)
        snprintf(side->text, sizeof side->text, "%s", aclshmemi_status_last_text());
    return n;
}

void t_pair_send(t_side_t *from, t_side_t *to, const char *text)
{
    char got[256] = "";
    ssize_t length = (ssize_t)strlen(text);
    t_check_int(aclshmemi_channel_write(from->channel, text, (size_t)length), length);
    t_check_int(t_side_read(to, got, sizeof got), length);
    t_check_text(got, text);
}
