// Programs with one mistake in the use of memory each, and programs that come close to one and are right. Each is a
// function; the first argument names it. There are two ranks.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 10, LONG = 50000 };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int rank, other;
static int a[LONG], b[LONG];
static MPI_Request request, second;

static MPI_Win made_window(void) {
    int *memory;
    MPI_Win window;
    MPI_Win_allocate(4000, 4, MPI_INFO_NULL, WORLD, &memory, &window);
    return window;
}

static void received_into_and_written(void) {
    if (rank == 1) {
        MPI_Irecv(a, COUNT, MPI_INT, 0, 1, WORLD, &request); // first
        a[3] = 9;
        MPI_Barrier(WORLD);
        MPI_Wait(&request, IGNORE); // second
    } else {
        MPI_Barrier(WORLD);
        MPI_Send(b, COUNT, MPI_INT, 1, 1, WORLD);
    }
}

// The message has come before the program writes, but no call has completed its receive.
static void written_after_the_message_came(void) {
    if (rank == 1) {
        MPI_Irecv(a, COUNT, MPI_INT, 0, 1, WORLD, &request); // first
        MPI_Barrier(WORLD);
        a[3] = 9;
        MPI_Wait(&request, IGNORE); // second
    } else {
        MPI_Ssend(b, COUNT, MPI_INT, 1, 1, WORLD);
        MPI_Barrier(WORLD);
    }
}

static void written_beyond_the_message(void) {
    if (rank == 1) {
        MPI_Irecv(a, COUNT, MPI_INT, 0, 1, WORLD, &request); // first
        a[COUNT - 1] = 9;
        MPI_Wait(&request, IGNORE); // second
    } else {
        MPI_Send(b, COUNT - 1, MPI_INT, 1, 1, WORLD);
    }
}

static void sent_while_received_into(void) {
    MPI_Irecv(a, COUNT, MPI_INT, other, 1, WORLD, &request); // first
    MPI_Send(a + 5, COUNT, MPI_INT, other, 1, WORLD); // second
    MPI_Wait(&request, IGNORE);
}

static void received_into_while_sent(void) {
    if (rank == 0) {
        MPI_Issend(a, COUNT, MPI_INT, 1, 1, WORLD, &request); // first
        MPI_Recv(a + 9, 1, MPI_INT, 1, 2, WORLD, IGNORE); // second
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(b, 1, MPI_INT, 0, 2, WORLD);
        MPI_Recv(b, COUNT, MPI_INT, 0, 1, WORLD, IGNORE);
    }
}

static void exchanged_in_one_memory(void) {
    MPI_Sendrecv(a, COUNT, MPI_INT, other, 1, a + 8, COUNT, MPI_INT, other, 1, WORLD, IGNORE); // first
}

static void started_exchange_in_one_memory(void) {
    MPI_Isendrecv(a, COUNT, MPI_INT, other, 1, a + 8, COUNT, MPI_INT, other, 1, WORLD, &request); // first
    MPI_Wait(&request, IGNORE);
}

static void persistent_send_changed(void) {
    if (rank == 0) {
        MPI_Ssend_init(a, COUNT, MPI_INT, 1, 1, WORLD, &request);
        for (int round = 0; round < 2; round++) {
            MPI_Start(&request); // first
            a[2] += round;
            MPI_Wait(&request, IGNORE); // second
        }
        MPI_Request_free(&request);
    } else {
        for (int round = 0; round < 2; round++) MPI_Recv(b, COUNT, MPI_INT, 0, 1, WORLD, IGNORE);
    }
}

static void put_changed(void) {
    MPI_Win window = made_window();
    MPI_Win_fence(0, window);
    MPI_Put(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window); // first
    a[1] = 3;
    MPI_Win_fence(0, window); // second
    MPI_Win_free(&window);
}

