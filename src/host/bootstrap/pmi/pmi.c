/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of PMI-1, one line each way. */
#define LOG_MODULE "pmi"
#include "host/bootstrap/pmi/pmi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/pmi/stream.h"
#include "host/utils/env.h"

#define VALUE_USED  1024 /* values are never cut longer than this, whatever the server allows */
#define REQUEST_MAX (VALUE_USED + 2 * ACLSHMEMI_PMI_NAME_MAX + 64)
#define ADVICE      "SHMEM_LAUNCHER chooses another way to meet"

/* Turns what the stream said into the sentence for the user; what is the request. */
static int complain(aclshmemi_pmi_t *pmi, aclshmemi_pmi_outcome_t outcome, const char *what)
{
    pmi->broken = true;
    switch (outcome) {
    case ACLSHMEMI_PMI_LATE:
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server did not answer \"%s\" in time; %s", what,
                    ADVICE);
    case ACLSHMEMI_PMI_HUNG_UP:
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server hung up at \"%s\"; %s", what, ADVICE);
    case ACLSHMEMI_PMI_GARBAGE:
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server answers \"%s\" with something other than pmi-1; %s", what,
                    ADVICE);
    default:
        return fail(ACLSHMEM_INNER_ERROR, "no talk with the launcher's pmi server at \"%s\": %m; %s", what,
                    ADVICE);
    }
}

static int receive_answer(aclshmemi_pmi_t *pmi, const char *what, const char *expected,
                          char text[ACLSHMEMI_PMI_LINE_MAX + 1], aclshmemi_pmi_line_t *line,
                          aclshmemi_deadline_t deadline)
{
    aclshmemi_pmi_outcome_t outcome = aclshmemi_pmi_receive(pmi, text, line, deadline);
    if (outcome != ACLSHMEMI_PMI_DONE)
        return complain(pmi, outcome, what);
    if (strcmp(aclshmemi_pmi_line_get(line, "cmd"), expected) != 0) {
        pmi->broken = true;
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server answers \"%s\" with \"%.40s\" instead of \"%s\"; %s", what,
                    aclshmemi_pmi_line_get(line, "cmd"), expected, ADVICE);
    }
    return 0;
}

/* One request and its answer. request starts with "cmd=" and ends with a newline; it may hold an id's bytes, so only
 * its name is ever shown. The answer's rc is looked at by the caller. */
static int exchange(aclshmemi_pmi_t *pmi, const char *what, const char *expected, const char *request,
                    char text[ACLSHMEMI_PMI_LINE_MAX + 1], aclshmemi_pmi_line_t *line,
                    aclshmemi_deadline_t deadline)
{
    if (pmi->fd < 0 || pmi->broken)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the connection to the launcher's pmi server is %s; start the job again, or %s",
                    pmi->fd < 0 ? "closed" : "out of step after an earlier failure", ADVICE);
    if (pmi->barrier_pending)
        return fail(ACLSHMEM_INNER_ERROR, "a pmi barrier is still waiting for other PEs");
    aclshmemi_pmi_outcome_t outcome = aclshmemi_pmi_send(pmi->fd, request, deadline);
    if (outcome != ACLSHMEMI_PMI_DONE)
        return complain(pmi, outcome, what);
    return receive_answer(pmi, what, expected, text, line, deadline);
}

/* Absent counts as success: not every answer carries one. */
static bool rc_is_zero(const aclshmemi_pmi_line_t *line)
{
    const char *rc = aclshmemi_pmi_line_get(line, "rc");
    return rc == NULL || strcmp(rc, "0") == 0;
}

static int get_limit(const aclshmemi_pmi_line_t *line, const char *key, int64_t low, size_t *out)
{
    const char *text = aclshmemi_pmi_line_get(line, key);
    int64_t value = 0;
    if (text == NULL || aclshmemi_parse_int(text, low, INT32_MAX, &value) != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server gives %s \"%.20s\", at least %d is needed; %s", key,
                    text == NULL ? "" : text, (int)low, ADVICE);
    *out = (size_t)value;
    return 0;
}

