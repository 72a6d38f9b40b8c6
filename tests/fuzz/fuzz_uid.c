/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes unique ids: aclshmemi_uid_decode and aclshmemi_uid_readdress. The first byte says how: as they are, or with a
 * check sum that is right, which no mutation would hit.
 */
#define LOG_MODULE "fuzz"
#include <openssl/evp.h>

#include "fuzz.h"
#include "host/bootstrap/uid/uid.h"

FUZZ_INITIALIZE

static void correct_sum(uint8_t *id)
{
    uint8_t copy[sizeof(aclshmemx_uniqueid_t)], digest[EVP_MAX_MD_SIZE];
    memcpy(copy, id, sizeof copy);
    memset(copy + 4, 0, 8);
    memset(copy + 96, 0, 4);
    expect(EVP_Digest(copy, sizeof copy, digest, NULL, EVP_sha256(), NULL) == 1);
    memcpy(id + 96, digest, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ID = sizeof(aclshmemx_uniqueid_t) };
    uint8_t *bytes = malloc(ID + 1), *odd = bytes + 1;
    aclshmemi_uid_t uid, again;
    expect(bytes != NULL);
    if (size < 1)
        goto done;
    memset(odd, 0, ID);
    memcpy(odd, data + 1, size - 1 < ID ? size - 1 : ID);
    if (data[0] & 1)
        correct_sum(odd);
    memset(&uid, 0xee, sizeof uid);
    memset(&again, 0xee, sizeof again);
    int rc = aclshmemi_uid_decode(odd, &uid);
    if (rc != 0) {
        expect(rc == ACLSHMEM_INVALID_PARAM && memcmp(&uid, &again, sizeof uid) == 0);
        goto done;
    }
    expect(uid.magic != 0 && aclshmemi_addr_port(&uid.addr) >= ACLSHMEMI_PORT_MIN);
    expect(uid.addr.length <= sizeof uid.addr.v6);
    /* The address put into the id once more gives the same id to whoever decodes it. */
    aclshmemx_uniqueid_t id;
    memcpy(&id, odd, ID);
    if (aclshmemi_uid_readdress(&uid.addr, &id) == 0) {
        expect(aclshmemi_uid_decode(&id, &again) == 0);
        expect(again.magic == uid.magic && memcmp(again.secret, uid.secret, sizeof uid.secret) == 0);
    }
done:
    free(bytes);
    return 0;
}
