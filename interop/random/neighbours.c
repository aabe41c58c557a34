/* Neighbourhood collectives over grids and graphs, with several edges between two members. */

#include "random.h"

#include <string.h>

enum { MOST_EDGES = 12 };

/* The edges into and out of a member, by the places of the others. MPI_PROC_NULL is nobody. */
struct edges {
    int in, out;
    int from[MOST_EDGES], to[MOST_EDGES];
    /* For each edge in: the number of that edge among the edges out of its source. */
    int number[MOST_EDGES];
};

struct call {
    struct part part;
    struct pair pair;
    struct edges edges[MOST_RANKS];
    MPI_Comm comm;
    enum way way;
    /* Whether each member sends one block to all, and whether blocks have lengths of their own. */
    int same, uneven, own_types;
    long most;
    uint64_t key;
};

/* A grid of one or two dimensions. */
static void grid(struct call *call, uint64_t key) {
    int size = call->part.size, dims = 1 + (int)(key % 2), wide = 1;
    for (int divisor = 2; dims == 2 && divisor < size; divisor++)
        if (size % divisor == 0) wide = divisor;
    int lengths[2] = {wide, size / wide}, periods[2] = {key / 2 % 2, key / 4 % 2};
    if (dims == 1) {
        lengths[0] = size;
        lengths[1] = 1;
    }
    MPI_Cart_create(call->part.comm, dims, lengths, periods, 0, &call->comm);
    for (int place = 0; place < size; place++) {
        struct edges *edges = &call->edges[place];
        int at[2] = {place / lengths[1], place % lengths[1]};
        if (dims == 1) at[0] = place;
        for (int dim = 0; dim < dims; dim++) {
            for (int side = 0; side < 2; side++) {
                int there[2] = {at[0], at[1]}, other = MPI_PROC_NULL;
                there[dim] += side ? 1 : -1;
                if (periods[dim]) there[dim] = (there[dim] + lengths[dim]) % lengths[dim];
                if (there[dim] >= 0 && there[dim] < lengths[dim])
                    other = dims == 1 ? there[0] : there[0] * lengths[1] + there[1];
                edges->from[edges->in] = edges->to[edges->out++] = other;
                /* What comes from one side was sent to the opposite one. */
                edges->number[edges->in++] = 2 * dim + 1 - side;
            }
        }
    }
}

/* A graph whose edges may run several times from one member to another, and to itself. */
static void graph(struct call *call, uint64_t key) {
    int size = call->part.size, count = (int)(key % MOST_EDGES);
    for (int i = 0; i < count; i++) {
        int from = (int)(mix(key + 2 * (uint64_t)i) % (uint64_t)size),
            to = (int)(mix(key + 2 * (uint64_t)i + 1) % (uint64_t)size);
        struct edges *source = &call->edges[from], *target = &call->edges[to];
        target->number[target->in] = source->out;
        target->from[target->in++] = from;
        source->to[source->out++] = to;
    }
    const struct edges *mine = &call->edges[call->part.place];
    MPI_Dist_graph_create_adjacent(call->part.comm, mine->in, mine->from, MPI_UNWEIGHTED, mine->out,
                                   mine->to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &call->comm);
}

/* The pieces that go over an edge out of a member. */
static long pieces(const struct call *call, int from, int number) {
    if (!call->uneven) return call->most;
    if (call->same) number = 0;
    return (long)(mix(call->key + (uint64_t)(from * MOST_EDGES + number)) %
                  (uint64_t)(call->most + 1));
}

