/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded reader and writer: round trips, every way to run short, growth up to the limit and not past it. */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/utils/buf.h"

/* Sanitizers end the program when more is asked for than there can be; here a NULL is wanted. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void numbers_are_little_endian(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f,
                                       0x0e, 0x0d, 0x0c, 0x0b, 0x0a, 0x09, 0x08};
    aclshmemi_writer_t writer;
    aclshmemi_writer_init(&writer, 64);
    aclshmemi_write_u8(&writer, 0x01);
    aclshmemi_write_u16(&writer, 0x0203);
    aclshmemi_write_u32(&writer, 0x04050607);
    aclshmemi_write_u64(&writer, UINT64_C(0x08090a0b0c0d0e0f));
    t_check(!writer.bad);
    t_check_uint(writer.size, sizeof expected);
    t_check_memory(writer.data, expected, sizeof expected);

    aclshmemi_reader_t reader;
    aclshmemi_reader_init(&reader, writer.data, writer.size);
    t_check_uint(aclshmemi_read_u8(&reader), 0x01);
    t_check_uint(aclshmemi_read_u16(&reader), 0x0203);
    t_check_uint(aclshmemi_read_u32(&reader), 0x04050607);
    t_check(!aclshmemi_reader_finished(&reader));
    t_check_uint(aclshmemi_reader_left(&reader), 8);
    t_check_uint(aclshmemi_read_u64(&reader), UINT64_C(0x08090a0b0c0d0e0f));
    t_check(aclshmemi_reader_finished(&reader));
    aclshmemi_writer_fini(&writer);
}

static void numbers_keep_all_bits(void **state)
{
    (void)state;
    aclshmemi_writer_t writer;
    aclshmemi_writer_init(&writer, 64);
    aclshmemi_write_u8(&writer, UINT8_MAX);
    aclshmemi_write_u16(&writer, UINT16_MAX);
    aclshmemi_write_u32(&writer, UINT32_MAX);
    aclshmemi_write_u64(&writer, UINT64_MAX);
    aclshmemi_reader_t reader;
    aclshmemi_reader_init(&reader, writer.data, writer.size);
    t_check_uint(aclshmemi_read_u8(&reader), UINT8_MAX);
    t_check_uint(aclshmemi_read_u16(&reader), UINT16_MAX);
    t_check_uint(aclshmemi_read_u32(&reader), UINT32_MAX);
    t_check_uint(aclshmemi_read_u64(&reader), UINT64_MAX);
    aclshmemi_writer_fini(&writer);
}

/* One read of width bytes (1 2 4 8), or of a view (0: of three bytes). */
static uint64_t read_any(aclshmemi_reader_t *reader, unsigned width)
{
    switch (width) {
    case 1:
        return aclshmemi_read_u8(reader);
    case 2:
        return aclshmemi_read_u16(reader);
    case 4:
        return aclshmemi_read_u32(reader);
    case 8:
        return aclshmemi_read_u64(reader);
    default:
        return aclshmemi_read_view(reader, 3) != NULL;
    }
}

/* Every sequence of four reads of every kind, over every length of input from nothing to more than enough. The input
 * is a heap block of exactly that length, so that a sanitizer sees a single byte too many. */
static void every_short_read_is_caught(void **state)
{
    (void)state;
    static const unsigned widths[] = {1, 2, 4, 8, 0};
    enum { KINDS = 5, READS = 4, MOST = 8 * READS + 1 };
    for (size_t size = 0; size <= MOST; size++) {
        uint8_t *data = malloc(size ? size : 1);
        t_check(data != NULL);
        memset(data, 0xff, size);
        for (unsigned code = 0; code < KINDS * KINDS * KINDS * KINDS; code++) {
            aclshmemi_reader_t reader;
            aclshmemi_reader_init(&reader, data, size);
            size_t used = 0;
            bool good = true;
            for (unsigned i = 0, rest = code; i < READS; i++, rest /= KINDS) {
                unsigned width = widths[rest % KINDS];
                size_t bytes = width ? width : 3;
                good = good && used + bytes <= size;
                uint64_t all = width == 8 ? UINT64_MAX : width ? (UINT64_C(1) << (8 * width)) - 1 : 1;
                t_check_uint(read_any(&reader, width), good ? all : 0);
                used += good ? bytes : 0;
                t_check_int(reader.bad, !good);
                t_check_uint(aclshmemi_reader_left(&reader), good ? size - used : 0);
                t_check_int(aclshmemi_reader_finished(&reader), good && used == size);
            }
        }
        free(data);
    }
}

