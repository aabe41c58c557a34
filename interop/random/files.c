/* Files: reading and writing through views, in every form, beside a file in memory. */

#include "random.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SLOTS = 12, MOST_FILE = 1 << 22 };

enum form { AT, AT_ALL, OWN, ALL, LATER_AT, LATER_AT_ALL, LATER_ALL, SPLIT, ORDERED, FORMS };

/* What a member sees of the file, in basic elements: of each `extent` those at `at`. */
struct view {
    long first, extent;
    int per, at[MOST_SLOTS];
};

struct file {
    struct part part;
    MPI_File handle;
    MPI_Datatype basic;
    long basic_bytes;
    /* What the file should hold, and how long it should be. */
    unsigned char *model;
    long bytes;
};

/* One call of all members. */
struct access {
    enum form form;
    int writes;
    struct layout layout;
    long most, first;
    uint64_t key;
};

static struct layout basic_layout(MPI_Datatype type, int bytes) {
    return (struct layout){.type = type,
                           .is_named = 1,
                           .entry = {{0, bytes}},
                           .entries = 1,
                           .units = 1,
                           .bytes = bytes,
                           .upper = bytes};
}

/* The view of a member: of a period of slots those that are its own. */
static struct view view_of(const struct file *file, const struct access *access, int place) {
    int slots = 1 + (int)(access->key % MOST_SLOTS);
    struct view view = {.first = access->first, .extent = slots};
    uint64_t owners = (uint64_t)file->part.size + 1;
    for (int slot = 0; slot < slots; slot++)
        if ((int)(mix(access->key + (uint64_t)slot) % owners) == place) view.at[view.per++] = slot;
    /* One pointer for all needs one view for all. */
    if (access->form == ORDERED)
        view = (struct view){.first = access->first, .extent = 2, .per = 1, .at = {0}};
    return view;
}

static long elements_of(const struct access *access, const struct view *view, int place) {
    if (view->per == 0) return 0;
    return (long)(mix(access->key * 3 + (uint64_t)place) % (uint64_t)(access->most + 1));
}

/* How many basic elements of its view a member leaves out. */
static long skipped(const struct access *access, int place) {
    return access->form == ORDERED ? 0 : (long)(mix(access->key * 7 + (uint64_t)place) % 9);
}

/* Where a basic element of a view lies in the file, in bytes. */
static long position(const struct file *file, const struct view *view, long element) {
    long round = element / view->per;
    return (view->first + round * view->extent + view->at[element % view->per]) * file->basic_bytes;
}

static void set_view(const struct file *file, const struct view *view) {
    if (view->per == 0) {
        MPI_File_set_view(file->handle, 0, file->basic, file->basic, "native", MPI_INFO_NULL);
        return;
    }
    MPI_Datatype some, periodic;
    MPI_Type_create_indexed_block(view->per, 1, view->at, file->basic, &some);
    MPI_Type_create_resized(some, 0, view->extent * file->basic_bytes, &periodic);
    MPI_Type_commit(&periodic);
    MPI_File_set_view(file->handle, view->first * file->basic_bytes, file->basic, periodic,
                      "native", MPI_INFO_NULL);
    MPI_Type_free(&some);
    MPI_Type_free(&periodic);
}

/* Calls a function that reads or one that writes, with the same arguments. */
#define EITHER(Read, Write, ...)                       \
    do {                                               \
        if (writes) MPI_File_##Write(__VA_ARGS__);     \
        else MPI_File_##Read(__VA_ARGS__);             \
    } while (0)

