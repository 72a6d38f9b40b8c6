/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of settings: what is a value, what is none, and where the limits lie. */
#include "support/unit.h"

#include <inttypes.h>
#include <string.h>

#include "host/utils/env.h"

#define BAD   ACLSHMEM_INVALID_PARAM
#define RANGE ACLSHMEM_INVALID_VALUE
#define KEPT  77 /* outputs are written on success only */

static void integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t low, high;
        int rc;
        int64_t value;
    } rows[] = {
        {"0", -5, 5, 0, 0},
        {"-5", -5, 5, 0, -5},
        {"+5", -5, 5, 0, 5},
        {"  3\t", -5, 5, 0, 3},
        {"007", 0, 10, 0, 7},
        {"6", -5, 5, RANGE, 0},
        {"-6", -5, 5, RANGE, 0},
        {"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
        {"9223372036854775808", INT64_MIN, INT64_MAX, RANGE, 0},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, RANGE, 0},
        {"18446744073709551616", INT64_MIN, INT64_MAX, RANGE, 0},
        {"18446744073709551617", 0, 10, RANGE, 0}, /* would be 1 when wrapped */
        {"99999999999999999999999999999999999", INT64_MIN, INT64_MAX, RANGE, 0},
        {"", 0, 5, BAD, 0},
        {"   ", 0, 5, BAD, 0},
        {"-", 0, 5, BAD, 0},
        {"+-1", 0, 5, BAD, 0},
        {"1x", 0, 5, BAD, 0},
        {"x1", 0, 5, BAD, 0},
        {"1 2", 0, 50, BAD, 0},
        {"1.0", 0, 5, BAD, 0},
        {"1e1", 0, 50, BAD, 0},
        {"0x1", 0, 5, BAD, 0},
        {"1,000", 0, 5000, BAD, 0},
        {"- 1", -5, 5, BAD, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = KEPT;
        int rc = aclshmemi_parse_int(rows[i].text, rows[i].low, rows[i].high, &value);
        t_check_that(rc == rows[i].rc && value == (rc ? KEPT : rows[i].value),
                     "\"%s\" gives %d and %" PRId64 ", expected %d and %" PRId64, rows[i].text, rc, value,
                     rows[i].rc, rows[i].rc ? KEPT : rows[i].value);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } rows[] = {
        {"0", 0, 0},
        {"4096", 0, 4096},
        {"1K", 0, 1024},
        {"1k", 0, 1024},
        {"2M", 0, UINT64_C(2) << 20},
        {"3g", 0, UINT64_C(3) << 30},
        {"1T", 0, UINT64_C(1) << 40},
        {"64KB", 0, 65536},
        {"64KiB", 0, 65536},
        {"64kib", 0, 65536},
        {"1.5G", 0, UINT64_C(3) << 29},
        {"0.5K", 0, 512},
        {"3.1M", 0, 3250586}, /* rounded up, as OpenSHMEM has it */
        {"0.0000000001T", 0, 110},
        {" 1M ", 0, 1 << 20},
        {"18446744073709551615", 0, UINT64_MAX},
        {"16777215T", 0, UINT64_C(16777215) << 40},
        {"18446744073709551616", RANGE, 0},
        {"16777216T", RANGE, 0},
        {"16777215.99999999999999T", RANGE, 0},
        {"99999999999999999999T", RANGE, 0},
        {"1.5", BAD, 0},
        {"", BAD, 0},
        {"K", BAD, 0},
        {".5K", BAD, 0},
        {"1.K", BAD, 0},
        {"-1", BAD, 0},
        {"+1", BAD, 0},
        {"1 K", BAD, 0},
        {"1B", BAD, 0},
        {"1i", BAD, 0},
        {"1Ki", BAD, 0},
        {"1KK", BAD, 0},
        {"1KBB", BAD, 0},
        {"1P", BAD, 0},
        {"1e6", BAD, 0},
        {"0x10", BAD, 0},
        {"1G0", BAD, 0},
        {"lots", BAD, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = KEPT;
        int rc = aclshmemi_parse_size(rows[i].text, 0, UINT64_MAX, &value);
        t_check_that(rc == rows[i].rc && value == (rc ? KEPT : rows[i].value),
                     "\"%s\" gives %d and %" PRIu64 ", expected %d and %" PRIu64, rows[i].text, rc, value,
                     rows[i].rc, rows[i].rc ? KEPT : rows[i].value);
    }
    uint64_t value = KEPT;
    t_check_int(aclshmemi_parse_size("4K", 4096, 4096, &value), 0);
    t_check_int(aclshmemi_parse_size("4097", 0, 4096, &value), RANGE);
    t_check_int(aclshmemi_parse_size("4095", 4096, 8192, &value), RANGE);
    t_check_uint(value, 4096);
}

static void seconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        uint64_t ms;
    } rows[] = {
        {"1", 0, 1000},
        {"0", 0, 0},
        {"0.001", 0, 1},
        {"0.0001", 0, 1}, /* rounded up: never 0, which may mean never */
        {"0.00000000000000000001", 0, 1},
        {"1.5", 0, 1500},
        {"2.000", 0, 2000},
        {" 3 ", 0, 3000},
        {"18446744073709551.615", 0, UINT64_MAX},
        {"18446744073709551.616", RANGE, 0},
        {"18446744073709552", RANGE, 0},
        {"99999999999999999999999", RANGE, 0},
        {"", BAD, 0},
        {".", BAD, 0},
        {".5", BAD, 0},
        {"5.", BAD, 0},
        {"1s", BAD, 0},
        {"1 s", BAD, 0},
        {"-1", BAD, 0},
        {"1e3", BAD, 0},
        {"1,5", BAD, 0},
        {"inf", BAD, 0},
        {"nan", BAD, 0},
        {"never", BAD, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t ms = KEPT;
        int rc = aclshmemi_parse_seconds(rows[i].text, 0, UINT64_MAX, &ms);
        t_check_that(rc == rows[i].rc && ms == (rc ? KEPT : rows[i].ms),
                     "\"%s\" gives %d and %" PRIu64 " ms, expected %d and %" PRIu64, rows[i].text, rc, ms,
                     rows[i].rc, rows[i].rc ? KEPT : rows[i].ms);
    }
    uint64_t ms = KEPT;
    t_check_int(aclshmemi_parse_seconds("0.9", 1000, 5000, &ms), RANGE);
    t_check_int(aclshmemi_parse_seconds("5.0001", 1000, 5000, &ms), RANGE);
    t_check_uint(ms, KEPT);
}

