/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the store: every body is taken apart here, by bounded readers, and nowhere else. */
#define LOG_MODULE "store"
#include "host/bootstrap/store/frame.h"

#include <string.h>

#define HELLO_TAG       UINT32_C(0x4d485341) /* "ASHM" */
#define TLS_HANDSHAKE   0x16
#define TLS_MAJOR       0x03
#define TLS_CLIENTHELLO 0x01
#define BAD             ACLSHMEMI_STORE_BAD_REQUEST

/* --- Header --- */

static void put_le(uint8_t *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_le(const uint8_t *in, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

void aclshmemi_store_header_encode(const aclshmemi_store_header_t *header,
                                   uint8_t out[ACLSHMEMI_STORE_HEADER_LEN])
{
    put_le(out, (uint16_t)header->type, 2);
    put_le(out + 2, (uint16_t)header->result, 2);
    put_le(out + 4, header->length, 4);
    put_le(out + 8, header->sequence, 4);
    put_le(out + 12, header->epoch, 4);
}

void aclshmemi_store_header_decode(const uint8_t in[ACLSHMEMI_STORE_HEADER_LEN],
                                   aclshmemi_store_header_t *header)
{
    header->type = (int16_t)get_le(in, 2);
    header->result = (int16_t)get_le(in + 2, 2);
    header->length = (uint32_t)get_le(in + 4, 4);
    header->sequence = (uint32_t)get_le(in + 8, 4);
    header->epoch = (uint32_t)get_le(in + 12, 4);
}

static bool may_be_tls(const uint8_t *b, size_t n)
{
    return b[0] == TLS_HANDSHAKE && (n < 2 || b[1] == TLS_MAJOR) && (n < 6 || b[5] == TLS_CLIENTHELLO);
}

/* A HELLO without result and epoch, of a length that can be one, with our tag in front of its body. */
static bool may_be_hello(const uint8_t *b, size_t n)
{
    uint8_t start[ACLSHMEMI_STORE_OPENING_BYTES] = {0};
    memcpy(start, b, n);
    aclshmemi_store_header_t header;
    aclshmemi_store_header_decode(start, &header);
    uint8_t tag[4];
    put_le(tag, HELLO_TAG, 4);
    if (b[0] != ACLSHMEMI_STORE_HELLO || header.type != ACLSHMEMI_STORE_HELLO || header.result != 0)
        return false;
    if (n >= 8 && header.length > ACLSHMEMI_STORE_HELLO_MAX)
        return false;
    return header.epoch == 0 &&
           (n <= ACLSHMEMI_STORE_HEADER_LEN ||
            memcmp(start + ACLSHMEMI_STORE_HEADER_LEN, tag, n - ACLSHMEMI_STORE_HEADER_LEN) == 0);
}

aclshmemi_store_opening_t aclshmemi_store_opening_judge(const uint8_t *bytes, size_t size)
{
    size_t n = size < ACLSHMEMI_STORE_OPENING_BYTES ? size : ACLSHMEMI_STORE_OPENING_BYTES;
    if (n == 0)
        return ACLSHMEMI_STORE_OPENING_UNCLEAR;
    if (may_be_tls(bytes, n))
        return n < 6 ? ACLSHMEMI_STORE_OPENING_UNCLEAR : ACLSHMEMI_STORE_OPENING_TLS;
    if (may_be_hello(bytes, n))
        return n < ACLSHMEMI_STORE_OPENING_BYTES ? ACLSHMEMI_STORE_OPENING_UNCLEAR
                                                 : ACLSHMEMI_STORE_OPENING_FRAME;
    return ACLSHMEMI_STORE_OPENING_NOISE;
}

/* --- Texts: length and bytes; what a peer sent is made printable, since it ends up in logs --- */

static void put_text(aclshmemi_writer_t *out, const char *text, size_t max)
{
    size_t length = strnlen(text, max - 1);
    aclshmemi_write_u16(out, (uint16_t)length);
    aclshmemi_write_bytes(out, text, length);
}

static void get_text(aclshmemi_reader_t *in, char *out, size_t max)
{
    size_t length = aclshmemi_read_u16(in);
    const char *text = aclshmemi_read_view(in, length);
    size_t kept = text ? (length < max ? length : max - 1) : 0;
    for (size_t i = 0; i < kept; i++)
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    memset(out + kept, 0, max - kept);
}

static void put_fingerprint(aclshmemi_writer_t *out, const aclshmemi_fingerprint_t *print)
{
    aclshmemi_write_bytes(out, print->call, sizeof print->call);
    for (size_t i = 0; i < sizeof print->args / sizeof print->args[0]; i++)
        aclshmemi_write_u64(out, print->args[i]);
    aclshmemi_write_bytes(out, print->names, sizeof print->names);
}

static void get_fingerprint(aclshmemi_reader_t *in, aclshmemi_fingerprint_t *print)
{
    aclshmemi_read_bytes(in, print->call, sizeof print->call);
    for (size_t i = 0; i < sizeof print->args / sizeof print->args[0]; i++)
        print->args[i] = aclshmemi_read_u64(in);
    aclshmemi_read_bytes(in, print->names, sizeof print->names);
}

/* --- Table --- */

static int read_items(aclshmemi_reader_t *in, uint64_t size_max, aclshmemi_store_item_t *items, size_t *count)
{
    uint64_t n = aclshmemi_read_u64(in);
    if (in->bad || n > ACLSHMEMI_STORE_ITEMS_MAX)
        return BAD;
    for (size_t i = 0; i < n; i++) {
        uint64_t size = aclshmemi_read_u64(in);
        if (in->bad || size > size_max || size > aclshmemi_reader_left(in))
            return BAD;
        items[i].size = (size_t)size;
        items[i].data = aclshmemi_read_view(in, (size_t)size);
    }
    *count = (size_t)n;
    return 0;
}

int aclshmemi_store_message_decode(const void *body, size_t size, aclshmemi_store_message_t *message)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    uint64_t total = aclshmemi_read_u64(&in);
    aclshmemi_store_message_t m = {.user = (int64_t)aclshmemi_read_u64(&in)};
    m.op = (int16_t)aclshmemi_read_u16(&in);
    if (in.bad || total != size || m.op < 0 || m.op >= ACLSHMEMI_STORE_OP_COUNT)
        return BAD;
    TRY(read_items(&in, ACLSHMEMI_STORE_WIRE_KEY_MAX, m.keys, &m.n_keys));
    TRY(read_items(&in, ACLSHMEMI_STORE_WIRE_VALUE_MAX, m.values, &m.n_values));
    if (!aclshmemi_reader_finished(&in))
        return BAD;
    *message = m;
    return 0;
}

static uint64_t items_size(const aclshmemi_store_item_t *items, size_t count)
{
    uint64_t size = 8;
    for (size_t i = 0; i < count; i++)
        size += 8 + items[i].size;
    return size;
}

static void write_items(aclshmemi_writer_t *out, const aclshmemi_store_item_t *items, size_t count)
{
    aclshmemi_write_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        aclshmemi_write_u64(out, items[i].size);
        aclshmemi_write_bytes(out, items[i].data, items[i].size);
    }
}

