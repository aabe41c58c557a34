/* An all-to-all of 1000-byte messages, as often as the argument says, for SimGrid's SMPI. */
#include <mpi.h>
#include <stdlib.h>

enum { MESSAGE_BYTES = 1000 };

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *send = calloc(size, MESSAGE_BYTES), *receive = calloc(size, MESSAGE_BYTES);
    for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--)
        MPI_Alltoall(send, MESSAGE_BYTES, MPI_BYTE, receive, MESSAGE_BYTES, MPI_BYTE, MPI_COMM_WORLD);
    free(send);
    free(receive);
    MPI_Finalize();
    return 0;
}
