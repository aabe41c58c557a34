// Programs whose profile is known because they are made so. Each is a function; the first argument names it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void late(void) { usleep(50000); }

// Rank 1 is 50 ms earlier than its messages, which rank 0 sends.
static void sender(void) {
    for (int round = 0; round < 4; round++) {
        int word = round;
        if (rank == 0) {
            late();
            MPI_Send(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD); // send
        }
        if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // receive
    }
}

// Rank 0 sends before rank 1 is ready.
static void receiver(void) {
    int word = 1;
    if (rank == 0) MPI_Ssend(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD); // synchronous
    if (rank == 1) {
        late();
        MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // ready
    }
}

// All wait for rank 2, twice: in a barrier, and in one that was started.
static void collective(void) {
    if (rank == 2) late();
    MPI_Barrier(MPI_COMM_WORLD); // barrier
    MPI_Request request;
    if (rank == 2) late();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); // ibarrier
}

// Rank 0 posts four receives of rank 1, whose third message is late. Statuses are ignored, as programs do.
static void requests(void) {
    int words[4];
    MPI_Request all[4];
    for (int i = 0; i < 4; i++) {
        if (rank == 0) MPI_Irecv(&words[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &all[i]);
        if (rank == 1) {
            if (i == 2) late();
            MPI_Isend(&words[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &all[i]); // isend
        }
    }
    if (rank < 2) MPI_Waitall(4, all, MPI_STATUSES_IGNORE); // waitall
}

// Ranks in reverse order in a communicator: its rank 0 is the last of the world.
static void reversed(void) {
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    char bytes[100] = {0};
    int own;
    MPI_Comm_rank(other, &own);
    if (own == 0) MPI_Send(bytes, 100, MPI_CHAR, 1, 0, other);
    if (own == 1) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status);
        MPI_Recv(bytes, 100, MPI_CHAR, status.MPI_SOURCE, 0, other, &status);
        if (status.MPI_SOURCE != 0) abort();
    }
    MPI_Comm_free(&other);
}

#define TIMES4(x) x x x x
#define TIMES16(x) TIMES4(TIMES4(x))
#define TIMES5120(x) TIMES16(TIMES16(TIMES4(x x x x x)))

// More places than there is room for.
static void places(void) { TIMES5120(MPI_Barrier(MPI_COMM_SELF);) }

