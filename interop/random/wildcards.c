/* Receives with wildcards, cancelled receives, and packed messages.
 *
 * The order in which messages match a wildcard is not defined, so they are folded into a sum. */

#include "random.h"

#include <string.h>

enum { MOST_EACH = 3 };

/* Every member sends some messages to one receiver. */
struct flood {
    struct part part;
    uint64_t key;
    int receiver, any_tag, how;
    long most;
};

static int messages_of(const struct flood *flood, int place) {
    return place == flood->receiver ? 0
                                    : (int)(mix(flood->key + (uint64_t)place) % (MOST_EACH + 1));
}

static long bytes_of(const struct flood *flood, int place, int number) {
    return (long)(mix(flood->key * 3 + (uint64_t)(place * MOST_EACH + number)) %
                  (uint64_t)(flood->most + 1));
}

/* For MPI_ANY_TAG each message has its own tag, otherwise all have the tag of the step. */
static int tag_of(const struct flood *flood, int number) {
    return flood->any_tag ? number : TAG_STEP + step;
}

static uint64_t worth(int source, int tag, const void *data, long bytes) {
    return mix(mix((uint64_t)source * 64 + (uint64_t)tag) + digest(data, (size_t)bytes));
}

static void *data_for(const struct flood *flood, int place, int number) {
    long bytes = bytes_of(flood, place, number);
    void *data = take((size_t)bytes);
    fill(data, (size_t)bytes, data_of(flood->part.member[place], number));
    return data;
}

static void send_flood(const struct flood *flood) {
    for (int i = 0; i < messages_of(flood, flood->part.place); i++) {
        int bytes = (int)bytes_of(flood, flood->part.place, i), tag = tag_of(flood, i);
        const void *data = data_for(flood, flood->part.place, i);
        struct pending *item = new_pending("send to a wildcard");
        if (i % 2)
            MPI_Isend(data, bytes, MPI_BYTE, flood->receiver, tag, flood->part.comm,
                      &item->request);
        else MPI_Send(data, bytes, MPI_BYTE, flood->receiver, tag, flood->part.comm);
        begun(item, i % 2 ? LATER : BLOCKING);
    }
}

/* Receives one message from MPI_ANY_SOURCE. */
static void receive_one(const struct flood *flood, void *data, MPI_Status *status) {
    MPI_Comm comm = flood->part.comm;
    MPI_Message message;
    int bytes, flag = 0, tag = flood->any_tag ? MPI_ANY_TAG : TAG_STEP + step;
    switch (flood->how) {
    case 0: MPI_Recv(data, (int)flood->most, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, status); return;
    case 1:
        MPI_Probe(MPI_ANY_SOURCE, tag, comm, status);
        MPI_Get_count(status, MPI_BYTE, &bytes);
        MPI_Recv(data, bytes, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, comm, status);
        return;
    case 2: MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, status); break;
    default:
        while (!flag) MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, status);
    }
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Mrecv(data, bytes, MPI_BYTE, &message, status);
}

static void receive_flood(const struct flood *flood) {
    enum { MOST = MOST_RANKS * MOST_EACH };
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    void *data[MOST];
    int total = 0;
    uint64_t expected = 0, got = 0;
    for (int place = 0; place < flood->part.size; place++) {
        for (int i = 0; i < messages_of(flood, place); i++, total++)
            expected += worth(place, tag_of(flood, i), data_for(flood, place, i),
                              bytes_of(flood, place, i));
    }
    for (int i = 0; i < total; i++) {
        data[i] = take((size_t)flood->most);
        int tag = flood->any_tag ? MPI_ANY_TAG : TAG_STEP + step;
        if (flood->how == 4)
            MPI_Irecv(data[i], (int)flood->most, MPI_BYTE, MPI_ANY_SOURCE, tag, flood->part.comm,
                      &requests[i]);
        else receive_one(flood, data[i], &statuses[i]);
    }
    if (flood->how == 4) MPI_Waitall(total, requests, statuses);
    /* Messages of one sender must match in the order of their sending. */
    int next[MOST_RANKS] = {0};
    for (int i = 0; i < total; i++) {
        int bytes, source = statuses[i].MPI_SOURCE, number = next[source]++;
        MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
        got += worth(source, statuses[i].MPI_TAG, data[i], bytes);
        if (statuses[i].MPI_TAG != tag_of(flood, number) ||
            bytes != bytes_of(flood, source, number))
            complain("message %d of %d has tag %d and %d bytes", number, source,
                     statuses[i].MPI_TAG, bytes);
    }
    fold(got);
    if (got != expected) complain("%d messages from anybody are not those that were sent", total);
}

