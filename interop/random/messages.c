/* Point-to-point messages in every mode, received in every way.
 *
 * All ranks go through the messages of a step in the same order. Sender and receiver of a message
 * make their calls at its turn, so there is no deadlock, and messages with equal tags match in this
 * order. */

#include "random.h"

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY, MODES };
enum how { RECEIVE, RECEIVE_LATER, PROBE, PROBE_ONCE, CLAIM, CLAIM_ONCE, CLAIM_LATER, HOWS };

struct message {
    struct pair pair;
    enum mode mode;
    enum how how;
    int later, from, to, tag;
    long pieces, room;
};

static struct buffer data_of_message(const struct message *message, const struct part *part,
                                     int number, int as_sender) {
    const struct pair *pair = &message->pair;
    long bytes = message->pieces * pair->piece_bytes;
    void *data = take((size_t)bytes);
    fill(data, (size_t)bytes, data_of(part->member[message->from], number));
    const struct layout *layout = as_sender ? &pair->send : &pair->receive;
    struct buffer buffer = blank(layout, as_sender ? message->pieces * pair->send_per_piece
                                                   : message->room * pair->receive_per_piece);
    put(buffer, layout, 0, data, bytes);
    return buffer;
}

/* The non-blocking sends. */
static void begin_send(const struct message *message, const void *from, int count, MPI_Comm comm,
                       struct pending *item) {
    MPI_Datatype type = message->pair.send.type;
    switch (message->mode) {
    case SYNCHRONOUS:
        MPI_Issend(from, count, type, message->to, message->tag, comm, &item->request);
        break;
    case BUFFERED:
        MPI_Ibsend(from, count, type, message->to, message->tag, comm, &item->request);
        break;
    case READY:
        MPI_Irsend(from, count, type, message->to, message->tag, comm, &item->request);
        break;
    default: MPI_Isend(from, count, type, message->to, message->tag, comm, &item->request);
    }
}

static void send(const struct message *message, const struct part *part, int number) {
    struct buffer buffer = data_of_message(message, part, number, 1);
    int count = (int)(message->pieces * message->pair.send_per_piece);
    const void *from = address(buffer);
    MPI_Datatype type = message->pair.send.type;
    int to = message->to, tag = message->tag;
    if (message->mode == READY && message->from != to)
        MPI_Recv(NULL, 0, MPI_BYTE, to, TAG_READY, part->comm, MPI_STATUS_IGNORE);
    struct pending *item = new_pending("send");
    watch(item, buffer, copy_of(buffer));
    if (message->later) {
        begin_send(message, from, count, part->comm, item);
        begun(item, LATER);
        return;
    }
    switch (message->mode) {
    case SYNCHRONOUS: MPI_Ssend(from, count, type, to, tag, part->comm); break;
    case BUFFERED: MPI_Bsend(from, count, type, to, tag, part->comm); break;
    case READY: MPI_Rsend(from, count, type, to, tag, part->comm); break;
    default: MPI_Send(from, count, type, to, tag, part->comm);
    }
    begun(item, BLOCKING);
}

/* Probes for the message and checks the status. Returns the message if the probe was a matched one. */
static MPI_Message probe(const struct message *message, MPI_Comm comm) {
    MPI_Status status;
    MPI_Message claimed = MPI_MESSAGE_NULL;
    int flag = 0;
    switch (message->how) {
    case PROBE: MPI_Probe(message->from, message->tag, comm, &status); break;
    case CLAIM_LATER:
    case CLAIM: MPI_Mprobe(message->from, message->tag, comm, &claimed, &status); break;
    case PROBE_ONCE:
        while (!flag) MPI_Iprobe(message->from, message->tag, comm, &flag, &status);
        break;
    default:
        while (!flag) MPI_Improbe(message->from, message->tag, comm, &flag, &claimed, &status);
    }
    check_status("probe", &status, message->from, message->tag, &message->pair.receive,
                 message->pieces * message->pair.piece_bytes);
    return claimed;
}

