/* Shifts along a ring or a line: sendrecv in all its forms, and persistent sends and receives. */

#include "random.h"

#include <string.h>

struct shift {
    struct part part;
    struct pair pair;
    /* Places, or MPI_PROC_NULL. */
    int to, from, to_tag, from_tag;
    long pieces_out, pieces_in;
};

/* Sets who sends to whom: each member to the one `far` places on, in a ring or along a line. */
static void aim(struct shift *shift, uint64_t far, int is_line, uint64_t key, long most) {
    int size = shift->part.size, me = shift->part.place, on = (int)(far % (uint64_t)size);
    shift->to = (me + on) % size;
    shift->from = (me + size - on) % size;
    if (is_line && me + on >= size) shift->to = MPI_PROC_NULL;
    if (is_line && me - on < 0) shift->from = MPI_PROC_NULL;
    shift->to_tag = (int)(mix(key + (uint64_t)me) % TAGS);
    shift->pieces_out = (long)(mix(key * 3 + (uint64_t)me) % (uint64_t)(most + 1));
    if (shift->from != MPI_PROC_NULL) {
        shift->from_tag = (int)(mix(key + (uint64_t)shift->from) % TAGS);
        shift->pieces_in = (long)(mix(key * 3 + (uint64_t)shift->from) % (uint64_t)(most + 1));
    } else {
        /* The status of a receive from MPI_PROC_NULL. */
        shift->from_tag = MPI_ANY_TAG;
        shift->pieces_in = 0;
    }
}

static struct buffer with_data(const struct layout *layout, long count, int member, long bytes) {
    struct buffer buffer = blank(layout, count);
    void *data = take((size_t)bytes);
    fill(data, (size_t)bytes, data_of(member, 0));
    put(buffer, layout, 0, data, bytes);
    return buffer;
}

/* Sets the status to expect. The item gets a copy of the datatype, which it frees. */
static void expect_status(struct pending *item, const struct layout *layout, int source, int tag,
                          long bytes) {
    item->received = take(sizeof *item->received);
    *item->received = *layout;
    if (!layout->is_named) MPI_Type_dup(layout->type, &item->received->type);
    item->source = source;
    item->tag = tag;
    item->bytes = bytes;
}

static int incoming(const struct shift *shift) {
    return shift->from == MPI_PROC_NULL ? -1 : shift->part.member[shift->from];
}

static void exchange(const struct shift *shift, int later) {
    const struct pair *pair = &shift->pair;
    MPI_Status status;
    int out = (int)(shift->pieces_out * pair->send_per_piece),
        in = (int)(shift->pieces_in * pair->receive_per_piece);
    long bytes_in = shift->pieces_in * pair->piece_bytes;
    struct buffer sent =
        with_data(&pair->send, out, world_rank, shift->pieces_out * pair->piece_bytes);
    struct buffer got = blank(&pair->receive, in),
                  expected = with_data(&pair->receive, in, incoming(shift), bytes_in);
    struct pending *item = new_pending("sendrecv");
    watch(item, got, expected);
    watch(item, sent, copy_of(sent));
    if (later) {
        MPI_Isendrecv(address(sent), out, pair->send.type, shift->to, shift->to_tag, address(got),
                      in, pair->receive.type, shift->from,
                      shift->from == MPI_PROC_NULL ? 0 : shift->from_tag, shift->part.comm,
                      &item->request);
        expect_status(item, &pair->receive, shift->from, shift->from_tag, bytes_in);
        item->is_doubtful = 1;
        begun(item, LATER);
    } else {
        MPI_Sendrecv(address(sent), out, pair->send.type, shift->to, shift->to_tag, address(got),
                     in, pair->receive.type, shift->from,
                     shift->from == MPI_PROC_NULL ? 0 : shift->from_tag, shift->part.comm, &status);
        compare_status("sendrecv", &status, shift->from, shift->from_tag, &pair->receive, bytes_in);
        begun(item, BLOCKING);
    }
}

