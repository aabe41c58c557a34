/* Cartesian topologies and info objects, against what follows from their definitions by hand. */
#include "check.h"

/* The last dimension runs fastest; over an open edge there is nobody, over a periodic one the other end. */
static void grid(void) {
    int lengths[2] = {0, 0}, periods[2] = {0, 1}, found[2], wraps[2], place[2], rank_there, source, destination, count, kind;
    MPI_Comm comm, row;
    CHECK(MPI_Dims_create(size, 2, lengths) == MPI_SUCCESS);
    CHECK(lengths[0] * lengths[1] == size && lengths[0] >= lengths[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
    MPI_Cartdim_get(comm, &count);
    CHECK(count == 2);
    MPI_Cart_get(comm, 2, found, wraps, place);
    CHECK(found[0] == lengths[0] && found[1] == lengths[1] && wraps[0] == 0 && wraps[1] == 1);
    CHECK(place[0] == rank / lengths[1] && place[1] == rank % lengths[1]);
    for (int other = 0; other < size; other++) {
        MPI_Cart_coords(comm, other, 2, found);
        CHECK(found[0] == other / lengths[1] && found[1] == other % lengths[1]);
        MPI_Cart_rank(comm, found, &rank_there);
        CHECK(rank_there == other);
    }
    MPI_Cart_shift(comm, 0, 1, &source, &destination);
    CHECK(source == (place[0] == 0 ? MPI_PROC_NULL : rank - lengths[1]));
    CHECK(destination == (place[0] == lengths[0] - 1 ? MPI_PROC_NULL : rank + lengths[1]));
    MPI_Cart_shift(comm, 1, -1, &source, &destination);
    int row_start = rank - place[1];
    CHECK(destination == row_start + (place[1] + lengths[1] - 1) % lengths[1]);
    CHECK(source == row_start + (place[1] + 1) % lengths[1]);
    /* Around the ring of a row, a number comes back to where it began. */
    int travels = rank;
    for (int step = 0; step < lengths[1]; step++)
        MPI_Sendrecv_replace(&travels, 1, MPI_INT, destination, 0, source, 0, comm, MPI_STATUS_IGNORE);
    CHECK(travels == rank);
    MPI_Cart_sub(comm, (int[2]){0, 1}, &row);
    int row_size, row_rank;
    MPI_Comm_size(row, &row_size);
    MPI_Comm_rank(row, &row_rank);
    CHECK(row_size == lengths[1] && row_rank == place[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);
    /* A grid of one rank less leaves the last one out. */
    if (size > 1) {
        int less = size - 1, open = 0;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &less, &open, 1, &comm);
        CHECK((comm == MPI_COMM_NULL) == (rank == size - 1));
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
}

static void wrong_grids(void) {
    int lengths[2] = {size + 1, 1}, periods[2] = {0, 0}, place[1] = {size}, found;
    MPI_Comm comm;
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &comm)) != MPI_SUCCESS);
    lengths[0] = -1;
    CHECK(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &comm)) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Dims_create(7, 1, (int[1]){2})) == MPI_ERR_DIMS);
    CHECK(class_of(MPI_Cart_rank(MPI_COMM_WORLD, place, &found)) == MPI_ERR_TOPOLOGY);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Cart_rank(comm, place, &found) != MPI_SUCCESS);
    CHECK(MPI_Cart_shift(comm, 1, 1, &found, &found) != MPI_SUCCESS);
    MPI_Comm_free(&comm);
    int divided[3] = {0, 3, 0};
    CHECK(MPI_Dims_create(24, 3, divided) == MPI_SUCCESS);
    CHECK(divided[0] == 4 && divided[1] == 3 && divided[2] == 2);
}

static void infos(void) {
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1], longest[MPI_MAX_INFO_KEY + 2];
    int length, flag, count;
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    memset(longest, 'k', sizeof longest);
    longest[MPI_MAX_INFO_KEY] = 0;
    CHECK(class_of(MPI_Info_set(info, longest, "v")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_set(info, "", "v")) == MPI_ERR_INFO_KEY);
    CHECK(class_of(MPI_Info_delete(info, "absent")) == MPI_ERR_INFO_NOKEY);
    CHECK(class_of(MPI_Info_get_nthkey(info, 0, key)) != MPI_SUCCESS);
    MPI_Info_set(info, "greeting", "hello there");
    /* Too short a place gets the beginning, and the length that would do, with the final zero. */
    length = 6;
    MPI_Info_get_string(info, "greeting", &length, value, &flag);
    CHECK(flag && length == 12 && strcmp(value, "hello") == 0);
    length = 0;
    MPI_Info_get_string(info, "greeting", &length, value, &flag);
    CHECK(flag && length == 12);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_nkeys(info, &count);
    CHECK(count >= 0);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    grid();
    wrong_grids();
    infos();
    MPI_Finalize();
    return 0;
}
