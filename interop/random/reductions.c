/* Reduce, allreduce, reduce_scatter, scan, exscan and reduce_local. */

#include "numbers.h"

#include <string.h>

struct call {
    struct part part;
    struct reduction reduction;
    enum way way;
    long elements;
    int root, in_place;
    uint64_t key;
};

static const void *of_member(const struct call *call, int place, long elements) {
    return contribution(&call->reduction, place, elements, data_of(call->part.member[place], 0));
}

/* The combined contributions of the members 0 to `end` - 1. */
static const void *of_members(const struct call *call, int end, long elements) {
    long bytes = elements * call->reduction.layout.bytes;
    const void *so_far = of_member(call, 0, elements);
    for (int place = 1; place < end; place++) {
        void *next = take((size_t)bytes);
        memcpy(next, of_member(call, place, elements), (size_t)bytes);
        combine(&call->reduction, so_far, next, elements);
        so_far = next;
    }
    return so_far;
}

/* The buffers of a call. */
struct sides {
    struct pending *item;
    struct buffer sent, got;
    const void *from;
    void *to;
};

/* Each member contributes `whole` elements. This member receives `mine` elements of the result,
 * from element `first` on (none if `mine` is -1). Members 0 to `end` - 1 are combined. */
static struct sides sides(const struct call *call, const char *name, long whole, long first,
                          long mine, int end) {
    const struct layout *layout = &call->reduction.layout;
    int in_place = call->in_place && mine >= 0, takes = mine >= 0 && end > 0;
    struct sides sides = {.item = new_pending(name), .sent = blank(layout, whole)};
    put(sides.sent, layout, 0, of_member(call, call->part.place, whole), whole * layout->bytes);
    sides.got = in_place ? copy_of(sides.sent) : blank(layout, mine > 0 ? mine : 0);
    struct buffer expected = copy_of(sides.got);
    if (takes)
        put(expected, layout, 0, (const char *)of_members(call, end, whole) + first * layout->bytes,
            mine * layout->bytes);
    sides.item->is_collective = 1;
    /* Reductions may change the gaps, and in place also the elements behind the result. */
    struct layout *kept = take(sizeof *kept);
    *kept = *layout;
    sides.item->loose = kept;
    sides.item->loose_count = takes ? mine : 0;
    watch(sides.item, sides.got, expected);
    watch(sides.item, sides.sent, copy_of(sides.sent));
    sides.from = in_place ? MPI_IN_PLACE : address(sides.sent);
    sides.to = address(sides.got);
    return sides;
}

static void reduce(const struct call *call, int to_all) {
    int takes = to_all || call->part.place == call->root;
    struct sides s = sides(call, to_all ? "allreduce" : "reduce", call->elements, 0,
                           takes ? call->elements : -1, call->part.size);
    MPI_Datatype type = call->reduction.layout.type;
    MPI_Op op = call->reduction.op;
    int count = (int)call->elements;
    if (to_all)
        CALL(call->way, s.item, Allreduce, allreduce, s.from, s.to, count, type, op,
             call->part.comm);
    else
        CALL(call->way, s.item, Reduce, reduce, s.from, s.to, count, type, op, call->root,
             call->part.comm);
}

static void reduce_scatter(const struct call *call, int uneven) {
    int *counts = take((size_t)call->part.size * sizeof *counts);
    long whole = 0, first = 0, each = call->elements / call->part.size;
    for (int place = 0; place < call->part.size; place++) {
        counts[place] =
            (int)(uneven ? (long)(mix(call->key + (uint64_t)place) % (uint64_t)(each + 1)) : each);
        if (place < call->part.place) first += counts[place];
        whole += counts[place];
    }
    long mine = counts[call->part.place];
    struct sides s = sides(call, uneven ? "reduce_scatter" : "reduce_scatter_block", whole, first,
                           mine, call->part.size);
    MPI_Datatype type = call->reduction.layout.type;
    MPI_Op op = call->reduction.op;
    if (uneven)
        CALL(call->way, s.item, Reduce_scatter, reduce_scatter, s.from, s.to, counts, type, op,
             call->part.comm);
    else
        CALL(call->way, s.item, Reduce_scatter_block, reduce_scatter_block, s.from, s.to, (int)mine,
             type, op, call->part.comm);
}

/* The result of exscan at the first member is undefined. */
static void scan(const struct call *call, int without_own) {
    int end = call->part.place + !without_own, count = (int)call->elements;
    struct sides s =
        sides(call, without_own ? "exscan" : "scan", call->elements, 0, call->elements, end);
    MPI_Datatype type = call->reduction.layout.type;
    MPI_Op op = call->reduction.op;
    if (without_own)
        CALL(call->way, s.item, Exscan, exscan, s.from, s.to, count, type, op, call->part.comm);
    else CALL(call->way, s.item, Scan, scan, s.from, s.to, count, type, op, call->part.comm);
}

/* MPI_Reduce_local. */
static void reduce_locally(const struct call *call) {
    const struct layout *layout = &call->reduction.layout;
    long bytes = call->elements * layout->bytes;
    const void *left = contribution(&call->reduction, 0, call->elements, data_of(world_rank, 1));
    void *right = contribution(&call->reduction, 1, call->elements, data_of(world_rank, 2));
    struct buffer from = blank(layout, call->elements), to = blank(layout, call->elements);
    put(from, layout, 0, left, bytes);
    put(to, layout, 0, right, bytes);
    combine(&call->reduction, left, right, call->elements);
    MPI_Reduce_local(address(from), address(to), (int)call->elements, layout->type,
                     call->reduction.op);
    const void *got = data_in(to, layout, call->elements);
    if (memcmp(got, right, (size_t)bytes) != 0) complain("reduce_local differs");
    fold_bytes(got, (size_t)bytes);
}

void step_reduction(void) {
    struct call call;
    int kind = (int)draw(12);
    /* MPICH 5.0 fails in reduce_scatter if elements have gaps and the operation does not commute. */
    draw_reduction(&call.reduction, is_wide || (kind != 6 && kind != 7));
    call.way = draw_way();
    call.elements = draw_bytes() / call.reduction.layout.bytes;
    call.in_place = chance(30);
    call.key = draw(1u << 30);
    uint64_t root = draw(1u << 30);
    if (draw_part(&call.part)) {
        call.root = (int)(root % (uint64_t)call.part.size);
        say("reduction %d of kind %d, operation %d, way %d, %d members, root %d, %ld elements, in "
            "place %d",
            kind, call.reduction.kind, (int)call.reduction.operation, call.way, call.part.size,
            call.root, call.elements, call.in_place);
        switch (kind) {
        case 0:
        case 1:
        case 2: reduce(&call, 0); break;
        case 3:
        case 4:
        case 5: reduce(&call, 1); break;
        case 6: reduce_scatter(&call, 0); break;
        case 7: reduce_scatter(&call, 1); break;
        case 8:
        case 9: scan(&call, 0); break;
        case 10: scan(&call, 1); break;
        default: reduce_locally(&call);
        }
    }
    free_reduction(&call.reduction);
}
