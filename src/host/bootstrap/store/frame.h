/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels between PEs and the store: the only place that knows the bytes. Everything read here came from a
 * network and is checked before use; nothing is trusted, also not from a PE.
 *
 * Header, 16 bytes, little endian:
 *     0 int16 type   2 int16 result (replies)   4 uint32 body length   8 uint32 sequence   12 uint32 epoch
 * The epoch is a number PE 0 draws for each run and hands out in its answer to HELLO; every later frame carries it,
 * so a link of an earlier run is recognised. HELLO itself carries 0. A body is at most 10 MiB; a header that says
 * more ends the link. A reply carries the type and the sequence number of its request.
 *
 * The magic in HELLO tells jobs apart; it authenticates nobody, which is what TLS is for. By address it is a known
 * constant, and a late process of an earlier run is kept away by the TLS secret, by number of PEs, rank and
 * fingerprint, and by the epoch. With a unique id it is the id's random number.
 */
#ifndef ACLSHMEMI_BOOTSTRAP_STORE_FRAME_H
#define ACLSHMEMI_BOOTSTRAP_STORE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/bootstrap/bootstrap.h"
#include "host/utils/buf.h"
#include "host/utils/net.h"

#define ACLSHMEMI_STORE_VERSION          1
#define ACLSHMEMI_STORE_HEADER_LEN       16
#define ACLSHMEMI_STORE_BODY_MAX         (10u << 20)
#define ACLSHMEMI_STORE_HELLO_MAX        4096 /* body limit until HELLO was accepted */
#define ACLSHMEMI_STORE_MAGIC_BY_ADDRESS UINT64_C(0x0ACC)
#define ACLSHMEMI_STORE_TEXT_MAX         512 /* of any text in a frame, terminator included */
#define ACLSHMEMI_STORE_BUILD_MAX        64
#define ACLSHMEMI_STORE_HOST_MAX         64

/* Results of table operations, as in the interface; other results are library codes. */
enum {
    ACLSHMEMI_STORE_BAD_REQUEST = -400,
    ACLSHMEMI_STORE_BAD_KEY = -401,
    ACLSHMEMI_STORE_NO_KEY = -404,
    ACLSHMEMI_STORE_EXPIRED = -601
};

typedef enum aclshmemi_store_type {
    ACLSHMEMI_STORE_TABLE = 0, /* request of the key-value table */
    ACLSHMEMI_STORE_HELLO = 1,
    ACLSHMEMI_STORE_ARRIVE,  /* I am at collective number n; answered when all are */
    ACLSHMEMI_STORE_UP,      /* payloads of some PEs on their way to PE 0; no reply */
    ACLSHMEMI_STORE_DOWN,    /* payloads of all PEs on their way back; no reply */
    ACLSHMEMI_STORE_JOIN,    /* where is my parent in the tree; answered when it is known */
    ACLSHMEMI_STORE_ADOPT,   /* my parent cannot be reached, let PE 0 be it */
    ACLSHMEMI_STORE_LOST,    /* a link of the tree broke; no reply */
    ACLSHMEMI_STORE_GOODBYE, /* what follows is no death */
    ACLSHMEMI_STORE_EXIT,    /* end all PEs with a status */
    ACLSHMEMI_STORE_EVENT,   /* pushed by PE 0 */
    ACLSHMEMI_STORE_TYPE_COUNT
} aclshmemi_store_type_t;

typedef struct aclshmemi_store_header {
    int16_t type;
    int16_t result;
    uint32_t length;
    uint32_t sequence;
    uint32_t epoch;
} aclshmemi_store_header_t;

void aclshmemi_store_header_encode(const aclshmemi_store_header_t *header,
                                   uint8_t out[ACLSHMEMI_STORE_HEADER_LEN]);
void aclshmemi_store_header_decode(const uint8_t in[ACLSHMEMI_STORE_HEADER_LEN],
                                   aclshmemi_store_header_t *header);

