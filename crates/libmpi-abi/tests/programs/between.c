/* Intercommunicators: making them, and everything that goes over them, against what follows from who is in which group. */
#include "check.h"

/* The even ranks and the odd ones of the world; whose group this rank is in, and how many each has. */
static int side, own, others, place;

static int member(int of_side, int index) { return 2 * index + of_side; }

static MPI_Comm half(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &comm);
    return comm;
}

/* Leaders are the last even rank and the first odd one. */
static MPI_Comm both(MPI_Comm local, int tag) {
    MPI_Comm comm;
    int last = (size - 1) / 2;
    int leader = side ? 0 : last, other = side ? member(0, last) : member(1, 0);
    CHECK(MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, other, tag, &comm) == MPI_SUCCESS);
    return comm;
}

static void who_is_where(MPI_Comm comm) {
    int flag, count, me, translated, zero = 0, result;
    MPI_Group group, remote, world;
    MPI_Comm_test_inter(comm, &flag);
    CHECK(flag == 1);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    CHECK(flag == 0);
    MPI_Comm_size(comm, &count);
    MPI_Comm_rank(comm, &me);
    CHECK(count == own && me == place);
    MPI_Comm_remote_size(comm, &count);
    CHECK(count == others);
    MPI_Comm_group(comm, &group);
    MPI_Comm_remote_group(comm, &remote);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(remote, &count);
    CHECK(count == others);
    MPI_Group_translate_ranks(remote, 1, &zero, world, &translated);
    CHECK(translated == member(!side, 0));
    MPI_Group_translate_ranks(group, 1, &zero, world, &translated);
    CHECK(translated == member(side, 0));
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm_compare(comm, comm, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group), MPI_Group_free(&remote), MPI_Group_free(&world);
}

/* Each sends to every member of the other group, short and long; wildcards and probes name ranks there. */
static void messages(MPI_Comm comm) {
    enum { LONG = 20000 };
    int *data = malloc(LONG * sizeof *data), *got = malloc(LONG * sizeof *got), found;
    MPI_Request requests[MOST];
    MPI_Status status;
    for (int length = 1; length <= LONG; length += LONG - 1) {
        for (int i = 0; i < length; i++) data[i] = 1000 * rank + i;
        for (int i = 0; i < others; i++) MPI_Isend(data, length, MPI_INT, i, length, comm, &requests[i]);
        for (int i = 0; i < others; i++) {
            MPI_Probe(MPI_ANY_SOURCE, length, comm, &status);
            MPI_Get_count(&status, MPI_INT, &found);
            CHECK(found == length && status.MPI_SOURCE < others);
            MPI_Recv(got, LONG, MPI_INT, status.MPI_SOURCE, length, comm, &status);
            int from = member(!side, status.MPI_SOURCE);
            CHECK(got[0] == 1000 * from && got[length - 1] == 1000 * from + length - 1);
        }
        MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < others; i++) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]);
    for (int i = 0; i < others; i++) MPI_Ssend(&rank, 1, MPI_INT, i, 6, comm);
    for (int i = 0; i < others; i++) {
        MPI_Wait(&requests[i], &status);
        CHECK(got[i] == member(!side, status.MPI_SOURCE));
    }
    free(data), free(got);
}

