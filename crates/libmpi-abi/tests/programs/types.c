/* Derived datatypes: where their data lie, packing, and collectives into types with gaps. */
#include "check.h"
#include <stdint.h>

/* The bytes of one element of a type are 1, 2, 3... in the order of its type map; gaps stay 0xee. */
static void lies_at(MPI_Datatype type, const int *places, int count, int extent) {
    unsigned char memory[512], packed[512];
    int bytes, position = 0;
    MPI_Aint lower, found;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == count);
    MPI_Type_get_extent(type, &lower, &found);
    CHECK(lower == 0 && found == extent);
    for (int i = 0; i < count; i++) packed[i] = (unsigned char)(i + 1);
    memset(memory, 0xee, sizeof memory);
    CHECK(MPI_Unpack(packed, count, &position, memory, 1, type, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(position == count);
    unsigned char expected[512];
    memset(expected, 0xee, sizeof expected);
    for (int i = 0; i < count; i++) expected[places[i]] = (unsigned char)(i + 1);
    CHECK(!memcmp(memory, expected, sizeof memory));
    memset(packed, 0, sizeof packed);
    position = 0;
    CHECK(MPI_Pack(memory, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF) == MPI_SUCCESS);
    for (int i = 0; i < count; i++) CHECK(packed[i] == i + 1);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

static void places(void) {
    MPI_Datatype type, part;
    MPI_Type_vector(3, 2, 4, MPI_BYTE, &type);
    lies_at(type, (int[]){0, 1, 4, 5, 8, 9}, 6, 10);
    MPI_Type_create_hvector(2, 3, 7, MPI_BYTE, &type);
    lies_at(type, (int[]){0, 1, 2, 7, 8, 9}, 6, 10);
    MPI_Type_indexed(3, (int[]){1, 0, 2}, (int[]){0, 3, 5}, MPI_BYTE, &type);
    lies_at(type, (int[]){0, 5, 6}, 3, 7);
    MPI_Type_create_indexed_block(2, 2, (int[]){4, 0}, MPI_BYTE, &type);
    lies_at(type, (int[]){4, 5, 0, 1}, 4, 6);
    /* A structure as C lays it out: char, two gaps, int16, padded to its alignment. */
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT16_T, MPI_BYTE}, &type);
    lies_at(type, (int[]){0, 1, 4}, 3, 6);
    MPI_Type_vector(2, 1, 2, MPI_BYTE, &part);
    MPI_Type_create_resized(part, 0, 8, &type);
    MPI_Type_free(&part);
    lies_at(type, (int[]){0, 2}, 2, 8);
    /* Rows 1 and 2, columns 2 to 4 of 4 by 6 in C's order; the transpose in Fortran's. */
    MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_BYTE, &type);
    lies_at(type, (int[]){8, 9, 10, 14, 15, 16}, 6, 24);
    MPI_Type_create_subarray(2, (int[]){6, 4}, (int[]){3, 2}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_BYTE, &type);
    lies_at(type, (int[]){8, 9, 10, 14, 15, 16}, 6, 24);
    /* Process 1 of 2: the odd ones of five, dealt one by one; and the second block of three. */
    MPI_Type_create_darray(2, 1, 1, (int[]){5}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
    lies_at(type, (int[]){1, 3}, 2, 5);
    MPI_Type_create_darray(2, 1, 1, (int[]){5}, (int[]){MPI_DISTRIBUTE_BLOCK}, (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
    lies_at(type, (int[]){3, 4}, 2, 5);
    /* A block may be longer than the dimension: the first process has all five. */
    const int kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    for (int kind = 0; kind < 2; kind++) {
        int bytes;
        MPI_Type_create_darray(2, 0, 1, (int[]){5}, &kinds[kind], (int[]){64}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
        lies_at(type, (int[]){0, 1, 2, 3, 4}, 5, 5);
        MPI_Type_create_darray(2, 1, 1, (int[]){5}, &kinds[kind], (int[]){64}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
        MPI_Type_size(type, &bytes);
        CHECK(bytes == 0);
        MPI_Type_free(&type);
        int code = MPI_Type_create_darray(2, 0, 1, (int[]){5}, &kinds[kind], (int[]){0}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
        CHECK(class_of(code) == MPI_ERR_ARG);
    }
    int code = MPI_Type_create_darray(2, 0, 1, (int[]){5}, &kinds[1], (int[]){2}, (int[]){2}, MPI_ORDER_C, MPI_BYTE, &type);
    CHECK(class_of(code) == MPI_ERR_ARG);
}

/* Types by digits and range count as predefined: the same arguments give the same handle, which is not freed. */
static void of_fortran(void) {
    MPI_Datatype one, same, other, integer, copy;
    MPI_Type_create_f90_real(12, 100, &one);
    MPI_Type_create_f90_real(12, 100, &same);
    MPI_Type_create_f90_real(12, 101, &other);
    MPI_Type_create_f90_integer(9, &integer);
    CHECK(one == same && one != other);
    copy = one;
    CHECK(class_of(MPI_Type_free(&copy)) == MPI_ERR_TYPE && copy == one);
    MPI_Type_dup(one, &copy);
    CHECK(copy != one && MPI_Type_free(&copy) == MPI_SUCCESS);
    /* A query returns the handle itself, as of a predefined type. */
    MPI_Datatype pair, part;
    MPI_Type_contiguous(2, integer, &pair);
    MPI_Type_get_contents(pair, 1, 0, 1, (int[1]){0}, (MPI_Aint[1]){0}, &part);
    CHECK(part == integer);
    MPI_Type_free(&pair);
}

/* Bounds that were set by hand count alone where there are any, and an empty part has none. */
static void bounds(void) {
    MPI_Datatype wide, none, whole;
    MPI_Aint lower, extent;
    MPI_Type_create_resized(MPI_INT, -4, 100, &wide);
    MPI_Type_contiguous(0, MPI_INT, &none);
    const int lengths[] = {1, 1, 1};
    const MPI_Aint places[] = {0, 200, 300};
    const MPI_Datatype marked[] = {wide, MPI_INT, none}, plain[] = {MPI_INT, MPI_INT, none};
    MPI_Type_create_struct(3, lengths, places, marked, &whole);
    MPI_Type_get_extent(whole, &lower, &extent);
    CHECK(lower == -4 && extent == 100);
    MPI_Type_get_true_extent(whole, &lower, &extent);
    CHECK(lower == 0 && extent == 204);
    MPI_Type_free(&whole);
    MPI_Type_create_struct(3, lengths, places, plain, &whole);
    MPI_Type_get_extent(whole, &lower, &extent);
    CHECK(lower == 0 && extent == 204);
    MPI_Type_free(&whole);
    MPI_Type_free(&none);
    MPI_Type_free(&wide);
}

/* Counts beyond int are told in a list of their own, and only by the large variant. */
static void large(void) {
    MPI_Datatype type, old[1];
    MPI_Count ints, addresses, counts, types, size_, count[1];
    int combiner, few, none, one;
    const MPI_Count many = (MPI_Count)INT32_MAX + 5;
    CHECK(MPI_Type_contiguous_c(many, MPI_BYTE, &type) == MPI_SUCCESS);
    MPI_Type_size_c(type, &size_);
    CHECK(size_ == many);
    CHECK(MPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner) == MPI_SUCCESS);
    CHECK(ints == 0 && addresses == 0 && counts == 1 && types == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
    CHECK(MPI_Type_get_contents_c(type, 0, 0, 1, 1, NULL, NULL, count, old) == MPI_SUCCESS);
    CHECK(count[0] == many && old[0] == MPI_BYTE);
    CHECK(class_of(MPI_Type_get_envelope(type, &few, &none, &one, &combiner)) == MPI_ERR_TYPE);
    MPI_Type_free(&type);
    /* More separate pieces than a list can hold are refused, not tried. */
    CHECK(class_of(MPI_Type_vector(INT32_MAX, 1, 2, MPI_BYTE, &type)) == MPI_ERR_NO_MEM);
}

/* Gather, allgather and all-to-all into every other int: nothing is lost, and nothing written between. */
static void gaps(int nonblocking) {
    int mine[16], all[16];
    MPI_Datatype wide, part;
    MPI_Request request;
    MPI_Type_contiguous(1, MPI_INT, &part);
    MPI_Type_create_resized(part, 0, 2 * sizeof(int), &wide);
    MPI_Type_free(&part);
    MPI_Type_commit(&wide);
    for (int which = 0; which < 3; which++) {
        for (int i = 0; i < size; i++) mine[i] = 100 * rank + (which == 2 ? i : 0);
        for (int i = 0; i < 16; i++) all[i] = -1;
        if (nonblocking) {
            if (which == 0) MPI_Igather(mine, 1, MPI_INT, all, 1, wide, 0, MPI_COMM_WORLD, &request);
            if (which == 1) MPI_Iallgather(mine, 1, MPI_INT, all, 1, wide, MPI_COMM_WORLD, &request);
            if (which == 2) MPI_Ialltoall(mine, 1, MPI_INT, all, 1, wide, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            if (which == 0) MPI_Gather(mine, 1, MPI_INT, all, 1, wide, 0, MPI_COMM_WORLD);
            if (which == 1) MPI_Allgather(mine, 1, MPI_INT, all, 1, wide, MPI_COMM_WORLD);
            if (which == 2) MPI_Alltoall(mine, 1, MPI_INT, all, 1, wide, MPI_COMM_WORLD);
        }
        for (int i = 0; i < size && (which || !rank); i++) {
            CHECK(all[2 * i] == 100 * i + (which == 2 ? rank : 0));
            CHECK(all[2 * i + 1] == -1);
        }
    }
    MPI_Type_free(&wide);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    places();
    of_fortran();
    bounds();
    large();
    gaps(0);
    gaps(1);
    MPI_Finalize();
    return 0;
}
