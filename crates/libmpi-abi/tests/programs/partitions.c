/* Partitioned communication: each partition arrives when it was given, in whatever order, as often as the requests are started. */
#include "check.h"

static unsigned seed;

static int draw(int limit) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 16) % (unsigned)limit);
}

/* 0 to count - 1 in any order. */
static void shuffled(int *order, int count) {
    for (int i = 0; i < count; i++) {
        int place = draw(i + 1);
        order[i] = order[place];
        order[place] = i;
    }
}

/* Says why a call has failed. */
static void succeeds(int code) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, words, &length);
        fprintf(stderr, "%s\n", words);
    }
    CHECK(code == MPI_SUCCESS);
}

enum { PARTS = 24, LONG = 24 * 4000 };
static int data[LONG], room[LONG];

static int word(int from, int turn, int index) { return from * 1000003 + turn * 7919 + index; }

/* A send in `out` partitions around the ring, and a receive in `in`, of as many numbers. */
static void around(MPI_Comm comm, int out, int in, int numbers) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag, order[PARTS];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CHECK(MPI_Psend_init(data, out, numbers / out, MPI_INT, next, 3, comm, MPI_INFO_NULL, &requests[0]) == MPI_SUCCESS);
    CHECK(MPI_Precv_init(room, in, numbers / in, MPI_INT, before, 3, comm, MPI_INFO_NULL, &requests[1]) == MPI_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < numbers; i++) data[i] = word(rank, turn, i), room[i] = -1;
        MPI_Startall(2, requests);
        shuffled(order, out);
        int given = 0;
        if (turn == 0) {
            for (; given < out - 1; given++) CHECK(MPI_Pready(order[given], requests[0]) == MPI_SUCCESS);
            /* What the last partition of the sender has cannot have arrived, and the request has not ended. */
            if (size == 1) {
                int missing = order[given] * (numbers / out) / (numbers / in);
                CHECK(MPI_Parrived(requests[1], missing, &flag) == MPI_SUCCESS && !flag);
                MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
            }
            CHECK(MPI_Pready(order[given], requests[0]) == MPI_SUCCESS);
        } else if (turn == 1) {
            CHECK(MPI_Pready_list(out, order, requests[0]) == MPI_SUCCESS);
        } else {
            CHECK(MPI_Pready_range(0, out - 1, requests[0]) == MPI_SUCCESS);
        }
        shuffled(order, in);
        for (int i = 0; i < in; i++) {
            int each = numbers / in, first = order[i] * each;
            for (flag = 0; !flag;) succeeds(MPI_Parrived(requests[1], order[i], &flag));
            CHECK(room[first] == word(before, turn, first) && room[first + each - 1] == word(before, turn, first + each - 1));
        }
        MPI_Waitall(2, requests, statuses);
        CHECK(statuses[1].MPI_SOURCE == before && statuses[1].MPI_TAG == 3);
        MPI_Get_count(&statuses[1], MPI_INT, &flag);
        CHECK(flag == numbers);
        for (int i = 0; i < numbers; i++) CHECK(room[i] == word(before, turn, i));
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
        CHECK(MPI_Parrived(requests[1], 0, &flag) == MPI_SUCCESS && flag);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Pairs of one tag match in the order in which they were made, whichever starts first; other tags do not mind. */
static void in_order(MPI_Comm comm) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, mine[3], got[3] = {-1, -1, -1};
    MPI_Request sends[3], receives[3];
    int tags[3] = {8, 9, 8};
    for (int i = 0; i < 3; i++) {
        mine[i] = word(rank, 0, i);
        MPI_Precv_init(&got[i], 1, 1, MPI_INT, before, tags[i], comm, MPI_INFO_NULL, &receives[i]);
        MPI_Psend_init(&mine[i], 1, 1, MPI_INT, next, tags[i], comm, MPI_INFO_NULL, &sends[i]);
    }
    for (int i = 2; i >= 0; i--) MPI_Start(&receives[i]);
    for (int i = 0; i < 3; i++) MPI_Start(&sends[2 - i]), MPI_Pready(0, sends[2 - i]);
    /* A message of a program with the same tag is another thing. */
    int other = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 8, &other, 1, MPI_INT, before, 8, comm, MPI_STATUS_IGNORE);
    CHECK(other == before);
    MPI_Waitall(3, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        CHECK(got[i] == word(before, 0, i));
        MPI_Request_free(&sends[i]), MPI_Request_free(&receives[i]);
    }
}

