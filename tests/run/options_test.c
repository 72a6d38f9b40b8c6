/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: every option has an effect or is refused with a reason, wrong ones are answered with the nearest
 * right one, and the variables mean the same.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_support.h"

static void usage_errors(void **state)
{
    (void)state;
    static const struct {
        const char *words[6];
        const char *text;
    } rows[] = {
        {{"--tmieout", "3", "true"}, "unknown option --tmieout; did you mean --timeout?"},
        {{"--keepgoing", "true"}, "did you mean --keep-going?"},
        {{"--host-file", "x", "true"}, "did you mean --hostfile?"},
        {{"--outptu=x", "true"}, "did you mean --output?"},
        {{"-q", "true"}, "unknown option -q"},
        {{"--utterly-different", "true"}, "unknown option --utterly-different; --help all lists them"},
        {{NULL}, "no program given"},
        {{"-n", "2"}, "no program given"},
        {{"-n"}, "option -n needs a value"},
        {{"-n", "0", "true"}, "-n: \"0\" is not allowed; N is a number, 1..16384"},
        {{"-n", "-1", "true"}, "-n: \"-1\" is not allowed"},
        {{"-n", "2x", "true"}, "-n: \"2x\" is not allowed"},
        {{"-n", "", "true"}, "-n: \"\" is not allowed"},
        {{"-n", "16385", "true"}, "1..16384"},
        {{"-n", "99999999999999999999", "true"}, "1..16384"},
        {{"-n", "16384", "true", ":", "true"}, "16385 PEs are too many"},
        {{"--timeout", "soon", "true"}, "--timeout: \"soon\" is not allowed"},
        {{"--timeout", "1e3", "true"}, "is not allowed"},
        {{"--grace", "-1", "true"},
         "--grace: \"-1\" is not allowed; S is a number, 0..86400, fractions allowed"},
        {{"--restart", "x", "true"}, "--restart: \"x\" is not allowed"},
        {{"--tee=perhaps", "true"}, "--tee: perhaps is not allowed; give 1 or 0"},
        {{"--map", "tree", "true"}, "--map: \"tree\" is not allowed; slot|node is one of slot|node"},
        {{"--bind", "socket", "true"},
         "--bind: \"socket\" is not allowed; give none, core, numa or cpu-list:"},
        {{"--bind", "cpu-list:", "true"}, "--bind cpu-list: \"\" is not allowed"},
        {{"--bind", "cpu-list:0-", "true"}, "is not allowed"},
        {{"--bind", "cpu-list:3000", "true"}, "is not allowed; give numbers like 0,2,4-7 out of"},
        {{"--mem", "lots", "true"}, "--mem: \"lots\" is not allowed"},
        {{"--mem", "1K", "true"}, "--mem: \"1K\" is not allowed"},
        {{"--mem", "1GB", "true"}, "--mem: \"1GB\" is not allowed"},
        {{"--gdb=0,9", "-n", "2", "true"}, "--gdb: \"0,9\" is no list of PEs from 0 to 1"},
        {{"--valgrind=x", "true"}, "--valgrind: \"x\" is no list of PEs"},
        {{"--wrap", "7:nice", "-n", "2", "true"}, "--wrap: \"7\" is no list of PEs from 0 to 1"},
        {{"--wrap", "'nice", "true"}, "is a quote missing?"},
        {{"--wdir", "/no/such", "true"}, "--wdir: /no/such is not a folder we may enter"},
        {{"-x", "=1", "true"}, "-x: \"=1\" is not allowed; give NAME or NAME=VALUE"},
        {{"-x", "SHMEM_PE=1", "true"}, "-x: SHMEM_PE is set by aclshmemrun itself"},
        {{"-x", "PMI_FD=1", "true"}, "-x: PMI_FD is set by aclshmemrun itself"},
        {{"--status=me"}, "--status: \"me\" is not allowed"},
        {{"--help=some"}, "--help: \"some\" is not allowed"},
        {{"true", ":"}, "no program given beside a colon"},
        {{":", "true"}, "no program given beside a colon"},
        {{"true", ":", "-n", "2", ":"}, "no program given beside a colon"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *argv[8] = {NULL};
        for (int k = 0; k < 6 && rows[i].words[k]; k++)
            argv[k + 1] = (char *)(uintptr_t)rows[i].words[k];
        result_t r = run_words(NULL, argv);
        assert_code(r, 2);
        assert_has(r.err, rows[i].text);
        assert_int_equal(run_count(r.err, "\n"), 1);
        assert_string_equal(r.out, "");
        run_free(&r);
    }
}

/* One host is all this version has; whatever needs more is refused, and nothing else is. */
static void hosts(void **state)
{
    (void)state;
    char host[256], own[300], file[] = "/tmp/run-hosts-XXXXXX";
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    static const char *const refused[] = {"elsewhere", "localhost,elsewhere:2", "node[01-04,7]", "192.0.2.1",
                                          "[2001:db8::1]:2"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        result_t r = run_job(NULL, "-n", "2", "-H", refused[i], "true", NULL);
        assert_code(r, 2);
        assert_has(r.err, "several hosts are not available in this version");
        run_free(&r);
    }
    static const char *const wrong[] = {"localhost:x", "localhost:0", "[::1",  "node[1-",
                                        "node[3-1]",   ":4",          "node[]"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        result_t r = run_job(NULL, "-n", "2", "-H", wrong[i], "true", NULL);
        assert_code(r, 2);
        assert_has(r.err, "is not understood");
        run_free(&r);
    }
    snprintf(own, sizeof(own), "%s:2,127.0.0.1,localhost:3", host);
    result_t r = run_job(NULL, "--host", own, "echo", "here", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "here\n"), 6); /* slots are counted */
    run_free(&r);
    int fd = mkstemp(file);
    assert_true(fd >= 0 &&
                dprintf(fd, "# all here\nlocalhost slots=2 max-slots=4\n\n  %s:1 # one more\n", host) > 0);
    r = run_job(NULL, "--hostfile", file, "echo", "here", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "here\n"), 3);
    run_free(&r);
    assert_true(pwrite(fd, "localhost slots=2 max-slots=3  \n", 32, 0) == 32 && ftruncate(fd, 32) == 0);
    r = run_job(NULL, "-f", file, "-n", "3", "true", NULL);
    assert_code(r, 0);
    run_free(&r);
    r = run_job(NULL, "-f", file, "-n", "4", "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "4 PEs are more than max-slots of this host allows (3)");
    run_free(&r);
    assert_true(lseek(fd, 0, SEEK_END) == 32 && dprintf(fd, "elsewhere slots=2\n") > 0);
    r = run_job(NULL, "-f", file, "-n", "1", "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "names host elsewhere");
    run_free(&r);
    assert_true(pwrite(fd, "local slots=many\n", 17, 0) == 17 && ftruncate(fd, 17) == 0);
    r = run_job(NULL, "-f", file, "-n", "1", "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "\"slots=many\" is not understood");
    run_free(&r);
    close(fd);
    unlink(file);
    r = run_job(NULL, "-f", file, "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "cannot read");
    run_free(&r);
}

static void allocation_with_other_hosts_is_not_ignored(void **state)
{
    (void)state;
    setenv("SLURM_JOB_NODELIST", "node[01-04]", 1);
    result_t r = run_job(NULL, "-n", "2", "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "SLURM_JOB_NODELIST names host node01");
    assert_has(r.err, "--host localhost");
    run_free(&r);
    r = run_job(NULL, "-n", "2", "--host", "localhost", "true", NULL);
    assert_code(r, 0);
    run_free(&r);
    setenv("SLURM_JOB_NODELIST", "localhost", 1);
    r = run_job(NULL, "-n", "2", "true", NULL);
    assert_code(r, 0);
    run_free(&r);
    unsetenv("SLURM_JOB_NODELIST");
    setenv("LSB_HOSTS", "localhost localhost localhost", 1);
    r = run_job(NULL, "echo", "here", NULL);
    unsetenv("LSB_HOSTS");
    assert_int_equal(run_count(r.out, "here\n"), 3);
    run_free(&r);
}

static void refused_until_there_are_several_hosts(void **state)
{
    (void)state;
    static const char *const rows[][3] = {{"--prefix", "/opt", "--prefix names"},
                                          {"--launcher", "ssh", "--launcher ssh reaches other hosts"},
                                          {"--ppn", "2", "4 PEs with --ppn 2 need 2 hosts"}};
    for (size_t i = 0; i < 3; i++) {
        result_t r = run_job(NULL, "-n", "4", rows[i][0], rows[i][1], "true", NULL);
        assert_code(r, 2);
        assert_has(r.err, rows[i][2]);
        assert_has(r.err, "several hosts are not available in this version");
        run_free(&r);
    }
    result_t r = run_job(NULL, "--ppn", "3", "--launcher", "fork", "--map", "node", "echo", "x", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "x\n"), 3);
    run_free(&r);
}

static void ways_to_say_a_number(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"-n", "3"},    {"-np", "3"},     {"-N", "3"},
                                          {"--n", "3"},   {"--n=3", NULL},  {"-n3", NULL},
                                          {"-n=3", NULL}, {"--np=3", NULL}, {"-np=3", NULL}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        result_t r = ways[i][1] ? run_job(NULL, ways[i][0], ways[i][1], "echo", "x", NULL)
                                : run_job(NULL, ways[i][0], "echo", "x", NULL);
        assert_code(r, 0);
        assert_int_equal(run_count(r.out, "x\n"), 3);
        run_free(&r);
    }
}

