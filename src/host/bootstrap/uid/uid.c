/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is inside a unique id, and how one is made.
 *
 * The 136 bytes, little endian; users see them as opaque:
 *
 *     0  version of the struct        48  magic, 8 bytes           96  check sum, 4 bytes
 *     4  two ints, unused             56  version of this layout   100 interface of a link-local address, 16 bytes
 *    12  zero                         60  zero                     116 zero to the end
 *    16  sockaddr_in or _in6          64  secret, 32 bytes
 *    44  0 IPv4, 1 IPv6
 *
 * The check sum finds ids that were cut or mangled on their way; it protects against nobody.
 */
#define LOG_MODULE "uid"
#include "host/bootstrap/uid/uid.h"

#include <net/if.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

enum {
    AT_ADDR = 16,
    ADDR_ROOM = 28,
    AT_FAMILY = 44,
    AT_MAGIC = 48,
    AT_LAYOUT = 56,
    AT_SECRET = 64,
    AT_SUM = 96,
    AT_SCOPE = 100,
    AFTER_NUMBERS = 12, /* my_pe and n_pes before it may be written by users, so they are not summed */
    ID_SIZE = sizeof(aclshmemx_uniqueid_t)
};

#define LAYOUT 1u

_Static_assert(ID_SIZE == 136, "the size is part of the interface");
_Static_assert(sizeof(struct sockaddr_in6) <= ADDR_ROOM, "the address has its place");
_Static_assert(AT_SECRET + ACLSHMEMI_SECRET_LEN == AT_SUM && AT_SCOPE + IF_NAMESIZE <= ID_SIZE, "no overlap");

static int short_hash(const void *data, size_t size, uint32_t *out)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) != 1)
        return fail(ACLSHMEM_INNER_ERROR, "the crypto library has no sha256");
    memcpy(out, digest, sizeof *out);
    return 0;
}

uint32_t aclshmemi_magic_hash(uint64_t magic)
{
    uint32_t hash = 0;
    return short_hash(&magic, sizeof magic, &hash) == 0 ? hash : 0;
}

static int check_sum(const uint8_t raw[ID_SIZE], uint32_t *sum)
{
    uint8_t copy[ID_SIZE];
    memcpy(copy, raw, ID_SIZE);
    memset(copy + 4, 0, AFTER_NUMBERS - 4);
    memset(copy + AT_SUM, 0, 4);
    int rc = short_hash(copy, ID_SIZE, sum);
    explicit_bzero(copy, sizeof copy);
    return rc;
}

/* A link-local address needs an interface, and its number differs from host to host: the name travels. */
static int put_address(uint8_t raw[ID_SIZE], const aclshmemi_addr_t *addr)
{
    bool v6 = addr->any.sa_family == AF_INET6;
    uint32_t family = v6, sum = 0;
    memset(raw + AT_ADDR, 0, ADDR_ROOM);
    memset(raw + AT_SCOPE, 0, IF_NAMESIZE);
    memcpy(raw + AT_ADDR, addr, v6 ? sizeof addr->v6 : sizeof addr->v4);
    memcpy(raw + AT_FAMILY, &family, sizeof family);
    if (v6 && addr->v6.sin6_scope_id != 0) {
        char name[IF_NAMESIZE] = "";
        if (if_indextoname(addr->v6.sin6_scope_id, name) == NULL)
            return fail(ACLSHMEM_INVALID_PARAM, "interface number %u does not exist", addr->v6.sin6_scope_id);
        memcpy(raw + AT_SCOPE, name, strnlen(name, IF_NAMESIZE - 1));
    }
    TRY(check_sum(raw, &sum));
    memcpy(raw + AT_SUM, &sum, sizeof sum);
    return 0;
}

static int draw_magic(uint64_t *magic)
{
    do {
        if (RAND_bytes((unsigned char *)magic, sizeof *magic) != 1)
            return fail(ACLSHMEM_INNER_ERROR, "the system's random source gives nothing");
    } while (*magic == 0);
    return 0;
}

