/* Pending operations: completing them in every way that MPI has, and checking their results. */

#include "random.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PENDING = 512 };

int any_persistent;

static struct pending items[MOST_PENDING];
static int count;

enum way draw_way(void) {
    uint64_t number = draw(5);
    if (number == 4) any_persistent = 1;
    return number < 2 ? BLOCKING : number < 4 ? LATER : PERSISTENT;
}

struct pending *new_pending(const char *name) {
    if (count == MOST_PENDING) {
        fprintf(stderr, "more than %d operations under way\n", MOST_PENDING);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    items[count] = (struct pending){.request = MPI_REQUEST_NULL, .name = name};
    return &items[count++];
}

void watch(struct pending *item, struct buffer got, struct buffer expected) {
    item->got[item->watched] = got;
    item->expected[item->watched++] = expected;
}

void compare_status(const char *name, const MPI_Status *status, int source, int tag,
                    const struct layout *layout, long bytes) {
    int count_of_type, elements, cancelled;
    int expected = bytes % layout->bytes == 0 ? (int)(bytes / layout->bytes) : MPI_UNDEFINED;
    MPI_Get_count(status, layout->type, &count_of_type);
    MPI_Test_cancelled(status, &cancelled);
    if (status->MPI_SOURCE != source || status->MPI_TAG != tag || count_of_type != expected ||
        cancelled)
        complain("%s: from %d with tag %d, %d elements, cancelled %d; it should be from %d with "
                 "tag %d, %d elements",
                 name, status->MPI_SOURCE, status->MPI_TAG, count_of_type, cancelled, source, tag,
                 expected);
    /* MPICH 5.0 divides by zero here for some structs. */
    if (is_mpich || !layout->is_uniform) return;
    MPI_Get_elements(status, layout->type, &elements);
    if (elements != bytes / layout->entry[0].bytes)
        complain("%s: %d basic elements; it should be %ld", name, elements,
                 bytes / layout->entry[0].bytes);
}

void check_status(const char *name, const MPI_Status *status, int source, int tag,
                  const struct layout *layout, long bytes) {
    int count_of_type;
    compare_status(name, status, source, tag, layout, bytes);
    MPI_Get_count(status, layout->type, &count_of_type);
    /* The standard ABI fixes the constants, so they are equal under all libraries. */
    fold((uint64_t)status->MPI_SOURCE);
    fold((uint64_t)status->MPI_TAG);
    fold((uint64_t)count_of_type);
}

static void take_status(const struct pending *item, const MPI_Status *status) {
    if (!item->received) return;
    if (!item->is_doubtful)
        check_status(item->name, status, item->source, item->tag, item->received, item->bytes);
    else if (!is_mpich)
        compare_status(item->name, status, item->source, item->tag, item->received, item->bytes);
}

static void compare_buffer(const struct pending *item, int number) {
    const struct buffer *got = &item->got[number], *expected = &item->expected[number];
    const unsigned char *found = got->memory, *wanted = expected->memory;
    size_t bytes = got->bytes;
    long origin = (long)got->origin;
    if (number == 0 && item->loose) {
        found = data_in(*got, item->loose, item->loose_count);
        wanted = data_in(*expected, item->loose, item->loose_count);
        bytes = (size_t)(item->loose_count * item->loose->bytes);
        origin = 0;
    }
    fold_bytes(found, bytes);
    if (memcmp(found, wanted, bytes) == 0) return;
    size_t first = bytes, differ = 0;
    for (size_t at = 0; at < bytes; at++) {
        if (found[at] == wanted[at]) continue;
        if (first == bytes) first = at;
        differ++;
    }
    complain("%s: %zu of %zu bytes of buffer %d differ, the first at %ld: %02x, not %02x",
             item->name, differ, bytes, number, (long)first - origin, found[first], wanted[first]);
}

static void compare(const struct pending *item) {
    for (int i = 0; i < item->watched; i++) compare_buffer(item, i);
}

void prepare(struct pending *item, enum way way) {
    for (int i = 0; way == PERSISTENT && i < item->watched; i++) {
        item->initial[i] = copy_of(item->got[i]);
        memset(item->got[i].memory, 0x5a, item->got[i].bytes);
    }
}

static void restore(struct pending *item) {
    for (int i = 0; i < item->watched; i++)
        memcpy(item->got[i].memory, item->initial[i].memory, item->got[i].bytes);
}

void begun(struct pending *item, enum way way) {
    if (way == BLOCKING) {
        compare(item);
        count--;
    } else if (way == PERSISTENT) {
        item->again = 1 + (int)(mix(seed + (uint64_t)step) % 2);
        restore(item);
        MPI_Start(&item->request);
    }
}

/* The following functions complete all requests and return each one's status. If `tests` is not 0,
 * they poll instead of waiting; 2 polls with MPI_Request_get_status. */
static void end_one_by_one(MPI_Request *requests, MPI_Status *statuses, int tests) {
    int apart = count % 7 == 0 ? 1 : 7;
    for (int i = 0; i < count; i++) {
        int at = i * apart % count, flag = 0;
        if (!tests) MPI_Wait(&requests[at], &statuses[at]);
        while (tests && !flag) {
            if (tests > 1) MPI_Request_get_status(requests[at], &flag, &statuses[at]);
            if (tests < 2 || flag) MPI_Test(&requests[at], &flag, &statuses[at]);
        }
    }
}

static void end_any(MPI_Request *requests, MPI_Status *statuses, int tests) {
    for (;;) {
        int at = MPI_UNDEFINED, flag = 1;
        MPI_Status status;
        if (tests) MPI_Testany(count, requests, &at, &flag, &status);
        else MPI_Waitany(count, requests, &at, &status);
        if (!flag) continue;
        if (at == MPI_UNDEFINED) return;
        statuses[at] = status;
    }
}

static void end_some(MPI_Request *requests, MPI_Status *statuses, int tests) {
    int indices[MOST_PENDING], ended = 0;
    MPI_Status some[MOST_PENDING];
    while (ended != MPI_UNDEFINED) {
        if (tests) MPI_Testsome(count, requests, &ended, indices, some);
        else MPI_Waitsome(count, requests, &ended, indices, some);
        for (int i = 0; ended != MPI_UNDEFINED && i < ended; i++) statuses[indices[i]] = some[i];
    }
}

static void end_all(MPI_Request *requests, MPI_Status *statuses, int tests) {
    int flag = 0;
    if (!tests) MPI_Waitall(count, requests, statuses);
    while (tests && !flag) MPI_Testall(count, requests, &flag, statuses);
}

/* Completes all items by one method, then checks and folds them in the order of their posting. */
static void end(uint64_t method) {
    MPI_Request requests[MOST_PENDING];
    MPI_Status statuses[MOST_PENDING];
    for (int i = 0; i < count; i++) requests[i] = items[i].request;
    int tests = (int)(method / 4 % 3);
    /* MPICH 5.0 completes persistent collectives only by MPI_Wait and MPI_Test, and loses the status
     * of a persistent request in MPI_Request_get_status. */
    for (int i = 0; is_mpich && i < count; i++)
        if (items[i].again > 0) method = tests = 0;
    switch (method % 4) {
    case 0: end_one_by_one(requests, statuses, tests); break;
    case 1: end_any(requests, statuses, tests); break;
    case 2: end_some(requests, statuses, tests); break;
    default: end_all(requests, statuses, tests);
    }
    for (int i = 0; i < count; i++) {
        struct pending *item = &items[i];
        item->request = requests[i];
        take_status(item, &statuses[i]);
        compare(item);
        if (item->again == 0 && requests[i] != MPI_REQUEST_NULL)
            complain("%s: its request is still there", item->name);
    }
}

/* Starts persistent requests again or frees them. Forgets all other items. */
static void keep_persistent(void) {
    MPI_Request requests[MOST_PENDING];
    int kept = 0, collectives = 0;
    for (int i = 0; i < count; i++) {
        struct pending item = items[i];
        if (item.again > 1) {
            item.again--;
            restore(&item);
            requests[kept] = item.request;
            collectives |= item.is_collective;
            items[kept++] = item;
            continue;
        }
        if (item.again == 1) MPI_Request_free(&item.request);
        if (item.received && !item.received->is_named) MPI_Type_free(&item.received->type);
    }
    count = kept;
    /* Collectives of a communicator must start in the same order on all ranks. MPI_Startall has no
     * defined order. */
    if (collectives)
        for (int i = 0; i < count; i++) MPI_Start(&requests[i]);
    else MPI_Startall(count, requests);
}

void drain(void) {
    uint64_t method = draw(12);
    for (; count > 0; method++) {
        end(method);
        keep_persistent();
    }
    any_persistent = 0;
    release();
}
