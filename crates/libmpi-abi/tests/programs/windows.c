/* One-sided communication: every operation, on memory of every kind, by every way that the library has. */
#include "check.h"

enum { WORDS = 64 };

/* What a window is made of. */
enum kind { ALLOCATED, GIVEN, ALLOC_MEM, BY_MESSAGES, KINDS };

static long own_memory[WORDS];

static MPI_Win make(enum kind kind, long **memory) {
    MPI_Win win;
    MPI_Info info = MPI_INFO_NULL;
    if (kind == BY_MESSAGES) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "cornerstone_window_by_messages", "true");
    }
    if (kind == ALLOCATED) {
        MPI_Win_allocate(sizeof own_memory, sizeof(long), info, MPI_COMM_WORLD, memory, &win);
    } else {
        *memory = own_memory;
        if (kind == ALLOC_MEM) MPI_Alloc_mem(sizeof own_memory, MPI_INFO_NULL, memory);
        MPI_Win_create(*memory, sizeof own_memory, sizeof(long), info, MPI_COMM_WORLD, &win);
    }
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    for (int i = 0; i < WORDS; i++) (*memory)[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void unmake(enum kind kind, MPI_Win win, long *memory) {
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    if (kind == ALLOC_MEM) MPI_Free_mem(memory);
}

/* Every rank puts every second word of the next one, through a type with gaps on either side, and gets it back. */
static void fences(MPI_Win win, long *memory) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Datatype pairs, spread;
    MPI_Type_vector(4, 1, 2, MPI_LONG, &spread);
    MPI_Type_vector(2, 2, 3, MPI_LONG, &pairs);
    MPI_Type_commit(&spread);
    MPI_Type_commit(&pairs);
    long out[5] = {rank * 10 + 1, rank * 10 + 2, -1, rank * 10 + 3, rank * 10 + 4}, in[4] = {0};
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    CHECK(MPI_Put(out, 1, pairs, next, 8, 1, spread, win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(memory[8 + 2 * i] == before * 10 + i + 1 && memory[9 + 2 * i] == 0);
    CHECK(MPI_Get(in, 4, MPI_LONG, next, 8, 1, spread, win) == MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 4; i++) CHECK(in[i] == rank * 10 + i + 1);
    MPI_Type_free(&pairs);
    MPI_Type_free(&spread);
}

/* All add to the words of all, and count what they have fetched. */
static void counters(MPI_Win win, long *memory) {
    enum { ROUNDS = 50 };
    long one = 1, before, old, most = -1;
    double halves[2] = {0.5, 0.25};
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        int target = (rank + round) % size;
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 20, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(before > most);
        most = before;
        MPI_Accumulate(halves, 2, MPI_DOUBLE, target, 24, 2, MPI_DOUBLE, MPI_SUM, win);
        MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, target, 28, 1, MPI_LONG, MPI_MAX, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int hits = 0;
    for (int other = 0; other < size; other++)
        for (int round = 0; round < ROUNDS; round++) hits += (other + round) % size == rank;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    double sums[2];
    memcpy(sums, memory + 24, sizeof sums);
    CHECK(sums[0] == hits * 0.5 && sums[1] == hits * 0.25);
    CHECK(memory[28] == 1);
    if (rank == 0) CHECK(memory[20] == ROUNDS * size);
    MPI_Win_unlock(rank, win);
}

/* A lock of our own, by compare and swap, around a read and a write that nothing else protects. */
static void swaps(MPI_Win win, long *memory) {
    enum { ROUNDS = 20 };
    int last = size - 1;
    for (int round = 0; round < ROUNDS; round++) {
        long free = 0, mine = rank + 1, found = -1, count = 0;
        MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
        do {
            MPI_Compare_and_swap(&mine, &free, &found, MPI_LONG, last, 40, win);
            MPI_Win_flush(last, win);
        } while (found != 0);
        MPI_Get(&count, 1, MPI_LONG, last, 41, 1, MPI_LONG, win);
        MPI_Win_flush(last, win);
        count++;
        MPI_Put(&count, 1, MPI_LONG, last, 41, 1, MPI_LONG, win);
        MPI_Win_flush(last, win);
        MPI_Accumulate(&free, 1, MPI_LONG, last, 40, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_unlock(last, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    if (rank == last) CHECK(memory[41] == ROUNDS * size && memory[40] == 0);
    MPI_Win_unlock(rank, win);
}

/* Everybody exposes itself to the rank before it, and puts to the one after it, as often as it likes. */
static void neighbours(MPI_Win win, long *memory) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &before, &from);
    for (long round = 1; round <= 5; round++) {
        long value = rank * 100 + round;
        int done = 0;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&value, 1, MPI_LONG, next, 50, 1, MPI_LONG, win);
        MPI_Win_complete(win);
        if (round % 2) MPI_Win_wait(win);
        else while (!done) MPI_Win_test(win, &done);
        CHECK(memory[50] == before * 100 + round);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void requests(MPI_Win win) {
    int next = (rank + 1) % size;
    long value = rank + 7, back = 0, old = -1;
    MPI_Request request[2];
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_LONG, next, 60, 1, MPI_LONG, win, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(next, win);
    MPI_Rget(&back, 1, MPI_LONG, next, 60, 1, MPI_LONG, win, &request[0]);
    MPI_Rget_accumulate(&value, 1, MPI_LONG, &old, 1, MPI_LONG, next, 61, 1, MPI_LONG, MPI_SUM, win, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(back == rank + 7 && old == 0);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void mistakes(MPI_Win win) {
    long value = 0;
    CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, size, 0, 1, MPI_LONG, win)) == MPI_ERR_RANK);
    CHECK(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_unlock(rank, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_lock(7, rank, 0, win)) == MPI_ERR_LOCKTYPE);
    CHECK(class_of(MPI_Win_fence(1 << 20, win)) == MPI_ERR_ASSERT);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, rank, WORDS, 1, MPI_LONG, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Get(&value, 1, MPI_LONG, rank, -1, 1, MPI_LONG, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Accumulate(&value, 1, MPI_LONG, rank, WORDS, 1, MPI_LONG, MPI_SUM, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Accumulate(&value, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_BAND, win)) == MPI_ERR_OP);
    CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_INT, win)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(rank, win);
    CHECK(class_of(MPI_Win_attach(win, &value, sizeof value)) == MPI_ERR_RMA_FLAVOR);
}

/* Memory comes and goes; displacements are addresses. */
static void dynamic(int by_messages) {
    MPI_Win win;
    MPI_Aint mine, all[64];
    int next = (rank + 1) % size;
    static long here[4];
    long values[4] = {rank, rank + 1, rank + 2, rank + 3}, one = 1, old;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cornerstone_window_by_messages", by_messages ? "true" : "false");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(here, 0, sizeof here);
    /* Two parts side by side, which one operation may span. */
    MPI_Win_attach(win, here, 2 * sizeof(long));
    MPI_Win_attach(win, here + 2, 2 * sizeof(long));
    MPI_Get_address(here, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put(values, 4, MPI_LONG, next, all[next], 4, MPI_LONG, win);
    MPI_Win_flush(next, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, next, MPI_Aint_add(all[next], sizeof(long)), MPI_SUM, win);
    if (by_messages && size > 1) {
        CHECK(MPI_Put(values, 4, MPI_LONG, next, MPI_Aint_add(all[next], 8), 4, MPI_LONG, win) == MPI_SUCCESS);
        CHECK(class_of(MPI_Win_flush(next, win)) == MPI_ERR_RMA_RANGE);
    }
    MPI_Win_unlock_all(win);
    CHECK(old == rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    int before = (rank + size - 1) % size;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(here[0] == before && here[1] == before + 2 && here[3] == before + 3);
    MPI_Win_unlock(rank, win);
    CHECK(MPI_Win_detach(win, here) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_detach(win, here)) == MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&win);
}

/* Every member sees the memory of all: one after the other, or each where it likes. Over TCP too, on one host. */
static void shared(const char *apart) {
    MPI_Win win;
    MPI_Comm host;
    MPI_Info info;
    long *mine, *first, *theirs, one = 1;
    MPI_Aint bytes;
    int unit, together;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &together);
    CHECK(together == size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart);
    MPI_Win_allocate_shared((rank + 1) * sizeof(long), sizeof(long), info, host, &mine, &win);
    for (int i = 0; i <= rank; i++) mine[i] = rank * 10 + i;
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    CHECK(bytes == sizeof(long) && unit == sizeof(long));
    for (int other = 0, at = 0; other < size; at += ++other) {
        MPI_Win_shared_query(win, other, &bytes, &unit, &theirs);
        CHECK(bytes == (MPI_Aint)((other + 1) * sizeof(long)));
        CHECK(theirs == first + at || strcmp(apart, "true") == 0);
        CHECK(theirs[other] == other * 11);
    }
    MPI_Win_fence(0, win);
    /* Operations and loads see the same memory, and the target takes no part. */
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, size - 1, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_shared_query(win, size - 1, &bytes, &unit, &theirs);
    while (*(volatile long *)theirs != (size - 1) * 10 + size) MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    /* One member alone has memory. */
    MPI_Win_allocate_shared(rank == size - 1 ? 100000 : 0, 1, info, host, &mine, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    CHECK(bytes == 100000);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win);
    ((char *)first)[1000 + rank] = (char)rank;
    MPI_Win_unlock(size - 1, win);
    MPI_Win_fence(0, win);
    for (int other = 0; other < size; other++) CHECK(((char *)first)[1000 + other] == other);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Comm_free(&host);
}

/* Updates of a value with its place leave the gap behind them as it is. */
static void gaps_of_pairs(MPI_Win win, long *memory) {
    struct {
        double value;
        int place;
    } mine = {-1.5, rank}, old = {0, 0};
    int next = (rank + 1) % size, before = (rank + size - 1) % size, gap;
    memset(memory, 0x77, 2 * sizeof mine);
    memset(memory, 0, 12);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, next, 0, 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    mine.value = 2.5;
    MPI_Get_accumulate(&mine, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, next, 0, 1, MPI_DOUBLE_INT, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    CHECK(old.value == -1.5 && old.place == rank);
    memcpy(&old, memory, sizeof old);
    memcpy(&gap, (char *)memory + 12, sizeof gap);
    CHECK(old.value == 2.5 && old.place == before && gap == 0x77777777);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        long *memory;
        MPI_Win win = make(kind, &memory);
        mistakes(win);
        fences(win, memory);
        counters(win, memory);
        swaps(win, memory);
        neighbours(win, memory);
        requests(win);
        gaps_of_pairs(win, memory);
        unmake(kind, win, memory);
    }
    dynamic(0);
    dynamic(1);
    shared("false");
    shared("true");
    MPI_Finalize();
    return 0;
}
