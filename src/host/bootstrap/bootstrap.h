/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How PEs meet before they share memory, and how they hear of each other afterwards. The door of this folder.
 *
 * A bootstrap offers two collectives over the CPU-side network, and carries death and global exit. It knows nothing
 * of heaps or transports: what PEs must exchange comes in as a blob and goes out as an array of blobs. One thread of
 * a PE at a time calls the collectives; health and abort may be used from any thread.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_H
#define ACLSHMEMI_BOOTSTRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/utils/env.h"
#include "host/utils/status.h"

typedef struct aclshmemi_bootstrap aclshmemi_bootstrap_t;

/* What PEs must agree on in a collective; compared byte for byte, so unused parts are zero. */
typedef struct aclshmemi_fingerprint {
    char call[24];    /* "malloc"; shown to the user */
    uint64_t args[5]; /* sizes and the like */
    char names[40];   /* what args are, for the message: "size alignment heap"; "" hides them */
} aclshmemi_fingerprint_t;

typedef struct aclshmemi_bootstrap_params {
    int pe;
    int n_pes;
    uint64_t init_timeout_ms;      /* to reach PE 0 */
    uint64_t operation_timeout_ms; /* per collective */
    const char *ip_port; /* store by address; NULL or "" when uid is given; not necessarily terminated */
    const void *uid;     /* store by id: the 136 bytes, any alignment; NULL otherwise */
    int listen_fd;       /* bound socket for PE 0, stays the caller's; -1: none */
    void *comm;          /* mpi: MPI_Comm *, NULL means world */
    aclshmemi_fingerprint_t
        agree; /* must be equal on all PEs at connect time (heap size, build); refused otherwise */
    const aclshmemi_env_t *env; /* outlives the bootstrap */
} aclshmemi_bootstrap_params_t;

/*
 * A backend. open fills bs->state or fails with everything undone. Collectives block until all PEs arrived, the
 * deadline of the operation passed (SMEM_ERROR, the text lists the missing PEs) or a PE died (SMEM_ERROR, at once).
 */
typedef struct aclshmemi_bootstrap_ops {
    const char *name;
    int (*open)(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_params_t *params);
    /* recv: n_pes * bytes, in PE order; bytes is equal on all PEs. */
    int (*allgather)(aclshmemi_bootstrap_t *bs, const void *send, void *recv, size_t bytes);
    /* All PEs pass the same fingerprint or all get INVALID_PARAM with a text that shows two differing PEs. NULL: the
     * framework builds it from allgather. */
    int (*barrier)(aclshmemi_bootstrap_t *bs, const aclshmemi_fingerprint_t *fingerprint);
    /* From now on a PE that dies ends the others (setting on_peer_death), and a lost PE 0 likewise. */
    void (*arm)(aclshmemi_bootstrap_t *bs);
    /* Tells all PEs to end with status, waits until the word is out (bounded), returns. The caller then exits. */
    void (*abort)(aclshmemi_bootstrap_t *bs, int status);
    /* Says goodbye; peers do not take it for a death. Bounded, never fails, accepts a half-open state. */
    void (*close)(aclshmemi_bootstrap_t *bs);
    /* In the child after fork(): closes descriptors without a word to anybody. */
    void (*forget)(aclshmemi_bootstrap_t *bs);
} aclshmemi_bootstrap_ops_t;

struct aclshmemi_bootstrap {
    const aclshmemi_bootstrap_ops_t *ops;
    int pe;
    int n_pes;
    void *state;           /* the backend's */
    _Atomic int failed_pe; /* first PE known dead, -1: none; waits look at it */
    char describe[160];    /* one line for logs: "store tcp://127.0.0.1:8666, tls 1.3 (psk, user secret)" */
};

extern const aclshmemi_bootstrap_ops_t aclshmemi_bootstrap_self; /* one PE, no socket */
extern const aclshmemi_bootstrap_ops_t
    aclshmemi_bootstrap_store; /* key-value store on PE 0, by address or id */
extern const aclshmemi_bootstrap_ops_t aclshmemi_bootstrap_mpi; /* a communicator of the user, by plug-in */

int aclshmemi_bootstrap_open(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_ops_t *ops,
                             const aclshmemi_bootstrap_params_t *params) ACLSHMEMI_MUST_CHECK;
int aclshmemi_bootstrap_allgather(aclshmemi_bootstrap_t *bs, const void *send, void *recv,
                                  size_t bytes) ACLSHMEMI_MUST_CHECK;
int aclshmemi_bootstrap_barrier(aclshmemi_bootstrap_t *bs,
                                const aclshmemi_fingerprint_t *fingerprint) ACLSHMEMI_MUST_CHECK;
