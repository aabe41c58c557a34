/* Intercommunicators: collectives and messages between two groups, and what is made of them. */

#include "numbers.h"

#include <string.h>

struct call {
    struct part part;
    struct pair pair;
    struct reduction reduction;
    enum way way;
    long pieces, elements;
    uint64_t key;
    /* For each place of the part: its side, or -1. The members of each side in their order. */
    int side[MOST_RANKS], member[2][MOST_RANKS], size[2];
    /* This member: its side and its rank there. */
    int mine, place;
    /* The side of the root of rooted collectives, and its rank there. */
    int root_side, root;
    MPI_Comm local, between;
};

/* Divides the part in two. Returns 0 if one side has nobody. */
static int divide(struct call *call) {
    for (int place = 0; place < call->part.size; place++) {
        int side = (int)(mix(call->key + (uint64_t)place) % 2);
        if (place == call->part.place) {
            call->mine = side;
            call->place = call->size[side];
        }
        call->side[place] = side;
        call->member[side][call->size[side]++] = place;
    }
    call->root_side = (int)(call->key % 2);
    if (call->size[0] == 0 || call->size[1] == 0) return 0;
    call->root = (int)(call->key / 2 % (uint64_t)call->size[call->root_side]);
    return 1;
}

static void check_groups(const struct call *call, MPI_Comm comm, const char *how) {
    int size, rank, remote, is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_remote_size(comm, &remote);
    if (!is_inter || size != call->size[call->mine] || rank != call->place ||
        remote != call->size[1 - call->mine])
        complain("%s: rank %d of %d, with %d others; it should be %d of %d with %d", how, rank, size,
                 remote, call->place, call->size[call->mine], call->size[1 - call->mine]);
    fold((uint64_t)size);
    fold((uint64_t)remote);
}

/* Makes the intercommunicator, and sometimes another of it. */
static void make(struct call *call) {
    int other = 1 - call->mine, leader[2];
    for (int side = 0; side < 2; side++)
        leader[side] = (int)(mix(call->key * 5 + (uint64_t)side) % (uint64_t)call->size[side]);
    MPI_Comm_split(call->part.comm, call->mine, 0, &call->local);
    MPI_Intercomm_create(call->local, leader[call->mine], call->part.comm,
                         call->member[other][leader[other]], step, &call->between);
    check_groups(call, call->between, "intercommunicator");
    if (call->key % 3 == 0) return;
    MPI_Comm made;
    /* Of equal keys the order is that of the ranks. */
    if (call->key % 3 == 1) MPI_Comm_dup(call->between, &made);
    else MPI_Comm_split(call->between, 0, 0, &made);
    MPI_Comm_free(&call->between);
    call->between = made;
    check_groups(call, made, "intercommunicator of another");
}

static const void *data_for(const struct call *call, int side, int rank, int part) {
    size_t bytes = (size_t)(call->pieces * call->pair.piece_bytes);
    void *data = take(bytes);
    fill(data, bytes, data_of(call->part.member[call->member[side][rank]], part));
    return data;
}

/* What a member sends to one side's member: the same to all if `part` is 0. */
static struct buffer filled(const struct call *call, const struct layout *layout, long per_piece,
                            int blocks) {
    return blank(layout, call->pieces * per_piece * blocks);
}

static void put_block(const struct call *call, struct buffer buffer, const struct layout *layout,
                      long per_piece, int block, const void *data) {
    put(buffer, layout, block * call->pieces * per_piece, data,
        call->pieces * call->pair.piece_bytes);
}

/* The rank to give as the root. */
static int root_of(const struct call *call) {
    if (call->mine != call->root_side) return call->root;
    return call->place == call->root ? MPI_ROOT : MPI_PROC_NULL;
}

struct sides {
    struct pending *item;
    struct buffer sent, got, expected;
};

static struct sides sides(const struct call *call, const char *name, int out, int in) {
    const struct pair *pair = &call->pair;
    struct sides sides = {.item = new_pending(name),
                          .sent = filled(call, &pair->send, pair->send_per_piece, out),
                          .got = filled(call, &pair->receive, pair->receive_per_piece, in)};
    sides.expected = copy_of(sides.got);
    sides.item->is_collective = 1;
    return sides;
}

