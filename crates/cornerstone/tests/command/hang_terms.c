// Programs that hang in communicators and windows of their own. The first argument says which one; lines that the tests name have a mark.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, value = 5;
static MPI_Win window;

static int is(const char *name, char **words) { return strcmp(words[1], name) == 0; }

static void receive(int source, int tag, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}

// Ranks 0 and 1 wait in parts without and with a name, ranks 2 and 3 in two duplicates.
static void communicators(void) {
    MPI_Comm part, named, one, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part); // split
    MPI_Comm_dup(part, &named);
    MPI_Comm_set_name(named, "halves");
    MPI_Comm_dup(MPI_COMM_WORLD, &one); // first duplicate
    MPI_Comm_dup(MPI_COMM_WORLD, &other); // second duplicate
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 2, 9, one);
    MPI_Comm comm[4] = {part, named, one, other};
    receive(rank < 2 ? 1 : 0, 4, comm[rank]);
}

// Rank 2 waits at a barrier of a part, and the others at the end of their parts.
static void barrier(void) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Comm_set_name(part, "halves");
    if (rank == 0) receive(1, 4, part);
    MPI_Barrier(part);
}

static void between(void) {
    MPI_Comm part, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both); // between
    receive(0, 4, both);
}

static void later(void) {
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request); // later
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive((rank + 1) % size, 4, copy);
}

static MPI_Group group_of(int one) {
    MPI_Group all, group;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &group);
    return group;
}

static void open_window(void) {
    int *memory;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window); // window
}

static void fence(void) {
    open_window();
    if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
    else MPI_Win_fence(0, window);
}

static void start(void) {
    open_window();
    MPI_Win_set_name(window, "queue");
    if (rank == 0) MPI_Win_start(group_of(1), 0, window);
    else receive(0, 5, MPI_COMM_WORLD);
}

static void waits(void) {
    open_window();
    if (rank == 0) {
        MPI_Win_post(group_of(1), 0, window);
        MPI_Win_wait(window);
    } else receive(0, 5, MPI_COMM_WORLD);
}

// Rank 0 has a lock of rank 1's memory, and rank 2 waits for it.
static void lock(int kind) {
    open_window();
    MPI_Win_set_name(window, "queue");
    if (rank == 2) receive(0, 1, MPI_COMM_WORLD);
    if (rank == 0 || rank == 2) MPI_Win_lock(rank == 0 ? kind : MPI_LOCK_EXCLUSIVE, 1, 0, window);
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
    receive(rank == 0 ? 1 : 0, 5, MPI_COMM_WORLD);
}

// Rank 2 names another root than the others, and all ranks stay.
static void roots(int count) {
    int *data = calloc(count, sizeof(int)), *sum = calloc(count, sizeof(int));
    MPI_Reduce(data, sum, count, MPI_INT, MPI_SUM, rank == 2, MPI_COMM_WORLD); // roots
    receive((rank + 1) % size, 4, MPI_COMM_WORLD);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is("communicators", words)) communicators();
    if (is("barrier", words)) barrier();
    if (is("between", words)) between();
    if (is("later", words)) later();
    if (is("self", words)) receive(0, 4, MPI_COMM_SELF);
    if (is("fence", words)) fence();
    if (is("start", words)) start();
    if (is("waits", words)) waits();
    if (is("lock", words)) lock(MPI_LOCK_EXCLUSIVE);
    if (is("shared", words)) lock(MPI_LOCK_SHARED);
    if (is("roots", words)) roots(20000);
    MPI_Finalize();
    return 0;
}
