/* More ranks than look at one another in collectives, up to the end. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int mine = rank + 1, sum = -1, *all = malloc(size * sizeof *all);
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum == size * (size + 1) / 2);
    CHECK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < size; i++) CHECK(all[i] == i + 1);
    CHECK(MPI_Bcast(&sum, 1, MPI_INT, size - 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    free(all);
    int ended = MPI_Finalize();
    return ended == MPI_SUCCESS ? 0 : 3;
}
