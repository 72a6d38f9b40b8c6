/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the digits: gzip'd text, 64 pixels and a label per line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "digits.h"

enum { LINE_MAX_BYTES = 1024, PIXEL_MAX = 16, HELD_OUT = 5 };

/* One number and the separator behind it. */
static bool take_number(const char **at, long high, char separator, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(*at, &end, 10);
    if (end == *at || errno != 0 || *value < 0 || *value > high || *end != separator)
        return false;
    *at = end + (separator != '\0');
    return true;
}

static bool parse_line(const char *line, sample_t *sample)
{
    long value;
    for (int i = 0; i < PIXELS; i++) {
        if (!take_number(&line, PIXEL_MAX, ',', &value))
            return false;
        sample->pixel[i] = (double)value / PIXEL_MAX;
    }
    if (!take_number(&line, CLASSES - 1, '\0', &value))
        return false;
    sample->label = (int)value;
    return true;
}

static int append(sample_t **list, size_t *count, const sample_t *sample)
{
    if ((*count & (*count - 1)) == 0) { /* grows at powers of two */
        sample_t *more = realloc(*list, (*count == 0 ? 1 : 2 * *count) * sizeof **list);
        if (more == NULL)
            return -1;
        *list = more;
    }
    (*list)[(*count)++] = *sample;
    return 0;
}

static int read_lines(gzFile file, const char *path, dataset_t *data)
{
    char line[LINE_MAX_BYTES];
    sample_t sample;
    for (size_t number = 1; gzgets(file, line, sizeof line) != NULL; number++) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!parse_line(line, &sample)) {
            fprintf(stderr, "%s line %zu: expected 64 pixels 0..16 and a label 0..9, separated by commas\n",
                    path, number);
            return -1;
        }
        int rc = number % HELD_OUT == 0 ? append(&data->test, &data->n_test, &sample)
                                        : append(&data->train, &data->n_train, &sample);
        if (rc != 0) {
            fprintf(stderr, "%s line %zu: out of memory\n", path, number);
            return -1;
        }
    }
    int code;
    const char *reason = gzerror(file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        fprintf(stderr, "%s: %s\n", path, reason);
        return -1;
    }
    if (data->n_train == 0 || data->n_test == 0) {
        fprintf(stderr, "%s: too few samples, at least %d are needed\n", path, HELD_OUT);
        return -1;
    }
    return 0;
}

int dataset_load(const char *path, dataset_t *data)
{
    *data = (dataset_t){0};
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "cannot open %s: %s (name the file with --data)\n", path, strerror(errno));
        return -1;
    }
    int rc = read_lines(file, path, data);
    gzclose(file);
    if (rc != 0)
        dataset_free(data);
    return rc;
}

void dataset_free(dataset_t *data)
{
    free(data->train);
    free(data->test);
    *data = (dataset_t){0};
}
