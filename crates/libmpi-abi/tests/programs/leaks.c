/* Leaves one of each kind behind; with `clean`, frees all. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request;
    int number;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Recv_init(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    if (!strcmp(argv[1], "clean")) {
        MPI_Comm_free(&comm);
        MPI_Type_free(&type);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}
