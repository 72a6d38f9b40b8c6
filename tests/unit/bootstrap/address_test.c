/* SPDX-License-Identifier: Apache-2.0 */
/* Address texts: what is accepted, what is refused and in which words, and what names resolve to. */
/* */
#define LOG_MODULE "test"
#include "host/bootstrap/address.h"
#undef fail /* cmocka has one of its own */

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "support/unit.h"

static aclshmemi_deadline_t soon(void)
{
    return aclshmemi_deadline_after_ms(60000);
}

typedef struct text_case {
    const char *text;
    const char *host; /* NULL: refused */
    int family;
    uint16_t port;
    const char *reason; /* part of the error's text */
} text_case_t;

#define NAME_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_253                                                                                             \
    NAME_63 "." NAME_63 "." NAME_63 "."                                                                      \
            "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const text_case_t urls[] = {
    {"tcp://127.0.0.1:8666", "127.0.0.1", AF_INET, 8666, NULL},
    {"tcp://0.0.0.0:1025", "0.0.0.0", AF_INET, 1025, NULL},
    {"tcp://localhost:65535", "localhost", AF_INET, 65535, NULL},
    {"tcp://node-1.cluster.example:2000", "node-1.cluster.example", AF_INET, 2000, NULL},
    {"tcp://node-1.cluster.example.:2000", "node-1.cluster.example.", AF_INET, 2000, NULL},
    {"tcp://3com:2000", "3com", AF_INET, 2000, NULL},
    {"tcp://" NAME_253 ":2000", NAME_253, AF_INET, 2000, NULL},
    {"tcp6://[::1]:9999", "::1", AF_INET6, 9999, NULL},
    {"tcp6://[fe80::1%eth0]:9999", "fe80::1%eth0", AF_INET6, 9999, NULL},
    {"tcp6://[2001:db8::7]:9999", "2001:db8::7", AF_INET6, 9999, NULL},
    {"tcp6://[ip6-localhost]:9999", "ip6-localhost", AF_INET6, 9999, NULL},

    {"", NULL, 0, 0, "empty"},
    {"127.0.0.1:8666", NULL, 0, 0, "does not start with"},
    {"TCP://127.0.0.1:8666", NULL, 0, 0, "does not start with"},
    {"udp://127.0.0.1:8666", NULL, 0, 0, "does not start with"},
    {" tcp://127.0.0.1:8666", NULL, 0, 0, "does not start with"},
    {"tcp:/127.0.0.1:8666", NULL, 0, 0, "does not start with"},
    {"tcp://", NULL, 0, 0, "port is missing"},
    {"tcp://:9999", NULL, 0, 0, "host is missing"},
    {"tcp://127.0.0.1", NULL, 0, 0, "port is missing"},
    {"tcp://127.0.0.1:", NULL, 0, 0, "port is missing"},
    {"tcp://127.0.0.1:0", NULL, 0, 0, "not in 1025..65535"},
    {"tcp://127.0.0.1:80", NULL, 0, 0, "not in 1025..65535"},
    {"tcp://127.0.0.1:1024", NULL, 0, 0, "not in 1025..65535"},
    {"tcp://127.0.0.1:65536", NULL, 0, 0, "not in 1025..65535"},
    {"tcp://127.0.0.1:99999", NULL, 0, 0, "not in 1025..65535"},
    {"tcp://127.0.0.1:4294970000", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:18446744073709555616", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:12a", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:-5", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:+8666", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1: 9999", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:9999 ", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:9999/", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:08666", NULL, 0, 0, "starts with a zero"},
    {"tcp://127.0.0.1:0x22", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.256:8666", NULL, 0, 0, "neither an IPv4 address nor a name"},
    {"tcp://127.1:8666", NULL, 0, 0, "neither an IPv4 address nor a name"},
    {"tcp://2130706433:8666", NULL, 0, 0, "neither an IPv4 address nor a name"},
    {"tcp://0x7f000001:8666", NULL, 0, 0, "neither an IPv4 address nor a name"},
    {"tcp://127.0.0.01:8666", NULL, 0, 0, "neither an IPv4 address nor a name"},
    {"tcp://a..b:8666", NULL, 0, 0, "empty part"},
    {"tcp://.a:8666", NULL, 0, 0, "empty part"},
    {"tcp://.:8666", NULL, 0, 0, "empty part"},
    {"tcp://-a:8666", NULL, 0, 0, "hyphen"},
    {"tcp://a-:8666", NULL, 0, 0, "hyphen"},
    {"tcp://a_b:8666", NULL, 0, 0, "other than letters"},
    {"tcp://a b:8666", NULL, 0, 0, "other than letters"},
    {"tcp://caf\xc3\xa9:8666", NULL, 0, 0, "other than letters"},
    {"tcp://a" NAME_63 ":8666", NULL, 0, 0, "longer than 63"},
    {"tcp://b" NAME_253 ":8666", NULL, 0, 0, "longer than 253"},
    {"tcp://[::1]:9999", NULL, 0, 0, "tcp6://"},
    {"tcp://::1:9999", NULL, 0, 0, "tcp6://"},
    {"tcp://fe80::1%eth0:9999", NULL, 0, 0, "tcp6://"},
    {"tcp6://127.0.0.1:9999", NULL, 0, 0, "brackets"},
    {"tcp6://::1:9999", NULL, 0, 0, "brackets"},
    {"tcp6://[127.0.0.1]:9999", NULL, 0, 0, "tcp://"},
    {"tcp6://[::ffff:127.0.0.1]:9999", NULL, 0, 0, "write it as IPv4"},
    {"tcp6://[::1]", NULL, 0, 0, "port is missing"},
    {"tcp6://[::1]:", NULL, 0, 0, "port is missing"},
    {"tcp6://[::1]9999", NULL, 0, 0, ":PORT must follow"},
    {"tcp6://[::1:9999", NULL, 0, 0, "closing bracket"},
    {"tcp6://[]:9999", NULL, 0, 0, "host is missing"},
    {"tcp6://[:::1]:9999", NULL, 0, 0, "not an IPv6 address"},
    {"tcp6://[12345::1]:9999", NULL, 0, 0, "not an IPv6 address"},
    {"tcp6://[fe80::1%]:9999", NULL, 0, 0, "scope"},
    {"tcp6://[fe80::1%a%b]:9999", NULL, 0, 0, "scope"},
    {"tcp6://[fe80::1%seventeenletters1]:9999", NULL, 0, 0, "scope"},
    {"tcp6://[::1%lo]:9999", NULL, 0, 0, "link-local"},
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        const text_case_t *c = &urls[i];
        aclshmemi_url_t url = {.port = 7};
        int rc = aclshmemi_url_parse(c->text, strlen(c->text) + 1, false, &url);
        t_check_that((rc == 0) == (c->host != NULL), "\"%s\" gives %d: %s", c->text, rc,
                     aclshmemi_status_last_text());
        t_check_that(aclshmemi_url_is_valid(c->text, strlen(c->text) + 1) ==
                         (c->host != NULL || strcmp(c->text, "tcp://127.0.0.1:0") == 0),
                     "is_valid differs for \"%s\"", c->text);
        if (rc == 0) {
            assert_string_equal(url.host, c->host);
            assert_int_equal(url.family, c->family);
            assert_int_equal(url.port, c->port);
            continue;
        }
        assert_int_equal(rc, ACLSHMEM_INVALID_PARAM);
        assert_int_equal(url.port, 7); /* outputs are written on success only */
        t_check_contains(aclshmemi_status_last_text(), c->reason);
        t_check_contains(aclshmemi_status_last_text(), "accepted: tcp://HOST:PORT or tcp6://[HOST]:PORT");
    }
}