/* Non-blocking receives stay pending. */
static void receive(const struct message *message, const struct part *part, int number) {
    const struct pair *pair = &message->pair;
    MPI_Datatype type = pair->receive.type;
    MPI_Status status;
    int count = (int)(message->room * pair->receive_per_piece), from = message->from,
        tag = message->tag;
    struct buffer got = blank(&pair->receive, count),
                  expected = data_of_message(message, part, number, 0);
    void *to = address(got);
    MPI_Message claimed = message->how >= PROBE ? probe(message, part->comm) : MPI_MESSAGE_NULL;
    struct pending *item = new_pending("receive");
    watch(item, got, expected);
    if (message->how == RECEIVE_LATER || message->how == CLAIM_LATER) {
        if (message->how == RECEIVE_LATER)
            MPI_Irecv(to, count, type, from, tag, part->comm, &item->request);
        else MPI_Imrecv(to, count, type, &claimed, &item->request);
        item->received = take(sizeof *item->received);
        *item->received = pair->receive;
        /* The item frees this copy. */
        if (!pair->receive.is_named) MPI_Type_dup(type, &item->received->type);
        item->source = from;
        item->tag = tag;
        item->bytes = message->pieces * pair->piece_bytes;
        begun(item, LATER);
        if (message->mode == READY && from != message->to)
            MPI_Send(NULL, 0, MPI_BYTE, from, TAG_READY, part->comm);
        return;
    }
    if (claimed != MPI_MESSAGE_NULL) MPI_Mrecv(to, count, type, &claimed, &status);
    else MPI_Recv(to, count, type, from, tag, part->comm, &status);
    check_status("receive", &status, from, tag, &pair->receive,
                 message->pieces * pair->piece_bytes);
    begun(item, BLOCKING);
}

/* Attaches a buffer that is long enough for the buffered sends of this rank. */
static void *attach(const struct message *messages, int count, const struct part *part) {
    int bytes = 0, one;
    for (int i = 0; i < count; i++) {
        const struct message *message = &messages[i];
        if (message->mode != BUFFERED || message->from != part->place) continue;
        MPI_Pack_size((int)(message->pieces * message->pair.send_per_piece),
                      message->pair.send.type, part->comm, &one);
        bytes += one + MPI_BSEND_OVERHEAD;
    }
    if (bytes == 0) return NULL;
    void *memory = take((size_t)bytes);
    MPI_Buffer_attach(memory, bytes);
    return memory;
}

static void detach(const void *attached) {
    if (!attached) return;
    void *memory;
    int bytes;
    /* Returns when all buffered messages have been sent. Their receives have been posted by then. */
    MPI_Buffer_detach(&memory, &bytes);
    if (memory != attached) complain("another buffer was detached than was attached");
}

static void carry_out(const struct message *messages, int count, const struct part *part) {
    void *attached = attach(messages, count, part);
    for (int i = 0; i < count; i++) {
        const struct message *message = &messages[i];
        if (message->to == part->place) receive(message, part, i);
        if (message->from == part->place) send(message, part, i);
        say("  message %d from %d to %d, tag %d, mode %d%s, received %d, %ld pieces of %ld bytes",
            i, message->from, message->to, message->tag, (int)message->mode,
            message->later ? " later" : "", (int)message->how, message->pieces,
            message->pair.piece_bytes);
    }
    detach(attached);
}

void step_messages(void) {
    struct message messages[10];
    int count = 1 + (int)draw(10);
    uint64_t ends[10];
    for (int i = 0; i < count; i++) {
        struct message *message = &messages[i];
        draw_pair(&message->pair);
        message->mode = (enum mode)draw(MODES);
        message->how = (enum how)draw(HOWS);
        message->later = chance(50);
        message->tag = (int)draw(TAGS);
        message->pieces = draw_pieces(&message->pair);
        message->room = message->pieces + (chance(30) ? (long)draw(5) : 0);
        ends[i] = draw(1u << 30);
    }
    struct part part;
    if (draw_part(&part)) {
        uint64_t size = (uint64_t)part.size;
        for (int i = 0; i < count; i++) {
            messages[i].from = (int)(ends[i] % size);
            messages[i].to = (int)(ends[i] / size % size);
            /* A ready send needs a posted receive, and a message of a rank to itself must not block. */
            if (messages[i].mode == READY || messages[i].from == messages[i].to)
                messages[i].how = RECEIVE_LATER;
        }
        say("%d messages among %d", count, part.size);
        carry_out(messages, count, &part);
    }
    for (int i = 0; i < count; i++) free_pair(&messages[i].pair);
}
