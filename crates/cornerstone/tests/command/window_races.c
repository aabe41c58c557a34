// An access of rank 0 to the memory of rank 1, and a second use of that memory or of the access's own, without an order
// or, with a fourth argument, after the first has ended everywhere: ACCESS SYNCHRONISATION SECOND [ordered].
#include <mpi.h>
#include <string.h>

static int rank, memory, origin = 5, result, compared = 4;
static MPI_Win window;
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Group others, owner;
static const char *access_name, *how, *second;

static int is(const char *word, const char *name) { return !strcmp(word, name); }

static void access_memory(void) {
    if (is(access_name, "put")) MPI_Put(&origin, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    if (is(access_name, "get")) MPI_Get(&result, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    if (is(access_name, "accumulate")) MPI_Accumulate(&origin, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
    if (is(access_name, "get_accumulate"))
        MPI_Get_accumulate(&origin, 1, MPI_INT, &result, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
    if (is(access_name, "fetch_and_op")) MPI_Fetch_and_op(&origin, &result, MPI_INT, 1, 0, MPI_SUM, window);
    if (is(access_name, "compare_and_swap"))
        MPI_Compare_and_swap(&origin, &compared, &result, MPI_INT, 1, 0, window);
    if (is(access_name, "rput")) MPI_Rput(&origin, 1, MPI_INT, 1, 0, 1, MPI_INT, window, &request);
}

static void begin(void) {
    if (is(how, "fence")) MPI_Win_fence(0, window);
    if (is(how, "post") && rank == 1) MPI_Win_post(others, 0, window);
    if (is(how, "post") && rank != 1) MPI_Win_start(owner, 0, window);
    if (is(how, "lock")) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    if (is(how, "lock_all") || is(how, "flush")) MPI_Win_lock_all(0, window);
}

static void end(void) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (is(how, "fence")) MPI_Win_fence(0, window);
    if (is(how, "post") && rank == 1) MPI_Win_wait(window);
    if (is(how, "post") && rank != 1) MPI_Win_complete(window);
    if (is(how, "lock")) MPI_Win_unlock(1, window);
    if (is(how, "flush")) MPI_Win_flush(1, window);
    if (is(how, "lock_all") || is(how, "flush")) MPI_Win_unlock_all(window);
}

static void use_again(void) {
    if (is(second, "call") && rank == 2) MPI_Put(&origin, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    if (is(second, "owner") && rank == 1) memory = 9;
    if (is(second, "origin") && rank == 0) *(is(access_name, "get") ? &result : &origin) = 9;
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    access_name = words[1], how = words[2], second = words[3];
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, (int[]){1}, &others);
    MPI_Group_incl(world, 1, (int[]){1}, &owner);
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    begin();
    if (rank == 0) access_memory();
    if (count > 4) {
        end();
        MPI_Barrier(MPI_COMM_WORLD);
        begin();
    }
    use_again();
    end();
    MPI_Win_free(&window);
    MPI_Group_free(&world);
    MPI_Group_free(&others);
    MPI_Group_free(&owner);
    MPI_Finalize();
}