static void test_port_0_is_a_template_only(void **state)
{
    (void)state;
    aclshmemi_url_t url;
    const char text[] = "tcp://127.0.0.1:0", six[] = "tcp6://[::1]:0";
    assert_int_equal(aclshmemi_url_parse(text, sizeof text, true, &url), 0);
    assert_int_equal(url.port, 0);
    assert_int_equal(aclshmemi_url_parse(six, sizeof six, true, &url), 0);
    assert_int_equal(aclshmemi_url_parse("tcp://127.0.0.1:00", 19, true, &url), ACLSHMEM_INVALID_PARAM);
    assert_int_equal(aclshmemi_url_parse("tcp://127.0.0.1:80", 19, true, &url), ACLSHMEM_INVALID_PARAM);
}

/* The last byte of the field is the last byte of the page: reading on would end the program. */
static void test_unterminated_field_is_refused(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    char *field = map + page - ACLSHMEM_MAX_IP_PORT_LEN;
    aclshmemi_url_t url;
    memset(field, 'a', ACLSHMEM_MAX_IP_PORT_LEN);
    memcpy(field, "tcp://", 6);
    memcpy(field + ACLSHMEM_MAX_IP_PORT_LEN - 5, ":9999", 5);
    assert_int_equal(aclshmemi_url_parse(field, ACLSHMEM_MAX_IP_PORT_LEN, false, &url),
                     ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "not terminated");
    assert_false(aclshmemi_url_is_valid(field, ACLSHMEM_MAX_IP_PORT_LEN));
    field[ACLSHMEM_MAX_IP_PORT_LEN - 1] = '\0'; /* one character less: fits */
    assert_int_equal(aclshmemi_url_parse(field, ACLSHMEM_MAX_IP_PORT_LEN, false, &url),
                     ACLSHMEM_INVALID_PARAM);
    memcpy(field + ACLSHMEM_MAX_IP_PORT_LEN - 6, ":9999", 6);
    assert_int_equal(aclshmemi_url_parse(field, ACLSHMEM_MAX_IP_PORT_LEN, false, &url), 0);
    assert_int_equal(aclshmemi_url_parse(NULL, 64, false, &url), ACLSHMEM_INVALID_PARAM);
    assert_false(aclshmemi_url_is_valid(NULL, 64));
    assert_int_equal(aclshmemi_url_parse("", 0, false, &url), ACLSHMEM_INVALID_PARAM);
    munmap(map, 2 * page);
}

