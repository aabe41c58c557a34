/* One-sided operations: drawing one, calling it, and its oracle. */

#include "remote.h"

#include <string.h>

/* No member of a communicator has this place: the initial data of an accumulate is of nobody. */
enum { NOBODY = MOST_RANKS };

static int accumulates(const struct remote *remote) {
    return remote->kind >= ACCUMULATE && remote->kind <= FETCH_AND_OP;
}

/* Draws the data of an accumulate: numbers at the origin, a datatype made from them at the target. */
static void draw_accumulate(struct remote *remote) {
    struct reduction *reduction = &remote->reduction;
    draw_reduction(reduction, 0);
    while (reduction->operation >= COMPOSE) {
        free_reduction(reduction);
        draw_reduction(reduction, 0);
    }
    /* MPICH 5.0 fetches wrong values with their places. */
    if (remote->kind == FETCH_AND_OP && !is_wide && reduction->layout.entries > 1)
        remote->kind = GET_ACCUMULATE;
    int depth = (int)draw(3), kind = (int)draw(8);
    long numbers = draw_bytes() % 3000 / reduction->layout.bytes;
    if (remote->kind == FETCH_AND_OP) depth = 0;
    struct pair *pair = &remote->pair;
    pair->send = pair->receive = reduction->layout;
    pair->send.units = pair->receive.units = 1;
    derive(&pair->receive, depth);
    remote->target_count = remote->kind == FETCH_AND_OP ? 1 : numbers / pair->receive.units;
    remote->origin_count = remote->target_count * pair->receive.units;
    remote->bytes = remote->origin_count * reduction->layout.bytes;
    remote->op = reduction->op;
    /* The order in which several origins replace a value is open. */
    if (remote->origin != EVERYONE && kind == 0) remote->op = MPI_REPLACE;
    if (remote->kind != ACCUMULATE && kind == 1) remote->op = MPI_NO_OP;
}

static void draw_swap(struct remote *remote) {
    remote->pair.send = (struct layout){.type = MPI_INT64_T,
                                        .is_named = 1,
                                        .entry = {{0, 8}},
                                        .entries = 1,
                                        .units = 1,
                                        .bytes = 8,
                                        .upper = 8};
    remote->pair.receive = remote->pair.send;
    remote->origin_count = remote->target_count = 1;
    remote->bytes = 8;
}

static void draw_copy(struct remote *remote) {
    draw_pair(&remote->pair);
    long pieces = draw_pieces(&remote->pair);
    remote->origin_count = pieces * remote->pair.send_per_piece;
    remote->target_count = pieces * remote->pair.receive_per_piece;
    remote->bytes = pieces * remote->pair.piece_bytes;
}

/* The numbers that a member contributes to an accumulate. */
static void *numbers_of(const struct remote *remote, int place, uint64_t data) {
    return contribution(&remote->reduction, place, remote->origin_count, data);
}

/* What a member puts, or contributes. */
static void *data_of_origin(const struct remote *remote, int number, int place,
                            const struct part *part) {
    uint64_t data = data_of(part->member[place], number);
    if (accumulates(remote)) return numbers_of(remote, place, data);
    void *made = take((size_t)remote->bytes);
    fill(made, (size_t)remote->bytes, data);
    return made;
}

/* Has a get read what an operation of an earlier epoch has left, into the same datatype. */
static void read_earlier(struct remote *all, int number, uint64_t which) {
    struct remote *remote = &all[number];
    int earlier = number > 0 ? (int)(which % (uint64_t)number) : 0;
    const struct remote *of = &all[earlier];
    if (of->epoch >= remote->epoch || of->of != earlier) return;
    free_pair(&remote->pair);
    remote->pair.send = remote->pair.receive = of->pair.receive;
    remote->pair.send.is_named = remote->pair.receive.is_named = 1;
    remote->of = earlier;
    remote->target = of->target;
    remote->origin_count = remote->target_count = of->target_count;
    remote->bytes = of->bytes;
}

void draw_remote(struct remote *all, int number, int epoch, const struct part *part) {
    struct remote *remote = &all[number];
    uint64_t origin = draw(1u << 30), target = draw(1u << 30), of = draw(1u << 30);
    *remote = (struct remote){.kind = (enum remote_kind)draw(REMOTE_KINDS),
                              .epoch = epoch,
                              .with_request = chance(40),
                              .of = number,
                              .op = MPI_OP_NULL,
                              .request = MPI_REQUEST_NULL};
    int by_all = chance(40) && remote->kind == ACCUMULATE;
    remote->origin = by_all ? EVERYONE : 0;
    if (remote->kind == COMPARE_AND_SWAP) draw_swap(remote);
    else if (accumulates(remote)) draw_accumulate(remote);
    else draw_copy(remote);
    if (!part) return;
    if (!by_all) remote->origin = (int)(origin % (uint64_t)part->size);
    remote->target = (int)(target % (uint64_t)part->size);
    if (remote->kind == GET && of % 2) read_earlier(all, number, of / 2);
    if (remote->of != number) return;
    uint64_t initial = data_of(part->member[remote->target], 100 + number);
    remote->region = blank(&remote->pair.receive, remote->target_count);
    if (accumulates(remote))
        put(remote->region, &remote->pair.receive, 0, numbers_of(remote, NOBODY, initial),
            remote->bytes);
    else fill(remote->region.memory, remote->region.bytes, initial);
}

