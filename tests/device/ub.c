/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put from and get into the unified buffer for every type, MTE by name with its scratch, the macros that pick a form, and
 * what mistakes with the buffer are called.
 */
#include "moves.h"

typedef struct type {
    const char *kernel;
    uint64_t bytes;
} type_t;

static const type_t types[] = {{"ub_half", 2},    {"ub_float", 4},  {"ub_double", 8}, {"ub_int8", 1},
                               {"ub_int16", 2},   {"ub_int32", 4},  {"ub_int64", 8},  {"ub_uint8", 1},
                               {"ub_uint16", 2},  {"ub_uint32", 4}, {"ub_uint64", 8}, {"ub_char", 1},
                               {"ub_bfloat16", 2}};
enum { TYPES = sizeof types / sizeof types[0] };

static bool briefly; /* see rma.c */

static call_t plain = {
    .dst_step = 1, .src_step = 1, .times = 1, .ub_at = 1024, .ub_bytes = 32 << 10, .flag = 3};

static void blocks_of_every_type(int pe)
{
    call_t call = plain;
    call.pe = pe;
    for (int t = 0; t < TYPES; t++)
        for (uint64_t count = 0; count <= (briefly ? 100 : 3000); count = count * 4 + 1)
            for (int op = OP_PUT_UB; op <= OP_GET_UB; op++) {
                call.op = (operation_t)op;
                call.count = count;
                moves_check(types[t].kernel, 1, call, 8 + count % 3 * types[t].bytes, 16, types[t].bytes,
                            false);
            }
}

static void rows_of_every_type(const char *kernel, uint64_t element, int pe)
{
    static const struct {
        uint32_t repeat, length, ub_ld,
            memory_ld; /* the first two and the last in elements, ub_ld in 32 bytes */
    } shapes[] = {{1, 1, 1, 1}, {2, 1, 1, 1}, {3, 4, 2, 9}, {7, 3, 5, 3},
                  {5, 4, 1, 4}, {0, 3, 5, 3}, {4, 0, 2, 9}};
    call_t call = plain;
    call.pe = pe;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int op = OP_PUT_UB_ROWS; op <= OP_GET_UB_ROWS; op++) {
            uint32_t ub_ld = shapes[i].ub_ld * 32 / (uint32_t)element;
            call.op = (operation_t)op;
            call.repeat = shapes[i].repeat;
            call.length = shapes[i].length;
            call.src_step = op == OP_PUT_UB_ROWS ? ub_ld : shapes[i].memory_ld;
            call.dst_step = op == OP_PUT_UB_ROWS ? shapes[i].memory_ld : ub_ld;
            moves_check(kernel, 1, call, 24, 40, element, true);
        }
}

/* More rows than one instruction takes. */
static void many_rows(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.ub_at = 0;
    call.ub_bytes = 160 << 10;
    call.repeat = 4500;
    call.length = 1;
    call.src_step = 2;
    call.dst_step = 4; /* 32 bytes */
    call.op = OP_GET_UB_ROWS;
    /* The pieces of the buffer go to where they were: the destination is as long as the buffer. */
    call.repeat = 2500;
    call.ub_bytes = 2500 * 32;
    moves_check("ub_int64", 1, call, 0, 8, 8, true);
}

static void by_name(const char *kernel, int pe)
{
    call_t call = plain;
    call.pe = pe;
    static const operation_t moves[] = {OP_PUT_NBI,      OP_GET_NBI,          OP_MTE_PUT_HINT,
                                        OP_MTE_GET_HINT, OP_MTE_PUT_HINT_CFG, OP_MTE_GET_HINT_CFG};
    int forms = strcmp(kernel, "mte_mem") == 0 ? 6 : 4;
    for (uint32_t bytes = briefly ? 128 : 32; bytes <= 96 << 10; bytes *= 8)
        for (int i = 0; i < forms; i++)
            for (uint64_t count = 0; count < (briefly ? 200 : 6000); count = count * 5 + 3) {
                call.op = moves[i];
                call.count = count;
                call.ub_bytes = bytes;
                moves_check(kernel, 1, call, 20, 12, 4, false);
            }
    call.ub_bytes = plain.ub_bytes;
    for (int op = OP_PUT_UB; op <= OP_GET_UB; op++) {
        call.op = (operation_t)op;
        call.count = 333;
        moves_check(kernel, 1, call, 20, 12, 4, false);
    }
    rows_of_every_type(kernel, 4, pe);
    for (uint32_t bytes = 64; bytes <= 4096; bytes *= 8)
        for (int op = OP_PUT_ROWS; op <= OP_GET_ROWS; op++) {
            call.op = (operation_t)op;
            call.ub_bytes = bytes;
            call.repeat = 50;
            call.length = 11;
            call.src_step = 12;
            call.dst_step = 17;
            moves_check(kernel, 1, call, 20, 12, 4, true);
        }
}

