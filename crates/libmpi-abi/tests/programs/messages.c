/* Point-to-point messages in every mode, between every pair and to oneself, at lengths that take every way. */
#include "check.h"

static const int LENGTHS[] = {0, 1, 48, 49, 1000, 65536, 65537, 262144, 262145, 1 << 20};
enum { MANY = sizeof LENGTHS / sizeof *LENGTHS, LONGEST = 1 << 20 };

static unsigned char *out, *in;

static void fill(int seed, int length) {
    for (int i = 0; i < length; i++) out[i] = (unsigned char)(i * 7 + seed);
}

static int right(int seed, int length) {
    for (int i = 0; i < length; i++)
        if (in[i] != (unsigned char)(i * 7 + seed)) return 0;
    return 1;
}

/* Every mode around a ring; with one rank, the message is to oneself. */
static void modes(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, count;
    MPI_Status status;
    MPI_Request request;
    int room;
    MPI_Buffer_attach(malloc(LONGEST + MPI_BSEND_OVERHEAD), LONGEST + MPI_BSEND_OVERHEAD);
    for (int i = 0; i < MANY; i++)
        for (int mode = 0; mode < 5; mode++) {
            int length = LENGTHS[i];
            fill(rank + mode, length);
            memset(in, 0xee, length);
            MPI_Irecv(in, length, MPI_BYTE, before, mode, MPI_COMM_WORLD, &request);
            MPI_Request sent = MPI_REQUEST_NULL;
            switch (mode) {
            case 0: MPI_Isend(out, length, MPI_BYTE, next, mode, MPI_COMM_WORLD, &sent); break;
            case 1: MPI_Issend(out, length, MPI_BYTE, next, mode, MPI_COMM_WORLD, &sent); break;
            case 2:
                CHECK(MPI_Bsend(out, length, MPI_BYTE, next, mode, MPI_COMM_WORLD) == MPI_SUCCESS);
                memset(out, 0, length);
                break;
            case 3:
                MPI_Send_init(out, length, MPI_BYTE, next, mode, MPI_COMM_WORLD, &sent);
                MPI_Start(&sent);
                break;
            case 4: MPI_Send(out, length, MPI_BYTE, next, mode, MPI_COMM_WORLD); break;
            }
            MPI_Wait(&request, &status);
            CHECK(request == MPI_REQUEST_NULL);
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(status.MPI_SOURCE == before && status.MPI_TAG == mode && count == length);
            CHECK(right(before + mode, length));
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
            if (mode == 3) MPI_Request_free(&sent);
        }
    void *buffer;
    MPI_Buffer_detach(&buffer, &room);
    CHECK(room == LONGEST + MPI_BSEND_OVERHEAD);
    free(buffer);
}

/* Neither the buffer of buffered sends nor the place of its address need be aligned. */
static void unaligned(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, number = rank, got = -1, room;
    char *whole = malloc(MPI_BSEND_OVERHEAD + 9), places[sizeof(void *) + 1];
    void *buffer;
    MPI_Buffer_attach(whole + 1, MPI_BSEND_OVERHEAD + 8);
    MPI_Bsend(&number, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == before);
    MPI_Buffer_detach(places + 1, &room);
    memcpy(&buffer, places + 1, sizeof buffer);
    CHECK(buffer == whole + 1 && room == MPI_BSEND_OVERHEAD + 8);
    free(whole);
    MPI_Alloc_mem(64, MPI_INFO_NULL, places + 1);
    memcpy(&buffer, places + 1, sizeof buffer);
    MPI_Free_mem(buffer);
}

