/* Graphs and collectives among neighbours: what comes is told by who sent it, to whom, over which of their edges. */
#include "check.h"

/* What `from` gives `to` as the block of its edge number `edge`. */
static int word(int from, int to, int edge) { return 10000 * from + 100 * to + edge; }

/* The ring: everybody's neighbours are the one before and the one after. */
static MPI_Comm ring(void) {
    int *ends = malloc(size * sizeof *ends), *edges = malloc(2 * size * sizeof *edges);
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        ends[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm) == MPI_SUCCESS);
    int nodes, many, kind, found[2], count, mine;
    MPI_Topo_test(comm, &kind);
    MPI_Graphdims_get(comm, &nodes, &many);
    CHECK(kind == MPI_GRAPH && nodes == size && many == 2 * size);
    MPI_Graph_neighbors_count(comm, rank, &count);
    MPI_Graph_neighbors(comm, rank, 2, found);
    CHECK(count == 2 && found[0] == edges[2 * rank] && found[1] == edges[2 * rank + 1]);
    int *same = calloc(2 * size, sizeof *same);
    MPI_Graph_get(comm, size, 2 * size, same, same);
    CHECK(same[0] == edges[0] && same[2 * size - 1] == edges[2 * size - 1]);
    MPI_Graph_map(MPI_COMM_WORLD, size, ends, edges, &mine);
    CHECK(mine == rank);
    free(ends), free(edges), free(same);
    return comm;
}

/* Blocking, non-blocking, and twice persistent: a request serves again. */
#define EACH_MANNER(check, name, ...)                                              \
    do {                                                                           \
        MPI_Request request;                                                       \
        CHECK(MPI_Neighbor_##name(__VA_ARGS__) == MPI_SUCCESS);                    \
        check;                                                                     \
        CHECK(MPI_Ineighbor_##name(__VA_ARGS__, &request) == MPI_SUCCESS);         \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
        check;                                                                     \
        CHECK(MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request) == MPI_SUCCESS); \
        for (int turn = 0; turn < 2; turn++) {                                     \
            MPI_Start(&request);                                                   \
            MPI_Wait(&request, MPI_STATUS_IGNORE);                                 \
            check;                                                                 \
        }                                                                          \
        MPI_Request_free(&request);                                                \
    } while (0)

enum { LONG = 3000 };

/* Everything among neighbours that are named: `edge_of[i]` says by which of its edges source i sends here. */
static void exchange(MPI_Comm comm, int in, const int *sources, const int *edge_of, int out, const int *destinations) {
    int *send = malloc((out + 1) * LONG * sizeof *send), *got = malloc((in + 1) * LONG * sizeof *got);
    int *counts = calloc(in + out + 1, sizeof *counts), *places = calloc(in + out + 1, sizeof *places);
    int *there = counts + in, *where = places + in;
    MPI_Aint *far = calloc(in + out + 1, sizeof *far), *away = far + in;
    MPI_Datatype *types = malloc((in + out + 1) * sizeof *types), *kinds = types + in;
    for (int i = 0; i < out; i++)
        for (int k = 0; k < LONG; k++) send[i * LONG + k] = word(rank, destinations[i], i) + k;
    for (int length = 1; length <= LONG; length += LONG - 1) {
        for (int i = 0; i < out; i++)
            for (int k = 0; k < length; k++) send[i * length + k] = word(rank, destinations[i], i) + k;
#define ARRIVED                                                                                  \
    for (int i = 0; i < in; i++) {                                                               \
        CHECK(got[i * length] == word(sources[i], rank, edge_of[i]));                            \
        CHECK(got[i * length + length - 1] == word(sources[i], rank, edge_of[i]) + length - 1);  \
    }                                                                                            \
    memset(got, -1, in * length * sizeof *got)
        EACH_MANNER(ARRIVED, alltoall, send, length, MPI_INT, got, length, MPI_INT, comm);
        for (int i = 0; i < out; i++) there[i] = length, where[i] = i * length, away[i] = where[i] * (MPI_Aint)sizeof(int), kinds[i] = MPI_INT;
        for (int i = 0; i < in; i++) counts[i] = length, places[i] = i * length, far[i] = places[i] * (MPI_Aint)sizeof(int), types[i] = MPI_INT;
        EACH_MANNER(ARRIVED, alltoallv, send, there, where, MPI_INT, got, counts, places, MPI_INT, comm);
        EACH_MANNER(ARRIVED, alltoallw, send, there, away, kinds, got, counts, far, types, comm);
        for (int k = 0; k < length; k++) send[k] = rank + 7 * k;
#define GATHERED                                                                \
    for (int i = 0; i < in; i++)                                                \
        CHECK(got[i * length] == sources[i] && got[i * length + length - 1] == sources[i] + 7 * (length - 1)); \
    memset(got, -1, in * length * sizeof *got)
        EACH_MANNER(GATHERED, allgather, send, length, MPI_INT, got, length, MPI_INT, comm);
        EACH_MANNER(GATHERED, allgatherv, send, length, MPI_INT, got, counts, places, MPI_INT, comm);
    }
    free(send), free(got), free(counts), free(places), free(far), free(types);
}

static void grid_exchange(void) {
    /* A column open at its ends beside a ring; what nobody sends stays as it was. */
    int lengths[2] = {0, 0}, periods[2] = {0, 1}, got[4], send[4], from[4];
    MPI_Comm comm;
    MPI_Dims_create(size, 2, lengths);
    MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &comm);
    for (int i = 0; i < 2; i++) MPI_Cart_shift(comm, i, 1, &from[2 * i], &from[2 * i + 1]);
    for (int i = 0; i < 4; i++) send[i] = word(rank, 0, i), got[i] = -1;
    /* What goes one way along a dimension comes from the other. */
#define CROSSED                                                                                  \
    for (int i = 0; i < 4; i++) {                                                                \
        CHECK(got[i] == (from[i] == MPI_PROC_NULL ? -1 : word(from[i], 0, i ^ 1)));              \
        got[i] = -1;                                                                             \
    }
    EACH_MANNER(CROSSED, alltoall, send, 1, MPI_INT, got, 1, MPI_INT, comm);
    /* With gaps in what comes, and nobody on the other side, the gaps and the block stay. */
    MPI_Datatype sparse;
    int wide[4][3];
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    memset(wide, -1, sizeof wide);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, wide, 1, sparse, comm);
    for (int i = 0; i < 4; i++) CHECK(wide[i][0] == (from[i] == MPI_PROC_NULL ? -1 : from[i]) && wide[i][1] == -1 && wide[i][2] == -1);
    MPI_Type_free(&sparse);
    MPI_Comm_free(&comm);
}

