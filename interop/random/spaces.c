/* Communicators, and the rank that each process must have in them. */

#include "random.h"

#include <string.h>

struct space spaces[MOST_SPACES];
int space_count;

/* MPI_COMM_WORLD. */
void first_space(void) {
    struct space *world = &spaces[0];
    world->comm = MPI_COMM_WORLD;
    world->size[0] = world_size;
    for (int rank = 0; rank < world_size; rank++) {
        world->group[rank] = 0;
        world->place[rank] = world->member[0][rank] = rank;
    }
    space_count = 1;
}

/* MPI_Comm_split without MPI: by colour, ordered by key, and by place where keys are equal. */
static void divide(struct space *space, const struct space *from, const int *colour,
                   const int *key) {
    int groups = 0;
    for (int rank = 0; rank < world_size; rank++) space->group[rank] = -1;
    for (int rank = 0; rank < world_size; rank++) {
        if (from->group[rank] < 0 || colour[rank] < 0 || space->group[rank] >= 0) continue;
        int together[MOST_RANKS], size = 0;
        /* A stable insertion sort. */
        for (int place = 0; place < from->size[from->group[rank]]; place++) {
            int other = from->member[from->group[rank]][place], at = size;
            if (colour[other] != colour[rank]) continue;
            for (; at > 0 && key[together[at - 1]] > key[other]; at--)
                together[at] = together[at - 1];
            together[at] = other;
            size++;
        }
        for (int place = 0; place < size; place++) {
            space->group[together[place]] = groups;
            space->place[together[place]] = place;
            space->member[groups][place] = together[place];
        }
        space->size[groups++] = size;
    }
}

static void check_space(const struct space *space, const char *how) {
    if (space->group[world_rank] < 0) {
        if (space->comm != MPI_COMM_NULL)
            complain("%s: a communicator for a rank that is not in it", how);
        return;
    }
    int size, rank, group = space->group[world_rank], all[MOST_RANKS], found[MOST_RANKS];
    MPI_Group these, those;
    MPI_Comm_size(space->comm, &size);
    MPI_Comm_rank(space->comm, &rank);
    MPI_Comm_group(space->comm, &these);
    MPI_Comm_group(MPI_COMM_WORLD, &those);
    for (int place = 0; place < size; place++) all[place] = place;
    MPI_Group_translate_ranks(these, size, all, those, found);
    MPI_Group_free(&these);
    MPI_Group_free(&those);
    if (size != space->size[group] || rank != space->place[world_rank] ||
        memcmp(found, space->member[group], (size_t)size * sizeof *found) != 0)
        complain("%s: rank %d of %d, but it should be %d of %d, or others are elsewhere", how, rank,
                 size, space->place[world_rank], space->size[group]);
    fold((uint64_t)size);
    fold((uint64_t)rank);
    fold_bytes(found, (size_t)size * sizeof *found);
}

/* MPI_Comm_create or MPI_Comm_create_group of the members with colour 0. */
static void of_a_group(struct space *made, const struct space *from, const int *colour,
                       int by_group_alone) {
    if (from->group[world_rank] < 0) return;
    int group = from->group[world_rank], places[MOST_RANKS], count = 0;
    for (int place = 0; place < from->size[group]; place++)
        if (colour[from->member[group][place]] == 0) places[count++] = place;
    MPI_Group all, some;
    MPI_Comm_group(from->comm, &all);
    MPI_Group_incl(all, count, places, &some);
    if (!by_group_alone) MPI_Comm_create(from->comm, some, &made->comm);
    else if (colour[world_rank] == 0) MPI_Comm_create_group(from->comm, some, step, &made->comm);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
}

void step_make_space(void) {
    if (space_count == MOST_SPACES) {
        step_free_space();
        return;
    }
    const struct space *from = &spaces[draw((uint64_t)space_count)];
    struct space made = {.comm = MPI_COMM_NULL};
    int colour[MOST_RANKS], key[MOST_RANKS];
    uint64_t colours = 1 + draw(3);
    for (int rank = 0; rank < world_size; rank++) {
        colour[rank] = chance(15) ? -1 : (int)draw(colours);
        key[rank] = (int)draw(4);
    }
    const char *how = "split";
    int is_in = from->group[world_rank] >= 0;
    switch (draw(5)) {
    case 0:
        how = "create of a group";
        of_a_group(&made, from, colour, chance(50));
        for (int rank = 0; rank < world_size; rank++) {
            colour[rank] = colour[rank] == 0 ? 0 : -1;
            key[rank] = 0;
        }
        break;
    case 1:
        how = "dup";
        for (int rank = 0; rank < world_size; rank++) colour[rank] = key[rank] = 0;
        if (chance(50)) {
            MPI_Request request = MPI_REQUEST_NULL;
            if (is_in) MPI_Comm_idup(from->comm, &made.comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (is_in) {
            MPI_Comm_dup(from->comm, &made.comm);
        }
        break;
    default:
        if (is_in)
            MPI_Comm_split(from->comm, colour[world_rank] < 0 ? MPI_UNDEFINED : colour[world_rank],
                           key[world_rank], &made.comm);
    }
    divide(&made, from, colour, key);
    check_space(&made, how);
    say("%s: %d spaces", how, space_count + 1);
    spaces[space_count++] = made;
}

static void free_space(int number) {
    if (spaces[number].comm != MPI_COMM_NULL) MPI_Comm_free(&spaces[number].comm);
    spaces[number] = spaces[--space_count];
}

void step_free_space(void) {
    /* Pending operations complete after MPI_Comm_free, but persistent ones must not start again. */
    if (any_persistent) drain();
    if (space_count > 1) free_space(1 + (int)draw((uint64_t)space_count - 1));
}

void free_spaces(void) {
    while (space_count > 1) free_space(space_count - 1);
}

int draw_part(struct part *part) {
    const struct space *space = &spaces[draw((uint64_t)space_count)];
    int group = space->group[world_rank];
    if (group < 0) return 0;
    *part = (struct part){space->comm, space->size[group], space->place[world_rank],
                          space->member[group]};
    return 1;
}
