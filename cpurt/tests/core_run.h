/* SPDX-License-Identifier: Apache-2.0 */
/* For tests whose kernels are in a binary that the command line names. */
#ifndef CPURT_TESTS_CORE_RUN_H
#define CPURT_TESTS_CORE_RUN_H

#include "support.h"

extern aclrtBinHandle core_binary;

/* Takes the path of the binary; false when there is none. */
bool core_arguments(int argc, char **argv);
/* Set-up of a test: device 0, and the binary. */
int core_begin(void **state);
void core_launch(const char *name, uint32_t blocks, const void *args, size_t bytes);
/* The same, and waits for it. */
void core_run(const char *name, uint32_t blocks, const void *args, size_t bytes);
/* 31 bits of a sequence of its own. */
uint64_t core_random(uint64_t *seed);

#endif
