/* Programs for tests of simulated machines: each checks what it gets, and says what it has seen. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

/* Messages of all lengths around a ring, blocking, started and synchronous. */
static void ring(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int length = 1; length <= 1 << 20; length *= 32) {
        char *out = malloc(length), *in = calloc(length, 1);
        memset(out, rank + 1, length);
        MPI_Request requests[2];
        MPI_Status status;
        MPI_Irecv(in, length, MPI_CHAR, before, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(out, length, MPI_CHAR, next, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        check(in[0] == (char)(before + 1) && in[length - 1] == (char)(before + 1), "started");
        memset(in, 0, length);
        MPI_Sendrecv(out, length, MPI_CHAR, next, 6, in, length, MPI_CHAR, MPI_ANY_SOURCE, 6,
                     MPI_COMM_WORLD, &status);
        int count;
        MPI_Get_count(&status, MPI_CHAR, &count);
        check(status.MPI_SOURCE == before && count == length, "status");
        check(in[length - 1] == (char)(before + 1), "exchanged");
        free(out);
        free(in);
    }
}

static void greatest(void *in, void *both, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        if (((int *)in)[i] > ((int *)both)[i]) ((int *)both)[i] = ((int *)in)[i];
}

/* Collectives of all ranks and of some, with an operation of the program's own, and started ones. */
static void collectives(void)
{
    int own[3] = {rank, 2 * rank, -rank}, all[3], most = size - 1;
    MPI_Allreduce(own, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(all[0] == size * most / 2 && all[1] == size * most && all[2] == -all[0], "sum");
    MPI_Op op;
    MPI_Op_create(greatest, 1, &op);
    MPI_Allreduce(own, all, 3, MPI_INT, op, MPI_COMM_WORLD);
    check(all[0] == most && all[1] == 2 * most && all[2] == 0, "own operation");
    MPI_Reduce(own, all, 3, MPI_INT, op, size - 1, MPI_COMM_WORLD);
    check(rank != size - 1 || all[1] == 2 * most, "own operation at a root");
    MPI_Op_free(&op);
    int *gathered = malloc(sizeof(int) * size), *given = malloc(sizeof(int) * size);
    for (int i = 0; i < size; i++) given[i] = 100 * rank + i;
    MPI_Alltoall(given, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) check(gathered[i] == 100 * i + rank, "all to all");
    MPI_Gather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) check(gathered[i] == i, "gather");
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int word = rank < 2 ? 70 + rank : 0;
    MPI_Bcast(&word, 1, MPI_INT, 0, half);
    check(word == 70 + rank % 2, "broadcast in a half");
    MPI_Request started;
    int sum = 0;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half, &started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
    int expected = 0;
    for (int i = rank % 2; i < size; i += 2) expected += i;
    check(sum == expected, "started sum in a half");
    MPI_Comm_free(&half);
    free(gathered);
    free(given);
}

static void windows(void)
{
    int *memory, next = (rank + 1) % size, one = 1, before;
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    check(memory[0] == (rank + size - 1) % size, "put");
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 1, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    check(before >= 0 && before < size && (rank != 0 || memory[1] == size), "fetch");
    MPI_Win_free(&win);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double day_s(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + 1e-6 * now.tv_usec;
}

/* Two hours of sleep in all ways, and what the clocks say of it. */
static void sleeps(void)
{
    double begin = MPI_Wtime(), monotonic = clock_s(CLOCK_MONOTONIC), day = day_s();
    time_t seconds = time(NULL);
    sleep(1800);
    for (int i = 0; i < 900; i++) usleep(1000000);
    struct timespec span = {.tv_sec = 1800, .tv_nsec = 500000000}, until;
    nanosleep(&span, NULL);
    clock_nanosleep(CLOCK_REALTIME, 0, &span, NULL);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 899;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    double slept[4] = {MPI_Wtime() - begin, clock_s(CLOCK_MONOTONIC) - monotonic, day_s() - day,
                       (double)(time(NULL) - seconds)};
    for (int i = 0; i < 4; i++) check(slept[i] > 7199 && slept[i] < 7201, "two hours");
    if (rank == 0) printf("slept %.3f s from %.0f on\n", slept[0], day);
}

/* Rank 0 sends late; the others look until it has, in three ways. */
static void polls(void)
{
    int word = 0, there = 0;
    /* Ranks begin at different times, as they have computed before. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(3000);
        for (int i = 1; i < size; i++) MPI_Send(&i, 1, MPI_INT, i, 4, MPI_COMM_WORLD);
        return;
    }
    double begin = MPI_Wtime();
    if (rank % 3 == 0) {
        while (clock_s(CLOCK_MONOTONIC) < begin) {}
        while (MPI_Wtime() - begin < 0.003) {}
    }
    MPI_Request request;
    if (rank % 3 == 1) {
        while (!there) MPI_Iprobe(0, 4, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        there = 0;
    }
    MPI_Irecv(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
    while (!there) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    check(word == rank && MPI_Wtime() - begin > 0.002, "a late message");
}

/* Rank 0 computes, and sends two messages. The others poll for both in turn. */
static void listens(void)
{
    volatile double sum = 0;
    double sent[2] = {0, 0};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < 20000000; i++) sum += 1.0 / (i + 1);
        for (int tag = 0; tag < 2; tag++)
            for (int i = 1; i < size; i++) {
                sent[tag] = MPI_Wtime();
                MPI_Send(&sent[tag], 1, MPI_DOUBLE, i, 20 + tag, MPI_COMM_WORLD);
            }
        return;
    }
    MPI_Request request;
    MPI_Irecv(&sent[1], 1, MPI_DOUBLE, 0, 21, MPI_COMM_WORLD, &request);
    int probed = 0, done = 0;
    double seen[2] = {0, 0};
    while (!probed || !done) {
        if (!probed) {
            MPI_Iprobe(0, 20, MPI_COMM_WORLD, &probed, MPI_STATUS_IGNORE);
            if (probed) seen[0] = MPI_Wtime();
        }
        if (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (done) seen[1] = MPI_Wtime();
        }
    }
    MPI_Recv(&sent[0], 1, MPI_DOUBLE, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = 0; tag < 2; tag++) {
        check(seen[tag] > sent[tag], "nothing is seen before it was sent");
        check(seen[tag] < sent[tag] + 0.005, "a poll sees what has arrived");
    }
}

static void computes(void)
{
    volatile double sum = 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < 20000000; i++) sum += 1.0 / (i + 1);
    if (rank == 0) printf("computed %.9f\n", MPI_Wtime() - begin);
}

