/* Buffers whose gaps hold a guard value, and code that lays data out in them without MPI. */

#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0xa5 };

static void **taken;
static size_t takes, room;

void *take(size_t bytes) {
    if (takes == room) {
        room = room ? 2 * room : 64;
        taken = realloc(taken, room * sizeof *taken);
    }
    void *memory = malloc(bytes ? bytes : 1);
    if (!taken || !memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return taken[takes++] = memory;
}

void release(void) {
    while (takes > 0) free(taken[--takes]);
}

struct buffer blank(const struct layout *layout, long count) {
    ptrdiff_t low = 0, high = 0, last = count > 0 ? (count - 1) * extent_of(layout) : 0;
    for (int i = 0; i < layout->entries && count > 0; i++) {
        const struct entry *entry = &layout->entry[i];
        if (entry->at < low) low = entry->at;
        if (entry->at + entry->bytes + last > high) high = entry->at + entry->bytes + last;
    }
    /* A multiple of 16 keeps the address of element 0 aligned. */
    ptrdiff_t origin = (-low + 15) / 16 * 16;
    struct buffer buffer = {.bytes = (size_t)(origin + high) + 8, .origin = origin};
    buffer.memory = take(buffer.bytes);
    memset(buffer.memory, GUARD, buffer.bytes);
    return buffer;
}

struct buffer copy_of(struct buffer buffer) {
    struct buffer copy = buffer;
    copy.memory = take(buffer.bytes);
    memcpy(copy.memory, buffer.memory, buffer.bytes);
    return copy;
}

void *address(struct buffer buffer) { return buffer.memory + buffer.origin; }

void put(struct buffer buffer, const struct layout *layout, long first, const void *data,
         long bytes) {
    const unsigned char *from = data;
    unsigned char *element = buffer.memory + buffer.origin + first * extent_of(layout);
    while (bytes > 0) {
        for (int i = 0; i < layout->entries && bytes > 0; i++) {
            long length = layout->entry[i].bytes < bytes ? layout->entry[i].bytes : bytes;
            memcpy(element + layout->entry[i].at, from, (size_t)length);
            from += length;
            bytes -= length;
        }
        element += extent_of(layout);
    }
}

unsigned char *data_in(struct buffer buffer, const struct layout *layout, long count) {
    unsigned char *data = take((size_t)(count * layout->bytes)), *to = data;
    for (long element = 0; element < count; element++) {
        const unsigned char *from = buffer.memory + buffer.origin + element * extent_of(layout);
        for (int i = 0; i < layout->entries; i++) {
            memcpy(to, from + layout->entry[i].at, (size_t)layout->entry[i].bytes);
            to += layout->entry[i].bytes;
        }
    }
    return data;
}