/* Blocking and non-blocking; persistent by hand below. */
#define BOTH_MANNERS(check, name, ...)                           \
    do {                                                         \
        MPI_Request request;                                     \
        CHECK(MPI_##name(__VA_ARGS__) == MPI_SUCCESS);           \
        check;                                                   \
        CHECK(MPI_I##name(__VA_ARGS__, &request) == MPI_SUCCESS); \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                   \
        check;                                                   \
    } while (0)
/* Their names begin with a small letter after the I. */
#define MPI_barrier MPI_Barrier
#define MPI_bcast MPI_Bcast
#define MPI_gather MPI_Gather
#define MPI_gatherv MPI_Gatherv
#define MPI_scatter MPI_Scatter
#define MPI_scatterv MPI_Scatterv
#define MPI_reduce MPI_Reduce
#define MPI_allgather MPI_Allgather
#define MPI_allgatherv MPI_Allgatherv
#define MPI_alltoall MPI_Alltoall
#define MPI_alltoallv MPI_Alltoallv
#define MPI_alltoallw MPI_Alltoallw
#define MPI_allreduce MPI_Allreduce
#define MPI_reduce_scatter MPI_Reduce_scatter
#define MPI_reduce_scatter_block MPI_Reduce_scatter_block

static void rooted(MPI_Comm comm, int root_side, int root, int length) {
    int here = side == root_side, is_root = here && place == root;
    int seen = is_root ? MPI_ROOT : here ? MPI_PROC_NULL : root, whose = member(root_side, root);
    int *data = malloc((size + 1) * length * sizeof *data), *got = malloc((size + 1) * length * sizeof *got);
    int counts[MOST], places[MOST];
    for (int i = 0; i < others; i++) counts[i] = length, places[i] = (others - 1 - i) * length;
#define FRESH                                                                      \
    for (int i = 0; i < (size + 1) * length; i++) data[i] = 100 * rank + i, got[i] = -1
    FRESH;
    BOTH_MANNERS(
        for (int i = 0; i < length; i++) CHECK(data[i] == (here ? 100 * rank : 100 * whose) + i); FRESH,
        bcast, data, length, MPI_INT, seen, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others && is_root; i++) CHECK(got[i * length] == 100 * member(!side, i) && got[(i + 1) * length - 1] == 100 * member(!side, i) + length - 1);
        for (int i = 0; i < length && !is_root; i++) CHECK(got[i] == -1); FRESH,
        gather, data, length, MPI_INT, got, length, MPI_INT, seen, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others && is_root; i++) CHECK(got[places[i]] == 100 * member(!side, i)); FRESH,
        gatherv, data, length, MPI_INT, got, counts, places, MPI_INT, seen, comm);
    BOTH_MANNERS(
        for (int i = 0; i < length; i++) CHECK(got[i] == (here ? -1 : 100 * whose + place * length + i)); FRESH,
        scatter, data, length, MPI_INT, got, length, MPI_INT, seen, comm);
    BOTH_MANNERS(
        for (int i = 0; i < length; i++) CHECK(got[i] == (here ? -1 : 100 * whose + (own - 1 - place) * length + i)); FRESH,
        scatterv, data, counts, places, MPI_INT, got, length, MPI_INT, seen, comm);
    BOTH_MANNERS(
        for (int i = 0; i < length; i++) {
            int sum = 0;
            for (int k = 0; k < others; k++) sum += 100 * member(!side, k) + i;
            CHECK(got[i] == (is_root ? sum : -1));
        } FRESH,
        reduce, data, got, length, MPI_INT, MPI_SUM, seen, comm);
    /* Who is beside the root need not say what is reduced. */
    if (here && !is_root) CHECK(MPI_Reduce(NULL, NULL, 0, MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_PROC_NULL, comm) == MPI_SUCCESS);
    else CHECK(MPI_Reduce(data, got, length, MPI_INT, MPI_SUM, seen, comm) == MPI_SUCCESS);
    free(data), free(got);
}

/* One map after the other, x to factor * x + term: it does not commute. */
static void after(void *left, void *right, int *length, MPI_Datatype *type) {
    double *one = left, *other = right;
    (void)type;
    for (int i = 0; i < 2 * *length; i += 2) {
        other[i + 1] += one[i + 1] * other[i];
        other[i] *= one[i];
    }
}

static void of_all(MPI_Comm comm, int length) {
    int *data = malloc((size + 1) * length * sizeof *data), *got = malloc((size + 1) * length * sizeof *got);
    int counts[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < others; i++) {
        counts[i] = length, places[i] = (others - 1 - i) * length;
        bytes[i] = places[i] * (int)sizeof(int), types[i] = MPI_INT;
    }
    FRESH;
    BOTH_MANNERS((void)0, barrier, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others; i++) CHECK(got[i * length] == 100 * member(!side, i) && got[(i + 1) * length - 1] == 100 * member(!side, i) + length - 1); FRESH,
        allgather, data, length, MPI_INT, got, length, MPI_INT, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others; i++) CHECK(got[places[i]] == 100 * member(!side, i)); FRESH,
        allgatherv, data, length, MPI_INT, got, counts, places, MPI_INT, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others; i++) CHECK(got[i * length] == 100 * member(!side, i) + place * length); FRESH,
        alltoall, data, length, MPI_INT, got, length, MPI_INT, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others; i++) CHECK(got[places[i]] == 100 * member(!side, i) + (own - 1 - place) * length); FRESH,
        alltoallv, data, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
    BOTH_MANNERS(
        for (int i = 0; i < others; i++) CHECK(got[places[i]] == 100 * member(!side, i) + (own - 1 - place) * length); FRESH,
        alltoallw, data, counts, bytes, types, got, counts, bytes, types, comm);
    BOTH_MANNERS(
        for (int i = 0; i < length; i++) CHECK(got[i] == 100 * member(!side, others - 1) + i); FRESH,
        allreduce, data, got, length, MPI_INT, MPI_MAX, comm);
    free(data), free(got);
}

