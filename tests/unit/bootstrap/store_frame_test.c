/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes on the wire: layouts that other versions rely on, and the limits of every body. */
#define LOG_MODULE "test"
#include "pes.h"

#include <stdlib.h>
#include <string.h>

#include "host/bootstrap/store/frame.h"

static void test_header_layout(void **state)
{
    const uint8_t expected[] = {2, 0, 0xfd, 0xff, 4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9};
    const aclshmemi_store_header_t header = {
        .type = 2, .result = -3, .length = 0x01020304, .sequence = 0x05060708, .epoch = 0x090a0b0c};
    uint8_t bytes[ACLSHMEMI_STORE_HEADER_LEN];
    aclshmemi_store_header_t again;
    (void)state;
    aclshmemi_store_header_encode(&header, bytes);
    t_check_memory(bytes, expected, sizeof expected);
    aclshmemi_store_header_decode(bytes, &again);
    t_check_memory(&again, &header, sizeof header);
}

static void test_message_layout(void **state)
{
    const uint8_t expected[] = {55,   0,    0, 0, 0, 0, 0,   0,   0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                0xff, 0xff, 0, 0, 1, 0, 0,   0,   0,    0,    0,    0,    2,    0,
                                0,    0,    0, 0, 0, 0, 'k', 'y', 1,    0,    0,    0,    0,    0,
                                0,    0,    3, 0, 0, 0, 0,   0,   0,    0,    'v',  'a',  'l'};
    aclshmemi_store_message_t message = {.user = -1,
                                         .op = ACLSHMEMI_STORE_SET,
                                         .n_keys = 1,
                                         .n_values = 1,
                                         .keys = {{(const uint8_t *)"ky", 2}},
                                         .values = {{(const uint8_t *)"val", 3}}};
    aclshmemi_store_message_t again;
    aclshmemi_writer_t out;
    (void)state;
    aclshmemi_writer_init(&out, 1000);
    aclshmemi_store_message_encode(&message, &out);
    t_check_uint(out.size, sizeof expected);
    t_check_memory(out.data, expected, sizeof expected);
    t_check_int(aclshmemi_store_message_decode(out.data, out.size, &again), 0);
    t_check_int(again.user, -1);
    t_check_uint(again.values[0].size, 3);
    for (size_t cut = 0; cut < out.size; cut++) /* a body that is short is never accepted */
        t_check_int(aclshmemi_store_message_decode(out.data, cut, &again), ACLSHMEMI_STORE_BAD_REQUEST);
    aclshmemi_writer_fini(&out);
}

static void test_other_version_shows_itself(void **state)
{
    const uint8_t body[] = {'A', 'S', 'H', 'M', 9, 0, 1, 2, 3}; /* whatever follows in that version */
    aclshmemi_store_hello_t hello;
    (void)state;
    t_check_int(aclshmemi_store_hello_decode(body, sizeof body, &hello), 0);
    t_check_uint(hello.version, 9);
    t_check_int(aclshmemi_store_hello_decode(body, 5, &hello), ACLSHMEMI_STORE_BAD_REQUEST);
}

static void test_texts_of_peers_are_printable(void **state)
{
    aclshmemi_store_note_t note = {.kind = 1, .text = "a\nb\x1b[31mc"}, again;
    aclshmemi_writer_t out;
    (void)state;
    aclshmemi_writer_init(&out, 1000);
    aclshmemi_store_note_encode(&note, &out);
    t_check_int(aclshmemi_store_note_decode(out.data, out.size, &again), 0);
    t_check_text(again.text, "a?b?[31mc");
    aclshmemi_writer_fini(&out);
}

static void test_pieces_have_the_size_they_claim(void **state)
{
    uint8_t body[ACLSHMEMI_STORE_PIECE_PREFIX + 24] = {0};
    const struct {
        uint32_t bytes, count;
        size_t size;
        bool up, good;
    } cases[] = {{4, 3, 24, true, true},          {4, 3, 12, false, true},
                 {4, 3, 23, true, false},         {4, 3, 24, false, false},
                 {0, 3, 12, true, false},         {4, 0, 0, true, false},
                 {UINT32_MAX, 1, 3, true, false}, {1u << 31, 1u << 31, 0, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        aclshmemi_store_piece_t piece = {.bytes = cases[i].bytes, .count = cases[i].count}, again;
        aclshmemi_store_piece_encode(&piece, body);
        int rc = aclshmemi_store_piece_decode(body, ACLSHMEMI_STORE_PIECE_PREFIX + cases[i].size, cases[i].up,
                                              &again);
        t_check_int(rc == 0, cases[i].good);
    }
}

/* No chunk of any job makes a frame that is too long. */
static void test_chunks_fit_into_frames(void **state)
{
    (void)state;
    for (int n_pes = 1; n_pes <= 16384; n_pes++) {
        uint64_t bytes = aclshmemi_store_chunk_bytes(n_pes);
        t_check(bytes >= 1);
        t_check(ACLSHMEMI_STORE_PIECE_PREFIX + (uint64_t)n_pes * (bytes + 4) <= ACLSHMEMI_STORE_BODY_MAX);
    }
}

int main(int argc, char **argv)
{
    pes_setup(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_layout),
        cmocka_unit_test(test_message_layout),
        cmocka_unit_test(test_other_version_shows_itself),
        cmocka_unit_test(test_texts_of_peers_are_printable),
        cmocka_unit_test(test_pieces_have_the_size_they_claim),
        cmocka_unit_test(test_chunks_fit_into_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
