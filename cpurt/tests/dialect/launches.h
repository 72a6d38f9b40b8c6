/* SPDX-License-Identifier: Apache-2.0 */
/* A header that launches: a struct travels by value, and the kernel is defined in another file than main. */
#ifndef DIALECT_LAUNCHES_H
#define DIALECT_LAUNCHES_H

#define ACLSHMEM_TEST_MIXED extern "C" __global__ __aicore__

struct Point {
    int8_t first;
    double second;
    int16_t third;
};

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void store_point(GM_ADDR memory, Point point,
                                                                                bool sum);

inline void launch_point(aclrtStream stream, GM_ADDR memory, Point point)
{
    store_point<<<1, nullptr, stream>>>(memory, point, true);
}

#endif
