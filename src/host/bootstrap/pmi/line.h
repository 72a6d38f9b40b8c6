/* SPDX-License-Identifier: Apache-2.0 */
/* One line of PMI-1: "cmd=get_result rc=0 value=abc". Inside pmi/. */
#ifndef ACLSHMEMI_BOOTSTRAP_PMI_LINE_H
#define ACLSHMEMI_BOOTSTRAP_PMI_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACLSHMEMI_PMI_PAIRS_MAX 16

typedef struct aclshmemi_pmi_line {
    size_t count;
    const char *key[ACLSHMEMI_PMI_PAIRS_MAX];
    const char *value[ACLSHMEMI_PMI_PAIRS_MAX];
} aclshmemi_pmi_line_t;

/* Cuts text (size bytes, no newline, a writable byte after them) into pairs that point into it. False: not a line of
 * this protocol. Words without "=" are left out: some servers put plain words into their messages. */
bool aclshmemi_pmi_line_parse(char *text, size_t size, aclshmemi_pmi_line_t *line);
/* The value of a key, NULL when it is not there. */
const char *aclshmemi_pmi_line_get(const aclshmemi_pmi_line_t *line, const char *key);
/* Bytes to lower-case hex (2 * size + 1 characters) and back; back only from exactly 2 * size hex digits. */
void aclshmemi_pmi_hex_print(const void *bytes, size_t size, char *out);
bool aclshmemi_pmi_hex_parse(const char *text, void *bytes, size_t size);

#endif
