/* Elements and operations of reductions, and what they give without MPI. */

#ifndef NUMBERS_H
#define NUMBERS_H

#include "random.h"

enum operation {
    SUM,
    PRODUCT,
    LARGEST,
    SMALLEST,
    AND,
    OR,
    XOR,
    BITS_AND,
    BITS_OR,
    BITS_XOR,
    LARGEST_PLACE,
    SMALLEST_PLACE,
    /* User-defined. The first two do not commute. */
    COMPOSE,
    MULTIPLY,
    LATEST,
    OPERATIONS
};

struct reduction {
    int kind;
    enum operation operation;
    struct layout layout;
    MPI_Op op;
};

/* Draws a kind and an operation that is defined for it. `may_gap` allows gaps between elements. */
void draw_reduction(struct reduction *reduction, int may_gap);
void free_reduction(struct reduction *reduction);
/* The contribution of the member at `place`: data of so many elements, without gaps. */
void *contribution(const struct reduction *reduction, int place, long elements, uint64_t data);
/* right = left op right. */
void combine(const struct reduction *reduction, const void *left, void *right, long elements);

#endif