static void views_and_bytes(void **state)
{
    (void)state;
    static const char text[] = "abcdef";
    char out[8];
    aclshmemi_reader_t reader;
    aclshmemi_reader_init(&reader, text, 6);
    t_check(aclshmemi_read_view(&reader, 2) == text);
    aclshmemi_read_bytes(&reader, out, 3);
    t_check_memory(out, "cde", 3);
    t_check(aclshmemi_read_view(&reader, 0) != NULL);
    memset(out, 'x', sizeof out);
    aclshmemi_read_bytes(&reader, out, 4); /* one is left */
    t_check(reader.bad);
    t_check_memory(out, "\0\0\0\0xxxx", 8);
    t_check(aclshmemi_read_view(&reader, 0) == NULL); /* once bad, always bad */
    t_check(aclshmemi_read_view(&reader, SIZE_MAX) == NULL);
    aclshmemi_reader_init(&reader, text, 6);
    t_check_uint(aclshmemi_read_u8(&reader), 'a');
    t_check(aclshmemi_read_view(&reader, SIZE_MAX) == NULL); /* must not wrap around */
}

static void no_input_at_all(void **state)
{
    (void)state;
    aclshmemi_reader_t reader;
    aclshmemi_reader_init(&reader, NULL, 0);
    t_check(aclshmemi_reader_finished(&reader));
    t_check(aclshmemi_read_view(&reader, 0) != NULL);
    t_check_uint(aclshmemi_read_u8(&reader), 0);
    t_check(!aclshmemi_reader_finished(&reader));
    aclshmemi_reader_init(&reader, NULL, 5);
    t_check(reader.bad);
    t_check_uint(aclshmemi_reader_left(&reader), 0);
}

static void writer_grows_to_its_limit(void **state)
{
    (void)state;
    enum { LIMIT = 5000 };
    aclshmemi_writer_t writer;
    aclshmemi_writer_init(&writer, LIMIT);
    for (size_t i = 0; i < LIMIT; i++)
        aclshmemi_write_u8(&writer, (uint8_t)(i * 7));
    t_check(!writer.bad);
    t_check_uint(writer.size, LIMIT);
    t_check(writer.capacity <= LIMIT);
    aclshmemi_write_u8(&writer, 1);
    t_check(writer.bad);
    t_check_uint(writer.size, LIMIT); /* keeps what it had */
    for (size_t i = 0; i < LIMIT; i++)
        t_check_uint(writer.data[i], (uint8_t)(i * 7));
    t_check(aclshmemi_write_space(&writer, 0) == NULL);
    aclshmemi_writer_reset(&writer);
    t_check(!writer.bad);
    t_check_uint(writer.size, 0);
    aclshmemi_write_bytes(&writer, "abc", 3);
    t_check_memory(writer.data, "abc", 3);
    aclshmemi_writer_fini(&writer);
    t_check(writer.data == NULL);
}

static void writer_refuses_huge_sizes(void **state)
{
    (void)state;
    aclshmemi_writer_t writer;
    aclshmemi_writer_init(&writer, 16);
    aclshmemi_write_u32(&writer, 5);
    t_check(aclshmemi_write_space(&writer, SIZE_MAX) == NULL); /* size + SIZE_MAX wraps */
    t_check(writer.bad);
    t_check_uint(writer.size, 4);
    aclshmemi_writer_fini(&writer);

    aclshmemi_writer_init(&writer, SIZE_MAX); /* no limit: memory is the limit */
    aclshmemi_write_u8(&writer, 9);
    t_check(aclshmemi_write_space(&writer, SIZE_MAX / 2) == NULL);
    t_check(writer.bad);
    t_check_uint(writer.data[0], 9);
    aclshmemi_writer_fini(&writer);

    aclshmemi_writer_init(&writer, 0);
    aclshmemi_write_bytes(&writer, NULL, 0);
    t_check(!writer.bad);
    aclshmemi_write_u8(&writer, 1);
    t_check(writer.bad);
    aclshmemi_writer_fini(&writer);
}

static void consume_keeps_the_rest(void **state)
{
    (void)state;
    aclshmemi_writer_t writer;
    aclshmemi_writer_init(&writer, 64);
    aclshmemi_writer_consume(&writer, 3); /* of nothing */
    aclshmemi_write_bytes(&writer, "0123456789", 10);
    char *space = aclshmemi_write_space(&writer, 2);
    t_check(space != NULL);
    memcpy(space, "ab", 2);
    aclshmemi_writer_consume(&writer, 4);
    t_check_uint(writer.size, 8);
    t_check_memory(writer.data, "456789ab", 8);
    aclshmemi_writer_consume(&writer, 0);
    t_check_uint(writer.size, 8);
    aclshmemi_writer_consume(&writer, 100);
    t_check_uint(writer.size, 0);
    aclshmemi_writer_fini(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(numbers_keep_all_bits),
        cmocka_unit_test(every_short_read_is_caught),
        cmocka_unit_test(views_and_bytes),
        cmocka_unit_test(no_input_at_all),
        cmocka_unit_test(writer_grows_to_its_limit),
        cmocka_unit_test(writer_refuses_huge_sizes),
        cmocka_unit_test(consume_keeps_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
