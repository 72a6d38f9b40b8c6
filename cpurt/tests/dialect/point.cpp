/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in a file of its own. */
#include "kernel_operator.h"

#include "launches.h"

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void store_point(GM_ADDR memory, Point point,
                                                                                bool sum)
{
    __gm__ double *out = reinterpret_cast<__gm__ double *>(memory);
    out[0] = point.second;
    out[1] = sum ? point.first + point.third : 0;
    AscendC::printf("point %d\n", static_cast<int>(point.third));
}
