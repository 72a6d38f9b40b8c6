/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMI-1 conversation, word by word, with clients that follow it and clients that do not.
 */
#include <stdlib.h>
#include <string.h>

#include "run_support.h"

#define INIT "cmd=init pmi_version=1 pmi_subversion=1"

static void conversation(void **state)
{
    (void)state;
    result_t r = run_job(
        NULL, "-n", "2", "sh", "-c",
        "$0 pmi 'cmd=init pmi_version=1 pmi_subversion=1' '?' cmd=get_maxes '?' cmd=get_my_kvsname '?' "
        "cmd=get_appnum '?' cmd=get_universe_size '?' cmd=finalize '?'",
        PE, NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"), 2);
    assert_int_equal(run_count(r.out, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n"), 2);
    assert_int_equal(run_count(r.out, "cmd=my_kvsname kvsname=kvs_"), 2);
    assert_int_equal(run_count(r.out, "cmd=appnum appnum=0 rc=0\n"), 2);
    assert_int_equal(run_count(r.out, "cmd=universe_size size=2 rc=0\n"), 2);
    assert_int_equal(run_count(r.out, "cmd=finalize_ack rc=0\n"), 2);
    run_free(&r);
}

/* The kvs name is asked for by a first call in the same job; its answer is the only thing that is not known before. */
static const char exchange[] =
    "me=$SHMEM_PE; you=$((1 - me)); kvs=kvs_${SHMEM_JOB_ID}_0; exec $0 pmi 'cmd=init pmi_version=1 "
    "pmi_subversion=1' '?' "
    "\"cmd=put kvsname=$kvs key=card-$me value=a=b c$me\" '?' cmd=barrier_in '?' "
    "\"cmd=get kvsname=$kvs key=card-$you\" '?' \"cmd=get kvsname=$kvs key=absent\" '?' "
    "\"cmd=get kvsname=$kvs key=PMI_process_mapping\" '?' cmd=finalize '?'";

static void put_barrier_get(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", "-l", "sh", "-c", exchange, PE, NULL);
    assert_code(r, 0);
    assert_has(r.out, "0: cmd=get_result rc=0 msg=success value=a=b c1\n");
    assert_has(r.out, "1: cmd=get_result rc=0 msg=success value=a=b c0\n");
    assert_int_equal(run_count(r.out, "cmd=barrier_out rc=0\n"), 2);
    assert_int_equal(run_count(r.out, "cmd=get_result rc=-1 msg=key_absent_not_found value=unknown\n"), 2);
    assert_int_equal(run_count(r.out, "value=(vector,(0,1,2))\n"), 2);
    run_free(&r);
}

/* Started, finished, started again in the same process, with the same keys. */
static void second_round(void **state)
{
    (void)state;
    result_t r = run_job(
        NULL, "-n", "2", "sh", "-c",
        "kvs=kvs_${SHMEM_JOB_ID}_0; i='cmd=init pmi_version=1 pmi_subversion=1'; exec $0 pmi \"$i\" '?' "
        "\"cmd=put kvsname=$kvs key=k value=old\" '?' cmd=finalize '?' \"$i\" '?' "
        "\"cmd=put kvsname=$kvs key=k value=new\" '?' cmd=barrier_in '?' "
        "\"cmd=get kvsname=$kvs key=k\" '?' cmd=finalize '?'",
        PE, NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "value=new\n"), 2);
    run_free(&r);
}

static void errors_are_answered(void **state)
{
    (void)state;
    char key[128], value[1200];
    snprintf(key, sizeof(key), "cmd=put kvsname=$kvs key=%065d value=x", 0);
    snprintf(value, sizeof(value), "cmd=put kvsname=$kvs key=k value=%01025d", 0);
    static const struct {
        const char *line, *answer;
    } rows[] = {
        {"", "cmd=error rc=-1 msg=malformed_line"},
        {"hello", "cmd=error rc=-1 msg=malformed_line"},
        {"cmd=", "cmd=error rc=-1 msg=malformed_line"},
        {"cmd=dance", "cmd=error rc=-1 msg=unknown_command"},
        {"cmd=a_command_with_a_name_that_is_longer_than_any_command_there_is",
         "cmd=error rc=-1 msg=malformed_line"},
        {"cmd=init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1"},
        {"cmd=init pmi_version=2 pmi_subversion=0", "rc=-1"},
        {"cmd=put", "cmd=put_result rc=-1 msg=unknown_kvsname"},
        {"cmd=put kvsname=other key=k value=v", "cmd=put_result rc=-1 msg=unknown_kvsname"},
        {"cmd=get kvsname=other key=k", "cmd=get_result rc=-1"},
        {"cmd=create_kvs", "cmd=newkvs rc=-1"},
        {"cmd=publish_name service=a port=b", "cmd=publish_result rc=-1"},
        {"cmd=lookup_name service=a", "cmd=lookup_result rc=-1"},
        {"mcmd=spawn\nnprocs=1\nexecname=x\nendcmd", "cmd=spawn_result rc=-1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        result_t r = run_job(NULL, "-n", "1", PE, "pmi", rows[i].line, "?", "cmd=get_appnum", "?", NULL);
        assert_code(r, 0);
        assert_has(r.out, rows[i].answer);
        assert_has(r.out, "\ncmd=appnum appnum=0 rc=0\n"); /* and the talk goes on */
        run_free(&r);
    }
    const char *const too_long[] = {key, value};
    for (int i = 0; i < 2; i++) {
        char script[1600];
        snprintf(script, sizeof(script), "kvs=kvs_${SHMEM_JOB_ID}_0; exec $0 pmi \"%s\" '?'", too_long[i]);
        result_t r = run_job(NULL, "-n", "1", "sh", "-c", script, PE, NULL);
        assert_has(r.out, i ? "msg=value_missing_or_longer_than_1024" : "msg=key_missing_or_longer_than_64");
        run_free(&r);
    }
}

static void endless_line_ends_the_talk(void **state)
{
    (void)state;
    char *line = malloc(100001);
    assert_non_null(line);
    memset(line, 'x', 100000);
    line[100000] = 0;
    result_t r = run_job(NULL, "-n", "1", PE, "pmi", line, "?", NULL);
    free(line);
    assert_has(r.err, "PE 0 sends what is not PMI (a line of more than 4096 bytes)");
    run_free(&r);
}

static void garbage_does_no_harm(void **state)
{
    (void)state;
    const char *count = getenv("RUN_GARBAGE");
    for (int i = count ? atoi(count) : 5; i > 0; i--) {
        char seed[16];
        snprintf(seed, sizeof(seed), "%d", i);
        result_t r = run_job(NULL, "-n", "3", "--keep-going", PE, "garbage", seed, NULL);
        /* a PE may be found to have begun without finalize; nothing worse */
        if (r.code != 0 && r.code != 1)
            assert_code(r, 0);
        assert_has_not(r.err, "working process");
        run_free(&r);
    }
}

/* Whoever has ended never comes to the barrier; waiting for him would be for ever. */
static void barrier_without_all_fails(void **state)
{
    (void)state;
    result_t r = run_job(NULL, "-n", "2", PE, "pmi", INIT, "?", "cmd=barrier_in", "?", "cmd=finalize", "?",
                         ":", "true", NULL);
    assert_code(r, 0);
    assert_int_equal(run_count(r.out, "cmd=barrier_out rc=-1 msg=pe_2_has_ended\n"), 2);
    run_free(&r);
    r = run_job(NULL, "--keep-going", "-n", "1", PE, "pmi", INIT, "?", "cmd=barrier_in", "?", "cmd=finalize",
                "?", ":", "sh", "-c", "exit 3", NULL);
    assert_code(r, 3);
    assert_has(r.out, "msg=pe_1_has_ended");
    run_free(&r);
}

/* 64 PEs, each with a card as large as they get. */
static void many_cards(void **state)
{
    (void)state;
    char script[700];
    snprintf(
        script, sizeof(script),
        "kvs=kvs_${SHMEM_JOB_ID}_0; v=$(printf '%%01024d' $SHMEM_PE); exec $0 pmi "
        "'cmd=init pmi_version=1 pmi_subversion=1' '?' \"cmd=put kvsname=$kvs key=c$SHMEM_PE value=$v\" '?' "
        "cmd=barrier_in '?' \"cmd=get kvsname=$kvs key=c$(( (SHMEM_PE + 1) %% 64 ))\" '?' cmd=finalize '?'");
    result_t r = run_job(NULL, "-n", "64", "--tag", "sh", "-c", script, PE, NULL);
    assert_code(r, 0);
    for (int pe = 0; pe < 64; pe++) {
        char line[1100];
        snprintf(line, sizeof(line), "\n%d: cmd=get_result rc=0 msg=success value=%01024d\n", pe,
                 (pe + 1) % 64);
        assert_has(r.out, line);
    }
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversation),
        cmocka_unit_test(put_barrier_get),
        cmocka_unit_test(second_round),
        cmocka_unit_test(errors_are_answered),
        cmocka_unit_test(endless_line_ends_the_talk),
        cmocka_unit_test(garbage_does_no_harm),
        cmocka_unit_test(barrier_without_all_fails),
        cmocka_unit_test(many_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
