/* SPDX-License-Identifier: Apache-2.0 */
/* [E-10] aclshmem_info: every form, valid JSON, values with their origin, and words for every mistake. */
#include <jansson.h>
#include <string.h>

#include "support/support.h"

static const char *program;

static void run(t_child_t *child, const char *const *arguments, const char *const *environment, int code)
{
    const char *argv[8] = {program};
    for (int i = 0; i < 6 && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    t_run(child, argv, environment, 20000);
    t_check_exit(child, code);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    t_check_that(text != NULL, "there is no \"%s\"", name);
    return text;
}

static const json_t *setting(const json_t *facts, const char *name)
{
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(facts, "settings"), index,
                       row) if (strcmp(text_of(row, "name"), name) == 0) return row;
    t_fail("setting %s is missing", name);
}

static void json_form(void)
{
    t_child_t child;
    json_error_t error;
    run(&child, (const char *const[]){"--json", NULL}, (const char *const[]){"SHMEM_WAIT_TIMEOUT=12.5", NULL},
        0);
    json_t *facts = json_loads(child.out, 0, &error);
    t_check_that(facts != NULL, "no JSON: line %d %s", error.line, error.text);
    t_check_contains(text_of(json_object_get(facts, "version"), "name"), "ACLSHMEM v");
    t_check_contains(text_of(json_object_get(facts, "devices"), "device runtime"), "libascendcl");
    t_check(text_of(json_object_get(facts, "devices"), "chosen because")[0] != '\0');
    t_check_contains(text_of(json_object_get(facts, "transports"), "mte"), "usable");
    t_check_text(text_of(json_object_get(facts, "configuration"), "launcher"), "alone");
    t_check_text(text_of(setting(facts, "SHMEM_WAIT_TIMEOUT"), "value"), "12.5");
    t_check_text(text_of(setting(facts, "SHMEM_WAIT_TIMEOUT"), "origin"), "environment");
    t_check_text(text_of(setting(facts, "SHMEM_SYMMETRIC_SIZE"), "origin"), "default");
    json_decref(facts);
    t_check_text(child.err, "");
    t_child_free(&child);
}

static void other_forms(void)
{
    t_child_t child;
    static const char *const forms[][4] = {
        {NULL},          {"-v", NULL},       {"-b", NULL},        {"-c", NULL},        {"-d", NULL},
        {"-t", NULL},    {"-m", NULL},       {"-s", NULL},        {"-e", NULL},        {"-e", "-a", NULL},
        {"-f", NULL},    {"-r", "md", NULL}, {"-r", "man", NULL}, {"-r", "rst", NULL}, {"--parsable", NULL},
        {"--help", NULL}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        run(&child, forms[i], NULL, 0);
        t_check(strlen(child.out) > 20);
        t_check_text(child.err, "");
        t_child_free(&child);
    }
    run(&child, (const char *const[]){"-e", "shmem_log_level", NULL},
        (const char *const[]){"SHMEM_LOG_LEVEL=INFO", NULL}, 0);
    t_check_contains(child.out, "SHMEM_LOG_LEVEL=INFO");
    t_check_contains(child.out, "value from environment");
    t_child_free(&child);
}

static void mistakes(void)
{
    t_child_t child;
    run(&child, (const char *const[]){"--nonsense", NULL}, NULL, 2);
    t_child_free(&child);
    run(&child, (const char *const[]){"stray", NULL}, NULL, 2);
    t_check_contains(child.err, "stray");
    t_child_free(&child);
    run(&child, (const char *const[]){"-r", "pdf", NULL}, NULL, 2);
    t_check_contains(child.err, "md, man and rst");
    t_child_free(&child);
    run(&child, (const char *const[]){"-e", "SHMEM_NO_SUCH", NULL}, NULL, 2);
    t_check_contains(child.err, "SHMEM_NO_SUCH");
    t_child_free(&child);
    run(&child, (const char *const[]){"-e", NULL}, (const char *const[]){"SHMEM_WAIT_TIMEOUT=soon", NULL}, 1);
    t_check_contains(child.err, "SHMEM_WAIT_TIMEOUT");
    t_check_contains(child.err, "soon");
    t_child_free(&child);
}

int main(int argc, char **argv)
{
    t_check_int(argc, 2);
    program = argv[1];
    t_clean_environment();
    json_form();
    other_forms();
    mistakes();
    return 0;
}