void aclshmemi_store_message_encode(const aclshmemi_store_message_t *message, aclshmemi_writer_t *out)
{
    uint64_t total =
        18 + items_size(message->keys, message->n_keys) + items_size(message->values, message->n_values);
    aclshmemi_write_u64(out, total);
    aclshmemi_write_u64(out, (uint64_t)message->user);
    aclshmemi_write_u16(out, (uint16_t)message->op);
    write_items(out, message->keys, message->n_keys);
    write_items(out, message->values, message->n_values);
}

/* --- Joining --- */

int aclshmemi_store_hello_decode(const void *body, size_t size, aclshmemi_store_hello_t *hello)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_hello_t h = {0};
    if (aclshmemi_read_u32(&in) != HELLO_TAG)
        return BAD;
    h.version = aclshmemi_read_u16(&in);
    if (in.bad)
        return BAD;
    if (h.version != ACLSHMEMI_STORE_VERSION) {
        *hello = h;
        return 0;
    }
    h.role = aclshmemi_read_u8(&in);
    h.magic = aclshmemi_read_u64(&in);
    h.rank = aclshmemi_read_u32(&in);
    h.n_pes = aclshmemi_read_u32(&in);
    h.epoch = aclshmemi_read_u32(&in);
    h.pid = aclshmemi_read_u32(&in);
    get_text(&in, h.build, sizeof h.build);
    get_text(&in, h.host, sizeof h.host);
    get_fingerprint(&in, &h.agree);
    if (!aclshmemi_reader_finished(&in) || h.role > ACLSHMEMI_STORE_ROLE_TREE)
        return BAD;
    *hello = h;
    return 0;
}

