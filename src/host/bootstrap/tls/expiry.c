/* SPDX-License-Identifier: Apache-2.0 */
/* Validity of certificates. Dates are compared by OpenSSL, which knows only UTC; looks are timed by the monotonic clock. */
#include "host/bootstrap/tls/expiry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <openssl/asn1.h>

#define LOG_MODULE "tls"
#include "host/utils/log.h"

#define SECONDS_PER_DAY 86400

int aclshmemi_expiry_init(aclshmemi_expiry_t *expiry, const aclshmemi_env_t *env)
{
    expiry->certificates = sk_X509_new_null();
    if (!expiry->certificates)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a list of certificates");
    expiry->period_ms = (uint64_t)env->cert_check_period * 3600 * 1000;
    expiry->ahead_days = env->cert_check_ahead;
    expiry->next = aclshmemi_deadline_after_ms(expiry->period_ms);
    return 0;
}

void aclshmemi_expiry_fini(aclshmemi_expiry_t *expiry)
{
    sk_X509_pop_free(expiry->certificates, X509_free);
    expiry->certificates = NULL;
}

int aclshmemi_expiry_add(aclshmemi_expiry_t *expiry, X509 *certificate)
{
    if (X509_up_ref(certificate) != 1)
        return fail(ACLSHMEM_INNER_ERROR, "a certificate cannot be shared");
    if (sk_X509_push(expiry->certificates, certificate) > 0)
        return 0;
    X509_free(certificate);
    return fail(ACLSHMEM_MALLOC_FAILED, "no memory for a list of certificates");
}

/* "2026-01-31 12:00 UTC" */
static void print_date(const ASN1_TIME *date, char *out, size_t size)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(date, &tm) != 1 || strftime(out, size, "%Y-%m-%d %H:%M UTC", &tm) == 0)
        snprintf(out, size, "an unreadable date");
}

/* Which certificate, as a user can tell it without its name being written. */
static void print_name(int index, char *out, size_t size)
{
    if (index == 0)
        snprintf(out, size, "the certificate of this PE");
    else
        snprintf(out, size, "CA certificate %d", index);
}

/* Seconds from now to the date, negative when it has passed. INT64_MIN: the date is unreadable. */
static int64_t seconds_until(const ASN1_TIME *date, time_t now)
{
    int days = 0, seconds = 0;
    ASN1_TIME *from = ASN1_TIME_set(NULL, now);
    int rc = from ? ASN1_TIME_diff(&days, &seconds, from, date) : 0;
    ASN1_TIME_free(from);
    return rc == 1 ? (int64_t)days * SECONDS_PER_DAY + seconds : INT64_MIN;
}

static void warn_when_near(const aclshmemi_expiry_t *expiry, int index, int64_t left, const char *date)
{
    char name[48];
    print_name(index, name, sizeof name);
    if (left < 0)
        log_warn("%s expired on %s; connections stay, the next init will fail", name, date);
    else if (left <= expiry->ahead_days * SECONDS_PER_DAY)
        log_warn("%s expires in %" PRId64 " days, on %s", name, left / SECONDS_PER_DAY, date);
}

int aclshmemi_expiry_start(aclshmemi_expiry_t *expiry, time_t now)
{
    for (int i = 0; i < sk_X509_num(expiry->certificates); i++) {
        const X509 *certificate = sk_X509_value(expiry->certificates, i);
        char name[48], date[64];
        print_name(i, name, sizeof name);
        print_date(X509_get0_notBefore(certificate), date, sizeof date);
        int64_t left = seconds_until(X509_get0_notBefore(certificate), now);
        if (left > 0 || left == INT64_MIN)
            return fail(ACLSHMEM_INNER_ERROR, "%s is not valid before %s", name, date);
        print_date(X509_get0_notAfter(certificate), date, sizeof date);
        left = seconds_until(X509_get0_notAfter(certificate), now);
        if (left < 0)
            return fail(ACLSHMEM_INNER_ERROR, "%s expired on %s", name, date);
        warn_when_near(expiry, i, left, date);
    }
    return 0;
}

void aclshmemi_expiry_look(aclshmemi_expiry_t *expiry, time_t now)
{
    if (!aclshmemi_deadline_passed(expiry->next))
        return;
    expiry->next = aclshmemi_deadline_after_ms(expiry->period_ms);
    for (int i = 0; i < sk_X509_num(expiry->certificates); i++) {
        char date[64];
        const ASN1_TIME *end = X509_get0_notAfter(sk_X509_value(expiry->certificates, i));
        print_date(end, date, sizeof date);
        warn_when_near(expiry, i, seconds_until(end, now), date);
    }
}
