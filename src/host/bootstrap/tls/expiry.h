/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the certificates a context uses for the end of their validity, in UTC. */
#ifndef ACLSHMEMI_TLS_EXPIRY_H
#define ACLSHMEMI_TLS_EXPIRY_H

#include <stdint.h>
#include <time.h>

#include <openssl/x509.h>

#include "host/utils/clock.h"
#include "host/utils/env.h"

typedef struct aclshmemi_expiry {
    STACK_OF(X509) * certificates; /* the own one first, then the CAs; references */
    uint64_t period_ms;            /* between two looks */
    int64_t ahead_days;            /* warn from so many days before the end */
    aclshmemi_deadline_t next;     /* when to look again */
} aclshmemi_expiry_t;

int aclshmemi_expiry_init(aclshmemi_expiry_t *expiry, const aclshmemi_env_t *env) ACLSHMEMI_MUST_CHECK;
void aclshmemi_expiry_fini(aclshmemi_expiry_t *expiry); /* accepts a zeroed one */
/* Takes a reference. */
int aclshmemi_expiry_add(aclshmemi_expiry_t *expiry, X509 *certificate) ACLSHMEMI_MUST_CHECK;

/* At the start: outside its validity is a failure, soon outside a warning. */
int aclshmemi_expiry_start(aclshmemi_expiry_t *expiry, time_t now) ACLSHMEMI_MUST_CHECK;
/* Later: warnings only; what is connected stays. */
void aclshmemi_expiry_look(aclshmemi_expiry_t *expiry, time_t now);

#endif