static void put_with_a_request_changed(void) {
    MPI_Win window = made_window();
    MPI_Win_lock_all(0, window);
    MPI_Rput(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window, &request); // first
    a[1] = 3;
    MPI_Wait(&request, IGNORE); // second
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void got_into_what_is_put(void) {
    MPI_Win window = made_window();
    MPI_Win_lock_all(0, window);
    MPI_Put(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window); // first
    MPI_Get(a + 9, COUNT, MPI_INT, other, 100, COUNT, MPI_INT, window); // second
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void collective_changed(void) {
    MPI_Iallreduce(a, b, COUNT, MPI_INT, MPI_SUM, WORLD, &request); // first
    a[2] = 7;
    MPI_Wait(&request, IGNORE); // second
}

static void result_changed(void) {
    MPI_Iallreduce(a, b, COUNT, MPI_INT, MPI_SUM, WORLD, &request); // first
    MPI_Barrier(WORLD);
    b[2] = 7;
    for (int flag = 0; !flag;) MPI_Test(&request, &flag, IGNORE); // second
}

// Data of a get, and of another with a request.
static void got_into_and_written(void) {
    MPI_Win window = made_window();
    MPI_Win_lock_all(0, window);
    MPI_Get(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window); // first
    a[3] = 9;
    MPI_Win_flush(other, window); // second
    MPI_Rget(b, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window, &request);
    MPI_Wait(&request, IGNORE);
    b[3] = 9;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void puts_of_one_epoch_overlap(void) {
    MPI_Win window = made_window();
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Put(a, COUNT, MPI_INT, 1, 0, COUNT, MPI_INT, window); // first
    else MPI_Put(a, COUNT, MPI_INT, 1, 5, COUNT, MPI_INT, window); // second
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void read_under_a_shared_lock_while_written(void) {
    MPI_Win window = made_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    if (rank == 0) MPI_Accumulate(a, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, window); // first
    else MPI_Get(b, COUNT, MPI_INT, 0, 0, COUNT, MPI_INT, window); // second
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
}

// Accesses to the same memory that are ordered, or may be concurrent.
static void accesses_in_order(void) {
    MPI_Win window = made_window();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(a, COUNT, MPI_INT, 0, 0, COUNT, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Get(b, COUNT, MPI_INT, 1, 0, COUNT, MPI_INT, window);
    MPI_Accumulate(a, 1, MPI_INT, 1, 100, 1, MPI_INT, MPI_SUM, window);
    int one = 1, before;
    MPI_Fetch_and_op(&one, &before, MPI_INT, 1, 100, MPI_SUM, window);
    MPI_Put(a, COUNT, MPI_INT, 1, 200 + 20 * rank, COUNT, MPI_INT, window);
    MPI_Win_flush(1, window);
    MPI_Sendrecv(a, 1, MPI_INT, other, 1, b, 1, MPI_INT, other, 1, WORLD, IGNORE);
    MPI_Get(b, COUNT, MPI_INT, 1, 200 + 20 * other, COUNT, MPI_INT, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void collectives_overlap(void) {
    MPI_Iallreduce(a, b, COUNT, MPI_INT, MPI_SUM, WORLD, &request); // first
    MPI_Ibcast(b + 9, 1, MPI_INT, 0, WORLD, &second); // second
    MPI_Wait(&request, IGNORE);
    MPI_Wait(&second, IGNORE);
}

static void persistent_collective_changed(void) {
    MPI_Allreduce_init(a, b, COUNT, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request); // first
    a[2] = 7;
    MPI_Wait(&request, IGNORE); // second
    MPI_Request_free(&request);
}

static MPI_Datatype column(void) {
    MPI_Datatype type;
    MPI_Type_vector(100, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void column_changed(void) {
    MPI_Datatype type = column();
    if (rank == 0) {
        MPI_Issend(a, 1, type, 1, 1, WORLD, &request); // first
        a[2] = 7;
        MPI_Wait(&request, IGNORE); // second
    } else {
        MPI_Recv(b, 1, type, 0, 1, WORLD, IGNORE);
    }
    MPI_Type_free(&type);
}

static void columns_overlap(void) {
    MPI_Datatype type = column();
    MPI_Irecv(a, 1, type, other, 1, WORLD, &request); // first
    MPI_Irecv(a + 2, 1, type, other, 2, WORLD, &second); // second
    MPI_Send(b, 1, type, other, 1, WORLD);
    MPI_Send(b, 1, type, other, 2, WORLD);
    MPI_Wait(&request, IGNORE);
    MPI_Wait(&second, IGNORE);
    MPI_Type_free(&type);
}

// What is right. Columns beside each other, gaps that change, and padding.
static void columns(void) {
    MPI_Datatype type = column();
    MPI_Irecv(a, 1, type, other, 1, WORLD, &request);
    MPI_Irecv(a + 1, 1, type, other, 2, WORLD, &second);
    MPI_Send(b, 1, type, other, 1, WORLD);
    MPI_Send(b, 1, type, other, 2, WORLD);
    MPI_Wait(&request, IGNORE);
    MPI_Wait(&second, IGNORE);
    if (rank == 0) {
        MPI_Issend(a, 2, type, 1, 3, WORLD, &request);
        a[1] = 7;
        MPI_Irecv(a + 3, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &second);
        MPI_Send(b, 1, MPI_INT, 0, 4, MPI_COMM_SELF);
        MPI_Wait(&second, IGNORE);
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Recv(b, 2, type, 0, 3, WORLD, IGNORE);
    }
    MPI_Type_free(&type);
    struct { double value; int index, padding; } pairs[3] = {{0}};
    if (rank == 0) {
        MPI_Issend(pairs, 3, MPI_DOUBLE_INT, 1, 5, WORLD, &request);
        pairs[1].padding = 1;
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Recv(pairs, 3, MPI_DOUBLE_INT, 0, 5, WORLD, IGNORE);
    }
}

// Memory that several read, also by collectives, and memory that is used again after each way to learn of an end.
static void read_twice(void) {
    MPI_Issend(a, COUNT, MPI_INT, other, 1, WORLD, &request);
    MPI_Iallreduce(a, b, COUNT, MPI_INT, MPI_SUM, WORLD, &second);
    MPI_Sendrecv(a, COUNT, MPI_INT, other, 2, b + 200, COUNT, MPI_INT, other, 2, WORLD, IGNORE);
    MPI_Recv(b + 100, COUNT, MPI_INT, other, 1, WORLD, IGNORE);
    int flag = 0;
    while (!flag) MPI_Request_get_status_all(1, &second, &flag, MPI_STATUSES_IGNORE);
    b[2]++;
    flag = 0;
    while (!flag) MPI_Request_get_status(request, &flag, IGNORE);
    a[2]++;
    MPI_Wait(&request, IGNORE);
    MPI_Sendrecv_replace(b, COUNT, MPI_INT, other, 3, other, 3, WORLD, IGNORE);
    MPI_Wait(&second, IGNORE);
}

static void fails(void) {
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 2; round++) {
        MPI_Irecv(a, 1, MPI_INT, other, 1, WORLD, &request);
        MPI_Send(b, COUNT, MPI_INT, other, 1, WORLD);
        if (MPI_Wait(&request, IGNORE) == MPI_SUCCESS) abort();
        MPI_Irecv(a, COUNT, MPI_INT, other, 2, WORLD, &request);
        MPI_Send(b, COUNT, MPI_INT, other, 2, WORLD);
        MPI_Wait(&request, IGNORE);
    }
}

// Arguments that say nothing at this rank.
static void insignificant(void) {
    MPI_Gather(a, COUNT, MPI_INT, rank ? a : b, COUNT, MPI_INT, 0, WORLD);
    MPI_Scatter(rank ? a : b, COUNT, MPI_INT, a, COUNT, MPI_INT, 0, WORLD);
    MPI_Reduce(a, rank ? a : b, COUNT, MPI_INT, MPI_SUM, 0, WORLD);
    MPI_Allreduce(MPI_IN_PLACE, a, COUNT, MPI_INT, MPI_SUM, WORLD);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, COUNT, MPI_INT, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Sendrecv(a, COUNT, MPI_INT, MPI_PROC_NULL, 1, a, COUNT, MPI_INT, MPI_PROC_NULL, 1, WORLD, IGNORE);
    MPI_Bcast(a, COUNT, MPI_INT, 1, WORLD);
    int counts[2] = {1, 2}, at[2] = {3, 0};
    MPI_Allgatherv(b, counts[rank], MPI_INT, a, counts, at, MPI_INT, WORLD);
    MPI_Iallgatherv(b, counts[rank], MPI_INT, a, counts, at, MPI_INT, WORLD, &request);
    MPI_Bcast(a + 2, 1, MPI_INT, 0, WORLD);
    MPI_Wait(&request, IGNORE);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, WORLD);
}

static void persistent(void) {
    MPI_Request both[2];
    MPI_Send_init(a, LONG, MPI_INT, other, 1, WORLD, &both[0]);
    MPI_Recv_init(b, LONG, MPI_INT, other, 1, WORLD, &both[1]);
    for (int round = 0; round < 3; round++) {
        a[7] = b[7] = round;
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Irecv(b, LONG, MPI_INT, other, 1, WORLD, &both[1]);
    MPI_Isend(a, LONG, MPI_INT, other, 1, WORLD, &both[0]);
    for (int index = 0; index != MPI_UNDEFINED;) MPI_Waitany(2, both, &index, IGNORE);
    a[0]++, b[0]++;
}

static void windows(void) {
    MPI_Win window = made_window();
    MPI_Win_lock_all(0, window);
    MPI_Put(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window);
    MPI_Put(a, COUNT, MPI_INT, other, 100, COUNT, MPI_INT, window);
    MPI_Accumulate(a, COUNT, MPI_INT, rank, 200, COUNT, MPI_INT, MPI_SUM, window);
    MPI_Win_flush_local(other, window);
    a[1]++;
    MPI_Put(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window);
    MPI_Win_flush_all(window);
    MPI_Get(a, COUNT, MPI_INT, other, 300, COUNT, MPI_INT, window);
    MPI_Win_unlock_all(window);
    a[1]++;
    MPI_Win_fence(0, window);
    MPI_Rput(a, COUNT, MPI_INT, other, 0, COUNT, MPI_INT, window, &request);
    MPI_Wait(&request, IGNORE);
    a[1]++;
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

// Receives that are shorter than their memory, that are cancelled, and whose message was taken out before.
static void receives(void) {
    MPI_Message message;
    for (int round = 0; round < 3; round++) {
        memset(b, round + 1, sizeof b);
        MPI_Irecv(a, LONG, MPI_INT, other, 1, WORLD, &request);
        MPI_Send(b, round ? COUNT : LONG, MPI_INT, other, 1, WORLD);
        for (int flag = 0; !flag;) MPI_Test(&request, &flag, IGNORE);
        MPI_Irecv(a, COUNT, MPI_INT, other, 9, WORLD, &request);
        MPI_Cancel(&request);
        a[1] = -1;
        MPI_Wait(&request, IGNORE);
        a[1] = -2;
        MPI_Request sent;
        MPI_Isend(b, LONG, MPI_INT, 0, 2, MPI_COMM_SELF, &sent);
        MPI_Mprobe(0, 2, MPI_COMM_SELF, &message, IGNORE);
        MPI_Imrecv(a, LONG, MPI_INT, &message, &request);
        MPI_Wait(&request, IGNORE);
        MPI_Wait(&sent, IGNORE);
        a[2] = round;
    }
}

// Each rank takes itself for the root.
static void roots_differ(void) {
    MPI_Bcast(a, COUNT, MPI_INT, rank, WORLD); // first
}

int main(int count, char **words) {
#define PROGRAM(name) {#name, name}
    struct { const char *name; void (*run)(void); } all[] = {
        PROGRAM(received_into_and_written), PROGRAM(written_after_the_message_came),
        PROGRAM(written_beyond_the_message), PROGRAM(result_changed), PROGRAM(got_into_and_written),
        PROGRAM(puts_of_one_epoch_overlap), PROGRAM(read_under_a_shared_lock_while_written), PROGRAM(accesses_in_order),
        PROGRAM(sent_while_received_into), PROGRAM(received_into_while_sent),
        PROGRAM(exchanged_in_one_memory), PROGRAM(started_exchange_in_one_memory),
        PROGRAM(persistent_send_changed), PROGRAM(put_changed), PROGRAM(put_with_a_request_changed), PROGRAM(got_into_what_is_put), PROGRAM(collective_changed),
        PROGRAM(collectives_overlap), PROGRAM(persistent_collective_changed), PROGRAM(column_changed),
        PROGRAM(columns_overlap), PROGRAM(columns), PROGRAM(read_twice), PROGRAM(fails),
        PROGRAM(insignificant), PROGRAM(persistent), PROGRAM(windows), PROGRAM(receives),
        PROGRAM(roots_differ),
    };
    MPI_Init(&count, &words);
    MPI_Comm_rank(WORLD, &rank);
    other = 1 - rank;
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count > 1 && !strcmp(words[1], all[i].name)) all[i].run(), found = 1;
    MPI_Finalize();
    return !found;
}