static void one_after_the_other(int pe)
{
    call_t call = plain;
    call.pe = pe;
    call.times = briefly ? 6 : 40;
    call.count = 33;
    call.advance = 35;
    for (uint32_t bytes = 32; bytes <= 128; bytes *= 2)
        for (int op = OP_PUT_NBI; op <= OP_GET_NBI; op++) {
            call.op = (operation_t)op;
            call.ub_bytes = bytes;
            moves_check("mte_mem", 1, call, 20, 12, 1, false);
        }
    call.op = OP_PUT_UB;
    call.times = 3; /* the parts of the kernel, behind one another */
    call.count = call.advance = 64;
    moves_check("ub_then_scratch", 1, call, 0, 0, 1, false);
}

/* --- Mistakes --- */

static void wrong(const char *kernel, call_t call, const char *words)
{
    call_args_t args = {&call};
    device_fails(kernel, &args, sizeof args, words);
}

static void mistakes(void)
{
    call_t call = plain;
    call.dst = moves_target();
    call.src = moves_source;
    call.element = 4;
    call.op = OP_GET_UB;
    call.ub_bytes = 0;
    call.count = 100000;
    wrong("ub_int32", call,
          "int32_get_nbi_ub to PE 0: 400000 bytes at 1024 of the unified buffer, which has");
    call.ub_at = 1028;
    call.count = 4;
    wrong("ub_int32", call, "address 1028 of the unified buffer is no multiple of 32");
    call.op = OP_GET_UB_ROWS;
    call.ub_at = 1024;
    call.repeat = 3;
    call.length = 4;
    call.src_step = 4;
    call.dst_step = 12;
    wrong("ub_int32", call, "rows start 48 bytes apart in the unified buffer, which is no multiple of 32");
    call.dst_step = 1 << 15;
    wrong("ub_int32", call, "of the unified buffer, which has");
    call.dst_step = 3;
    wrong("ub_int32", call, "so they overlap");
    call.op = OP_GET_UB;
    call.pe = aclshmem_n_pes() + 5;
    wrong("ub_int32", call, "does not exist");
    call.pe = 0;
    call.src = moves_local;
    wrong("mte_mem", call, "mte_getmem_nbi_ub to PE 0: 16 bytes at");
    call.src = moves_source;
    call.op = OP_PUT_NBI;
    call.ub_bytes = 31;
    wrong("mte_mem", call, "mte_putmem_nbi: 31 bytes of scratch for MTE, at least 32 are needed");
    call.ub_bytes = 64;
    call.element = 65;
    wrong("mte_mem", call, "mte_putmem_nbi: 64 bytes of scratch for elements of 65");
    call.element = 4;
    call.flag = 8;
    wrong("mte_mem", call, "flag 8 for MTE, 0 to 7 are allowed");
    call.flag = 1;
    call.ub_at = 1 << 20;
    wrong("mte_mem", call, "scratch for MTE of 64 bytes at 1048576 of the unified buffer");
    call.ub_at = 0;
    call.op = OP_GET_ROWS;
    call.length = 5;
    call.src_step = 4;
    call.dst_step = 5;
    wrong("mte_macros", call, "mte_getmem_nbi_rows to PE 0: rows of 5 elements start 4 apart");
}

int main(int argc, char **argv)
{
    briefly = argc > 1 && strcmp(argv[1], "briefly") == 0;
    if (briefly)
        plain.ub_bytes = 2 << 10; /* all of it is looked at for every call */
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    pe_init(8 << 20);
    moves_begin();
    int pes[3], count = moves_pes(pes);
    for (int i = 0; i < count; i++) {
        blocks_of_every_type(pes[i]);
        for (int t = 0; t < TYPES; t++)
            rows_of_every_type(types[t].kernel, types[t].bytes, pes[i]);
        if (count == 3 && i != 1)
            continue;
        if (!briefly)
            many_rows(pes[i]);
        by_name("mte_mem", pes[i]);
        by_name("mte_macros", pes[i]);
        one_after_the_other(pes[i]);
    }
    mistakes();
    moves_end();
    pe_finalize();
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
