/* Elements and operations of reductions, predefined and user-defined, with an oracle for each. */

#include "numbers.h"

#include <string.h>

/* Elements of more than one number, without padding. A value with its place is for MPI_MINLOC. */
struct affine {
    uint64_t factor, offset;
};
struct matrix {
    uint32_t at[4];
};
struct entry_of_map {
    uint64_t key, value;
};
#define PLACED(Name, T) \
    struct Name {       \
        T value;        \
        int place;      \
    } __attribute__((packed))
PLACED(placed_int, int);
PLACED(placed_long, long);
PLACED(placed_short, short);
PLACED(placed_float, float);
PLACED(placed_double, double);

enum { INTEGERS = 8, FLOATS = 2, PAIRS = 5, OWN = 3 };

/* A number such that every result is exact in every type, whatever the order. */
static int64_t small_number(enum operation operation, int place, uint64_t raw, int is_unsigned) {
    switch (operation) {
    case SUM: return (int64_t)(raw % 16) - (is_unsigned ? 0 : 8);
    /* At most four ranks contribute a 2, so the product fits 8 bits. */
    case PRODUCT: return raw % 3 == 0 && place < 4 ? 2 : raw % 3 == 1 && !is_unsigned ? -1 : 1;
    case AND:
    case OR:
    case XOR: return raw % 2 ? (int64_t)(raw >> 8 & 127) : 0;
    default: return (int64_t)(raw >> 8);
    }
}

#define EACH(T, expression)                   \
    do {                                      \
        const T *lefts = left;                \
        T *rights = right;                    \
        for (long i = 0; i < elements; i++) { \
            T a = lefts[i], b = rights[i];    \
            rights[i] = (expression);         \
        }                                     \
        return;                               \
    } while (0)

#define INTEGER(Name, T)                                                                         \
    static void combine_##Name(enum operation operation, const void *left, void *right,          \
                               long elements) {                                                  \
        switch (operation) {                                                                     \
        case SUM: EACH(T, (T)(a + b));                                                           \
        case PRODUCT: EACH(T, (T)(a * b));                                                       \
        case LARGEST: EACH(T, a > b ? a : b);                                                    \
        case SMALLEST: EACH(T, a < b ? a : b);                                                   \
        case AND: EACH(T, a && b);                                                               \
        case OR: EACH(T, a || b);                                                                \
        case XOR: EACH(T, !a != !b);                                                             \
        case BITS_AND: EACH(T, (T)(a & b));                                                      \
        case BITS_OR: EACH(T, (T)(a | b));                                                       \
        case BITS_XOR: EACH(T, (T)(a ^ b));                                                      \
        default: complain("no operation %d for " #T, (int)operation);                            \
        }                                                                                        \
    }                                                                                            \
    static void make_##Name(enum operation operation, int place, uint64_t data, void *made,      \
                            long elements) {                                                     \
        T *values = made;                                                                        \
        for (long i = 0; i < elements; i++)                                                      \
            values[i] = (T)small_number(operation, place, mix(data + (uint64_t)i), (T) - 1 > 0); \
    }

#define FLOATING(Name, T)                                                                       \
    static void combine_##Name(enum operation operation, const void *left, void *right,         \
                               long elements) {                                                 \
        switch (operation) {                                                                    \
        case SUM: EACH(T, a + b);                                                               \
        case PRODUCT: EACH(T, a * b);                                                           \
        case LARGEST: EACH(T, a > b ? a : b);                                                   \
        case SMALLEST: EACH(T, a < b ? a : b);                                                  \
        default: complain("no operation %d for " #T, (int)operation);                           \
        }                                                                                       \
    }                                                                                           \
    static void make_##Name(enum operation operation, int place, uint64_t data, void *made,     \
                            long elements) {                                                    \
        T *values = made;                                                                       \
        for (long i = 0; i < elements; i++)                                                     \
            values[i] = (T)(small_number(operation, place, mix(data + (uint64_t)i), 0) % 4096); \
    }

