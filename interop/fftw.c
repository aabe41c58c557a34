/* FFTW's transform of one long vector over MPI, to hold `cornerstone run parallel-fft` against: in natural order before and
   after, out of place, planned by measuring. Prints the median time of the slowest rank, in milliseconds.

   mpicc -O2 interop/fftw.c -o fftw -lfftw3_mpi -lfftw3 -lm && mpirun -n 2 ./fftw 4194304 */

#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 21, WARM_UP = 3 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const ptrdiff_t points = argc > 1 ? atoll(argv[1]) : 1 << 22;
    ptrdiff_t before, begin, after, end;
    const ptrdiff_t room = fftw_mpi_local_size_1d(
        points, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE, &before, &begin, &after, &end);
    fftw_complex *in = fftw_alloc_complex(room), *out = fftw_alloc_complex(room);
    if (points < 1 || in == NULL || out == NULL) {
        fprintf(stderr, "rank %d: no room for %td points\n", rank, points);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fftw_plan plan = fftw_mpi_plan_dft_1d(
        points, in, out, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE);
    for (ptrdiff_t at = 0; at < before; at++) {
        in[at][0] = (double)((begin + at) % 97) / 97 - 0.5;
        in[at][1] = (double)((begin + at) % 89) / 89 - 0.5;
    }
    double times[EVENTS];
    for (int event = -WARM_UP; event < EVENTS; event++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double own = MPI_Wtime(), slowest;
        fftw_execute(plan);
        own = MPI_Wtime() - own;
        MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (event >= 0)
            times[event] = slowest;
    }
    qsort(times, EVENTS, sizeof times[0], by_value);
    if (rank == 0)
        printf("%td points, %d ranks: %.2f ms (%.2f .. %.2f)\n", points, ranks, 1e3 * times[EVENTS / 2],
               1e3 * times[0], 1e3 * times[EVENTS - 1]);
    fftw_destroy_plan(plan);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
