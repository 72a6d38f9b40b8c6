/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that uses MPI and meets through the same launcher, in the order its argument gives, a letter per step:
 * I MPI_Init, B MPI_Barrier, F MPI_Finalize, M meet, D done. Built once for each MPI there is.
 */
#define LOG_MODULE "test"
#include <mpi.h>
#include <stdio.h>

#include "host/bootstrap/bootstrap.h"
#include "host/bootstrap/uid/uid.h"

static int meet(const aclshmemi_env_t *env)
{
    aclshmemi_launch_t launch;
    aclshmemx_uniqueid_t id;
    aclshmemi_uid_t uid;
    TRY(aclshmemi_launch_detect(env, &launch));
    TRY(aclshmemi_launch_meet(env, &launch, 20000, &id));
    TRY(aclshmemi_uid_decode(&id, &uid));
    printf("%s PE %d of %d ids %08x\n", launch.name, launch.pe, launch.n_pes,
           aclshmemi_magic_hash(uid.magic));
    return 0;
}

int main(int argc, char **argv)
{
    aclshmemi_env_t env;
    int rc = argc == 2 ? aclshmemi_env_init(&env) : 2;
    for (const char *step = argv[1]; rc == 0 && *step != '\0'; step++) {
        if (*step == 'I')
            rc = MPI_Init(NULL, NULL);
        else if (*step == 'B')
            rc = MPI_Barrier(MPI_COMM_WORLD);
        else if (*step == 'F')
            rc = MPI_Finalize();
        else if (*step == 'M')
            rc = meet(&env);
        else
            aclshmemi_launch_done();
    }
    return rc == 0 ? 0 : 1;
}
