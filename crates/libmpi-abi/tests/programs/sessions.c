/* Sessions: MPI without MPI_Init, several at once, after each other, and beside the world. What to do comes as an argument. */
#include "check.h"

/* A communicator of a set of processes. */
static MPI_Comm of_set(MPI_Session session, const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

static MPI_Session open(const char *level) {
    MPI_Session session;
    MPI_Info info;
    char value[32];
    int length = sizeof value, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, "thread_level", &length, value, &flag);
    CHECK(flag && strcmp(value, level) == 0);
    MPI_Info_free(&info);
    return session;
}

static void use(MPI_Comm comm) {
    int me, count, sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &count);
    CHECK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == count * (count - 1) / 2);
    int got, next = (me + 1) % count, before = (me + count - 1) % count;
    MPI_Sendrecv(&me, 1, MPI_INT, next, 0, &got, 1, MPI_INT, before, 0, comm, MPI_STATUS_IGNORE);
    CHECK(got == before);
}

static void sets(MPI_Session session) {
    int count, length, flag;
    char name[MPI_MAX_PSET_NAME_LEN], value[16];
    MPI_Info info;
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) == MPI_SUCCESS && count == 2);
    for (int i = 0; i < count; i++) {
        length = 0;
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL) == MPI_SUCCESS);
        CHECK(length == (int)strlen(i ? "mpi://SELF" : "mpi://WORLD") + 1);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        CHECK(strcmp(name, i ? "mpi://SELF" : "mpi://WORLD") == 0);
        MPI_Session_get_pset_info(session, name, &info);
        length = sizeof value;
        MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
        CHECK(flag && atoi(value) == (i ? 1 : size));
        MPI_Info_free(&info);
    }
    MPI_Group group;
    MPI_Comm comm;
    CHECK(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)) == MPI_ERR_GROUP);
    CHECK(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_from_session_pset(session, "mpi://none", &group)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Session_get_pset_info(session, "", &info)) == MPI_ERR_ARG);
    /* Half of the world, which only its members make. */
    MPI_Group_from_session_pset(session, "mpi://world", &group);
    MPI_Group part;
    int range[1][3] = {{rank % 2, size - 1 - (size - 1 - rank % 2) % 2, 2}};
    MPI_Group_range_incl(group, 1, range, &part);
    CHECK(MPI_Comm_create_from_group(part, "half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    use(comm);
    MPI_Comm_free(&comm);
    if (size > 1) {
        /* Both halves, each with its first rank as the leader. */
        MPI_Group other;
        int remote, odd[1][3] = {{1 - rank % 2, size - 1 - (size - 2 + rank % 2) % 2, 2}};
        MPI_Group_range_incl(group, 1, odd, &other);
        CHECK(MPI_Intercomm_create_from_groups(part, 0, other, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
        MPI_Comm_remote_size(comm, &remote);
        CHECK(remote == (rank % 2 ? (size + 1) / 2 : size / 2));
        MPI_Comm_free(&comm);
        MPI_Group_free(&other);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&group);
}

/* What a session attaches serves the communicators that come from it. */
static void buffers(MPI_Session session, MPI_Comm comm) {
    char room[MPI_BSEND_OVERHEAD + 64], *found;
    int me, got = -1, length, next;
    MPI_Comm_rank(comm, &me);
    next = (me + 1) % size;
    CHECK(class_of(MPI_Bsend(&me, 1, MPI_INT, next, 1, comm)) == MPI_ERR_BUFFER);
    CHECK(MPI_Session_attach_buffer(session, room, sizeof room) == MPI_SUCCESS);
    CHECK(class_of(MPI_Session_attach_buffer(session, room, sizeof room)) == MPI_ERR_BUFFER);
    CHECK(MPI_Bsend(&me, 1, MPI_INT, next, 1, comm) == MPI_SUCCESS);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    CHECK(got == (me + size - 1) % size);
    MPI_Request request;
    CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS && MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(MPI_Session_detach_buffer(session, &found, &length) == MPI_SUCCESS && found == room && length == sizeof room);
    CHECK(class_of(MPI_Bsend(&me, 1, MPI_INT, next, 1, comm)) == MPI_ERR_BUFFER);
}

static int handled;

static void note(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    handled++;
}

static void handlers(MPI_Session session) {
    MPI_Errhandler mine, found;
    MPI_Group group;
    CHECK(MPI_Session_create_errhandler(note, &mine) == MPI_SUCCESS);
    CHECK(MPI_Session_set_errhandler(session, mine) == MPI_SUCCESS);
    MPI_Session_get_errhandler(session, &found);
    CHECK(found != MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&found);
    CHECK(class_of(MPI_Group_from_session_pset(session, "none", &group)) == MPI_ERR_ARG && handled == 1);
    CHECK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER) == MPI_SUCCESS && handled == 2);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
}

int main(int argc, char **argv) {
    int flag, with_world = argc > 1 && strcmp(argv[1], "world") == 0;
    size = 1, (void)begin;
    /* Before anything else there is no communicator to complain with, and no session. */
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Session none;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "no such level");
    CHECK(class_of(MPI_Session_init(info, MPI_ERRORS_RETURN, &none)) == MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
    MPI_Session first = open("MPI_THREAD_SINGLE"), second = open("MPI_THREAD_SERIALIZED");
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Comm one = of_set(first, "mpi://WORLD", "one"), other = of_set(second, "mpi://WORLD", "other");
    MPI_Comm_rank(one, &rank);
    MPI_Comm_size(one, &size);
    use(one), use(other);
    MPI_Comm own = of_set(second, "mpi://SELF", "own");
    MPI_Comm_size(own, &flag);
    CHECK(flag == 1);
    MPI_Comm_free(&own);
    sets(first);
    buffers(first, one);
    handlers(first);
    if (with_world) {
        int everybody;
        MPI_Init(&argc, &argv);
        MPI_Comm_size(MPI_COMM_WORLD, &everybody);
        CHECK(everybody == size);
        use(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&other);
    CHECK(MPI_Session_finalize(&second) == MPI_SUCCESS && second == MPI_SESSION_NULL);
    use(one);
    if (with_world) {
        use(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    use(one);
    MPI_Comm_free(&one);
    CHECK(MPI_Session_finalize(&first) == MPI_SUCCESS);
    /* None is left, and there can be one again. */
    for (int turn = 0; turn < 3; turn++) {
        first = open("MPI_THREAD_FUNNELED");
        one = of_set(first, "mpi://WORLD", "again");
        use(one);
        MPI_Comm_free(&one);
        MPI_Session_finalize(&first);
    }
    return 0;
}
