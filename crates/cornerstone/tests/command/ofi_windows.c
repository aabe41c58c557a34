/* Operations on windows that the network carries out, as far as they differ from requests to the other rank. */
#include <stdlib.h>

#include "check.h"

enum { ROUNDS = 30, LONG = 20000 };

/* Accumulating operations of one rank on one element are executed in their order, though nothing waits between them:
   on an aligned element by the network, and on another one by its rank. */
static void order(MPI_Win win, int displacement) {
    long one = 1, value[ROUNDS], added[ROUNDS], read[ROUNDS];
    int next = (rank + 1) % size;
    MPI_Aint at = displacement + 8 * rank;
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    for (long round = 0; round < ROUNDS; round++) {
        value[round] = 10 * (round + 1);
        added[round] = read[round] = -1;
        MPI_Get_accumulate(&one, 1, MPI_LONG, &added[round], 1, MPI_LONG, next, at, 1, MPI_LONG, MPI_SUM, win);
        MPI_Accumulate(&value[round], 1, MPI_LONG, next, at, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Accumulate(&one, 1, MPI_LONG, next, at, 1, MPI_LONG, MPI_SUM, win);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, &read[round], 1, MPI_LONG, next, at, 1, MPI_LONG, MPI_NO_OP, win);
    }
    MPI_Win_unlock(next, win);
    for (long round = 0; round < ROUNDS; round++) {
        CHECK(added[round] == (round == 0 ? 0 : 10 * round + 1));
        CHECK(read[round] == 10 * (round + 1) + 1);
    }
}

/* More elements than the network updates in one operation, by all ranks at once. */
static void long_updates(void) {
    double *memory, *ones = malloc(LONG * sizeof(double)), *sums = malloc(LONG * sizeof(double));
    MPI_Win win;
    for (int i = 0; i < LONG; i++) ones[i] = 1;
    MPI_Win_allocate(LONG * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LONG * sizeof(double));
    MPI_Win_fence(0, win);
    for (int target = 0; target < size; target++)
        MPI_Accumulate(ones, LONG, MPI_DOUBLE, target, 0, LONG, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(sums, LONG, MPI_DOUBLE, (rank + 1) % size, 0, LONG, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < LONG; i++) CHECK(sums[i] == size && memory[i] == size);
    MPI_Win_free(&win);
    free(ones);
    free(sums);
}

/* One operation on elements of which only every second one is aligned. */
static void mixed(MPI_Win win, char *memory) {
    MPI_Aint places[4] = {0, 9, 24, 33};
    MPI_Datatype type;
    int next = (rank + 1) % size;
    long add[4] = {1, 2, 3, 4}, old[4], found;
    MPI_Type_create_hindexed_block(4, 1, places, MPI_LONG, &type);
    MPI_Type_commit(&type);
    memset(memory, 0, 64);
    MPI_Win_fence(0, win);
    for (int round = 0; round < 2; round++) MPI_Accumulate(add, 4, MPI_LONG, next, 0, 1, type, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) {
        memcpy(&found, memory + places[i], sizeof found);
        CHECK(found == 2 * add[i]);
    }
    MPI_Win_fence(0, win);
    /* What it fetches would have to come in two parts. */
    if (size > 1)
        CHECK(class_of(MPI_Get_accumulate(add, 4, MPI_LONG, old, 4, MPI_LONG, next, 0, 1, type, MPI_SUM, win)) == MPI_ERR_OTHER);
    MPI_Win_fence(0, win);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    char *memory;
    MPI_Win win;
    begin(&argc, &argv);
    int bytes = 16 * size + 128;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, bytes);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    order(win, 64);
    order(win, 64 + 8 * size + 4);
    MPI_Barrier(MPI_COMM_WORLD);
    mixed(win, memory);
    MPI_Win_free(&win);
    long_updates();
    MPI_Finalize();
    return 0;
}
