/* Files: views, pointers, the calls of each kind, representations, hints and errors, against bytes worked out by hand. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 64, MANY = 32 };

static char name[NAME];

/* The whole file as rank 0 sees it through the system, after all ranks have written. */
static long contents(unsigned char *bytes, size_t room) {
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *file = fopen(name, "rb");
    CHECK(file != NULL);
    long found = (long)fread(bytes, 1, room, file);
    fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    return found;
}

static MPI_File open_file(int more) {
    MPI_File file;
    int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | more, MPI_INFO_NULL, &file);
    CHECK(code == MPI_SUCCESS);
    CHECK(MPI_File_set_size(file, 0) == MPI_SUCCESS);
    return file;
}

static int count_of(MPI_Status *status, MPI_Datatype type) {
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

/* Rank r sees every size-th number from the r-th on: what each writes lies between that of the others. */
static void interleave(MPI_File file, MPI_Datatype *filetype) {
    MPI_Datatype one;
    MPI_Type_vector(1, 1, 1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)(size * sizeof(int)), filetype);
    MPI_Type_commit(filetype);
    MPI_Type_free(&one);
    CHECK(MPI_File_set_view(file, 8 + rank * (MPI_Offset)sizeof(int), MPI_INT, *filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
}

static void expect(int from, int to) {
    static int found[2 + MANY * MOST];
    long bytes = contents((unsigned char *)found, sizeof found);
    CHECK(bytes == 8 + (long)sizeof(int) * to * size);
    for (int i = from * size; i < to * size; i++) CHECK(found[2 + i] == 1000 * (i % size) + i / size);
}

/* Each way to write takes up where the one before has ended; the same ways read all of it back. */
static void ways(void) {
    int mine[MANY], back[MANY];
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype filetype, etype, seen;
    MPI_Offset place;
    char form[MPI_MAX_DATAREP_STRING];
    MPI_File file = open_file(0);
    for (int i = 0; i < MANY; i++) mine[i] = 1000 * rank + i;
    interleave(file, &filetype);
    CHECK(MPI_File_write_at(file, 0, mine, 2, MPI_INT, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 2);
    CHECK(MPI_File_write_at_all(file, 2, mine + 2, 3, MPI_INT, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 3);
    expect(0, 5);
    CHECK(MPI_File_seek(file, 5, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_write(file, mine + 5, 1, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(file, mine + 6, 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_get_position(file, &place) == MPI_SUCCESS && place == 8);
    CHECK(MPI_File_iwrite(file, mine + 8, 1, MPI_INT, &request) == MPI_SUCCESS);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, MPI_INT) == 1);
    CHECK(MPI_File_iwrite_all(file, mine + 9, 1, MPI_INT, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_File_iwrite_at_all_c(file, 10, mine + 10, 2, MPI_INT, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_File_write_at_all_begin(file, 12, mine + 12, 2, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_all_begin(file, mine, 1, MPI_INT) == MPI_ERR_IO);
    CHECK(MPI_File_write_at_all_end(file, mine + 12, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 2);
    CHECK(MPI_File_write_at_all_end(file, mine + 12, &status) == MPI_ERR_IO);
    expect(0, 14);
    CHECK(MPI_File_get_view(file, &place, &etype, &seen, form) == MPI_SUCCESS);
    CHECK(place == 8 + rank * 4 && etype == MPI_INT && seen != MPI_INT && strcmp(form, "native") == 0);
    MPI_Type_free(&seen);
    CHECK(MPI_File_get_byte_offset(file, 3, &place) == MPI_SUCCESS && place == 8 + 4 * rank + 3 * 4 * size);
    CHECK(MPI_File_read_at_all(file, 0, back, MANY, MPI_INT, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 14);
    CHECK(memcmp(mine, back, 14 * sizeof(int)) == 0);
    CHECK(MPI_File_seek(file, -4, MPI_SEEK_END) == MPI_SUCCESS);
    CHECK(MPI_File_read_all_begin(file, back, 3, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_all_end(file, back, &status) == MPI_SUCCESS && count_of(&status, MPI_INT) == 3);
    CHECK(back[0] == mine[10] && back[2] == mine[12]);
    CHECK(MPI_File_iread(file, back, 4, MPI_INT, &request) == MPI_SUCCESS);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, MPI_INT) == 1 && back[0] == mine[13]);
    MPI_Type_free(&filetype);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
}

/* A matrix of blocks, as subarrays of processes in a row: memory has gaps too. */
static void matrices(void) {
    enum { SIDE = 6 };
    MPI_Datatype part, column;
    double inside[SIDE][2 * SIDE], back[SIDE][2 * SIDE];
    MPI_File file = open_file(MPI_MODE_DELETE_ON_CLOSE);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "collective_buffering", "true");
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Type_create_subarray(2, (int[]){SIDE, SIDE * size}, (int[]){SIDE, SIDE}, (int[]){0, SIDE * rank}, MPI_ORDER_C, MPI_DOUBLE, &part);
    MPI_Type_vector(SIDE, SIDE, 2 * SIDE, MPI_DOUBLE, &column);
    MPI_Type_commit(&part);
    MPI_Type_commit(&column);
    CHECK(MPI_File_set_view(file, 0, MPI_DOUBLE, part, "native", info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < 2 * SIDE; j++) inside[i][j] = j < SIDE ? 100 * i + SIDE * rank + j : -1, back[i][j] = -2;
    CHECK(MPI_File_write_all(file, inside, 1, column, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    static double found[SIDE * SIDE * MOST];
    CHECK(contents((unsigned char *)found, sizeof found) == (long)sizeof(double) * SIDE * SIDE * size);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE * size; j++) CHECK(found[i * SIDE * size + j] == 100 * i + j);
    CHECK(MPI_File_read_at_all(file, 0, back, 1, column, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < 2 * SIDE; j++) CHECK(back[i][j] == (j < SIDE ? inside[i][j] : -2));
    CHECK(MPI_File_get_info(file, &info) == MPI_SUCCESS);
    char value[16];
    int flag, room = sizeof value;
    MPI_Info_get_string(info, "cb_buffer_size", &room, value, &flag);
    CHECK(flag && strcmp(value, "4096") == 0);
    MPI_Info_free(&info);
    MPI_Type_free(&part);
    MPI_Type_free(&column);
    MPI_File_close(&file);
    CHECK(access(name, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank takes what nobody else takes; ordered calls go by rank. */
static void shared_pointer(void) {
    unsigned char mine[3], seen[3 * MOST], all[MOST];
    MPI_Status status;
    MPI_Request request;
    MPI_Offset place;
    MPI_File file = open_file(0);
    memset(mine, rank + 1, sizeof mine);
    CHECK(MPI_File_write_ordered(file, mine, 3, MPI_BYTE, &status) == MPI_SUCCESS);
    CHECK(contents(seen, sizeof seen) == 3 * size);
    for (int i = 0; i < 3 * size; i++) CHECK(seen[i] == i / 3 + 1);
    CHECK(MPI_File_get_position_shared(file, &place) == MPI_SUCCESS && place == 3 * size);
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read_ordered_begin(file, mine, 1, MPI_BYTE) == MPI_SUCCESS);
    CHECK(MPI_File_read_ordered_end(file, mine, &status) == MPI_SUCCESS && mine[0] == rank / 3 + 1);
    CHECK(MPI_File_read_shared(file, mine, 1, MPI_BYTE, &status) == MPI_SUCCESS && count_of(&status, MPI_BYTE) == 1);
    CHECK(MPI_File_iread_shared(file, mine + 1, 1, MPI_BYTE, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int sum = mine[0] + mine[1], total;
    MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int expected = 0;
    for (int i = size; i < 3 * size; i++) expected += i / 3 + 1;
    CHECK(total == expected);
    CHECK(MPI_File_seek_shared(file, size, MPI_SEEK_END) == MPI_SUCCESS);
    CHECK(MPI_File_write_shared(file, &(unsigned char){200}, 1, MPI_BYTE, &status) == MPI_SUCCESS);
    CHECK(MPI_File_sync(file) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_read_at(file, 4 * size, all, size, MPI_BYTE, &status) == MPI_SUCCESS);
    for (int i = 0; i < size; i++) CHECK(all[i] == 200);
    MPI_File_close(&file);
}

static int ignored(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    (void)type, (void)extra;
    *extent = 1;
    return MPI_SUCCESS;
}

static void representations(void) {
    MPI_File file = open_file(0);
    MPI_Aint extent;
    short numbers[2] = {0x0102, -2}, back[2];
    unsigned char seen[8];
    CHECK(MPI_File_set_view(file, 4 * rank, MPI_SHORT, MPI_SHORT, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_get_type_extent(file, MPI_LONG, &extent) == MPI_SUCCESS && extent == 4);
    CHECK(MPI_File_write_at_all(file, 0, numbers, 2, MPI_SHORT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, back, 2, MPI_SHORT, MPI_STATUS_IGNORE) == MPI_SUCCESS && back[1] == -2);
    CHECK(contents(seen, 4) == 4 && seen[0] == 1 && seen[1] == 2 && seen[2] == 255 && seen[3] == 254);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "strange", MPI_INFO_NULL) == MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(MPI_Register_datarep("strange", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, ignored, NULL) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "strange", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, ignored, NULL) == MPI_ERR_DUP_DATAREP);
    MPI_File_close(&file);
}

static int handled;

static void handler(MPI_File *file, int *code, ...) {
    (void)file;
    handled = *code;
}

static void errors(void) {
    MPI_File file;
    MPI_Errhandler mine, default_one;
    char byte = 7;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL && MPI_File_close(&file) == MPI_ERR_FILE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_ERR_BAD_FILE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_ERR_AMODE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file) == MPI_ERR_AMODE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file) == MPI_ERR_FILE_EXISTS);
    CHECK(MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL) == MPI_ERR_NO_SUCH_FILE);
    /* A device that is always full. */
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_ERR_NO_SPACE);
    CHECK(MPI_File_write_at_all(file, rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_ERR_NO_SPACE);
    MPI_File_close(&file);
    MPI_File_get_errhandler(MPI_FILE_NULL, &default_one);
    CHECK(default_one == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(handler, &mine);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_errhandler(file, mine);
    CHECK(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_ERR_READ_ONLY && handled == MPI_ERR_READ_ONLY);
    CHECK(MPI_File_set_size(file, 0) == MPI_ERR_READ_ONLY);
    handled = 0;
    CHECK(MPI_File_call_errhandler(file, MPI_ERR_FILE) == MPI_SUCCESS && handled == MPI_ERR_FILE);
    CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) == MPI_ERR_ARG && MPI_File_seek(file, 0, 77) == MPI_ERR_ARG);
    CHECK(MPI_File_read_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_ERR_ARG);
    MPI_Errhandler_free(&mine);
    MPI_File_close(&file);
    CHECK(MPI_File_get_amode(MPI_FILE_NULL, &handled) == MPI_ERR_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
}

/* What one rank writes another sees at once, and whole. */
static void atomic(void) {
    int flag, numbers[64];
    MPI_File file = open_file(MPI_MODE_DELETE_ON_CLOSE);
    CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
    CHECK(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && flag == 1);
    for (int i = 0; i < 64; i++) numbers[i] = rank;
    CHECK(MPI_File_write_at_all(file, 0, numbers, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, 0, numbers, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 1; i < 64; i++) CHECK(numbers[i] == numbers[0]);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    strcpy(name, "/tmp/cornerstone-files-XXXXXX");
    if (rank == 0) close(mkstemp(name));
    MPI_Bcast(name, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    ways();
    matrices();
    shared_pointer();
    representations();
    errors();
    atomic();
    MPI_Finalize();
    return 0;
}
