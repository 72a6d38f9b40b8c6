/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a context is built, private key, pass phrase and secret are nowhere in the memory of the process.
 *
 * A child makes the secrets, so that this process gets them only as a program would hand them over; what is looked for it
 * knows in a masked form only.
 */
#include "tls_support.h"

#include "host/bootstrap/tls/settings.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#define MASK   0xa5
#define PASS   "a pass phrase nobody would think of"
#define SECRET "some 32 bytes for the user alone"
#define CIPHER "what the program keeps instead of it"
#define PAGE   16384

/* Stands in for the C library's, in OpenSSL too: freed memory is never used again, so that what was not wiped before it was
 * freed stays to be found. */
void free(void *memory)
{
    (void)memory;
}

static char dir[200];

static const char *below(const char *name)
{
    static char full[4][400];
    static int next;
    next = (next + 1) % 4;
    snprintf(full[next], sizeof full[next], "%s/%s", dir, name);
    return full[next];
}

/* ---- made in a child ---- */

static void write_masked(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(below(name), "w");
    t_check(file);
    for (size_t i = 0; i < size; i++)
        fputc((uint8_t)bytes[i] ^ MASK, file);
    t_check(fclose(file) == 0);
}

static void write_plain(const char *name, const char *bytes, size_t size)
{
    int fd = open(below(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    t_check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* A line from the middle of a PEM text: every private key has such. */
static const char *inner_line(const char *pem, int number)
{
    for (; number > 0; number--)
        pem = strchr(pem, '\n') + 1;
    return pem;
}

static void make_secrets(void *unused)
{
    (void)unused;
    EVP_PKEY *key = t_key_rsa(3072);
    X509 *certificate = t_certificate_make(&(t_certificate_t){.name = "pe", .key = key});
    t_certificate_write(below("pe.pem"), certificate);
    char *open_pem = t_key_pem(key, NULL), *pem = t_key_pem(key, PASS);
    write_plain("key.pem", open_pem, strlen(open_pem));
    write_plain("locked.pem", pem, strlen(pem));
    write_plain("pass", PASS, strlen(PASS));
    write_plain("cipher", CIPHER, strlen(CIPHER));
    write_plain("secret", SECRET, 32);
    write_masked("key.1", inner_line(open_pem, 4), 40);
    write_masked("key.2", inner_line(open_pem, 12), 40);
    write_masked("locked.1", inner_line(pem, 4), 40);
    write_masked("locked.2", inner_line(pem, 12), 40);
    write_masked("pass.1", &PASS[16], 19); /* freeing memory overwrites the first bytes anyway */
    write_masked("cipher.1", &CIPHER[16], 20);
    write_masked("secret.1", &SECRET[14], 18);
    t_check(mkdir(below("openssl"), 0700) == 0);
    write_plain("openssl/libssl.so", "x", 1);
    write_plain("openssl/libcrypto.so", "x", 1);
}

static int setup(void **state)
{
    (void)state;
    t_child_t child;
    t_clean_environment();
    t_dir_make(dir, sizeof dir);
    t_run_function(&child, make_secrets, NULL, 60000);
    t_check_exit(&child, 0);
    t_child_free(&child);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    t_dir_remove(dir);
    return 0;
}

/* ---- looked for ---- */

typedef struct needle {
    uint8_t masked[64];
    size_t size;
} needle_t;

static void load_needle(const char *name, needle_t *needle)
{
    int fd = open(below(name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t size = read(fd, needle->masked, sizeof needle->masked);
    assert_true(size >= 16);
    needle->size = (size_t)size;
    close(fd);
}

static bool is_at(const uint8_t *at, const needle_t *needle)
{
    for (size_t i = 0; i < needle->size; i++)
        if ((at[i] ^ MASK) != needle->masked[i])
            return false;
    return true;
}

static uint8_t chunk[1 << 20]; /* where memory is copied to, and not looked at itself */

static size_t search_range(int mem, uintptr_t from, uintptr_t to, const needle_t *needle)
{
    size_t found = 0;
    while (from < to) {
        size_t size = to - from < sizeof chunk ? to - from : sizeof chunk;
        ssize_t got = pread(mem, chunk, size, (off_t)from);
        if (got < (ssize_t)needle->size)
            return found; /* the rest cannot be read */
        for (size_t i = 0; i + needle->size <= (size_t)got; i++)
            found += is_at(chunk + i, needle);
        if ((size_t)got < sizeof chunk)
            return found;
        from += (size_t)got - needle->size; /* one may lie across */
    }
    return found;
}

static size_t search_memory(const needle_t *needle)
{
    size_t found = 0, ranges = 0;
    char line[512];
    int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_true(mem >= 0 && maps);
    uintptr_t own = (uintptr_t)chunk;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char mode[5];
        assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, mode), 3);
        if (mode[0] != 'r' || mode[1] != 'w')
            continue;
        ranges++;
        if (own < from || own >= to) {
            found += search_range(mem, from, to, needle);
        } else {
            found += search_range(mem, from, own, needle);
            found += search_range(mem, own + sizeof chunk, to, needle);
        }
    }
    fclose(maps);
    close(mem);
    assert_true(ranges > 3);
    return found;
}

static size_t search(const char *name)
{
    needle_t needle;
    load_needle(name, &needle);
    return search_memory(&needle);
}

/* ---- handed over as a program would ---- */

static char *page_with(const char *name, size_t *size)
{
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    int fd = open(below(name), O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, page, PAGE);
    assert_true(got > 0);
    *size = (size_t)got;
    close(fd);
    return page;
}

static void set_key(const char *key_name, const char *pass_name,
                    int (*decrypt)(const char *, size_t, char *, size_t *))
{
    size_t key_size, pass_size = 0;
    char *key = page_with(key_name, &key_size), *pass = pass_name ? page_with(pass_name, &pass_size) : NULL;
    t_check_int(aclshmemi_tls_set_key(key, (uint32_t)key_size, pass, (uint32_t)pass_size, decrypt), 0);
    munmap(key, PAGE);
    if (pass)
        munmap(pass, PAGE);
}

static int decrypt_from_file(const char *cipher, size_t cipher_len, char *plain, size_t *plain_len)
{
    int fd = open(below("pass"), O_RDONLY | O_CLOEXEC);
    (void)cipher;
    ssize_t got = read(fd, plain, 2 * cipher_len);
    close(fd);
    if (got < 0)
        return 1;
    plain[got] = '\0';
    *plain_len = (size_t)got;
    return 0;
}

static aclshmemi_tls_context_t *make_context(void)
{
    char info[2048];
    aclshmemi_env_t env = t_tls_env("");
    aclshmemi_tls_context_t *context = NULL;
    int length = snprintf(info, sizeof info, "tlsCaPath:%s;tlsCaFile:pe.pem;tlsCert:%s;packagePath:%s", dir,
                          below("pe.pem"), below("openssl"));
    t_check_int(aclshmemi_tls_configure(true, info, (uint32_t)length), 0);
    int rc = aclshmemi_tls_context_create(&env, NULL, &context);
    t_check_that(rc == 0, "no context: %s", aclshmemi_status_last_text());
    return context;
}

static void shake(aclshmemi_tls_context_t *context)
{
    t_pair_t pair;
    t_pair_open(&pair, context, context);
    t_check_that(pair.client.rc == 0 && pair.server.rc == 0, "%s, %s", pair.client.text, pair.server.text);
    t_pair_send(&pair.client, &pair.server, "works");
    t_pair_close(&pair);
}

static void test_the_search_finds(void **state)
{
    (void)state;
    set_key("locked.pem", "pass", NULL);
    assert_int_equal(search("locked.1"), 1); /* what the setter keeps until the next init */
    assert_int_equal(search("pass.1"), 1);
    aclshmemi_tls_drop_key();
    assert_int_equal(search("locked.1"), 0);
    assert_int_equal(search("pass.1"), 0);
}

/* [T-22] */
static void test_an_open_key(void **state)
{
    (void)state;
    set_key("key.pem", NULL, NULL);
    aclshmemi_tls_context_t *context = make_context();
    assert_int_equal(search("key.1"), 0);
    assert_int_equal(search("key.2"), 0);
    shake(context);
    assert_int_equal(search("key.1"), 0);
    aclshmemi_tls_context_destroy(context);
}

/* [T-22] */
static void test_a_locked_key(void **state)
{
    (void)state;
    for (int handled = 0; handled < 2; handled++) {
        set_key("locked.pem", handled ? "cipher" : "pass", handled ? decrypt_from_file : NULL);
        aclshmemi_tls_context_t *context = make_context();
        const char *const names[] = {"locked.1", "locked.2", "key.1", "key.2", "pass.1", "cipher.1"};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            t_check_that(search(names[i]) == 0, "%s is still there", names[i]);
        shake(context);
        aclshmemi_tls_context_destroy(context);
    }
}

static void test_the_secret_file(void **state)
{
    (void)state;
    aclshmemi_env_t env = t_tls_env(below("secret"));
    aclshmemi_tls_context_t *context = NULL;
    t_check_int(aclshmemi_tls_configure(false, NULL, 0), 0);
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    assert_null(context);
    aclshmemi_tls_settings_reset();
    t_check_int(aclshmemi_tls_context_create(&env, NULL, &context), 0);
    assert_non_null(context);
    shake(context);
    assert_int_equal(search("secret.1"), 0);
    aclshmemi_tls_context_destroy(context);
}

int main(void)
{
#ifdef SANITIZED
    t_skip("sanitizers keep copies of freed memory");
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_search_finds),
        cmocka_unit_test(test_an_open_key),
        cmocka_unit_test(test_a_locked_key),
        cmocka_unit_test(test_the_secret_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