/* A message arrives while the program looks at a clock, and another while it sleeps. */
static void looks(void)
{
    for (int way = 0; way < 2; way++) {
        int word = -1, before = (rank + size - 1) % size;
        MPI_Request request;
        MPI_Irecv(&word, 1, MPI_INT, before, 11, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 11, MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        while (way == 0 && MPI_Wtime() - begin < 0.0005);
        if (way == 1) usleep(500);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(word == before, "what came meanwhile is there");
    }
}

/* Each rank computes a fourth of what the one before does, so the last comes first to rank 0, which takes any. */
static void races(void)
{
    volatile double sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank > 0 && i < 320000000 >> 2 * rank; i++) sum += 1.0 / (i + 1);
    double sent = MPI_Wtime();
    if (rank > 0) MPI_Send(&sent, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
    for (int from = size - 1; rank == 0 && from > 0; from--) {
        MPI_Status status;
        MPI_Recv(&sent, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
        check(status.MPI_SOURCE == from, "who computes less comes first");
        check(MPI_Wtime() > sent, "nothing comes before it was sent");
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "alone")) return 0;
    if (!strcmp(name, "before")) {
        double begin = clock_s(CLOCK_MONOTONIC);
        sleep(600);
        if (clock_s(CLOCK_MONOTONIC) - begin < 600) return 98;
    }
    int level = strcmp(name, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(name, "before")) {
        double begin = clock_s(CLOCK_MONOTONIC), now = MPI_Wtime();
        check(now >= 600 && now < 610, "time before MPI_Init counts");
        MPI_Finalize();
        sleep(600);
        return clock_s(CLOCK_MONOTONIC) - begin < 600 ? 97 : 0;
    }
    if (!strcmp(name, "all") || !strcmp(name, "messages")) {
        ring();
        collectives();
    }
    if (!strcmp(name, "all") || !strcmp(name, "windows")) windows();
    if (!strcmp(name, "sleeps")) sleeps();
    if (!strcmp(name, "polls")) polls();
    if (!strcmp(name, "listens")) listens();
    if (!strcmp(name, "looks")) looks();
    if (!strcmp(name, "computes")) computes();
    if (!strcmp(name, "races")) races();
    if (!strcmp(name, "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 42);
    if (!strcmp(name, "dies") && rank == 1) raise(SIGKILL);
    if (!strcmp(name, "exits") && rank == 1) exit(5);
    if (!strcmp(name, "stuck") && rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (!strcmp(name, "stuck"))
        MPI_Recv(&rank, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // stuck
    if (!strcmp(name, "waits")) {
        MPI_Request both[2];
        int there[2];
        MPI_Irecv(&there[0], 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &both[0]);
        MPI_Irecv(&there[1], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(name, "late")) {
        MPI_Finalize();
        return 6;
    }
    if (rank == 0) printf("%s is well\n", name);
    MPI_Finalize();
    return 0;
}