/* Bytes that may still become a valid start of what we expect from a caller, judged before anything is spent on it. */
typedef enum aclshmemi_store_opening {
    ACLSHMEMI_STORE_OPENING_UNCLEAR, /* too few bytes, none of them wrong */
    ACLSHMEMI_STORE_OPENING_TLS,     /* a TLS ClientHello */
    ACLSHMEMI_STORE_OPENING_FRAME,   /* our HELLO in plain text */
    ACLSHMEMI_STORE_OPENING_NOISE
} aclshmemi_store_opening_t;

#define ACLSHMEMI_STORE_OPENING_BYTES 20
aclshmemi_store_opening_t aclshmemi_store_opening_judge(const uint8_t *bytes, size_t size);

/* --- The table: requests and replies --- */

typedef enum aclshmemi_store_op {
    ACLSHMEMI_STORE_SET,
    ACLSHMEMI_STORE_GET,
    ACLSHMEMI_STORE_ADD,
    ACLSHMEMI_STORE_REMOVE,
    ACLSHMEMI_STORE_APPEND,
    ACLSHMEMI_STORE_CAS,
    ACLSHMEMI_STORE_OP_COUNT
} aclshmemi_store_op_t;

#define ACLSHMEMI_STORE_ITEMS_MAX      10
#define ACLSHMEMI_STORE_WIRE_KEY_MAX   2048
#define ACLSHMEMI_STORE_WIRE_VALUE_MAX (UINT64_C(64) << 20)
#define ACLSHMEMI_STORE_KEY_MAX        1024
#define ACLSHMEMI_STORE_VALUE_MAX      (ACLSHMEMI_STORE_BODY_MAX - 64) /* so that a reply can carry any value */

typedef struct aclshmemi_store_item {
    const uint8_t *data; /* borrowed */
    size_t size;
} aclshmemi_store_item_t;

/* A reply is the same thing without keys, its value the only one. */
typedef struct aclshmemi_store_message {
    int64_t user;
    int16_t op;
    size_t n_keys, n_values;
    aclshmemi_store_item_t keys[ACLSHMEMI_STORE_ITEMS_MAX];
    aclshmemi_store_item_t values[ACLSHMEMI_STORE_ITEMS_MAX];
} aclshmemi_store_message_t;

/* Views into body. BAD_REQUEST when anything is out of order; quiet. */
int aclshmemi_store_message_decode(const void *body, size_t size,
                                   aclshmemi_store_message_t *message) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_message_encode(const aclshmemi_store_message_t *message, aclshmemi_writer_t *out);

/* --- Joining --- */

typedef enum aclshmemi_store_role {
    ACLSHMEMI_STORE_ROLE_CONTROL,
    ACLSHMEMI_STORE_ROLE_TREE
} aclshmemi_store_role_t;

typedef struct aclshmemi_store_hello {
    uint16_t version;
    uint8_t role;
    uint64_t magic;
    uint32_t rank;
    uint32_t n_pes;
    uint32_t epoch; /* of the run, in the tree role */
    uint32_t pid;
    char build[ACLSHMEMI_STORE_BUILD_MAX];
    char host[ACLSHMEMI_STORE_HOST_MAX];
    aclshmemi_fingerprint_t agree;
} aclshmemi_store_hello_t;

/* Another protocol version decodes too, as far as all versions agree: version alone is meaningful then. */
int aclshmemi_store_hello_decode(const void *body, size_t size,
                                 aclshmemi_store_hello_t *hello) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_hello_encode(const aclshmemi_store_hello_t *hello, aclshmemi_writer_t *out);

/* Answer to HELLO; the header's result says whether it is a yes. */
typedef struct aclshmemi_store_welcome {
    uint32_t epoch;
    uint32_t fanout; /* children of a PE in the tree; 0: everybody sends to PE 0 */
    char text[ACLSHMEMI_STORE_TEXT_MAX];
} aclshmemi_store_welcome_t;

