/* Random datatypes, each with its typemap as the standard defines it. */

#include "random.h"

enum { MOST_COPIES = 12 };

struct basic {
    MPI_Datatype type;
    /* Two entries for the types of a value and an index. */
    struct entry entry[2];
    int entries, extent;
};

static struct basic basic(int number) {
    struct {
        double value;
        int index;
    } pair;
    const int index = (int)((char *)&pair.index - (char *)&pair);
    switch (number) {
    case 0: return (struct basic){MPI_CHAR, {{0, 1}}, 1, 1};
    case 1: return (struct basic){MPI_BYTE, {{0, 1}}, 1, 1};
    case 2: return (struct basic){MPI_SHORT, {{0, 2}}, 1, 2};
    case 3: return (struct basic){MPI_INT, {{0, 4}}, 1, 4};
    case 4: return (struct basic){MPI_UNSIGNED_LONG, {{0, 8}}, 1, 8};
    case 5: return (struct basic){MPI_FLOAT, {{0, 4}}, 1, 4};
    case 6: return (struct basic){MPI_DOUBLE, {{0, 8}}, 1, 8};
    case 7: return (struct basic){MPI_C_DOUBLE_COMPLEX, {{0, 16}}, 1, 16};
    default: return (struct basic){MPI_DOUBLE_INT, {{0, 8}, {index, 4}}, 2, sizeof pair};
    }
}
enum { BASICS = 9 };

ptrdiff_t extent_of(const struct layout *layout) { return layout->upper - layout->lower; }

/* Replaces a layout by copies of itself at these displacements in bytes. */
static void spread(struct layout *layout, const ptrdiff_t *places, int copies, MPI_Datatype type) {
    struct layout old = *layout;
    layout->type = type;
    layout->is_named = 0;
    layout->entries = layout->units = 0;
    for (int copy = 0; copy < copies; copy++) {
        for (int i = 0; i < old.entries; i++) {
            layout->entry[layout->entries] = old.entry[i];
            layout->entry[layout->entries++].at += places[copy];
        }
        ptrdiff_t lower = places[copy] + old.lower, upper = places[copy] + old.upper;
        if (copy == 0 || lower < layout->lower) layout->lower = lower;
        if (copy == 0 || upper > layout->upper) layout->upper = upper;
    }
    layout->units = old.units * copies;
    layout->bytes = old.bytes * copies;
    if (!old.is_named) MPI_Type_free(&old.type);
}

static void span(const struct layout *layout, ptrdiff_t *low, ptrdiff_t *high) {
    *low = *high = layout->entry[0].at;
    for (int i = 0; i < layout->entries; i++) {
        const struct entry *entry = &layout->entry[i];
        if (entry->at < *low) *low = entry->at;
        if (entry->at + entry->bytes > *high) *high = entry->at + entry->bytes;
    }
}

/* Gives a layout new bounds, multiples of 8 that enclose all its entries. */
static void resize(struct layout *layout) {
    ptrdiff_t low, high;
    span(layout, &low, &high);
    ptrdiff_t lower = (low - (low % 8 + 8) % 8) - 8 * (ptrdiff_t)draw(3);
    ptrdiff_t upper = (high + 7 + 8 * (ptrdiff_t)draw(3));
    upper -= (upper % 8 + 8) % 8;
    MPI_Datatype type;
    MPI_Type_create_resized(layout->type, lower, upper - lower, &type);
    const ptrdiff_t here = 0;
    spread(layout, &here, 1, type);
    layout->lower = lower;
    layout->upper = upper;
}

static struct layout named(const struct basic *basic) {
    struct layout layout = {.type = basic->type,
                            .is_named = 1,
                            .entries = basic->entries,
                            .units = 1,
                            .upper = basic->extent};
    for (int i = 0; i < basic->entries; i++) {
        layout.entry[i] = basic->entry[i];
        layout.bytes += basic->entry[i].bytes;
    }
    return layout;
}

