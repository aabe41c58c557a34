/* Communicators, reductions, in-place and unequal collectives, and those that do not wait. */
#include "check.h"

/* Two duplications under way together give two communicators, whose messages never meet. */
static void duplicates(void) {
    MPI_Comm one, two;
    MPI_Request both[2], wait[2];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, first = -1, second = -1;
    MPI_Comm_idup(MPI_COMM_WORLD, &one, &both[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &two, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    int to_one = 1, to_two = 2;
    MPI_Irecv(&second, 1, MPI_INT, before, 0, two, &wait[0]);
    MPI_Irecv(&first, 1, MPI_INT, before, 0, one, &wait[1]);
    MPI_Send(&to_one, 1, MPI_INT, next, 0, one);
    MPI_Send(&to_two, 1, MPI_INT, next, 0, two);
    MPI_Waitall(2, wait, MPI_STATUSES_IGNORE);
    CHECK(first == 1 && second == 2);
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
}

static void parts(void) {
    MPI_Comm part;
    MPI_Group world, group;
    int place, count, result;
    /* Even and odd ranks, in the opposite order. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    MPI_Comm_size(part, &count);
    MPI_Comm_rank(part, &place);
    CHECK(count == (size + 1 - rank % 2) / 2);
    CHECK(place == count - 1 - rank / 2);
    MPI_Comm_free(&part);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){size - 1}, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &part);
    CHECK((part == MPI_COMM_NULL) == (rank != size - 1));
    MPI_Group_translate_ranks(group, 1, (int[]){0}, world, &place);
    CHECK(place == size - 1);
    MPI_Group_compare(group, world, &result);
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* Not commutative: composes x -> a x + b, so the order of the ranks shows. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    int *f = in, *g = inout;
    for (int i = 0; i < *count; i++, f += 2, g += 2) {
        int a = f[0] * g[0], b = f[1] * g[0] + g[1];
        g[0] = a;
        g[1] = b;
    }
}

static void reductions(void) {
    const int sum = size * (size - 1) / 2;
    int mine = rank, all = -1, before = -7;
    struct { int value, place; } pair = {rank % 3, rank}, most;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == sum);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(mine == size - 1);
    int bits = 0;
    for (int i = 0; i < size; i++) bits ^= 1 << i % 31;
    mine = 1 << rank % 31;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    CHECK(all == bits);
    MPI_Allreduce(&pair, &most, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(most.value == (size > 2 ? 2 : size - 1) && most.place == most.value);
    mine = rank + 1;
    MPI_Scan(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (rank + 1) * (rank + 2) / 2);
    MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(before == (rank ? rank * (rank + 1) / 2 : -7));
    MPI_Op op;
    MPI_Datatype two;
    int function[2] = {-1, rank}, composed[2], expected[2] = {1, 0};
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(function, composed, 1, two, op, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        expected[0] = -expected[0];
        expected[1] = i - expected[1];
    }
    CHECK(composed[0] == expected[0] && composed[1] == expected[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
}

/* Composes as `compose` does, and asks about the type that it is given. */
static int wrong_sizes;
static void compose_asking(void *in, void *inout, int *count, MPI_Datatype *type) {
    int bytes = 0;
    wrong_sizes += MPI_Type_size(*type, &bytes) != MPI_SUCCESS || bytes != (int)sizeof(int[2]);
    compose(in, inout, count, type);
}

/* A type and an operation may be freed once their reduction is under way; the function still gets a type. */
static void freed_under_way(void) {
    MPI_Op op;
    MPI_Datatype two;
    MPI_Request request;
    int mine[2] = {1, rank}, all[2] = {0, 0};
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(compose_asking, 0, &op);
    MPI_Iallreduce(mine, all, 1, two, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[0] == 1 && all[1] == size * (size - 1) / 2);
    CHECK(wrong_sizes == 0);
}

/* Such a function at each place of a vector: its multiplier, and what this rank adds. */
static int times(int place) { return place % 3 - 1; }
static int plus(int place, int of) { return 5 * of + place % 7; }

/* How many of the functions of all ranks, one after the other, are wrong. */
static int wrong_functions(const int *all, int count) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        int a = 1, b = 0;
        for (int of = 0; of < size; of++) {
            a *= times(i);
            b = b * times(i) + plus(i, of);
        }
        wrong += all[2 * i] != a || all[2 * i + 1] != b;
    }
    return wrong;
}

/* Vectors that go in one piece, in several, and where ranks share the work; into other memory and in place, to one and to all. */
static void long_reductions(void) {
    const int counts[] = {3, 1024, 2049, 20011, 65536, 150001};
    MPI_Op op;
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(compose, 0, &op);
    for (int way = 0; way < 12; way++) {
        const int count = counts[way / 2], in_place = way % 2;
        int *mine = malloc(sizeof(int[2]) * count), *all = in_place ? mine : malloc(sizeof(int[2]) * count);
        for (int i = 0; i < count; i++) {
            mine[2 * i] = times(i);
            mine[2 * i + 1] = plus(i, rank);
        }
        const int root = way % size;
        int *one = malloc(sizeof(int[2]) * count);
        memcpy(one, mine, sizeof(int[2]) * count);
        MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : mine, one, count, two, op, root, MPI_COMM_WORLD);
        CHECK(rank != root || wrong_functions(one, count) == 0);
        MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, all, count, two, op, MPI_COMM_WORLD);
        CHECK(wrong_functions(all, count) == 0);
        free(one);
        if (!in_place) free(all);
        free(mine);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&two);
}

