/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts to values, strictly: all of the text or nothing, blanks around it cut, no wrap, no locale. What is no value of
 * the type at all is INVALID_PARAM, a value outside the limits INVALID_VALUE. Nothing is logged.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "host/utils/env.h"

typedef struct span {
    const char *at;
    const char *end;
} span_t;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static span_t trim(const char *text)
{
    span_t span = {text, text + strlen(text)};
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.end > span.at && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* At least one digit. Past 64 bits the value sticks at the maximum, which *overflow remembers. */
static bool take_number(span_t *span, uint64_t *value, bool *overflow)
{
    const char *start = span->at;
    *value = 0;
    *overflow = false;
    for (; span->at < span->end && is_digit(*span->at); span->at++) {
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(*span->at - '0'), value)) {
            *overflow = true;
            *value = UINT64_MAX;
        }
        if (*overflow)
            *value = UINT64_MAX;
    }
    return span->at > start;
}

int aclshmemi_parse_int(const char *text, int64_t low, int64_t high, int64_t *out)
{
    span_t span = trim(text);
    bool negative = span.at < span.end && *span.at == '-';
    if (span.at < span.end && (*span.at == '-' || *span.at == '+'))
        span.at++;
    uint64_t magnitude;
    bool overflow;
    if (!take_number(&span, &magnitude, &overflow) || span.at != span.end)
        return ACLSHMEM_INVALID_PARAM;
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (overflow || magnitude > most)
        return ACLSHMEM_INVALID_VALUE;
    int64_t value = negative ? (int64_t)(UINT64_C(0) - magnitude) : (int64_t)magnitude;
    if (value < low || value > high)
        return ACLSHMEM_INVALID_VALUE;
    *out = value;
    return ACLSHMEM_SUCCESS;
}

enum { FRACTION_DIGITS = 18 };
#define FRACTION_ONE UINT64_C(1000000000000000000) /* 10 to the power of FRACTION_DIGITS */

/* Digits behind the point, as a part of FRACTION_ONE; further digits only count as "a bit more", so that nothing is
 * lost when the result is rounded up. */
static bool take_fraction(span_t *span, uint64_t *fraction)
{
    *fraction = 0;
    if (span->at == span->end || *span->at != '.')
        return true;
    span->at++;
    int count = 0;
    bool more = false;
    const char *start = span->at;
    for (; span->at < span->end && is_digit(*span->at); span->at++) {
        if (count < FRACTION_DIGITS) {
            *fraction = *fraction * 10 + (uint64_t)(*span->at - '0');
            count++;
        } else if (*span->at != '0') {
            more = true;
        }
    }
    if (span->at == start)
        return false;
    for (; count < FRACTION_DIGITS; count++)
        *fraction *= 10;
    *fraction += more;
    return true;
}

/* (whole + fraction / FRACTION_ONE) * unit, rounded up. */
static bool scale(uint64_t whole, uint64_t fraction, uint64_t unit, uint64_t *out)
{
    unsigned __int128 part = ((unsigned __int128)fraction * unit + FRACTION_ONE - 1) / FRACTION_ONE;
    unsigned __int128 value = (unsigned __int128)whole * unit + part;
    if (value > UINT64_MAX)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* K M G T, alone or as KB or KiB: all powers of 1024. */
static bool take_unit(span_t *span, uint64_t *unit)
{
    static const char letters[] = "KMGT";
    *unit = 1;
    if (span->at == span->end)
        return true;
    char upper = *span->at >= 'a' && *span->at <= 'z' ? (char)(*span->at - 'a' + 'A') : *span->at;
    const char *found = strchr(letters, upper);
    if (!found || upper == '\0')
        return false;
    *unit = UINT64_C(1) << (10 * (found - letters + 1));
    span->at++;
    if (span->end - span->at == 2 && (*span->at == 'i' || *span->at == 'I'))
        span->at++;
    if (span->end - span->at == 1 && (*span->at == 'b' || *span->at == 'B'))
        span->at++;
    return span->at == span->end;
}

int aclshmemi_parse_size(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    span_t span = trim(text);
    uint64_t whole, fraction, unit, value;
    bool overflow;
    if (!take_number(&span, &whole, &overflow) || !take_fraction(&span, &fraction) ||
        !take_unit(&span, &unit))
        return ACLSHMEM_INVALID_PARAM;
    if (unit == 1 && fraction)
        return ACLSHMEM_INVALID_PARAM; /* half a byte */
    if (overflow || !scale(whole, fraction, unit, &value) || value < low || value > high)
        return ACLSHMEM_INVALID_VALUE;
    *out = value;
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_parse_seconds(const char *text, uint64_t low_ms, uint64_t high_ms, uint64_t *out)
{
    span_t span = trim(text);
    uint64_t whole, fraction, value;
    bool overflow;
    if (!take_number(&span, &whole, &overflow) || !take_fraction(&span, &fraction) || span.at != span.end)
        return ACLSHMEM_INVALID_PARAM;
    if (overflow || !scale(whole, fraction, 1000, &value) || value < low_ms || value > high_ms)
        return ACLSHMEM_INVALID_VALUE;
    *out = value;
    return ACLSHMEM_SUCCESS;
}

/* Index of the text among words parted by '|', in any case; -1 when it is none of them. */
static int word_index(span_t span, const char *words)
{
    size_t length = (size_t)(span.end - span.at);
    for (int index = 0;; index++) {
        size_t word = strcspn(words, "|");
        if (word == length && length && strncasecmp(words, span.at, length) == 0)
            return index;
        if (words[word] == '\0')
            return -1;
        words += word + 1;
    }
}

int aclshmemi_parse_bool(const char *text, bool *out)
{
    int index = word_index(trim(text), "0|1|false|true|no|yes|off|on|n|y");
    if (index < 0)
        return ACLSHMEM_INVALID_PARAM;
    *out = index % 2 != 0;
    return ACLSHMEM_SUCCESS;
}

int aclshmemi_parse_choice(const char *text, const char *choices, int64_t *out)
{
    int index = word_index(trim(text), choices);
    if (index < 0)
        return ACLSHMEM_INVALID_PARAM;
    *out = index;
    return ACLSHMEM_SUCCESS;
}