/* A struct of these basic types in this order, at random displacements. */
static struct layout structure(const struct basic *kinds, int count) {
    int order[4], lengths[4];
    MPI_Aint at[4];
    MPI_Datatype types[4];
    draw_order(order, count);
    ptrdiff_t next = 8 * (ptrdiff_t)draw(2);
    for (int i = 0; i < count; i++) {
        int kind = order[i];
        at[kind] = next;
        lengths[kind] = 1;
        types[kind] = kinds[kind].type;
        next += (kinds[kind].extent + 7) / 8 * 8 + 8 * (ptrdiff_t)draw(2);
    }
    struct layout layout = {.is_named = 0, .units = 1};
    MPI_Type_create_struct(count, lengths, at, types, &layout.type);
    for (int kind = 0; kind < count; kind++) {
        for (int i = 0; i < kinds[kind].entries; i++) {
            layout.entry[layout.entries] = kinds[kind].entry[i];
            layout.entry[layout.entries++].at += at[kind];
            layout.bytes += kinds[kind].entry[i].bytes;
        }
    }
    /* The standard leaves the padding at the end of a struct to the implementation. */
    resize(&layout);
    return layout;
}

static void in_vectors(struct layout *layout, int blocks, int length) {
    ptrdiff_t places[MOST_COPIES * MOST_COPIES], extent = extent_of(layout), apart;
    MPI_Datatype type;
    if (chance(50)) {
        int stride = length + (int)draw(3);
        apart = stride * extent;
        MPI_Type_vector(blocks, length, stride, layout->type, &type);
    } else {
        apart = (length * extent + 7) / 8 * 8 + 8 * (ptrdiff_t)draw(3);
        MPI_Type_create_hvector(blocks, length, apart, layout->type, &type);
    }
    for (int i = 0; i < blocks * length; i++) places[i] = i / length * apart + i % length * extent;
    spread(layout, places, blocks * length, type);
}

/* The indexed types: blocks in random order, with displacements in elements or in bytes. */
static void in_blocks(struct layout *layout, int blocks, int most_length) {
    int order[MOST_COPIES], lengths[MOST_COPIES], displacements[MOST_COPIES];
    ptrdiff_t places[MOST_COPIES * MOST_COPIES], extent = extent_of(layout);
    MPI_Aint at[MOST_COPIES];
    MPI_Datatype type;
    int in_bytes = chance(50), equal = chance(40), copies = 0;
    ptrdiff_t unit = in_bytes ? (extent + 7) / 8 * 8 : extent, next = (ptrdiff_t)draw(5) - 2;
    draw_order(order, blocks);
    for (int i = 0; i < blocks; i++) {
        int block = order[i];
        lengths[block] = equal ? most_length : (int)draw((uint64_t)most_length + 1);
        displacements[block] = (int)next;
        at[block] = next * unit;
        next += lengths[block] + (ptrdiff_t)draw(3);
    }
    /* At least one block is not empty, so the datatype is not. */
    lengths[order[blocks - 1]] = most_length;
    for (int block = 0; block < blocks; block++)
        for (int i = 0; i < lengths[block]; i++) places[copies++] = at[block] + i * extent;
    if (equal && in_bytes)
        MPI_Type_create_hindexed_block(blocks, most_length, at, layout->type, &type);
    else if (equal)
        MPI_Type_create_indexed_block(blocks, most_length, displacements, layout->type, &type);
    else if (in_bytes) MPI_Type_create_hindexed(blocks, lengths, at, layout->type, &type);
    else MPI_Type_indexed(blocks, lengths, displacements, layout->type, &type);
    spread(layout, places, copies, type);
}

static void in_rectangle(struct layout *layout, int rows, int columns) {
    ptrdiff_t places[MOST_COPIES * MOST_COPIES], extent = extent_of(layout);
    int starts[2] = {(int)draw(3), (int)draw(3)}, counts[2] = {rows, columns};
    int sizes[2] = {rows + starts[0] + (int)draw(2), columns + starts[1] + (int)draw(2)};
    int by_columns = chance(50);
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, counts, starts, by_columns ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                             layout->type, &type);
    /* In Fortran's order the first index runs fastest. */
    int fast = by_columns ? 0 : 1, slow = 1 - fast;
    for (int i = 0; i < rows * columns; i++) {
        int along = i % counts[fast] + starts[fast], across = i / counts[fast] + starts[slow];
        places[i] = (across * sizes[fast] + along) * extent;
    }
    spread(layout, places, rows * columns, type);
    layout->lower = 0;
    layout->upper = sizes[0] * sizes[1] * extent;
}