int aclshmemi_pmi_start(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1];
    aclshmemi_pmi_line_t line;
    size_t name_max = 0;
    TRY(exchange(pmi, "init", "response_to_init", "cmd=init pmi_version=1 pmi_subversion=1\n", text, &line,
                 deadline));
    const char *version = aclshmemi_pmi_line_get(&line, "pmi_version");
    if (!rc_is_zero(&line) || version == NULL || strcmp(version, "1") != 0)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server has version %.20s, this library speaks 1; %s",
                    version == NULL ? "none" : version, ADVICE);
    TRY(exchange(pmi, "get_maxes", "maxes", "cmd=get_maxes\n", text, &line, deadline));
    TRY(get_limit(&line, "kvsname_max", 1, &name_max));
    TRY(get_limit(&line, "keylen_max", 2, &pmi->key_max));
    TRY(get_limit(&line, "vallen_max", 3, &pmi->value_max));
    TRY(exchange(pmi, "get_my_kvsname", "my_kvsname", "cmd=get_my_kvsname\n", text, &line, deadline));
    const char *name = aclshmemi_pmi_line_get(&line, "kvsname");
    if (!rc_is_zero(&line) || name == NULL || *name == '\0' || strlen(name) >= sizeof pmi->kvsname)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server gives no usable name of its key space; %s", ADVICE);
    snprintf(pmi->kvsname, sizeof pmi->kvsname, "%s", name);
    return 0;
}

/* The name of one part of a value. */
static int part_key(const aclshmemi_pmi_t *pmi, const char *key, size_t part,
                    char out[ACLSHMEMI_PMI_NAME_MAX])
{
    int n = snprintf(out, ACLSHMEMI_PMI_NAME_MAX, "%s-%zu", key, part);
    if (n < 0 || n >= ACLSHMEMI_PMI_NAME_MAX || (size_t)n >= pmi->key_max)
        return fail(ACLSHMEM_INNER_ERROR,
                    "the launcher's pmi server allows keys of %zu characters, %d are needed; %s",
                    pmi->key_max - 1, n, ADVICE);
    return 0;
}

/* Bytes per part; both sides come to the same because the server tells all the same limits. */
static size_t part_bytes(const aclshmemi_pmi_t *pmi)
{
    size_t characters = pmi->value_max - 1;
    return (characters < VALUE_USED ? characters : VALUE_USED) / 2;
}

int aclshmemi_pmi_put(aclshmemi_pmi_t *pmi, const char *key, const void *data, size_t size,
                      aclshmemi_deadline_t deadline)
{
    const char *bytes = data;
    char text[ACLSHMEMI_PMI_LINE_MAX + 1], request[REQUEST_MAX], hex[VALUE_USED + 1],
        name[ACLSHMEMI_PMI_NAME_MAX];
    aclshmemi_pmi_line_t line;
    int rc = 0;
    for (size_t at = 0, part = 0; at < size && rc == 0; part++) {
        size_t n = size - at < part_bytes(pmi) ? size - at : part_bytes(pmi);
        aclshmemi_pmi_hex_print(bytes + at, n, hex);
        rc = part_key(pmi, key, part, name);
        if (rc != 0)
            break;
        snprintf(request, sizeof request, "cmd=put kvsname=%s key=%s value=%s\n", pmi->kvsname, name, hex);
        rc = exchange(pmi, "put", "put_result", request, text, &line, deadline);
        if (rc == 0 && !rc_is_zero(&line))
            rc = fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server refuses key %s; %s", name, ADVICE);
        at += n;
    }
    explicit_bzero(request, sizeof request);
    explicit_bzero(hex, sizeof hex);
    return rc;
}

static int get_part(aclshmemi_pmi_t *pmi, const char *name, void *data, size_t size,
                    aclshmemi_deadline_t deadline)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1], request[REQUEST_MAX];
    aclshmemi_pmi_line_t line;
    snprintf(request, sizeof request, "cmd=get kvsname=%s key=%s\n", pmi->kvsname, name);
    int rc = exchange(pmi, "get", "get_result", request, text, &line, deadline);
    if (rc == 0) {
        const char *value = aclshmemi_pmi_line_get(&line, "value");
        if (!rc_is_zero(&line) || value == NULL)
            rc = fail(ACLSHMEM_INNER_ERROR,
                      "PE 0 left nothing under key %s with the launcher; PEs of this job made a "
                      "different number of inits",
                      name);
        else if (!aclshmemi_pmi_hex_parse(value, data, size))
            rc = fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server returns key %s changed; %s", name,
                      ADVICE);
    }
    explicit_bzero(text, sizeof text);
    return rc;
}

