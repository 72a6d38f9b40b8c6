/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as users write them. A text is either exactly one of the accepted forms or refused with the forms shown:
 * no part of it is skipped, completed or cut. Parsing touches no network; only the resolving calls ask for names.
 */
#define LOG_MODULE "address"
#include "host/bootstrap/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/interface.h"

#define URL_FORMS     "accepted: tcp://HOST:PORT or tcp6://[HOST]:PORT with port 1025..65535"
#define SESSION_FORMS "accepted: IPV4:PORT, [IPV6]:PORT or NAME:PORT with port 1025..65535"
#define SESSION_MAX   255
#define LABEL_MAX     63

/* Why a text was refused; parsing stays quiet so that the same code can ask "is this one at all". */
typedef struct why {
    char text[160];
} why_t;

static bool refuse(why_t *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(why_t *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

/* The start of a user's text, safe to print. */
typedef struct shown {
    char text[84];
} shown_t;

static const char *show(const char *text, size_t length, shown_t *out)
{
    size_t n = length < 80 ? length : 80;
    for (size_t i = 0; i < n; i++)
        out->text[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    snprintf(out->text + n, sizeof out->text - n, "%s", n < length ? "..." : "");
    return out->text;
}

static bool parse_port(const char *text, size_t length, bool allow_0, uint16_t *port, why_t *why)
{
    uint32_t value = 0;
    shown_t shown;
    if (length == 0)
        return refuse(why, "the port is missing");
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || length > 5)
            return refuse(why, "port \"%.20s\" is not a number of 1 to 5 digits", show(text, length, &shown));
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    if (text[0] == '0' && length > 1)
        return refuse(why, "port \"%.20s\" starts with a zero", show(text, length, &shown));
    if (value == 0 && allow_0) {
        *port = 0;
        return true;
    }
    if (value < ACLSHMEMI_PORT_MIN || value > ACLSHMEMI_PORT_MAX)
        return refuse(why, "port %u is not in %d..%d", value, ACLSHMEMI_PORT_MIN, ACLSHMEMI_PORT_MAX);
    *port = (uint16_t)value;
    return true;
}

static bool is_ipv4(const char *host)
{
    struct in_addr unused;
    return inet_pton(AF_INET, host, &unused) == 1;
}

static bool check_label(const char *label, size_t length, why_t *why)
{
    if (length == 0)
        return refuse(why, "the host name has an empty part");
    if (length > LABEL_MAX)
        return refuse(why, "a part of the host name is longer than %d characters", LABEL_MAX);
    if (label[0] == '-' || label[length - 1] == '-')
        return refuse(why, "a part of the host name starts or ends with a hyphen");
    return true;
}

/* Host names by the rules of DNS. A last part of digits alone would be read as a number by some resolvers ("10.1" is
 * 10.0.0.1 to them), so it is refused unless the whole is an IPv4 address. */
static bool check_name(const char *host, why_t *why)
{
    size_t length = strlen(host);
    shown_t shown;
    if (strspn(host, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-.") != length)
        return refuse(why, "host \"%.60s\" has a character other than letters, digits, hyphen and dot",
                      show(host, length, &shown));
    const char *label = host;
    for (;;) {
        size_t n = strcspn(label, ".");
        if (!check_label(label, n, why))
            return false;
        const char *next = label + n;
        if (next[0] == '\0' || next[1] == '\0') { /* one dot at the end makes a name absolute */
            if (strspn(label, "0123456789") == n || (label[0] == '0' && (label[1] | 0x20) == 'x'))
                return refuse(why, "host \"%.60s\" is neither an IPv4 address nor a name",
                              show(host, length, &shown));
            return true;
        }
        label = next + 1;
    }
}

/* An IPv6 address with an optional %scope; scope points at its name or is NULL. */
static bool split_ipv6(const char *host, struct in6_addr *addr, const char **scope, why_t *why)
{
    char literal[INET6_ADDRSTRLEN];
    size_t length = strcspn(host, "%");
    shown_t shown;
    if (length >= sizeof literal)
        return refuse(why, "\"%.60s\" is not an IPv6 address", show(host, strlen(host), &shown));
    memcpy(literal, host, length);
    literal[length] = '\0';
    if (inet_pton(AF_INET6, literal, addr) != 1)
        return refuse(why, "\"%.60s\" is not an IPv6 address", show(host, strlen(host), &shown));
    if (IN6_IS_ADDR_V4MAPPED(addr))
        return refuse(why, "\"%.60s\" is an IPv4 address in disguise; write it as IPv4", literal);
    *scope = host[length] == '%' ? host + length + 1 : NULL;
    if (*scope == NULL)
        return true;
    size_t scope_length = strlen(*scope);
    if (scope_length == 0 || scope_length >= IF_NAMESIZE || strpbrk(*scope, "%/ \t\n") != NULL)
        return refuse(why, "the scope after %% is not the name or number of an interface");
    if (!IN6_IS_ADDR_LINKLOCAL(addr))
        return refuse(why, "a scope belongs to link-local addresses (fe80::) only");
    return true;
}

static bool looks_like_ipv6(const char *host)
{
    return strchr(host, ':') != NULL;
}

/* text is terminated; the scheme decides the family, the rest must fill the form exactly. */
static bool parse_url(const char *text, bool allow_port_0, aclshmemi_url_t *url, why_t *why)
{
    const char *host, *end, *port;
    memset(url, 0, sizeof *url);
    if (strncmp(text, "tcp6://[", 8) == 0) {
        url->family = AF_INET6;
        host = text + 8;
        end = strchr(host, ']');
        if (end == NULL)
            return refuse(why, "the closing bracket is missing");
        if (end[1] != ':')
            return refuse(why,
                          end[1] == '\0' ? "the port is missing" : "after the bracket, :PORT must follow");
        port = end + 2;
    } else if (strncmp(text, "tcp://", 6) == 0) {
        url->family = AF_INET;
        host = text + 6;
        if (host[0] == '[' || strchr(host, ':') != strrchr(host, ':'))
            return refuse(why, "IPv6 goes with tcp6://[...]");
        end = strchr(host, ':');
        if (end == NULL)
            return refuse(why, "the port is missing");
        port = end + 1;
    } else {
        return refuse(why, strncmp(text, "tcp6://", 7) == 0 ? "the host must stand in brackets"
                                                            : "it does not start with tcp:// or tcp6://[");
    }
    size_t length = (size_t)(end - host);
    if (length == 0)
        return refuse(why, "the host is missing");
    if (length > ACLSHMEMI_HOST_NAME_MAX)
        return refuse(why, "the host is longer than %d characters", ACLSHMEMI_HOST_NAME_MAX);
    memcpy(url->host, host, length);
    url->host[length] = '\0';
    if (!parse_port(port, strlen(port), allow_port_0, &url->port, why))
        return false;
    struct in6_addr addr;
    const char *scope;
    if (url->family == AF_INET6 && looks_like_ipv6(url->host))
        return split_ipv6(url->host, &addr, &scope, why);
    if (is_ipv4(url->host))
        return url->family == AF_INET || refuse(why, "IPv4 goes with tcp://, without brackets");
    return check_name(url->host, why);
}

/* Copies a text that may lack its terminator; refused then, because its end was lost. */
static bool copy_text(const char *text, size_t size, char *copy, size_t copy_size, why_t *why)
{
    size_t length = text == NULL ? 0 : strnlen(text, size);
    if (text == NULL || length == 0)
        return refuse(why, "it is empty");
    if (length == size)
        return refuse(why, "it is longer than %zu characters or not terminated", size > 0 ? size - 1 : 0);
    if (length >= copy_size)
        return refuse(why, "it is longer than %zu characters", copy_size - 1);
    memcpy(copy, text, length + 1);
    return true;
}

/* Room for the longest URL there can be: scheme, brackets, a host of full length, a port. */
#define URL_ROOM (ACLSHMEMI_HOST_NAME_MAX + 24)

int aclshmemi_url_parse(const char *text, size_t size, bool allow_port_0, aclshmemi_url_t *url)
{
    char copy[URL_ROOM];
    why_t why = {""};
    shown_t shown;
    aclshmemi_url_t parsed;
    if (!copy_text(text, size, copy, sizeof copy, &why) || !parse_url(copy, allow_port_0, &parsed, &why))
        return fail(ACLSHMEM_INVALID_PARAM, "address \"%s\" is refused: %s; %s",
                    text == NULL ? "" : show(text, strnlen(text, size), &shown), why.text, URL_FORMS);
    *url = parsed;
    return 0;
}

bool aclshmemi_url_is_valid(const char *text, size_t size)
{
    char copy[URL_ROOM];
    why_t why = {""};
    aclshmemi_url_t parsed;
    return copy_text(text, size, copy, sizeof copy, &why) && parse_url(copy, true, &parsed, &why);
}

static int resolve_ipv6(const char *host, uint16_t port, aclshmemi_addr_t *out)
{
    const char *scope = NULL;
    why_t why = {""};
    aclshmemi_addr_t addr;
    memset(&addr, 0, sizeof addr);
    addr.length = sizeof addr.v6;
    addr.v6.sin6_family = AF_INET6;
    addr.v6.sin6_port = htons(port);
    if (!split_ipv6(host, &addr.v6.sin6_addr, &scope, &why))
        return fail(ACLSHMEM_INVALID_PARAM, "%s", why.text);
    if (scope != NULL) {
        int64_t number = 0;
        addr.v6.sin6_scope_id = if_nametoindex(scope);
        if (addr.v6.sin6_scope_id == 0 && aclshmemi_parse_int(scope, 1, INT32_MAX, &number) == 0)
            addr.v6.sin6_scope_id = (uint32_t)number;
        if (addr.v6.sin6_scope_id == 0) {
            aclshmemi_interface_t *list = NULL;
            size_t count = 0;
            char text[400];
            TRY(aclshmemi_interface_list(&list, &count));
            aclshmemi_interface_describe(list, count, text, sizeof text);
            free(list);
            return fail(ACLSHMEM_INVALID_PARAM,
                        "\"%s\" names interface %s, which does not exist; there are: %s", host, scope, text);
        }
    }
    *out = addr;
    return 0;
}

static int resolve_name(const char *host, int family, uint16_t port, aclshmemi_deadline_t deadline,
                        aclshmemi_addr_t *out, size_t max, size_t *count)
{
    int rc = aclshmemi_net_resolve(host, family, port, deadline, out, max, count);
    if (rc == 0)
        return 0;
    return fail(rc == ACLSHMEM_TIMEOUT_ERROR ? ACLSHMEM_INNER_ERROR : ACLSHMEM_INVALID_PARAM, "%s",
                aclshmemi_status_last_text());
}

int aclshmemi_url_resolve(const aclshmemi_url_t *url, aclshmemi_deadline_t deadline, aclshmemi_addr_t *out,
                          size_t max, size_t *count)
{
    if (looks_like_ipv6(url->host)) {
        TRY(resolve_ipv6(url->host, url->port, out));
        *count = 1;
        return 0;
    }
    bool name = url->family == AF_INET && !is_ipv4(url->host);
    size_t found = 0;
    TRY(resolve_name(url->host, name ? AF_UNSPEC : url->family, url->port, deadline, out, max, &found));
    /* IPv4 comes first; where there is any, a tcp:// address means that family. */
    size_t v4 = 0;
    while (v4 < found && out[v4].any.sa_family == AF_INET)
        v4++;
    *count = v4 > 0 ? v4 : found;
    return 0;
}

/* Splits "host:port" or "[host]:port" into host and port. */
static bool split_session(char *text, char **host, char **port, bool *bracketed, why_t *why)
{
    *bracketed = text[0] == '[';
    if (*bracketed) {
        *host = text + 1;
        char *end = strrchr(text, ']');
        if (end == NULL)
            return refuse(why, "the closing bracket is missing");
        if (end[1] != ':')
            return refuse(why,
                          end[1] == '\0' ? "the port is missing" : "after the bracket, :PORT must follow");
        *end = '\0';
        *port = end + 2;
    } else {
        char *colon = strrchr(text, ':');
        if (colon == NULL)
            return refuse(why, "the port is missing");
        if (strchr(text, ':') != colon)
            return refuse(why, "an IPv6 address must stand in brackets, or its end is ambiguous");
        *host = text;
        *colon = '\0';
        *port = colon + 1;
    }
    if (**host == '\0')
        return refuse(why, "the host is missing");
    return true;
}

static bool parse_session(char *text, char **host, uint16_t *port, bool *bracketed, why_t *why)
{
    char *digits = NULL;
    struct in6_addr addr;
    const char *scope;
    if (!split_session(text, host, &digits, bracketed, why) ||
        !parse_port(digits, strlen(digits), false, port, why))
        return false;
    if (*bracketed)
        return split_ipv6(*host, &addr, &scope, why);
    if (strlen(*host) > ACLSHMEMI_HOST_NAME_MAX)
        return refuse(why, "the host is longer than %d characters", ACLSHMEMI_HOST_NAME_MAX);
    return is_ipv4(*host) || check_name(*host, why);
}

int aclshmemi_session_id_resolve(const char *text, aclshmemi_deadline_t deadline, aclshmemi_addr_t *out,
                                 size_t max, size_t *count)
{
    char copy[SESSION_MAX + 1];
    why_t why = {""};
    shown_t shown;
    char *host = NULL;
    uint16_t port = 0;
    bool bracketed = false;
    if (!copy_text(text, SIZE_MAX / 2, copy, sizeof copy, &why) ||
        !parse_session(copy, &host, &port, &bracketed, &why))
        return fail(ACLSHMEM_INVALID_PARAM, "session id \"%s\" is refused: %s; %s",
                    text == NULL ? "" : show(text, strlen(text), &shown), why.text, SESSION_FORMS);
    if (bracketed) {
        TRY(resolve_ipv6(host, port, out));
        *count = 1;
        return 0;
    }
    return resolve_name(host, AF_UNSPEC, port, deadline, out, max, count);
}

int aclshmemi_session_id_parse(const char *text, aclshmemi_deadline_t deadline, aclshmemi_addr_t *addr)
{
    size_t count = 0;
    return aclshmemi_session_id_resolve(text, deadline, addr, 1, &count);
}
