/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing memory between processes that are not related: both ways, many times, and when one of them dies. */
#include "share_peer.h"

#include <string.h>
#include <unistd.h>

static void expect_same(t_holdings_t before, t_holdings_t after)
{
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.threads, before.threads);
    assert_int_equal(after.mappings, before.mappings);
}

static void thousand_rounds(void **state)
{
    t_holdings_t owner_before = {0}, user_before = {0};
    t_peer_t owner, user;

    (void)state;
    assert_true(t_peer_start(&owner, 0));
    assert_true(t_peer_start(&user, 0));
    for (int i = 0; i < 1000; i++) {
        t_peer_take(&user, t_peer_make(&owner));
        t_peer_write(&owner, (unsigned char)i);
        assert_int_equal(t_peer_read(&user), i & 0xff);
        t_peer_write(&user, (unsigned char)(i + 1));
        assert_int_equal(t_peer_read(&owner), (i + 1) & 0xff);
        /* Either may go first. */
        t_peer_drop(i % 2 == 0 ? &owner : &user);
        if (i % 2 == 0) {
            assert_int_equal(t_peer_read(&user), (i + 1) & 0xff);
            t_peer_drop(&user);
        } else {
            t_peer_drop(&owner);
        }
        if (i == 0) { /* with the thread and socket that serve exports */
            owner_before = t_peer_holdings(&owner);
            user_before = t_peer_holdings(&user);
        }
    }
    expect_same(owner_before, t_peer_holdings(&owner));
    expect_same(user_before, t_peer_holdings(&user));
    t_peer_end(&owner);
    t_peer_end(&user);
}

static void owner_dies(void **state)
{
    t_peer_t owner, user;

    (void)state;
    assert_true(t_peer_start(&user, 0));
    const t_holdings_t before = t_peer_holdings(&user);
    for (int i = 0; i < 20; i++) {
        assert_true(t_peer_start(&owner, 0));
        const aclrtMemFabricHandle shared = t_peer_make(&owner);
        t_peer_take(&user, shared);
        t_peer_write(&owner, 77);
        t_peer_kill(&owner);
        /* What is mapped stays; what is not cannot be had any more. */
        assert_int_equal(t_peer_read(&user), 77);
        t_peer_write(&user, 78);
        assert_int_equal(t_peer_read(&user), 78);
        t_peer_drop(&user);
        const t_reply_t reply = t_peer_do(&user, (t_request_t){.what = 't', .shared = shared});
        assert_int_equal(reply.error, ACL_ERROR_RT_INVALID_HANDLE);
        assert_non_null(strstr(reply.text, "has ended"));
    }
    expect_same(before, t_peer_holdings(&user));
    t_peer_end(&user);
}

static void user_dies(void **state)
{
    t_peer_t owner, user;

    (void)state;
    assert_true(t_peer_start(&owner, 0));
    const aclrtMemFabricHandle shared = t_peer_make(&owner);
    const t_holdings_t before = t_peer_holdings(&owner);
    for (int i = 0; i < 20; i++) {
        assert_true(t_peer_start(&user, 0));
        t_peer_take(&user, shared);
        t_peer_write(&user, (unsigned char)i);
        t_peer_kill(&user);
        assert_int_equal(t_peer_read(&owner), i);
    }
    expect_same(before, t_peer_holdings(&owner));
    t_peer_end(&owner);
}

/* Descriptor numbers are used again: an old handle must not lead to new memory. */
static void freed_memory_stays_freed(void **state)
{
    t_peer_t owner, user;

    (void)state;
    assert_true(t_peer_start(&owner, 0));
    assert_true(t_peer_start(&user, 0));
    const aclrtMemFabricHandle old = t_peer_make(&owner);
    t_peer_drop(&owner);
    (void)t_peer_make(&owner); /* takes the number of the first */
    const t_reply_t reply = t_peer_do(&user, (t_request_t){.what = 't', .shared = old});
    assert_int_equal(reply.error, ACL_ERROR_RT_INVALID_HANDLE);
    assert_non_null(strstr(reply.text, "freed"));
    t_peer_end(&owner);
    t_peer_end(&user);
}