/* Blocks that go in one piece, in several and in more than slots hold, from each root and back to it, there also in place. */
static void long_blocks(void) {
    const int counts[] = {3, 5001, 30011, 300001};
    for (int way = 0; way < 8; way++) {
        const int count = counts[way / 2], root = way % size, at_root = rank == root, in_place = way % 2 && at_root;
        const size_t all = (size_t)size * count;
        int *given = at_root ? malloc(sizeof(int) * all) : NULL, *back = at_root ? malloc(sizeof(int) * all) : NULL;
        int *mine = malloc(sizeof(int) * count), wrong = 0;
        for (size_t i = 0; at_root && i < all; i++) given[i] = back[i] = 7 * (int)i + way;
        MPI_Scatter(given, count, MPI_INT, in_place ? MPI_IN_PLACE : mine, count, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; !in_place && i < count; i++) {
            wrong += mine[i] != 7 * (rank * count + i) + way;
            mine[i] = -mine[i];
        }
        MPI_Gather(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, back, count, MPI_INT, root, MPI_COMM_WORLD);
        for (size_t i = 0; at_root && i < all; i++) {
            const int stays = in_place && (int)(i / count) == rank;
            wrong += back[i] != (stays ? given[i] : -given[i]);
        }
        CHECK(wrong == 0);
        free(given);
        free(back);
        free(mine);
    }
}

/* Rank r has r + 1 numbers; all of them end at every rank, also where they stand already. */
static void unequal(void) {
    int counts[MOST], places[MOST], mine[MOST], all[MOST * (MOST + 1) / 2], total = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = total;
        total += i + 1;
    }
    for (int i = 0; i <= rank; i++) mine[i] = 10 * rank + i;
    for (int way = 0; way < 3; way++) {
        memset(all, 0xff, sizeof all);
        if (way) memcpy(all + places[rank], mine, (size_t)counts[rank] * sizeof(int));
        MPI_Request request = MPI_REQUEST_NULL;
        if (way == 0) MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
        if (way == 1) MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
        if (way == 2) MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++) CHECK(all[places[i] + j] == 10 * i + j);
    }
    /* No data at all, from nowhere. */
    int none[MOST] = {0};
    CHECK(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Alltoallv(NULL, none, none, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    duplicates();
    parts();
    reductions();
    freed_under_way();
    long_reductions();
    long_blocks();
    unequal();
    MPI_Finalize();
    return 0;
}
