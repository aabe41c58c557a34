// An error of a call, whose place in the program is told.
#include <mpi.h>

int main(int count, char **words) {
    int data = 1;
    MPI_Init(&count, &words);
    MPI_Send(&data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    return MPI_Finalize();
}