/* Each rank's own numbers, the same at all (Knuth's multiplier). */
static unsigned draw(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 16; }

/* Any graph, with neighbours named several times and oneself among them. */
static void any_graph(unsigned seed) {
    int in = 0, out = 0, degrees[MOST], all[MOST][4], sources[4 * MOST], edges[4 * MOST], weights[4 * MOST], count[MOST];
    MPI_Comm comm, copy;
    memset(count, 0, sizeof count);
    for (int one = 0; one < size; one++) {
        degrees[one] = draw(&seed) % 5;
        for (int i = 0; i < degrees[one]; i++) all[one][i] = draw(&seed) % size;
    }
    for (int one = 0; one < size; one++)
        for (int i = 0; i < degrees[one]; i++)
            if (all[one][i] == rank) sources[in] = one, weights[in] = 10 * one + i, edges[in++] = i;
    out = degrees[rank];
    int mine[4], found_in, found_out, weighted, far[4 * MOST], near[4], far_weights[4 * MOST], near_weights[4], kind;
    for (int i = 0; i < out; i++) mine[i] = 10 * rank + i;
    CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, all[rank], mine, MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    MPI_Comm_dup(comm, &copy);
    MPI_Topo_test(copy, &kind);
    MPI_Dist_graph_neighbors_count(copy, &found_in, &found_out, &weighted);
    CHECK(kind == MPI_DIST_GRAPH && found_in == in && found_out == out && weighted);
    MPI_Dist_graph_neighbors(copy, in, far, far_weights, out, near, near_weights);
    CHECK(in == 0 || (!memcmp(far, sources, in * sizeof *far) && !memcmp(far_weights, weights, in * sizeof *far)));
    CHECK(out == 0 || (!memcmp(near, all[rank], out * sizeof *near) && !memcmp(near_weights, mine, out * sizeof *near)));
    exchange(copy, in, sources, edges, out, all[rank]);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    /* The same from edges that others give: rank r gives those of the one before it. */
    int other = (rank + size - 1) % size, degree = degrees[other];
    CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &other, &degree, all[other], MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm) == MPI_SUCCESS);
    MPI_Dist_graph_neighbors_count(comm, &found_in, &found_out, &weighted);
    CHECK(found_in == in && found_out == out && !weighted);
    MPI_Dist_graph_neighbors(comm, in, far, MPI_UNWEIGHTED, out, near, MPI_UNWEIGHTED);
    for (int i = 0; i < in; i++) count[far[i]]++;
    for (int i = 0; i < in; i++) count[sources[i]]--;
    for (int one = 0; one < size; one++) CHECK(count[one] == 0);
    for (int i = 0; i < in; i++) {
        edges[i] = 0;
        for (int before = 0; before < i; before++) edges[i] += far[before] == far[i];
    }
    /* Of several edges from one rank, the first that it has is the first here. */
    for (int i = 0; i < in; i++)
        for (int k = 0, left = edges[i]; k < degrees[far[i]]; k++)
            if (all[far[i]][k] == rank && left-- == 0) edges[i] = k;
    exchange(comm, in, far, edges, out, near);
    MPI_Comm_free(&comm);
}