static void test_urls_resolve(void **state)
{
    (void)state;
    aclshmemi_url_t url;
    aclshmemi_addr_t list[8];
    size_t count = 0;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    assert_int_equal(aclshmemi_url_parse("tcp://127.0.0.1:8666", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), 0);
    assert_int_equal(count, 1);
    assert_string_equal(aclshmemi_addr_print(&list[0], text), "127.0.0.1:8666");

    assert_int_equal(aclshmemi_url_parse("tcp6://[::1]:8667", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), 0);
    assert_string_equal(aclshmemi_addr_print(&list[0], text), "[::1]:8667");

    assert_int_equal(aclshmemi_url_parse("tcp6://[fe80::1%lo]:8668", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), 0);
    assert_int_equal(list[0].v6.sin6_scope_id, 1);

    /* IPv4 alone when there is any, whatever else the name has. */
    assert_int_equal(aclshmemi_url_parse("tcp://localhost:8669", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list[i].any.sa_family, AF_INET);
}

/* With names of its own: both families, one of them only, several addresses. */
static void with_own_names(void *argument)
{
    const char *hosts = argument;
    aclshmemi_url_t url;
    aclshmemi_addr_t list[8];
    size_t count = 0;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL) != 0)
        t_skip("no mount namespaces here");
    t_check(aclshmemi_url_parse("tcp://both.test:2000", 64, false, &url) == 0);
    t_check(aclshmemi_url_resolve(&url, soon(), list, 8, &count) == 0);
    t_check_int(count, 2); /* tcp: the IPv4 addresses, all of them */
    t_check_text(aclshmemi_addr_print(&list[0], text), "10.1.1.1:2000");
    t_check_text(aclshmemi_addr_print(&list[1], text), "10.1.1.2:2000");
    t_check(aclshmemi_url_parse("tcp6://[both.test]:2000", 64, false, &url) == 0);
    t_check(aclshmemi_url_resolve(&url, soon(), list, 8, &count) == 0);
    t_check_int(count, 1);
    t_check_text(aclshmemi_addr_print(&list[0], text), "[2001:db8::1]:2000");
    t_check(aclshmemi_url_parse("tcp://six.test:2000", 64, false, &url) == 0);
    t_check(aclshmemi_url_resolve(&url, soon(), list, 8, &count) == 0);
    t_check_text(aclshmemi_addr_print(&list[0], text), "[2001:db8::2]:2000");
    t_check(aclshmemi_url_parse("tcp6://[four.test]:2000", 64, false, &url) == 0);
    t_check_int(aclshmemi_url_resolve(&url, soon(), list, 8, &count), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "four.test");
    t_check(aclshmemi_session_id_parse("both.test:2000", soon(), &list[0]) == 0);
    t_check_text(aclshmemi_addr_print(&list[0], text), "10.1.1.1:2000");
    t_check(aclshmemi_session_id_parse("six.test:2000", soon(), &list[0]) == 0);
    t_check_text(aclshmemi_addr_print(&list[0], text), "[2001:db8::2]:2000");
}

/* [B-04] */
static void test_names_with_several_addresses(void **state)
{
    (void)state;
    char folder[256], hosts[300];
    t_child_t child;
    t_dir_make(folder, sizeof folder);
    snprintf(hosts, sizeof hosts, "%s/hosts", folder);
    t_file_write(hosts, "127.0.0.1 localhost\n2001:db8::1 both.test\n10.1.1.1 both.test\n10.1.1.2 both.test\n"
                        "2001:db8::2 six.test\n10.1.1.3 four.test\n");
    t_run_function(&child, with_own_names, hosts, 30000);
    t_dir_remove(folder);
    bool skipped = child.exit_code == T_SKIP;
    if (!skipped)
        t_check_exit(&child, 0);
    else
        print_message("%s", child.out);
    t_child_free(&child);
    if (skipped)
        skip();
}