/* For backends: the barrier made of ops->allgather, also before bs is open. */
int aclshmemi_bootstrap_barrier_by_allgather(aclshmemi_bootstrap_t *bs, const aclshmemi_bootstrap_ops_t *ops,
                                             const aclshmemi_fingerprint_t *fingerprint) ACLSHMEMI_MUST_CHECK;
void aclshmemi_bootstrap_arm(aclshmemi_bootstrap_t *bs);
void aclshmemi_bootstrap_abort(aclshmemi_bootstrap_t *bs, int status);
void aclshmemi_bootstrap_close(aclshmemi_bootstrap_t *bs); /* accepts a zeroed one */
void aclshmemi_bootstrap_forget(aclshmemi_bootstrap_t *bs);

/* Builds a fingerprint; names and args as in the struct, at most five args. */
aclshmemi_fingerprint_t aclshmemi_fingerprint(const char *call, const char *names, size_t count,
                                              const uint64_t *args);
/* Of the last barrier of an instance: who passed it may go. */
aclshmemi_fingerprint_t aclshmemi_fingerprint_farewell(void);
/* What stands for it where only eight bytes travel. */
uint64_t aclshmemi_fingerprint_hash(const aclshmemi_fingerprint_t *fingerprint);
/* The message for two PEs that differ, e.g. "PE 0 calls malloc(size 64), PE 3 calls malloc(size 128)". */
void aclshmemi_fingerprint_explain(const aclshmemi_fingerprint_t *a, int pe_a,
                                   const aclshmemi_fingerprint_t *b, int pe_b, char *out, size_t size);

/* --- Unique ids (uid/) --- */

/* Picks an address, binds a socket there, draws magic and secret. The socket waits in a table for the init that uses
 * the id; an id made later replaces one that was never used. loopback: take it without looking further. */
int aclshmemi_uid_create(const aclshmemi_env_t *env, bool loopback,
                         aclshmemx_uniqueid_t *uid) ACLSHMEMI_MUST_CHECK;
/* Closes the sockets of ids that were never used (end of process, tests). */
void aclshmemi_uid_drop_all(void);

/* --- TLS settings of the process (tls/); public front in init/ --- */

int aclshmemi_tls_configure(bool enable, const char *info, uint32_t info_len) ACLSHMEMI_MUST_CHECK;
int aclshmemi_tls_set_key(const char *key, uint32_t key_len, const char *pass, uint32_t pass_len,
                          int (*decrypt)(const char *, size_t, char *, size_t *)) ACLSHMEMI_MUST_CHECK;
/* Wipes a key that no init used: at the last finalize, and when the control plane is MPI's. */
void aclshmemi_tls_drop_key(void);

/* True when certificates were described: on a control plane without TLS of ours they go unused. */
bool aclshmemi_tls_is_described(void);

/* --- MPI (mpi/) --- */

/* The place of this process in a communicator (MPI_Comm *, NULL: the world); starts MPI where nobody did. */
int aclshmemi_mpi_locate(const aclshmemi_env_t *env, void *comm, int *pe, int *n_pes) ACLSHMEMI_MUST_CHECK;

/* --- Launchers (launch/, pmi/) --- */

typedef struct aclshmemi_launch {
    char name[16]; /* "aclshmemrun", "torchrun" ... "alone" */
    int pe, n_pes;
    int local_pe, local_npes; /* -1: unknown */
    bool single_host;         /* known to be one host */
} aclshmemi_launch_t;

/* Which launcher's variables are present, by the order of the table in launch/look.c; numbers are parsed strictly. Reads the environment;
 * asks the launcher only where the number of PEs is not in it (PMIx without Open MPI's names, PMI_PORT). */
int aclshmemi_launch_detect(const aclshmemi_env_t *env, aclshmemi_launch_t *launch) ACLSHMEMI_MUST_CHECK;
/* Collective over the PEs of the launch: agrees on a unique id through whatever the launcher offers. The bytes may differ
 * between PEs in the address: each has the one under which it reaches PE 0. */
int aclshmemi_launch_meet(const aclshmemi_env_t *env, const aclshmemi_launch_t *launch, uint64_t timeout_ms,
                          aclshmemx_uniqueid_t *uid) ACLSHMEMI_MUST_CHECK;
/* Once for each aclshmemi_launch_meet(), however that ended, when its instance is gone: after the last one the launcher
 * is told that this process may end. A later meet is possible. */
void aclshmemi_launch_done(void);
/* Asks the launcher to end the whole job with this status, where it offers that; bounded; the caller then exits. */
void aclshmemi_launch_abort(int status);
/* In the child after fork(): lets go of the launcher's connection without a word. */
void aclshmemi_launch_forget(void);

#endif
