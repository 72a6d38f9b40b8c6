/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the server share. */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_SERVER_INSIDE_H
#define ACLSHMEMI_BOOTSTRAP_STORE_SERVER_INSIDE_H

#include "host/bootstrap/store/server.h"
#include "host/bootstrap/store/table.h"

typedef enum peer_state { PEER_ABSENT, PEER_JOINED, PEER_LEFT, PEER_DEAD } peer_state_t;

typedef struct request request_t; /* a GET that waits; server_table.c */

typedef struct peer {
    aclshmemi_store_server_t *server;
    aclshmemi_store_link_t *link; /* NULL unless joined, or left and not hung up yet */
    uint8_t state;
    bool waits;        /* for the collective number round */
    bool at_root;      /* sends its pieces to the server itself */
    bool asked_parent; /* join_sequence waits for an answer */
    bool listens;      /* place is known */
    bool told;         /* was told that the job cannot come together */
    uint32_t arrive_sequence;
    uint32_t join_sequence;
    uint32_t pid;
    uint64_t round;                                            /* last collective it arrived at */
    uint64_t last_ns;                                          /* when it last did something worth telling */
    char last[sizeof((aclshmemi_fingerprint_t *)0)->call + 1]; /* what; "" before its first collective */
    char host[ACLSHMEMI_STORE_HOST_MAX];
    aclshmemi_store_place_t place; /* where it listens for its children */
    request_t *requests;
} peer_t;

/* A collective from its first arrival until all have arrived, or have been told that it failed. */
typedef struct collective {
    struct collective *next;
    aclshmemi_store_server_t *server;
    uint64_t round;
    uint8_t kind;
    int first_pe;
    int arrived;
    aclshmemi_fingerprint_t fingerprint; /* of the first */
    uint64_t since_ns;
    uint64_t report_ms;
    aclshmemi_store_timer_t deadline, report;
    int code;     /* 0 while it may still succeed */
    bool expired; /* it failed because somebody did not come */
    char text[ACLSHMEMI_STORE_TEXT_MAX];
} collective_t;

/* The payloads of one chunk, as they come together. */
typedef struct assembly {
    uint64_t round;
    uint32_t chunk;
    uint32_t bytes;
    uint32_t count;
    uint8_t *have;                /* per PE */
    aclshmemi_store_blob_t *down; /* the body of DOWN; NULL: none under way */
} assembly_t;

struct aclshmemi_store_server {
    aclshmemi_store_loop_t *loop;
    aclshmemi_store_door_t *door;
    aclshmemi_store_table_t *table;
    int n_pes;
    uint64_t magic;
    uint32_t epoch;
    uint32_t fanout; /* 0: no tree */
    uint64_t wait_report_ms;
    char build[ACLSHMEMI_STORE_BUILD_MAX];
    aclshmemi_fingerprint_t agree;
    peer_t *peers;
    size_t joined;   /* now */
    int joined_ever; /* n_pes: the job is complete, whoever comes now belongs to another one */
    collective_t *collectives;
    size_t n_collectives;
    uint64_t forgotten_round; /* collectives up to here failed and are remembered no more */
    assembly_t assembly;
    /* The verdict: once code is set, every collective fails with it. */
    int code;
    int culprit;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
    bool refused; /* the job could not come together: everybody who comes is told so */
    int deaths;
    int lost_pe; /* a link of the tree to this PE broke; judged when lost expires */
    int lost_by;
    aclshmemi_store_timer_t lost;
    /* The end. */
    bool exiting, exit_done;
    int exit_status;
    int exit_by;
    uint32_t exit_sequence;
    bool closing, leaving;
    void (*closed)(void *owner);
    void *closed_owner;
    aclshmemi_deadline_t end_deadline;
    aclshmemi_store_timer_t end;
};

static inline int peer_rank(const peer_t *peer)
{
    return (int)(peer - peer->server->peers);
}

/* server.c */
void aclshmemi_store_server_push(aclshmemi_store_server_t *server, const aclshmemi_store_note_t *note,
                                 int except);
void aclshmemi_store_server_reply(peer_t *peer, int type, int result, uint32_t sequence, int culprit,
                                  const char *text);
/* server_round.c */
int aclshmemi_store_server_arrive(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
/* Everything that waits fails now, everything later at once. The first verdict stays. */
void aclshmemi_store_server_condemn(aclshmemi_store_server_t *server, int code, int culprit,
                                    const char *text);
void aclshmemi_store_server_free_rounds(aclshmemi_store_server_t *server);
/* server_gather.c */
int aclshmemi_store_server_up(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
int aclshmemi_store_server_join(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
int aclshmemi_store_server_adopt(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
int aclshmemi_store_server_lost(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_server_judge_lost(void *owner);
/* server_table.c */
int aclshmemi_store_server_table(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_server_drop_requests(peer_t *peer);
/* server_end.c */
int aclshmemi_store_server_goodbye(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
int aclshmemi_store_server_exit(peer_t *peer, const aclshmemi_store_frame_t *frame) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_server_broke(void *owner, int code, const char *why);
void aclshmemi_store_server_look_at_end(void *owner);

#endif
