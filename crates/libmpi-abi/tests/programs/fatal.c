/* The default handler ends the whole job, with the name of the call: `fatal`, or MPI_Abort with status 7: `abort`. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int number = 0;
    if (rank == size - 1 && !strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == size - 1 && !strcmp(argv[1], "fatal"))
        MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    if (rank == size - 1 && !strcmp(argv[1], "exit")) exit(5);
    if (rank == size - 1 && !strcmp(argv[1], "crash")) abort();
    MPI_Recv(&number, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("this line must not be reached\n");
    return 0;
}