int aclshmemi_store_welcome_decode(const void *body, size_t size,
                                   aclshmemi_store_welcome_t *welcome) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_welcome_encode(const aclshmemi_store_welcome_t *welcome, aclshmemi_writer_t *out);

/* --- Collectives --- */

typedef enum aclshmemi_store_kind {
    ACLSHMEMI_STORE_BARRIER,
    ACLSHMEMI_STORE_ALLGATHER
} aclshmemi_store_kind_t;

typedef struct aclshmemi_store_arrive {
    uint64_t round; /* counts 1, 2, 3 ... over barriers and allgathers together */
    uint8_t kind;
    uint64_t timeout_ms;
    aclshmemi_fingerprint_t fingerprint;
} aclshmemi_store_arrive_t;

int aclshmemi_store_arrive_decode(const void *body, size_t size,
                                  aclshmemi_store_arrive_t *arrive) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_arrive_encode(const aclshmemi_store_arrive_t *arrive, aclshmemi_writer_t *out);

/* A piece of an allgather on its way. UP: count times (uint32 pe, bytes). DOWN: count times bytes, in PE order. */
typedef struct aclshmemi_store_piece {
    uint64_t round;
    uint32_t chunk;
    uint32_t bytes;      /* per PE */
    uint32_t count;      /* PEs in it */
    const uint8_t *data; /* borrowed */
} aclshmemi_store_piece_t;

#define ACLSHMEMI_STORE_PIECE_PREFIX 20
#define ACLSHMEMI_STORE_CHUNK_TOTAL  (8u << 20) /* of all PEs together */
int aclshmemi_store_piece_decode(const void *body, size_t size, bool up,
                                 aclshmemi_store_piece_t *piece) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_piece_encode(const aclshmemi_store_piece_t *piece,
                                  uint8_t out[ACLSHMEMI_STORE_PIECE_PREFIX]);
/* Bytes per PE of one chunk, at least 1. */
uint32_t aclshmemi_store_chunk_bytes(int n_pes);

/* --- The rest --- */

typedef enum aclshmemi_store_event_kind {
    ACLSHMEMI_STORE_EVENT_DEATH = 1, /* pe died, text says how it was noticed */
    ACLSHMEMI_STORE_EVENT_FAILED,  /* no collective can succeed any more; value is the code, text says why */
    ACLSHMEMI_STORE_EVENT_EXIT,    /* pe ends the job with value */
    ACLSHMEMI_STORE_EVENT_REPORT,  /* text says who is missing */
    ACLSHMEMI_STORE_EVENT_LEAVING, /* PE 0 closes in good order */
    ACLSHMEMI_STORE_EVENT_ORPHAN   /* pe is no longer your child in the tree */
} aclshmemi_store_event_kind_t;

/* Used for EVENT, LOST (pe), ADOPT (pe), GOODBYE (text), EXIT (value), and for replies that carry a text. */
typedef struct aclshmemi_store_note {
    uint8_t kind;
    int32_t pe;
    int32_t value;
    char text[ACLSHMEMI_STORE_TEXT_MAX];
} aclshmemi_store_note_t;

int aclshmemi_store_note_decode(const void *body, size_t size,
                                aclshmemi_store_note_t *note) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_note_encode(const aclshmemi_store_note_t *note, aclshmemi_writer_t *out);

/* JOIN: where this PE listens for its children (length 0: nowhere). Its reply: the parent and where it listens. */
typedef struct aclshmemi_store_place {
    uint32_t pe;
    aclshmemi_addr_t addr;
} aclshmemi_store_place_t;

int aclshmemi_store_place_decode(const void *body, size_t size,
                                 aclshmemi_store_place_t *place) ACLSHMEMI_MUST_CHECK;
void aclshmemi_store_place_encode(const aclshmemi_store_place_t *place, aclshmemi_writer_t *out);

#endif
