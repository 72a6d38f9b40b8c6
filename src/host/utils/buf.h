/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded reader and writer for every byte that crossed a wire or came from a file.
 *
 * A reader that runs short turns bad and stays bad: every later read yields zeros, and one check at the end tells.
 * A writer grows up to its limit; past it, it turns bad and keeps what it had. Numbers travel little endian.
 */
#ifndef ACLSHMEMI_UTILS_BUF_H
#define ACLSHMEMI_UTILS_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aclshmemi_reader {
    const uint8_t *data; /* borrowed */
    size_t size;
    size_t at;
    bool bad;
} aclshmemi_reader_t;

void aclshmemi_reader_init(aclshmemi_reader_t *reader, const void *data, size_t size);
uint8_t aclshmemi_read_u8(aclshmemi_reader_t *reader);
uint16_t aclshmemi_read_u16(aclshmemi_reader_t *reader);
uint32_t aclshmemi_read_u32(aclshmemi_reader_t *reader);
uint64_t aclshmemi_read_u64(aclshmemi_reader_t *reader);
/* Borrows size bytes of the input; NULL and bad when there are fewer. size 0 yields a valid empty view. */
const void *aclshmemi_read_view(aclshmemi_reader_t *reader, size_t size);
void aclshmemi_read_bytes(aclshmemi_reader_t *reader, void *out, size_t size); /* zero-filled when bad */
size_t aclshmemi_reader_left(const aclshmemi_reader_t *reader);
/* Good, and nothing left over. */
bool aclshmemi_reader_finished(const aclshmemi_reader_t *reader);

typedef struct aclshmemi_writer {
    uint8_t *data; /* owned */
    size_t size;
    size_t capacity;
    size_t limit; /* never grows past this */
    bool bad;     /* out of memory or past the limit */
} aclshmemi_writer_t;

void aclshmemi_writer_init(aclshmemi_writer_t *writer, size_t limit);
void aclshmemi_writer_fini(aclshmemi_writer_t *writer);  /* frees; wipes first */
void aclshmemi_writer_reset(aclshmemi_writer_t *writer); /* empty again, memory kept */
void aclshmemi_write_u8(aclshmemi_writer_t *writer, uint8_t value);
void aclshmemi_write_u16(aclshmemi_writer_t *writer, uint16_t value);
void aclshmemi_write_u32(aclshmemi_writer_t *writer, uint32_t value);
void aclshmemi_write_u64(aclshmemi_writer_t *writer, uint64_t value);
void aclshmemi_write_bytes(aclshmemi_writer_t *writer, const void *data, size_t size);
/* Room for size more bytes, already counted as written; NULL when bad. Valid until the next write. */
void *aclshmemi_write_space(aclshmemi_writer_t *writer, size_t size);
/* Removes the first count bytes (they were sent). */
void aclshmemi_writer_consume(aclshmemi_writer_t *writer, size_t count);

#endif
