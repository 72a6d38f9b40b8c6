/* SPDX-License-Identifier: Apache-2.0 */
/* The parser for the description of the certificates. */
#include "host/bootstrap/tls/info.h"

#include <string.h>

#define LOG_MODULE "tls"
#include "host/utils/log.h"

typedef enum shape { PATH, FILES, NAMES } shape_t;

typedef struct row {
    const char *key;
    shape_t shape;
    bool required;
    size_t offset; /* of the field in aclshmemi_tls_info_t */
} row_t;

static const row_t rows[] = {
    {"tlsCaPath", PATH, true, offsetof(aclshmemi_tls_info_t, ca_path)},
    {"tlsCaFile", FILES, true, offsetof(aclshmemi_tls_info_t, ca_files)},
    {"tlsCert", PATH, true, offsetof(aclshmemi_tls_info_t, cert)},
    {"tlsCrlPath", PATH, false, offsetof(aclshmemi_tls_info_t, crl_path)},
    {"tlsCrlFile", FILES, false, offsetof(aclshmemi_tls_info_t, crl_files)},
    {"packagePath", PATH, true, offsetof(aclshmemi_tls_info_t, package_path)},
    {"tlsAllowedSubjects", NAMES, false, offsetof(aclshmemi_tls_info_t, allowed_subjects)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Spelled out rather than isspace(): the locale of the program has no say here. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char *trim(char *text)
{
    while (is_blank(*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

static int check_characters(const char *value, const char *key)
{
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == ':')
            return fail(ACLSHMEM_INVALID_PARAM, "the value of %s in the TLS description contains ':'", key);
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return fail(ACLSHMEM_INVALID_PARAM,
                        "the value of %s in the TLS description contains a control character", key);
    }
    return 0;
}

static int set_path(char *value, const row_t *row, const char **out)
{
    if (value[0] != '/')
        return fail(ACLSHMEM_INVALID_PARAM, "the value of %s in the TLS description is not an absolute path",
                    row->key);
    if (strchr(value, ','))
        return fail(ACLSHMEM_INVALID_PARAM, "the value of %s in the TLS description contains ','", row->key);
    *out = value;
    return 0;
}

/* Lays the items of a list one behind the other, in place. */
static int set_list(char *value, const row_t *row, aclshmemi_tls_list_t *out)
{
    char *end = value;
    size_t count = 0;
    for (char *rest = value; rest;) {
        char *comma = strchr(rest, ',');
        if (comma)
            *comma = '\0';
        char *item = trim(rest);
        rest = comma ? comma + 1 : NULL;
        size_t length = strlen(item);
        if (length == 0)
            return fail(ACLSHMEM_INVALID_PARAM, "the list of %s in the TLS description has an empty entry",
                        row->key);
        if (row->shape == FILES && (strchr(item, '/') || strcmp(item, ".") == 0 || strcmp(item, "..") == 0))
            return fail(
                ACLSHMEM_INVALID_PARAM,
                "the list of %s in the TLS description takes file names, not paths: the folder is %s's",
                row->key, strcmp(row->key, "tlsCaFile") == 0 ? "tlsCaPath" : "tlsCrlPath");
        memmove(end, item, length + 1);
        end += length + 1;
        count++;
    }
    *out = (aclshmemi_tls_list_t){value, count};
    return 0;
}

static void warn_unknown(const char *key)
{
    if (strcmp(key, "tlsPk") == 0 || strcmp(key, "tlsPkPwd") == 0)
        log_warn("key %s in the TLS description is ignored: private key and pass phrase are set by "
                 "aclshmemx_set_config_store_tls_key",
                 key);
    else
        log_warn("unknown key %.32s in the TLS description is ignored", key);
}

static int parse_item(char *item, size_t number, aclshmemi_tls_info_t *info, bool *seen)
{
    char *colon = strchr(item, ':');
    if (!colon)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "item %zu of the TLS description has no ':' between key and value", number);
    *colon = '\0';
    char *key = trim(item), *value = trim(colon + 1);
    if (key[0] == '\0')
        return fail(ACLSHMEM_INVALID_PARAM, "item %zu of the TLS description has no key", number);
    int i = 0;
    while (i < ROWS && strcmp(rows[i].key, key) != 0)
        i++;
    TRY(check_characters(key, "a key")); /* it may be printed */
    if (i == ROWS) {
        warn_unknown(key);
        return 0;
    }
    if (seen[i])
        return fail(ACLSHMEM_INVALID_PARAM, "key %s stands twice in the TLS description", key);
    seen[i] = true;
    TRY(check_characters(value, rows[i].key));
    if (value[0] == '\0')
        return rows[i].required
                   ? fail(ACLSHMEM_INVALID_PARAM, "key %s in the TLS description has no value", rows[i].key)
                   : 0;
    char *field = (char *)info + rows[i].offset;
    if (rows[i].shape == PATH)
        return set_path(value, &rows[i], (const char **)(void *)field);
    return set_list(value, &rows[i], (aclshmemi_tls_list_t *)(void *)field);
}

int aclshmemi_tls_info_parse(char *text, aclshmemi_tls_info_t *out)
{
    aclshmemi_tls_info_t info = {0};
    bool seen[ROWS] = {false};
    size_t number = 0;
    for (char *rest = text; rest;) {
        char *semicolon = strchr(rest, ';');
        if (semicolon)
            *semicolon = '\0';
        char *item = trim(rest);
        rest = semicolon ? semicolon + 1 : NULL;
        number++;
        if (item[0] != '\0')
            TRY(parse_item(item, number, &info, seen));
    }
    for (int i = 0; i < ROWS; i++)
        if (rows[i].required && !seen[i])
            return fail(ACLSHMEM_INNER_ERROR, "key %s is missing in the TLS description", rows[i].key);
    if ((info.crl_path != NULL) != (info.crl_files.count > 0))
        log_warn("the TLS description has only one of tlsCrlPath and tlsCrlFile: no revocation list is used");
    *out = info;
    return 0;
}
