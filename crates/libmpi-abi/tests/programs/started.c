/* Non-blocking collectives: several under way at once, in several communicators, with blocking ones and messages in between;
 * with any datatypes and operations; and of a communicator that is freed meanwhile. */
#include "check.h"

enum { LONG = 300000, CALLS = 24 };

static MPI_Comm comms[3];

static void sum(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)to)[i] += ((int *)from)[i];
}

/* (a, b) and (c, d) become (a * c, a * d + b): functions one after the other, which do not commute. */
static void compose(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    unsigned *first = from, *second = to;
    for (int i = 0; i < 2 * *count; i += 2) {
        second[i + 1] = first[i] * second[i + 1] + first[i + 1];
        second[i] *= first[i];
    }
}

/* More calls than a board has slots, waited for from the last to the first. */
static void many(void) {
    static int in[CALLS][LONG / CALLS], out[CALLS][LONG / CALLS];
    MPI_Request requests[CALLS];
    for (int call = 0; call < CALLS; call++) {
        int count = call % 4 == 0 ? LONG / CALLS : 1 + call;
        for (int i = 0; i < count; i++) in[call][i] = rank + call * i;
        CHECK(MPI_Iallreduce(in[call], out[call], count, MPI_INT, MPI_SUM, comms[call % 3], &requests[call]) == MPI_SUCCESS);
        if (call % 5 == 2) {
            int all = -1;
            CHECK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_MAX, comms[call % 2]) == MPI_SUCCESS);
            CHECK(all == size - 1);
        }
    }
    for (int call = CALLS - 1; call >= 0; call--) {
        CHECK(MPI_Wait(&requests[call], MPI_STATUS_IGNORE) == MPI_SUCCESS);
        int count = call % 4 == 0 ? LONG / CALLS : 1 + call;
        for (int i = 0; i < count; i++) CHECK(out[call][i] == size * (size - 1) / 2 + size * call * i);
    }
}

/* One rank waits for a message that comes only once a collective has ended in which that rank must take part. */
static void progress_in_a_receive(void) {
    static int all[LONG];
    MPI_Request request;
    int word = -1, last = size - 1;
    for (int i = 0; i < LONG; i++) all[i] = rank == last ? i : -1;
    CHECK(MPI_Ibcast(all, LONG, MPI_INT, last, comms[1], &request) == MPI_SUCCESS);
    if (rank == last) {
        for (int from = 0; from < last; from++) {
            CHECK(MPI_Recv(&word, 1, MPI_INT, from, 3, comms[2], MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(word == from);
        }
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < LONG; i++) CHECK(all[i] == i);
        CHECK(MPI_Send(&rank, 1, MPI_INT, last, 3, comms[2]) == MPI_SUCCESS);
    }
}

/* Columns of a matrix, the rank's own block in its place, and operations of the program. */
static void datatypes_and_operations(void) {
    enum { ROWS = 7 };
    int matrix[ROWS][64], sums[5], mine[5];
    unsigned pair[2] = {(unsigned)rank + 2, (unsigned)rank * 3 + 1}, all[2], wanted[2] = {1, 0};
    MPI_Datatype column, columns, two;
    MPI_Op op, chain;
    MPI_Request requests[4];
    MPI_Type_vector(ROWS, 1, 64, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(sum, 1, &op);
    MPI_Op_create(compose, 0, &chain);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < 64; i++) matrix[row][i] = i == rank ? 100 * row + i : -1;
    for (int i = 0; i < 5; i++) sums[i] = mine[i] = rank + i;
    CHECK(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, matrix, 1, columns, comms[0], &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Iallreduce(MPI_IN_PLACE, sums, 5, MPI_INT, op, comms[0], &requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Iallreduce(pair, all, 1, two, chain, comms[0], &requests[2]) == MPI_SUCCESS);
    CHECK(MPI_Ireduce(rank ? mine : MPI_IN_PLACE, mine, 5, MPI_INT, MPI_SUM, 0, comms[0], &requests[3]) == MPI_SUCCESS);
    int done = 0;
    while (!done) CHECK(MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < 64; i++) CHECK(matrix[row][i] == (i < size ? 100 * row + i : -1));
    for (int i = 0; i < 5; i++) {
        CHECK(sums[i] == size * (size - 1) / 2 + size * i);
        CHECK(mine[i] == (rank ? rank + i : sums[i]));
    }
    for (unsigned member = size; member-- > 0;) {
        wanted[1] = (member + 2) * wanted[1] + member * 3 + 1;
        wanted[0] *= member + 2;
    }
    CHECK(all[0] == wanted[0] && all[1] == wanted[1]);
    MPI_Op_free(&op), MPI_Op_free(&chain);
    MPI_Type_free(&column), MPI_Type_free(&columns), MPI_Type_free(&two);
}

/* A communicator may be freed while its collectives are under way, and a new one takes its memory over afterwards. */
static void freed(void) {
    for (int round = 0; round < 40; round++) {
        MPI_Comm comm;
        MPI_Request requests[2];
        int all[64], word = round;
        CHECK(MPI_Comm_dup(comms[round % 3], &comm) == MPI_SUCCESS);
        CHECK(MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &requests[0]) == MPI_SUCCESS);
        CHECK(MPI_Ibcast(&word, 1, MPI_INT, round % size, comm, &requests[1]) == MPI_SUCCESS);
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
        CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < size; i++) CHECK(all[i] == i);
    }
}

/* A collective cannot be cancelled, and goes on; a request that is given up ends by itself. */
static void cancelled_and_given_up(void) {
    static int result;
    MPI_Request request;
    int all = -1;
    CHECK(MPI_Iallreduce(&size, &all, 1, MPI_INT, MPI_SUM, comms[0], &request) == MPI_SUCCESS);
    CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST || all == size * size);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(all == size * size);
    CHECK(MPI_Iallreduce(&size, &result, 1, MPI_INT, MPI_SUM, comms[0], &request) == MPI_SUCCESS);
    CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
    CHECK(MPI_Barrier(comms[0]) == MPI_SUCCESS);
    CHECK(result == size * size);
}

/* Started in another order at each rank, which persistent requests may be. */
static void persistent(void) {
    MPI_Request requests[3];
    int sums[3], word = rank == 0 ? 7 : -1;
    CHECK(MPI_Allreduce_init(&rank, &sums[0], 1, MPI_INT, MPI_SUM, comms[0], MPI_INFO_NULL, &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Bcast_init(&word, 1, MPI_INT, 0, comms[0], MPI_INFO_NULL, &requests[1]) == MPI_SUCCESS);
    CHECK(MPI_Allreduce_init(&size, &sums[2], 1, MPI_INT, MPI_SUM, comms[0], MPI_INFO_NULL, &requests[2]) == MPI_SUCCESS);
    for (int round = 0; round < 20; round++) {
        MPI_Request barrier;
        CHECK(MPI_Ibarrier(comms[0], &barrier) == MPI_SUCCESS);
        for (int i = 0; i < 3; i++) CHECK(MPI_Start(&requests[(rank + round + i) % 3]) == MPI_SUCCESS);
        CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        CHECK(MPI_Wait(&barrier, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(sums[0] == size * (size - 1) / 2 && word == 7 && sums[2] == size * size);
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    }
    for (int round = 0; round < 5; round++) {
        many();
        progress_in_a_receive();
        datatypes_and_operations();
        freed();
        cancelled_and_given_up();
        persistent();
    }
    for (int i = 0; i < 3; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