/* One side of a call: counts, displacements, and the memory with a block for each edge. */
struct side {
    int counts[MOST_EDGES], first[MOST_EDGES];
    MPI_Aint at[MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
    struct buffer buffer;
};

static void add_block(const struct call *call, struct side *side, const struct layout *layout,
                      int edge, long per_piece, long at, int from, int number) {
    long sent = pieces(call, from, number), bytes = sent * call->pair.piece_bytes;
    side->counts[edge] = (int)(sent * per_piece);
    side->first[edge] = (int)at;
    side->at[edge] = at * extent_of(layout);
    side->types[edge] = layout->type;
    if (!side->buffer.memory) return;
    void *data = take((size_t)bytes);
    fill(data, (size_t)bytes, data_of(call->part.member[from], call->same ? 0 : 1 + number));
    put(side->buffer, layout, at, data, bytes);
}

static struct side outgoing(const struct call *call) {
    const struct edges *mine = &call->edges[call->part.place];
    const struct layout *layout = &call->pair.send;
    long per_piece = call->pair.send_per_piece, step_of = call->most * per_piece;
    struct side side = {.buffer = blank(layout, mine->out * step_of)};
    int blocks = call->same && mine->out > 0 ? 1 : mine->out;
    for (int edge = 0; edge < blocks; edge++)
        add_block(call, &side, layout, edge, per_piece, edge * step_of, call->part.place, edge);
    return side;
}

/* `with_data` fills in what should come. */
static struct side incoming(const struct call *call, int with_data) {
    const struct edges *mine = &call->edges[call->part.place];
    const struct layout *layout = &call->pair.receive;
    long per_piece = call->pair.receive_per_piece, step_of = call->most * per_piece;
    struct buffer memory = blank(layout, mine->in * step_of);
    struct side side = {.buffer = {0}};
    for (int edge = 0; edge < mine->in; edge++) {
        int from = mine->from[edge];
        side.buffer = memory;
        if (!with_data || from == MPI_PROC_NULL) side.buffer.memory = NULL;
        add_block(call, &side, layout, edge, per_piece, edge * step_of,
                  from == MPI_PROC_NULL ? 0 : from, mine->number[edge]);
    }
    side.buffer = memory;
    return side;
}

static void exchange(const struct call *call) {
    struct pending *item = new_pending(call->same ? "neighbour allgather" : "neighbour alltoall");
    item->is_collective = 1;
    struct side out = outgoing(call), in = incoming(call, 0), expected = incoming(call, 1);
    watch(item, in.buffer, expected.buffer);
    watch(item, out.buffer, copy_of(out.buffer));
    const void *from = address(out.buffer);
    void *to = address(in.buffer);
    MPI_Datatype send = call->pair.send.type, receive = call->pair.receive.type;
    int whole = (int)(call->most * call->pair.send_per_piece),
        part = (int)(call->most * call->pair.receive_per_piece);
    int mine = call->edges[call->part.place].out || !call->uneven
                   ? (int)(pieces(call, call->part.place, 0) * call->pair.send_per_piece)
                   : 0;
    MPI_Comm comm = call->comm;
    if (call->same && !call->uneven)
        CALL(call->way, item, Neighbor_allgather, neighbor_allgather, from, whole, send, to, part,
             receive, comm);
    else if (call->same)
        CALL(call->way, item, Neighbor_allgatherv, neighbor_allgatherv, from, mine, send, to,
             in.counts, in.first, receive, comm);
    else if (!call->uneven)
        CALL(call->way, item, Neighbor_alltoall, neighbor_alltoall, from, whole, send, to, part,
             receive, comm);
    else if (call->own_types)
        CALL(call->way, item, Neighbor_alltoallw, neighbor_alltoallw, from, out.counts, out.at,
             out.types, to, in.counts, in.at, in.types, comm);
    else
        CALL(call->way, item, Neighbor_alltoallv, neighbor_alltoallv, from, out.counts, out.first,
             send, to, in.counts, in.first, receive, comm);
}

void step_neighbours(void) {
    struct call call = {.way = draw_way()};
    draw_pair(&call.pair);
    uint64_t key = draw(1u << 30);
    int is_grid = chance(50);
    call.same = chance(50);
    call.uneven = chance(60);
    call.own_types = chance(50);
    call.most = draw_pieces(&call.pair) / 4;
    call.key = draw(1u << 30);
    if (draw_part(&call.part)) {
        say("neighbours of a %s, way %d, %d members, same %d, uneven %d, own types %d, %ld pieces "
            "of %ld bytes",
            is_grid ? "grid" : "graph", call.way, call.part.size, call.same, call.uneven,
            call.own_types, call.most, call.pair.piece_bytes);
        if (is_grid) grid(&call, key);
        else graph(&call, key);
        for (int round = 0; round < 1 + (int)(key % 2); round++) exchange(&call);
    }
    /* Persistent requests must not start again when their communicator is free. */
    drain();
    if (call.part.size > 0) MPI_Comm_free(&call.comm);
    free_pair(&call.pair);
}
