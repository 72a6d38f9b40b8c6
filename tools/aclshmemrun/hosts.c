/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host lists, from options, files and batch systems. This version starts PEs on this machine only: names of this
 * machine are taken and their slots counted, any other name is refused rather than overlooked.
 */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

typedef struct hosts {
    const char *source; /* for messages: "--host", a file, a variable */
    const char *self;
    long slots;
    long most; /* sum of max-slots, when no host is unlimited */
    bool unlimited;
    bool any, explicit_slots;
} hosts_t;

/* An address of one of our interfaces: only those can be bound. */
static bool is_own_address(const char *name)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM}, *found;
    if (getaddrinfo(name, NULL, &hints, &found))
        return false;
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool own = fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
    return own;
}

/* The name of this machine with or without its domain, localhost, or an address of ours. */
static bool is_self(const hosts_t *hosts, const char *name)
{
    size_t here = strcspn(hosts->self, "."), there = strcspn(name, ".");
    bool both_full = hosts->self[here] && name[there];
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, "localhost.localdomain") == 0 ||
        strcasecmp(name, hosts->self) == 0)
        return true;
    if (!both_full && here == there && strncasecmp(name, hosts->self, here) == 0)
        return true;
    return is_own_address(name);
}

static int add_host(hosts_t *hosts, const char *name, long slots)
{
    if (!is_self(hosts, name)) {
        say("%s names host %s: several hosts are not available in this version, only this one (%s, "
            "localhost) is",
            hosts->source, name, hosts->self);
        return -1;
    }
    hosts->any = true;
    hosts->slots += slots > 0 ? slots : 1;
    hosts->explicit_slots = hosts->explicit_slots || slots > 0;
    return 0;
}

static int refuse(const hosts_t *hosts, const char *text)
{
    say("%s: \"%s\" is not understood; a host is name, name:slots, [address]:slots or node[01-04,7]",
        hosts->source, text);
    return -1;
}

/* node[01-04,7]x: the first name that is not ours is refused, so the list is never made. */
static int add_range(hosts_t *hosts, const char *text, const char *open)
{
    char name[300];
    const char *close = strchr(open, ']');
    if (!close || close == open + 1)
        return refuse(hosts, text);
    for (const char *at = open + 1; at < close;) {
        size_t digits = strspn(at, "0123456789");
        if (!digits || digits > 9)
            return refuse(hosts, text);
        long first = strtol(at, NULL, 10), last = first;
        const char *after = at + digits;
        if (*after == '-') {
            size_t more = strspn(after + 1, "0123456789");
            last = strtol(after + 1, NULL, 10);
            after += 1 + more;
            if (!more || more > 9 || last < first)
                return refuse(hosts, text);
        }
        for (long number = first; number <= last; number++) {
            snprintf(name, sizeof(name), "%.*s%0*ld%.200s", (int)(open - text), text, (int)digits, number,
                     close + 1);
            if (add_host(hosts, name, 0))
                return -1;
        }
        if (*after != ',' && after != close)
            return refuse(hosts, text);
        at = after + (after != close);
    }
    return 0;
}

