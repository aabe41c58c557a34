/* Ends MPI in one of several ways (the second argument) in a program whose functions for the end of the process (the
   first argument) call MPI again. */
#include "check.h"
#include <pthread.h>

static const char *how;
static pthread_t waiting;
static int has_thread;

/* Sends to a rank that does not exist, which is fatal. */
static void mistake(void) {
    int number = 0;
    MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
}

static void first(void) { printf("the function that was registered first\n"); }

static void guard(void) {
    int is_finalized;
    MPI_Finalized(&is_finalized);
    if (is_finalized) return;
    if (!strncmp(how, "finalize", 8) || !strncmp(how, "destructor", 10)) MPI_Finalize();
    if (!strncmp(how, "abort", 5)) MPI_Abort(MPI_COMM_WORLD, 9);
    if (!strncmp(how, "mistake", 7)) mistake();
    MPI_Finalized(&is_finalized);
    printf("the guard returned, finalized %d\n", is_finalized);
}

__attribute__((destructor)) static void destroy(void) {
    if (how && !strncmp(how, "destructor", 10)) guard();
}

static void at_exit(void) {
    if (has_thread) pthread_join(waiting, NULL);
    if (strncmp(how, "destructor", 10)) guard();
}

static void *wait_for_ever(void *unused) {
    int number;
    (void)unused;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return NULL;
}

static void *end(void *unused) {
    MPI_Abort(MPI_COMM_WORLD, 5);
    return unused;
}

static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)code;
    MPI_Abort(*comm, 5);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)key, (void)value, (void)extra;
    return MPI_Abort(comm, 5);
}

static void combine(void *in, void *out, int *count, MPI_Datatype *type) {
    (void)in, (void)out, (void)count, (void)type;
    MPI_Abort(MPI_COMM_WORLD, 5);
}

/* The last rank ends MPI. */
static void end_mpi(const char *cause) {
    int key, number = 0, sum;
    MPI_Errhandler handler;
    pthread_t thread;
    MPI_Op op;
    if (!strcmp(cause, "abort")) MPI_Abort(MPI_COMM_WORLD, 5);
    if (!strncmp(cause, "code", 4)) MPI_Abort(MPI_COMM_WORLD, atoi(cause + 4));
    if (!strcmp(cause, "mistake")) mistake();
    if (!strcmp(cause, "exit")) exit(3);
    if (!strcmp(cause, "handler")) {
        MPI_Comm_create_errhandler(on_error, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        mistake();
    }
    if (!strcmp(cause, "delete")) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &number);
        MPI_Finalize();
    }
    if (!strcmp(cause, "operation")) {
        MPI_Op_create(combine, 1, &op);
        MPI_Reduce_local(&number, &sum, 1, MPI_INT, op);
    }
    if (!strcmp(cause, "thread")) {
        pthread_create(&thread, NULL, end, NULL);
        pthread_join(thread, NULL);
    }
    if (!strcmp(cause, "joined")) {
        has_thread = 1;
        pthread_create(&waiting, NULL, wait_for_ever, NULL);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    printf("this line must not be reached\n");
}

int main(int argc, char **argv) {
    int provided, number = 0, sum;
    const char *cause = strchr(argv[1], '-') + 1;
    how = argv[1];
    (void)argc, (void)over_tcp, (void)begin, (void)class_of;
    atexit(first);
    atexit(at_exit);
    if (!strcmp(cause, "before")) MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(cause, "reduction")) {
        MPI_Op op;
        MPI_Op_create(combine, 1, &op);
        MPI_Allreduce(&number, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    }
    if (rank == size - 1 && strcmp(cause, "after")) end_mpi(cause);
    if (strcmp(cause, "after")) MPI_Recv(&number, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (rank == size - 1) MPI_Abort(MPI_COMM_WORLD, 5);
    return 0;
}