/* Options of the program are the program's. */
static void options_end_at_the_program(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "1", "echo", "-n", "--timeout", "--help", NULL);
    assert_code(r, 0);
    assert_string_equal(r.out, "--timeout --help");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--", "echo", "-l", NULL);
    assert_string_equal(r.out, "-l\n");
    run_free(&r);
}

static void default_count_is_the_cores(void **state)
{
    (void)state;
    cpu_set_t old, one;
    assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
    int first = 0;
    while (!CPU_ISSET(first, &old))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    result_t r = run_job(NULL, "echo", "x", NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
    assert_code(r, 0);
    assert_string_equal(r.out, "x\n");
    run_free(&r);
    r = run_job(NULL, "echo", "x", NULL);
    assert_true(run_count(r.out, "x\n") >= 1 && run_count(r.out, "x\n") <= CPU_COUNT(&old));
    run_free(&r);
}

static void several_programs(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "--tag", "-n", "1", PE, "print", "first", ":", "-np", "2", "--wdir", "/", PE,
                         "place", ":", PE, "pmi", "cmd=get_appnum", "?", NULL);
    assert_code(r, 0);
    assert_has(r.out, "0: first\n");
    assert_has(r.out, "1: / /\n");
    assert_has(r.out, "2: / /\n");
    assert_has(r.out, "3: cmd=appnum appnum=2");
    assert_int_equal(run_count(r.out, "\n"), 4);
    run_free(&r);
}

