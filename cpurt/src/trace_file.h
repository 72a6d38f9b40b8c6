/* SPDX-License-Identifier: Apache-2.0 */
/* The file behind the timeline: its name, its brackets. All calls with the timeline's lock held. */
#ifndef CPURT_TRACE_FILE_H
#define CPURT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "acl/acl_base.h"

/* *opened: there is a file now, which *empty tells about. A process that opens it again goes on where it stopped. */
aclError cpurt_trace_file_open(bool *opened, bool *empty);
bool cpurt_trace_file_write(const char *bytes, size_t count); /* false: errno says why */
void cpurt_trace_file_close(void);                            /* with the bracket */
void cpurt_trace_file_forget(void);                           /* another process has it */

#endif
