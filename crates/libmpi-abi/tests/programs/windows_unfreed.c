/* Rank 0 goes on to MPI_Finalize without freeing its window. There it serves the accesses of the others, and no longer
 * holds its locks. */
#define _GNU_SOURCE
#include "check.h"
#include <unistd.h>

/* Every member adds to the last element of rank 0; element r of rank 0 belongs to rank r. */
static long memory[MOST + 1];

/* Makes it likely that rank 0 is in MPI_Finalize. The outcome is the same if it is not. */
static void let_rank_0_go_ahead(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) usleep(100000);
}

static void access_rank_0(MPI_Win win) {
    long value = 100 + rank, fetched = 0, one = 1;
    for (int turn = 0; turn < 20; ++turn) {
        MPI_Win_lock(turn % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        MPI_Get(&fetched, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, MOST, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        CHECK(fetched == value);
    }
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Rget(&fetched, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(fetched == 7);
    /* The last update is complete, and the lock released, only in MPI_Finalize. */
    MPI_Accumulate(&one, 1, MPI_LONG, 0, MOST, 1, MPI_LONG, MPI_SUM, win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    if (strstr(how, "messages") != NULL) MPI_Info_set(info, "cornerstone_window_by_messages", "true");
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], info, MPI_COMM_WORLD, &win);
    memory[0] = 7;
    if (rank == 0 && strstr(how, "exclusive") != NULL) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
    }
    if (rank == 0 && strstr(how, "all") != NULL) MPI_Win_lock_all(0, win);
    let_rank_0_go_ahead();
    if (rank != 0) access_rank_0(win);
    if (rank != 0 && strstr(how, "exclusive") != NULL && size > 2) {
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
        MPI_Win_unlock(size - 1, win);
    }
    MPI_Finalize();
    if (rank != 0) return 0;
    for (int other = 1; other < size; ++other)
        if (memory[other] != 100 + other) return fprintf(stderr, "rank %d has not put\n", other), 99;
    if (memory[MOST] != 21L * (size - 1)) return fprintf(stderr, "%ld updates\n", memory[MOST]), 99;
    return 0;
}
