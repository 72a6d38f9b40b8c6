/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes texts with addresses: aclshmemi_url_parse, aclshmemi_url_is_valid, aclshmemi_session_id_parse (literals only, so
 * that no name is asked for), aclshmemi_interface_pick, aclshmemi_slurm_first_host, aclshmemi_slurm_tasks_of. Beyond not
 * crashing: what is accepted is in its limits, and accepted again when put together from its parts.
 */
#define LOG_MODULE "fuzz"
#include <arpa/inet.h>

#include "fuzz.h"
#include "host/bootstrap/address.h"
#include "host/bootstrap/interface.h"
#include "host/bootstrap/launch/launch.h"

FUZZ_INITIALIZE

static void urls(const char *text, size_t size)
{
    aclshmemi_url_t url, again;
    char copy[512];
    bool valid = aclshmemi_url_is_valid(text, size);
    for (int zero = 0; zero < 2; zero++) {
        if (aclshmemi_url_parse(text, size, zero != 0, &url) != 0)
            continue;
        expect(valid);
        expect(strnlen(text, size) < size);
        expect(url.port >= ACLSHMEMI_PORT_MIN || (zero && url.port == 0));
        expect(url.family == AF_INET || url.family == AF_INET6);
        size_t length = strlen(url.host);
        expect(length > 0 && length <= ACLSHMEMI_HOST_NAME_MAX && !strpbrk(url.host, "[]/ "));
        int n = url.family == AF_INET ? snprintf(copy, sizeof copy, "tcp://%s:%u", url.host, url.port)
                                      : snprintf(copy, sizeof copy, "tcp6://[%s]:%u", url.host, url.port);
        expect((size_t)n == strnlen(text, size) &&
               memcmp(copy, text, (size_t)n) == 0); /* nothing was cut or added */
        expect(aclshmemi_url_parse(copy, sizeof copy, zero != 0, &again) == 0);
    }
}

/* Names would ask a server; one character class keeps them out. */
static bool has_letters_only_of_literals(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF.:[]%") == strlen(text) &&
           (text[0] == '[' || strchr(text, '.') != NULL) &&
           strspn(text, "0123456789.") >= strcspn(text, ":[");
}

static void session_ids(const char *text)
{
    aclshmemi_addr_t addr;
    char printed[ACLSHMEMI_ADDR_TEXT_LEN];
    if (!has_letters_only_of_literals(text) || aclshmemi_session_id_parse(text, ACLSHMEMI_NEVER, &addr) != 0)
        return;
    expect(aclshmemi_addr_port(&addr) >= ACLSHMEMI_PORT_MIN);
    expect(addr.any.sa_family == (text[0] == '[' ? AF_INET6 : AF_INET));
    aclshmemi_addr_print(&addr, printed);
    expect(aclshmemi_session_id_parse(printed, ACLSHMEMI_NEVER, &addr) == 0);
}

static void lists(const char *text)
{
    char host[64] = "";
    int tasks = -1;
    if (aclshmemi_slurm_first_host(text, host, sizeof host) == 0)
        expect(host[0] != '\0' && strlen(host) < sizeof host && !strpbrk(host, "[],$ /"));
    for (int node = 0; node < 4; node++) {
        if (aclshmemi_slurm_tasks_of(text, node, &tasks) == 0)
            expect(tasks > 0);
    }
}

static void interfaces(const char *text)
{
    aclshmemi_interface_t list[2] = {{.name = "lo", .index = 1, .flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK},
                                     {.name = "eth0", .index = 2, .flags = IFF_UP | IFF_RUNNING}};
    size_t chosen = 9;
    const char *reason = NULL;
    for (int i = 0; i < 2; i++) {
        list[i].addr.length = sizeof list[i].addr.v4;
        list[i].addr.v4.sin_family = AF_INET;
        list[i].addr.v4.sin_addr.s_addr = htonl(i == 0 ? INADDR_LOOPBACK : 0x0a000005);
    }
    if (aclshmemi_interface_pick(list, 2, text, &chosen, &reason) != 0)
        return;
    expect(chosen < 2 && reason != NULL);
    expect(text[0] == '\0' || strncmp(list[chosen].name, text, strcspn(text, ":")) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *field = malloc(size + 1), *text = malloc(size + 1);
    expect(field != NULL && text != NULL);
    memcpy(field, data, size); /* as long as it is, not terminated */
    memcpy(text, data, size);
    text[size] = '\0';
    char *tight = realloc(field, size > 0 ? size : 1);
    expect(tight != NULL);
    urls(tight, size);
    urls(text, size + 1);
    session_ids(text);
    lists(text);
    interfaces(text);
    free(tight);
    free(text);
    return 0;
}
