/* Several threads of each rank in the library at once: none keeps another from getting on. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <unistd.h>

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

static pthread_barrier_t both_have_one;

/* Claims a message of its own communicator, and receives it when another thread has claimed one as well. */
static void *claim(void *number) {
    int mine = *(int *)number, found = -1;
    MPI_Message message;
    MPI_Mprobe(rank, 5, own[mine], &message, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&both_have_one);
    MPI_Mrecv(&found, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(found == mine);
    return NULL;
}

static void claims(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    pthread_barrier_init(&both_have_one, NULL, 2);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, claim, &numbers[i]);
    /* Most likely both wait by then. If not, the test finds less. */
    usleep(10000);
    for (int i = 0; i < 2; i++) MPI_Send(&numbers[i], 1, MPI_INT, rank, 5, own[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&both_have_one);
}

/* A session that requests no level has the one of the process. */
static void level_of_a_session(void) {
    MPI_Session session;
    MPI_Info info;
    char level[32];
    int length = sizeof level, flag;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    MPI_Info_get_string(info, "thread_level", &length, level, &flag);
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
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
    claims();
    level_of_a_session();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, ring, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
    MPI_Finalize();
    /* There was a session, so the ranks leave the run when they exit, and those that do so first wait for this one. */
    if (rank == 0) usleep(20000);
    return 0;
}
