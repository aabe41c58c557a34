/* Runs random MPI programs: random FIRST LAST [wide] [verbose]
 *
 * Prints a line `seed N ranks P checksum X` for each seed from FIRST to LAST, and a line that begins
 * with `wrong:` for each result that is not what the standard asks for. The exit status is not 0 if
 * there was one. `wide` adds what MPICH 5.0 cannot do. `verbose` prints each step of each rank, with
 * the rank's checksum after it. */

#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_STEPS = 6, MORE_STEPS = 24 };

static void one_step(void) {
    switch (draw(20)) {
    case 0:
    case 1:
    case 2: step_make_space(); break;
    case 3:
    case 4:
    case 5: step_collective(); break;
    case 6:
    case 7: step_each_to_each(); break;
    case 8:
    case 9:
    case 10: step_reduction(); break;
    case 11: step_messages(); break;
    case 12: step_shift(); break;
    case 13: step_wildcards(); break;
    case 14:
        if (chance(50)) step_cancel();
        else step_free_space();
        break;
    case 15: step_pack(); break;
    case 16: step_window(); break;
    case 17: step_neighbours(); break;
    case 18: step_between(); break;
    default:
        /* MPICH 5.0 loses data where members write between each other's data, and tells of more than
         * there is where they read beyond the end of a file. */
        if (is_wide) step_file();
    }
}

/* Runs the program of one seed. Rank 0 returns the checksum of all ranks. */
static uint64_t program(uint64_t number) {
    begin_draws(number);
    first_space();
    int steps = FEWEST_STEPS + (int)draw(MORE_STEPS);
    for (step = 0; step < steps; step++) {
        one_step();
        if (chance(35)) drain();
        say("checksum %016llx", (unsigned long long)checksum());
    }
    drain();
    free_spaces();
    uint64_t mine = mix(checksum() + (uint64_t)world_rank), all[MOST_RANKS], sum = 0;
    MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int rank = 0; world_rank == 0 && rank < world_size; rank++) sum += all[rank];
    return sum;
}

int main(int count, char **words) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Init(&count, &words);
    MPI_Get_library_version(library, &length);
    is_mpich = strstr(library, "MPICH") != NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (count < 3 || world_size > MOST_RANKS) {
        if (world_rank == 0)
            fprintf(stderr, "usage: random FIRST LAST [wide] [verbose], with at most %d ranks\n",
                    MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    uint64_t first = strtoull(words[1], NULL, 10), last = strtoull(words[2], NULL, 10);
    for (int i = 3; i < count; i++) {
        verbose |= strcmp(words[i], "verbose") == 0;
        is_wide |= strcmp(words[i], "wide") == 0;
    }
    for (uint64_t number = first; number <= last; number++) {
        uint64_t sum = program(number);
        if (world_rank == 0) {
            printf("seed %llu ranks %d checksum %016llx\n", (unsigned long long)number, world_size,
                   (unsigned long long)sum);
            fflush(stdout);
        }
    }
    int all_wrong = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_wrong > 0;
}