static void mistakes(void) {
    int ends[2] = {1, 1}, edges[1] = {7}, out_of = size, minus = -1, one = 1, word = 0, flag;
    MPI_Comm comm;
    MPI_Request request;
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, 2, ends, edges, 0, &comm)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, -1, ends, edges, 0, &comm)) == MPI_ERR_ARG);
    ends[0] = -1;
    CHECK(class_of(MPI_Graph_create(MPI_COMM_WORLD, 1, ends, edges, 0, &comm)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &out_of, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &minus, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &out_of, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Neighbor_alltoall(&word, 1, MPI_INT, &flag, 1, MPI_INT, MPI_COMM_WORLD)) == MPI_ERR_TOPOLOGY);
    CHECK(class_of(MPI_Ineighbor_allgather(&word, 1, MPI_INT, &flag, 1, MPI_INT, MPI_COMM_WORLD, &request)) == MPI_ERR_TOPOLOGY);
    CHECK(class_of(MPI_Graphdims_get(MPI_COMM_WORLD, &word, &flag)) == MPI_ERR_TOPOLOGY);
    CHECK(class_of(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &word, &flag, &one)) == MPI_ERR_TOPOLOGY);
    /* A graph of one node leaves the others out. */
    ends[0] = 0;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, ends, edges, 0, &comm) == MPI_SUCCESS);
    CHECK((comm == MPI_COMM_NULL) == (rank > 0));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        CHECK(class_of(MPI_Graph_neighbors_count(comm, 1, &word)) == MPI_ERR_RANK);
        CHECK(class_of(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, &word, 1, MPI_INT, comm)) == MPI_ERR_BUFFER);
        MPI_Comm_free(&comm);
    }
}

/* What goes to nobody is not read, though it has gaps: there is no memory at this address. */
static void no_destination(void) {
    MPI_Comm comm;
    MPI_Datatype gaps;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Type_vector(2, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    int got = -1;
    EACH_MANNER(CHECK(got == -1), allgather, (void *)16, 3, gaps, &got, 1, MPI_INT, comm);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm comm = ring();
    int both[2] = {(rank + size - 1) % size, (rank + 1) % size};
    /* In a ring of two both edges lead to the same rank, and the first is the first there. */
    int edge_of[2] = {size > 2 ? 1 : 0, size > 2 ? 0 : 1};
    exchange(comm, 2, both, edge_of, 2, both);
    MPI_Comm_free(&comm);
    grid_exchange();
    for (unsigned seed = 1; seed <= 6; seed++) any_graph(seed);
    no_destination();
    mistakes();
    MPI_Finalize();
    return 0;
}
