/* Tests of everything with other values, another layout or another call under MPICH's ABI. */
#include "../../../libmpi-abi/tests/programs/check.h"

static int deleted, copied;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    CHECK(comm == MPI_COMM_WORLD && extra == &copied && key != MPI_KEYVAL_INVALID);
    copied++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    CHECK(comm != MPI_COMM_NULL && value && extra == &copied && key != MPI_KEYVAL_INVALID);
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, flag, *number;
    MPI_Comm twin;
    void *value;
    MPI_Comm_create_keyval(copy, delete, &key, &copied);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)100);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == (void *)101 && copied == 1);
    MPI_Comm_free(&twin);
    CHECK(twin == MPI_COMM_NULL && deleted == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deleted == 2);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)7);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == (void *)7);
    MPI_Comm_free(&twin);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    CHECK(flag && *number >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &number, &flag);
    CHECK(!flag || *number == MPI_ANY_SOURCE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag);
    CHECK(flag && *number >= MPI_ERR_LASTCODE);
    int class, code, known;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "of ours");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag);
    CHECK(class > MPI_ERR_LASTCODE && code > class && *number == code);
    MPI_Error_class(code, &known);
    CHECK(known == class);
}

static void windows(void) {
    MPI_Win window;
    int flag, *number, value = 0;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &number, &flag);
    CHECK(flag && *number == MPI_WIN_UNIFIED);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    int put = 10 + rank;
    MPI_Put(&put, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK(value == 10 + (rank + size - 1) % size);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, window);
    MPI_Win_unlock(rank, window);
    MPI_Win_free(&window);
    CHECK(window == MPI_WIN_NULL);
}

static MPI_Datatype seen_type;

static void larger(void *in, void *inout, int *count, MPI_Datatype *type) {
    seen_type = *type;
    for (int i = 0; i < *count; i++)
        if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i];
}