static void put_sent(const struct call *call, struct sides *s, int block, const void *data) {
    put_block(call, s->sent, &call->pair.send, call->pair.send_per_piece, block, data);
}

static void put_expected(const struct call *call, struct sides *s, int block, const void *data) {
    put_block(call, s->expected, &call->pair.receive, call->pair.receive_per_piece, block, data);
}

static void watched(struct sides *s) {
    watch(s->item, s->got, s->expected);
    watch(s->item, s->sent, copy_of(s->sent));
}

static void broadcast(const struct call *call) {
    int is_root = root_of(call) == MPI_ROOT, takes = call->mine != call->root_side;
    struct sides s = sides(call, "broadcast between groups", is_root, takes);
    const void *data = data_for(call, call->root_side, call->root, 0);
    if (is_root) put_sent(call, &s, 0, data);
    if (takes) put_expected(call, &s, 0, data);
    watched(&s);
    const struct pair *pair = &call->pair;
    long per_piece = is_root ? pair->send_per_piece : pair->receive_per_piece;
    MPI_Datatype type = is_root ? pair->send.type : pair->receive.type;
    void *at = is_root ? address(s.sent) : address(s.got);
    CALL(call->way, s.item, Bcast, bcast, at, (int)(call->pieces * per_piece), type, root_of(call),
         call->between);
}

/* Gather, scatter, allgather or alltoall with blocks of equal length. */
static void spread(const struct call *call, int kind) {
    int there = call->size[1 - call->mine], is_root = root_of(call) == MPI_ROOT;
    int away = call->mine != call->root_side, all = kind >= 2;
    int out = kind == 0 ? away : kind == 1 ? (is_root ? there : 0) : kind == 2 ? 1 : there;
    int in = kind == 0 ? (is_root ? there : 0) : kind == 1 ? away : there;
    static const char *const names[] = {"gather between groups", "scatter between groups",
                                        "allgather between groups", "alltoall between groups"};
    struct sides s = sides(call, names[kind], out, in);
    int to_each = kind == 1 || kind == 3;
    for (int block = 0; block < out; block++)
        put_sent(call, &s, block, data_for(call, call->mine, call->place, to_each ? 1 + block : 0));
    for (int block = 0; block < in; block++)
        put_expected(call, &s, block,
                     data_for(call, 1 - call->mine, all || kind == 0 ? block : call->root,
                              to_each ? 1 + call->place : 0));
    watched(&s);
    const void *from = address(s.sent);
    void *to = address(s.got);
    int sends = (int)(call->pieces * call->pair.send_per_piece),
        receives = (int)(call->pieces * call->pair.receive_per_piece), root = root_of(call);
    MPI_Datatype send = call->pair.send.type, receive = call->pair.receive.type;
    MPI_Comm comm = call->between;
    if (kind == 0)
        CALL(call->way, s.item, Gather, gather, from, sends, send, to, receives, receive, root,
             comm);
    else if (kind == 1)
        CALL(call->way, s.item, Scatter, scatter, from, sends, send, to, receives, receive, root,
             comm);
    else if (kind == 2)
        CALL(call->way, s.item, Allgather, allgather, from, sends, send, to, receives, receive,
             comm);
    else
        CALL(call->way, s.item, Alltoall, alltoall, from, sends, send, to, receives, receive, comm);
}

/* The combined contributions of a side. */
static const void *combined(const struct call *call, int side) {
    const struct reduction *reduction = &call->reduction;
    long bytes = call->elements * reduction->layout.bytes;
    const void *so_far = NULL;
    for (int rank = 0; rank < call->size[side]; rank++) {
        int member = call->part.member[call->member[side][rank]];
        void *next = take((size_t)bytes);
        memcpy(next, contribution(reduction, rank, call->elements, data_of(member, 0)),
               (size_t)bytes);
        if (so_far) combine(reduction, so_far, next, call->elements);
        so_far = next;
    }
    return so_far;
}

