/* Rank 1 finalizes while rank 0 waits for something of it: a receive, a test for any rank, a probe, a synchronous
 * send, a collective in shared memory, blocking or not, or by messages, a new communicator. */
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
    int one = 1;
    if (rank == 0 && !strcmp(argv[1], "collective")) MPI_Allreduce(&one, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && !strcmp(argv[1], "messages"))
        MPI_Gatherv(&one, 1, MPI_INT, &(int[2]){0}, (int[2]){1, 1}, (int[2]){0, 1}, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0 && !strcmp(argv[1], "request")) {
        MPI_Iallreduce(&one, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0 && !strcmp(argv[1], "duplicate")) {
        MPI_Comm other;
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
    }
    if (rank == 0) printf("this line must not be reached\n");
    MPI_Finalize();
    return 0;
}
