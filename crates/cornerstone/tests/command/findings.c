// Programs with mistakes for reports: the first argument says which one.
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void deadlock(void) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // waits
}

static void wrong_tag(void) {
    if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 0, -5, MPI_COMM_WORLD); // fails
    MPI_Barrier(MPI_COMM_WORLD);
}

static void other_type(void) {
    int whole = 1;
    float part;
    if (rank == 0) MPI_Send(&whole, 1, MPI_INT, 1, 4, MPI_COMM_WORLD); // sent
    if (rank == 1) MPI_Recv(&part, 1, MPI_FLOAT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // received
}

static void overlap(void) {
    int memory[2] = {rank, rank};
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(memory, 2, MPI_INT, 1 - rank, 0, memory, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // exchanged
}

static void leak(void) {
    MPI_Comm copy;
    MPI_Datatype pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); // duplicated
    if (rank == 0) MPI_Type_contiguous(2, MPI_INT, &pair); // typed
}

int main(int count, char **words) {
    const char *name = words[1];
    if (strcmp(name, "early") == 0) MPI_Barrier(MPI_COMM_WORLD); // early
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(name, "deadlock") == 0) deadlock();
    if (strcmp(name, "wrong_tag") == 0) wrong_tag();
    if (strcmp(name, "other_type") == 0) other_type();
    if (strcmp(name, "overlap") == 0 || strcmp(name, "both") == 0) overlap();
    if (strcmp(name, "leak") == 0 || strcmp(name, "both") == 0) leak();
    if (strcmp(name, "crash") == 0 && rank == 1) raise(SIGSEGV);
    if (strcmp(name, "sleep") == 0) {
        close(open("ready", 0101, 0600));
        pause();
    }
    MPI_Finalize();
    if (strcmp(name, "late") == 0) MPI_Barrier(MPI_COMM_WORLD); // late
    return 0;
}
