/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of init: what is allowed, and what the launcher or a port range fills in. */
#define LOG_MODULE "init"
#include "host/init/init.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/bootstrap/address.h"
#include "host/bootstrap/uid/uid.h"

aclshmemx_bootstrap_t aclshmemi_attr_mode(aclshmemx_bootstrap_t flags)
{
    static const aclshmemx_bootstrap_t order[] = {ACLSHMEMX_INIT_WITH_UNIQUEID, ACLSHMEMX_INIT_WITH_MPI,
                                                  ACLSHMEMX_INIT_WITH_DEFAULT, ACLSHMEMX_INIT_WITH_LAUNCHER};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if ((flags & order[i]) != 0)
            return order[i];
    return 0;
}

bool aclshmemi_attr_has_address(const aclshmemx_init_attr_t *attr)
{
    return aclshmemi_url_is_valid(attr->ip_port, sizeof attr->ip_port);
}

static int check_numbers(const aclshmemx_init_attr_t *attr)
{
    if (attr->my_pe < 0)
        return fail(ACLSHMEM_INVALID_VALUE, "my_pe is %d, it must be 0 or more", attr->my_pe);
    if (attr->n_pes <= 0 || attr->n_pes > ACLSHMEM_MAX_PES)
        return fail(ACLSHMEM_INVALID_VALUE, "n_pes is %d, 1..%d are allowed", attr->n_pes, ACLSHMEM_MAX_PES);
    if (attr->my_pe >= attr->n_pes)
        return fail(ACLSHMEM_INVALID_PARAM, "my_pe is %d and n_pes %d, PEs are 0..%d", attr->my_pe,
                    attr->n_pes, attr->n_pes - 1);
    if (attr->local_mem_size == 0 || attr->local_mem_size > ACLSHMEM_MAX_LOCAL_SIZE)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "local_mem_size is %" PRIu64 " bytes, 1 to %lu (40 GiB) are allowed",
                    attr->local_mem_size, ACLSHMEM_MAX_LOCAL_SIZE);
    return 0;
}

static int check_options(const aclshmem_init_optional_attr_t *option)
{
    const uint32_t known = ((uint32_t)ACLSHMEM_DATA_OP_MAX << 1) - 1;
    uint32_t engines = (uint32_t)option->data_op_engine_type;
    if (option->shm_init_timeout == 0 || option->control_operation_timeout == 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "shm_init_timeout is %u s and control_operation_timeout %u s, both must be at least 1 "
                    "(start from "
                    "ACLSHMEMX_INIT_ATTR_INITIALIZER)",
                    option->shm_init_timeout, option->control_operation_timeout);
    if (engines == 0 || (engines & ~known) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "data_op_engine_type is 0x%x, a set of MTE 1, SDMA 2, ROCE 4, UDMA 8 is allowed",
                    engines);
    return 0;
}

static int check_id(const aclshmemx_init_attr_t *attr)
{
    aclshmemi_uid_t uid;
    if (attr->comm_args == NULL)
        return fail(ACLSHMEM_INVALID_PARAM,
                    "unique id mode and comm_args is NULL; fill it with aclshmemx_set_attr_uniqueid_args");
    int rc = aclshmemi_uid_decode(attr->comm_args, &uid);
    explicit_bzero(&uid, sizeof uid);
    return rc;
}

static int check_mode(aclshmemx_bootstrap_t flags, const aclshmemx_init_attr_t *attr)
{
    aclshmemi_uid_t uid;
    switch (aclshmemi_attr_mode(flags)) {
    case ACLSHMEMX_INIT_WITH_UNIQUEID:
        return check_id(attr);
    case ACLSHMEMX_INIT_WITH_DEFAULT:
        if (aclshmemi_attr_has_address(attr))
            return 0;
        if (attr->comm_args != NULL && aclshmemi_uid_decode(attr->comm_args, &uid) == 0) {
            explicit_bzero(&uid, sizeof uid);
            return 0;
        }
        return fail(ACLSHMEM_INVALID_PARAM,
                    "ip_port \"%.*s\" is no address and comm_args holds no unique id; tcp://host:port or "
                    "tcp6://[host]:port with port 1025..65535 is expected",
                    (int)strnlen(attr->ip_port, sizeof attr->ip_port), attr->ip_port);
    case ACLSHMEMX_INIT_WITH_MPI:
    case ACLSHMEMX_INIT_WITH_LAUNCHER:
        return 0;
    default:
        return fail(ACLSHMEM_INVALID_PARAM,
                    "bootstrap flags 0x%x hold no known mode: DEFAULT 1, MPI 2, UNIQUEID 8, "
                    "LAUNCHER 16",
                    flags);
    }
}