int aclshmemi_pmi_get(aclshmemi_pmi_t *pmi, const char *key, void *data, size_t size,
                      aclshmemi_deadline_t deadline)
{
    uint8_t copy[VALUE_USED];
    char name[ACLSHMEMI_PMI_NAME_MAX];
    int rc = 0;
    if (size > sizeof copy)
        return fail(ACLSHMEM_INVALID_PARAM, "%zu bytes are more than %zu", size, sizeof copy);
    for (size_t at = 0, part = 0; at < size && rc == 0; part++) {
        size_t n = size - at < part_bytes(pmi) ? size - at : part_bytes(pmi);
        rc = part_key(pmi, key, part, name);
        if (rc == 0)
            rc = get_part(pmi, name, copy + at, n, deadline);
        at += n;
    }
    if (rc == 0)
        memcpy(data, copy, size);
    explicit_bzero(copy, sizeof copy);
    return rc;
}

int aclshmemi_pmi_barrier(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1];
    aclshmemi_pmi_line_t line;
    if (pmi->fd < 0 || pmi->broken)
        return fail(ACLSHMEM_INNER_ERROR, "the connection to the launcher's pmi server is not usable; %s",
                    ADVICE);
    if (!pmi->barrier_pending) {
        aclshmemi_pmi_outcome_t outcome = aclshmemi_pmi_send(pmi->fd, "cmd=barrier_in\n", deadline);
        if (outcome != ACLSHMEMI_PMI_DONE)
            return complain(pmi, outcome, "barrier_in");
        pmi->barrier_pending = true;
    }
    aclshmemi_pmi_outcome_t outcome = aclshmemi_pmi_receive(pmi, text, &line, deadline);
    if (outcome == ACLSHMEMI_PMI_LATE)
        return fail(ACLSHMEM_INNER_ERROR,
                    "some PE of this job did not come to the meeting at the launcher in time; it "
                    "did not call init, or died before it");
    if (outcome != ACLSHMEMI_PMI_DONE)
        return complain(pmi, outcome, "barrier_in");
    pmi->barrier_pending = false;
    if (strcmp(aclshmemi_pmi_line_get(&line, "cmd"), "barrier_out") != 0)
        return complain(pmi, ACLSHMEMI_PMI_GARBAGE, "barrier_in");
    if (!rc_is_zero(&line))
        return fail(ACLSHMEM_INNER_ERROR, "the launcher's pmi server could not complete a barrier; %s",
                    ADVICE);
    return 0;
}

bool aclshmemi_pmi_barrier_settle(aclshmemi_pmi_t *pmi)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1];
    aclshmemi_pmi_line_t line;
    if (pmi->fd < 0 || pmi->broken || !pmi->barrier_pending)
        return false;
    aclshmemi_pmi_outcome_t outcome = aclshmemi_pmi_receive(pmi, text, &line, aclshmemi_clock_ns());
    if (outcome == ACLSHMEMI_PMI_LATE)
        return false;
    pmi->barrier_pending = false;
    pmi->broken =
        outcome != ACLSHMEMI_PMI_DONE || strcmp(aclshmemi_pmi_line_get(&line, "cmd"), "barrier_out") != 0;
    return !pmi->broken;
}

int aclshmemi_pmi_finalize(aclshmemi_pmi_t *pmi, aclshmemi_deadline_t deadline)
{
    char text[ACLSHMEMI_PMI_LINE_MAX + 1];
    aclshmemi_pmi_line_t line;
    return exchange(pmi, "finalize", "finalize_ack", "cmd=finalize\n", text, &line, deadline);
}

void aclshmemi_pmi_abort_job(int fd, int status, aclshmemi_deadline_t deadline)
{
    char request[64];
    if (fd < 0)
        return;
    snprintf(request, sizeof request, "cmd=abort exitcode=%d\n", status);
    if (aclshmemi_pmi_send(fd, request, deadline) != ACLSHMEMI_PMI_DONE)
        log_debug("the launcher's pmi server does not take the order to end the job");
}
