/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bodies of the store's frames: aclshmemi_store_opening_judge, aclshmemi_store_header_decode and
 * aclshmemi_store_{message,hello,welcome,arrive,piece,note,place}_decode. The first byte says which. What decodes must
 * encode and decode to the same again.
 */
#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/store/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* Every decoder against its encoder. Decoded twice, values must be equal byte for byte: they are zeroed first. */
#define ROUND_TRIP(type, name)                                                                               \
    do {                                                                                                     \
        type first, second;                                                                                  \
        memset(&first, 0, sizeof first);                                                                     \
        memset(&second, 0, sizeof second);                                                                   \
        if (aclshmemi_store_##name##_decode(data, size, &first) != 0)                                        \
            break;                                                                                           \
        aclshmemi_writer_init(&out, ACLSHMEMI_STORE_BODY_MAX);                                               \
        aclshmemi_store_##name##_encode(&first, &out);                                                       \
        check(!out.bad);                                                                                     \
        check(aclshmemi_store_##name##_decode(out.data, out.size, &second) == 0);                            \
        check(memcmp(&first, &second, sizeof first) == 0);                                                   \
        aclshmemi_writer_fini(&out);                                                                         \
    } while (0)

static void message(const uint8_t *data, size_t size)
{
    aclshmemi_store_message_t m;
    aclshmemi_writer_t out;
    size_t touched = 0;
    if (aclshmemi_store_message_decode(data, size, &m) != 0)
        return;
    for (size_t i = 0; i < m.n_keys; i++) {
        check(m.keys[i].size <= ACLSHMEMI_STORE_WIRE_KEY_MAX);
        touched += m.keys[i].size > 0 ? m.keys[i].data[m.keys[i].size - 1] : 0;
    }
    for (size_t i = 0; i < m.n_values; i++)
        touched += m.values[i].size > 0 ? m.values[i].data[m.values[i].size - 1] : 0;
    check(touched <= 255 * (m.n_keys + m.n_values));
    aclshmemi_writer_init(&out, ACLSHMEMI_STORE_BODY_MAX);
    aclshmemi_store_message_encode(&m, &out);
    check(!out.bad && out.size == size &&
          memcmp(out.data, data, size) == 0); /* there is one way to write it */
    aclshmemi_writer_fini(&out);
}

static void piece(const uint8_t *data, size_t size, bool up)
{
    aclshmemi_store_piece_t p;
    uint8_t prefix[ACLSHMEMI_STORE_PIECE_PREFIX];
    if (aclshmemi_store_piece_decode(data, size, up, &p) != 0)
        return;
    check(p.data == data + sizeof prefix);
    check((size_t)p.count * (p.bytes + (up ? 4u : 0u)) == size - sizeof prefix);
    aclshmemi_store_piece_encode(&p, prefix);
    check(memcmp(prefix, data, sizeof prefix) == 0);
}

static void opening(const uint8_t *data, size_t size)
{
    aclshmemi_store_opening_t before = ACLSHMEMI_STORE_OPENING_UNCLEAR;
    for (size_t n = 0; n <= size; n++) { /* a verdict never changes with more bytes */
        aclshmemi_store_opening_t now = aclshmemi_store_opening_judge(data, n);
        check(before == ACLSHMEMI_STORE_OPENING_UNCLEAR || before == now);
        before = now;
    }
    check(size < ACLSHMEMI_STORE_OPENING_BYTES || before != ACLSHMEMI_STORE_OPENING_UNCLEAR);
}

static void header(const uint8_t *data, size_t size)
{
    aclshmemi_store_header_t h;
    uint8_t again[ACLSHMEMI_STORE_HEADER_LEN];
    if (size < sizeof again)
        return;
    aclshmemi_store_header_decode(data, &h);
    aclshmemi_store_header_encode(&h, again);
    check(memcmp(again, data, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aclshmemi_writer_t out;
    if (size == 0)
        return 0;
    uint8_t which = data[0];
    data++;
    size--;
    switch (which % 10) {
    case 0:
        message(data, size);
        break;
    case 1:
        ROUND_TRIP(aclshmemi_store_hello_t, hello);
        break;
    case 2:
        ROUND_TRIP(aclshmemi_store_welcome_t, welcome);
        break;
    case 3:
        ROUND_TRIP(aclshmemi_store_arrive_t, arrive);
        break;
    case 4:
        ROUND_TRIP(aclshmemi_store_note_t, note);
        break;
    case 5:
        ROUND_TRIP(aclshmemi_store_place_t, place);
        break;
    case 6:
        piece(data, size, true);
        break;
    case 7:
        piece(data, size, false);
        break;
    case 8:
        opening(data, size);
        break;
    default:
        header(data, size);
    }
    return 0;
}