int aclshmemi_attr_check(aclshmemx_bootstrap_t flags, const aclshmemx_init_attr_t *attr)
{
    TRY(check_numbers(attr));
    TRY(check_options(&attr->option_attr));
    return check_mode(flags, attr);
}

static int parse_range(const char *text, int64_t *start, int64_t *end)
{
    char copy[16];
    const char *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof copy)
        return ACLSHMEM_INVALID_VALUE;
    memcpy(copy, text, (size_t)(colon - text));
    copy[colon - text] = '\0';
    TRY(aclshmemi_parse_int(copy, 0, ACLSHMEMI_PORT_MAX, start));
    TRY(aclshmemi_parse_int(colon + 1, 0, ACLSHMEMI_PORT_MAX, end));
    return *start <= *end ? 0 : ACLSHMEM_INVALID_VALUE;
}

/* The port of an instance: the range leaves room for 0, which is never an instance with a port of its own. */
static int port_of_instance(const aclshmemi_env_t *env, uint64_t id, int64_t *port)
{
    int64_t start, end;
    if (env->instance_port_range[0] == '\0' || parse_range(env->instance_port_range, &start, &end) != 0)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "SHMEM_INSTANCE_PORT_RANGE is \"%s\"; instance %" PRIu64
                    " with an address needs it as start:end, both 0..65535, start not above end",
                    env->instance_port_range, id);
    if (id > (uint64_t)(end - start))
        return fail(ACLSHMEM_INVALID_VALUE,
                    "instance %" PRIu64 " does not fit SHMEM_INSTANCE_PORT_RANGE %s, 1..%" PRId64 " do", id,
                    env->instance_port_range, end - start);
    *port = start + (int64_t)id;
    if (*port < ACLSHMEMI_PORT_MIN)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "SHMEM_INSTANCE_PORT_RANGE %s gives instance %" PRIu64 " port %" PRId64
                    ", %d and above are allowed",
                    env->instance_port_range, id, *port, ACLSHMEMI_PORT_MIN);
    return 0;
}

int aclshmemi_attr_choose_port(const aclshmemi_env_t *env, aclshmemx_init_attr_t *attr)
{
    if (attr->instance_id == 0 || (attr->ip_port[0] == '\0' && attr->comm_args != NULL))
        return 0;
    int64_t port = 0;
    TRY(port_of_instance(env, attr->instance_id, &port));
    aclshmemi_url_t url;
    /* The very port is what an earlier init of this instance has left here. */
    if (aclshmemi_url_parse(attr->ip_port, sizeof attr->ip_port, true, &url) != 0 ||
        (url.port != 0 && url.port != port))
        return fail(
            ACLSHMEM_INVALID_VALUE,
            "ip_port \"%.*s\" of instance %" PRIu64
            " must be an address whose port is 0; the port comes from SHMEM_INSTANCE_PORT_RANGE, and an "
            "init writes it there: set ip_port again for each instance",
            (int)strnlen(attr->ip_port, sizeof attr->ip_port), attr->ip_port, attr->instance_id);
    char chosen[ACLSHMEM_MAX_IP_PORT_LEN] = "";
    int host = (int)(strrchr(attr->ip_port, ':') - attr->ip_port);
    if (snprintf(chosen, sizeof chosen, "%.*s:%" PRId64, host, attr->ip_port, port) >= (int)sizeof chosen)
        return fail(ACLSHMEM_INVALID_VALUE,
                    "ip_port \"%s\" leaves no room for the port, %d characters are allowed", attr->ip_port,
                    ACLSHMEM_MAX_IP_PORT_LEN - 1);
    memcpy(attr->ip_port, chosen, sizeof chosen);
    return 0;
}

int aclshmemi_attr_from_launcher(const aclshmemi_env_t *env, aclshmemx_init_attr_t *attr,
                                 aclshmemi_launch_t *launch)
{
    TRY(aclshmemi_launch_detect(env, launch));
    if (attr->n_pes == 0) {
        attr->my_pe = launch->pe;
        attr->n_pes = launch->n_pes;
    } else if (attr->my_pe != launch->pe || attr->n_pes != launch->n_pes) {
        return fail(ACLSHMEM_INVALID_VALUE,
                    "the attributes say PE %d of %d, the launcher (%s) says PE %d of %d; leave n_pes 0 to "
                    "follow the launcher",
                    attr->my_pe, attr->n_pes, launch->name, launch->pe, launch->n_pes);
    }
    if (attr->local_mem_size == 0)
        attr->local_mem_size = ALIGN_TO(env->symmetric_size, ACLSHMEM_PAGE_SIZE);
    return 0;
}
