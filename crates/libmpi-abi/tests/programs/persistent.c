/* Persistent collectives, which members may start in any order. */
#include "check.h"

enum { KINDS = 9, ROUNDS = 30, LENGTH = 700, MANY = 70 };

static int in[KINDS][16 * LENGTH], out[KINDS][16 * LENGTH];

/* What member `from` sends to member `to` as element `i` in a round. */
static int value(int round, int kind, int from, int to, int i) {
    return round * 1000003 + kind * 70001 + from * 5003 + to * 701 + i;
}

static void set_up(MPI_Request *all, MPI_Comm comm) {
    MPI_Info none = MPI_INFO_NULL;
    MPI_Barrier_init(comm, none, &all[0]);
    MPI_Bcast_init(in[1], LENGTH, MPI_INT, size - 1, comm, none, &all[1]);
    MPI_Allreduce_init(out[2], in[2], LENGTH, MPI_INT, MPI_SUM, comm, none, &all[2]);
    MPI_Reduce_init(out[3], in[3], LENGTH, MPI_INT, MPI_MAX, 0, comm, none, &all[3]);
    MPI_Gather_init(out[4], LENGTH, MPI_INT, in[4], LENGTH, MPI_INT, 0, comm, none, &all[4]);
    MPI_Scatter_init(out[5], LENGTH, MPI_INT, in[5], LENGTH, MPI_INT, 0, comm, none, &all[5]);
    MPI_Allgather_init(out[6], LENGTH, MPI_INT, in[6], LENGTH, MPI_INT, comm, none, &all[6]);
    MPI_Alltoall_init(out[7], LENGTH, MPI_INT, in[7], LENGTH, MPI_INT, comm, none, &all[7]);
    MPI_Scan_init(out[8], in[8], LENGTH, MPI_INT, MPI_SUM, comm, none, &all[8]);
}

static void fill(int round) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int to = 0; to < size; to++)
            for (int i = 0; i < LENGTH; i++) {
                out[kind][to * LENGTH + i] = value(round, kind, rank, to, i);
                in[kind][to * LENGTH + i] = -1;
            }
    if (rank == size - 1)
        for (int i = 0; i < LENGTH; i++) in[1][i] = value(round, 1, rank, 0, i);
}

static void check_round(int round) {
    for (int i = 0; i < LENGTH; i++) {
        int sum = 0, before = 0;
        for (int from = 0; from < size; from++) {
            sum += value(round, 2, from, 0, i);
            if (from <= rank) before += value(round, 8, from, 0, i);
        }
        CHECK(in[1][i] == value(round, 1, size - 1, 0, i));
        CHECK(in[2][i] == sum);
        CHECK(in[3][i] == (rank ? -1 : value(round, 3, size - 1, 0, i)));
        CHECK(in[5][i] == value(round, 5, 0, rank, i));
        CHECK(in[8][i] == before);
        for (int from = 0; from < size; from++) {
            CHECK(in[4][from * LENGTH + i] == (rank ? -1 : value(round, 4, from, 0, i)));
            CHECK(in[6][from * LENGTH + i] == value(round, 6, from, 0, i));
            CHECK(in[7][from * LENGTH + i] == value(round, 7, from, rank, i));
        }
    }
}

/* Each member starts them in an order of its own, and works on something else meanwhile. */
static void in_any_order(void) {
    MPI_Request all[KINDS];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(all, comm);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round);
        for (int k = 0; k < KINDS; k++) MPI_Start(&all[(rank % 2 ? k : KINDS - 1 - k) * (round % 2 ? 2 : 4) % KINDS]);
        if (round % 3 == 0) MPI_Barrier(comm);
        if (round % 4 == 0) {
            MPI_Waitall(KINDS, all, MPI_STATUSES_IGNORE);
        } else {
            int index;
            for (int k = 0; k < KINDS; k++) MPI_Waitany(KINDS, all, &index, MPI_STATUS_IGNORE);
        }
        check_round(round);
    }
    /* The communicator may go before its requests, and each member frees these in another order. */
    MPI_Comm_free(&comm);
    fill(ROUNDS);
    MPI_Startall(KINDS, all);
    MPI_Waitall(KINDS, all, MPI_STATUSES_IGNORE);
    check_round(ROUNDS);
    for (int k = 0; k < KINDS; k++) MPI_Request_free(&all[(k + rank) % KINDS]);
}

/* More of them than get memory of their own, freed under way, and made again. */
static void many(void) {
    static int number[MANY], sum[MANY];
    MPI_Request all[MANY];
    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < MANY; k++)
            MPI_Allreduce_init(&number[k], &sum[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &all[k]);
        for (int k = 0; k < MANY; k++) number[k] = turn * 1000 + k * 10 + rank;
        for (int k = 0; k < MANY; k++) MPI_Start(&all[(k * 3 + rank * 11) % MANY]);
        if (turn == 1) { /* A request that is freed under way still ends. */
            for (int k = 0; k < MANY; k++) MPI_Request_free(&all[k]);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int k = 0; k < MANY; k++) {
                volatile int *arrived = &sum[k];
                int flag;
                while (*arrived != size * (turn * 1000 + k * 10) + size * (size - 1) / 2)
                    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            }
            continue;
        }
        MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE);
        for (int k = 0; k < MANY; k++) {
            CHECK(sum[k] == size * (turn * 1000 + k * 10) + size * (size - 1) / 2);
            MPI_Request_free(&all[k]);
        }
    }
}

/* Members of a part of the ranks, and a member alone. */
static void parts(void) {
    MPI_Comm part;
    MPI_Request request;
    int mine = rank + 1, sum, expected = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, part, MPI_INFO_NULL, &request);
    for (int from = rank % 2; from < size; from += 2) expected += from + 1;
    for (int round = 0; round < ROUNDS; round++) {
        sum = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == expected);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&part);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == rank + 1);
    MPI_Request_free(&request);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    in_any_order();
    many();
    parts();
    MPI_Finalize();
    return 0;
}
