// Programs with windows that hang, and programs that only look like it. The first argument says which one; lines that the tests name have a mark.
#include <mpi.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>

#define WORDS 64

static int rank, size, value = 5, memory[WORDS], got[WORDS];
static MPI_Win window;

static int is(const char *name, char **words) { return strcmp(words[1], name) == 0; }

static void receive(int source, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, source, 5, comm, MPI_STATUS_IGNORE);
}

static void send(int to, MPI_Comm comm) { MPI_Send(&value, 1, MPI_INT, to, 5, comm); }

static void open_window(MPI_Comm comm) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &window);
}

// Every kind of access to the memory of the next rank.
static void access_next(void) {
    int next = (rank + 1) % size, sum = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
    MPI_Put(got, WORDS / 2, MPI_INT, next, 0, WORDS / 2, MPI_INT, window);
    MPI_Accumulate(&value, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Fetch_and_op(&value, &sum, MPI_INT, next, 2, MPI_SUM, window);
    MPI_Win_flush(next, window);
    MPI_Get(got, WORDS / 2, MPI_INT, next, WORDS / 2, WORDS / 2, MPI_INT, window);
    MPI_Win_unlock(next, window);
}

// The last rank does not reach the fence, after accesses of all.
static void fence(void) {
    open_window(MPI_COMM_WORLD);
    access_next();
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    if (rank == size - 1) receive(0, MPI_COMM_WORLD);
    MPI_Win_fence(0, window); // fence
}

// Rank 0 starts to access the memory of rank 1, which lets only rank 2 access it.
static void posts(void) {
    MPI_Group all, one;
    int member = rank == 0 ? 1 : 2;
    open_window(MPI_COMM_WORLD);
    access_next();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &member, &one);
    if (rank == 0) MPI_Win_start(one, 0, window); // start
    if (rank == 1) {
        MPI_Win_post(one, 0, window);
        MPI_Win_wait(window); // wait
    }
    receive(0, MPI_COMM_WORLD);
}

// Rank 0 does not release its lock before it waits for rank 1, which waits for the lock.
static void lock(void) {
    open_window(MPI_COMM_WORLD);
    access_next();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, window);
        MPI_Put(&value, 1, MPI_INT, size - 1, 0, 1, MPI_INT, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, window); // lock
    receive(1, MPI_COMM_WORLD);
}

// The ranks of the last rank's host.
static MPI_Comm host(int *own, int *ranks) {
    MPI_Comm comm;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, own);
    MPI_Comm_size(comm, ranks);
    return comm;
}

// The first rank of the host does not release a lock for which the second waits.
static void lock_on_host(void) {
    int own, ranks;
    MPI_Comm comm = host(&own, &ranks);
    open_window(comm);
    if (ranks > 2 && own == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    MPI_Barrier(comm);
    if (ranks > 2 && own == 1) MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window); // lock on host
    receive((rank + 1) % size, MPI_COMM_WORLD);
}

// From here on all ends well.

static void rest_waits(int first) {
    if (rank == first) for (int to = 0; to < size; to++) send(to, MPI_COMM_WORLD);
    receive(first, MPI_COMM_WORLD);
}

// The program looks for what others write to its memory.
static void polls(void) {
    open_window(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    if (rank == 0) sleep(LONG_S);
    for (int to = 1; rank == 0 && to < size; to++) MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    for (volatile int *word = memory; rank != 0 && *word == 0; usleep(1000)) MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
}

static void accesses(void) {
    open_window(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 2 * LONG_S; i++) {
        usleep(500000);
        access_next();
    }
    rest_waits(0);
}

// The rank with the memory is not in the library.
static void late(void) {
    open_window(MPI_COMM_WORLD);
    if (rank == 1) sleep(LONG_S);
    if (rank == 0) access_next();
    rest_waits(0);
}

// Ranks that wait for long in fences, with accesses between.
static void turns(void) {
    open_window(MPI_COMM_WORLD);
    for (int turn = 0; turn < LONG_S * 2; turn++) {
        if (rank == turn % size) {
            usleep(500000);
            access_next();
        }
        MPI_Win_fence(0, window);
    }
}

// The rank with the memory is stopped in a wait.
static void stopped(void) {
    open_window(MPI_COMM_WORLD);
    if (rank == 1) stop_for_long();
    if (rank == 0) sleep(2);
    if (rank == 0) access_next();
    rest_waits(0);
}

// A request for shared access lets one for exclusive access pass, but not for ever. What that one waits for ends only
// afterwards. (If locks are granted by messages, they are granted in order, and this hangs.) Other processes use all processors, so that ranks sleep in their waits.
static void passes(void) {
    pid_t busy[64];
    int own, ranks, count = get_nprocs() < 32 ? 2 * get_nprocs() : 64;
    MPI_Comm comm = host(&own, &ranks);
    open_window(comm);
    for (int each = 0; rank == 0 && each < count; each++)
        if ((busy[each] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) {}
        }
    if (ranks > 3 && own == 0) MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks > 3 && own == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    if (ranks > 3 && own == 3) {
        sleep(1);
        MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
    }
    rest_waits(size - 1);
    if (ranks > 3 && (own == 0 || own == 1 || own == 3)) MPI_Win_unlock(2, window);
    for (int each = 0; rank == 0 && each < count; each++) kill(busy[each], SIGKILL);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is("fence", words)) fence();
    if (is("posts", words)) posts();
    if (is("lock", words)) lock();
    if (is("lock_on_host", words)) lock_on_host();
    if (is("polls", words)) polls();
    if (is("accesses", words)) accesses();
    if (is("late", words)) late();
    if (is("turns", words)) turns();
    if (is("stopped", words)) stopped();
    if (is("passes", words)) passes();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
