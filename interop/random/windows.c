/* One-sided communication: windows of every kind, in epochs of every kind. */

#include "remote.h"

#include <string.h>

enum flavour { CREATED, ALLOCATED, DYNAMIC, FLAVOURS };
enum epoch { FENCED, POSTED, LOCKED, ALL_LOCKED, EPOCH_KINDS };

struct window {
    struct part part;
    struct remote all[MOST_REMOTE];
    int count, epochs;
    enum flavour flavour;
    enum epoch kind[4];
    MPI_Win win;
    /* The memory of this member. */
    unsigned char *memory;
    MPI_Aint bytes;
    /* For each member: what a displacement of 0 bytes is, and the unit of displacements. */
    MPI_Aint base[MOST_RANKS];
    int unit[MOST_RANKS];
};

/* Gives each region its place in the window of its target. */
static void arrange(struct window *window, uint64_t key) {
    MPI_Aint next[MOST_RANKS] = {0};
    for (int i = 0; i < window->count; i++) {
        struct remote *remote = &window->all[i];
        if (remote->of != i) continue;
        remote->at = next[remote->target] + remote->region.origin;
        next[remote->target] += (MPI_Aint)(remote->region.bytes + 15) / 16 * 16;
    }
    for (int place = 0; place < window->part.size; place++)
        window->unit[place] =
            window->flavour == DYNAMIC ? 1 : 1 << mix(key + (uint64_t)place) % 5;
    window->bytes = next[window->part.place];
}

static void make(struct window *window) {
    MPI_Comm comm = window->part.comm;
    int unit = window->unit[window->part.place];
    MPI_Aint base = 0;
    window->memory = take((size_t)window->bytes);
    if (window->flavour == CREATED) {
        MPI_Win_create(window->memory, window->bytes, unit, MPI_INFO_NULL, comm, &window->win);
    } else if (window->flavour == ALLOCATED) {
        MPI_Win_allocate(window->bytes, unit, MPI_INFO_NULL, comm, &window->memory, &window->win);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window->win);
        if (window->bytes > 0) MPI_Win_attach(window->win, window->memory, window->bytes);
        MPI_Get_address(window->memory, &base);
    }
    MPI_Allgather(&base, 1, MPI_AINT, window->base, 1, MPI_AINT, comm);
}

/* Writes what the regions hold at first. */
static void set(struct window *window) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window->part.place, 0, window->win);
    for (int i = 0; i < window->count; i++) {
        const struct remote *remote = &window->all[i];
        if (remote->of == i && remote->target == window->part.place)
            memcpy(window->memory + remote->at - remote->region.origin, remote->region.memory,
                   remote->region.bytes);
    }
    MPI_Win_unlock(window->part.place, window->win);
    MPI_Barrier(window->part.comm);
}

static void call(struct window *window, int epoch, int target, int may_request) {
    for (int i = 0; i < window->count; i++) {
        struct remote *remote = &window->all[i];
        if (remote->epoch != epoch || !calls(remote, &window->part)) continue;
        if (target >= 0 && remote->target != target) continue;
        MPI_Aint at = window->all[remote->of].at;
        at = window->base[remote->target] + at / window->unit[remote->target];
        call_remote(window->all, i, at, window->win, may_request);
    }
    for (int i = 0; i < window->count; i++)
        MPI_Wait(&window->all[i].request, MPI_STATUS_IGNORE);
}

static void in_locks(struct window *window, int epoch, uint64_t key) {
    for (int target = 0; target < window->part.size; target++) {
        int exclusive = mix(key + (uint64_t)target) % 2 == 0;
        MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window->win);
        call(window, epoch, target, 1);
        if (mix(key * 3 + (uint64_t)target) % 3 == 0) MPI_Win_flush(target, window->win);
        MPI_Win_unlock(target, window->win);
    }
}

/* Carries out the operations of an epoch. */
static void carry_out(struct window *window, int epoch, uint64_t key) {
    MPI_Group group;
    MPI_Win win = window->win;
    switch (window->kind[epoch]) {
    case FENCED:
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        call(window, epoch, -1, 0);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        break;
    case POSTED:
        MPI_Win_get_group(win, &group);
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        call(window, epoch, -1, 0);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        MPI_Group_free(&group);
        break;
    case LOCKED: in_locks(window, epoch, key); break;
    default:
        MPI_Win_lock_all(0, win);
        call(window, epoch, -1, 1);
        if (key % 3 == 0) MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(window->part.comm);
}

static void check(struct window *window, int epoch) {
    int me = window->part.place;
    for (int i = 0; i < window->count; i++)
        if (window->all[i].epoch == epoch && calls(&window->all[i], &window->part))
            check_origin(&window->all[i]);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window->win);
    for (int i = 0; i < window->count; i++) {
        const struct remote *remote = &window->all[i];
        if (remote->of != i || remote->target != me) continue;
        const unsigned char *got = window->memory + remote->at - remote->region.origin;
        fold_bytes(got, remote->region.bytes);
        if (memcmp(got, remote->region.memory, remote->region.bytes) != 0)
            complain("one-sided operation %d of %ld bytes from %d in epoch %d of kind %d, accumulate "
                     "%d of kind %d: its target has other data after epoch %d",
                     (int)remote->kind, remote->bytes, remote->origin, remote->epoch,
                     (int)window->kind[remote->epoch], (int)remote->reduction.operation,
                     remote->reduction.kind, epoch);
    }
    MPI_Win_unlock(me, window->win);
    MPI_Barrier(window->part.comm);
}

static void run(struct window *window, uint64_t key) {
    arrange(window, key);
    make(window);
    set(window);
    for (int epoch = 0; epoch < window->epochs; epoch++) {
        for (int i = 0; i < window->count; i++)
            if (window->all[i].epoch == epoch) foresee(window->all, i, &window->part);
        carry_out(window, epoch, mix(key + (uint64_t)epoch));
        check(window, epoch);
    }
    if (window->flavour == DYNAMIC && window->bytes > 0)
        MPI_Win_detach(window->win, window->memory);
    MPI_Win_free(&window->win);
}

void step_window(void) {
    struct window window = {.epochs = 1 + (int)draw(4), .count = 1 + (int)draw(MOST_REMOTE)};
    window.flavour = (enum flavour)draw(FLAVOURS);
    uint64_t key = draw(1u << 30);
    int is_in = draw_part(&window.part);
    for (int i = 0; i < 4; i++) window.kind[i] = (enum epoch)draw(EPOCH_KINDS);
    for (int i = 0; i < window.count; i++)
        draw_remote(window.all, i, i * window.epochs / window.count, is_in ? &window.part : NULL);
    if (is_in) {
        say("window of flavour %d among %d, %d operations in %d epochs", (int)window.flavour,
            window.part.size, window.count, window.epochs);
        run(&window, key);
    }
    for (int i = 0; i < window.count; i++) free_remote(&window.all[i]);
}
