// Mistakes of which only some ranks learn: the others are through, and wait in MPI_Finalize. The first argument says which one.
#include <mpi.h>
#include <string.h>

static int rank, size, value = 5, all[64];

static int is(const char *name, char **words) { return strcmp(words[1], name) == 0; }

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status status;
    int root = rank == 2;
    MPI_Barrier(comm);
    if (is("broadcast", words)) MPI_Bcast(&value, 1, MPI_INT, root, comm);
    if (is("reduce", words)) MPI_Reduce(&value, all, 1, MPI_INT, MPI_SUM, root, comm);
    if (is("gather", words)) MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    if (is("part", words) && rank != 1) MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, comm);
    if (is("barrier", words) && rank != size - 1) MPI_Barrier(comm);
    if (is("tag", words) && rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 1, comm);
    if (is("tag", words) && rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 2, comm, &status);
    if (is("synchronous", words) && rank == 0) MPI_Ssend(&value, 1, MPI_INT, 1, 3, comm);
    if (is("any", words) && rank != 0) MPI_Send(&value, 1, MPI_INT, 0, 1, comm);
    if (is("any", words) && rank == 0)
        for (int i = 0; i < size; i++) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1 + i / (size - 1), comm, &status);
    MPI_Finalize();
    return 0;
}
