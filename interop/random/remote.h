/* One-sided operations, and what they leave in the memory of their targets without MPI. */

#ifndef REMOTE_H
#define REMOTE_H

#include "numbers.h"

enum {
    MOST_REMOTE = 12,
    /* The origin of an accumulate that all members call on the same memory. */
    EVERYONE = -1
};

enum remote_kind {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    FETCH_AND_OP,
    COMPARE_AND_SWAP,
    REMOTE_KINDS
};

/* An operation. Each works on memory of the window that no other changes in the same epoch. */
struct remote {
    enum remote_kind kind;
    int epoch, origin, target;
    /* Whether the form with a request is called, where the epoch allows it. */
    int with_request;
    /* The operation of an accumulate: one of `reduction`, or MPI_REPLACE, or MPI_NO_OP. */
    struct reduction reduction;
    MPI_Op op;
    /* The datatypes and numbers of elements in the memory of the origin and of the target. */
    struct pair pair;
    long origin_count, target_count, bytes;
    /* The number of an earlier operation whose memory a get reads, or its own. */
    int of;
    /* Where element 0 lies in the window of the target, and what the memory there should be. */
    ptrdiff_t at;
    struct buffer region;
    /* At the origin: what it sends, what it receives, and what it should receive. */
    struct buffer sent, got, expected;
    int64_t compared;
    MPI_Request request;
};

/* Draws an operation of an epoch. If `part` is not NULL, decides its origin, target and memory. */
void draw_remote(struct remote *all, int number, int epoch, const struct part *part);
/* Makes the memory of an origin, and has the operation change its region. */
void foresee(struct remote *all, int number, const struct part *part);
/* Whether this member calls the operation. */
int calls(const struct remote *remote, const struct part *part);
/* Calls MPI with this displacement. `may_request` allows the forms with requests. */
void call_remote(struct remote *all, int number, MPI_Aint at, MPI_Win win, int may_request);
/* Compares the memory of this origin after the epoch. */
void check_origin(const struct remote *remote);
void free_remote(struct remote *remote);

#endif
