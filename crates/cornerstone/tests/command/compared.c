// Programs of three ranks whose messages or collectives do not match, and programs that come close.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD

static int rank;

static void message_of_another_type(void) {
    int data[6] = {1};
    float room[6];
    if (rank == 0) MPI_Send(data, 6, MPI_INT, 1, 3, WORLD); // sent of message_of_another_type
    if (rank == 1) MPI_Recv(room, 6, MPI_FLOAT, 0, 3, WORLD, MPI_STATUS_IGNORE); // received of message_of_another_type
}

static void started_message_of_another_type(void) {
    double data = 1;
    long room;
    MPI_Request request;
    if (rank == 2) MPI_Send(&data, 1, MPI_DOUBLE, 1, 3, WORLD); // sent of started_message_of_another_type
    if (rank == 1) {
        MPI_Irecv(&room, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // received of started_message_of_another_type
    }
}

static void never_received(void) {
    int data = 1;
    if (rank == 0) MPI_Send(&data, 1, MPI_INT, 2, 7, WORLD); // sent of never_received
}

static void broadcast_of_another_type(void) {
    double data = 1;
    if (rank < 2) MPI_Bcast(&data, 2, MPI_INT, 0, WORLD); // first of broadcast_of_another_type
    else MPI_Bcast(&data, 1, MPI_DOUBLE, 0, WORLD); // second of broadcast_of_another_type
}

// Each rank sends and receives two elements, rank 1 as another type.
static void exchange_of_another_type(void) {
    int out[6] = {0}, in[6], counts[3] = {2, 2, 2}, places[3] = {0, 2, 4};
    MPI_Datatype type = rank == 1 ? MPI_FLOAT : MPI_INT;
    MPI_Alltoallv(out, counts, places, type, in, counts, places, type, WORLD); // first of exchange_of_another_type
}

// Nobody waits for another rank in any of the calls.
static void other_order(void) {
    int data = 1;
    MPI_Comm half;
    MPI_Comm_dup(WORLD, &half);
    if (rank == 0) {
        MPI_Bcast(&data, 1, MPI_INT, 0, half);
        MPI_Reduce(&data, NULL, 1, MPI_INT, MPI_SUM, 2, half); // first of other_order
    }
    if (rank != 0) {
        MPI_Bcast(&data, 1, MPI_INT, 0, half);
        if (rank == 1) MPI_Reduce(&data, NULL, 1, MPI_INT, MPI_SUM, 2, half);
        else MPI_Bcast(&data, 1, MPI_INT, 2, half); // second of other_order
    }
    MPI_Comm_free(&half);
}

// Programs that work only if the library has room for the messages, or does not wait in the broadcast.
static void sends_first(void) {
    int data = 1, room;
    MPI_Send(&data, 1, MPI_INT, (rank + 1) % 3, 0, WORLD); // sent of sends_first
    MPI_Recv(&room, 1, MPI_INT, (rank + 2) % 3, 0, WORLD, MPI_STATUS_IGNORE);
}

static void broadcast_that_need_not_wait(void) {
    int data = 1;
    if (rank == 0) {
        MPI_Bcast(&data, 1, MPI_INT, 0, WORLD); // first of broadcast_that_need_not_wait
        MPI_Send(&data, 1, MPI_INT, 1, 0, WORLD);
    } else {
        if (rank == 1) MPI_Recv(&data, 1, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(&data, 1, MPI_INT, 0, WORLD);
    }
}

// Bytes match everything, signs and names of integers make no difference, and what counts are the elements.
static void right(void) {
    int data[6] = {1, 2, 3, 4, 5, 6}, all[18];
    long number = 1;
    char bytes[24];
    MPI_Datatype pair, mixed;
    MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair);
    struct { double d; int i; } one[2] = {{1, 2}, {3, 4}};
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, parts, &mixed), MPI_Type_commit(&mixed);
    if (rank == 0) {
        MPI_Send(data, 6, MPI_INT, 1, 0, WORLD);
        MPI_Send(data, 3, pair, 1, 1, WORLD);
        MPI_Send(&number, 1, MPI_LONG, 1, 2, WORLD);
        MPI_Send(one, 2, mixed, 1, 3, WORLD);
        MPI_Send(data, 0, MPI_INT, 1, 4, WORLD);
    }
    if (rank == 1) {
        MPI_Recv(bytes, 24, MPI_BYTE, 0, 0, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 6, MPI_UNSIGNED, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&number, 1, MPI_INT64_T, 0, 2, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(one, 2, mixed, 0, 3, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, 3, MPI_DOUBLE, 0, 4, WORLD, MPI_STATUS_IGNORE);
    }
    if (rank < 2) MPI_Bcast(data, 3, pair, 0, WORLD);
    else MPI_Bcast(data, 6, MPI_INT, 0, WORLD);
    MPI_Gather(data, rank == 0 ? 6 : 3, rank == 0 ? MPI_INT : pair, all, 6, MPI_INT, 2, WORLD);
    if (rank == 1) MPI_Bcast(data, 24, MPI_BYTE, 0, WORLD);
    else MPI_Bcast(data, 6, MPI_INT, 0, WORLD);
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 99, WORLD, &request);
    MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&pair), MPI_Type_free(&mixed);
}

// A receive that is freed under way gets its message nevertheless.
static void freed(void) {
    int data;
    MPI_Request request;
    MPI_Irecv(&data, 1, MPI_INT, (rank + 1) % 3, 9, WORLD, &request); // first of freed
    MPI_Request_free(&request); // second of freed
    MPI_Barrier(WORLD);
    MPI_Ssend(&rank, 1, MPI_INT, (rank + 2) % 3, 9, WORLD);
    MPI_Barrier(WORLD);
}

int main(int count, char **words) {
#define PROGRAM(name) {#name, name}
    struct { const char *name; void (*run)(void); } all[] = {
        PROGRAM(message_of_another_type), PROGRAM(started_message_of_another_type), PROGRAM(never_received),
        PROGRAM(broadcast_of_another_type), PROGRAM(exchange_of_another_type), PROGRAM(other_order),
        PROGRAM(sends_first), PROGRAM(broadcast_that_need_not_wait), PROGRAM(right), PROGRAM(freed),
    };
    MPI_Init(&count, &words);
    MPI_Comm_rank(WORLD, &rank);
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count > 1 && !strcmp(words[1], all[i].name)) all[i].run(), found = 1;
    MPI_Finalize();
    return !found;
}