static void call(MPI_File handle, enum form form, int writes, MPI_Offset at, void *memory, int count,
                 MPI_Datatype type, MPI_Status *status) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == OWN || form == ALL || form == LATER_ALL || form == SPLIT)
        MPI_File_seek(handle, at, MPI_SEEK_SET);
    switch (form) {
    case AT: EITHER(read_at, write_at, handle, at, memory, count, type, status); break;
    case AT_ALL: EITHER(read_at_all, write_at_all, handle, at, memory, count, type, status); break;
    case OWN: EITHER(read, write, handle, memory, count, type, status); break;
    case ALL: EITHER(read_all, write_all, handle, memory, count, type, status); break;
    case LATER_AT: EITHER(iread_at, iwrite_at, handle, at, memory, count, type, &request); break;
    case LATER_AT_ALL:
        EITHER(iread_at_all, iwrite_at_all, handle, at, memory, count, type, &request);
        break;
    case LATER_ALL: EITHER(iread_all, iwrite_all, handle, memory, count, type, &request); break;
    case SPLIT:
        EITHER(read_all_begin, write_all_begin, handle, memory, count, type);
        EITHER(read_all_end, write_all_end, handle, memory, status);
        break;
    default: EITHER(read_ordered, write_ordered, handle, memory, count, type, status);
    }
    if (form == LATER_AT || form == LATER_AT_ALL || form == LATER_ALL) MPI_Wait(&request, status);
}

/* What a member's access moves: its data are these elements of its view. */
struct moved {
    struct view view;
    long first, elements;
};

static struct moved moved_by(const struct file *file, const struct access *access, int place) {
    struct moved moved = {.view = view_of(file, access, place), .first = skipped(access, place)};
    moved.elements = elements_of(access, &moved.view, place) * access->layout.units;
    /* In order: behind what those before have moved. */
    for (int before = 0; access->form == ORDERED && before < place; before++)
        moved.first += elements_of(access, &moved.view, before) * access->layout.units;
    return moved;
}

/* Writes the data of a member into the model. */
static void into_model(struct file *file, const struct moved *moved, const unsigned char *data) {
    for (long i = 0; i < moved->elements; i++) {
        long at = position(file, &moved->view, moved->first + i), end = at + file->basic_bytes;
        if (end > MOST_FILE) complain("a file of more than %d bytes", MOST_FILE);
        if (end > MOST_FILE) return;
        memcpy(file->model + at, data + i * file->basic_bytes, (size_t)file->basic_bytes);
        if (end > file->bytes) file->bytes = end;
    }
}

/* The data that a member reads, up to the end of the file. Returns how many basic elements. */
static long from_model(const struct file *file, const struct moved *moved, unsigned char *data) {
    for (long i = 0; i < moved->elements; i++) {
        long at = position(file, &moved->view, moved->first + i);
        if (at + file->basic_bytes > file->bytes) return i;
        memcpy(data + i * file->basic_bytes, file->model + at, (size_t)file->basic_bytes);
    }
    return moved->elements;
}

static void check_count(const struct file *file, const MPI_Status *status, long elements) {
    int got;
    MPI_Get_elements(status, file->basic, &got);
    if (got != elements) complain("a file: %d elements were moved, not %ld", got, elements);
    fold((uint64_t)got);
}

static void carry_out(struct file *file, const struct access *access) {
    const struct layout *layout = &access->layout;
    int me = file->part.place;
    struct moved mine = moved_by(file, access, me);
    long count = mine.elements / layout->units, moves = mine.elements;
    size_t bytes = (size_t)(mine.elements * file->basic_bytes);
    struct buffer memory = blank(layout, count), expected = copy_of(memory);
    unsigned char *data = take(bytes);
    if (access->writes) {
        fill(data, bytes, data_of(world_rank, (int)(access->key % 1000)));
        put(memory, layout, 0, data, (long)bytes);
        expected = copy_of(memory);
    } else {
        moves = from_model(file, &mine, data);
        put(expected, layout, 0, data, moves * file->basic_bytes);
    }
    MPI_Status status;
    say("%s in form %d, %ld elements of its view from %ld on, %d of each %ld from %ld on",
        access->writes ? "writing" : "reading", (int)access->form, mine.elements, mine.first,
        mine.view.per, mine.view.extent, mine.view.first);
    set_view(file, &mine.view);
    call(file->handle, access->form, access->writes, skipped(access, me), address(memory),
         (int)count, layout->type, &status);
    check_count(file, &status, moves);
    if (memcmp(memory.memory, expected.memory, memory.bytes) != 0)
        complain("a file: %s in form %d of %ld elements gives other data",
                 access->writes ? "writing" : "reading", (int)access->form, mine.elements);
    fold_bytes(memory.memory, memory.bytes);
    for (int place = 0; access->writes && place < file->part.size; place++) {
        struct moved theirs = moved_by(file, access, place);
        size_t length = (size_t)(theirs.elements * file->basic_bytes);
        unsigned char *made = take(length);
        fill(made, length, data_of(file->part.member[place], (int)(access->key % 1000)));
        into_model(file, &theirs, made);
    }
    MPI_File_sync(file->handle);
    MPI_Barrier(file->part.comm);
    MPI_File_sync(file->handle);
}

