/* Alltoall, alltoallv and alltoallw. */

#include "random.h"

#include <string.h>

enum { EQUAL, UNEVEN, OWN_TYPES };

struct call {
    struct part part;
    /* Alltoallw uses the second pair between members whose places have an odd sum. */
    struct pair pairs[2];
    long most[2];
    uint64_t key;
    int kind, in_place;
};

static int which(const struct call *call, int from, int to) {
    return call->kind == OWN_TYPES && (from + to) % 2;
}

/* The number of pieces that one member sends to another. */
static long pieces(const struct call *call, int from, int to) {
    uint64_t most = (uint64_t)call->most[which(call, from, to)];
    if (call->kind == EQUAL) return (long)most;
    /* In place, two members must send each other equal amounts. */
    if (call->in_place && from > to) return pieces(call, to, from);
    return (long)(mix(call->key + (uint64_t)from * MOST_RANKS + (uint64_t)to) % (most + 1));
}

static const void *data_for(const struct call *call, int from, int to, long bytes) {
    void *data = take((size_t)bytes);
    fill(data, (size_t)bytes, data_of(call->part.member[from], 1 + call->part.member[to]));
    return data;
}

/* The send or the receive arguments of a call: one block for each member. */
struct side {
    int *counts, *first;
    MPI_Datatype *types;
    struct buffer buffer;
};

/* The blocks that this member sends (`gives`) or receives, in the layout of senders or receivers. */
static struct side side(const struct call *call, int gives, int as_sender, int with_data) {
    int size = call->part.size, me = call->part.place;
    struct side side = {take((size_t)size * sizeof(int)),
                        take((size_t)size * sizeof(int)),
                        take((size_t)size * sizeof(MPI_Datatype)),
                        {take(0), 0, 0}};
    long elements = 0;
    struct buffer blocks[MOST_RANKS];
    for (int other = 0; other < size; other++) {
        int from = gives ? me : other, to = gives ? other : me;
        const struct pair *pair = &call->pairs[which(call, from, to)];
        const struct layout *layout = as_sender ? &pair->send : &pair->receive;
        long count =
            pieces(call, from, to) * (as_sender ? pair->send_per_piece : pair->receive_per_piece);
        side.counts[other] = (int)count;
        side.types[other] = layout->type;
        side.first[other] = (int)elements;
        elements += count;
        if (call->kind == OWN_TYPES) {
            /* Displacements are in bytes here, so each block is laid out as a buffer of its own. */
            blocks[other] = blank(layout, count);
            side.first[other] = (int)(side.buffer.bytes + (size_t)blocks[other].origin);
            side.buffer.bytes += (blocks[other].bytes + 15) / 16 * 16;
        }
    }
    const struct layout *only = as_sender ? &call->pairs[0].send : &call->pairs[0].receive;
    if (call->kind != OWN_TYPES) {
        side.buffer = blank(only, elements);
    } else {
        side.buffer.memory = take(side.buffer.bytes);
        memset(side.buffer.memory, 0xa5, side.buffer.bytes);
    }
    for (int other = 0; with_data && other < size; other++) {
        int from = gives ? me : other, to = gives ? other : me;
        const struct pair *pair = &call->pairs[which(call, from, to)];
        const struct layout *layout = as_sender ? &pair->send : &pair->receive;
        long bytes = pieces(call, from, to) * pair->piece_bytes;
        const void *data = data_for(call, from, to, bytes);
        struct buffer block = side.buffer;
        if (call->kind == OWN_TYPES) {
            block.origin = side.first[other];
            put(block, layout, 0, data, bytes);
        } else {
            put(block, layout, side.first[other], data, bytes);
        }
    }
    return side;
}

static void exchange(const struct call *call, enum way way) {
    static const char *const names[] = {"alltoall", "alltoallv", "alltoallw"};
    struct pending *item = new_pending(names[call->kind]);
    item->is_collective = 1;
    struct side out = side(call, 1, 1, 1), in = side(call, 0, 0, 0), expected = side(call, 0, 0, 1);
    if (call->in_place) in = side(call, 1, 0, 1);
    watch(item, in.buffer, expected.buffer);
    watch(item, out.buffer, copy_of(out.buffer));
    const void *from = call->in_place ? MPI_IN_PLACE : address(out.buffer);
    void *to = address(in.buffer);
    MPI_Comm comm = call->part.comm;
    if (call->kind == EQUAL)
        CALL(way, item, Alltoall, alltoall, from, out.counts[0], out.types[0], to, in.counts[0],
             in.types[0], comm);
    else if (call->kind == UNEVEN)
        CALL(way, item, Alltoallv, alltoallv, from, out.counts, out.first, out.types[0], to,
             in.counts, in.first, in.types[0], comm);
    else
        CALL(way, item, Alltoallw, alltoallw, from, out.counts, out.first, out.types, to, in.counts,
             in.first, in.types, comm);
}

void step_each_to_each(void) {
    struct call call;
    enum way way = draw_way();
    for (int i = 0; i < 2; i++) {
        draw_pair(&call.pairs[i]);
        call.most[i] = draw_pieces(&call.pairs[i]) / 2;
    }
    call.key = draw(1u << 30);
    call.kind = (int)draw(3);
    call.in_place = chance(25);
    if (draw_part(&call.part)) {
        say("each to each %d, way %d, %d members, up to %ld pieces of %ld bytes, in place %d",
            call.kind, way, call.part.size, call.most[0], call.pairs[0].piece_bytes, call.in_place);
        exchange(&call, way);
    }
    for (int i = 0; i < 2; i++) free_pair(&call.pairs[i]);
}
