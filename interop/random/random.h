/* Random MPI programs: the declarations that the files of this folder share.
 *
 * All ranks derive the same program from a seed, so every rank knows what all others send and
 * receive. Each step computes its results without MPI, compares, and folds what MPI delivered into a
 * checksum. The checksum does not depend on any order that the standard leaves open.
 *
 * `draw` gives the same numbers to all ranks only if all call it equally often. Code that depends on
 * the rank must not call it. */

#ifndef RANDOM_H
#define RANDOM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_RANKS = 16,
    MOST_SPACES = 6,
    /* The most basic elements in one element of a datatype. */
    MOST_ENTRIES = 64,
    /* Ordinary messages have tags from 0 to TAGS - 1. */
    TAGS = 4,
    TAG_READY = 90,
    /* TAG_STEP + step is a tag that no other step uses. */
    TAG_STEP = 100
};

/* draw.c: random numbers, data, the checksum and complaints. */

extern int world_rank, world_size;
extern uint64_t seed;
extern int step, wrong, verbose;
/* Whether this is MPICH. Calls that MPICH 5.0 gets wrong are then left out. */
extern int is_mpich;
/* Whether programs may contain what MPICH 5.0 cannot do. */
extern int is_wide;

uint64_t mix(uint64_t value);
/* Resets the random numbers and the checksum. */
void begin_draws(uint64_t program);
/* A random number below `below`, the same on all ranks. */
uint64_t draw(uint64_t below);
int chance(int percent);
/* A length in bytes: mostly short, sometimes 0, sometimes long. */
long draw_bytes(void);
/* The numbers 0 to n - 1 in random order. */
void draw_order(int *order, int n);
/* A name for the data of a member in this step, the same on all ranks. */
uint64_t data_of(int member, int part);
/* Fills memory with the data of such a name. */
void fill(void *memory, size_t bytes, uint64_t data);
void fold(uint64_t value);
void fold_bytes(const void *memory, size_t bytes);
uint64_t digest(const void *memory, size_t bytes);
uint64_t checksum(void);
/* Prints a line about a wrong result. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* layout.c and buffer.c: datatypes with their typemaps, and memory for elements. */

struct entry {
    ptrdiff_t at;
    int bytes;
};

struct layout {
    MPI_Datatype type;
    int is_named;
    /* Whether all basic elements have one type. */
    int is_uniform;
    struct entry entry[MOST_ENTRIES];
    int entries;
    /* The number of copies of the basic type or struct that it was made from. */
    int units;
    /* The size of one element, without gaps. */
    long bytes;
    ptrdiff_t lower, upper;
};

/* Two datatypes for the same data. A piece is `send_per_piece` elements of one, and
 * `receive_per_piece` of the other. */
struct pair {
    struct layout send, receive;
    long send_per_piece, receive_per_piece;
    long piece_bytes;
};

/* Memory for elements. Element 0 is at `origin`. */
struct buffer {
    unsigned char *memory;
    size_t bytes;
    ptrdiff_t origin;
};

void draw_pair(struct pair *pair);
/* Replaces a layout by one of so many random constructors applied to it, and commits it. */
void derive(struct layout *layout, int depth);
/* A random number of pieces. */
long draw_pieces(const struct pair *pair);
void free_pair(struct pair *pair);
ptrdiff_t extent_of(const struct layout *layout);
/* Memory for `count` elements, filled with a guard value. It lasts until `release`. */
struct buffer blank(const struct layout *layout, long count);
struct buffer copy_of(struct buffer buffer);
void *address(struct buffer buffer);
/* The data of `count` elements, without gaps. */
unsigned char *data_in(struct buffer buffer, const struct layout *layout, long count);
/* Writes data into the elements from `first` on. The last may be written in part. */
void put(struct buffer buffer, const struct layout *layout, long first, const void *data,
         long bytes);
/* Memory that lasts until `release`. */
void *take(size_t bytes);
void release(void);

/* spaces.c: communicators and their members. */

struct space {
    MPI_Comm comm;
    /* For each rank of the world: the number of its group, or -1, and its rank (place) there. */
    int group[MOST_RANKS], place[MOST_RANKS];
    int size[MOST_RANKS], member[MOST_RANKS][MOST_RANKS];
};

/* The communicator that this rank has in a space. */
struct part {
    MPI_Comm comm;
    int size, place;
    const int *member;
};

extern struct space spaces[MOST_SPACES];
extern int space_count;

void first_space(void);
void step_make_space(void);
void step_free_space(void);
void free_spaces(void);
/* Draws a space. Returns whether this rank is in it. */
int draw_part(struct part *part);

/* pending.c: pending operations and their expected results. */

struct pending {
    const char *name;
    MPI_Request request;
    /* Buffers, their expected contents, and their contents when a persistent request starts. */
    struct buffer got[2], expected[2], initial[2];
    int watched;
    /* If it is set, only the data of `loose_count` such elements of the first buffer is compared. */
    const struct layout *loose;
    long loose_count;
    /* For receives: the expected status. The datatype is freed with the item. */
    struct layout *received;
    int source, tag;
    long bytes;
    int is_collective;
    /* MPICH 5.0 returns a wrong status for MPI_Isendrecv and for persistent receives from
     * MPI_PROC_NULL. */
    int is_doubtful;
    /* How often a persistent request has still to complete. */
    int again;
};

/* The form of an operation. */
enum way { BLOCKING, LATER, PERSISTENT };

enum way draw_way(void);
/* A new item. */
struct pending *new_pending(const char *name);
/* Compares a buffer with its expected contents when the item has completed. */
void watch(struct pending *item, struct buffer got, struct buffer expected);
/* Overwrites the buffers of a persistent request until it starts: its making must not read them. */
void prepare(struct pending *item, enum way way);
/* Takes note that the call was made: checks a blocking one, starts a persistent one. */
void begun(struct pending *item, enum way way);
/* Compares a status with the expected one. */
void compare_status(const char *name, const MPI_Status *status, int source, int tag,
                    const struct layout *layout, long bytes);
/* Compares it and folds it. */
void check_status(const char *name, const MPI_Status *status, int source, int tag,
                  const struct layout *layout, long bytes);
/* Completes all pending operations, and releases memory. */
void drain(void);
/* Whether any rank may have a persistent request. */
extern int any_persistent;

/* Calls a collective in one of its three forms: its name, its name behind `I`, and the arguments. */
#define CALL(way, item, Name, name, ...)                                      \
    do {                                                                      \
        prepare(item, way);                                                   \
        if ((way) == BLOCKING) MPI_##Name(__VA_ARGS__);                       \
        else if ((way) == LATER) MPI_I##name(__VA_ARGS__, &(item)->request);  \
        else MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &(item)->request); \
        begun(item, way);                                                     \
    } while (0)

/* The steps. Each draws its own arguments. */
void step_collective(void);
void step_each_to_each(void);
void step_reduction(void);
void step_messages(void);
void step_shift(void);
void step_wildcards(void);
void step_cancel(void);
void step_pack(void);
void step_window(void);
void step_neighbours(void);
void step_between(void);
void step_file(void);

#endif