/* Every second number of each partition: the gaps of what is received stay, and a partition that has arrived is there. */
static void with_gaps(MPI_Comm comm) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag;
    MPI_Datatype sparse;
    MPI_Request requests[2];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int i = 0; i < 24; i++) data[i] = word(rank, 1, i), room[i] = -1;
    MPI_Psend_init(data, 3, 4, sparse, next, 1, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(room, 4, 3, sparse, before, 1, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(2, requests[0]);
    for (flag = 0; !flag;) MPI_Parrived(requests[1], 3, &flag);
    CHECK(room[18] == word(before, 1, 18) && room[22] == word(before, 1, 22) && room[19] == -1);
    MPI_Pready_range(0, 1, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 24; i++) CHECK(room[i] == (i % 2 ? -1 : word(before, 1, i)));
    MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
    MPI_Type_free(&sparse);
}

static void mistakes(MPI_Comm comm) {
    int flag, list[2] = {0, 7};
    MPI_Request send, receive, plain;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Psend_init(data, 0, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Psend_init(data, 1, -1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &send)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Psend_init(data, 1, 1, MPI_INT, size, 0, comm, MPI_INFO_NULL, &send)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Precv_init(room, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &receive)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Precv_init(room, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &receive)) == MPI_ERR_TAG);
    /* To nobody and from nobody there is nothing to wait for. */
    MPI_Status status;
    MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(room, 2, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_INFO_NULL, &receive);
    CHECK(class_of(MPI_Pready(0, send)) == MPI_ERR_REQUEST);
    CHECK(MPI_Parrived(receive, 0, &flag) == MPI_SUCCESS && flag);
    MPI_Start(&send), MPI_Start(&receive);
    CHECK(class_of(MPI_Pready(2, send)) == MPI_ERR_ARG && class_of(MPI_Pready(-1, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready(0, receive)) == MPI_ERR_REQUEST && class_of(MPI_Parrived(send, 0, &flag)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Parrived(receive, 2, &flag)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready_range(1, 0, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready_list(2, list, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready(0, send)) == MPI_ERR_ARG);
    CHECK(MPI_Pready(1, send) == MPI_SUCCESS);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Request_free(&send), MPI_Request_free(&receive);
    MPI_Recv_init(room, 1, MPI_INT, 0, 0, comm, &plain);
    CHECK(class_of(MPI_Pready(0, plain)) == MPI_ERR_REQUEST);
    MPI_Request_free(&plain);
    /* Lengths that differ are an error of the receive. */
    MPI_Psend_init(data, 1, 2, MPI_INT, rank, 5, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(room, 1, 1, MPI_INT, rank, 5, comm, MPI_INFO_NULL, &receive);
    MPI_Start(&receive), MPI_Start(&send);
    MPI_Pready(0, send);
    CHECK(class_of(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send), MPI_Request_free(&receive);
    /* One that is never started leaves nothing behind that anybody waits for. */
    MPI_Psend_init(data, 1, 1, MPI_INT, (rank + 1) % size, 6, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(room, 1, 1, MPI_INT, (rank + size - 1) % size, 6, comm, MPI_INFO_NULL, &receive);
    MPI_Request_free(&send), MPI_Request_free(&receive);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    seed = 7u + (unsigned)rank;
    static const int many[] = {1, 2, 3, 8, PARTS};
    for (int i = 0; i < 25; i++) around(comm, many[i / 5], many[i % 5], i % 4 ? PARTS : LONG);
    in_order(comm);
    with_gaps(comm);
    mistakes(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
