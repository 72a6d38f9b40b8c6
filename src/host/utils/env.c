/* SPDX-License-Identifier: Apache-2.0 */
/* The settings: rows of env.def into a checked structure, and back into text. */
#include "host/utils/env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "host/utils/env_table.h"
#include "host/utils/log_filter.h"

#define LOG_MODULE "env"

/* Flags as env.def spells them. */
enum {
    HIDDEN = ACLSHMEMI_ENV_HIDDEN,
    FOREIGN = ACLSHMEMI_ENV_FOREIGN,
    GIVEN = ACLSHMEMI_ENV_GIVEN,
    SECRET = ACLSHMEMI_ENV_SECRET
};

typedef enum type { TYPE_int, TYPE_choice, TYPE_size, TYPE_seconds, TYPE_bool, TYPE_text } type_t;

static const aclshmemi_env_row_t rows[] = {
#define ENV(field, name, type, dflt, range, flags, text)                                                     \
    {((flags)&FOREIGN) ? name : ACLSHMEMI_ENV_PREFIX name, #type, dflt, range, text, (flags)},
#include "host/utils/env.def"
#undef ENV
};

#define OFFSET_int(field)     offsetof(aclshmemi_env_t, field)
#define OFFSET_choice(field)  offsetof(aclshmemi_env_t, field)
#define OFFSET_size(field)    offsetof(aclshmemi_env_t, field)
#define OFFSET_seconds(field) offsetof(aclshmemi_env_t, field##_ms)
#define OFFSET_bool(field)    offsetof(aclshmemi_env_t, field)
#define OFFSET_text(field)    offsetof(aclshmemi_env_t, field)

static const struct {
    type_t type;
    size_t offset;
} places[] = {
#define ENV(field, name, type, dflt, range, flags, text) {TYPE_##type, OFFSET_##type(field)},
#include "host/utils/env.def"
#undef ENV
};

const aclshmemi_env_row_t *aclshmemi_env_rows(void)
{
    return rows;
}

int aclshmemi_env_find(const char *name)
{
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* A program that runs with more rights than its caller takes no orders from the caller's environment: a setting can
 * name files to write. */
const char *aclshmemi_env_raw(const char *name)
{
    return secure_getenv(name);
}

static void *place_of(aclshmemi_env_t *env, int row)
{
    return (char *)env + places[row].offset;
}

static const void *const_place_of(const aclshmemi_env_t *env, int row)
{
    return (const char *)env + places[row].offset;
}

/* ---- one value ---- */

typedef struct limits {
    char low[32];
    char high[32];
} limits_t;

static limits_t limits_of(int row)
{
    limits_t limits = {"", ""};
    const char *dots = strstr(rows[row].range, "..");
    if (dots) {
        snprintf(limits.low, sizeof limits.low, "%.*s", (int)(dots - rows[row].range), rows[row].range);
        snprintf(limits.high, sizeof limits.high, "%s", dots + 2);
    }
    return limits;
}

static int parse_int(const char *text, const limits_t *limits, void *out)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    if (limits->low[0])
        TRY(aclshmemi_parse_int(limits->low, INT64_MIN, INT64_MAX, &low));
    if (limits->high[0])
        TRY(aclshmemi_parse_int(limits->high, INT64_MIN, INT64_MAX, &high));
    return aclshmemi_parse_int(text, low, high, out);
}

static int parse_size(const char *text, const limits_t *limits, void *out)
{
    uint64_t low = 0, high = UINT64_MAX;
    if (limits->low[0])
        TRY(aclshmemi_parse_size(limits->low, 0, UINT64_MAX, &low));
    if (limits->high[0])
        TRY(aclshmemi_parse_size(limits->high, 0, UINT64_MAX, &high));
    return aclshmemi_parse_size(text, low, high, out);
}

static int parse_seconds(const char *text, const limits_t *limits, void *out)
{
    uint64_t low = 0, high = UINT64_MAX;
    if (limits->low[0])
        TRY(aclshmemi_parse_seconds(limits->low, 0, UINT64_MAX, &low));
    if (limits->high[0])
        TRY(aclshmemi_parse_seconds(limits->high, 0, UINT64_MAX, &high));
    return aclshmemi_parse_seconds(text, low, high, out);
}

/* The text stays where it is; the caller copies it together with the others. */
static int parse_text(const char *text, const limits_t *limits, void *out)
{
    int64_t low = 0, high = INT64_MAX;
    if (limits->low[0])
        TRY(aclshmemi_parse_int(limits->low, 0, INT64_MAX, &low));
    if (limits->high[0])
        TRY(aclshmemi_parse_int(limits->high, 0, INT64_MAX, &high));
    size_t length = strlen(text);
    if (length < (uint64_t)low || length > (uint64_t)high)
        return ACLSHMEM_INVALID_VALUE;
    *(const char **)out = text;
    return ACLSHMEM_SUCCESS;
}

static int parse_row(int row, const char *text, aclshmemi_env_t *env)
{
    limits_t limits = limits_of(row);
    void *out = place_of(env, row);
    switch (places[row].type) {
    case TYPE_int:
        return parse_int(text, &limits, out);
    case TYPE_choice:
        return aclshmemi_parse_choice(text, rows[row].range, out);
    case TYPE_size:
        return parse_size(text, &limits, out);
    case TYPE_seconds:
        return parse_seconds(text, &limits, out);
    case TYPE_bool:
        return aclshmemi_parse_bool(text, out);
    case TYPE_text:
        return parse_text(text, &limits, out);
    }
    return ACLSHMEM_INNER_ERROR;
}

/* ---- what is said about a bad one ---- */

static void print_allowed(int row, char *out, size_t size)
{
    limits_t limits = limits_of(row);
    switch (places[row].type) {
    case TYPE_int:
        snprintf(out, size, "a whole number from %s to %s", limits.low, limits.high);
        break;
    case TYPE_size:
        snprintf(out, size, "a size from %s to %s, where K M G T are powers of 1024", limits.low,
                 limits.high);
        break;
    case TYPE_seconds:
        snprintf(out, size, "seconds from %s to %s", limits.low, limits.high);
        break;
    case TYPE_bool:
        snprintf(out, size, "1 or 0, true or false, yes or no, on or off, y or n");
        break;
    case TYPE_choice:
        snprintf(out, size, "one of %s", rows[row].range);
        for (char *bar = out; (bar = strchr(bar, '|'));)
            *bar = ' ';
        break;
    case TYPE_text:
        snprintf(out, size, "text of %s to %s characters", limits.low, limits.high);
        break;
    }
}

static void print_origin(const aclshmemi_env_source_t *source, const char *path, char *out, size_t size)
{
    if (source->origin == ACLSHMEMI_ORIGIN_FILE)
        snprintf(out, size, "in %s:%d", path, source->line);
    else
        snprintf(out, size, "in the environment");
}

/* The value in quotes, cut where it gets boring; nothing of a secret. */
static void print_quoted(int row, const char *value, char *out, size_t size)
{
    if (rows[row].flags & SECRET)
        snprintf(out, size, "(hidden)");
    else
        snprintf(out, size, "\"%.100s\"%s", value, strlen(value) > 100 ? "..." : "");
}

enum { TEXT_LEN = 1024 };

/* The first bad value is the failure; further ones are logged too, since who fixes one wants to know all. */
typedef struct verdict {
    int code;
    char text[TEXT_LEN];
} verdict_t;

static void complain(verdict_t *verdict, int code, int row, const aclshmemi_env_source_t *source,
                     const char *path, const char *allowed)
{
    char origin[320], quoted[128], text[TEXT_LEN];
    print_origin(source, path, origin, sizeof origin);
    print_quoted(row, source->value, quoted, sizeof quoted);
    snprintf(text, sizeof text, "%s is %s %s, allowed is %s; correct it or leave it out for %s",
             rows[row].name, quoted, origin, allowed, rows[row].dflt[0] ? rows[row].dflt : "the default");
    log_error("%s", text);
    if (verdict->code == 0) {
        verdict->code = code;
        memcpy(verdict->text, text, sizeof text);
    }
}

/* ---- rules that a row cannot express ---- */

static void use_default(int row, aclshmemi_env_t *env)
{
    env->origin[row] = ACLSHMEMI_ORIGIN_DEFAULT;
    if (parse_row(row, rows[row].dflt, env) != 0)
        log_error("the default %s of %s does not parse", rows[row].dflt, rows[row].name);
}

/* Others' variables may hold what others understand: said, and the default used, as users of those know it. */
static void shrug(int row, const char *value, const char *allowed, aclshmemi_env_t *env)
{
    log_warn("%s is \"%.100s\", allowed is %s; %s is used", rows[row].name, value, allowed, rows[row].dflt);
    use_default(row, env);
}

static void check_foreign(const aclshmemi_env_source_t *sources, aclshmemi_env_t *env)
{
    const aclshmemi_env_source_t *tc = &sources[ACLSHMEMI_ENV_rdma_tc];
    if (tc->value && env->rdma_tc % 4 != 0)
        shrug(ACLSHMEMI_ENV_rdma_tc, tc->value, "a multiple of 4 from 0 to 255", env);
    /* With a look every n hours, a certificate that ends sooner than n hours after a look would end unseen. */
    if (env->cert_check_ahead * 24 < env->cert_check_period) {
        log_warn("%s of %" PRId64 " days is shorter than %s of %" PRId64 " hours; %s days are used",
                 rows[ACLSHMEMI_ENV_cert_check_ahead].name, env->cert_check_ahead,
                 rows[ACLSHMEMI_ENV_cert_check_period].name, env->cert_check_period,
                 rows[ACLSHMEMI_ENV_cert_check_ahead].dflt);
        use_default(ACLSHMEMI_ENV_cert_check_ahead, env);
    }
}

static void check_log_lists(const aclshmemi_env_source_t *sources, const char *path,
                            const aclshmemi_env_t *env, verdict_t *verdict)
{
    aclshmemi_log_filter_t filter;
    aclshmemi_log_filter_init(&filter, ACLSHMEMI_LOG_WARN);
    int rc = aclshmemi_log_filter_set_levels(&filter, env->log_level);
    if (rc)
        complain(verdict, rc, ACLSHMEMI_ENV_log_level, &sources[ACLSHMEMI_ENV_log_level], path,
                 ACLSHMEMI_LOG_WORDS " in any case, also for single modules as in WARN,store:DEBUG");
    rc = aclshmemi_log_filter_set_subsystems(&filter, env->debug_subsys);
    if (rc)
        complain(verdict, rc, ACLSHMEMI_ENV_debug_subsys, &sources[ACLSHMEMI_ENV_debug_subsys], path,
                 "a list of modules as in INIT,TEAM or ^MEM");
}

/* ---- all of them ---- */

static const char *trim_text(const char *value, char **at)
{
    const char *end = value + strlen(value);
    while (*value == ' ' || *value == '\t')
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    char *copy = *at;
    memcpy(copy, value, (size_t)(end - value));
    copy[end - value] = '\0';
    *at += end - value + 1;
    return copy;
}

/* Blanks around a value are cut, which needs a copy; all copies share one allocation, owned by the result. */
static int copy_texts(aclshmemi_env_source_t *sources, char **storage)
{
    size_t size = 1;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++)
        size += sources[i].value ? strlen(sources[i].value) + 1 : 0;
    char *at = *storage = malloc(size);
    if (!at)
        return fail(ACLSHMEM_MALLOC_FAILED, "no memory for %zu bytes of settings", size);
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        if (sources[i].value)
            sources[i].value = trim_text(sources[i].value, &at);
    }
    return ACLSHMEM_SUCCESS;
}

