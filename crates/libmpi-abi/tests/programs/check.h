/* What all test programs share: a check that names itself, and a reproducible sequence of numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* The most ranks of a program that keeps something for each. */
enum { MOST = 64 };

/* Whether all collectives go by messages, as they do over TCP: those that do not match then fail alone. Over shared memory the
 * members may be out of step afterwards, and the communicator is of no more use. */
static int over_tcp;

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, rank, size, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 99);                                                       \
        }                                                                                        \
    } while (0)

/* The class of the error that a call returns. */
static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void begin(int *argc, char ***argv) {
    over_tcp = *argc > 1 && strcmp((*argv)[1], "tcp") == 0;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)class_of, (void)over_tcp;
}
