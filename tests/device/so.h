/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels and the host of the test of put with signal agree on. */
#ifndef DEVICE_SO_H
#define DEVICE_SO_H

enum { SO_BYTES = 2048 /* of a core's source and destination */ };

#endif
