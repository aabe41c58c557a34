/* A root that broadcasts as often as there is room for goes on to MPI_Finalize long before the others: there it waits for them,
 * and takes none of its own calls for another's. */
#include "check.h"

#include <unistd.h>

enum { ROOM = 16 };

int main(int argc, char **argv) {
    int number = 0;
    begin(&argc, &argv);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank != size - 1) sleep(1);
    for (int call = 0; call < ROOM; ++call) {
        number = rank == size - 1 ? call : -1;
        CHECK(MPI_Bcast(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(number == call);
    }
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    return 0;
}
