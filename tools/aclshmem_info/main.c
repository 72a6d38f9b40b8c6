/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aclshmem_info: what is installed, what it found on this machine, and what every setting is. Needs no device, no network
 * and no privileges, and changes nothing. Exit status: 0; 1 when a setting does not parse; 2 for wrong arguments.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "info.h"
#include "shmem.h"

typedef struct request {
    bool version, build, devices, transports, memory, sizes, config, settings, file, hidden;
    const char *only;   /* one setting */
    const char *manual; /* md, man, rst */
    bool json, parsable;
} request_t;

static const struct option options[] = {{"version", no_argument, NULL, 'v'},
                                        {"build", no_argument, NULL, 'b'},
                                        {"config", no_argument, NULL, 'c'},
                                        {"env", no_argument, NULL, 'e'},
                                        {"all", no_argument, NULL, 'a'},
                                        {"devices", no_argument, NULL, 'd'},
                                        {"transports", no_argument, NULL, 't'},
                                        {"memory", no_argument, NULL, 'm'},
                                        {"sizes", no_argument, NULL, 's'},
                                        {"config-file", no_argument, NULL, 'f'},
                                        {"reference", required_argument, NULL, 'r'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"parsable", no_argument, NULL, 'p'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static int usage(FILE *out)
{
    fprintf(out,
            "usage: aclshmem_info [OPTION ...]\n"
            "Tells what is installed and what it found here. Without an option: everything but settings.\n\n"
            "  -v, --version        version\n"
            "  -b, --build          build identity, compiler, folder of the library\n"
            "  -c, --config         launcher seen, control plane, settings file\n"
            "  -d, --devices        device runtime and devices\n"
            "  -t, --transports     roads between PEs, and why one is not usable\n"
            "  -m, --memory         limits that matter for heaps\n"
            "  -s, --sizes          sizes and limits of the interface\n"
            "  -e, --env [NAME]     settings with value and origin; -a also hidden ones\n"
            "  -f, --config-file    a commented settings file\n"
            "  -r, --reference FORM settings as documentation: md, man or rst\n"
            "      --json           as JSON\n"
            "      --parsable       as section:name:value lines\n"
            "  -h, --help           this text\n");
    return out == stdout ? 0 : 2;
}

/* 0, or the exit status plus one. */
static int parse(int argc, char **argv, request_t *request)
{
    for (int c; (c = getopt_long(argc, argv, "vbceadtmsfr:h", options, NULL)) != -1;) {
        switch (c) {
        case 'v':
            request->version = true;
            break;
        case 'b':
            request->build = true;
            break;
        case 'c':
            request->config = true;
            break;
        case 'd':
            request->devices = true;
            break;
        case 't':
            request->transports = true;
            break;
        case 'm':
            request->memory = true;
            break;
        case 's':
            request->sizes = true;
            break;
        case 'e':
            request->settings = true;
            break;
        case 'a':
            request->hidden = true;
            break;
        case 'f':
            request->file = true;
            break;
        case 'r':
            request->manual = optarg;
            break;
        case 'j':
            request->json = true;
            break;
        case 'p':
            request->parsable = true;
            break;
        case 'h':
            return usage(stdout) + 1;
        default:
            return usage(stderr) + 1;
        }
    }
    if (optind < argc && request->settings && request->only == NULL)
        request->only = argv[optind++];
    if (optind < argc) {
        fprintf(stderr, "aclshmem_info: \"%s\" is not expected; a name goes behind -e only\n", argv[optind]);
        return usage(stderr) + 1;
    }
    if (request->manual != NULL && strcmp(request->manual, "md") != 0 &&
        strcmp(request->manual, "man") != 0 && strcmp(request->manual, "rst") != 0) {
        fprintf(stderr, "aclshmem_info: form \"%s\" is unknown; md, man and rst are\n", request->manual);
        return 3;
    }
    return 0;
}

static int print_manual(const request_t *request)
{
    json_t *settings = facts_settings(request->hidden);
    if (settings == NULL)
        return 1;
    if (request->file)
        print_settings_file(settings);
    else if (strcmp(request->manual, "md") == 0)
        print_settings_markdown(settings);
    else if (strcmp(request->manual, "man") == 0)
        print_settings_man(settings);
    else
        print_settings_rst(settings);
    json_decref(settings);
    return 0;
}

static json_t *collect(const request_t *r)
{
    bool all = !(r->version || r->build || r->devices || r->transports || r->memory || r->sizes ||
                 r->config || r->settings);
    json_t *facts = json_object();
    if (all || r->version)
        json_object_set_new(facts, "version", facts_version());
    if (all || r->build)
        json_object_set_new(facts, "build", facts_build());
    if (all || r->devices)
        json_object_set_new(facts, "devices", facts_runtime());
    if (all || r->transports)
        json_object_set_new(facts, "transports", facts_transports());
    if (all || r->config)
        json_object_set_new(facts, "configuration", facts_meeting());
    if (r->memory)
        json_object_set_new(facts, "memory", facts_memory());
    if (r->sizes)
        json_object_set_new(facts, "sizes", facts_sizes());
    if (r->settings || (all && (r->json || r->parsable))) {
        json_t *settings = facts_settings(r->hidden);
        if (settings == NULL) {
            json_decref(facts);
            return NULL;
        }
        json_object_set_new(facts, "settings", settings);
    }
    return facts;
}

static bool has_setting(const json_t *facts, const char *name)
{
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(facts, "settings"), index,
                       row) if (strcasecmp(name, json_string_value(json_object_get(row, "name"))) ==
                                0) return true;
    return false;
}

/* What could not be found out stands in the facts; the library need not say it again. */
static void swallow(int level, const char *message)
{
    (void)level;
    (void)message;
}

int main(int argc, char **argv)
{
    request_t request = {0};
    int stop = parse(argc, argv, &request);
    if (stop != 0)
        return stop - 1;
    aclshmemx_set_extern_logger(swallow);
    if (request.file || request.manual != NULL)
        return print_manual(&request);
    json_t *facts = collect(&request);
    if (facts == NULL)
        return 1;
    int rc = 0;
    if (request.only != NULL && !has_setting(facts, request.only)) {
        fprintf(stderr, "aclshmem_info: there is no setting %s; -e lists them, -e -a the hidden ones too\n",
                request.only);
        rc = 2;
    } else if (request.json) {
        rc = print_json(facts) == 0 ? 0 : 1;
    } else if (request.parsable) {
        print_parsable(facts);
    } else if (request.only != NULL) {
        print_settings_text(json_object_get(facts, "settings"), request.only);
    } else {
        print_text(facts);
    }
    json_decref(facts);
    return rc;
}
