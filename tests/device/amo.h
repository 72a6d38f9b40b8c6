/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a storm of atomics works on. */
#ifndef DEVICE_AMO_H
#define DEVICE_AMO_H

#include <stdint.h>

typedef struct storm {
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    int8_t i8[4];
    int16_t i16[2];
    uint16_t half[2];
    uint16_t bfloat16;
    uint32_t cas, who;
} storm_t;

#endif