/* A name server that takes every question and answers none, and a resolver that would ask it for minutes. */
static void with_a_silent_name_server(void *argument)
{
    char *const *files = argument;
    struct sockaddr_in addr = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    aclshmemi_url_t url;
    aclshmemi_addr_t list[8];
    size_t count = 99;
    if (!t_unshare_network() || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(files[0], "/etc/resolv.conf", NULL, MS_BIND, NULL) != 0 ||
        mount(files[1], "/etc/nsswitch.conf", NULL, MS_BIND, NULL) != 0)
        t_skip("no network and mount namespaces here");
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    t_check(fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0);
    t_check_int(aclshmemi_url_parse("tcp://slow.test:2000", 64, false, &url), 0);
    for (int i = 0; i < 2; i++) { /* the first question is still being asked when the second one is */
        t_check_int(aclshmemi_url_resolve(&url, aclshmemi_deadline_after_ms(300), list, 8, &count),
                    ACLSHMEM_INNER_ERROR);
        t_check_contains(aclshmemi_status_last_text(), "did not tell in time what \"slow.test\" is");
        t_check_uint(count, 99);
    }
    t_check_int(aclshmemi_url_parse("tcp://127.0.0.1:2000", 64, false, &url), 0);
    t_check_int(aclshmemi_url_resolve(&url, 0, list, 8, &count), 0); /* an address needs nobody */
    close(fd);
}

/* [B-05] */
static void test_a_silent_name_server(void **state)
{
    (void)state;
    char folder[256], resolv[300], nsswitch[300], *files[2] = {resolv, nsswitch};
    t_child_t child;
    t_dir_make(folder, sizeof folder);
    snprintf(resolv, sizeof resolv, "%s/resolv.conf", folder);
    snprintf(nsswitch, sizeof nsswitch, "%s/nsswitch.conf", folder);
    t_file_write(resolv, "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n");
    t_file_write(nsswitch, "hosts: files dns\n");
    t_run_function(&child, with_a_silent_name_server, files, 60000);
    t_dir_remove(folder);
    bool skipped = child.exit_code == T_SKIP;
    if (!skipped)
        t_check_exit(&child, 0);
    else
        print_message("%s", child.out);
    t_child_free(&child);
    if (skipped)
        skip();
}

/* [B-05] [U-16] */
static void test_unknown_names_and_scopes_fail(void **state)
{
    (void)state;
    aclshmemi_url_t url;
    aclshmemi_addr_t list[8];
    size_t count = 99;
    assert_int_equal(aclshmemi_url_parse("tcp://no-such-host.invalid:9999", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), ACLSHMEM_INVALID_PARAM);
    assert_int_equal(count, 99);
    t_check_contains(aclshmemi_status_last_text(), "no-such-host.invalid");
    assert_int_equal(aclshmemi_url_parse("tcp6://[fe80::1%nosuch0]:9999", 64, false, &url), 0);
    assert_int_equal(aclshmemi_url_resolve(&url, soon(), list, 8, &count), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "nosuch0, which does not exist; there are: lo");
}

