// Programs that hang, and programs that only look like it. The first argument says which one; lines that the tests name have a mark.
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, value = 5;

static int is(const char *name, char **words) { return strcmp(words[1], name) == 0; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void receive(int source, int tag, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE); // receive
}

static void send(int to, int tag) { MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

// Rank 1 sends another tag than rank 0 expects, and then waits for rank 0.
static void tags(void) {
    if (rank == 1) send(0, 8);
    if (rank < 2) receive(1 - rank, rank == 0 ? 7 : 9, MPI_COMM_WORLD);
    else MPI_Barrier(MPI_COMM_WORLD); // barrier
}

static void synchronous(void) {
    MPI_Ssend(&value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD); // synchronous
    receive((rank + size - 1) % size, 3, MPI_COMM_WORLD);
}

// Messages that are too long to be sent before somebody receives them.
static void long_messages(void) {
    int count = 4 << 20, *data = calloc(count, sizeof(int));
    MPI_Send(data, count, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Recv(data, count, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(data);
}

static void requests(void) {
    int got[3];
    MPI_Request list[4];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, (rank + 1) % size, 20 + i, MPI_COMM_WORLD, &list[i]);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &list[3]);
    send((rank + size - 1) % size, 21);
    MPI_Waitall(3, list, MPI_STATUSES_IGNORE);
}

static void part(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0) receive(1, 4, half);
    MPI_Barrier(half);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void probe(void) {
    MPI_Probe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void started(void) {
    int sum = 0;
    MPI_Request request;
    if (rank == 0) receive(size - 1, 1, MPI_COMM_WORLD);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == size - 1) send(0, 1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_work_there;

static void *receives(void *tag) {
    receive((rank + 1) % size, *(int *)tag, MPI_COMM_WORLD);
    return NULL;
}

// A thread of a library that has nothing to do.
static void *idles(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!is_work_there) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

// Two threads wait for messages that nobody sends.
static void multiple_two(void) {
    pthread_t other;
    int tags[2] = {30, 31};
    pthread_create(&other, NULL, receives, &tags[0]);
    receives(&tags[1]);
}

// The first thread waits for one that waits for a message, and another has nothing to do.
static void multiple_joined(void) {
    pthread_t idle, other;
    int tag = 30;
    pthread_create(&idle, NULL, idles, NULL);
    pthread_create(&other, NULL, receives, &tag);
    pthread_join(other, NULL);
}

// From here on all ends well.

static void rest_waits(void) {
    if (rank == 0) for (int to = 1; to < size; to++) send(to, 2);
    else receive(0, 2, MPI_COMM_WORLD);
}

static void tests(void) {
    MPI_Request request;
    int done = 0;
    double end = now() + LONG_S;
    MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (rank == 0 && end > 0 && now() > end) {
            send(1 % size, 2);
            end = 0;
        }
        usleep(1000);
    }
    if (rank != 0) send((rank + 1) % size, 2);
}

static void probes(void) {
    int found = 0;
    double end = now() + LONG_S;
    if (rank == 0)
        while (now() < end || !found) {
            MPI_Iprobe(1, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            if (now() > end && !found) { send(1, 2); receive(1, 2, MPI_COMM_WORLD); break; }
        }
    if (rank == 1) { receive(0, 2, MPI_COMM_WORLD); send(0, 2); }
}

static void file(void) {
    if (rank == 0 && fork() == 0) {
        sleep(LONG_S);
        fclose(fopen("ready", "w"));
        _exit(0);
    }
    if (rank == 0) while (access("ready", F_OK) != 0) usleep(20000);
    rest_waits();
}

// The rank computes until a file is there.
static void until(void) {
    volatile double x = 1;
    while (rank == 0 && access("go", F_OK) != 0)
        for (int i = 0; i < 1000000; i++) x = x * 1.0000001;
    rest_waits();
}

static void polls(void) {
    int done = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
    while (rank == 0 && !done && access("go", F_OK) != 0)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE); // polls
    if (rank == 0) for (int to = 0; to < size; to++) send(to, 3);
    receive(0, 3, MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void computes(void) {
    volatile double x = 1;
    double end = now() + LONG_S;
    while (rank == 0 && now() < end) x = x * 1.0000001;
    rest_waits();
}

static void sleeps(void) {
    if (rank == 0) sleep(LONG_S);
    rest_waits();
}

// Each rank locks its own memory before that of the next.
static void locks(void) {
    MPI_Win win;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, win); // lock
}

// Rank 0 releases its lock late. The others want it exclusively and together.
static void held(void) {
    MPI_Win win;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) sleep(LONG_S);
    else MPI_Win_lock(rank == 1 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

static void *sends_later(void *unused) {
    sleep(LONG_S);
    rest_waits();
    return unused;
}

static void thread(void) {
    pthread_t other;
    if (rank == 0) {
        pthread_create(&other, NULL, sends_later, NULL);
        pthread_join(other, NULL);
    } else rest_waits();
}

// Only another thread ends the wait for a generalized request.
static MPI_Request outside;
static int query(void *x, MPI_Status *s) { (void)x; MPI_Status_set_elements(s, MPI_INT, 0); return 0; }
static int give_up(void *x) { (void)x; return 0; }
static int cancel(void *x, int c) { (void)x; (void)c; return 0; }
static void *completes(void *request) {
    sleep(LONG_S);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}
static void generalized(void) {
    pthread_t other;
    if (rank == 0) {
        MPI_Grequest_start(query, give_up, cancel, NULL, &outside);
        MPI_Request copy = outside;
        pthread_create(&other, NULL, completes, &copy);
        MPI_Wait(&outside, MPI_STATUS_IGNORE);
        pthread_join(other, NULL);
    }
    rest_waits();
}

// In programs with several threads the first of rank 0 waits for a message of its own rank.
static void sends_to_all(void) {
    for (int to = 0; to < size; to++) send(to, 2);
}

static void *sleeps_and_sends(void *unused) {
    sleep(LONG_S);
    sends_to_all();
    return unused;
}

static void *tests_and_sends(void *unused) {
    MPI_Request request;
    double end = now() + LONG_S;
    int done = 0, got;
    MPI_Irecv(&got, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
    while (now() < end) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    send(0, 99);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sends_to_all();
    return unused;
}

static void *sends_once_woken(void *unused) {
    idles(unused);
    sends_to_all();
    return unused;
}

static void *wakes(void *unused) {
    sleep(LONG_S);
    pthread_mutex_lock(&mutex);
    is_work_there = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static sem_t alarmed;
static void alarms(int signal) { (void)signal; sem_post(&alarmed); }
static void *sends_after_a_signal(void *unused) {
    while (sem_wait(&alarmed) != 0) {}
    sends_to_all();
    return unused;
}

static void *sends_when_asked(void *unused) {
    while (access("go", F_OK) != 0) usleep(20000);
    sends_to_all();
    return unused;
}

static void beside(void *(*first)(void *), void *(*second)(void *)) {
    pthread_t others[2];
    if (rank == 0) pthread_create(&others[0], NULL, first, NULL);
    if (rank == 0 && second) pthread_create(&others[1], NULL, second, NULL);
    receive(0, 2, MPI_COMM_WORLD);
    if (rank == 0) pthread_join(others[0], NULL);
    if (rank == 0 && second) pthread_join(others[1], NULL);
}

static void multiple_signal(void) {
    if (rank == 0) {
        sem_init(&alarmed, 0, 0);
        signal(SIGALRM, alarms);
        alarm(LONG_S);
    }
    beside(sends_after_a_signal, NULL);
}

// A generalized request that is complete ends no wait.
static void completed(void) {
    MPI_Request done;
    MPI_Grequest_start(query, give_up, cancel, NULL, &done);
    MPI_Grequest_complete(done);
    MPI_Wait(&done, MPI_STATUS_IGNORE);
    receive((rank + 1) % size, 30, MPI_COMM_WORLD);
}

// A rank that is stopped while a message for it is there does nothing, and is not stuck.
static void stopped(void) {
    if (rank == 1) stop_for_long();
    if (rank == 0) { sleep(2); send(1, 2); receive(1, 3, MPI_COMM_WORLD); }
    if (rank == 1) { receive(0, 2, MPI_COMM_WORLD); send(0, 3); }
}

// Ranks that wait for long, but one after the other, with messages between.
static void turns(void) {
    for (int turn = 0; turn < LONG_S * 2; turn++) {
        if (rank == turn % size) usleep(500000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int count, char **words) {
    int level;
    (void)count;
    int is_multiple = strncmp(words[1], "multiple_", 9) == 0;
    int wanted = is_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    MPI_Init_thread(&count, &words, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is("tags", words)) tags();
    if (is("synchronous", words)) synchronous();
    if (is("long", words)) long_messages();
    if (is("requests", words)) requests();
    if (is("part", words)) part();
    if (is("probe", words)) probe();
    if (is("started", words)) started();
    if (is("tests", words)) tests();
    if (is("probes", words)) probes();
    if (is("file", words)) file();
    if (is("computes", words)) computes();
    if (is("polls", words)) polls();
    if (is("until", words)) until();
    if (is("sleeps", words)) sleeps();
    if (is("locks", words)) locks();
    if (is("held", words)) held();
    if (is("thread", words)) thread();
    if (is("generalized", words)) generalized();
    if (is("stopped", words)) stopped();
    if (is("turns", words)) turns();
    if (is("completed", words)) completed();
    if (is("multiple_one", words)) synchronous();
    if (is("multiple_two", words)) multiple_two();
    if (is("multiple_joined", words)) multiple_joined();
    if (is("multiple_sleeps", words)) beside(sleeps_and_sends, NULL);
    if (is("multiple_tests", words)) beside(tests_and_sends, NULL);
    if (is("multiple_woken", words)) beside(sends_once_woken, wakes);
    if (is("multiple_signal", words)) multiple_signal();
    if (is("multiple_until", words)) beside(sends_when_asked, NULL);
    MPI_Finalize();
    return 0;
}
