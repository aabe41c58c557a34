/* Programs for tests of what virtual time contains: timeouts of all kinds, and not the computing of other threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

static int rank, size;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_set;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

/* The time of a clock, `s` seconds later. */
static struct timespec later(clockid_t clock, double s)
{
    struct timespec moment;
    clock_gettime(clock, &moment);
    long ns = moment.tv_nsec + (long)((s - (long)s) * 1e9);
    moment.tv_sec += (long)s + ns / 1000000000;
    moment.tv_nsec = ns % 1000000000;
    return moment;
}

static double begin;

/* Virtual time has passed by `s` seconds since the last look, and not by much more. */
static void passed(double s, const char *what)
{
    double now = MPI_Wtime();
    check(now - begin >= s && now - begin < s + 1, what);
    begin = MPI_Wtime();
}

/* Timeouts of ten minutes each, where nothing can end the wait before. */
static void timeouts(void)
{
    int pipes[2], epoll = epoll_create1(0);
    check(pipe(pipes) == 0, "pipe");
    struct pollfd one = {.fd = pipes[0], .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN};
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event) == 0, "epoll_ctl");
    struct timespec span = {.tv_sec = 600};
    struct timeval left = {.tv_sec = 599, .tv_usec = 1000000 - 1};
    fd_set set;
    sigset_t mask;
    sigemptyset(&mask);
    begin = MPI_Wtime();
    check(poll(NULL, 0, 600000) == 0, "poll of nothing");
    passed(600, "poll of nothing");
    check(poll(&one, 1, 600000) == 0, "poll");
    passed(600, "poll");
    check(__poll_chk(&one, 1, 600000, sizeof one) == 0, "__poll_chk");
    passed(600, "__poll_chk");
    check(ppoll(&one, 1, &span, &mask) == 0 && span.tv_sec == 600, "ppoll");
    passed(600, "ppoll");
    check(__ppoll_chk(&one, 1, &span, NULL, sizeof one) == 0, "__ppoll_chk");
    passed(600, "__ppoll_chk");
    check(select(0, NULL, NULL, NULL, &left) == 0, "select of nothing");
    check(left.tv_sec == 0 && left.tv_usec == 0, "select leaves nothing");
    passed(599.999999, "select of nothing");
    left.tv_sec = 600;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    check(select(pipes[0] + 1, &set, NULL, NULL, &left) == 0, "select");
    check(!FD_ISSET(pipes[0], &set), "select finds nothing");
    passed(600, "select");
    FD_SET(pipes[0], &set);
    check(pselect(pipes[0] + 1, &set, NULL, NULL, &span, &mask) == 0, "pselect");
    check(!FD_ISSET(pipes[0], &set), "pselect finds nothing");
    passed(600, "pselect");
    check(epoll_wait(epoll, &event, 1, 600000) == 0, "epoll_wait");
    passed(600, "epoll_wait");
    check(epoll_pwait(epoll, &event, 1, 600000, &mask) == 0, "epoll_pwait");
    passed(600, "epoll_pwait");
    /* What the system refuses is refused. */
    check(select(-1, NULL, NULL, NULL, &left) == -1 && errno == EINVAL, "select of -1");
    check(epoll_wait(pipes[0], &event, 1, 600000) == -1 && errno == EINVAL, "epoll_wait of a pipe");
    passed(0, "refusals");
}

/* The same of condition variables and semaphores. */
static void deadlines(void)
{
    pthread_condattr_t monotonic;
    pthread_cond_t other;
    sem_t semaphore;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&other, &monotonic);
    sem_init(&semaphore, 0, 1);
    pthread_mutex_lock(&mutex);
    begin = MPI_Wtime();
    struct timespec until = later(CLOCK_REALTIME, 600);
    check(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT, "timedwait");
    passed(600, "timedwait");
    check(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT, "past timedwait");
    passed(0, "past timedwait");
    until = later(CLOCK_MONOTONIC, 600);
    check(pthread_cond_timedwait(&other, &mutex, &until) == ETIMEDOUT, "monotonic timedwait");
    passed(600, "monotonic timedwait");
    until = later(CLOCK_MONOTONIC, 600);
    check(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT,
          "clockwait");
    passed(600, "clockwait");
    check(pthread_mutex_trylock(&mutex) == EBUSY, "the mutex is held");
    pthread_mutex_unlock(&mutex);
    until = later(CLOCK_REALTIME, 600);
    check(sem_timedwait(&semaphore, &until) == 0, "a semaphore that is free");
    passed(0, "a semaphore that is free");
    until = later(CLOCK_REALTIME, 600);
    check(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "sem_timedwait");
    passed(600, "sem_timedwait");
    check(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT, "past sem_timedwait");
    until = later(CLOCK_MONOTONIC, 600);
    check(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT,
          "sem_clockwait");
    passed(600, "sem_clockwait");
    until.tv_nsec = 1000000000;
    check(sem_timedwait(&semaphore, &until) == -1 && errno == EINVAL, "no time");
}

