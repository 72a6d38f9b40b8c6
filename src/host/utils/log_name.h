/* SPDX-License-Identifier: Apache-2.0 */
/* Names of log files and of the folders they lie in. Of utils alone. */
#ifndef ACLSHMEMI_UTILS_LOG_NAME_H
#define ACLSHMEMI_UTILS_LOG_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Not empty, not too long for a file behind it, no ".." in it. */
bool aclshmemi_log_name_usable(const char *directory);
/* shmem/log in the user's home, or in /tmp for users without one. */
void aclshmemi_log_name_default(char out[PATH_MAX]);
/* "dir/" and "dir/." would follow a link that "dir" does not. */
void aclshmemi_log_name_cut_trailing(char *path);
/* Fills in %h %p %P %j; false when the result does not fit. */
bool aclshmemi_log_name_expand(const char *pattern, int pe, char *out, size_t size);
/* Whether that is a log file of ours, from whichever process: with that base, or with names of our own (NULL). */
bool aclshmemi_log_name_matches(const char *name, const char *base);

#endif