static void reduce_scatters(MPI_Comm comm) {
    /* Both groups put in as many elements, whatever their sizes. */
    int total = 3 * own * others, each = total / own, first = place * each;
    int data[3 * MOST * MOST], got[3 * MOST * MOST], counts[MOST];
    for (int i = 0; i < total; i++) data[i] = 100 * rank + i;
    for (int i = 0; i < own; i++) counts[i] = each;
#define SCATTERED                                                               \
    for (int i = 0; i < each; i++) CHECK(got[i] == 100 * member(!side, others - 1) + first + i)
    BOTH_MANNERS(SCATTERED, reduce_scatter_block, data, got, each, MPI_INT, MPI_MAX, comm);
    counts[0] = total - each * (own - 1);
    BOTH_MANNERS(SCATTERED, reduce_scatter, data, got, counts, MPI_INT, MPI_MAX, comm);
}

static void in_order(MPI_Comm comm) {
    double mine[2] = {4, place + 1}, got[2], factor = 1, term = 0;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request request;
    for (int i = 0; i < others; i++) term = 4 * term + i + 1, factor *= 4;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(after, 0, &op);
    MPI_Allreduce(mine, got, 1, pair, op, comm);
    CHECK(got[0] == factor && got[1] == term);
    /* A request serves again. */
    CHECK(MPI_Allreduce_init(mine, got, 1, pair, op, comm, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        got[0] = got[1] = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got[0] == factor && got[1] == term);
    }
    MPI_Request_free(&request);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

static void merged(MPI_Comm comm) {
    for (int high = 0; high < 3; high++) {
        /* 2: both say the same, and the order is any that has each group in one piece. */
        MPI_Comm one;
        int me, count, ranks[MOST];
        CHECK(MPI_Intercomm_merge(comm, high == 2 ? 0 : side == high, &one) == MPI_SUCCESS);
        MPI_Comm_rank(one, &me);
        MPI_Comm_size(one, &count);
        CHECK(count == size);
        if (high < 2) CHECK(me == (side == high ? others + place : place));
        MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, one);
        CHECK(ranks[me] == rank);
        int changes = 0;
        for (int i = 1; i < size; i++) changes += ranks[i] % 2 != ranks[i - 1] % 2;
        CHECK(changes == 1);
        MPI_Comm_free(&one);
    }
}

/* Duplicates, parts, and those of some members. */
static void made_of(MPI_Comm comm) {
    MPI_Comm other;
    MPI_Request request;
    MPI_Group group, some;
    int flag, count, result;
    MPI_Comm_dup(comm, &other);
    MPI_Comm_compare(comm, other, &result);
    CHECK(result == MPI_CONGRUENT);
    who_is_where(other);
    messages(other);
    MPI_Comm_free(&other);
    MPI_Comm_idup(comm, &other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    of_all(other, 3);
    MPI_Comm_free(&other);
    /* The first of each group, and all others. */
    MPI_Comm_split(comm, place == 0, -place, &other);
    if (place == 0 || (own > 1 && others > 1)) {
        MPI_Comm_test_inter(other, &flag);
        MPI_Comm_remote_size(other, &count);
        CHECK(flag && count == (place == 0 ? 1 : others - 1));
        int got = -1, me;
        MPI_Comm_rank(other, &me);
        CHECK(me == (place == 0 ? 0 : own - 1 - place));
        MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_MIN, other);
        CHECK(got == member(!side, place == 0 ? 0 : 1));
        MPI_Comm_free(&other);
    } else CHECK(other == MPI_COMM_NULL);
    /* The last of each group, by groups. */
    int last = own - 1;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 1, &last, &some);
    CHECK(MPI_Comm_create(comm, some, &other) == MPI_SUCCESS);
    CHECK((other != MPI_COMM_NULL) == (place == last));
    if (other != MPI_COMM_NULL) {
        int got;
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        CHECK(got == member(!side, others - 1));
        MPI_Comm_free(&other);
    }
    /* With nobody on one side there is none. */
    CHECK(MPI_Comm_create(comm, side ? MPI_GROUP_EMPTY : group, &other) == MPI_SUCCESS && other == MPI_COMM_NULL);
    MPI_Group_free(&group);
    MPI_Group_free(&some);
}

