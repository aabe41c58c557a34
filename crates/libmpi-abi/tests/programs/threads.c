/* Several threads of each rank in the library at once: none keeps another from getting on. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200 };

static MPI_Comm own[THREADS];

/* A ring in a communicator of the thread's own, with a collective now and then. */
static void *ring(void *number) {
    MPI_Comm comm = own[*(int *)number];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        int sent = 1000 * *(int *)number + round, found = -1, sum = 0;
        MPI_Sendrecv(&sent, 1, MPI_INT, next, 7, &found, 1, MPI_INT, before, 7, comm, MPI_STATUS_IGNORE);
        CHECK(found == sent);
        if (round % 10 == 0) {
            MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm);
            CHECK(sum == size * sent);
        }
        if (round % 50 == 0) MPI_Barrier(comm);
    }
    return NULL;
}

/* A thread that waits for what only a message of another thread of the same rank brings about. */
static void *answer(void *ignored) {
    int number;
    (void)ignored;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    number++;
    MPI_Send(&number, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    return NULL;
}

static void waits_for_each_other(void) {
    pthread_t thread;
    MPI_Request request;
    MPI_Status status;
    int sent = rank, found = -1, flag = 0;
    MPI_Irecv(&found, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
    pthread_create(&thread, NULL, answer, NULL);
    MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    if (rank % 2)
        while (!flag) MPI_Test(&request, &flag, &status);
    else
        MPI_Wait(&request, &status);
    pthread_join(thread, NULL);
    CHECK(found == (rank + size - 1) % size + 1);
}

/* A thread in a barrier does not keep another from sending what the other ranks wait for before theirs. */
static void *barrier(void *ignored) {
    (void)ignored;
    MPI_Barrier(own[0]);
    return NULL;
}

static void collective_and_messages(void) {
    pthread_t thread;
    int token = 0;
    pthread_create(&thread, NULL, barrier, NULL);
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token++;
    if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
    CHECK(token == rank + 1);
    pthread_join(thread, NULL);
    if (rank == 0) {
        pthread_create(&thread, NULL, barrier, NULL);
        for (int other = 1; other < size; other++) MPI_Send(&token, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(own[0]);
    }
}

int main(int argc, char **argv) {
    int provided, numbers[THREADS], is_main;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)class_of, (void)over_tcp, (void)begin;
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&is_main);
    CHECK(is_main);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    waits_for_each_other();
    collective_and_messages();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, ring, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
    MPI_Finalize();
    return 0;
}