/* What is there already ends a wait at once. */
static void ready(void)
{
    int pipes[2], other[2], epoll = epoll_create1(0);
    check(pipe(pipes) == 0 && pipe(other) == 0 && write(pipes[1], "x", 1) == 1, "pipe");
    struct pollfd both[2] = {{.fd = other[0], .events = POLLIN}, {.fd = pipes[0], .events = POLLIN}};
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = pipes[0]}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    FD_SET(other[0], &set);
    struct timeval left = {.tv_sec = 600};
    begin = MPI_Wtime();
    check(poll(both, 2, 600000) == 1 && both[1].revents == POLLIN && !both[0].revents, "poll");
    check(select(other[0] + 1, &set, NULL, NULL, &left) == 1, "select");
    check(FD_ISSET(pipes[0], &set) && !FD_ISSET(other[0], &set), "the set");
    check(left.tv_sec >= 599, "what select leaves");
    check(epoll_wait(epoll, &event, 1, 600000) == 1 && event.data.fd == pipes[0], "epoll_wait");
    passed(0, "ready");
}

/* Rank 1 writes after a thousand seconds of virtual time, for which rank 0 waits. */
static void between(const char *fifo)
{
    if (rank == 0) check(mkfifo(fifo, 0600) == 0, "mkfifo");
    MPI_Barrier(MPI_COMM_WORLD);
    int end = open(fifo, O_RDWR);
    struct pollfd one = {.fd = end, .events = POLLIN};
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    if (rank == 1) {
        sleep(1000);
        check(write(end, "x", 1) == 1, "write");
    }
    if (rank == 0) {
        check(poll(&one, 1, 10000000) == 1, "another rank's byte");
        double took = MPI_Wtime() - begin;
        check(took >= 1000 && took < 2100, "noticed after twice its time at most");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static double used_s;

static void compute(void)
{
    struct timespec used;
    volatile double sum = 0;
    for (int i = 0; i < 20000000; i++) sum += 1.0 / (i + 1);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    used_s = used.tv_sec + 1e-9 * used.tv_nsec;
}

static void *set(void *nothing)
{
    pthread_mutex_lock(&mutex);
    is_set = 1;
    pthread_cond_signal(&condition);
    /* It is there until the main thread wants it no more. */
    while (is_set) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

/* Another thread ends a wait in real time. Where it does not, the timeout passes. */
static void signals(void)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, set, NULL);
    struct timespec until = later(CLOCK_REALTIME, 600);
    begin = MPI_Wtime();
    while (!is_set)
        check(pthread_cond_timedwait(&condition, &mutex, &until) == 0, "another thread signals");
    passed(0, "another thread signals");
    until = later(CLOCK_REALTIME, 0.02);
    while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) {}
    passed(0.02, "nobody signals");
    is_set = 0;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

/* A child ends a wait in real time, in which it starts. */
static void child(void)
{
    char word[8];
    FILE *from = popen("echo there", "r");
    struct pollfd one = {.fd = fileno(from), .events = POLLIN};
    check(poll(&one, 1, 600000) == 1, "a child writes");
    check(fgets(word, sizeof word, from) && !strcmp(word, "there\n"), "what it writes");
    pclose(from);
}

static void *work(void *nothing)
{
    compute();
    return nothing;
}

/* Another thread computes while the main thread waits for it; in half of the ranks. */
static void joins(void)
{
    pthread_t thread;
    if (rank % 2 == 1) return;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
}

static void *call(void *nothing)
{
    int before = rank, after = -1;
    double look = MPI_Wtime();
    compute();
    MPI_Sendrecv(&before, 1, MPI_INT, rank, 3, &after, 1, MPI_INT, rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(after == rank, "a message to itself");
    while (MPI_Wtime() - look < 0.00005) {}
    return nothing;
}

/* Another thread computes and communicates: its computing takes no time, and its polls of the clock end. */
static void helps(void)
{
    pthread_t thread;
    double before = MPI_Wtime();
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, NULL);
    check(MPI_Wtime() - before < used_s / 2, "another thread's computing takes no time");
}

/* Runs after the destructors of the thread, as those of objects of C++ in a library do. */
static void at_exit(void)
{
    int flag = 0;
    struct timespec now;
    MPI_Finalized(&flag);
    if (flag && clock_gettime(CLOCK_REALTIME, &now) == 0) fprintf(stderr, "rank %d has exited\n", rank);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int level = strcmp(name, "helps") ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(name, "timeouts")) timeouts();
    if (!strcmp(name, "deadlines")) deadlines();
    if (!strcmp(name, "ready")) ready();
    if (!strcmp(name, "between")) between("fifo");
    if (!strcmp(name, "signals")) signals();
    if (!strcmp(name, "child")) child();
    if (!strcmp(name, "joins")) joins();
    if (!strcmp(name, "helps")) helps();
    if (!strcmp(name, "exits")) atexit(at_exit);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%s is well\n", name);
    MPI_Finalize();
    return 0;
}
