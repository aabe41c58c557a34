/* Rank 1 finalizes while rank 0 waits for something of it: a receive, a test for any rank, a probe, a synchronous send. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int number = 0, index;
    MPI_Request request;
    if (rank == 0 && !strcmp(argv[1], "receive"))
        MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && !strcmp(argv[1], "wait")) {
        MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0 && !strcmp(argv[1], "any")) {
        MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    }
    if (rank == 0 && !strcmp(argv[1], "probe")) MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && !strcmp(argv[1], "send")) {
        MPI_Issend(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0) printf("this line must not be reached\n");
    MPI_Finalize();
    return 0;
}