/* The larger or smaller value with its place. Of equal values the smaller place wins. */
#define PAIR(Name, T)                                                                       \
    static void combine_##Name(enum operation operation, const void *left, void *right,     \
                               long elements) {                                             \
        int largest = operation == LARGEST_PLACE;                                           \
        EACH(struct Name, a.value == b.value               ? (a.place < b.place ? a : b)    \
                          : (a.value > b.value) == largest ? a                              \
                                                           : b);                            \
    }                                                                                       \
    static void make_##Name(enum operation operation, int place, uint64_t data, void *made, \
                            long elements) {                                                \
        struct Name *values = made;                                                         \
        (void)operation;                                                                    \
        for (long i = 0; i < elements; i++)                                                 \
            values[i] = (struct Name){(T)(mix(data + (uint64_t)i) % 5), place};             \
    }

INTEGER(int8, int8_t)
INTEGER(int16, int16_t)
INTEGER(int32, int32_t)
INTEGER(int64, int64_t)
INTEGER(uint8, uint8_t)
INTEGER(uint16, uint16_t)
INTEGER(uint32, uint32_t)
INTEGER(uint64, uint64_t)
FLOATING(float, float)
FLOATING(double, double)
PAIR(placed_int, int)
PAIR(placed_long, long)
PAIR(placed_short, short)
PAIR(placed_float, float)
PAIR(placed_double, double)

static struct affine composed(struct affine a, struct affine b) {
    return (struct affine){a.factor * b.factor, a.offset * b.factor + b.offset};
}

static struct matrix multiplied(struct matrix a, struct matrix b) {
    const uint32_t *x = a.at, *y = b.at;
    return (struct matrix){{x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3],
                            x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]}};
}

static struct entry_of_map latest(struct entry_of_map a, struct entry_of_map b) {
    return a.key != b.key ? (a.key > b.key ? a : b) : (a.value > b.value ? a : b);
}

/* A user-defined operation. The extent of the datatype says how far apart elements are. */
#define FUNCTION(Name, T, function)                                                         \
    static void Name(void *left, void *right, int *elements, MPI_Datatype *type) {          \
        MPI_Aint lower, extent;                                                             \
        MPI_Type_get_extent(*type, &lower, &extent);                                        \
        for (int i = 0; i < *elements; i++) {                                               \
            T a, b;                                                                         \
            memcpy(&a, (char *)left + i * extent, sizeof a);                                \
            memcpy(&b, (char *)right + i * extent, sizeof b);                               \
            b = function(a, b);                                                             \
            memcpy((char *)right + i * extent, &b, sizeof b);                               \
        }                                                                                   \
    }                                                                                       \
    static void combine_##Name(enum operation operation, const void *left, void *right,     \
                               long elements) {                                             \
        (void)operation;                                                                    \
        EACH(T, function(a, b));                                                            \
    }                                                                                       \
    static void make_##Name(enum operation operation, int place, uint64_t data, void *made, \
                            long elements) {                                                \
        (void)operation;                                                                    \
        (void)place;                                                                        \
        fill(made, (size_t)elements * sizeof(T), data);                                     \
    }

FUNCTION(compose, struct affine, composed)
FUNCTION(multiply, struct matrix, multiplied)
FUNCTION(take_latest, struct entry_of_map, latest)

struct kind {
    MPI_Datatype type;
    /* The size of the value, and the displacement of its place, or 0 if there is none. */
    int bytes, place_at, extent;
    void (*combine)(enum operation, const void *, void *, long);
    void (*make)(enum operation, int, uint64_t, void *, long);
};

static struct kind kind_of(int number) {
    const struct kind kinds[] = {
        {MPI_INT8_T, 1, 0, 1, combine_int8, make_int8},
        {MPI_INT16_T, 2, 0, 2, combine_int16, make_int16},
        {MPI_INT, 4, 0, 4, combine_int32, make_int32},
        {MPI_LONG, 8, 0, 8, combine_int64, make_int64},
        {MPI_UINT8_T, 1, 0, 1, combine_uint8, make_uint8},
        {MPI_UNSIGNED_SHORT, 2, 0, 2, combine_uint16, make_uint16},
        {MPI_UINT32_T, 4, 0, 4, combine_uint32, make_uint32},
        {MPI_UINT64_T, 8, 0, 8, combine_uint64, make_uint64},
        {MPI_FLOAT, 4, 0, 4, combine_float, make_float},
        {MPI_DOUBLE, 8, 0, 8, combine_double, make_double},
        {MPI_2INT, 4, 4, 8, combine_placed_int, make_placed_int},
        {MPI_LONG_INT, 8, 8, 16, combine_placed_long, make_placed_long},
        {MPI_SHORT_INT, 2, 4, 8, combine_placed_short, make_placed_short},
        {MPI_FLOAT_INT, 4, 4, 8, combine_placed_float, make_placed_float},
        {MPI_DOUBLE_INT, 8, 8, 16, combine_placed_double, make_placed_double},
        {MPI_UINT64_T, 8, 0, 8, combine_compose, make_compose},
        {MPI_UINT32_T, 4, 0, 4, combine_multiply, make_multiply},
        {MPI_UINT64_T, 8, 0, 8, combine_take_latest, make_take_latest},
    };
    return kinds[number];
}

