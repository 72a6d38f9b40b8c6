/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of aclshmemrun share: options, the job, its PEs, and who offers which function.
 *
 * Two processes run this code. The front is the one the user started: it catches signals, passes them on, and returns
 * the exit code. The keeper, its child, is everything else: it starts the PEs, reads their output, serves PMI, ends
 * them. Both are subreapers, so whichever of the two is killed, the other one still finds every descendant.
 */
#ifndef ACLSHMEMRUN_RUN_H
#define ACLSHMEMRUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };
enum { MAX_PES = 16384, SECRET_BYTES = 32 };

/* --- options.c --- */

typedef struct strlist {
    char **items;
    size_t count;
} strlist_t;

#define OPT_FIELD_count(field)   int field;
#define OPT_FIELD_seconds(field) uint64_t field##_ms;
#define OPT_FIELD_flag(field)    bool field;
#define OPT_FIELD_word(field)    int field;
#define OPT_FIELD_text(field)    char *field; /* NULL: not given and no default */
#define OPT_FIELD_maybe(field)   char *field; /* NULL: not given */
#define OPT_FIELD_list(field)    strlist_t field;

/* One program of the colon list. */
typedef struct segment {
    char **argv; /* NULL-terminated, points into main's */
    int n;
    char *wdir;
} segment_t;

typedef struct options {
#define OPT(field, letter, name, kind, arg, dflt, range, flags, text) OPT_FIELD_##kind(field)
#include "options.def"
#undef OPT
    segment_t *segments;
    int n_segments;
    int n_pes;    /* sum over the segments */
    int input_pe; /* which PE reads standard input; -1: none, -2: all */
} options_t;

enum { INPUT_NONE = -1, INPUT_ALL = -2 };

/* 0: start the job; otherwise everything has been said and *code is what to exit with. */
int options_parse(options_t *options, int argc, char **argv, int *code);
void options_free(options_t *options);

/* --- convert.c --- */

int options_take_defaults(options_t *options);
int options_take_variables(options_t *options);
int parse_range(const char *text, long low, long high, long *out);
/* "0,2-5" or "all" -> flags per PE; -1 when it is not such a list or names a PE that does not exist. */
int parse_pe_list(const char *text, int n_pes, bool *chosen);
int strlist_add(strlist_t *list, const char *item, size_t length);
void strlist_free(strlist_t *list);

int text_replace(char **field, const char *value);

/* --- help.c --- */

typedef struct option_row {
    char letter;
    const char *name;
    const char *arg;
    const char *dflt;
    const char *range;
    const char *text;
    int kind, flags;
    size_t offset;
} option_row_t;

enum { OPT_LOCAL = 1, OPT_MORE = 2, OPT_FRONT = 4 };
extern const option_row_t option_rows[];
extern const size_t option_row_count;
/* value NULL: none was given. shown: how the user wrote it, for messages. */
int option_store(options_t *options, const option_row_t *row, const char *value, const char *shown);
bool option_value_optional(const option_row_t *row);
bool option_needs_value(const option_row_t *row);

void help_print(bool all);
/* The option (or variable, with its prefix) whose name is nearest, NULL when nothing is near. */
const char *help_nearest(const char *name);

/* --- loop.c --- */

/* A descriptor we wait on. Owners embed it; a closed one has fd -1. */
typedef struct watch {
    int fd;
    uint32_t events; /* what epoll has been told */
    void (*ready)(struct watch *watch, uint32_t events);
    void *owner;
} watch_t;

int loop_open(void);
void loop_close(void);
/* Takes what is ready within timeout_ms (-1: wait for ever) and calls the owners. */
void loop_once(int timeout_ms);
int watch_set(watch_t *watch, uint32_t events);
void watch_close(watch_t *watch);
uint64_t now_ms(void);

/* --- output.c --- */

struct pe;
struct job;
typedef struct sink sink_t;