static void binding(void **state)
{
    (void)state;
    cpu_set_t mask;
    char list[64];
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    if (CPU_COUNT(&mask) < 2) {
        print_message("one processor only\n");
        skip();
    }
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &mask))
        last--;
    snprintf(list, sizeof(list), "cpu-list:%d", last);
    result_t r = run_job(NULL, "-n", "2", "--bind", list, "--report-bindings", "grep", "Cpus_allowed_list",
                         "/proc/self/status", NULL);
    assert_code(r, 0);
    snprintf(list, sizeof(list), "Cpus_allowed_list:\t%d\n", last);
    assert_int_equal(run_count(r.out, list), 2);
    snprintf(list, sizeof(list), "bound to cpus %d\n", last);
    assert_int_equal(run_count(r.err, list), 2);
    run_free(&r);
    r = run_job(NULL, "-n", "2", "--bind", "core", "grep", "Cpus_allowed_list", "/proc/self/status", NULL);
    assert_code(r, 0);
    char *second = strchr(r.out, '\n');
    assert_non_null(second);
    assert_true(strncmp(r.out, second + 1, (size_t)(second - r.out)) != 0); /* each has its own */
    run_free(&r);
    r = run_job(NULL, "-n", "64", "--bind", "core", "true", NULL);
    assert_code(r, 0);
    run_free(&r);
    r = run_job(NULL, "-n", "2", "--bind", "numa", "true", NULL);
    assert_code(r, 0);
    run_free(&r);
    r = run_job(NULL, "-n", "64", "--report-bindings", "true",
                NULL); /* more PEs than cores: by default none */
    assert_int_equal(run_count(r.err, "not bound\n"), 64);
    run_free(&r);
}

