/* A rank that ends in the midst of one-sided communication: the others are told, and do not wait for ever. */
#include "check.h"
#include <signal.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "";
    int by_messages = strstr(how, "messages") != NULL;
    MPI_Win win;
    MPI_Info info;
    MPI_Group world;
    long *memory, value = 3;
    MPI_Info_create(&info);
    if (by_messages) MPI_Info_set(info, "cornerstone_window_by_messages", "true");
    if (strstr(how, "shared") != NULL) MPI_Win_allocate_shared(1 << 16, 1, info, MPI_COMM_WORLD, &memory, &win);
    else MPI_Win_allocate(1 << 20, 1, info, MPI_COMM_WORLD, &memory, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rank == 1 && strncmp(how, "lock", 4) == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (rank == 1 && strncmp(how, "post", 4) == 0) MPI_Win_post(world, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        raise(SIGKILL);
    }
    if (strncmp(how, "lock", 4) == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    } else if (strncmp(how, "post", 4) == 0) {
        MPI_Win_post(world, 0, win);
        MPI_Win_start(world, 0, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    } else if (strncmp(how, "fence", 5) == 0) {
        MPI_Win_fence(0, win);
        MPI_Put(&value, sizeof value, MPI_BYTE, 1, 0, sizeof value, MPI_BYTE, win);
        MPI_Win_fence(0, win);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        for (;;) {
            MPI_Get(&value, sizeof value, MPI_BYTE, 1, 0, sizeof value, MPI_BYTE, win);
            MPI_Win_flush(1, win);
            MPI_Test(&(MPI_Request){MPI_REQUEST_NULL}, &(int){0}, MPI_STATUS_IGNORE);
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
        }
    }
    printf("must not be reached\n");
    return 0;
}
