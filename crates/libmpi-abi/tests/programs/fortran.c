/* Handles and statuses on their way to Fortran and back, what bindings tell the library, and names that MPI 3.0 removed. */
#define MPI_REMOVED_NAMES
#include "check.h"

/* A handle comes back as it was, and its Fortran form is the number that the ABI gives it, also by the profiling name. */
#define ROUND(kind, handle)                                                   \
    do {                                                                      \
        MPI_Fint number = MPI_##kind##_c2f(handle);                           \
        CHECK(MPI_##kind##_f2c(number) == (handle));                          \
        CHECK(number == MPI_##kind##_toint(handle));                          \
        CHECK(PMPI_##kind##_c2f(handle) == number && PMPI_##kind##_f2c(number) == (handle)); \
    } while (0)

static void handles(void) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Errhandler handler;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Comm_get_errhandler(comm, &handler);
    ROUND(Comm, comm);
    ROUND(Comm, MPI_COMM_WORLD);
    ROUND(Comm, MPI_COMM_NULL);
    ROUND(Group, group);
    ROUND(Info, info);
    ROUND(Info, MPI_INFO_ENV);
    ROUND(Type, type);
    ROUND(Type, MPI_DOUBLE);
    ROUND(Request, request);
    ROUND(Request, MPI_REQUEST_NULL);
    ROUND(Errhandler, handler);
    ROUND(Op, MPI_SUM);
    ROUND(Message, MPI_MESSAGE_NO_PROC);
    ROUND(Win, MPI_WIN_NULL);
    ROUND(File, MPI_FILE_NULL);
    ROUND(Session, MPI_SESSION_NULL);
    /* Not only the number: the object behind it does what it did. */
    int members;
    MPI_Comm_size(MPI_Comm_f2c(MPI_Comm_c2f(comm)), &members);
    CHECK(members == size);
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

static void statuses(void) {
    MPI_Status status, back;
    MPI_F08_status modern;
    MPI_Fint words[MPI_F_STATUS_SIZE];
    char data[5] = "four", room[9];
    int count, cancelled;
    memset(&status, 0, sizeof status);
    MPI_Sendrecv(data, 5, MPI_CHAR, rank, 17, room, 9, MPI_CHAR, rank, 17, MPI_COMM_WORLD, &status);
    status.MPI_ERROR = MPI_ERR_TRUNCATE;
    CHECK(MPI_Status_c2f(&status, words) == MPI_SUCCESS);
    CHECK(words[MPI_F_SOURCE] == rank && words[MPI_F_TAG] == 17 && words[MPI_F_ERROR] == MPI_ERR_TRUNCATE);
    CHECK(MPI_Status_f2f08(words, &modern) == MPI_SUCCESS);
    CHECK(modern.MPI_SOURCE == rank && modern.MPI_TAG == 17 && modern.MPI_ERROR == MPI_ERR_TRUNCATE);
    memset(words, -1, sizeof words);
    CHECK(MPI_Status_f082f(&modern, words) == MPI_SUCCESS);
    memset(&back, -1, sizeof back);
    CHECK(MPI_Status_f2c(words, &back) == MPI_SUCCESS);
    MPI_Get_count(&back, MPI_CHAR, &count);
    MPI_Test_cancelled(&back, &cancelled);
    CHECK(count == 5 && !cancelled && back.MPI_SOURCE == rank && back.MPI_ERROR == MPI_ERR_TRUNCATE);
    MPI_Status_set_cancelled(&back, 1);
    CHECK(MPI_Status_c2f08(&back, &modern) == MPI_SUCCESS && MPI_Status_f082c(&modern, &status) == MPI_SUCCESS);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    CHECK(class_of(MPI_Status_c2f(MPI_STATUS_IGNORE, words)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, words)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_set_cancelled(MPI_STATUS_IGNORE, 1)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &status)) == MPI_ERR_ARG);
}

/* Bindings tell once what a LOGICAL is and how long Fortran's types are. */
static void bindings(void) {
    int yes = -1, no = 0, told_yes = 7, told_no = 7, is_set = 7, flag;
    char value[8];
    int length = sizeof value;
    MPI_Info info;
    CHECK(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
    CHECK(MPI_Abi_get_fortran_booleans(4, &told_yes, &told_no, &is_set) == MPI_SUCCESS && is_set == 0);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(99, &yes, &no)) == MPI_ERR_ARG);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(4, &no, &yes)) == MPI_ERR_ABI);
    CHECK(MPI_Abi_get_fortran_booleans(4, &told_yes, &told_no, &is_set) == MPI_SUCCESS);
    CHECK(is_set == 1 && told_yes == -1 && told_no == 0);
    CHECK(class_of(MPI_Abi_get_fortran_booleans(8, &told_yes, &told_no, &is_set)) == MPI_ERR_ARG);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "4");
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    MPI_Info_get_string(info, "mpi_integer_size", &length, value, &flag);
    CHECK(flag && strcmp(value, "4") == 0);
    MPI_Info_free(&info);
}

static int handled;

static void note(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void removed_names(void) {
    struct {
        char letter;
        double number;
    } pair[2] = {{'a', 1.5}, {'b', 2.5}}, got[2];
    MPI_Aint places[4], extent, lower, upper;
    int lengths[4] = {1, 1, 1, 1};
    MPI_Datatype types[4] = {MPI_LB, MPI_CHAR, MPI_DOUBLE, MPI_UB}, type;
    MPI_Address(&pair[0].letter, &places[1]);
    MPI_Address(&pair[0].number, &places[2]);
    places[2] -= places[1];
    places[0] = places[1] = 0;
    places[3] = sizeof pair[0];
    CHECK(MPI_Type_struct(4, lengths, places, types, &type) == MPI_SUCCESS);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lower);
    MPI_Type_ub(type, &upper);
    CHECK(extent == (MPI_Aint)sizeof pair[0] && lower == 0 && upper == extent);
    MPI_Type_commit(&type);
    memset(got, 0, sizeof got);
    MPI_Sendrecv(pair, 2, type, rank, 0, got, 2, type, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got[0].letter == 'a' && got[1].letter == 'b' && got[0].number == 1.5 && got[1].number == 2.5);
    MPI_Type_free(&type);
    /* Marks alone move the ends: one byte at 3, from -2 to 11. */
    places[0] = -2, places[1] = 3, places[2] = 11;
    types[2] = MPI_UB;
    MPI_Type_struct(3, lengths, places, types, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lower);
    CHECK(extent == 13 && lower == -2);
    MPI_Type_free(&type);
    /* Nothing else takes a mark, and a wrong type is an error of the call. */
    CHECK(class_of(MPI_Type_contiguous(2, MPI_LB, &type)) == MPI_ERR_TYPE);
    types[1] = MPI_DATATYPE_NULL;
    CHECK(class_of(MPI_Type_struct(3, lengths, places, types, &type)) == MPI_ERR_TYPE && type == MPI_DATATYPE_NULL);
    MPI_Type_hvector(2, 1, 40, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    CHECK(extent == 44);
    MPI_Type_free(&type);
    MPI_Errhandler handler, found;
    MPI_Handler_function *function = note;
    MPI_Errhandler_create(function, &handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    MPI_Errhandler_get(MPI_COMM_WORLD, &found);
    MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    CHECK(handled == 1);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&found);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    handles();
    statuses();
    bindings();
    removed_names();
    MPI_Finalize();
    return 0;
}