void aclshmemi_store_hello_encode(const aclshmemi_store_hello_t *hello, aclshmemi_writer_t *out)
{
    aclshmemi_write_u32(out, HELLO_TAG);
    aclshmemi_write_u16(out, hello->version);
    aclshmemi_write_u8(out, hello->role);
    aclshmemi_write_u64(out, hello->magic);
    aclshmemi_write_u32(out, hello->rank);
    aclshmemi_write_u32(out, hello->n_pes);
    aclshmemi_write_u32(out, hello->epoch);
    aclshmemi_write_u32(out, hello->pid);
    put_text(out, hello->build, sizeof hello->build);
    put_text(out, hello->host, sizeof hello->host);
    put_fingerprint(out, &hello->agree);
}

int aclshmemi_store_welcome_decode(const void *body, size_t size, aclshmemi_store_welcome_t *welcome)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_welcome_t w = {.epoch = aclshmemi_read_u32(&in), .fanout = aclshmemi_read_u32(&in)};
    get_text(&in, w.text, sizeof w.text);
    if (!aclshmemi_reader_finished(&in))
        return BAD;
    *welcome = w;
    return 0;
}

void aclshmemi_store_welcome_encode(const aclshmemi_store_welcome_t *welcome, aclshmemi_writer_t *out)
{
    aclshmemi_write_u32(out, welcome->epoch);
    aclshmemi_write_u32(out, welcome->fanout);
    put_text(out, welcome->text, sizeof welcome->text);
}

/* --- Collectives --- */

int aclshmemi_store_arrive_decode(const void *body, size_t size, aclshmemi_store_arrive_t *arrive)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_arrive_t a = {.round = aclshmemi_read_u64(&in)};
    a.kind = aclshmemi_read_u8(&in);
    a.timeout_ms = aclshmemi_read_u64(&in);
    get_fingerprint(&in, &a.fingerprint);
    if (!aclshmemi_reader_finished(&in) || a.kind > ACLSHMEMI_STORE_ALLGATHER)
        return BAD;
    *arrive = a;
    return 0;
}

void aclshmemi_store_arrive_encode(const aclshmemi_store_arrive_t *arrive, aclshmemi_writer_t *out)
{
    aclshmemi_write_u64(out, arrive->round);
    aclshmemi_write_u8(out, arrive->kind);
    aclshmemi_write_u64(out, arrive->timeout_ms);
    put_fingerprint(out, &arrive->fingerprint);
}

uint32_t aclshmemi_store_chunk_bytes(int n_pes)
{
    uint32_t bytes = ACLSHMEMI_STORE_CHUNK_TOTAL / (uint32_t)n_pes;
    return bytes > 0 ? bytes : 1;
}

int aclshmemi_store_piece_decode(const void *body, size_t size, bool up, aclshmemi_store_piece_t *piece)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_piece_t p = {.round = aclshmemi_read_u64(&in)};
    p.chunk = aclshmemi_read_u32(&in);
    p.bytes = aclshmemi_read_u32(&in);
    p.count = aclshmemi_read_u32(&in);
    uint64_t each = (uint64_t)p.bytes + (up ? sizeof(uint32_t) : 0);
    uint64_t left =
        aclshmemi_reader_left(&in); /* below 2^32, as count and each are: the product does not wrap */
    if (in.bad || p.bytes == 0 || p.count == 0 || each * p.count != left)
        return BAD;
    p.data = aclshmemi_read_view(&in, (size_t)left);
    *piece = p;
    return 0;
}