static void variables_mean_the_same(void **state)
{
    (void)state;
    setenv("SHMEM_RUN_N", "3", 1);
    setenv("SHMEM_RUN_TAG", "<%p> ", 1);
    setenv("SHMEM_RUN_X", "A=1;B=2", 1);
    result_t r = run_job(NULL, "sh", "-c", "echo $A$B ${SHMEM_RUN_N-unset}", NULL);
    assert_code(r, 0);
    for (int i = 0; i < 3; i++) {
        char line[32];
        snprintf(line, sizeof(line), "<%d> 12 unset\n", i);
        assert_has(r.out, line);
    }
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--tag=: ", "echo", "x", NULL); /* the command line wins */
    assert_string_equal(r.out, ": x\n");
    run_free(&r);
    setenv("SHMEM_RUN_N", "many", 1);
    r = run_job(NULL, "true", NULL);
    assert_code(r, 2);
    assert_has(r.err, "SHMEM_RUN_N: \"many\" is not allowed");
    run_free(&r);
    unsetenv("SHMEM_RUN_N");
    unsetenv("SHMEM_RUN_TAG");
    unsetenv("SHMEM_RUN_X");
    setenv("SHMEM_RUN_KEEPGOING", "1", 1);
    r = run_job(NULL, "-n", "1", "true", NULL);
    unsetenv("SHMEM_RUN_KEEPGOING");
    assert_code(r, 0);
    assert_has(r.err, "unknown variable SHMEM_RUN_KEEPGOING; did you mean SHMEM_RUN_KEEP_GOING");
    run_free(&r);
}

static void wrappers(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "--wrap", "env \"W=a b\" 'Q=c'", "--wrap=1:env O=one", "sh", "-c",
                         "echo $SHMEM_PE:$W:$Q:${O-none}", NULL);
    assert_code(r, 0);
    assert_has(r.out, "0:a b:c:none\n");
    assert_has(r.out, "1:a b:c:one\n");
    run_free(&r);
    r = run_job(NULL, "-n", "1", "--wrap", "no-such-wrapper", "true", NULL);
    assert_code(r, 127);
    assert_has(r.err, "program no-such-wrapper not found");
    run_free(&r);
    r = run_job(NULL, "-n", "2", "--dry-run", "--valgrind=1", "true", NULL);
    if (r.code == 0) /* 127 where valgrind is not installed */
        assert_int_equal(run_count(r.out, " valgrind true\n"), 1);
    else
        assert_int_equal(r.code, 127);
    run_free(&r);
}

static void debugger_finds_a_waiting_pe(void **state)
{
    (void)state;
    char command[256];
    if (system("gdb --version > /dev/null 2>&1")) {
        print_message("no gdb here\n");
        skip();
    }
    unsetenv("TMUX");
    const char *const words[] = {"-n", "2", "--gdb=1", PE, "print", "done", NULL};
    running_t job = run_start(words);
    char text[512] = "";
    size_t bytes = 0;
    while (!strchr(text, '\n')) {
        ssize_t got = read(job.err, text + bytes, sizeof(text) - 1 - bytes);
        assert_true(got > 0);
        bytes += (size_t)got;
    }
    const char *at = strstr(text, "PE 1 waits for a debugger: gdb -q -p ");
    if (!at)
        fail_msg("%s", text);
    run_until(&job, "done", 1); /* the other one does not wait */
    snprintf(command, sizeof(command),
             "gdb -batch -q -p %d -ex 'catch exec' -ex c -ex 'tbreak main' -ex c -ex bt -ex c 2>&1",
             atoi(at + 37));
    FILE *gdb = popen(command, "re");
    char said[1 << 14] = "";
    assert_non_null(gdb);
    size_t got = fread(said, 1, sizeof(said) - 1, gdb);
    said[got] = 0;
    (void)pclose(gdb);
    result_t r = run_finish(&job);
    if (strstr(said, "ptrace: Operation not permitted")) {
        print_message("debuggers may not attach here\n");
        run_free(&r);
        skip();
    }
    assert_has(said, "main (argc");
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "done\n"), 2);
    run_free(&r);
}

