/* Messages of random lengths round a ring of ranks, each byte checked, until a file appears.
 *
 * cuts STOP COUNTER SEED: ends when the file STOP exists; rank 0 writes the number of rounds into the file COUNTER. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LONGEST 400000

static unsigned next(unsigned *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

static unsigned char byte(int rank, long round, long place) { return (unsigned char)(rank * 31 + round * 7 + place * 13 + place / 251); }

int main(int argc, char **argv) {
    static unsigned char out[LONGEST], in[LONGEST];
    int rank, size, stop = 0;
    long round, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    int counter = rank == 0 ? open(argv[2], O_CREAT | O_WRONLY, 0600) : -1;
    unsigned state = (unsigned)atoi(argv[3]);
    for (round = 1; !stop; round++) {
        /* All ranks draw the same lengths: short ones, eager ones and those that wait for their receive. */
        int limits[] = {64, 9000, LONGEST}, bytes = (int)(next(&state) % limits[next(&state) % 3]);
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        for (long i = 0; i < bytes; i++) out[i] = byte(rank, round, i);
        MPI_Status status;
        int got;
        MPI_Sendrecv(out, bytes, MPI_BYTE, right, 5, in, LONGEST, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        for (long i = 0; i < bytes; i++)
            if (got != bytes || in[i] != byte(left, round, i)) {
                fprintf(stderr, "rank %d, round %ld: %d of %d bytes, wrong at %ld\n", rank, round, got, bytes, i);
                MPI_Abort(MPI_COMM_WORLD, 9);
            }
        long sum = 0;
        MPI_Allreduce(&round, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != round * size) MPI_Abort(MPI_COMM_WORLD, 8);
        total += bytes;
        if (rank == 0) {
            stop = access(argv[1], F_OK) == 0;
            if (pwrite(counter, &round, sizeof round, 0) != sizeof round) MPI_Abort(MPI_COMM_WORLD, 7);
        }
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%ld rounds, %ld bytes each\n", round - 1, total);
    MPI_Finalize();
    return 0;
}