static void reduce(const struct call *call, int to_all) {
    const struct layout *layout = &call->reduction.layout;
    long elements = call->elements, bytes = elements * layout->bytes;
    int sends = to_all || call->mine != call->root_side;
    int takes = to_all || root_of(call) == MPI_ROOT;
    struct pending *item = new_pending(to_all ? "allreduce between groups" : "reduce between groups");
    item->is_collective = 1;
    struct buffer sent = blank(layout, sends ? elements : 0), got = blank(layout, takes ? elements : 0);
    struct buffer expected = copy_of(got);
    int member = call->part.member[call->part.place];
    if (sends)
        put(sent, layout, 0,
            contribution(&call->reduction, call->place, elements, data_of(member, 0)), bytes);
    if (takes) put(expected, layout, 0, combined(call, 1 - call->mine), bytes);
    watch(item, got, expected);
    watch(item, sent, copy_of(sent));
    const void *from = address(sent);
    void *to = address(got);
    MPI_Op op = call->reduction.op;
    if (to_all)
        CALL(call->way, item, Allreduce, allreduce, from, to, (int)elements, layout->type, op,
             call->between);
    else
        CALL(call->way, item, Reduce, reduce, from, to, (int)elements, layout->type, op,
             root_of(call), call->between);
}

/* One message from each member of one side to a member of the other. */
static void message(const struct call *call) {
    int there = call->size[1 - call->mine], here = call->size[call->mine];
    struct sides s = sides(call, "messages between groups", 1, here < there ? there : 1);
    int takes = 0, tag = 3;
    MPI_Request requests[MOST_RANKS];
    for (int rank = 0; rank < there; rank++) {
        if (rank % here != call->place) continue;
        struct buffer at = s.got;
        ptrdiff_t element = takes * call->pieces * call->pair.receive_per_piece;
        at.origin += element * extent_of(&call->pair.receive);
        MPI_Irecv(address(at), (int)(call->pieces * call->pair.receive_per_piece),
                  call->pair.receive.type, rank, tag, call->between, &requests[takes]);
        put_expected(call, &s, takes++, data_for(call, 1 - call->mine, rank, 0));
    }
    put_sent(call, &s, 0, data_for(call, call->mine, call->place, 0));
    watched(&s);
    MPI_Send(address(s.sent), (int)(call->pieces * call->pair.send_per_piece), call->pair.send.type,
             call->place % there, tag, call->between);
    MPI_Waitall(takes, requests, MPI_STATUSES_IGNORE);
    begun(s.item, BLOCKING);
}

/* MPI_Intercomm_merge: the side that says `high` comes last. */
static void merge(const struct call *call) {
    int high = (int)(call->key / 7 % 2), rank, size, first = high == 0 ? 0 : 1;
    MPI_Comm made;
    MPI_Intercomm_merge(call->between, call->mine == 0 ? high : 1 - high, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Comm_size(made, &size);
    MPI_Comm_free(&made);
    int expected = call->place + (call->mine == first ? 0 : call->size[first]);
    if (rank != expected || size != call->part.size)
        complain("merged: rank %d of %d, not %d", rank, size, expected);
    fold((uint64_t)rank);
}

static void run(struct call *call, int kind) {
    make(call);
    switch (kind) {
    case 0: broadcast(call); break;
    case 1:
    case 2:
    case 3:
    case 4: spread(call, kind - 1); break;
    case 5:
    case 6: reduce(call, kind == 6); break;
    default: message(call);
    }
    if (call->key % 5 == 0) merge(call);
    MPI_Comm_free(&call->local);
}

void step_between(void) {
    struct call call = {.between = MPI_COMM_NULL, .way = draw_way()};
    draw_pair(&call.pair);
    draw_reduction(&call.reduction, 0);
    int kind = (int)draw(8);
    call.pieces = draw_pieces(&call.pair);
    call.elements = draw_bytes() / call.reduction.layout.bytes;
    call.key = draw(1u << 30);
    /* MPICH 5.0 delivers wrong data of datatypes with several basic types. */
    if (!is_wide && !call.pair.send.is_uniform) call.way = BLOCKING;
    if (draw_part(&call.part) && divide(&call)) {
        say("between %d and %d, kind %d, way %d, root %d of side %d, %ld pieces of %ld bytes",
            call.size[0], call.size[1], kind, call.way, call.root, call.root_side, call.pieces,
            call.pair.piece_bytes);
        run(&call, kind);
    }
    drain();
    if (call.between != MPI_COMM_NULL) MPI_Comm_free(&call.between);
    free_reduction(&call.reduction);
    free_pair(&call.pair);
}
