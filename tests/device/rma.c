/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put and get of kernels: every call of every type, sizes around the borders of the scratch's halves, all alignments, rows
 * and strides that do and do not fit, many calls in a row, many cores, and what each mistake is called.
 */
#include "rma.h"

#include "moves.h"

typedef struct type {
    const char *kernel;
    uint64_t bytes;
    bool sized;
} type_t;

static const type_t types[] = {{"rma_half", 2, false},     {"rma_float", 4, false},  {"rma_double", 8, false},
                               {"rma_int8", 1, false},     {"rma_int16", 2, false},  {"rma_int32", 4, false},
                               {"rma_int64", 8, false},    {"rma_uint8", 1, false},  {"rma_uint16", 2, false},
                               {"rma_uint32", 4, false},   {"rma_uint64", 8, false}, {"rma_char", 1, false},
                               {"rma_bfloat16", 2, false}, {"rma_8", 1, true},       {"rma_16", 2, true},
                               {"rma_32", 4, true},        {"rma_64", 8, true},      {"rma_128", 16, true}};
enum { TYPES = sizeof types / sizeof types[0] };

/* In checked mode every piece of every copy is compared with those before it: small transfers are enough there. */
static bool briefly;

static const call_t plain = {.dst_step = 1, .src_step = 1, .times = 1};

/* Every call once or twice for every type: the scratch has two halves of 64 bytes. */
static void every_call(const type_t *type, int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.scratch_at = 1024;
    call.scratch_bytes = 128;
    call.flag = 5;
    for (int op = OP_PUT; op < OPS; op++) {
        bool rows = op == OP_PUT_ROWS || op == OP_GET_ROWS, strided = op == OP_IPUT || op == OP_IGET;
        if (type->sized && (rows || op == OP_P || op == OP_G))
            continue;
        call.op = (operation_t)op;
        call.count = rows ? 0 : 37;
        call.repeat = 6;
        call.length = 5;
        call.dst_step = rows ? 7 : strided ? 3 : 1;
        call.src_step = rows ? 9 : strided ? 2 : 1;
        moves_check(type->kernel, 1, call, 64, 128, type->bytes, rows);
        call.count = 0;
        call.repeat = 0;
        moves_check(type->kernel, 1, call, 64, 128, type->bytes, rows);
    }
}

static void sizes(int pe)
{
    static const uint64_t halves[] = {32, 64, 512};
    call_t call = plain;
    call.pe = pe;
    for (size_t h = 0; h < sizeof halves / sizeof halves[0]; h += briefly ? 2 : 1)
        for (uint64_t k = 0; k <= 4; k++)
            for (int64_t off = -1; off <= 1; off++)
                for (int op = OP_PUT; op <= OP_GET_NBI; op++) {
                    if (k == 0 && off < 0)
                        continue;
                    call.op = (operation_t)op;
                    call.count = k * halves[h] + (uint64_t)off;
                    call.scratch_bytes = (uint32_t)halves[h] * 2;
                    moves_check("rma_mem", 1, call, 33, 7, 1, false);
                    moves_check("rma_int32", 1, call, 32, 8, 4, false);
                }
    if (briefly)
        return;
    call.scratch_bytes = 0; /* the default, and more than it holds */
    for (uint64_t count = 8191; count < 60000; count += 8191) {
        call.op = OP_PUT;
        call.count = count;
        moves_check("rma_mem", 1, call, 1, 2, 1, false);
        call.op = OP_GET_NBI;
        moves_check("rma_mem", 1, call, 2, 1, 1, false);
    }
    for (uint32_t bytes = 32; bytes <= 128; bytes += 16) { /* one half, two, and a rest */
        call.op = OP_PUT;
        call.count = 777;
        call.scratch_bytes = bytes;
        moves_check("rma_mem", 1, call, 3, 5, 1, false);
    }
}

static void alignments(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.scratch_bytes = 64;
    for (uint64_t dst = 0; dst < 33; dst += briefly ? 11 : 3)
        for (uint64_t src = 0; src < 33; src += 4)
            for (int op = OP_PUT; op <= OP_GET; op++) {
                call.op = (operation_t)op;
                call.count = 1 + dst + 2 * src;
                moves_check("rma_mem", 1, call, dst, src, 1, false);
                moves_check("rma_128", 1, call, dst, src, 16, false);
            }
}