int calls(const struct remote *remote, const struct part *part) {
    return remote->origin == EVERYONE || remote->origin == part->place;
}

static int sends(const struct remote *remote) { return remote->kind != GET; }
static int receives(const struct remote *remote) {
    return remote->kind != PUT && remote->kind != ACCUMULATE;
}

/* The memory of the origin, where `before` is what the target's holds. */
static void prepare_origin(struct remote *remote, int number, const struct part *part,
                           const void *before) {
    const struct layout *layout = &remote->pair.send;
    remote->sent = blank(layout, sends(remote) ? remote->origin_count : 0);
    remote->got = blank(layout, receives(remote) ? remote->origin_count : 0);
    remote->expected = copy_of(remote->got);
    if (sends(remote))
        put(remote->sent, layout, 0, data_of_origin(remote, number, part->place, part),
            remote->bytes);
    if (receives(remote)) put(remote->expected, layout, 0, before, remote->bytes);
}

void foresee(struct remote *all, int number, const struct part *part) {
    struct remote *remote = &all[number];
    const struct remote *of = &all[remote->of];
    const struct layout *there = &of->pair.receive;
    const void *before = data_in(of->region, there, of->target_count);
    void *now = take((size_t)remote->bytes);
    memcpy(now, before, (size_t)remote->bytes);
    if (calls(remote, part)) prepare_origin(remote, number, part, before);
    if (remote->kind == GET || remote->op == MPI_NO_OP) return;
    int swaps = 1;
    if (remote->kind == COMPARE_AND_SWAP) {
        memcpy(&remote->compared, before, sizeof remote->compared);
        swaps = data_of(0, number) % 2;
        if (!swaps) remote->compared++;
    }
    for (int place = 0; swaps && place < part->size; place++) {
        if (remote->origin != EVERYONE && remote->origin != place) continue;
        const void *data = data_of_origin(remote, number, place, part);
        if (accumulates(remote) && remote->op != MPI_REPLACE)
            combine(&remote->reduction, data, now, remote->origin_count);
        else memcpy(now, data, (size_t)remote->bytes);
    }
    put(of->region, there, 0, now, remote->bytes);
}

void call_remote(struct remote *all, int number, MPI_Aint at, MPI_Win win, int may_request) {
    struct remote *remote = &all[number];
    const struct remote *of = &all[remote->of];
    MPI_Datatype mine = remote->pair.send.type, there = of->pair.receive.type;
    int count = (int)remote->origin_count, count_there = (int)of->target_count,
        target = remote->target, later = may_request && remote->with_request;
    const void *from = address(remote->sent);
    void *to = address(remote->got);
    MPI_Op op = remote->op;
    MPI_Request *request = &remote->request;
    switch (remote->kind) {
    case PUT:
        if (later) MPI_Rput(from, count, mine, target, at, count_there, there, win, request);
        else MPI_Put(from, count, mine, target, at, count_there, there, win);
        break;
    case GET:
        if (later) MPI_Rget(to, count, mine, target, at, count_there, there, win, request);
        else MPI_Get(to, count, mine, target, at, count_there, there, win);
        break;
    case ACCUMULATE:
        if (later)
            MPI_Raccumulate(from, count, mine, target, at, count_there, there, op, win, request);
        else MPI_Accumulate(from, count, mine, target, at, count_there, there, op, win);
        break;
    case GET_ACCUMULATE:
        if (later)
            MPI_Rget_accumulate(from, count, mine, to, count, mine, target, at, count_there, there,
                                op, win, request);
        else
            MPI_Get_accumulate(from, count, mine, to, count, mine, target, at, count_there, there,
                               op, win);
        break;
    case FETCH_AND_OP: MPI_Fetch_and_op(from, to, mine, target, at, op, win); break;
    default: MPI_Compare_and_swap(from, &remote->compared, to, mine, target, at, win);
    }
}

void check_origin(const struct remote *remote) {
    const struct buffer *got = &remote->got, *expected = &remote->expected;
    fold_bytes(got->memory, got->bytes);
    if (memcmp(got->memory, expected->memory, got->bytes) != 0)
        complain("one-sided operation %d of %ld bytes, accumulate %d of kind %d: its origin has "
                 "other data",
                 (int)remote->kind, remote->bytes, (int)remote->reduction.operation,
                 remote->reduction.kind);
}

void free_remote(struct remote *remote) { free_pair(&remote->pair); }