static void plan_and_dry_run(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "--dry-run", "-x", "MINE=1", PE, "print", "started", NULL);
    assert_code(r, 0);
    assert_has(r.out, "PE 1 on ");
    assert_has(r.out, "print started\n");
    assert_has(r.out, "  SHMEM_SECRET_FD=(a descriptor)\n");
    assert_has(r.out, "  MINE=1\n");
    assert_string_equal(r.err, "");
    run_free(&r);
    r = run_job(NULL, "-n", "2", "-v", PE, "print", "started", NULL);
    assert_string_equal(r.out, "started\nstarted\n");
    assert_has(r.err, "aclshmemrun: PE 1 on ");
    assert_int_equal(run_count(r.err, "OMP_NUM_THREADS was not set"), 1);
    run_free(&r);
    r = run_job(NULL, "-n", "2", "--show-env", "--mem", "64M", "true", NULL);
    assert_code(r, 0);
    assert_has(r.out, "SHMEM_NPES=2\n");
    assert_has(r.out, "SHMEM_SYMMETRIC_SIZE=64M\n");
    run_free(&r);
}

static void help_and_version(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "--help", NULL);
    assert_code(r, 0);
    assert_true(run_count(r.out, "\n") <= 24);
    for (char *line = r.out, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        assert_true(end - line <= 100);
    assert_has_not(r.out, "--hostfile");
    run_free(&r);
    r = run_job(NULL, "--help", "all", NULL);
    assert_code(r, 0);
    assert_has(r.out, "--hostfile");
    assert_has(r.out, "SHMEM_RUN_<NAME>");
    run_free(&r);
    r = run_job(NULL, "--version", NULL);
    assert_code(r, 0);
    assert_int_equal(strncmp(r.out, "aclshmemrun 1.", 14), 0);
    run_free(&r);
}

static void status_of_a_running_job(void **state)
{
    (void)state;
    char pid[32];
    const char *const words[] = {
        "-n", "1", PE,      "pmi", "cmd=init pmi_version=1 pmi_subversion=1", "?", "cmd=barrier_in", "wait",
        ":",  PE,  "ready", NULL};
    running_t job = run_start(words);
    run_until(&job, "ready", 1);
    run_until(&job, "rc=0", 1);
    snprintf(pid, sizeof(pid), "--status=%d", (int)job.pid);
    double end = run_now() + 20;
    bool seen = false;
    while (!seen && run_now() < end) {
        result_t r = run_job(NULL, pid, NULL);
        assert_code(r, 0);
        assert_has(r.out, "2 PEs on ");
        seen = strstr(r.out, "waiting in the start barrier for PE 1,") != NULL;
        run_free(&r);
    }
    assert_true(seen);
    result_t r = run_job(NULL, "--status", NULL); /* all of them */
    assert_code(r, 0);
    assert_has(r.out, pid + 9);
    run_free(&r);
    kill(job.pid, SIGKILL);
    r = run_finish(&job);
    run_free(&r);
    r = run_job(NULL, pid, NULL);
    assert_code(r, 1);
    assert_has(r.err, "no job of yours has process");
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_errors),
        cmocka_unit_test(hosts),
        cmocka_unit_test(allocation_with_other_hosts_is_not_ignored),
        cmocka_unit_test(refused_until_there_are_several_hosts),
        cmocka_unit_test(ways_to_say_a_number),
        cmocka_unit_test(options_end_at_the_program),
        cmocka_unit_test(default_count_is_the_cores),
        cmocka_unit_test(several_programs),
        cmocka_unit_test(binding),
        cmocka_unit_test(variables_mean_the_same),
        cmocka_unit_test(wrappers),
        cmocka_unit_test(debugger_finds_a_waiting_pe),
        cmocka_unit_test(plan_and_dry_run),
        cmocka_unit_test(help_and_version),
        cmocka_unit_test(status_of_a_running_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
