/* Persistent requests in every mode, and cancelling. */
#include "check.h"

enum { COUNT = 6, ROUNDS = 20, LENGTH = 3000 };

/* All of them started together and completed together, again and again, with other data each time. */
static void persistent(void) {
    static int out[COUNT][LENGTH], in[COUNT][LENGTH];
    MPI_Request requests[2 * COUNT];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int room = COUNT * (LENGTH * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(room);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < COUNT; i++) MPI_Recv_init(in[i], LENGTH, MPI_INT, before, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send_init(out[0], LENGTH, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[COUNT]);
    MPI_Ssend_init(out[1], LENGTH, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[COUNT + 1]);
    MPI_Bsend_init(out[2], LENGTH, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[COUNT + 2]);
    MPI_Rsend_init(out[3], LENGTH, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[COUNT + 3]);
    MPI_Send_init(out[4], 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[COUNT + 4]);
    MPI_Send_init(out[5], 0, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[COUNT + 5]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < LENGTH; j++) out[i][j] = rank * 1000000 + round * 10000 + i * 3000 + j, in[i][j] = -1;
        MPI_Startall(COUNT, requests);
        MPI_Barrier(MPI_COMM_WORLD); /* Ready sends want their receives posted. */
        MPI_Startall(COUNT, requests + COUNT);
        if (round % 2) {
            MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE);
        } else {
            int index, flag = 0;
            for (int i = 0; i < 2 * COUNT; i++) MPI_Waitany(2 * COUNT, requests, &index, MPI_STATUS_IGNORE);
            MPI_Testall(2 * COUNT, requests, &flag, MPI_STATUSES_IGNORE);
            CHECK(flag); /* Requests that are not started count as ended. */
        }
        int lengths[COUNT] = {LENGTH, LENGTH, LENGTH, LENGTH, 1, 0};
        for (int i = 0; i < COUNT; i++) {
            CHECK(requests[i] != MPI_REQUEST_NULL);
            for (int j = 0; j < LENGTH; j++)
                CHECK(in[i][j] == (j < lengths[i] ? before * 1000000 + round * 10000 + i * 3000 + j : -1));
        }
    }
    for (int i = 0; i < 2 * COUNT; i++) MPI_Request_free(&requests[i]);
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
}

static void misuse(void) {
    int number = 0, flag;
    MPI_Request request, none = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK(class_of(MPI_Start(&none)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Cancel(&none)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Request_free(&none)) == MPI_ERR_REQUEST);
    MPI_Irecv(&number, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
    CHECK(MPI_Start(&request) != MPI_SUCCESS); /* It is not persistent. */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request == MPI_REQUEST_NULL);
    MPI_Recv_init(&number, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    CHECK(MPI_Start(&request) != MPI_SUCCESS); /* It is under way. */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    /* It can be started again after it was cancelled, and a cancel that comes too late changes nothing. */
    MPI_Start(&request);
    int sent = 41 + rank;
    MPI_Send(&sent, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag && number == 41 + rank);
    MPI_Request_free(&request);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    persistent();
    misuse();
    MPI_Finalize();
    return 0;
}