/* Replaces a layout by a random constructor applied to it. */
static void nest(struct layout *layout) {
    int room = MOST_ENTRIES / layout->entries;
    int outer = 1 + (int)draw(room < 4 ? (uint64_t)room : 4);
    int inner = 1 + (int)draw((uint64_t)(room / outer < 3 ? room / outer : 3));
    ptrdiff_t places[MOST_COPIES] = {0};
    MPI_Datatype type;
    switch (draw(6)) {
    case 0:
        MPI_Type_contiguous(outer, layout->type, &type);
        for (int i = 0; i < outer; i++) places[i] = i * extent_of(layout);
        spread(layout, places, outer, type);
        break;
    case 1: in_vectors(layout, outer, inner); break;
    case 2: in_blocks(layout, outer, inner); break;
    case 3: resize(layout); break;
    case 4:
        /* The lower bound of a subarray is 0. */
        if (layout->lower == 0) in_rectangle(layout, outer, inner);
        break;
    default: MPI_Type_dup(layout->type, &type); spread(layout, places, 1, type);
    }
}

void derive(struct layout *layout, int depth) {
    while (depth-- > 0) nest(layout);
    if (!layout->is_named) MPI_Type_commit(&layout->type);
}

static struct layout draw_layout(const struct basic *kinds, int count, int depth) {
    struct layout layout = count == 1 ? named(kinds) : structure(kinds, count);
    derive(&layout, depth);
    layout.is_uniform = count == 1 && kinds->entries == 1;
    return layout;
}

void draw_pair(struct pair *pair) {
    struct basic kinds[4];
    int count = chance(60) ? 1 : 2 + (int)draw(3);
    for (int i = 0; i < count; i++) kinds[i] = basic((int)draw(BASICS));
    int is_plain = chance(35);
    pair->send = draw_layout(kinds, count, is_plain ? 0 : (int)draw(3));
    pair->receive = draw_layout(kinds, count, is_plain ? 0 : (int)draw(3));
    int common = pair->send.units;
    for (int rest = pair->receive.units; rest != 0;) {
        int next = common % rest;
        common = rest;
        rest = next;
    }
    pair->send_per_piece = pair->receive.units / common;
    pair->receive_per_piece = pair->send.units / common;
    pair->piece_bytes = pair->send.bytes * pair->send_per_piece;
    for (int i = 0; i < 2; i++) {
        const struct layout *layout = i == 0 ? &pair->send : &pair->receive;
        MPI_Count size, lower, extent, true_lower, true_extent;
        ptrdiff_t low, high;
        span(layout, &low, &high);
        MPI_Type_size_c(layout->type, &size);
        MPI_Type_get_extent_c(layout->type, &lower, &extent);
        MPI_Type_get_true_extent_c(layout->type, &true_lower, &true_extent);
        if (size != layout->bytes || lower != layout->lower || extent != extent_of(layout) ||
            true_lower != low || true_extent != high - low)
            complain("a datatype of %ld bytes from %ld to %ld, in all %ld to %ld, has %ld, %ld, "
                     "%ld, %ld, %ld",
                     layout->bytes, (long)low, (long)high, (long)layout->lower, (long)layout->upper,
                     (long)size, (long)true_lower, (long)(true_lower + true_extent), (long)lower,
                     (long)(lower + extent));
        fold((uint64_t)size);
        fold((uint64_t)lower);
        fold((uint64_t)extent);
    }
}

long draw_pieces(const struct pair *pair) {
    long bytes = draw_bytes();
    /* MPICH 5.0 fails where a segment of a long message ends within a basic element. */
    return (pair->send.is_uniform || is_wide ? bytes : bytes % 1500) / pair->piece_bytes;
}

void free_pair(struct pair *pair) {
    if (!pair->send.is_named) MPI_Type_free(&pair->send.type);
    if (!pair->receive.is_named) MPI_Type_free(&pair->receive.type);
}
