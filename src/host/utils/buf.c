/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reader and writer. Byte by byte rather than memcpy of structs: layout and byte order are the wire's. */
#include "host/utils/buf.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

void aclshmemi_reader_init(aclshmemi_reader_t *reader, const void *data, size_t size)
{
    reader->data = data;
    reader->size = data ? size : 0;
    reader->at = 0;
    reader->bad = !data && size;
}

/* An empty view must not be NULL, since NULL means "ran short", and an empty input may have no address. */
static const uint8_t empty_view;

const void *aclshmemi_read_view(aclshmemi_reader_t *reader, size_t size)
{
    if (reader->bad || size > reader->size - reader->at) {
        reader->bad = true;
        return NULL;
    }
    if (size == 0)
        return &empty_view;
    const void *view = reader->data + reader->at;
    reader->at += size;
    return view;
}

static uint64_t read_little_endian(aclshmemi_reader_t *reader, unsigned bytes)
{
    const uint8_t *from = aclshmemi_read_view(reader, bytes);
    if (!from)
        return 0;
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

uint8_t aclshmemi_read_u8(aclshmemi_reader_t *reader)
{
    return (uint8_t)read_little_endian(reader, 1);
}

uint16_t aclshmemi_read_u16(aclshmemi_reader_t *reader)
{
    return (uint16_t)read_little_endian(reader, 2);
}

uint32_t aclshmemi_read_u32(aclshmemi_reader_t *reader)
{
    return (uint32_t)read_little_endian(reader, 4);
}

uint64_t aclshmemi_read_u64(aclshmemi_reader_t *reader)
{
    return read_little_endian(reader, 8);
}

void aclshmemi_read_bytes(aclshmemi_reader_t *reader, void *out, size_t size)
{
    if (size == 0)
        return;
    const void *view = aclshmemi_read_view(reader, size);
    if (view)
        memcpy(out, view, size);
    else
        memset(out, 0, size);
}

size_t aclshmemi_reader_left(const aclshmemi_reader_t *reader)
{
    return reader->bad ? 0 : reader->size - reader->at;
}

bool aclshmemi_reader_finished(const aclshmemi_reader_t *reader)
{
    return !reader->bad && reader->at == reader->size;
}

void aclshmemi_writer_init(aclshmemi_writer_t *writer, size_t limit)
{
    *writer = (aclshmemi_writer_t){.limit = limit};
}

void aclshmemi_writer_fini(aclshmemi_writer_t *writer)
{
    if (writer->data) {
        explicit_bzero(writer->data, writer->capacity);
        free(writer->data);
    }
    *writer = (aclshmemi_writer_t){.limit = writer->limit};
}

void aclshmemi_writer_reset(aclshmemi_writer_t *writer)
{
    if (writer->data)
        explicit_bzero(writer->data, writer->size);
    writer->size = 0;
    writer->bad = false;
}

/* Not realloc(): it would leave a copy of what was written in freed memory, and that may be a secret. */
static bool grow(aclshmemi_writer_t *writer, size_t needed)
{
    size_t capacity = writer->capacity ? writer->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity > writer->limit / 2 ? writer->limit : capacity * 2;
    if (capacity > writer->limit)
        capacity = writer->limit;
    uint8_t *bigger = malloc(capacity);
    if (!bigger)
        return false;
    if (writer->data) {
        memcpy(bigger, writer->data, writer->size);
        explicit_bzero(writer->data, writer->capacity);
        free(writer->data);
    }
    writer->data = bigger;
    writer->capacity = capacity;
    return true;
}

void *aclshmemi_write_space(aclshmemi_writer_t *writer, size_t size)
{
    if (writer->bad)
        return NULL;
    if (size > writer->limit - writer->size) {
        writer->bad = true;
        return NULL;
    }
    size_t needed = writer->size + size;
    if ((needed > writer->capacity || !writer->data) && !grow(writer, needed ? needed : 1)) {
        writer->bad = true;
        return NULL;
    }
    void *space = writer->data + writer->size;
    writer->size = needed;
    return space;
}

static void write_little_endian(aclshmemi_writer_t *writer, uint64_t value, unsigned bytes)
{
    uint8_t *to = aclshmemi_write_space(writer, bytes);
    if (!to)
        return;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

void aclshmemi_write_u8(aclshmemi_writer_t *writer, uint8_t value)
{
    write_little_endian(writer, value, 1);
}

void aclshmemi_write_u16(aclshmemi_writer_t *writer, uint16_t value)
{
    write_little_endian(writer, value, 2);
}

void aclshmemi_write_u32(aclshmemi_writer_t *writer, uint32_t value)
{
    write_little_endian(writer, value, 4);
}

void aclshmemi_write_u64(aclshmemi_writer_t *writer, uint64_t value)
{
    write_little_endian(writer, value, 8);
}

void aclshmemi_write_bytes(aclshmemi_writer_t *writer, const void *data, size_t size)
{
    if (size == 0)
        return;
    void *to = aclshmemi_write_space(writer, size);
    if (to)
        memcpy(to, data, size);
}

void aclshmemi_writer_consume(aclshmemi_writer_t *writer, size_t count)
{
    if (count > writer->size)
        count = writer->size;
    if (count == 0)
        return;
    memmove(writer->data, writer->data + count, writer->size - count);
    writer->size -= count;
}