static int parse_all(aclshmemi_env_source_t *sources, const char *path, aclshmemi_env_t *env)
{
    verdict_t verdict = {0};
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        const char *value = sources[i].value;
        /* An empty text says nothing; an empty number is a mistake. */
        if (!value || (places[i].type == TYPE_text && value[0] == '\0' && rows[i].dflt[0] != '\0')) {
            use_default(i, env);
            sources[i].value = NULL;
            continue;
        }
        env->origin[i] = (uint8_t)sources[i].origin;
        int rc = parse_row(i, value, env);
        if (rc == 0)
            continue;
        char allowed[256];
        print_allowed(i, allowed, sizeof allowed);
        if (rows[i].flags & FOREIGN) {
            shrug(i, value, allowed, env);
        } else {
            complain(&verdict, rc, i, &sources[i], path, allowed);
            use_default(i, env); /* the checks below look at whole values only */
        }
    }
    check_foreign(sources, env);
    check_log_lists(sources, path, env, &verdict);
    return verdict.code ? fail_quietly(verdict.code, "%s", verdict.text) : ACLSHMEM_SUCCESS;
}

int aclshmemi_env_init(aclshmemi_env_t *env)
{
    aclshmemi_env_source_t sources[ACLSHMEMI_ENV_COUNT] = {0};
    aclshmemi_env_t parsed = {0};
    char *content = NULL;
    *env = (aclshmemi_env_t){0};
    if (getauxval(AT_SECURE))
        log_once(ACLSHMEMI_LOG_WARN, "this program runs with raised privileges, no variable is read");
    int rc = aclshmemi_env_file_read(sources, parsed.file, sizeof parsed.file, &content);
    if (rc)
        return rc;
    for (int i = 0; i < ACLSHMEMI_ENV_COUNT; i++) {
        const char *value = aclshmemi_env_raw(rows[i].name);
        if (value)
            sources[i] = (aclshmemi_env_source_t){.value = value, .origin = ACLSHMEMI_ORIGIN_ENVIRONMENT};
    }
    rc = copy_texts(sources, &parsed.storage);
    if (!rc)
        rc = parse_all(sources, parsed.file, &parsed);
    free(content);
    if (rc) {
        free(parsed.storage);
        return rc;
    }
    *env = parsed;
    return ACLSHMEM_SUCCESS;
}

