/* Collectives of which the members do not agree: whoever can see it is told so, nobody waits for ever, and where each goes as
 * many steps the next call is right again. */
#include "check.h"

enum { LONG = 300000, BLOCK = 20, ROUNDS = 16 };
static int out[LONG], in[LONG];

/* The other ranks see what rank 0 does; it may see nothing itself. */
#define OTHERS_FAIL(call, class) CHECK(class_of(call) == (rank ? (class) : MPI_SUCCESS))
#define ALL_FAIL(call, class) CHECK(class_of(call) == (class))

static void still_right(MPI_Comm comm) {
    int mine = rank + 1, sum = -1;
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == size * (size + 1) / 2);
    /* Through every slot of the boards, in parts too long for the line of their number. */
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCK; i++) out[i] = 10000 * rank + 100 * round + i;
        CHECK(MPI_Allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm) == MPI_SUCCESS);
        for (int i = 0; i < size * BLOCK; i++) CHECK(in[i] == 10000 * (i / BLOCK) + 100 * round + i % BLOCK);
    }
}

static void lengths(MPI_Comm comm) {
    int wrong = rank ? 10 : 1;
    OTHERS_FAIL(MPI_Bcast(out, wrong, MPI_INT, 0, comm), MPI_ERR_TRUNCATE);
    still_right(comm);
    OTHERS_FAIL(MPI_Scatter(out, 1, MPI_INT, in, rank ? 10 : 1, MPI_INT, 0, comm), MPI_ERR_TRUNCATE);
    still_right(comm);
    int code = MPI_Gather(out, wrong, MPI_INT, in, 1, MPI_INT, 0, comm);
    CHECK(class_of(code) == (rank ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    still_right(comm);
    ALL_FAIL(MPI_Allgather(out, rank ? 4 : 2, MPI_INT, in, 4, MPI_INT, comm), MPI_ERR_TRUNCATE);
    still_right(comm);
    ALL_FAIL(MPI_Alltoall(out, rank ? 4 : 2, MPI_INT, in, 4, MPI_INT, comm), MPI_ERR_TRUNCATE);
    still_right(comm);
    ALL_FAIL(MPI_Allreduce(out, in, rank ? 4 : 5, MPI_INT, MPI_SUM, comm), MPI_ERR_TRUNCATE);
    still_right(comm);
}

/* Those that go by messages. What a member that failed passes on is not taken for data. */
static void lengths_of_messages(MPI_Comm comm) {
    MPI_Request request;
    int counts[MOST], places[MOST];
    for (int i = 0; i < size; i++) counts[i] = 1, places[i] = i;
    MPI_Ibcast(out, rank ? 10 : 1, MPI_INT, 0, comm, &request);
    OTHERS_FAIL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Ibcast(out, rank ? 1 : 10, MPI_INT, 0, comm, &request);
    OTHERS_FAIL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    int code = MPI_Gatherv(out, rank ? 2 : 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
    CHECK(class_of(code) == (rank ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    MPI_Iallreduce(out, in, rank ? 4 : 5, MPI_INT, MPI_SUM, comm, &request);
    ALL_FAIL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    still_right(comm);
}

static void calls(MPI_Comm comm) {
    int code = rank ? MPI_Barrier(comm) : MPI_Bcast(out, 1, MPI_INT, 0, comm);
    CHECK(class_of(code) == (rank ? MPI_ERR_OTHER : MPI_SUCCESS));
    still_right(comm);
    /* All of these give and take, and the root of a broadcast only gives. */
    code = rank ? MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, comm) : MPI_Bcast(out, 1, MPI_INT, 0, comm);
    CHECK(class_of(code) == (rank ? MPI_ERR_OTHER : MPI_SUCCESS));
    still_right(comm);
}

/* Where the numbers of steps differ the communicator is of no more use, and says so; others are. Messages have no steps. */
static void out_of_step(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int code = MPI_Bcast(out, rank ? LONG : 1, MPI_INT, 0, comm);
    CHECK(rank == 0 || code != MPI_SUCCESS);
    for (int i = 0; i < 3; i++) CHECK((MPI_Barrier(comm) == MPI_SUCCESS) == over_tcp);
    MPI_Comm_free(&comm);
    still_right(MPI_COMM_WORLD);
}

/* What is received may not be written over what is sent. */
static void aliases(MPI_Comm comm) {
    int counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < size; i++) counts[i] = 1, places[i] = i, types[i] = MPI_INT;
    if (rank == 0) {
        ALL_FAIL(MPI_Gather(in, 1, MPI_INT, in, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        ALL_FAIL(MPI_Gatherv(in, 1, MPI_INT, in, counts, places, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        ALL_FAIL(MPI_Scatter(in, 1, MPI_INT, in, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        ALL_FAIL(MPI_Scatterv(in, counts, places, MPI_INT, in, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
        ALL_FAIL(MPI_Reduce(in, in, 2, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
        ALL_FAIL(MPI_Reduce(in, in + 1, 2, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    }
    ALL_FAIL(MPI_Allgather(in + rank, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Allgatherv(in + rank, 1, MPI_INT, in, counts, places, MPI_INT, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Alltoallv(in, counts, places, MPI_INT, in, counts, places, MPI_INT, comm), MPI_ERR_BUFFER);
    for (int i = 0; i < size; i++) places[i] = i * (int)sizeof(int);
    ALL_FAIL(MPI_Alltoallw(in, counts, places, types, in, counts, places, types, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Reduce_scatter(in, in, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Reduce_scatter_block(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Exscan(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Reduce_local(in, in, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Reduce_local(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Reduce_local(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    ALL_FAIL(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    /* Nothing overlaps with nothing, and neighbours do not overlap. */
    CHECK(MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(in, in + 2, 2, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Reduce_scatter_block(in + 1, in, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    aliases(comm);
    if (size > 1) {
        lengths(comm);
        lengths_of_messages(comm);
        calls(comm);
        out_of_step();
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
