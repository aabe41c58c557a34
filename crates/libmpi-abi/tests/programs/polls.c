/* Ranks that look again and again and never wait, more of them than there are processors: all get on, and who works between
 * its looks is left in peace. */
#include "check.h"

enum { ROUNDS = 300 };

static void look_for(int from, int round) {
    MPI_Status status;
    int flag = 0, found = -1;
    while (!flag) MPI_Iprobe(from, 5, MPI_COMM_WORLD, &flag, &status);
    MPI_Recv(&found, 1, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(found == round && status.MPI_SOURCE == from);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    /* A token goes round: all ranks but one look in vain. */
    for (int round = 0; round < ROUNDS / size; round++) {
        if (rank > 0 || round > 0) look_for(before, rank > 0 ? round : round - 1);
        MPI_Send(&round, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    }
    if (rank == 0) look_for(before, ROUNDS / size - 1);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int sent = round, found[2] = {-1, -1}, flag = 0, index, count = 0, indices[2];
        MPI_Irecv(&found[0], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&found[1], 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(&sent, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Send(&sent, 1, MPI_INT, before, 2, MPI_COMM_WORLD);
        switch (round % 3) {
        case 0:
            while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
            break;
        case 1:
            for (int done = 0; done < 2; done += flag) MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
            break;
        case 2:
            for (int done = 0; done < 2; done += count) MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
            break;
        }
        CHECK(found[0] == round && found[1] == round);
    }
    MPI_Finalize();
    return 0;
}