/* One output pipe of one PE. */
typedef struct stream {
    watch_t watch;
    struct pe *pe;
    bool is_error;
    sink_t *sinks[2]; /* where it goes; the second one for --tee */
    int n_sinks;
    char *buffer;      /* LINE_BYTES, made at the first byte */
    size_t start, end; /* what is in it and not passed on */
    bool mid_line;     /* the next byte continues a line that has been passed on in part */
    bool waiting;      /* held back by the unfinished line of another PE */
    bool starved;      /* held back by a full sink */
    bool eof;
    uint64_t last_ms; /* when the last byte came */
} stream_t;

int output_open(struct job *job);
int output_attach(struct job *job, struct pe *pe); /* gives the two streams their sinks */
void output_watch(stream_t *stream, int fd);
int output_timeout(struct job *job); /* ms until output_tick is wanted, -1: not */
void output_tick(struct job *job);
void output_drain(struct job *job); /* no child lives any more: what the pipes hold now is all */
bool output_idle(struct job *job);  /* everything has been written, or can never be */
void output_close(struct job *job);
/* "aclshmemrun: ..." on standard error, a line of its own, in order with what the PEs wrote. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- input.c --- */

int input_open(struct job *job);
int input_for(struct job *job, struct pe *pe, int *child_fd); /* what becomes standard input of that PE */
void input_start(struct job *job);
int input_timeout(struct job *job);
void input_tick(struct job *job);
void input_close(struct job *job);

/* --- pmi.c --- */

typedef struct pmi {
    watch_t watch;
    struct pe *pe;
    char *in, *out; /* made at the first byte */
    size_t in_len, out_len;
    bool in_multi; /* inside a command of several lines */
    bool started;  /* init, and not finalize after it */
    bool in_barrier;
    bool used;      /* ever said init */
    char waits[96]; /* what the PE says it is waiting for */
    uint64_t since_ms;
} pmi_t;

typedef struct kvs {
    void *root; /* tsearch tree */
    size_t bytes;
} kvs_t;

int pmi_open(struct job *job, struct pe *pe, int *child_fd);
void pmi_catch_up(struct pe *pe);     /* takes what a PE that has ended said last */
void pmi_peer_ended(struct job *job); /* a barrier that can never be complete fails */
void pmi_close(struct job *job, struct pe *pe);
void pmi_reset(struct job *job); /* forgets all keys */

/* --- bind.c --- */

int bind_cores(void); /* cores this process may use, the quota of its control group counted */
int bind_open(struct job *job);
void bind_describe(struct job *job, const struct pe *pe, char *out, size_t size);
int bind_child(struct job *job, const struct pe *pe); /* in the child */
void bind_close(struct job *job);
void bind_unload(void);

/* --- The job --- */

typedef enum start_stage { STAGE_EXEC, STAGE_FOLDER, STAGE_SETUP } start_stage_t;
typedef enum pe_state { PE_WAITING, PE_STARTED, PE_ENDED } pe_state_t;

typedef struct pe {
    struct job *job;
    int rank;
    const segment_t *segment;
    int appnum;
    char **argv; /* what is executed, wrappers included */
    bool waits_for_gdb;
    pid_t pid;
    pe_state_t state;
    int status; /* as from wait */
    bool told_to_end;
    bool failed; /* by itself, not because we ended it */
    bool no_finalize;
    int start_errno; /* why the program was not started, and at which stage; 0: it was */
    start_stage_t start_stage;
    uint64_t started_ms, ended_ms;
    stream_t out, err;
    pmi_t pmi;
    watch_t input;
    size_t input_done; /* bytes of the shared buffer it has taken */
    char last_words[200];
} pe_t;

typedef enum phase { PHASE_RUN, PHASE_TERM, PHASE_KILL } phase_t;
typedef enum why { WHY_NOTHING, WHY_PE, WHY_ABORT, WHY_SIGNAL, WHY_TIMEOUT, WHY_START, WHY_FRONT_GONE } why_t;