// More calls than are kept one by one.
static void calls(void) {
    int out = 1, in;
    for (int i = 0; i < 1000000; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void dies(void) {
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    /* All have left the broadcast, so their reports have it, when this lets rank 1 go. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void aborts(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void stuck(void) {
    int word;
    MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The last rank is late in each of four exchanges of long data around a ring.
static void slow(void) {
    int bytes = 1 << 20;
    char *out = calloc(2, bytes);
    for (int round = 0; round < 4; round++) {
        if (rank == size - 1) late();
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, 1, out + bytes, bytes, MPI_CHAR, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // exchange
    }
    free(out);
}

// Rank 0 polls for a message for ever, and rank 1 dies when it has long done so.
static void polls(void) {
    int word, done = 0;
    MPI_Request request;
    if (rank == 0) MPI_Irecv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    while (rank == 0 && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE); // polls
    late();
    raise(SIGKILL);
}

// Mistakes: two receives into the same memory, a send whose data are changed, a send from memory that is received into.
static void mistakes(void) {
    int words[8] = {0};
    MPI_Request all[4];
    if (rank == 1) {
        MPI_Irecv(words, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &all[0]); // first
        MPI_Irecv(words + 2, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, &all[1]); // second
        MPI_Isend(words + 5, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &all[2]); // third
        MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    } else if (rank == 0) {
        MPI_Recv(words, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(words, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Send(words, 4, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Issend(words, 8, MPI_INT, 0, 4, MPI_COMM_WORLD, &all[0]); // changed
        words[7] = 99;
        int other[8];
        MPI_Recv(other, 8, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&all[0], MPI_STATUS_IGNORE); // ended
    }
}

// What looks like a mistake, and is none: neighbours in memory, two sends of the same data, and memory that is used again.
static void correct(void) {
    int words[8] = {0}, other[8];
    MPI_Request all[4];
    for (int round = 0; round < 3; round++) {
        int count = 0;
        if (rank == 0) {
            words[0] = round;
            MPI_Isend(words, 8, MPI_INT, 1, 1, MPI_COMM_WORLD, &all[count++]);
            MPI_Isend(words, 8, MPI_INT, 1, 2, MPI_COMM_WORLD, &all[count++]);
        } else if (rank == 1) {
            MPI_Irecv(words, 8, MPI_INT, 0, 1, MPI_COMM_WORLD, &all[count++]);
            MPI_Irecv(other, 8, MPI_INT, 0, 2, MPI_COMM_WORLD, &all[count++]);
        }
        MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
    }
}

// Two short sends that are ended in the other order; the data of each are changed, and its memory is used, once it has ended.
static void order(void) {
    int one = 1, other = 2;
    MPI_Request all[3];
    for (int round = 0; round < 3 && rank == 0; round++) {
        MPI_Isend(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &all[0]);
        MPI_Isend(&other, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &all[1]);
        MPI_Wait(&all[1], MPI_STATUS_IGNORE);
        other++;
        MPI_Irecv(&other, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &all[2]);
        MPI_Wait(&all[0], MPI_STATUS_IGNORE);
        one++;
        MPI_Recv(&one, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&all[2], MPI_STATUS_IGNORE);
    }
    for (int round = 0; round < 3 && rank == 1; round++) {
        MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &all[0]);
        MPI_Irecv(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &all[1]);
        MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
        MPI_Isend(&other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &all[0]);
        MPI_Isend(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &all[1]);
        MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    }
}

// A ring of persistent requests, exchanges, windows and polls: everything is counted, and nothing goes wrong.
static void much(void) {
    int out = rank, in = -1, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request both[2];
    MPI_Send_init(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Recv_init(&in, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &both[1]);
    for (int i = 0; i < 10; i++) {
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        if (in != last) abort();
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Sendrecv(&out, 1, MPI_INT, next, 2, &in, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 2, &in, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int *memory, flag = 0;
    MPI_Win window;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (*memory != last) abort();
    MPI_Win_free(&window);
    MPI_Irecv(&in, 1, MPI_INT, last, 9, MPI_COMM_WORLD, &both[0]);
    MPI_Send(&out, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    while (!flag) MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
    int all[64], sum;
    MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (out != size * (size - 1) / 2) abort();
}

// In a ring rank 1 is late: its neighbours 0 and 2 wait for it, and rank 3 does not.
static void neighbours(void) {
    MPI_Comm ring;
    int periodic = 1, all[2];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    if (rank == 1) late();
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, ring); // neighbours
    if (all[0] != (rank + size - 1) % size || all[1] != (rank + 1) % size) abort();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request;
    int both[2] = {rank, rank};
    if (rank == 1) late();
    MPI_Ineighbor_alltoall(both, 1, MPI_INT, all, 1, MPI_INT, ring, &request); // ineighbours
    MPI_Wait(&request, MPI_STATUS_IGNORE); // ineighbours end
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Neighbor_alltoall_init(both, 1, MPI_INT, all, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&ring);
}

// A graph in which rank 0 sends to 1 and 2, and to nobody else; rank 2 waits for it, and no other rank.
static void graph(void) {
    MPI_Comm graph;
    int zero = 0, to[2] = {1, 2}, is_target = rank == 1 || rank == 2, values[3] = {7, 8, 9};
    int counts[2] = {1, 2}, at[2] = {0, 1}, expected = rank == 1 ? 1 : 2;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, is_target, &zero, MPI_UNWEIGHTED, rank ? 0 : 2, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    if (rank == 0) late();
    if (rank == 1) usleep(200000);
    MPI_Neighbor_alltoallv(values, counts, at, MPI_INT, values, &expected, at, MPI_INT, graph); // graph
    MPI_Comm_free(&graph);
}

// Rank 0 makes the last of four partitions ready late; rank 1 receives two, and waits for them.
static void partitions(void) {
    int words[4] = {0};
    MPI_Request request;
    if (rank == 0) MPI_Psend_init(words, 4, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == 1) MPI_Precv_init(words, 2, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2 && rank < 2; round++) {
        MPI_Start(&request);
        if (rank == 0) {
            int few[2] = {0, 2};
            MPI_Pready_list(2, few, request);
            MPI_Pready(3, request);
            late();
            MPI_Pready_range(1, 1, request); // last partition
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE); // parts
    }
    if (rank < 2) MPI_Request_free(&request);
    /* A plain message with the same tag is another one. */
    if (rank == 0) MPI_Send(words, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(words, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 0 and the others are two groups. The arrays have an entry for each rank of the other group, and what follows is
// not to be read.
static void groups(void) {
    MPI_Comm own, both;
    int is_first = rank == 0, others = is_first ? size - 1 : 1, out[8] = {0}, in[8], counts[8], at[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        counts[i] = i < others ? 1 : 1 << 20;
        at[i] = 4 * i;
        types[i] = i < others ? MPI_INT : MPI_DATATYPE_NULL;
    }
    MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_first, 7, &both);
    MPI_Alltoallw(out, counts, at, types, in, counts, at, types, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}

int main(int count, char **words) {
    struct { const char *name; void (*run)(void); } all[] = {
        {"sender", sender}, {"receiver", receiver}, {"collective", collective}, {"requests", requests},
        {"reversed", reversed}, {"places", places}, {"calls", calls}, {"dies", dies}, {"aborts", aborts},
        {"stuck", stuck}, {"mistakes", mistakes}, {"correct", correct}, {"order", order}, {"much", much},
        {"neighbours", neighbours}, {"graph", graph}, {"partitions", partitions},
        {"groups", groups}, {"slow", slow}, {"polls", polls},
    };
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count > 1 && !strcmp(words[1], all[i].name)) all[i].run();
    MPI_Finalize();
    return 0;
}