/* Compares the length and the whole contents. */
static void check_whole(struct file *file) {
    MPI_Offset bytes;
    MPI_File_get_size(file->handle, &bytes);
    if (bytes != file->bytes) complain("a file of %ld bytes, not %ld", (long)bytes, file->bytes);
    unsigned char *all = take((size_t)file->bytes);
    memset(all, 0xa5, (size_t)file->bytes);
    MPI_File_set_view(file->handle, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file->handle, 0, all, (int)file->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    long same = 0;
    while (same < file->bytes && all[same] == file->model[same]) same++;
    if (same < file->bytes)
        complain("a file of %ld bytes has other contents from byte %ld on", file->bytes, same);
    fold_bytes(all, (size_t)file->bytes);
}

static void open_file(struct file *file, int atomic) {
    char name[80];
    int process = (int)getpid();
    MPI_Bcast(&process, 1, MPI_INT, 0, file->part.comm);
    snprintf(name, sizeof name, "random-%d-%llu-%d", process, (unsigned long long)seed, step);
    MPI_File_open(file->part.comm, name,
                  MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file->handle);
    MPI_File_set_atomicity(file->handle, atomic);
    MPI_File_set_errhandler(file->handle, MPI_ERRORS_ARE_FATAL);
    file->model = take(MOST_FILE);
    memset(file->model, 0, MOST_FILE);
}

/* Makes the file shorter or longer. */
static void resize(struct file *file, uint64_t key) {
    long bytes = (long)(key % (uint64_t)(file->bytes + 1000)) / file->basic_bytes * file->basic_bytes;
    MPI_File_set_size(file->handle, bytes);
    if (bytes < file->bytes) memset(file->model + bytes, 0, (size_t)(file->bytes - bytes));
    file->bytes = bytes;
}

void step_file(void) {
    MPI_Datatype const basics[] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    int kind = (int)draw(3), atomic = chance(20), is_in, accesses = 2 + (int)draw(6);
    struct file file = {.basic = basics[kind], .basic_bytes = kind == 0 ? 1 : 4 * kind};
    is_in = draw_part(&file.part);
    if (is_in) {
        say("file among %d, atomic %d, %d accesses", file.part.size, atomic, accesses);
        open_file(&file, atomic);
    }
    for (int i = 0; i < accesses; i++) {
        struct access access = {.form = (enum form)draw(FORMS), .writes = i == 0 || chance(50)};
        access.layout = basic_layout(file.basic, (int)file.basic_bytes);
        derive(&access.layout, (int)draw(3));
        access.first = (long)draw(20);
        access.key = draw(1u << 30);
        access.most = draw_bytes() % 20000 / access.layout.bytes;
        int resizes = chance(15);
        if (is_in) carry_out(&file, &access);
        if (is_in && resizes) resize(&file, access.key);
        if (!access.layout.is_named) MPI_Type_free(&access.layout.type);
    }
    if (!is_in) return;
    check_whole(&file);
    MPI_File_close(&file.handle);
}
