/* Misuse gets MPI's own error classes, through the error handler of the communicator. */
#include "check.h"

static int handled, handled_code;

static void handler(MPI_Comm *comm, int *code, ...) {
    CHECK(*comm == MPI_COMM_WORLD);
    handled++;
    handled_code = *code;
}

#define REFUSED(call, class) CHECK(class_of(call) == (class))

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int number = 0, numbers[4] = {0};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    REFUSED(MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    REFUSED(MPI_Send(&number, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    REFUSED(MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    REFUSED(MPI_Send(&number, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    REFUSED(MPI_Send(numbers, 1, raw, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    REFUSED(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    REFUSED(MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    REFUSED(MPI_Bsend(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    REFUSED(MPI_Bcast(&number, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    REFUSED(MPI_Allreduce(&number, numbers, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    REFUSED(MPI_Allreduce(&number, numbers, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    REFUSED(MPI_Group_free(&(MPI_Group){MPI_GROUP_NULL}), MPI_ERR_GROUP);
    REFUSED(MPI_Info_free(&(MPI_Info){MPI_INFO_NULL}), MPI_ERR_INFO);
    MPI_Request request;
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_Comm gone = other;
    MPI_Comm_free(&other);
    REFUSED(MPI_Comm_size(gone, &number), MPI_ERR_COMM);

    /* A message that is too long: the status says so in a wait for several. */
    MPI_Status statuses[2];
    MPI_Request both[2];
    MPI_Irecv(numbers, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(numbers, 4, MPI_INT, rank, 1, MPI_COMM_WORLD, &both[1]);
    REFUSED(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Irecv(numbers, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(numbers, 2, MPI_INT, rank, 1, MPI_COMM_WORLD);
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);

    REFUSED(MPI_Comm_connect("nobody", MPI_INFO_NULL, 0, MPI_COMM_SELF, &other), MPI_ERR_PORT);

    MPI_Errhandler mine, found;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    // Programs compare handles. Each that they were given is freed, and those that they keep remain valid.
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == mine);
    MPI_Errhandler_free(&found);
    CHECK(found == MPI_ERRHANDLER_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
    // The communicator keeps a handler whose last handle was freed; it gets a new one.
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found != MPI_ERRHANDLER_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, found);
    MPI_Errhandler freed = found;
    MPI_Errhandler_free(&found);
    REFUSED(MPI_Comm_set_errhandler(MPI_COMM_SELF, freed), MPI_ERR_ERRHANDLER);
    REFUSED(MPI_Send(&number, 1, MPI_INT, -9, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK(handled == 1 && handled_code == MPI_ERR_RANK);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(handled == 2 && handled_code == MPI_ERR_OTHER);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &found);
    CHECK(found == MPI_ERRORS_RETURN);
    MPI_Finalize();
    return 0;
}