void step_wildcards(void) {
    struct flood flood = {
        .key = draw(1u << 30), .any_tag = chance(50), .how = (int)draw(5), .most = draw_bytes()};
    uint64_t receiver = draw(1u << 30);
    /* MPI_ANY_TAG must not match messages of other steps: this drain completes the earlier ones, and the
     * barrier below keeps later ones away. */
    if (flood.any_tag) drain();
    if (!draw_part(&flood.part)) return;
    flood.receiver = (int)(receiver % (uint64_t)flood.part.size);
    say("wildcards of %d, %s, received %d, up to %ld bytes", flood.receiver,
        flood.any_tag ? "any tag" : "one tag", flood.how, flood.most);
    if (flood.part.place == flood.receiver) receive_flood(&flood);
    else send_flood(&flood);
    if (flood.any_tag) MPI_Barrier(flood.part.comm);
}

void step_cancel(void) {
    struct part part;
    int from_anybody = chance(50), count = 1 + (int)draw(3), cancelled = 0;
    if (!draw_part(&part)) return;
    say("%d cancelled receives", count);
    for (int i = 0; i < count; i++) {
        MPI_Request request;
        MPI_Status status;
        char byte = 0;
        int source = from_anybody ? MPI_ANY_SOURCE : part.place;
        MPI_Irecv(&byte, 1, MPI_BYTE, source, TAG_STEP + step, part.comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (!cancelled) complain("a receive that nobody sends to was not cancelled");
        fold((uint64_t)cancelled);
    }
}

/* A message packed by two calls of MPI_Pack and unpacked by one. */
void step_pack(void) {
    struct pair pair;
    draw_pair(&pair);
    struct part part;
    long pieces = draw_pieces(&pair), half = pieces / 2;
    if (draw_part(&part)) {
        int to = (part.place + 1) % part.size, from = (part.place + part.size - 1) % part.size,
            room, at = 0, bytes;
        MPI_Status status;
        void *data = take((size_t)(pieces * pair.piece_bytes));
        struct buffer sent = blank(&pair.send, pieces * pair.send_per_piece);
        struct buffer got = blank(&pair.receive, pieces * pair.receive_per_piece),
                      expected = copy_of(got);
        fill(data, (size_t)(pieces * pair.piece_bytes), data_of(world_rank, 0));
        put(sent, &pair.send, 0, data, pieces * pair.piece_bytes);
        fill(data, (size_t)(pieces * pair.piece_bytes), data_of(part.member[from], 0));
        put(expected, &pair.receive, 0, data, pieces * pair.piece_bytes);
        MPI_Pack_size((int)(pieces * pair.send_per_piece), pair.send.type, part.comm, &room);
        /* Two calls may need more room than one. */
        room += 64;
        void *packed = take((size_t)room), *unpacked = take((size_t)room);
        char *second = (char *)address(sent) + half * pair.send_per_piece * extent_of(&pair.send);
        MPI_Pack(address(sent), (int)(half * pair.send_per_piece), pair.send.type, packed, room,
                 &at, part.comm);
        MPI_Pack(second, (int)((pieces - half) * pair.send_per_piece), pair.send.type, packed, room,
                 &at, part.comm);
        MPI_Sendrecv(packed, at, MPI_PACKED, to, TAG_STEP + step, unpacked, room, MPI_PACKED, from,
                     TAG_STEP + step, part.comm, &status);
        MPI_Get_count(&status, MPI_PACKED, &bytes);
        at = 0;
        MPI_Unpack(unpacked, bytes, &at, address(got), (int)(pieces * pair.receive_per_piece),
                   pair.receive.type, part.comm);
        if (at != bytes) complain("%d of %d packed bytes were unpacked", at, bytes);
        say("packed: %ld pieces of %ld bytes among %d", pieces, pair.piece_bytes, part.size);
        struct pending *item = new_pending("pack");
        watch(item, got, expected);
        begun(item, BLOCKING);
    }
    free_pair(&pair);
}
