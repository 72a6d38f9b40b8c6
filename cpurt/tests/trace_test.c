/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: a JSON file per process with what streams, cores, DMA queues and the program itself did. */
#include "support.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "acl/acl_cpu.h"
#include "aicore/aicore.h"

#define MANY_FILES 4

static char folder[64];

typedef _Atomic(uint32_t) word_t;

/* The first core waits for the host, and counts how often it has looked. */
ACL_KERNEL(waits_for_host, word_t *, words)
{
    if (aicore_block_index() == 0)
        while (atomic_load(&words[1]) == 0) {
            (void)atomic_fetch_add(&words[0], 1);
            aicore_poll(&words[1], 4);
        }
    aicore_sync_all();
}

/* --- Files --- */

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/acl-trace-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static size_t list_files(char names[MANY_FILES][320])
{
    DIR *const open = opendir(folder);
    size_t count = 0;

    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.' && count < MANY_FILES)
            (void)snprintf(names[count++], sizeof names[0], "%s/%s", folder, entry->d_name);
    (void)closedir(open);
    return count;
}

static int tear_down(void **state)
{
    char names[MANY_FILES][320];
    const size_t count = list_files(names);

    (void)state;
    for (size_t i = 0; i < count; i++)
        (void)unlink(names[i]);
    return rmdir(folder);
}

static void trace_to(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)setenv("SHMEM_TRACE", path, 1);
}

static json_t *parse(const char *path, const char *behind)
{
    static char text[4 << 20];
    FILE *const file = fopen(path, "re");
    json_error_t error;

    assert_non_null(file);
    const size_t length = fread(text, 1, sizeof text - 8, file);
    (void)fclose(file);
    (void)snprintf(text + length, 8, "%s", behind);
    json_t *const root = json_loads(text, 0, &error);
    if (root == NULL)
        print_error("%s, line %d: %s\n", path, error.line, error.text);
    assert_non_null(root);
    assert_true(json_is_array(root));
    return root;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *const text = json_string_value(json_object_get(event, key));

    return text != NULL ? text : "";
}

/* The first span after the given one, or any with NULL, of that category and name. */
static const json_t *find(const json_t *root, const char *category, const char *name)
{
    size_t i = 0;
    const json_t *event = NULL;

    json_array_foreach(root, i, event) if (strcmp(text_of(event, "ph"), "X") == 0 &&
                                           strcmp(text_of(event, "cat"), category) == 0 &&
                                           strcmp(text_of(event, "name"), name) == 0) return event;
    print_error("no span %s, %s\n", category, name);
    assert_true(false);
    return NULL;
}

static long long argument(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(event, "args"), key));
}

static void check_events(const json_t *root)
{
    size_t i = 0;
    const json_t *event = NULL;

    json_array_foreach(root, i, event)
    {
        assert_true(json_is_integer(json_object_get(event, "pid")));
        assert_true(json_is_integer(json_object_get(event, "tid")));
        if (strcmp(text_of(event, "ph"), "X") == 0) {
            assert_true(json_number_value(json_object_get(event, "ts")) > 0);
            assert_true(json_number_value(json_object_get(event, "dur")) >= 0);
        } else {
            assert_string_equal(text_of(event, "ph"), "M");
        }
    }
}

static bool has_row(const json_t *root, const char *name, const json_t *span)
{
    const long long row = json_integer_value(json_object_get(span, "tid"));
    size_t i = 0;
    const json_t *event = NULL;

    json_array_foreach(root, i, event) if (strcmp(text_of(event, "ph"), "M") == 0 &&
                                           json_integer_value(json_object_get(event, "tid")) == row &&
                                           strstr(text_of(json_object_get(event, "args"), "name"), name) !=
                                               NULL) return true;
    return false;
}