static void mistakes(MPI_Comm comm, MPI_Comm local) {
    int value = 0, got = 0;
    MPI_Comm other;
    MPI_Win win;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, others, 0, comm)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, others, comm)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, -9, comm)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Scan(&value, &got, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, &got, 1, MPI_INT, comm)) == MPI_ERR_BUFFER);
    int none[16] = {0}, ones[16], bytes[16];
    MPI_Datatype ints[16];
    CHECK(others <= 16);
    for (int i = 0; i < 16; i++) ones[i] = 1, bytes[i] = 4, ints[i] = MPI_INT;
    CHECK(class_of(MPI_Alltoallv(MPI_IN_PLACE, none, none, MPI_INT, &got, none, none, MPI_INT, comm)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Allgatherv(&value, 1, MPI_INT, MPI_IN_PLACE, ones, none, MPI_INT, comm)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Alltoallw(&value, ones, none, ints, MPI_IN_PLACE, ones, bytes, ints, comm)) == MPI_ERR_BUFFER);
    /* Without data it may be the address of an empty vector. */
    CHECK(MPI_Allgatherv(&value, 0, MPI_INT, MPI_IN_PLACE, none, none, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_create(&value, 4, 1, MPI_INFO_NULL, comm, &win)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Cart_create(comm, 1, &own, &value, 0, &other)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 0, 1, &other)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_merge(local, 0, &other)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_remote_size(local, &value)) == MPI_ERR_COMM);
    /* A leader that is nobody, and what only the leader can know is told to all. */
    CHECK(class_of(MPI_Intercomm_create(local, own, MPI_COMM_WORLD, 0, 1, &other)) == MPI_ERR_RANK);
    int wrong = class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, size, 1, &other));
    CHECK(wrong == (place == 0 ? MPI_ERR_RANK : MPI_ERR_COMM));
    wrong = class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, -1, &other));
    CHECK(wrong == (place == 0 ? MPI_ERR_TAG : MPI_ERR_COMM));
}

/* Groups that have processes in common are refused at all of them. */
static void common_members(void) {
    MPI_Comm other, local;
    /* Each leads a group of all; the first two exchange. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &local);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 0, 3, &other)) == MPI_ERR_COMM);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    side = rank % 2, place = rank / 2;
    own = side ? size / 2 : (size + 1) / 2, others = size - own;
    if (size > 1) {
        MPI_Comm local = half(), comm = both(local, 12);
        who_is_where(comm);
        messages(comm);
        for (int root_side = 0; root_side < 2; root_side++)
            for (int length = 1; length < 9000; length = length * 90 + 1)
                rooted(comm, root_side, root_side ? size / 2 - 1 : 0, length);
        of_all(comm, 1);
        of_all(comm, 2000);
        reduce_scatters(comm);
        in_order(comm);
        merged(comm);
        made_of(comm);
        mistakes(comm, local);
        /* Two at once, and one whose peer communicator is an intercommunicator. */
        MPI_Comm second = both(local, 12), third;
        CHECK(MPI_Intercomm_create(local, 0, comm, 0, 4, &third) == MPI_SUCCESS);
        MPI_Comm_free(&comm);
        MPI_Comm_free(&local);
        of_all(second, 2);
        who_is_where(third);
        MPI_Comm_free(&second);
        MPI_Comm_disconnect(&third);
    }
    common_members();
    MPI_Finalize();
    return 0;
}
