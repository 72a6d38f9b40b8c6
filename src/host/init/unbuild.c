/* SPDX-License-Identifier: Apache-2.0 */
/* An instance from the top down, from whatever point it had reached. */
#define LOG_MODULE "init"
#include "host/init/init.h"

#include <stdlib.h>

#include "host/bridge/bridge.h"
#include "host/mem/space.h"
#include "host/team/team.h"

/* Everybody is here, so nobody will touch anybody's memory any more, or call after we are gone. */
static int farewell(aclshmemi_instance_t *in)
{
    aclshmemi_activity_set(in, ACLSHMEMI_CALL_FINALIZE);
    aclshmemi_fingerprint_t same = aclshmemi_fingerprint_farewell();
    return aclshmemi_bootstrap_barrier(&in->bootstrap, &same);
}

static void leave_peers(aclshmemi_instance_t *in)
{
    aclshmemi_bootstrap_close(&in->bootstrap);
    if (in->met_by_launcher)
        aclshmemi_launch_done();
}

/* Peers are not kept waiting by work that is left on our streams, so the farewell comes in any case. */
static int part(aclshmemi_instance_t *in, bool *left)
{
    int rc = aclshmemi_streams_drain(in, !aclshmemi_instance_several(), left);
    int quiet = aclshmemi_transport_quiet(&in->transports);
    int farewell_rc = quiet == 0 ? farewell(in) : quiet;
    if (farewell_rc != 0)
        aclshmemi_await_end(in);
    return rc != 0 ? rc : farewell_rc;
}

/* Another instance on the device we made current inherits the duty to give it back. */
static bool hand_device_on(const aclshmemi_instance_t *in)
{
    for (uint64_t id = 0; id < ACLSHMEM_MAX_INSTANCES; id++) {
        aclshmemi_instance_t *other = aclshmemi_instance_find(id);
        if (other != NULL && other != in && other->device == in->device) {
            other->device_chosen = true;
            return true;
        }
    }
    return false;
}

int aclshmemi_unbuild(aclshmemi_instance_t *in, bool orderly)
{
    bool left = false;
    int rc = orderly ? part(in, &left) : 0;
    in->status = ACLSHMEM_STATUS_NOT_INITIALIZED;
    aclshmemi_bridge_withdraw(in);
    if (left) {
        log_warn("memory of the instance stays in place until the process ends, since work on streams may "
                 "still use it");
        in->abandoned = true;
        leave_peers(in);
        return rc;
    }
    aclshmemi_bridge_close(in);
    aclshmemi_team_fini(in);
    aclshmemi_prof_fini(in);
    aclshmemi_transport_close(&in->transports);
    in->control_offset = 0;
    aclshmemi_space_fini(in, ACLSHMEMI_SPACE_HOST);
    aclshmemi_space_fini(in, ACLSHMEMI_SPACE_DEVICE);
    for (int i = 0; i < ACLSHMEMI_SPACE_COUNT; i++) {
        free(in->space[i].peers);
        in->space[i].peers = NULL;
    }
    free(in->slot);
    in->slot = NULL;
    leave_peers(in);
    aclshmemi_streams_fini(in);
    npu_stream_destroy(in->stream);
    in->stream = NULL;
    if (in->device_chosen && !hand_device_on(in) && npu_device_reset(in->device) != 0)
        log_warn("device %d could not be reset: %s", in->device, aclshmemi_status_last_text());
    if (in->npu_opened)
        npu_close();
    pthread_mutex_destroy(&in->heap_lock);
    return rc;
}