static void everybody_with_everybody(void **state)
{
    enum { PEERS = 8 };
    t_peer_t peers[PEERS];
    aclrtMemFabricHandle shared[PEERS];

    (void)state;
    for (int i = 0; i < PEERS; i++) {
        assert_true(t_peer_start(&peers[i], 0));
        shared[i] = t_peer_make(&peers[i]);
    }
    for (int i = 0; i < PEERS; i++) {
        t_peer_write(&peers[i], (unsigned char)(100 + i));
        for (int k = 0; k < PEERS; k++) {
            aclrtDrvMemHandle memory = NULL;
            unsigned char *at = NULL;

            ok(aclrtMemImportFromShareableHandleV2(&shared[k], ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0,
                                                   &memory));
            ok(aclrtReserveMemAddress((void **)&at, T_BYTES, 0, NULL, 0));
            ok(aclrtMapMem(at, T_BYTES, 0, memory, 0));
            ok(aclrtFreePhysical(memory));
            assert_int_equal(at[0], k <= i ? 100 + k : 0);
            ok(aclrtUnmapMem(at));
            ok(aclrtReleaseMemAddress(at));
        }
    }
    /* As many as 32 processes on one host need. */
    for (int i = 0; i < 992; i++) {
        aclrtDrvMemHandle memory = NULL;

        ok(aclrtMemImportFromShareableHandleV2(&shared[i % PEERS], ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0,
                                               &memory));
        ok(aclrtFreePhysical(memory));
    }
    for (int i = 0; i < PEERS; i++)
        t_peer_end(&peers[i]);
}

static void own_memory_comes_back(void **state)
{
    const aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemFabricHandle shared, again;
    aclrtDrvMemHandle memory = NULL, import = NULL;
    char *at[2] = {NULL, NULL};

    (void)state;
    ok(aclrtMallocPhysical(&memory, T_BYTES, &prop, 0));
    ok(aclrtMemExportToShareableHandleV2(memory, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared));
    ok(aclrtMemExportToShareableHandleV2(memory, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &again));
    assert_memory_equal(&shared, &again, sizeof shared);
    ok(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &import));
    for (int i = 0; i < 2; i++) {
        ok(aclrtReserveMemAddress((void **)&at[i], T_BYTES, 0, NULL, 0));
        ok(aclrtMapMem(at[i], T_BYTES, 0, i == 0 ? memory : import, 0));
    }
    at[0][9] = 10;
    assert_int_equal(at[1][9], 10);
    for (int i = 0; i < 2; i++) {
        ok(aclrtUnmapMem(at[i]));
        ok(aclrtReleaseMemAddress(at[i]));
    }
    ok(aclrtFreePhysical(memory));
    fails(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &memory),
          ACL_ERROR_RT_INVALID_HANDLE, "freed");
    ok(aclrtFreePhysical(import));
}

static void damaged_handles_are_refused(void **state)
{
    aclrtMemFabricHandle shared, damaged;
    aclrtDrvMemHandle memory = NULL;
    t_peer_t owner;

    (void)state;
    assert_true(t_peer_start(&owner, 0));
    shared = t_peer_make(&owner);
    for (size_t i = 0; i < sizeof shared; i++) {
        damaged = shared;
        damaged.data[i] ^= 0x10;
        fails(aclrtMemImportFromShareableHandleV2(&damaged, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &memory),
              ACL_ERROR_RT_INVALID_HANDLE, "damaged");
    }
    memset(&damaged, 0, sizeof damaged);
    fails(aclrtMemImportFromShareableHandleV2(&damaged, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &memory),
          ACL_ERROR_RT_INVALID_HANDLE, "no handle");
    fails(aclrtMemImportFromShareableHandleV2(NULL, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &memory),
          ACL_ERROR_INVALID_PARAM, "NULL");
    fails(aclrtMemImportFromShareableHandleV2(&shared, (aclrtMemSharedHandleType)3, 0, &memory),
          ACL_ERROR_INVALID_PARAM, "share type 3");
    fails(aclrtMemExportToShareableHandleV2(NULL, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &shared),
          ACL_ERROR_RT_INVALID_HANDLE, "no physical memory");
    t_peer_end(&owner);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousand_rounds),
        cmocka_unit_test(owner_dies),
        cmocka_unit_test(user_dies),
        cmocka_unit_test(freed_memory_stays_freed),
        cmocka_unit_test_setup_teardown(everybody_with_everybody, t_begin, t_end),
        cmocka_unit_test_setup_teardown(own_memory_comes_back, t_begin, t_end),
        cmocka_unit_test_setup_teardown(damaged_handles_are_refused, t_begin, t_end),
    };

    if (argc > 1 && strcmp(argv[1], "peer") == 0)
        return t_peer_main();
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
