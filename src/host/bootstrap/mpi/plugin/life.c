/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in for MPI: its life. MPI is started by the program or by us, and ended by whoever started it; it cannot be
 * started twice in a process. When the program ends MPI before SHMEM, the farewell that SHMEM's finalize would exchange
 * is exchanged on the way, by a callback on MPI_COMM_SELF, which MPI_Finalize runs while MPI still works.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host/bootstrap/mpi/plugin/inside.h"
#include "host/shmem_host_def.h"
#include "host/utils/clock.h"

#define FAREWELL_MS 30000

static bool ours;     /* we started MPI */
static bool watching; /* the callback is in place */

int mpi_fail(aclshmemi_mpi_words_t *words, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(words->text, sizeof words->text, format, args);
    va_end(args);
    return code;
}

int mpi_fail_mpi(aclshmemi_mpi_words_t *words, int mpi_code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(mpi_code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", mpi_code);
    return mpi_fail(words, ACLSHMEM_INNER_ERROR, "%s failed in MPI: %s", what, text);
}

bool mpi_is_running(void)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

/* --- Waiting --- */

/* MPI_Test moves the data, so it must be called; but a PE that waits for another one lets it run. */
static void take_a_break(unsigned turn)
{
    enum { SPINS = 100, YIELDS = 2000, LONGEST_NS = 500000 };
    if (turn < SPINS)
        return;
    if (turn < YIELDS) {
        sched_yield();
        return;
    }
    long ns = 20000 * (long)(turn - YIELDS + 1);
    nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST_NS ? ns : LONGEST_NS}, NULL);
}

int mpi_wait(MPI_Request *request, uint64_t timeout_ms, const char *what, aclshmemi_mpi_words_t *words)
{
    aclshmemi_deadline_t deadline = aclshmemi_deadline_after_ms(timeout_ms);
    for (unsigned turn = 0;; turn += turn < 1000000) {
        int done = 0;
        mpi_lock();
        int rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        mpi_unlock();
        if (rc != MPI_SUCCESS)
            return mpi_fail_mpi(words, rc, what);
        if (done)
            return 0;
        if (aclshmemi_deadline_passed(deadline))
            return mpi_fail(words, ACLSHMEM_SMEM_ERROR,
                            "%s over MPI did not end within %.1f s: not all PEs take part, and MPI does not "
                            "tell who is missing",
                            what, (double)timeout_ms / 1000);
        take_a_break(turn);
    }
}

/* --- Start --- */

static void end_at_exit(void)
{
    aclshmemi_mpi_words_t words;
    mpi_end(&words);
}

int mpi_start(const void *comm, aclshmemi_mpi_words_t *words)
{
    int started = 0, ended = 0, level = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (ended)
        return mpi_fail(words, ACLSHMEM_INNER_ERROR,
                        "MPI was already ended in this process and cannot be started again; a program that "
                        "initializes SHMEM more than once calls MPI_Init itself");
    if (started)
        return mpi_may_call(words);
    if (comm != NULL && *(const MPI_Comm *)comm != MPI_COMM_WORLD && *(const MPI_Comm *)comm != MPI_COMM_SELF)
        return mpi_fail(words, ACLSHMEM_INNER_ERROR,
                        "MPI is not started, so comm_args can only be NULL or point to MPI_COMM_WORLD or "
                        "MPI_COMM_SELF");
    int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level); /* less is accepted */
    if (rc != MPI_SUCCESS)
        return mpi_fail(words, ACLSHMEM_INNER_ERROR, "MPI_Init_thread failed with %d", rc);
    ours = true;
    /* After an init that failed MPI stays, so that a second try is possible; a process that leaves in order still
     * says goodbye to the launcher. */
    atexit(end_at_exit);
    return 0;
}

int mpi_may_call(aclshmemi_mpi_words_t *words)
{
    static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED"};
    int level = MPI_THREAD_SINGLE, main_thread = 0;
    if (!mpi_is_running())
        return mpi_fail(words, ACLSHMEM_SMEM_ERROR,
                        "MPI was ended by the program while SHMEM uses it; call the finalize of SHMEM first");
    MPI_Query_thread(&level);
    if (level >= MPI_THREAD_SERIALIZED)
        return 0;
    MPI_Is_thread_main(&main_thread);
    if (!main_thread)
        return mpi_fail(
            words, ACLSHMEM_INNER_ERROR,
            "MPI was started with %s, so only the thread that started it may initialize, allocate, "
            "free and finalize; start MPI with MPI_THREAD_SERIALIZED or more",
            names[level == MPI_THREAD_FUNNELED]);
    return 0;
}

/* --- End --- */

/* All instances at once: PEs may have made them in different orders. */
static void say_farewell(void)
{
    for (state_t *state = mpi_states(); state != NULL; state = state->next) {
        state->said = state->stuck || state->gone ? NULL : calloc((size_t)state->n_pes, sizeof *state->said);
        if (state->said != NULL &&
            MPI_Iallgather(&state->farewell, sizeof state->farewell, MPI_BYTE, state->said,
                           sizeof state->farewell, MPI_BYTE, state->comm, &state->request) != MPI_SUCCESS) {
            free(state->said);
            state->said = NULL;
        }
    }
}

static void hear_farewell(state_t *state)
{
    aclshmemi_mpi_words_t words;
    int rc = mpi_wait(&state->request, FAREWELL_MS, "the farewell", &words);
    if (rc == ACLSHMEM_SMEM_ERROR) {
        state->stuck = true; /* said belongs to MPI */
        return;
    }
    state->parted = rc == 0;
    for (int pe = 0; pe < state->n_pes; pe++)
        state->parted = state->parted && state->said[pe] == state->farewell;
    free(state->said);
    state->said = NULL;
    MPI_Comm_free(&state->comm);
    state->gone = true;
}

static int on_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    mpi_lock();
    say_farewell();
    mpi_unlock();
    for (state_t *state = mpi_states(); state != NULL; state = state->next)
        if (state->said != NULL && !state->stuck)
            hear_farewell(state);
    return MPI_SUCCESS;
}

int mpi_watch_end(aclshmemi_mpi_words_t *words)
{
    int key = MPI_KEYVAL_INVALID, rc = MPI_SUCCESS;
    mpi_lock();
    if (!watching) {
        rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL);
        if (rc == MPI_SUCCESS)
            rc = MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        if (rc == MPI_SUCCESS)
            rc = MPI_Comm_free_keyval(&key); /* lives as long as the attribute */
        watching = rc == MPI_SUCCESS;
    }
    mpi_unlock();
    return rc == MPI_SUCCESS ? 0 : mpi_fail_mpi(words, rc, "watching for MPI_Finalize");
}

void mpi_end(aclshmemi_mpi_words_t *words)
{
    int main_thread = 0;
    words->text[0] = '\0';
    if (!ours || !mpi_is_running())
        return;
    mpi_lock();
    bool busy = false, stuck = false;
    for (const state_t *state = mpi_states(); state != NULL; state = state->next) {
        busy = true;
        stuck = stuck || state->stuck;
    }
    mpi_unlock();
    if (stuck) {
        (void)mpi_fail(words, 0,
                       "MPI is not ended, since a collective was given up; its launcher will say so");
        return;
    }
    MPI_Is_thread_main(&main_thread);
    if (!busy && main_thread)
        MPI_Finalize(); /* another thread must not; then it happens at exit */
}
