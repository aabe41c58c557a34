/* The first collective of a new communicator, called differently by one rank: whoever cannot get what it waits for is told so at
 * once, not when the others finalize, and other communicators are as before. Over TCP this communicator is as before, too. */
#include "check.h"

#include <unistd.h>

enum { LONG = 100000 };
static int in[2 * LONG], out[2 * LONG], counts[16], places[16];

static int ended(MPI_Request request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

#define CALL(name, ...) static int name(MPI_Comm comm) { __VA_ARGS__; }
#define LATER(name, function, ...) \
    CALL(name, MPI_Request request; CHECK(function(__VA_ARGS__, &request) == MPI_SUCCESS); return ended(request))
CALL(barrier, return MPI_Barrier(comm))
CALL(bcast, return MPI_Bcast(out, 4, MPI_INT, 0, comm))
CALL(bcast_more, return MPI_Bcast(out, 8, MPI_INT, 0, comm))
CALL(bcast_long, return MPI_Bcast(out, LONG, MPI_INT, 0, comm))
CALL(bcast_other, return MPI_Bcast(out, 4, MPI_INT, 1, comm))
CALL(reduce, return MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, 0, comm))
CALL(reduce_other, return MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, 1, comm))
CALL(allreduce, return MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, comm))
CALL(allreduce_long, return MPI_Allreduce(out, in, LONG, MPI_INT, MPI_SUM, comm))
CALL(gather, return MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm))
CALL(scatter, return MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm))
CALL(allgather, return MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm))
CALL(alltoall, return MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm))
CALL(gatherv, return MPI_Gatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, 0, comm))
CALL(gatherv_other, return MPI_Gatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, 1, comm))
CALL(scatterv, return MPI_Scatterv(out, counts, places, MPI_INT, in, 1, MPI_INT, 0, comm))
CALL(allgatherv, return MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, comm))
CALL(alltoallv, return MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm))
CALL(reduce_scatter, return MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm))
CALL(scan, return MPI_Scan(out, in, 4, MPI_INT, MPI_SUM, comm))
CALL(exscan, return MPI_Exscan(out, in, 4, MPI_INT, MPI_SUM, comm))
LATER(ibarrier, MPI_Ibarrier, comm)
LATER(ibcast, MPI_Ibcast, out, 4, MPI_INT, 0, comm)
LATER(ireduce, MPI_Ireduce, out, in, 4, MPI_INT, MPI_SUM, 0, comm)
LATER(iallreduce, MPI_Iallreduce, out, in, 4, MPI_INT, MPI_SUM, comm)
LATER(iallgather, MPI_Iallgather, out, 1, MPI_INT, in, 1, MPI_INT, comm)
CALL(duplicate, MPI_Comm other; return MPI_Comm_dup(comm, &other))
CALL(parts, MPI_Comm other; return MPI_Comm_split(comm, 0, 0, &other))

static int (*const calls[])(MPI_Comm) = {
    barrier, bcast, bcast_more, bcast_long, bcast_other, reduce, reduce_other, allreduce, allreduce_long, gather, scatter,
    allgather, alltoall, gatherv, gatherv_other, scatterv, allgatherv, alltoallv, reduce_scatter, scan, exscan, ibarrier, ibcast,
    ireduce, iallreduce, iallgather, duplicate, parts,
};
enum { CALLS = sizeof calls / sizeof *calls };

static MPI_Comm fresh(int how) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Group group;
    switch (how % 4) {
        case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
        case 1: MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); break;
        case 2:
            CHECK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request) == MPI_SUCCESS);
            CHECK(ended(request) == MPI_SUCCESS);
            break;
        default:
            MPI_Comm_group(MPI_COMM_WORLD, &group);
            MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
            MPI_Group_free(&group);
    }
    return comm;
}

int main(int argc, char **argv) {
    /* A hang ends as a failure. */
    alarm(600);
    begin(&argc, &argv);
    for (int i = 0; i < 16; i++) counts[i] = 1, places[i] = i;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int one = 0; size > 1 && one < CALLS; one++)
        for (int other = 0; other < CALLS; other++) {
            MPI_Comm comm = fresh(one + other);
            int odd = (one + other) / 4 % 2 ? size - 1 : 0;
            int code = rank == odd ? calls[one](comm) : calls[other](comm);
            int found = 0, mine = class_of(code);
            CHECK(MPI_Allreduce(&mine, &found, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS);
            /* Where nobody waits for what never comes, nobody need be told. Those that wait for all others have to be. */
            CHECK(one != other || found == MPI_SUCCESS);
            CHECK(one == other || calls[one] != barrier || found != MPI_SUCCESS);
            CHECK(one == other || calls[one] != allreduce || found != MPI_SUCCESS);
            if (over_tcp) {
                int sum = 0, part = rank + 1;
                CHECK(MPI_Allreduce(&part, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
                CHECK(sum == size * (size + 1) / 2);
            }
            MPI_Comm_free(&comm);
        }
    MPI_Finalize();
    return 0;
}
