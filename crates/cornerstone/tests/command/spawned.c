/* A program that starts itself again, and what both sides then do together. */
#include "check.h"

#include <unistd.h>

enum { CHILDREN = 3 };

static void child(MPI_Comm parent, int parents) {
    int remote, flag, *number;
    MPI_Comm_remote_size(parent, &remote);
    CHECK(size == CHILDREN && remote == parents);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(flag && *number == (rank == CHILDREN - 1));
    /* Each child hears its rank from each parent, and answers with a long message. */
    for (int from = 0; from < parents; from++) {
        int told;
        MPI_Status status;
        MPI_Recv(&told, 1, MPI_INT, from, 7, parent, &status);
        CHECK(told == 100 * from + rank && status.MPI_SOURCE == from);
    }
    int *many = malloc(sizeof(int) << 18);
    for (int i = 0; i < 1 << 18; i++)
        many[i] = i ^ rank;
    for (int to = 0; to < parents; to++)
        MPI_Send(many, 1 << 18, MPI_INT, to, rank, parent);
    /* A collective between the two groups, and one of the merged one. */
    int sum = 0, ours = 1000 + rank;
    MPI_Allreduce(&ours, &sum, 1, MPI_INT, MPI_SUM, parent);
    CHECK(sum == parents * (parents - 1) / 2);
    MPI_Comm all, half;
    MPI_Intercomm_merge(parent, 1, &all);
    int place, members;
    MPI_Comm_rank(all, &place);
    MPI_Comm_size(all, &members);
    CHECK(place == parents + rank && members == parents + CHILDREN);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == members * (members - 1) / 2);
    MPI_Comm_split(all, place % 2, -place, &half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    free(many);
}

static void parent(const char *program) {
    char parents[16], *some[] = {"child", parents, NULL};
    snprintf(parents, sizeof parents, "%d", size);
    char *commands[] = {(char *)program, (char *)program}, **arguments[] = {some, some};
    int counts[] = {CHILDREN - 1, 1}, codes[CHILDREN] = {-1, -1, -1};
    MPI_Info info[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children, all, half;
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, info, size - 1, MPI_COMM_WORLD, &children, codes);
    int remote;
    MPI_Comm_remote_size(children, &remote);
    CHECK(remote == CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
        CHECK(codes[i] == MPI_SUCCESS);
    MPI_Request requests[CHILDREN];
    int told[CHILDREN];
    for (int to = 0; to < CHILDREN; to++) {
        told[to] = 100 * rank + to;
        MPI_Isend(&told[to], 1, MPI_INT, to, 7, children, &requests[to]);
    }
    MPI_Waitall(CHILDREN, requests, MPI_STATUSES_IGNORE);
    int *many = malloc(sizeof(int) << 18);
    for (int i = 0; i < CHILDREN; i++) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, children, &status);
        CHECK(status.MPI_SOURCE == status.MPI_TAG);
        MPI_Recv(many, 1 << 18, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, children, &status);
        for (int k = 0; k < 1 << 18; k++)
            CHECK(many[k] == (k ^ status.MPI_SOURCE));
    }
    free(many);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, children);
    CHECK(sum == 1000 * CHILDREN + CHILDREN * (CHILDREN - 1) / 2);
    MPI_Intercomm_merge(children, 0, &all);
    int place, members;
    MPI_Comm_rank(all, &place);
    MPI_Comm_size(all, &members);
    CHECK(place == rank && members == size + CHILDREN);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == members * (members - 1) / 2);
    MPI_Comm_split(all, place % 2, -place, &half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    /* A message of the run itself is waited for together with one from a child that never comes. */
    int own, never;
    MPI_Request both[2];
    MPI_Irecv(&own, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&never, 1, MPI_INT, 0, 3, children, &both[1]);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
    int index;
    MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
    CHECK(index == 0 && own == (rank + size - 1) % size);
    MPI_Cancel(&both[1]);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
    CHECK(children == MPI_COMM_NULL);
    /* What cannot be started. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Comm_spawn("no such program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes);
    CHECK(class_of(error) == MPI_ERR_SPAWN && children == MPI_COMM_NULL);
    CHECK(rank != 0 || (codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN));
    error = MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    CHECK(class_of(error) == MPI_ERR_SPAWN);
    error = MPI_Comm_spawn(program, MPI_ARGV_NULL, 100000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    CHECK(class_of(error) == MPI_ERR_SPAWN);
}

/* Starts one process of this program with other words. */
static MPI_Comm start(const char *program, char *word) {
    char *words[] = {"child", word, NULL};
    MPI_Comm children;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    return children;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    CHECK((other != MPI_COMM_NULL) == (argc > 2));
    const char *word = argc > 2 ? argv[2] : argc > 1 ? argv[1] : "together";
    int is_child = argc > 2;
    if (strcmp(word, "together") == 0 || atoi(word) > 0) {
        if (is_child)
            child(other, atoi(word));
        else
            parent(argv[0]);
    } else if (strcmp(word, "fails") == 0) {
        /* The child fails once it is on its own; the parent knows nothing of it. */
        if (!is_child)
            other = start(argv[0], "fails");
        MPI_Comm_disconnect(&other);
        if (is_child)
            _Exit(7);
    } else if (strcmp(word, "dies") == 0) {
        /* The child dies before it sends; the parent's receive fails, and the parent goes on. */
        if (is_child)
            abort();
        int number;
        other = start(argv[0], "dies");
        MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
        CHECK(class_of(MPI_Recv(&number, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED);
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
        printf("went on\n");
    } else if (strcmp(word, "sleeps") == 0) {
        if (!is_child)
            start(argv[0], "sleeps");
        printf("sleeps\n");
        fflush(stdout);
        for (;;)
            pause();
    } else if (strncmp(word, "again", 5) == 0) {
        /* Each child starts a child of its own, twice. */
        char next[] = "again3";
        next[5] = is_child ? word[5] - 1 : '3';
        MPI_Comm children = next[5] > '0' ? start(argv[0], next) : MPI_COMM_NULL;
        int depth = 1;
        if (children != MPI_COMM_NULL) {
            if (rank == 0)
                MPI_Recv(&depth, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
            depth++;
        }
        if (is_child)
            MPI_Send(&depth, 1, MPI_INT, 0, 0, other);
        else if (rank == 0)
            printf("%d deep\n", depth);
    }
    MPI_Finalize();
    return 0;
}