static bool inside(const json_t *inner, const json_t *outer)
{
    const double from = json_number_value(json_object_get(inner, "ts"));
    const double start = json_number_value(json_object_get(outer, "ts"));

    return from >= start && from + json_number_value(json_object_get(inner, "dur")) <=
                                start + json_number_value(json_object_get(outer, "dur")) + 0.01;
}

/* --- What is written --- */

static void use_streams(void)
{
    aclrtFuncHandle kernel = NULL;
    aclrtStream stream = NULL;
    word_t *words = NULL;
    void *memory = NULL;

    ok(aclrtCreateStream(&stream));
    ok(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    words = memory;
    ok(aclrtMemsetAsync(memory, 4096, 0, 4096, stream));
    ok(aclrtMemcpyAsync((char *)memory + 1024, 1000, memory, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    ok(aclrtSynchronizeStream(stream));
    const struct waits_for_host_args args = {words};
    ok(aclrtBinaryGetFunction(NULL, "waits_for_host", &kernel));
    ok(aclrtLaunchKernel(kernel, 2, &args, sizeof args, stream));
    fails(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "still has work");
    while (atomic_load(&words[0]) < 600) /* it has given its CPU away by then */
        (void)sched_yield();
    atomic_store(&words[1], 1);
    ok(aclrtSynchronizeStream(stream));
    ok(aclrtDestroyStream(stream));
    ok(aclrtFree(memory));
}

static void use_dma(void)
{
    aclcpuDmaQueue queue = NULL;
    aclcpuDmaQueueInfo info;
    char from[300], to[300];

    memset(from, 1, sizeof from);
    ok(aclcpuDmaQueueCreate(&queue, &info));
    info.ring[0] = (aclcpuDmaEntry){
        .kind = ACLCPU_DMA_COPY, .bytes = sizeof from, .source = (uintptr_t)from, .dest = (uintptr_t)to};
    aicore_doorbell_store(info.doorbell, 1);
    ok(aclcpuDmaQueueDestroy(queue));
}

static int worker(void *name)
{
    trace_to(name);
    if (t_begin(NULL) != 0)
        return 1;
    use_streams();
    use_dma();
    const uint64_t begin = aclcpuTraceBegin();
    aclcpuTraceEnd(begin, "mine", "a \"name\"\\ with\nall\tsorts \xc3\xa4", "bytes", UINT64_MAX / 4);
    aclcpuTraceEnd(0, "mine", "never", NULL, 0);
    if (begin == 0 || t_end(NULL) != 0)
        return 2;
    /* Started anew, it goes on in the same file. */
    if (t_begin(NULL) != 0)
        return 3;
    aclcpuTraceEnd(aclcpuTraceBegin(), "mine", "second life", NULL, 0);
    return t_end(NULL);
}

static void everything_is_there(void **state)
{
    char name[] = "t.json", files[MANY_FILES][320];

    (void)state;
    assert_int_equal(t_fork(worker, name), 0);
    assert_int_equal(list_files(files), 1);
    assert_non_null(strstr(files[0], "/t-")); /* -<pid> came in front of the extension */
    assert_string_equal(files[0] + strlen(files[0]) - 5, ".json");
    json_t *const root = parse(files[0], "");
    check_events(root);
    const json_t *const kernel = find(root, "kernel", "waits_for_host");
    const json_t *const core = find(root, "core", "waits_for_host");
    assert_int_equal(argument(kernel, "blocks"), 2);
    assert_true(has_row(root, "stream ", kernel));
    assert_true(inside(core, kernel));
    assert_true(inside(find(root, "wait", "wait for a word"), kernel));
    (void)find(root, "wait", "synchronise a stream");
    assert_int_equal(argument(find(root, "copy", "copy"), "bytes"), 1000);
    assert_int_equal(argument(find(root, "copy", "fill"), "bytes"), 4096);
    const json_t *const dma = find(root, "dma", "copy");
    assert_int_equal(argument(dma, "bytes"), 300);
    assert_true(has_row(root, "DMA queue 0 of device 0", dma));
    assert_true(argument(find(root, "mine", "a \"name\"\\ with\nall\tsorts \xc3\x83\xc2\xa4"), "bytes") ==
                (long long)(UINT64_MAX / 4));
    (void)find(root, "mine", "second life");
    json_decref(root);
}

static int off(void *argument)
{
    (void)argument;
    (void)unsetenv("SHMEM_TRACE");
    return t_begin(NULL) == 0 && aclcpuTraceBegin() == 0 && t_end(NULL) == 0 ? 0 : 1;
}

static void nothing_when_off(void **state)
{
    char files[MANY_FILES][320];

    (void)state;
    assert_int_equal(t_fork(off, NULL), 0);
    assert_int_equal(list_files(files), 0);
}

static int is_killed(void *argument)
{
    (void)argument;
    trace_to("killed-%p.json");
    if (t_begin(NULL) != 0)
        return 1;
    aclcpuTraceEnd(aclcpuTraceBegin(), "mine", "last words", NULL, 0);
    (void)raise(SIGKILL);
    return 2;
}

/* All it lacks is the bracket. */
static void a_killed_process_leaves_lines(void **state)
{
    char files[MANY_FILES][320];

    (void)state;
    assert_int_equal(t_fork(is_killed, NULL), -1);
    assert_int_equal(list_files(files), 1);
    json_t *const root = parse(files[0], "]");
    (void)find(root, "mine", "last words");
    json_decref(root);
}

/* The child of a fork that may use the runtime writes a file of its own, and leaves its parent's alone. */
static int forks(void *argument)
{
    uint32_t devices = 0;
    int status = 0;

    (void)argument;
    trace_to("f.json");
    if (aclrtGetDeviceCount(&devices) != ACL_SUCCESS)
        return 1;
    aclcpuTraceEnd(aclcpuTraceBegin(), "mine", "parent", NULL, 0);
    const pid_t child = fork();
    if (child == 0) {
        if (t_begin(NULL) != 0)
            exit(1);
        aclcpuTraceEnd(aclcpuTraceBegin(), "mine", "child", NULL, 0);
        exit(t_end(NULL));
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 2;
    aclcpuTraceEnd(aclcpuTraceBegin(), "mine", "parent again", NULL, 0);
    exit(0); /* without aclFinalize: the file is whole all the same */
}

static void one_file_per_process(void **state)
{
    char files[MANY_FILES][320];

    (void)state;
    assert_int_equal(t_fork(forks, NULL), 0);
    assert_int_equal(list_files(files), 2);
    json_t *first = parse(files[0], ""), *second = parse(files[1], "");
    if (json_array_size(first) > json_array_size(second)) { /* the parent has more to tell */
        json_t *const other = first;

        first = second;
        second = other;
    }
    (void)find(first, "mine", "child");
    (void)find(second, "mine", "parent");
    (void)find(second, "mine", "parent again");
    json_decref(first);
    json_decref(second);
}

static int refuses(const char *name, aclError wanted, const char *words)
{
    trace_to(name);
    if (aclInit(NULL) == wanted && strstr(aclGetRecentErrMsg(), words) != NULL)
        return 0;
    (void)fprintf(stderr, "%s: %s\n", name, aclGetRecentErrMsg());
    return 1;
}

static int wrong_names(void *argument)
{
    char path[128];

    (void)argument;
    (void)snprintf(path, sizeof path, "%s/link-%d", folder, (int)getpid());
    if (symlink("elsewhere", path) != 0 || refuses("link", ACL_ERROR_INVALID_FILE, "cannot write") != 0)
        return 1;
    (void)unlink(path);
    return refuses("%q", ACL_ERROR_INVALID_PARAM, "%p for the process") +
           refuses("none/t.json", ACL_ERROR_INVALID_FILE, "No such file");
}

static void wrong_names_are_refused(void **state)
{
    (void)state;
    assert_int_equal(t_fork(wrong_names, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_when_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_file_per_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_names_are_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
