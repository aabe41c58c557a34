/* Collectives of which some members go through shared memory and the others by messages: all of them are told, whoever of them
 * waits for whom, and other communicators are as before. Over TCP all go by messages, and this communicator is as before, too. */
#include "check.h"

static int in[64], out[64], counts[64], places[64];

static void add(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)from, (void)to, (void)count, (void)type;
}

static int allgatherv(MPI_Comm comm) {
    return MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, comm);
}

static int gatherv(MPI_Comm comm) {
    return MPI_Gatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
}

static int broadcast(MPI_Comm comm) {
    return MPI_Bcast(out, 4, MPI_INT, 0, comm);
}

static int nonblocking(MPI_Comm comm) {
    MPI_Request request;
    CHECK(MPI_Iallgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, comm, &request) == MPI_SUCCESS);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* An element with a gap behind it, which goes by messages, or without. */
static int reduction(MPI_Comm comm, int extent) {
    MPI_Datatype element;
    MPI_Op op;
    MPI_Type_create_resized(MPI_INT, 0, extent, &element);
    MPI_Type_commit(&element);
    MPI_Op_create(add, 1, &op);
    int code = MPI_Allreduce(out, in, 2, element, op, comm);
    MPI_Op_free(&op);
    MPI_Type_free(&element);
    return code;
}

static int dense(MPI_Comm comm) { return reduction(comm, 4); }
static int gaps(MPI_Comm comm) { return reduction(comm, 8); }

static void all_end_with(int class, int (*first)(MPI_Comm), int (*others)(MPI_Comm)) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    /* Both ways have been gone before, so nothing is new about them. */
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    CHECK(allgatherv(comm) == MPI_SUCCESS);
    int code = rank == 0 ? first(comm) : others(comm);
    CHECK(class_of(code) == class);
    CHECK((MPI_Barrier(comm) == MPI_SUCCESS) == over_tcp);
    MPI_Comm_free(&comm);
    int sum = 0, mine = 1;
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < 64; i++) counts[i] = 1, places[i] = i;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size > 1) {
        all_end_with(MPI_ERR_OTHER, MPI_Barrier, allgatherv);
        all_end_with(MPI_ERR_OTHER, allgatherv, MPI_Barrier);
        all_end_with(MPI_ERR_OTHER, gatherv, broadcast);
        all_end_with(MPI_ERR_OTHER, nonblocking, MPI_Barrier);
        all_end_with(MPI_ERR_OTHER, MPI_Barrier, nonblocking);
        /* Over TCP both go by messages, and only their lengths differ. */
        all_end_with(over_tcp ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER, dense, gaps);
        all_end_with(over_tcp ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER, gaps, dense);
    }
    MPI_Finalize();
    return 0;
}
