/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to memory out of the buffer: by cores and processes at once, and what the 16-bit kinds round to. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aicore/aicore.h"
#include "core_run.h"

typedef struct {
    uint32_t element;
    const void *values;
    const void *negative; /* of the same size */
    void *sums;
    uint64_t bytes;
    uint32_t times, and_back;
} add_args_t;

enum { LANES = 48, BLOCKS = 16, TIMES = 8, AND_BACK = 200, PROCESSES = 2 };

typedef union lanes {
    uint8_t bytes[4 * LANES];
    int8_t int8[LANES];
    int16_t int16[LANES];
    int32_t int32[LANES];
    float real[LANES];
    uint16_t half[LANES];
} lanes_t;

/* Small whole numbers: exact in all kinds, and their sums as well. */
static void put_values(aicore_element_t element, lanes_t *lanes, int value)
{
    for (int i = 0; i < LANES; i++)
        switch (element) {
        case AICORE_ADD_INT8:
            lanes->int8[i] = (int8_t)value;
            break;
        case AICORE_ADD_INT16:
            lanes->int16[i] = (int16_t)value;
            break;
        case AICORE_ADD_INT32:
            lanes->int32[i] = value;
            break;
        case AICORE_ADD_FLOAT:
            lanes->real[i] = (float)value;
            break;
        case AICORE_ADD_HALF: /* 1.0, 256.0 and -1.0 */
            lanes->half[i] = value == 1 ? 0x3c00 : value == 256 ? 0x5c00 : 0xbc00;
            break;
        default:
            lanes->half[i] = value == 1 ? 0x3f80 : value == 256 ? 0x4380 : 0xbf80;
            break;
        }
}

static uint64_t lane_bytes(aicore_element_t element)
{
    const uint64_t sizes[] = {0, 1, 2, 4, 4, 2, 2};

    return sizes[element] * LANES;
}

static int add_in_a_process(void *argument)
{
    lanes_t *const sums = argument;

    if (core_begin(NULL) != 0)
        return 2;
    for (uint32_t element = AICORE_ADD_INT8; element <= AICORE_ADD_BFLOAT16; element++) {
        lanes_t values, negative;
        aclrtFuncHandle function = NULL;
        const add_args_t args = {
            element, &values, &negative, &sums[element], lane_bytes((aicore_element_t)element),
            TIMES,   AND_BACK};

        put_values((aicore_element_t)element, &values, 1);
        put_values((aicore_element_t)element, &negative, -1);
        if (aclrtBinaryGetFunction(core_binary, "core_add", &function) != ACL_SUCCESS ||
            aclrtLaunchKernel(function, BLOCKS, &args, sizeof args, NULL) != ACL_SUCCESS ||
            aclrtSynchronizeStream(NULL) != ACL_SUCCESS)
            return 3;
    }
    return t_end(NULL) == 0 ? 0 : 4;
}

/* 16 cores of each of two processes add to the same memory. */
static void adds_are_atomic(void **state)
{
    const size_t bytes = (AICORE_ADD_BFLOAT16 + 1) * sizeof(lanes_t);
    lanes_t *const sums = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];

    (void)state;
    assert_true(sums != MAP_FAILED);
    (void)fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(add_in_a_process(sums));
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    for (uint32_t element = AICORE_ADD_INT8; element <= AICORE_ADD_BFLOAT16; element++) {
        lanes_t expected;

        put_values((aicore_element_t)element, &expected, PROCESSES * BLOCKS * TIMES);
        assert_memory_equal(&sums[element], &expected, lane_bytes((aicore_element_t)element));
    }
    assert_int_equal(munmap(sums, bytes), 0);
}

static double value_of(uint16_t bits, int exponent_bits)
{
    const int digits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> digits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << digits) - 1);
    double value = 0.0;

    if (exponent == (1 << exponent_bits) - 1)
        value = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - digits);
    else
        value = ldexp(fraction + (1 << digits), exponent - bias - digits);
    return (bits & 0x8000) != 0 ? -value : value;
}

/* The exact sum, rounded to a whole number of the steps that values of its size come in. */
static double rounded_sum(uint16_t a, uint16_t b, int exponent_bits)
{
    const int digits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const double sum = value_of(a, exponent_bits) + value_of(b, exponent_bits);
    int exponent = 0;

    if (!isfinite(sum) || sum == 0.0)
        return sum;
    (void)frexp(sum, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double result = ldexp(rint(ldexp(sum, digits - exponent)), exponent - digits);
    return fabs(result) >= ldexp(1.0, bias + 1) ? copysign((double)INFINITY, sum) : result;
}

static void check_sums(aicore_element_t element, int exponent_bits)
{
    enum { PAIRS = 8192 };
    static uint16_t left[PAIRS], right[PAIRS], sums[PAIRS];
    static const uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0x7c00,
                                       0xfc00, 0x7e00, 0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0x3c00, 0x3f80};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    uint64_t seed = 77;

    for (int i = 0; i < PAIRS; i++) {
        left[i] = i < SPECIAL * SPECIAL ? special[i / SPECIAL] : (uint16_t)core_random(&seed);
        right[i] = i < SPECIAL * SPECIAL ? special[i % SPECIAL] : (uint16_t)core_random(&seed);
        /* Of similar size, so that digits are lost at the end and ties are met. */
        if (i >= SPECIAL * SPECIAL && i % 4 != 0)
            right[i] = (uint16_t)((left[i] & 0x7c00) ^ (right[i] & 0x87ff));
    }
    memcpy(sums, left, sizeof sums);
    const add_args_t args = {element, right, right, sums, sizeof sums, 1, 0};
    core_run("core_add", 1, &args, sizeof args);
    for (int i = 0; i < PAIRS; i++) {
        const double wanted = rounded_sum(left[i], right[i], exponent_bits),
                     got = value_of(sums[i], exponent_bits);

        /* Equal values have equal bits but for zeroes, and for what is no number. */
        if (isnan(wanted) ? !isnan(got) : wanted != got)
            fail_msg("%04x + %04x is %04x, %g instead of %g", left[i], right[i], sums[i], got, wanted);
    }
}

static void sums_round_to_nearest_even(void **state)
{
    (void)state;
    check_sums(AICORE_ADD_HALF, 5);
    check_sums(AICORE_ADD_BFLOAT16, 8);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_are_atomic), /* forks, so before anything else */
        cmocka_unit_test_setup_teardown(sums_round_to_nearest_even, core_begin, t_end),
    };

    if (!core_arguments(argc, argv))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
