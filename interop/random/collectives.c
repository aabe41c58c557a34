/* Barrier, broadcast, gather, scatter and allgather, with equal and unequal blocks. */

#include "random.h"

/* The number of pieces in each member's block, and the displacement of the block in pieces. */
struct parts {
    long pieces[MOST_RANKS], first[MOST_RANKS], total;
};

/* The arguments of a call, which all members know. */
struct call {
    struct part part;
    struct pair pair;
    struct parts parts;
    enum way way;
    int root, in_place;
};

/* Blocks of `most` pieces; if `uneven`, of at most `most`, in random order with gaps between. */
static struct parts parts_of(int size, long most, int uneven, uint64_t key) {
    struct parts parts = {.total = 0};
    int order[MOST_RANKS];
    for (int i = 0; i < size; i++) order[i] = i;
    for (int i = 0; uneven && i < size; i++) {
        int other = (int)(mix(key + (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < size; i++) {
        int place = order[i];
        uint64_t number = mix(key * 3 + (uint64_t)place);
        parts.pieces[place] = uneven ? (long)(number % (uint64_t)(most + 1)) : most;
        parts.first[place] = parts.total;
        parts.total += parts.pieces[place] + (uneven ? (long)(number >> 62) : 0);
    }
    return parts;
}

static const void *data_for(const struct call *call, int place) {
    size_t bytes = (size_t)(call->parts.pieces[place] * call->pair.piece_bytes);
    void *data = take(bytes);
    fill(data, bytes, data_of(call->part.member[place], 0));
    return data;
}

/* Writes the block of a member at its displacement. */
static void put_part(const struct call *call, struct buffer buffer, const struct layout *layout,
                     long per_piece, int place) {
    put(buffer, layout, call->parts.first[place] * per_piece, data_for(call, place),
        call->parts.pieces[place] * call->pair.piece_bytes);
}

/* A send buffer with the block of one member. */
static struct buffer sent_part(const struct call *call, int place) {
    const struct pair *pair = &call->pair;
    struct buffer buffer = blank(&pair->send, call->parts.pieces[place] * pair->send_per_piece);
    put(buffer, &pair->send, 0, data_for(call, place),
        call->parts.pieces[place] * pair->piece_bytes);
    return buffer;
}

static int *scaled(const long *values, int size, long by) {
    int *result = take((size_t)size * sizeof *result);
    for (int i = 0; i < size; i++) result[i] = (int)(values[i] * by);
    return result;
}

static struct pending *item_of(const char *name) {
    struct pending *item = new_pending(name);
    item->is_collective = 1;
    return item;
}

static void barrier(struct call *call) {
    struct pending *item = item_of("barrier");
    CALL(call->way, item, Barrier, barrier, call->part.comm);
}

static void broadcast(struct call *call) {
    const struct pair *pair = &call->pair;
    int is_root = call->part.place == call->root;
    const struct layout *layout = is_root ? &pair->send : &pair->receive;
    long per_piece = is_root ? pair->send_per_piece : pair->receive_per_piece;
    long pieces = call->parts.pieces[call->root];
    struct buffer buffer = blank(layout, pieces * per_piece), expected = copy_of(buffer);
    put(expected, layout, 0, data_for(call, call->root), pieces * pair->piece_bytes);
    struct pending *item = item_of("broadcast");
    watch(item, is_root ? copy_of(expected) : buffer, expected);
    CALL(call->way, item, Bcast, bcast, address(item->got[0]), (int)(pieces * per_piece),
         layout->type, call->root, call->part.comm);
}

/* Gather, gatherv, allgather and allgatherv. */
static void gather(struct call *call, int uneven, int to_all) {
    const struct pair *pair = &call->pair;
    int me = call->part.place, takes = to_all || me == call->root,
        in_place = call->in_place && takes;
    const long per_piece = pair->receive_per_piece;
    int *counts = scaled(call->parts.pieces, call->part.size, per_piece);
    int *first = scaled(call->parts.first, call->part.size, per_piece);
    struct buffer sent = sent_part(call, me),
                  got = blank(&pair->receive, takes ? call->parts.total * per_piece : 0);
    struct buffer expected = copy_of(got);
    if (in_place) put_part(call, got, &pair->receive, per_piece, me);
    for (int place = 0; takes && place < call->part.size; place++)
        put_part(call, expected, &pair->receive, per_piece, place);
    static const char *const names[2][2] = {{"gather", "gatherv"}, {"allgather", "allgatherv"}};
    struct pending *item = item_of(names[to_all][uneven]);
    watch(item, got, expected);
    watch(item, sent, copy_of(sent));
    const void *from = in_place ? MPI_IN_PLACE : address(sent);
    int count = (int)(call->parts.pieces[me] * pair->send_per_piece);
    MPI_Datatype out = pair->send.type, in = pair->receive.type;
    void *to = takes ? address(got) : NULL;
    MPI_Comm comm = call->part.comm;
    if (to_all && uneven)
        CALL(call->way, item, Allgatherv, allgatherv, from, count, out, to, counts, first, in,
             comm);
    else if (to_all)
        CALL(call->way, item, Allgather, allgather, from, count, out, to, counts[0], in, comm);
    else if (uneven)
        CALL(call->way, item, Gatherv, gatherv, from, count, out, to, counts, first, in, call->root,
             comm);
    else
        CALL(call->way, item, Gather, gather, from, count, out, to, counts[0], in, call->root,
             comm);
}

static void scatter(struct call *call, int uneven) {
    const struct pair *pair = &call->pair;
    int me = call->part.place, is_root = me == call->root, in_place = call->in_place && is_root;
    int *counts = scaled(call->parts.pieces, call->part.size, pair->send_per_piece);
    int *first = scaled(call->parts.first, call->part.size, pair->send_per_piece);
    struct buffer sent = blank(&pair->send, is_root ? call->parts.total * pair->send_per_piece : 0);
    for (int place = 0; is_root && place < call->part.size; place++)
        put_part(call, sent, &pair->send, pair->send_per_piece, place);
    int count = (int)(call->parts.pieces[me] * pair->receive_per_piece);
    struct buffer got = blank(&pair->receive, count), expected = copy_of(got);
    if (!in_place)
        put(expected, &pair->receive, 0, data_for(call, me),
            call->parts.pieces[me] * pair->piece_bytes);
    struct pending *item = item_of(uneven ? "scatterv" : "scatter");
    watch(item, got, expected);
    watch(item, sent, copy_of(sent));
    const void *from = is_root ? address(sent) : NULL;
    void *to = in_place ? MPI_IN_PLACE : address(got);
    MPI_Datatype out = pair->send.type, in = pair->receive.type;
    MPI_Comm comm = call->part.comm;
    if (uneven)
        CALL(call->way, item, Scatterv, scatterv, from, counts, first, out, to, count, in,
             call->root, comm);
    else
        CALL(call->way, item, Scatter, scatter, from, counts[0], out, to, count, in, call->root,
             comm);
}

void step_collective(void) {
    struct call call;
    draw_pair(&call.pair);
    call.way = draw_way();
    call.in_place = chance(30);
    int kind = (int)draw(8), uneven = kind == 3 || kind == 5 || kind == 7;
    uint64_t key = draw(1u << 30), root = draw(1u << 30);
    long most = draw_pieces(&call.pair);
    if (draw_part(&call.part)) {
        call.root = (int)(root % (uint64_t)call.part.size);
        call.parts = parts_of(call.part.size, most, uneven, key);
        say("collective %d, way %d, %d members, root %d, %ld pieces of %ld bytes, in place %d",
            kind, call.way, call.part.size, call.root, most, call.pair.piece_bytes, call.in_place);
        switch (kind) {
        case 0: barrier(&call); break;
        case 1: broadcast(&call); break;
        case 2:
        case 3: gather(&call, uneven, 0); break;
        case 4:
        case 5: scatter(&call, uneven); break;
        default: gather(&call, uneven, 1);
        }
    }
    /* MPI keeps a freed datatype until pending operations that use it have completed. */
    free_pair(&call.pair);
}
