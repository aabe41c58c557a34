// Mistakes of which only some ranks learn: the others are through, and wait in MPI_Finalize. The first argument says which one.
#include <mpi.h>
#include <string.h>

static int rank, size, value = 5, all[64], ones[] = {1, 1, 1, 1}, places[] = {0, 1, 2, 3};

static int is(const char *name, char **words) { return strcmp(words[1], name) == 0; }

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status status;
    int root = rank == 2, other = rank == 2;
    MPI_Op sum = other ? MPI_MAX : MPI_SUM, bits = other ? MPI_BOR : MPI_BAND;
    MPI_Barrier(comm);
    // Calls in another order, with another operation, with elements of another type, and with another length.
    if (is("order", words) && other) MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, comm);
    if (is("order", words)) MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    if (is("order", words) && !other) MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, comm);
    if (is("kind", words) && other) MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    if (is("kind", words) && !other) MPI_Allgatherv(&value, 1, MPI_INT, all, ones, places, MPI_INT, comm);
    if (is("manner", words) && other) {
        MPI_Request request;
        MPI_Iallreduce(&value, all, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, &status);
    }
    if (is("manner", words) && !other) MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, comm);
    if (is("operation", words)) MPI_Allreduce(&value, all, 1, MPI_INT, sum, comm);
    if (is("bits", words)) MPI_Allreduce(&value, all, 1, MPI_INT, bits, comm);
    if (is("scanned", words)) MPI_Scan(&value, all, 1, MPI_INT, sum, comm);
    if (is("type", words)) MPI_Allreduce(&value, all, 1, other ? MPI_FLOAT : MPI_INT, MPI_SUM, comm);
    if (is("length", words)) MPI_Allreduce(all, all + 32, 1 + other, MPI_INT, MPI_SUM, comm);
    if (is("blocks", words)) MPI_Alltoall(all, 1 + other, MPI_INT, all + 32, 1 + other, MPI_INT, comm);
    if (is("broadcast", words)) MPI_Bcast(&value, 1, MPI_INT, root, comm);
    if (is("reduce", words)) MPI_Reduce(&value, all, 1, MPI_INT, MPI_SUM, root, comm);
    if (is("gather", words)) MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    if (is("part", words) && rank != 1) MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, comm);
    if (is("barrier", words) && rank != size - 1) MPI_Barrier(comm);
    if (is("tag", words) && rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 1, comm);
    if (is("tag", words) && rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 2, comm, &status);
    if (is("synchronous", words) && rank == 0) MPI_Ssend(&value, 1, MPI_INT, 1, 3, comm);
    MPI_Comm copy;
    if (is("communicator", words)) MPI_Comm_dup(comm, &copy);
    if (is("communicator", words) && rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 5, copy);
    if (is("communicator", words) && rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 5, comm, &status);
    if (is("any", words) && rank != 0) MPI_Send(&value, 1, MPI_INT, 0, 1, comm);
    if (is("any", words) && rank == 0)
        for (int i = 0; i < size; i++) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1 + i / (size - 1), comm, &status);
    MPI_Finalize();
    return 0;
}