int aclshmemi_uid_encode(const aclshmemi_addr_t *addr, aclshmemx_uniqueid_t *out, uint64_t *magic)
{
    uint8_t raw[ID_SIZE] = {0};
    const int32_t version = ACLSHMEM_UNIQUEID_VERSION;
    const uint32_t layout = LAYOUT;
    uint64_t drawn = 0;
    int rc = draw_magic(&drawn);
    if (rc != 0)
        return rc;
    memcpy(raw, &version, sizeof version);
    memcpy(raw + AT_MAGIC, &drawn, sizeof drawn);
    memcpy(raw + AT_LAYOUT, &layout, sizeof layout);
    if (RAND_priv_bytes(raw + AT_SECRET, ACLSHMEMI_SECRET_LEN) != 1)
        return fail(ACLSHMEM_INNER_ERROR, "the system's random source gives nothing");
    rc = put_address(raw, addr);
    if (rc == 0) {
        memcpy(out, raw, ID_SIZE);
        *magic = drawn;
    }
    explicit_bzero(raw, sizeof raw);
    return rc;
}

int aclshmemi_uid_readdress(const aclshmemi_addr_t *addr, aclshmemx_uniqueid_t *id)
{
    uint8_t raw[ID_SIZE];
    memcpy(raw, id, ID_SIZE);
    int rc = put_address(raw, addr);
    if (rc == 0)
        memcpy(id, raw, ID_SIZE);
    explicit_bzero(raw, sizeof raw);
    return rc;
}

static int get_address(const uint8_t raw[ID_SIZE], aclshmemi_addr_t *addr)
{
    uint32_t family;
    char scope[IF_NAMESIZE];
    memset(addr, 0, sizeof *addr);
    memcpy(addr, raw + AT_ADDR, ADDR_ROOM);
    memcpy(&family, raw + AT_FAMILY, sizeof family);
    memcpy(scope, raw + AT_SCOPE, sizeof scope);
    scope[sizeof scope - 1] = '\0';
    if (family > 1 || addr->any.sa_family != (family == 1 ? AF_INET6 : AF_INET))
        return fail(ACLSHMEM_INVALID_PARAM,
                    "the unique id holds neither an IPv4 nor an IPv6 address; it must come "
                    "from aclshmemx_get_uniqueid and reach every PE unchanged");
    addr->length = family == 1 ? sizeof addr->v6 : sizeof addr->v4;
    uint16_t port = aclshmemi_addr_port(addr);
    if (port < ACLSHMEMI_PORT_MIN)
        return fail(ACLSHMEM_INVALID_PARAM, "the unique id holds port %u, not in %d..%d", port,
                    ACLSHMEMI_PORT_MIN, ACLSHMEMI_PORT_MAX);
    if (family == 1 && scope[0] != '\0') {
        addr->v6.sin6_scope_id = if_nametoindex(scope);
        if (addr->v6.sin6_scope_id == 0)
            return fail(ACLSHMEM_INVALID_PARAM,
                        "the unique id holds a link-local address of interface %.15s, which "
                        "this host does not have; use another address for the id",
                        scope);
    }
    return 0;
}

int aclshmemi_uid_decode(const void *bytes, aclshmemi_uid_t *uid)
{
    uint8_t raw[ID_SIZE];
    int32_t version;
    uint32_t layout, stored, sum = 0;
    aclshmemi_uid_t decoded;
    memset(&decoded, 0, sizeof decoded);
    memcpy(raw, bytes, ID_SIZE);
    memcpy(&version, raw, sizeof version);
    memcpy(&decoded.magic, raw + AT_MAGIC, sizeof decoded.magic);
    memcpy(&layout, raw + AT_LAYOUT, sizeof layout);
    memcpy(&stored, raw + AT_SUM, sizeof stored);

    int rc;
    if (version != ACLSHMEM_UNIQUEID_VERSION) {
        rc = fail(ACLSHMEM_INVALID_PARAM, "the unique id has version %d, this library knows %d", version,
                  ACLSHMEM_UNIQUEID_VERSION);
        goto wipe;
    }
    rc = get_address(raw, &decoded.addr);
    if (rc != 0)
        goto wipe;
    rc = check_sum(raw, &sum);
    if (rc != 0)
        goto wipe;
    if (decoded.magic == 0 || layout != LAYOUT || sum != stored) {
        rc = fail(ACLSHMEM_INVALID_PARAM,
                  "the unique id was %s; it must come from aclshmemx_get_uniqueid of this "
                  "version and reach every PE unchanged",
                  decoded.magic == 0 ? "never filled"
                  : layout != LAYOUT ? "made by another version"
                                     : "damaged");
        goto wipe;
    }
    memcpy(decoded.secret, raw + AT_SECRET, sizeof decoded.secret);
    *uid = decoded;
wipe:
    explicit_bzero(raw, sizeof raw);
    explicit_bzero(&decoded, sizeof decoded);
    return rc;
}