void aclshmemi_store_piece_encode(const aclshmemi_store_piece_t *piece,
                                  uint8_t out[ACLSHMEMI_STORE_PIECE_PREFIX])
{
    put_le(out, piece->round, 8);
    put_le(out + 8, piece->chunk, 4);
    put_le(out + 12, piece->bytes, 4);
    put_le(out + 16, piece->count, 4);
}

/* --- The rest --- */

int aclshmemi_store_note_decode(const void *body, size_t size, aclshmemi_store_note_t *note)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_note_t n = {.kind = aclshmemi_read_u8(&in)};
    n.pe = (int32_t)aclshmemi_read_u32(&in);
    n.value = (int32_t)aclshmemi_read_u32(&in);
    get_text(&in, n.text, sizeof n.text);
    if (!aclshmemi_reader_finished(&in))
        return BAD;
    *note = n;
    return 0;
}

void aclshmemi_store_note_encode(const aclshmemi_store_note_t *note, aclshmemi_writer_t *out)
{
    aclshmemi_write_u8(out, note->kind);
    aclshmemi_write_u32(out, (uint32_t)note->pe);
    aclshmemi_write_u32(out, (uint32_t)note->value);
    put_text(out, note->text, sizeof note->text);
}

enum { NO_ADDRESS, ADDRESS_V4, ADDRESS_V6 };

int aclshmemi_store_place_decode(const void *body, size_t size, aclshmemi_store_place_t *place)
{
    aclshmemi_reader_t in;
    aclshmemi_reader_init(&in, body, size);
    aclshmemi_store_place_t p = {.pe = aclshmemi_read_u32(&in)};
    uint8_t family = aclshmemi_read_u8(&in);
    uint16_t port = aclshmemi_read_u16(&in);
    if (family == ADDRESS_V4) {
        p.addr.v4.sin_family = AF_INET;
        p.addr.v4.sin_port = htons(port);
        aclshmemi_read_bytes(&in, &p.addr.v4.sin_addr, sizeof p.addr.v4.sin_addr);
        p.addr.length = sizeof p.addr.v4;
    } else if (family == ADDRESS_V6) {
        p.addr.v6.sin6_family = AF_INET6;
        p.addr.v6.sin6_port = htons(port);
        aclshmemi_read_bytes(&in, &p.addr.v6.sin6_addr, sizeof p.addr.v6.sin6_addr);
        p.addr.v6.sin6_scope_id = aclshmemi_read_u32(&in);
        p.addr.length = sizeof p.addr.v6;
    }
    if (!aclshmemi_reader_finished(&in) || family > ADDRESS_V6 || (family != NO_ADDRESS && port == 0))
        return BAD;
    *place = p;
    return 0;
}

void aclshmemi_store_place_encode(const aclshmemi_store_place_t *place, aclshmemi_writer_t *out)
{
    int family = place->addr.length > 0 ? place->addr.any.sa_family : AF_UNSPEC;
    aclshmemi_write_u32(out, place->pe);
    aclshmemi_write_u8(out, family == AF_INET ? ADDRESS_V4 : family == AF_INET6 ? ADDRESS_V6 : NO_ADDRESS);
    aclshmemi_write_u16(out, family == AF_UNSPEC ? 0 : aclshmemi_addr_port(&place->addr));
    if (family == AF_INET) {
        aclshmemi_write_bytes(out, &place->addr.v4.sin_addr, sizeof place->addr.v4.sin_addr);
    } else if (family == AF_INET6) {
        aclshmemi_write_bytes(out, &place->addr.v6.sin6_addr, sizeof place->addr.v6.sin6_addr);
        aclshmemi_write_u32(out,
                            place->addr.v6.sin6_scope_id); /* link-local: right on the same network only */
    }
}
