/* Ranks write their rows of two matrices in one file of HDF5: of the first all at once, of the second each by itself. Then
 * each reads what the next one has written. It is built for MPICH and ends with 0 if all is right. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 37, COLUMNS = 53 };

static int value(int rank, int row, int column, int round) {
    return ((round * 100 + rank) * ROWS + row) * COLUMNS + column;
}

static void fill(int *block, int rank, int round) {
    for (int at = 0; at < ROWS * COLUMNS; at++) block[at] = value(rank, at / COLUMNS, at % COLUMNS, round);
}

static hid_t opened(const char *path, int writes) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = writes ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

/* Writes or reads the block of a rank. */
static herr_t move(hid_t set, int rank, int *block, H5FD_mpio_xfer_t how, int writes) {
    hsize_t from[2] = {(hsize_t)rank * ROWS, 0}, count[2] = {ROWS, COLUMNS};
    hid_t whole = H5Dget_space(set), memory = H5Screate_simple(2, count, NULL), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, from, NULL, count, NULL);
    H5Pset_dxpl_mpio(transfer, how);
    herr_t status = writes ? H5Dwrite(set, H5T_NATIVE_INT, memory, whole, transfer, block)
                           : H5Dread(set, H5T_NATIVE_INT, memory, whole, transfer, block);
    H5Pclose(transfer), H5Sclose(memory), H5Sclose(whole);
    return status;
}

int main(int argc, char **argv) {
    int rank, size, wrong = 0, block[ROWS * COLUMNS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const H5FD_mpio_xfer_t ways[] = {H5FD_MPIO_COLLECTIVE, H5FD_MPIO_INDEPENDENT};
    hid_t file = opened(argv[1], 1);
    for (int round = 0; round < 2; round++) {
        hsize_t shape[2] = {(hsize_t)size * ROWS, COLUMNS};
        hid_t space = H5Screate_simple(2, shape, NULL);
        hid_t set = H5Dcreate2(file, round ? "alone" : "together", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        fill(block, rank, round);
        wrong += move(set, rank, block, ways[round], 1) < 0;
        H5Dclose(set), H5Sclose(space);
    }
    wrong += file < 0 || H5Fclose(file) < 0;
    file = opened(argv[1], 0);
    for (int round = 0; round < 2; round++) {
        hid_t set = H5Dopen2(file, round ? "alone" : "together", H5P_DEFAULT);
        int next = (rank + 1) % size, expected[ROWS * COLUMNS];
        wrong += move(set, next, block, ways[1 - round], 0) < 0;
        fill(expected, next, round);
        for (int at = 0; at < ROWS * COLUMNS; at++) wrong += block[at] != expected[at];
        H5Dclose(set);
    }
    H5Fclose(file);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong of %d ranks\n", wrong, size);
    MPI_Finalize();
    return wrong != 0;
}