struct input;
struct bind;
struct output;
struct status;

typedef struct job {
    options_t *options;
    const char *host;
    char id[40];
    int attempt; /* 0, then one more per restart */
    pe_t *pes;
    int n_pes;
    int alive; /* PEs started and not ended */
    phase_t phase;
    why_t why;
    int code;   /* exit code once decided */
    int why_pe; /* who decided it, -1 nobody in particular */
    int why_signal;
    char why_text[160];
    uint64_t started_ms, timeout_at_ms;
    uint64_t term_ms, kill_at_ms, kill_ms,
        give_up_ms; /* since when we ask, will kill, kill, and until when */
    uint64_t last_int_ms;
    bool children_gone;   /* wait says so: nothing of the job is left */
    bool drained;         /* and the pipes have been emptied */
    bool sweep;           /* somebody ended, so orphans may have come to us */
    bool abandon;         /* do not even wait for the readers of our output */
    watch_t channel;      /* to the front */
    watch_t children;     /* signalfd for SIGCHLD */
    watch_t start_errors; /* pipe on which children tell why exec failed */
    int start_errors_write;
    int life_read, life_write;
    unsigned char secret[SECRET_BYTES];
    char kvsname[64];
    kvs_t kvs;
    strlist_t *wrappers; /* words of --wrap and its like */
    int n_wrappers;
    bool terminal;                  /* PE 0 keeps the terminal */
    bool told_of_terminal;          /* that a PE without it wanted to use it */
    bool own_port;                  /* MASTER_PORT is ours to choose */
    unsigned long descriptor_limit; /* soft limit we were started with */
    struct input *input;
    struct bind *bind;
    struct output *output;
    struct status *status;
} job_t;

/* job.c */
int job_run(options_t *options, int channel);
void job_stop(job_t *job, why_t why, int pe, int code);
void job_flush(job_t *job); /* waits until the readers of our output have taken it */
void job_forward(job_t *job, int signal_number);

/* spawn.c */
int spawn_check(job_t *job); /* programs and folders, before anything is started; else the exit code */
int spawn_pe(job_t *job, pe_t *pe);
void spawn_read_errors(job_t *job);

/* children.c */
void children_reap(job_t *job);
void children_signal(int signal_number); /* the groups of all PEs and all orphans we inherited */
void children_signal_orphans(job_t *job, int signal_number); /* the latter only */
int children_kill_all(int give_up_ms);                       /* used by the front when the keeper is gone */
void children_give_terminal(pid_t group);
void children_take_terminal(pid_t from);
bool children_own_terminal(void);

/* childenv.c */
typedef void (*env_sink_t)(void *to, const char *name, const char *value);
void childenv_prepare(job_t *job); /* cleans our own environment and sets what is equal for all PEs */
void childenv_each(const pe_t *pe, int pmi_fd, int secret_fd, int life_fd, env_sink_t sink, void *to);
bool childenv_is_ours(const char *name, size_t length);
int childenv_check(const options_t *options);
void childenv_attempt(job_t *job); /* what changes from start to start */
void childenv_print(job_t *job, FILE *to);

/* wrap.c */
int wrap_prepare(job_t *job);
void wrap_wait_for_debugger(void);
void wrap_started(job_t *job, pe_t *pe);
void wrap_free(job_t *job);

/* hosts.c */
/* slots: those of the hosts named, most: as many PEs as they take; 0 when not said. */
int hosts_check(options_t *options, const char *host, int *slots, int *most);

/* report.c */
void report_job(job_t *job);
void report_plan(job_t *job, bool to_stdout);
void report_bindings(job_t *job);
int report_code_of(const pe_t *pe);

/* status.c */
int status_open(job_t *job);
void status_close(job_t *job);
int status_ask(const char *pid);
int status_timeout(job_t *job);
void status_tick(job_t *job);

/* front.c */
int front_run(options_t *options);
void front_restore_signals(void); /* in children: the mask and dispositions a program expects */

#endif
