// How long calls take, in nanoseconds each: on one rank, and from one to another and back.
#include <mpi.h>
#include <stdio.h>

#define CALLS 300000

int main(int count, char **words) {
    int rank, size, word = 1, other;
    MPI_Request requests[2];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int warm = 1; warm >= 0; warm--) {
        double begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++) MPI_Barrier(MPI_COMM_SELF);
        double barriers = MPI_Wtime() - begin;
        begin = MPI_Wtime();
        for (int i = 0; i < CALLS; i++) {
            MPI_Isend(&word, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
            MPI_Irecv(&other, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        double triples = MPI_Wtime() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        for (int i = 0; i < CALLS && rank < 2 && size > 1; i++) {
            if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        double turns = MPI_Wtime() - begin;
        // Of a turn, the two calls of a rank follow each other, and those of the other rank do too.
        if (rank == 0 && !warm)
            printf("barrier %.2f\nnon-blocking %.2f\nping-pong %.2f\n", barriers * 1e9 / CALLS,
                   triples * 1e9 / CALLS / 3, turns * 1e9 / CALLS / 4);
    }
    MPI_Finalize();
    return 0;
}
