/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a launcher's PMI server may answer: aclshmemi_pmi_line_parse and _hex_parse, and the whole client
 * (aclshmemi_pmi_start, _put, _get, _barrier, _finalize) against a server that says the input and hangs up.
 */
#define LOG_MODULE "fuzz"
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/bootstrap/pmi/line.h"
#include "host/bootstrap/pmi/pmi.h"

FUZZ_INITIALIZE

static void one_line(const uint8_t *data, size_t size)
{
    aclshmemi_pmi_line_t line;
    char *text = malloc(size + 1);
    unsigned char bytes[8];
    char hex[17];
    expect(text != NULL);
    memcpy(text, data, size);
    if (aclshmemi_pmi_line_parse(text, size, &line)) {
        expect(line.count >= 1 && line.count <= ACLSHMEMI_PMI_PAIRS_MAX);
        expect(aclshmemi_pmi_line_get(&line, "cmd") != NULL);
        for (size_t i = 0; i < line.count; i++) {
            expect(line.key[i] >= text && line.value[i] + strlen(line.value[i]) <= text + size);
            if (aclshmemi_pmi_hex_parse(line.value[i], bytes, sizeof bytes)) {
                aclshmemi_pmi_hex_print(bytes, sizeof bytes, hex);
                expect(strcasecmp(hex, line.value[i]) == 0);
            }
        }
    }
    free(text);
}

static void whole_client(const uint8_t *data, size_t size)
{
    int pair[2];
    char number[12], got[20];
    aclshmemi_pmi_t pmi;
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(10000);
    expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    expect(size == 0 || send(pair[0], data, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size);
    expect(shutdown(pair[0], SHUT_WR) == 0);
    snprintf(number, sizeof number, "%d", pair[1]);
    expect(aclshmemi_pmi_open(&pmi, number, NULL, NULL, deadline) == 0);
    if (aclshmemi_pmi_start(&pmi, deadline) == 0 &&
        aclshmemi_pmi_put(&pmi, "k", "0123456789", 10, deadline) == 0 &&
        aclshmemi_pmi_barrier(&pmi, deadline) == 0 &&
        aclshmemi_pmi_get(&pmi, "k", got, sizeof got, deadline) == 0)
        (void)!aclshmemi_pmi_finalize(&pmi, deadline);
    aclshmemi_pmi_close(&pmi);
    close(pair[0]);
    close(pair[1]);
    expect(!aclshmemi_deadline_passed(deadline));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_line(data, size);
    whole_client(data, size);
    return 0;
}