static void operations(void) {
    MPI_Op op;
    int largest = -1;
    MPI_Op_create(larger, 1, &op);
    MPI_Allreduce(&rank, &largest, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(largest == size - 1 && (size == 1 || seen_type == MPI_INT));
    int sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    struct { double value; int place; } mine = { rank * 2.0, rank }, most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(most.place == size - 1);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

static int handled, handled_code;
static MPI_Comm handled_comm;

static void handle(MPI_Comm *comm, int *code, ...) {
    handled++, handled_comm = *comm, handled_code = *code;
}

static void handlers(void) {
    MPI_Errhandler handler, now;
    int class;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    int code = MPI_Send(&class, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_RANK && handled == 1 && handled_code == code && handled_comm == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    CHECK(now == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
}

static void statuses(void) {
    MPI_Status status[3], one;
    MPI_Request requests[3];
    int in[3] = { -1, -1, -1 }, count, flag, index;
    CHECK(sizeof one == 20);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &one);
    MPI_Get_count(&one, MPI_INT, &count);
    CHECK(one.MPI_SOURCE == MPI_PROC_NULL && one.MPI_TAG == MPI_ANY_TAG && count == 0);
    for (int i = 0; i < 3; i++) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; i++) MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, status);
    for (int i = 0; i < 3; i++) {
        MPI_Get_count(&status[i], MPI_INT, &count);
        CHECK(requests[i] == MPI_REQUEST_NULL && status[i].MPI_TAG == i && count == 1);
        CHECK(in[i] == (rank + size - 1) % size && status[i].MPI_SOURCE == in[i]);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &one);
    CHECK(!flag);
    MPI_Irecv(in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, requests);
    MPI_Cancel(requests);
    MPI_Wait(requests, &one);
    MPI_Test_cancelled(&one, &flag);
    CHECK(flag);
    MPI_Status_set_elements_x(&one, MPI_BYTE, 5LL << 30);
    MPI_Count elements;
    MPI_Get_elements_x(&one, MPI_BYTE, &elements);
    CHECK(elements == 5LL << 30);
    MPI_Fint words[MPI_F_STATUS_SIZE];
    one.MPI_TAG = 77;
    MPI_Status_c2f(&one, words);
    CHECK(words[MPI_F_TAG] == 77);
}

static void datatypes(void) {
    MPI_Datatype type, inner[4];
    int sizes[2] = { 4, 6 }, part[2] = { 2, 3 }, starts[2] = { 1, 2 }, integers[16], i, a, d, combiner;
    MPI_Aint addresses[4];
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &type);
    MPI_Type_get_envelope(type, &i, &a, &d, &combiner);
    CHECK(combiner == MPI_COMBINER_SUBARRAY && i == 8 && a == 0 && d == 1);
    MPI_Type_get_contents(type, i, a, d, integers, addresses, inner);
    CHECK(integers[7] == MPI_ORDER_FORTRAN && inner[0] == MPI_FLOAT && integers[4] == 3);
    MPI_Type_free(&type);
    int global[1] = { 10 }, how[1] = { MPI_DISTRIBUTE_BLOCK }, darg[1] = { MPI_DISTRIBUTE_DFLT_DARG }, places[1] = { 1 };
    MPI_Type_create_darray(1, 0, 1, global, how, darg, places, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_get_envelope(type, &i, &a, &d, &combiner);
    CHECK(combiner == MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(type, i, a, d, integers, addresses, inner);
    CHECK(integers[4] == MPI_DISTRIBUTE_BLOCK && integers[5] == MPI_DISTRIBUTE_DFLT_DARG && integers[7] == MPI_ORDER_C);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
    int counts[64], displacements[64], out[64], got[64];
    MPI_Datatype types[64];
    for (int r = 0; r < size; r++)
        counts[r] = 1, displacements[r] = r * (int)sizeof(int), out[r] = 100 * rank + r, types[r] = MPI_INT;
    MPI_Alltoallw(out, counts, displacements, types, got, counts, displacements, types, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) CHECK(got[r] == 100 * r + rank);
}

static void buffers(void) {
    enum { MESSAGES = 10 };
    static char room[MESSAGES * (1 + MPI_BSEND_OVERHEAD)];
    char *back;
    int length;
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < MESSAGES; i++) {
        char letter = 'a' + i;
        MPI_Bsend(&letter, 1, MPI_CHAR, rank, i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MESSAGES; i++) {
        char letter;
        MPI_Recv(&letter, 1, MPI_CHAR, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(letter == 'a' + i);
    }
    MPI_Buffer_detach(&back, &length);
    CHECK(back == room && length == sizeof room);
}

static int queried, freed;
static int query(void *extra, MPI_Status *status) {
    CHECK(extra == &queried);
    queried++;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED, status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void *extra) { return freed++, extra == &queried ? MPI_SUCCESS : MPI_ERR_OTHER; }
static int stop(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void requests(void) {
    MPI_Request request;
    MPI_Status status;
    int count;
    MPI_Grequest_start(query, release, stop, &queried, &request);
    MPI_Grequest_complete(request);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(queried == 1 && freed == 1 && count == 3 && status.MPI_SOURCE == MPI_UNDEFINED);
}

int MPI_Address(void *, MPI_Aint *);
int MPI_Type_struct(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);

static void former_names(void) {
    struct { char letter; double number; } pair[2];
    MPI_Aint places[2], base, extent;
    int lengths[2] = { 1, 1 };
    MPI_Datatype types[2] = { MPI_CHAR, MPI_DOUBLE }, type;
    MPI_Address(&pair[0], &base);
    MPI_Address(&pair[0].letter, &places[0]);
    MPI_Address(&pair[0].number, &places[1]);
    places[0] -= base, places[1] -= base;
    MPI_Type_struct(2, lengths, places, types, &type);
    MPI_Type_extent(type, &extent);
    CHECK(extent == sizeof pair[0]);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    int provided, result, major = 7, minor = 7;
    MPI_Group group, empty;
    /* This ABI is not the standard one. The call may come before MPI_Init. */
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == -1 && minor == -1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)over_tcp, (void)begin, (void)class_of;
    CHECK(provided >= MPI_THREAD_FUNNELED && provided <= MPI_THREAD_MULTIPLE);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_excl(group, 0, NULL, &empty);
    MPI_Group_compare(group, empty, &result);
    CHECK(result == MPI_IDENT || result == MPI_SIMILAR);
    int null = MPI_PROC_NULL, found;
    MPI_Group_translate_ranks(group, 1, &null, empty, &found);
    CHECK(found == MPI_PROC_NULL);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
    attributes();
    windows();
    operations();
    handlers();
    statuses();
    datatypes();
    buffers();
    requests();
    former_names();
    MPI_Finalize();
    return 0;
}
