/* How fast ranks write and read one file together, as IOR asks it: segments of each rank, and blocks dealt out in turn.
 *
 * file_rate FOLDER MIB: MIB of each rank. A line for each pattern: its name, MiB/s of writing, MiB/s of reading. Every byte that
 * is read is compared. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

struct pattern {
    const char *name;
    /* Bytes of a block; 0 for one segment of each rank, moved so many bytes at a time. */
    long block, at_a_time;
    int together;
};

static const struct pattern PATTERNS[] = {
    {"segments of 1 MiB, alone", 0, 1 << 20, 0},
    {"segments of 1 MiB, together", 0, 1 << 20, 1},
    {"blocks of 64 KiB, together", 64 << 10, 4 << 20, 1},
    {"blocks of 4 KiB, alone", 4 << 10, 4 << 20, 0},
    {"blocks of 4 KiB, together", 4 << 10, 4 << 20, 1},
    {"blocks of 64 B, together", 64, 1 << 20, 1},
};

static void check(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, words, &length);
    fprintf(stderr, "%s: %s\n", what, words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double move(MPI_File file, const struct pattern *way, char *data, long bytes, int writes) {
    MPI_Status status;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), mine, all;
    for (long done = 0; done < bytes; done += way->at_a_time) {
        int count = (int)way->at_a_time;
        char *here = data + done;
        int code = writes ? (way->together ? MPI_File_write_at_all(file, done, here, count, MPI_BYTE, &status)
                                           : MPI_File_write_at(file, done, here, count, MPI_BYTE, &status))
                          : (way->together ? MPI_File_read_at_all(file, done, here, count, MPI_BYTE, &status)
                                           : MPI_File_read_at(file, done, here, count, MPI_BYTE, &status));
        check(code, writes ? "write" : "read");
    }
    mine = MPI_Wtime() - begin;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return bytes * (double)size / (1 << 20) / all;
}

static void measure(const struct pattern *way, const char *name, long bytes) {
    MPI_File file;
    MPI_Datatype view = MPI_BYTE;
    MPI_Offset start = rank * bytes;
    char *data = malloc(bytes);
    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file), "open");
    if (way->block) {
        MPI_Datatype block;
        MPI_Type_contiguous((int)way->block, MPI_BYTE, &block);
        MPI_Type_create_resized(block, 0, way->block * size, &view);
        MPI_Type_commit(&view);
        MPI_Type_free(&block);
        start = rank * way->block;
    }
    check(MPI_File_set_view(file, start, MPI_BYTE, view, "native", MPI_INFO_NULL), "view");
    for (long i = 0; i < bytes; i++) data[i] = (char)(rank * 31 + i % 251);
    double written = move(file, way, data, bytes, 1);
    memset(data, 0, bytes);
    double read = move(file, way, data, bytes, 0);
    for (long i = 0; i < bytes; i++)
        if (data[i] != (char)(rank * 31 + i % 251)) {
            fprintf(stderr, "%s: rank %d: byte %ld is wrong\n", way->name, rank, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    if (rank == 0) printf("%-30s %10.1f %10.1f\n", way->name, written, read);
    if (way->block) MPI_Type_free(&view);
    MPI_File_close(&file);
    free(data);
}

int main(int argc, char **argv) {
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3) {
        if (rank == 0) fprintf(stderr, "usage: file_rate FOLDER MIB\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    snprintf(name, sizeof name, "%s/cornerstone-file-rate", argv[1]);
    for (unsigned i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) measure(&PATTERNS[i], name, atol(argv[2]) << 20);
    MPI_Finalize();
    return 0;
}