/* A synchronous send ends only once its receive has begun. */
static void synchronous(void) {
    if (size < 2) return;
    int flag, zero = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(&zero, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 1000; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        MPI_Send(&zero, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&zero, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&zero, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Messages of one sender keep their order under wildcards, and probes see what a receive would get. */
static void order(void) {
    int number, flag;
    MPI_Status status, probed;
    MPI_Message message;
    if (rank != 0) {
        for (int i = 0; i < 20; i++) {
            number = rank * 100 + i;
            MPI_Send(&number, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
        }
    } else {
        int *seen = calloc(size, sizeof *seen);
        for (int i = 0; i < 20 * (size - 1); i++) {
            if (i % 3 == 0) {
                MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            } else if (i % 3 == 1) {
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &probed);
                MPI_Recv(&number, 1, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, &status);
            } else {
                do MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &probed);
                while (!flag);
                MPI_Mrecv(&number, 1, MPI_INT, &message, &status);
                CHECK(message == MPI_MESSAGE_NULL && probed.MPI_SOURCE == status.MPI_SOURCE);
            }
            CHECK(number == status.MPI_SOURCE * 100 + seen[status.MPI_SOURCE]);
            CHECK(status.MPI_TAG == seen[status.MPI_SOURCE] % 3);
            seen[status.MPI_SOURCE]++;
        }
        free(seen);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A matched message is out of the sight of every other receive, however long it is. */
static void matched(void) {
    if (size < 2) return;
    MPI_Message message;
    MPI_Status status;
    int count;
    if (rank == 0) {
        for (int i = 0; i < MANY; i++) {
            fill(i, LENGTHS[i]);
            MPI_Send(out, LENGTHS[i], MPI_BYTE, 1, 5, MPI_COMM_WORLD);
            int after = i;
            MPI_Send(&after, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        for (int i = 0; i < MANY; i++) {
            int after = -1;
            MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
            MPI_Request request;
            MPI_Imrecv(in, LONGEST, MPI_BYTE, &message, &request);
            MPI_Recv(&after, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(after == i && count == LENGTHS[i] && status.MPI_TAG == 5 && right(i, count));
        }
    }
}

static void cancelled(void) {
    int number = 0, flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&number, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Recv(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

/* Waiting for any and some: every request is told once. */
static void any_and_some(void) {
    enum { COUNT = 30 };
    MPI_Request requests[2 * COUNT];
    int numbers[COUNT], sent[COUNT], told[2 * COUNT] = {0}, taken, indices[2 * COUNT], index, left;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i++) {
        sent[i] = 1000 * rank + i;
        MPI_Irecv(&numbers[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < COUNT; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, next, COUNT - 1 - i, MPI_COMM_WORLD, &requests[COUNT + i]);
    for (left = 2 * COUNT; left > 2 * COUNT - 10; left--) {
        MPI_Waitany(2 * COUNT, requests, &index, MPI_STATUS_IGNORE);
        told[index]++;
    }
    while (left > 0) {
        MPI_Waitsome(2 * COUNT, requests, &taken, indices, MPI_STATUSES_IGNORE);
        CHECK(taken > 0);
        for (int i = 0; i < taken; i++) told[indices[i]]++;
        left -= taken;
    }
    MPI_Waitany(2 * COUNT, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
    for (int i = 0; i < 2 * COUNT; i++) CHECK(told[i] == 1);
    for (int i = 0; i < COUNT; i++) CHECK(numbers[i] == 1000 * before + COUNT - 1 - i);
}

/* Requests of plain messages are asked about, given up, freed while under way, and turned to numbers and back. */
static void plain_requests(void) {
    enum { COUNT = 300 }; /* more than a ring holds cells */
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag, count;
    int numbers[COUNT], sent[COUNT];
    MPI_Request requests[2 * COUNT];
    MPI_Status statuses[2 * COUNT], status;
    for (int i = 0; i < COUNT; i++) {
        MPI_Irecv(&numbers[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
        CHECK(MPI_Request_fromint(MPI_Request_toint(requests[i])) == requests[i]);
    }
    MPI_Request_get_status(requests[0], &flag, &status);
    for (int i = 0; i < COUNT; i++) {
        sent[i] = 1000 * rank + i;
        MPI_Isend(&sent[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[COUNT + i]);
    }
    while (MPI_Request_get_status(requests[7], &flag, &status), !flag) {}
    CHECK(requests[7] != MPI_REQUEST_NULL && status.MPI_SOURCE == before && status.MPI_TAG == 7);
    MPI_Wait(&requests[7], &status);
    CHECK(requests[7] == MPI_REQUEST_NULL && status.MPI_SOURCE == before && status.MPI_TAG == 7);
    MPI_Waitall(2 * COUNT, requests, statuses);
    for (int i = 0; i < COUNT; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL && requests[COUNT + i] == MPI_REQUEST_NULL);
        CHECK(numbers[i] == 1000 * before + i);
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        if (i != 7)
            CHECK(statuses[i].MPI_SOURCE == before && statuses[i].MPI_TAG == i && count == 1);
        CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS);
    }
    /* One too long among others: the statuses tell which. */
    int room[3] = {-1, -1, -1}, two[2] = {rank, rank};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&room[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++) MPI_Send(two, 1 + (i == 1), MPI_INT, next, i, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Waitall(3, requests, statuses)) == MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE && room[1] == before);
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[2].MPI_ERROR == MPI_SUCCESS);
    CHECK(room[0] == before && room[2] == before && requests[1] == MPI_REQUEST_NULL);
    MPI_Irecv(&room[0], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(two, 2, MPI_INT, next, 1, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Wait(&requests[0], &status)) == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    /* Freed while under way, the message arrives all the same; a cancelled one never does. */
    room[0] = -1;
    MPI_Irecv(&room[0], 1, MPI_INT, before, 21, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&room[2], 1, MPI_INT, before, 22, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[0]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    MPI_Cancel(&requests[1]);
    MPI_Irecv(&room[1], 1, MPI_INT, before, 23, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, next, 21, MPI_COMM_WORLD, &requests[3]);
    MPI_Request_free(&requests[3]);
    MPI_Isend(&rank, 1, MPI_INT, next, 23, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    MPI_Test_cancelled(&statuses[1], &flag);
    CHECK(flag && room[0] == before && room[1] == before);
    MPI_Test_cancelled(&statuses[2], &flag);
    CHECK(!flag);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    out = malloc(LONGEST);
    in = malloc(LONGEST);
    modes();
    unaligned();
    synchronous();
    order();
    matched();
    cancelled();
    any_and_some();
    plain_requests();
    int pair[2] = {rank, -1};
    MPI_Sendrecv(&pair[0], 1, MPI_INT, (rank + 1) % size, 3, &pair[1], 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pair[1] == (rank + size - 1) % size);
    MPI_Sendrecv_replace(&pair[0], 1, MPI_INT, (rank + 1) % size, 4, (rank + size - 1) % size, 4,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pair[0] == (rank + size - 1) % size);
    CHECK(MPI_Sendrecv_replace(pair, 0, MPI_INT, MPI_PROC_NULL, 4, MPI_PROC_NULL, 4, MPI_COMM_SELF,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