static void truth(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "true", "TRUE", "yes", "Yes", "on", "y", " on "};
    static const char *const no[] = {"0", "false", "no", "OFF", "n", "\tN"};
    static const char *const none[] = {"",       " ", "2",   "01", "tru",   "truee",
                                       "yes no", "|", "0|1", "-1", "enable"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        bool value = false;
        t_check_that(aclshmemi_parse_bool(yes[i], &value) == 0 && value, "\"%s\" is not true", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        bool value = true;
        t_check_that(aclshmemi_parse_bool(no[i], &value) == 0 && !value, "\"%s\" is not false", no[i]);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        bool value = true;
        t_check_that(aclshmemi_parse_bool(none[i], &value) == BAD && value, "\"%s\" is taken", none[i]);
    }
}

static void choices(void **state)
{
    (void)state;
    int64_t value = KEPT;
    t_check_int(aclshmemi_parse_choice("none", "", &value), BAD);
    t_check_int(aclshmemi_parse_choice("au", "auto|off", &value), BAD);
    t_check_int(aclshmemi_parse_choice("autooff", "auto|off", &value), BAD);
    t_check_int(aclshmemi_parse_choice("auto|off", "auto|off", &value), BAD);
    t_check_int(aclshmemi_parse_choice("", "auto|off", &value), BAD);
    t_check_int(aclshmemi_parse_choice("", "auto||off", &value), BAD);
    t_check_int(value, KEPT);
    t_check_int(aclshmemi_parse_choice("auto", "auto|off|hugetlb", &value), 0);
    t_check_int(value, 0);
    t_check_int(aclshmemi_parse_choice(" HugeTLB ", "auto|off|hugetlb", &value), 0);
    t_check_int(value, 2);
    t_check_int(aclshmemi_parse_choice("2", "0|1|2", &value), 0);
    t_check_int(value, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers), cmocka_unit_test(sizes),   cmocka_unit_test(seconds),
        cmocka_unit_test(truth),    cmocka_unit_test(choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