/* Sendrecv_replace, with messages of one length. */
static void replace(const struct shift *shift, int later, long pieces) {
    const struct pair *pair = &shift->pair;
    const struct layout *layout = &pair->receive;
    MPI_Status status;
    int count = (int)(pieces * pair->receive_per_piece);
    long bytes = pieces * pair->piece_bytes, bytes_in = shift->from == MPI_PROC_NULL ? 0 : bytes;
    struct buffer got = with_data(layout, count, world_rank, bytes);
    struct buffer expected =
        bytes_in ? with_data(layout, count, incoming(shift), bytes) : copy_of(got);
    struct pending *item = new_pending("sendrecv_replace");
    watch(item, got, expected);
    int from_tag = shift->from == MPI_PROC_NULL ? 0 : shift->from_tag;
    if (later) {
        /* MPICH 5.0 delivers wrong data into datatypes with gaps. */
        if (is_mpich)
            MPI_Sendrecv_replace(address(got), count, layout->type, shift->to, shift->to_tag,
                                 shift->from, from_tag, shift->part.comm, MPI_STATUS_IGNORE);
        else
            MPI_Isendrecv_replace(address(got), count, layout->type, shift->to, shift->to_tag,
                                  shift->from, from_tag, shift->part.comm, &item->request);
        expect_status(item, layout, shift->from, shift->from_tag, bytes_in);
        item->is_doubtful = 1;
        begun(item, LATER);
    } else {
        MPI_Sendrecv_replace(address(got), count, layout->type, shift->to, shift->to_tag,
                             shift->from, from_tag, shift->part.comm, &status);
        compare_status("sendrecv_replace", &status, shift->from, shift->from_tag, layout, bytes_in);
        begun(item, BLOCKING);
    }
}

/* Persistent sends and receives. */
static void repeat(const struct shift *shift, int mode) {
    const struct pair *pair = &shift->pair;
    int out = (int)(shift->pieces_out * pair->send_per_piece),
        in = (int)(shift->pieces_in * pair->receive_per_piece);
    long bytes_in = shift->pieces_in * pair->piece_bytes;
    MPI_Comm comm = shift->part.comm;
    struct buffer got = blank(&pair->receive, in);
    struct pending *item = new_pending("persistent receive");
    watch(item, got, with_data(&pair->receive, in, incoming(shift), bytes_in));
    prepare(item, PERSISTENT);
    MPI_Recv_init(address(got), in, pair->receive.type, shift->from,
                  shift->from == MPI_PROC_NULL ? 0 : shift->from_tag, comm, &item->request);
    expect_status(item, &pair->receive, shift->from, shift->from_tag, bytes_in);
    item->is_doubtful = shift->from == MPI_PROC_NULL;
    begun(item, PERSISTENT);
    struct buffer sent =
        with_data(&pair->send, out, world_rank, shift->pieces_out * pair->piece_bytes);
    item = new_pending("persistent send");
    watch(item, sent, copy_of(sent));
    prepare(item, PERSISTENT);
    if (mode)
        MPI_Ssend_init(address(sent), out, pair->send.type, shift->to, shift->to_tag, comm,
                       &item->request);
    else
        MPI_Send_init(address(sent), out, pair->send.type, shift->to, shift->to_tag, comm,
                      &item->request);
    begun(item, PERSISTENT);
}

void step_shift(void) {
    struct shift shift;
    draw_pair(&shift.pair);
    int kind = (int)draw(3), later = chance(40), is_line = chance(30), mode = chance(50);
    uint64_t far = draw(1u << 20), key = draw(1u << 30);
    long most = draw_pieces(&shift.pair);
    if (kind == 2) any_persistent = 1;
    if (draw_part(&shift.part)) {
        aim(&shift, far, is_line, key, most);
        say("shift %d%s among %d, to %d and from %d, up to %ld pieces of %ld bytes", kind,
            later ? " later" : "", shift.part.size, shift.to, shift.from, most,
            shift.pair.piece_bytes);
        if (kind == 0) exchange(&shift, later);
        else if (kind == 1) replace(&shift, later, most);
        else repeat(&shift, mode);
    }
    free_pair(&shift.pair);
}