void aclshmemi_env_fini(aclshmemi_env_t *env)
{
    if (!env)
        return;
    free(env->storage);
    *env = (aclshmemi_env_t){0};
}

/* ---- back into text ---- */

static int print_size(uint64_t bytes, char *out, size_t size)
{
    static const char letters[] = "TGMK";
    for (int i = 0; i < 4; i++) {
        uint64_t unit = UINT64_C(1) << (10 * (4 - i));
        if (bytes && bytes % unit == 0)
            return snprintf(out, size, "%" PRIu64 "%c", bytes / unit, letters[i]);
    }
    return snprintf(out, size, "%" PRIu64, bytes);
}

static int print_seconds(uint64_t ms, char *out, size_t size)
{
    char fraction[5] = "";
    if (ms % 1000)
        snprintf(fraction, sizeof fraction, ".%03u", (unsigned)(ms % 1000));
    for (size_t end = strlen(fraction); end && fraction[end - 1] == '0'; end--)
        fraction[end - 1] = '\0';
    return snprintf(out, size, "%" PRIu64 "%s", ms / 1000, fraction);
}

static int print_choice(int64_t index, const char *words, char *out, size_t size)
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    return snprintf(out, size, "%.*s", (int)strcspn(words, "|"), words);
}

size_t aclshmemi_env_print(const aclshmemi_env_t *env, int row, char *out, size_t size)
{
    const void *place = const_place_of(env, row);
    int length = 0;
    if (rows[row].flags & SECRET) {
        length = snprintf(out, size, "(hidden)");
        return (size_t)length;
    }
    switch (places[row].type) {
    case TYPE_int:
        length = snprintf(out, size, "%" PRId64, *(const int64_t *)place);
        break;
    case TYPE_choice:
        length = print_choice(*(const int64_t *)place, rows[row].range, out, size);
        break;
    case TYPE_size:
        length = print_size(*(const uint64_t *)place, out, size);
        break;
    case TYPE_seconds:
        length = print_seconds(*(const uint64_t *)place, out, size);
        break;
    case TYPE_bool:
        length = snprintf(out, size, "%d", *(const bool *)place);
        break;
    case TYPE_text:
        length = snprintf(out, size, "%s", *(const char *const *)place ? *(const char *const *)place : "");
        break;
    }
    return length < 0 ? 0 : (size_t)length;
}