static void rows_and_strides(int pe)
{
    static const struct {
        uint32_t repeat, length, src_ld, dst_ld;
    } shapes[] = {{1, 1, 1, 1},    {1, 700, 700, 800}, {40, 1, 3, 2}, {9, 16, 16, 16},      {9, 16, 16, 20},
                  {9, 17, 20, 17}, {3, 700, 701, 900}, {2, 0, 5, 5},  {300, 2, 2, 5},       {4500, 1, 2, 3},
                  {7, 33, 33, 64}, {5, 32, 64, 96},    {65, 8, 9, 8}, {2, 4096, 4100, 4096}};
    call_t call = plain;
    call.pe = pe;
    for (uint32_t scratch = 64; scratch <= 4096; scratch *= 8)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (int op = OP_PUT_ROWS; op <= OP_GET_ROWS; op++) {
                if (briefly && shapes[i].repeat * shapes[i].length > 200)
                    continue;
                call.op = (operation_t)op;
                call.scratch_bytes = scratch;
                call.repeat = shapes[i].repeat;
                call.length = shapes[i].length;
                call.src_step = shapes[i].src_ld;
                call.dst_step = shapes[i].dst_ld;
                moves_check("rma_int32", 1, call, 12, 20, 4, true);
                moves_check("rma_uint8", 1, call, 3, 5, 1, true);
            }
    for (int64_t dst = 1; dst <= 4; dst++)
        for (int64_t src = 1; src <= 4; src++)
            for (uint64_t count = 1; count <= (briefly ? 60 : 5000); count = count * 7 + 1)
                for (int op = OP_IPUT; op <= OP_IGET; op++) {
                    call.op = (operation_t)op;
                    call.scratch_bytes = count % 2 != 0 ? 0 : 256;
                    call.count = count;
                    call.dst_step = dst;
                    call.src_step = src;
                    moves_check("rma_int16", 1, call, 2, 4, 2, false);
                    moves_check("rma_32", 1, call, 3, 5, 4, false);
                }
}

/* Calls that follow one another without a wait share the scratch; some of the pieces are as small as it gets. */
static void one_after_the_other(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.times = briefly ? 6 : 50;
    for (uint32_t scratch = 32; scratch <= 256; scratch *= 2)
        for (uint64_t count = 1; count < 300; count = count * 3 + 2)
            for (int op = OP_PUT_NBI; op <= OP_GET_NBI; op++) {
                call.op = (operation_t)op;
                call.scratch_bytes = scratch;
                call.count = count;
                call.advance = count + 3;
                moves_check("rma_mem", 1, call, 5, 9, 1, false);
            }
    call.op = OP_PUT_ROWS;
    call.repeat = 3;
    call.length = 5;
    call.src_step = 6;
    call.dst_step = 8;
    call.advance = 128;
    call.times = 20;
    call.scratch_bytes = 64;
    moves_check("rma_int32", 1, call, 0, 4, 4, true);
    call.op = OP_GET_ROWS;
    moves_check("rma_int32", 1, call, 0, 4, 4, true);
}

static void many_cores(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.count = briefly ? 7001 : 70001;
    for (uint32_t blocks = 1; blocks <= 12; blocks += 5)
        for (int op = OP_PUT_NBI; op <= OP_GET_NBI; op++) {
            call.op = (operation_t)op;
            moves_check("rma_shares", blocks, call, 3, 1, 1, false);
        }
}

/* Who waits for the word sees the data, whether he spins or sleeps by then. */
static void data_before_flag(void)
{
    enum { ROUNDS = 12, BYTES = 20000 };
    int n = aclshmem_n_pes(), me = aclshmem_my_pe(), before = (me + n - 1) % n;
    int32_t *word = aclshmem_calloc(1, sizeof *word);
    CHECK(word != NULL);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        call_t call = plain;
        struct {
            call_t *call;
            int32_t *word;
        } args = {&call, word};
        call.pe = (me + 1) % n;
        call.dst = moves_target();
        call.src = moves_source + round;
        call.count = BYTES;
        call.flag = round % 8;
        call.scratch_bytes = 1024;
        call.times = round;
        device_run("rma_flagged", 1, &args, sizeof args);
        aclshmem_int32_wait_until(word, ACLSHMEM_CMP_GE, (int32_t)round);
        const char *data = moves_targets + (size_t)before * ROOM;
        for (uint64_t i = 0; i < BYTES; i++)
            CHECK(data[i] == moves_byte(before, round + i));
        aclshmem_barrier_all();
    }
    aclshmem_free(word);
}

static void settings(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.count = 64 * 6;
    call.op = OP_PUT;
    moves_check("rma_settings", 6, call, 64, 128, 1, false);
    CHECK_INT(aclshmemx_set_mte_config(2048, 96, 7), 0);
    call.scratch_at = 2048;
    call.scratch_bytes = 96;
    call.flag = 7;
    call.count = 1000;
    moves_check("rma_settings_of_host", 1, call, 64, 128, 1, false);
    CHECK_INT(aclshmemx_set_mte_config(0, 16 << 10, 0), 0);
    call.scratch_at = 0;
    call.scratch_bytes = 16 << 10;
    call.flag = 0;
    moves_check("rma_settings_of_host", 1, call, 64, 128, 1, false);
}

/* --- Mistakes --- */

static void wrong(const char *kernel, call_t call, const char *words)
{
    call_args_t args = {&call};
    device_fails(kernel, &args, sizeof args, words);
}

static void wrong_setting(const char *kernel, uint64_t offset, uint32_t bytes, uint32_t flag,
                          const char *words)
{
    struct {
        uint64_t offset;
        uint32_t bytes, flag;
    } args = {offset, bytes, flag};
    device_fails(kernel, &args, sizeof args, words);
}

