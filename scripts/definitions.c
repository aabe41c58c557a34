/* One loop around an MPI's allgather or broadcast, timed by two definitions of the time of a call. It shows which
 * part of a difference between two programs is due to the definitions, and which to the programs.
 *
 * definitions allgather|broadcast BYTES: prints the median in microseconds by OSU's definition, and by ours.
 *   OSU's  from each rank's own return from a barrier to its own end; the mean over the ranks
 *   ours   from a moment that all ranks agree on to the end of the last rank; calls with a late rank do not count
 * Ranks read one clock, so they must be on one host. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 2000, WARM_UP = 200 };
static const double SLACK_US = 2, LATE = 1e12;

static int rank, ranks, bytes, is_allgather;
static char *block, *all;

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static void call(void) {
    if (is_allgather)
        MPI_Allgather(block, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD);
    else
        MPI_Bcast(block, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static double by_osu(void) {
    double begin = now_us();
    call();
    double mine = now_us() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    return mine;
}

static double by_ours(void) {
    double arrived = now_us(), last;
    MPI_Allreduce(&arrived, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double start = last + SLACK_US;
    int late = now_us() > start;
    while (now_us() < start) {
    }
    call();
    return late ? LATE : now_us() - start;
}

static int ascending(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Returns the median over the calls, valid at rank 0. `across` combines the ranks' times of a call. */
static double median(double (*one)(void), MPI_Op across) {
    static double mine[SAMPLES], of_all[SAMPLES];
    for (int i = 0; i < WARM_UP; i++) one();
    for (int i = 0; i < SAMPLES; i++) mine[i] = one();
    MPI_Reduce(mine, of_all, SAMPLES, MPI_DOUBLE, across, 0, MPI_COMM_WORLD);
    qsort(of_all, SAMPLES, sizeof *of_all, ascending);
    int kept = SAMPLES;
    while (kept > 1 && of_all[kept - 1] >= LATE) kept--;
    return of_all[kept / 2];
}

static char *pages(int length) {
    int whole = (length + 4095) / 4096 * 4096;
    return memset(aligned_alloc(4096, whole), 1, whole);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        fprintf(stderr, "definitions allgather|broadcast BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    is_allgather = strcmp(argv[1], "allgather") == 0;
    bytes = atoi(argv[2]);
    /* Whole pages that were written to before, as in both programs. */
    block = pages(bytes), all = pages(bytes * ranks);
    double osu = median(by_osu, MPI_SUM) / ranks, ours = median(by_ours, MPI_MAX);
    if (rank == 0) printf("%.4f %.4f\n", osu, ours);
    MPI_Finalize();
    return 0;
}
