/* Two halves of a run meet at a port whose name is published, though they have a communicator in common. */
#include "check.h"

#include <unistd.h>

static void refused(void) {
    MPI_Comm none;
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &none)) == MPI_ERR_PORT);
    /* Members whose root finds no port report it as the root does. */
    CHECK(class_of(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &none)) == MPI_ERR_PORT);
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Close_port(port);
    CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
    CHECK(class_of(MPI_Lookup_name("no such service", MPI_INFO_NULL, port)) == MPI_ERR_NAME);
    CHECK(class_of(MPI_Unpublish_name("no such service", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    refused();
    MPI_Comm half, other, across;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (size < 2) {
        MPI_Comm_free(&half);
        MPI_Finalize();
        return 0;
    }
    /* Communicators of the run go on while the halves meet, three times. */
    for (int round = 0; round < 3; round++) {
        char port[MPI_MAX_PORT_NAME] = "", service[64] = "", closed[MPI_MAX_PORT_NAME] = "";
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Open_port(MPI_INFO_NULL, closed);
            MPI_Close_port(closed);
            snprintf(service, sizeof service, "a service of %d", (int)getpid());
            MPI_Publish_name(service, MPI_INFO_NULL, port);
            CHECK(class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
        }
        MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Bcast(closed, sizeof closed, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (rank % 2 == 0) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
        } else {
            char found[MPI_MAX_PORT_NAME] = "";
            if (rank == 1)
                MPI_Lookup_name(service, MPI_INFO_NULL, found);
            CHECK(class_of(MPI_Comm_connect(closed, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other)) == MPI_ERR_PORT);
            MPI_Comm_connect(found, MPI_INFO_NULL, 0, half, &other);
        }
        int remote, own, theirs = -1;
        MPI_Comm_remote_size(other, &remote);
        CHECK(remote == (rank % 2 ? (size + 1) / 2 : size / 2));
        MPI_Comm_rank(half, &own);
        if (own < remote)
            MPI_Sendrecv(&rank, 1, MPI_INT, own, 0, &theirs, 1, MPI_INT, own, 0, other, MPI_STATUS_IGNORE);
        CHECK(own >= remote || theirs == (rank ^ 1));
        /* Processes are the same, whichever way they were met. */
        MPI_Group here, there, world, both;
        MPI_Comm_group(other, &here);
        MPI_Comm_remote_group(other, &there);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_union(here, there, &both);
        int result;
        MPI_Group_compare(both, world, &result);
        CHECK(result == MPI_SIMILAR || result == MPI_IDENT);
        MPI_Group_free(&here), MPI_Group_free(&there), MPI_Group_free(&both), MPI_Group_free(&world);
        MPI_Comm_dup(other, &across);
        MPI_Barrier(across);
        MPI_Comm_disconnect(&across);
        MPI_Comm_disconnect(&other);
        if (rank == 0) {
            MPI_Unpublish_name(service, MPI_INFO_NULL, port);
            MPI_Close_port(port);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