static void mistakes_of_place(void)
{
    call_t call = plain;
    char words[128];
    call.count = 3;
    call.dst = moves_target();
    call.src = moves_source;
    for (int op = OP_PUT; op <= OP_GET; op++) {
        call.op = (operation_t)op;
        call.pe = aclshmem_n_pes();
        snprintf(words, sizeof words, "block 0 of 1: int32_%s: PE %d does not exist, there are %d",
                 op == OP_PUT ? "put" : "get", call.pe, aclshmem_n_pes());
        wrong("rma_int32", call, words);
        call.pe = -1;
        wrong("rma_int32", call, "PE -1 does not exist");
    }
    call.pe = 0;
    call.op = OP_PUT;
    call.dst = moves_local;
    snprintf(words, sizeof words, "putmem to PE 0: 3 bytes at %p are not in the symmetric heap",
             (void *)moves_local);
    wrong("rma_mem", call, words);
    call.op = OP_P;
    wrong("rma_float", call, "float_p to PE 0: 4 bytes at");
    call.dst = moves_target();
    call.count = UINT64_MAX; /* 8 times that is no number */
    call.op = OP_PUT_NBI;
    wrong("rma_64", call, "put64_nbi to PE 0: 18446744073709551615 bytes at");
    call.count = (uint64_t)1 << 40;
    wrong("rma_mem", call, "are not in the symmetric heap");
    call.count = 3;
    call.op = OP_GET;
    call.src = moves_local;
    wrong("rma_mem", call, "getmem to PE 0");
    call.op = OP_G;
    call.src = moves_source + 1;
    wrong("rma_int32", call, "is not aligned to the 4 bytes of an element");
}

static void mistakes_of_shape(void)
{
    call_t call = plain;
    call.dst = moves_target();
    call.src = moves_source;
    call.repeat = 2;
    call.length = 8;
    call.src_step = 7;
    call.dst_step = 8;
    call.op = OP_PUT_ROWS;
    wrong("rma_int32", call,
          "int32_put_nbi_rows to PE 0: rows of 8 elements start 7 apart in the source and 8 in the");
    call.src_step = 8;
    call.dst_step = 7;
    call.op = OP_GET_ROWS;
    wrong("rma_float", call, "so they overlap");
    call.dst_step = 8;
    call.repeat = UINT32_MAX;
    wrong("rma_double", call, "are not in the symmetric heap");
    wrong("rma_no_rows", call, "int32_put_nbi_rows to PE 0: the description of the rows is NULL");
    call.count = 4;
    call.op = OP_IPUT;
    call.src_step = 0;
    wrong("rma_int16", call, "int16_iput to PE 0: strides are 8 in dest and 0 in source, at least 1");
    call.src_step = 1;
    call.dst_step = -2;
    wrong("rma_16", call, "iput16 to PE 0: strides are -2 in dest");
    call.dst_step = INT64_MAX;
    wrong("rma_16", call, "are not in the symmetric heap");
}

static void mistakes_of_scratch(void)
{
    call_t call = plain;
    wrong_setting("rma_set_mte", 0, 31, 0,
                  "set_mte_config: 31 bytes of scratch for MTE, at least 32 are needed");
    wrong_setting("rma_set_mte", 16, 64, 0, "at 16 of the unified buffer, which is no multiple of 32");
    wrong_setting("rma_set_mte", 0, 1u << 30, 0, "scratch for MTE of 1073741824 bytes at 0 of the unified");
    wrong_setting("rma_set_mte", UINT64_MAX - 31, 64, 0, "of the unified buffer, which has");
    wrong_setting("rma_set_mte", 0, 64, 8, "flag 8 for MTE, 0 to 7 are allowed");
    wrong_setting("rma_set_sdma", 0, 63, 0, "set_sdma_config: 63 bytes of scratch for SDMA");
    wrong_setting("rma_set_sdma", 32, 64, 0, "no multiple of 64");
    wrong_setting("rma_set_udma", 0, 127, 0, "set_udma_config: 127 bytes of scratch for UDMA");
    wrong_setting("rma_set_udma", 0, 128, 9, "flag 9 for UDMA");
    (void)call;
}

int main(int argc, char **argv)
{
    briefly = argc > 1 && strcmp(argv[1], "briefly") == 0;
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    moves_begin();
    int pes[3], count = moves_pes(pes);
    for (int i = 0; i < count; i++) {
        for (int t = 0; t < TYPES; t++)
            every_call(&types[t], pes[i]);
        if (count == 3 && i != 1)
            continue; /* the rest to one neighbour is enough where many share the processors */
        sizes(pes[i]);
        alignments(pes[i]);
        rows_and_strides(pes[i]);
        one_after_the_other(pes[i]);
        many_cores(pes[i]);
        settings(pes[i]);
    }
    data_before_flag();
    mistakes_of_place();
    mistakes_of_shape();
    mistakes_of_scratch();
    moves_end();
    pe_finalize();
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