static const text_case_t sessions[] = {
    {"192.168.1.100:8888", "192.168.1.100:8888", AF_INET, 8888, NULL},
    {"0.0.0.0:8888", "0.0.0.0:8888", AF_INET, 8888, NULL},
    {"[::1]:9999", "[::1]:9999", AF_INET6, 9999, NULL},
    {"[::]:9999", "[::]:9999", AF_INET6, 9999, NULL},
    {"[fe80::1%lo]:1234", "[fe80::1%lo]:1234", AF_INET6, 1234, NULL},
    {"[fe80::1%1]:1234", "[fe80::1%lo]:1234", AF_INET6, 1234, NULL},
    {"localhost:8888", "127.0.0.1:8888", AF_INET, 8888, NULL},
    {"127.0.0.1:1025", "127.0.0.1:1025", AF_INET, 1025, NULL},
    {"127.0.0.1:65535", "127.0.0.1:65535", AF_INET, 65535, NULL},

    {"", NULL, 0, 0, "empty"},
    {"1.2.3.4", NULL, 0, 0, "port is missing"},
    {"1.2.3.4:", NULL, 0, 0, "port is missing"},
    {":8888", NULL, 0, 0, "host is missing"},
    {"[::1", NULL, 0, 0, "closing bracket"},
    {"[::1]", NULL, 0, 0, "port is missing"},
    {"[::1]8888", NULL, 0, 0, ":PORT must follow"},
    {"[]:8888", NULL, 0, 0, "host is missing"},
    {"[]]:8888", NULL, 0, 0, "not an IPv6 address"},
    {"::1:8888", NULL, 0, 0, "ambiguous"},
    {"fe80::1%eth0:8888", NULL, 0, 0, "ambiguous"},
    {"[127.0.0.1]:8888", NULL, 0, 0, "not an IPv6 address"},
    {"127.0.0.1:80", NULL, 0, 0, "not in 1025..65535"},
    {"127.0.0.1:0", NULL, 0, 0, "not in 1025..65535"},
    {"127.0.0.1:1023", NULL, 0, 0, "not in 1025..65535"},
    {"127.0.0.1:1024", NULL, 0, 0, "not in 1025..65535"},
    {"127.0.0.1:65536", NULL, 0, 0, "not in 1025..65535"},
    {"127.0.0.1:abc", NULL, 0, 0, "not a number"},
    {"127.0.0.1:88 88", NULL, 0, 0, "not a number"},
    {"tcp://127.0.0.1:8888", NULL, 0, 0, "ambiguous"},
    {"no-such-host.invalid:8888", NULL, 0, 0, "no-such-host.invalid"},
    {"127.0.0:8888", NULL, 0, 0, "neither an IPv4 address nor a name"},
};

/* [U-12] [U-13] [U-14] [U-15] [U-17] [U-18] */
static void test_session_ids(void **state)
{
    (void)state;
    char text[ACLSHMEMI_ADDR_TEXT_LEN];
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
        const text_case_t *c = &sessions[i];
        aclshmemi_addr_t addr;
        int rc = aclshmemi_session_id_parse(c->text, soon(), &addr);
        t_check_that((rc == 0) == (c->host != NULL), "\"%s\" gives %d: %s", c->text, rc,
                     aclshmemi_status_last_text());
        if (rc == 0) {
            t_check_text(aclshmemi_addr_print(&addr, text), c->host);
            assert_int_equal(addr.any.sa_family, c->family);
            assert_int_equal(aclshmemi_addr_port(&addr), c->port);
        } else {
            assert_int_equal(rc, ACLSHMEM_INVALID_PARAM);
            t_check_contains(aclshmemi_status_last_text(), c->reason);
        }
    }
}

/* [U-17] [U-20] */
static void test_long_and_absent_session_ids(void **state)
{
    (void)state;
    aclshmemi_addr_t addr;
    char text[301], name[HOST_NAME_MAX + 8];
    memset(text, 'a', 300);
    text[300] = '\0';
    assert_int_equal(aclshmemi_session_id_parse(text, soon(), &addr), ACLSHMEM_INVALID_PARAM);
    t_check_contains(aclshmemi_status_last_text(), "longer than 255");
    assert_int_equal(aclshmemi_session_id_parse(NULL, soon(), &addr), ACLSHMEM_INVALID_PARAM);

    /* This machine's own name, when it has one that resolves. */
    size_t count = 0;
    assert_int_equal(gethostname(name, HOST_NAME_MAX), 0);
    if (aclshmemi_net_resolve(name, AF_UNSPEC, 0, soon(), &addr, 1, &count) == 0) {
        strcat(name, ":8888");
        assert_int_equal(aclshmemi_session_id_parse(name, soon(), &addr), 0);
        assert_int_equal(aclshmemi_addr_port(&addr), 8888);
    }
}

static void test_errors_show_no_raw_bytes(void **state)
{
    (void)state;
    aclshmemi_url_t url;
    assert_int_equal(aclshmemi_url_parse("tcp://\x1b[31m\n:9999", 64, false, &url), ACLSHMEM_INVALID_PARAM);
    assert_null(strchr(aclshmemi_status_last_text(), '\x1b'));
    assert_null(strchr(aclshmemi_status_last_text(), '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_port_0_is_a_template_only),
        cmocka_unit_test(test_unterminated_field_is_refused),
        cmocka_unit_test(test_urls_resolve),
        cmocka_unit_test(test_names_with_several_addresses),
        cmocka_unit_test(test_unknown_names_and_scopes_fail),
        cmocka_unit_test(test_a_silent_name_server),
        cmocka_unit_test(test_session_ids),
        cmocka_unit_test(test_long_and_absent_session_ids),
        cmocka_unit_test(test_errors_show_no_raw_bytes),
    };
    t_unit_log_start(ACLSHMEMI_LOG_ERROR); /* refusals are the point here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
