/* Keeps the processors busy for so many milliseconds, then prints how many nanoseconds a line takes from one to another. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PROCESSORS = 1024, TIMES = 5000 };

static _Alignas(64) atomic_int there;
static _Alignas(64) atomic_int back;
static double busy_s;
static int processors[PROCESSORS], count;

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void await(atomic_int *line, int number)
{
    while (atomic_load_explicit(line, memory_order_acquire) != number)
        atomic_signal_fence(memory_order_seq_cst);
}

static void *run(void *place)
{
    int me = (int)(long)place;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[me], &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    double begin_s = now_s();
    while (now_s() < begin_s + busy_s)
        ;
    if (me > 1 || count < 2)
        return NULL;
    for (int number = 1; number <= 2 * TIMES; number++) {
        if (number == TIMES)
            begin_s = now_s();
        if (me)
            await(&there, number);
        atomic_store_explicit(me ? &back : &there, number, memory_order_release);
        if (!me)
            await(&back, number);
    }
    if (!me)
        printf("%.1f\n", (now_s() - begin_s) / (2 * TIMES) * 1e9);
    return NULL;
}

int main(int argc, char **argv)
{
    cpu_set_t allowed;
    if (argc < 2 || sched_getaffinity(0, sizeof allowed, &allowed))
        return 2;
    busy_s = atof(argv[1]) * 1e-3;
    for (int one = 0; one < CPU_SETSIZE && count < PROCESSORS; one++)
        if (CPU_ISSET(one, &allowed))
            processors[count++] = one;
    pthread_t threads[PROCESSORS];
    for (long place = 0; place < count; place++)
        pthread_create(&threads[place], NULL, run, (void *)place);
    for (int place = 0; place < count; place++)
        pthread_join(threads[place], NULL);
    if (count < 2)
        puts("0");
    return 0;
}
