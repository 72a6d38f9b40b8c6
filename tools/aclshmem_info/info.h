/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of aclshmem_info: facts as a tree, and the forms it is printed in. */
#ifndef ACLSHMEM_INFO_H
#define ACLSHMEM_INFO_H

#include <jansson.h>
#include <stdbool.h>

/* --- facts.c: every function returns a new object --- */

json_t *facts_version(void);
json_t *facts_build(void);
json_t *facts_runtime(void);
json_t *facts_transports(void);
json_t *facts_meeting(void); /* launcher seen, TLS, settings file */
json_t *facts_memory(void);  /* limits that matter for heaps */
json_t *facts_sizes(void);   /* sizes and limits of the interface */
/* An array of settings; NULL after printing why when one does not parse. hidden: also those not meant for users. */
json_t *facts_settings(bool hidden);

/* --- print.c --- */

void print_text(json_t *facts);     /* headings and aligned lines */
void print_parsable(json_t *facts); /* section:name:value */
int print_json(const json_t *facts);

void print_settings_text(const json_t *settings, const char *only);
void print_settings_markdown(const json_t *settings);
void print_settings_man(const json_t *settings);
void print_settings_rst(const json_t *settings);
void print_settings_file(const json_t *settings); /* a commented settings file */

#endif
