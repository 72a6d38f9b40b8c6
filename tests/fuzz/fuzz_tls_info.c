/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the description of the certificates: aclshmemi_tls_info_parse. Beyond not crashing: what is accepted is
 * complete, its parts are in the shape the files behind it rely on, and written down again they read the same.
 */

#include "fuzz.h"
#include "host/bootstrap/tls/info.h"
#include "host/utils/log.h"

FUZZ_INITIALIZE

static void check_path(const char *path)
{
    expect(path[0] == '/' && !strpbrk(path, ":;,"));
}

static void check_list(const aclshmemi_tls_list_t *list, bool files)
{
    const char *item = list->first;
    for (size_t i = 0; i < list->count; i++, item = aclshmemi_tls_list_next(item)) {
        expect(item[0] != '\0' && item[0] != ' ' && !strpbrk(item, ":;,"));
        if (files)
            expect(!strchr(item, '/') && strcmp(item, "..") != 0 && strcmp(item, ".") != 0);
    }
}

static void print_list(char **at, const char *key, const aclshmemi_tls_list_t *list)
{
    const char *item = list->first;
    for (size_t i = 0; i < list->count; i++, item = aclshmemi_tls_list_next(item))
        *at += sprintf(*at, "%s%s", i == 0 ? key : " , ", item);
    *at += sprintf(*at, "%s", list->count > 0 ? ";" : "");
}

static void expect_same_list(const aclshmemi_tls_list_t *a, const aclshmemi_tls_list_t *b)
{
    const char *one = a->first, *other = b->first;
    expect(a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        expect(strcmp(one, other) == 0);
        one = aclshmemi_tls_list_next(one);
        other = aclshmemi_tls_list_next(other);
    }
}

static void print_and_read_again(const aclshmemi_tls_info_t *info, size_t size)
{
    aclshmemi_tls_info_t again;
    char *text = malloc(4 * size + 256), *at = text;
    expect(text != NULL);
    at += sprintf(at, "tlsCaPath:%s;tlsCert: %s ;packagePath:%s;", info->ca_path, info->cert,
                  info->package_path);
    if (info->crl_path)
        at += sprintf(at, "tlsCrlPath:%s;", info->crl_path);
    print_list(&at, "tlsCaFile:", &info->ca_files);
    print_list(&at, "tlsCrlFile:", &info->crl_files);
    print_list(&at, "tlsAllowedSubjects:", &info->allowed_subjects);
    expect(aclshmemi_tls_info_parse(text, &again) == 0);
    expect(strcmp(again.ca_path, info->ca_path) == 0 && strcmp(again.cert, info->cert) == 0);
    expect(strcmp(again.package_path, info->package_path) == 0);
    expect(!again.crl_path == !info->crl_path);
    expect_same_list(&again.ca_files, &info->ca_files);
    expect_same_list(&again.crl_files, &info->crl_files);
    expect_same_list(&again.allowed_subjects, &info->allowed_subjects);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aclshmemi_tls_info_t info = {.cert = "untouched"};
    char *text = malloc(size + 1); /* of exactly that size, so that a byte too many is seen */
    expect(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (aclshmemi_tls_info_parse(text, &info) != 0) {
        expect(strcmp(info.cert, "untouched") == 0);
        expect(strlen(aclshmemi_status_last_text()) > 0);
    } else {
        expect(info.ca_path && info.cert && info.package_path && info.ca_files.count > 0);
        check_path(info.ca_path);
        check_path(info.cert);
        check_path(info.package_path);
        if (info.crl_path)
            check_path(info.crl_path);
        check_list(&info.ca_files, true);
        check_list(&info.crl_files, true);
        check_list(&info.allowed_subjects, false);
        print_and_read_again(&info, size);
    }
    free(text);
    return 0;
}
