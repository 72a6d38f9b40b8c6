/* SPDX-License-Identifier: Apache-2.0 */
/* PMI-1 lines and the hex form of values. What arrives is bounded by its length, never by a terminator. */
#include "host/bootstrap/pmi/line.h"

#include <ctype.h>
#include <string.h>

static bool is_clean(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!isprint((unsigned char)text[i]) && text[i] != '\t')
            return false;
    }
    return true;
}

bool aclshmemi_pmi_line_parse(char *text, size_t size, aclshmemi_pmi_line_t *line)
{
    memset(line, 0, sizeof *line);
    if (!is_clean(text, size) || size < 4 || memcmp(text, "cmd=", 4) != 0)
        return false;
    text[size] = '\0';
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        char *equals = strchr(word, '=');
        if (equals == NULL || equals == word)
            continue;
        if (line->count == ACLSHMEMI_PMI_PAIRS_MAX)
            return false;
        *equals = '\0';
        line->key[line->count] = word;
        line->value[line->count++] = equals + 1;
    }
    return true;
}

const char *aclshmemi_pmi_line_get(const aclshmemi_pmi_line_t *line, const char *key)
{
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->key[i], key) == 0)
            return line->value[i];
    }
    return NULL;
}

void aclshmemi_pmi_hex_print(const void *bytes, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *in = bytes;
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[in[i] >> 4];
        *out++ = digits[in[i] & 15];
    }
    *out = '\0';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool aclshmemi_pmi_hex_parse(const char *text, void *bytes, size_t size)
{
    uint8_t *out = bytes;
    if (strlen(text) != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}
