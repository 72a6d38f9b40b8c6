/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log's files. One per process, made with the first line, 0640 while open and 0440 afterwards, in a folder that
 * only its owner can write to. Of utils alone.
 */
#ifndef ACLSHMEMI_UTILS_LOG_FILE_H
#define ACLSHMEMI_UTILS_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aclshmemi_log_file_limits {
    uint64_t file_bytes; /* a line that would pass this goes to a new file */
    unsigned files;      /* older ones in the folder are removed */
    uint64_t free_bytes; /* with this little or less on the file system nothing is written */
} aclshmemi_log_file_limits_t;

/* Constant except for tests, which have no file system of 10 GiB to fill. */
extern aclshmemi_log_file_limits_t aclshmemi_log_file_limits;

typedef enum aclshmemi_log_file_result {
    ACLSHMEMI_LOG_FILE_WRITTEN,
    ACLSHMEMI_LOG_FILE_OFF, /* no file can be had: the line should go elsewhere */
    ACLSHMEMI_LOG_FILE_FULL /* the disk is (nearly) full: errors should go elsewhere */
} aclshmemi_log_file_result_t;

/* directory NULL: the default folder; unusable as text (empty, too long, with ".."): the same, and false. pattern
 * NULL: files named by us. Closes a present file if anything changes. */
bool aclshmemi_log_file_configure(const char *directory, const char *pattern);
aclshmemi_log_file_result_t aclshmemi_log_file_write(const char *line, size_t length, int pe);
void aclshmemi_log_file_close(void);

/* For fork(): nobody holds the lock across it, and the child starts a file of its own. */
void aclshmemi_log_file_lock(void);
void aclshmemi_log_file_unlock(void);
void aclshmemi_log_file_forget(void); /* in the child, lock held */

#endif