static MPI_Op op_of(enum operation operation) {
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    MPI_User_function *const functions[] = {compose, multiply, take_latest};
    if (operation < COMPOSE) return ops[operation];
    MPI_Op op;
    MPI_Op_create(functions[operation - COMPOSE], operation == LATEST, &op);
    return op;
}

/* The datatype of an element of several numbers. It may have a gap at its end. */
static void of_numbers(struct layout *layout, const struct kind *kind, int numbers, int may_gap) {
    MPI_Datatype together, with_gap;
    ptrdiff_t bytes = numbers * kind->bytes, gap = may_gap ? 8 * (ptrdiff_t)draw(3) : 0;
    MPI_Type_contiguous(numbers, kind->type, &together);
    MPI_Type_create_resized(together, 0, bytes + gap, &with_gap);
    MPI_Type_commit(&with_gap);
    MPI_Type_free(&together);
    *layout = (struct layout){.type = with_gap,
                              .entry = {{0, (int)bytes}},
                              .entries = 1,
                              .bytes = bytes,
                              .upper = bytes + gap};
}

void draw_reduction(struct reduction *reduction, int may_gap) {
    int family = (int)draw(10);
    uint64_t number = draw(1u << 20);
    int kind = family < 4   ? (int)(number % INTEGERS)
               : family < 6 ? INTEGERS + (int)(number % FLOATS)
               : family < 7 ? INTEGERS + FLOATS + (int)(number % PAIRS)
                            : INTEGERS + FLOATS + PAIRS + (int)(number % OWN);
    reduction->kind = kind;
    number = draw(1u << 20);
    reduction->operation =
        (enum operation)(family < 4   ? number % LARGEST_PLACE
                         : family < 6 ? number % AND
                         : family < 7 ? LARGEST_PLACE + number % 2
                                      : COMPOSE + (unsigned)(kind - INTEGERS - FLOATS - PAIRS));
    struct kind found = kind_of(kind);
    struct layout *layout = &reduction->layout;
    if (family >= 7) {
        of_numbers(layout, &found, reduction->operation == MULTIPLY ? 4 : 2, may_gap);
    } else {
        *layout = (struct layout){.type = found.type,
                                  .is_named = 1,
                                  .entry = {{0, found.bytes}, {found.place_at, 4}},
                                  .entries = found.place_at > 0 ? 2 : 1,
                                  .bytes = found.bytes + (found.place_at > 0 ? 4 : 0),
                                  .upper = found.extent};
    }
    reduction->op = op_of(reduction->operation);
    int commutes;
    MPI_Op_commutative(reduction->op, &commutes);
    if (commutes != (reduction->operation != COMPOSE && reduction->operation != MULTIPLY))
        complain("an operation commutes: %d", commutes);
}

void free_reduction(struct reduction *reduction) {
    if (reduction->operation >= COMPOSE) MPI_Op_free(&reduction->op);
    if (!reduction->layout.is_named) MPI_Type_free(&reduction->layout.type);
}

void *contribution(const struct reduction *reduction, int place, long elements, uint64_t data) {
    void *made = take((size_t)(elements * reduction->layout.bytes));
    kind_of(reduction->kind).make(reduction->operation, place, data, made, elements);
    return made;
}

void combine(const struct reduction *reduction, const void *left, void *right, long elements) {
    kind_of(reduction->kind).combine(reduction->operation, left, right, elements);
}
