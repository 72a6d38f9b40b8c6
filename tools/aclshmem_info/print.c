/* SPDX-License-Identifier: Apache-2.0 */
/* The forms facts are printed in. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "info.h"

static void print_value(const json_t *value)
{
    if (json_is_integer(value))
        printf("%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        printf("%s", json_is_true(value) ? "yes" : "no");
    else
        printf("%s", json_string_value(value));
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

void print_text(json_t *facts)
{
    const char *section, *name;
    json_t *object, *value;
    json_object_foreach(facts, section, object)
    {
        if (json_is_array(object)) {
            print_settings_text(object, NULL);
            continue;
        }
        printf("%s\n", section);
        json_object_foreach(object, name, value)
        {
            printf("  %-30s ", name);
            print_value(value);
            putchar('\n');
        }
    }
}

/* Names may hold blanks; a colon ends them, and the value is the rest of the line. */
void print_parsable(json_t *facts)
{
    const char *section, *name;
    json_t *object, *value;
    size_t index;
    json_object_foreach(facts, section, object)
    {
        json_array_foreach(object, index, value)
            printf("%s:%s:%s\n", section, text_of(value, "name"), text_of(value, "value"));
        json_object_foreach(object, name, value)
        {
            printf("%s:%s:", section, name);
            print_value(value);
            putchar('\n');
        }
    }
}

int print_json(const json_t *facts)
{
    if (json_dumpf(facts, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) != 0)
        return -1;
    return putchar('\n') == EOF ? -1 : 0;
}

void print_settings_text(const json_t *settings, const char *only)
{
    size_t index;
    json_t *row;
    json_array_foreach(settings, index, row)
    {
        if (only != NULL && strcasecmp(only, text_of(row, "name")) != 0)
            continue;
        printf("%s=%s\n", text_of(row, "name"), text_of(row, "value"));
        printf("    %s\n", text_of(row, "text"));
        printf("    %s%s%s, default \"%s\", value from %s\n", text_of(row, "type"),
               text_of(row, "range")[0] ? " " : "", text_of(row, "range"), text_of(row, "default"),
               text_of(row, "origin"));
    }
}

/* In a table cell a bar would end the cell. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
}

static void markdown_rows(const json_t *settings, bool given)
{
    size_t index;
    json_t *row;
    printf("| variable | type | default | range or choices | what it is |\n|---|---|---|---|---|\n");
    json_array_foreach(settings, index, row)
    {
        if (json_is_true(json_object_get(row, "given by launchers")) != given)
            continue;
        printf("| `%s` | %s | %s | ", text_of(row, "name"), text_of(row, "type"), text_of(row, "default"));
        print_cell(text_of(row, "range"));
        printf(" | ");
        print_cell(text_of(row, "text"));
        printf(" |\n");
    }
}

void print_settings_markdown(const json_t *settings)
{
    printf("# Settings\n\nEvery variable the library reads; made by `aclshmem_info -r md`. A value that does "
           "not parse is an error of "
           "init. `aclshmem_info -e`\nshows the present values and where they come from.\n\n");
    markdown_rows(settings, false);
    printf("\n## Given by launchers to their children\n\n");
    markdown_rows(settings, true);
}

/* A list of choices is one long word; lines may break after its bars. */
static void print_breakable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '|')
            fputs("|\\:", stdout);
        else
            putchar(*text);
}

void print_settings_man(const json_t *settings)
{
    size_t index;
    json_t *row;
    printf(
        ".TH SHMEM_ENVIRONMENT 7\n.SH NAME\nshmem_environment \\- variables the library reads\n.SH "
        "DESCRIPTION\nMade by \"aclshmem_info \\-r man\". A value that does not parse is an error of init.\n"
        ".ad l\n");
    json_array_foreach(settings, index, row)
    {
        const char *range = text_of(row, "range");
        printf(".TP\n.B %s\n%s. Type %s%s", text_of(row, "name"), text_of(row, "text"), text_of(row, "type"),
               range[0] != '\0' ? ", " : "");
        print_breakable(range);
        printf(", default \"%s\".\n", text_of(row, "default"));
    }
}

void print_settings_rst(const json_t *settings)
{
    size_t index;
    json_t *row;
    printf("Settings\n========\n\n");
    json_array_foreach(settings, index, row)
        printf("``%s``\n    %s. Type %s%s%s, default ``%s``.\n\n", text_of(row, "name"), text_of(row, "text"),
               text_of(row, "type"), text_of(row, "range")[0] ? ", " : "", text_of(row, "range"),
               text_of(row, "default"));
}

void print_settings_file(const json_t *settings)
{
    size_t index;
    json_t *row;
    printf("# Settings file: name it with SHMEM_CONFIG_FILE. The environment wins over it.\n");
    json_array_foreach(settings, index, row)
    {
        if (json_is_true(json_object_get(row, "given by launchers")) ||
            strncmp(text_of(row, "name"), "SHMEM_", 6) != 0 ||
            strcmp(text_of(row, "name"), "SHMEM_CONFIG_FILE") == 0)
            continue;
        printf("\n# %s\n# %s %s\n#%s=%s\n", text_of(row, "text"), text_of(row, "type"), text_of(row, "range"),
               text_of(row, "name"), text_of(row, "default"));
    }
}