/* One host of a list: name, name:slots, [v6]:slots, or a range. */
static int add_item(hosts_t *hosts, const char *text, long slots)
{
    char name[256];
    const char *open = strchr(text, '['), *colon;
    long count = slots;
    if (open && open != text)
        return add_range(hosts, text, open);
    if (open) {
        const char *close = strchr(text, ']');
        if (!close || (close[1] && close[1] != ':'))
            return refuse(hosts, text);
        snprintf(name, sizeof(name), "%.*s", (int)(close - text - 1), text + 1);
        colon = close[1] ? close + 1 : NULL;
    } else {
        colon = strchr(text, ':');
        snprintf(name, sizeof(name), "%.*s", (int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
    }
    if (colon && parse_range(colon + 1, 1, MAX_PES, &count))
        return refuse(hosts, text);
    return name[0] ? add_host(hosts, name, count) : refuse(hosts, text);
}

/* Items between separators, but not between those inside brackets. */
static int add_list(hosts_t *hosts, const char *list, const char *separators)
{
    char item[512];
    for (const char *at = list; *at;) {
        size_t length = 0, depth = 0;
        while (at[length] && (depth || !strchr(separators, at[length]))) {
            depth += at[length] == '[';
            depth -= at[length] == ']' && depth;
            length++;
        }
        if (length >= sizeof(item))
            return refuse(hosts, list);
        snprintf(item, sizeof(item), "%.*s", (int)length, at);
        if (length && add_item(hosts, item, 0))
            return -1;
        at += length + (at[length] != 0);
    }
    return 0;
}

/* One word after the name on a line of a host file. */
static int take_word(hosts_t *hosts, const char *word, long *slots, long *most)
{
    static const char *const keys[] = {"slots=", "max-slots=", "port="};
    long port = 0, *const targets[] = {slots, most, &port};
    for (size_t i = 0; i < 3; i++)
        if (strncmp(word, keys[i], strlen(keys[i])) == 0)
            return parse_range(word + strlen(keys[i]), 1, 65535, targets[i]) ? refuse(hosts, word) : 0;
    /* Grid Engine writes "name slots queue processors" */
    bool grid = strcmp(hosts->source, "PE_HOSTFILE") == 0;
    if (!*word || (grid && (*slots || parse_range(word, 1, MAX_PES, slots) == 0)))
        return 0;
    return refuse(hosts, word);
}

/* name [slots=N] [max-slots=N] [port=P] */
static int add_line(hosts_t *hosts, char *line)
{
    char *rest = line, *name, *word;
    long slots = 0, most = 0;
    line[strcspn(line, "#\n")] = 0;
    name = strsep(&rest, " \t");
    while (name && !*name)
        name = strsep(&rest, " \t");
    if (!name)
        return 0;
    while ((word = strsep(&rest, " \t")) != NULL)
        if (take_word(hosts, word, &slots, &most))
            return -1;
    if (most && slots > most)
        slots = most;
    hosts->unlimited = hosts->unlimited || !most;
    hosts->most += most;
    return add_item(hosts, name, slots);
}

static int add_file(hosts_t *hosts, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    int result = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        say("%s: cannot read %s: %s", hosts->source, path, strerror(errno));
        return -1;
    }
    ssize_t length;
    while (!result && (length = getline(&line, &size, file)) >= 0)
        result = strlen(line) == (size_t)length ? add_line(hosts, line) : refuse(hosts, "a zero byte");
    free(line);
    fclose(file);
    if (!result && !hosts->any) {
        say("%s: there is no host in %s", hosts->source, path);
        return -1;
    }
    return result;
}

/* An allocation of a batch system that has other hosts too must not shrink to this one in silence. */
static int add_allocation(hosts_t *hosts)
{
    const char *value;
    int result = 0;
    if ((value = getenv(hosts->source = "SLURM_JOB_NODELIST")) != NULL && *value)
        result = add_list(hosts, value, ",");
    else if ((value = getenv(hosts->source = "PBS_NODEFILE")) != NULL && *value)
        result = add_file(hosts, value);
    else if ((value = getenv(hosts->source = "LSB_HOSTS")) != NULL && *value)
        result = add_list(hosts, value, " ");
    else if ((value = getenv(hosts->source = "PE_HOSTFILE")) != NULL && *value)
        result = add_file(hosts, value);
    else
        return 0;
    if (strcmp(hosts->source, "SLURM_JOB_NODELIST") == 0)
        hosts->slots = 0; /* it tells nodes, not slots */
    else
        hosts->explicit_slots = true;
    if (result)
        say("to use this machine alone: --host localhost");
    return result;
}

int hosts_check(options_t *options, const char *host, int *slots, int *most)
{
    hosts_t hosts = {.self = host, .source = "--host"};
    int result = 0;
    for (size_t i = 0; !result && i < options->host.count; i++)
        result = add_list(&hosts, options->host.items[i], ",");
    if (!result && options->hostfile) {
        hosts.source = "--hostfile";
        result = add_file(&hosts, options->hostfile);
    }
    if (!result && !options->host.count && !options->hostfile)
        result = add_allocation(&hosts);
    if (result)
        return -1;
    *most = hosts.unlimited || options->host.count || hosts.most > MAX_PES ? 0 : (int)hosts.most;
    if (hosts.slots > MAX_PES)
        hosts.slots = MAX_PES;
    /* a bare name says where and not how many */
    *slots = hosts.explicit_slots || hosts.slots > 1 ? (int)hosts.slots : 0;
    return 0;
}
