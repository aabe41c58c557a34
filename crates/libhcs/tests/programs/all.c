/* Calls all 32 functions, each with what it should do, and the mistakes that a program may make. */
#include <hcs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "all.c:%d: %s (%s)\n", __LINE__, #condition, hcs_last_error());     \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static int calls_of_handler, in_handler;

static unsigned twice(int from, unsigned signal)
{
    calls_of_handler++;
    in_handler = send_signal(from, 1);
    return 2 * signal;
}

/* Passes every signal on. */
static unsigned pass_on(int from, unsigned signal)
{
    return default_signal_handler(from, signal + 1) + 7;
}

static void mistakes_before(void)
{
    CHECK(barrier_sync() == HCS_NOT_BEGUN && sci_close_lib() == HCS_NOT_BEGUN);
    CHECK(safe_exit() == HCS_NOT_BEGUN && hcs_node() == HCS_NOT_BEGUN);
    /* The words of safe_exit: hcs_node keeps them. */
    CHECK(strstr(hcs_last_error(), "nothing has begun") != NULL);
    hcs_options options = {-1, 0};
    CHECK(cluster_init(&options) == HCS_BAD_ARGUMENT);
}

static void mistakes(int me, int nodes)
{
    char byte = 0;
    CHECK(cluster_init(NULL) == HCS_BEGUN && sci_init_lib(NULL) == HCS_BEGUN);
    CHECK(sci_close_lib() == HCS_BEGUN);
    CHECK(send_signal(me, 1) == HCS_SIGNAL_TO_ONESELF);
    CHECK(send_signal(nodes, 1) == HCS_NO_SUCH_NODE && send_signal(-1, 1) == HCS_NO_SUCH_NODE);
    CHECK(strstr(hcs_last_error(), "the cluster has nodes 0 to") != NULL);
    CHECK(send_block(nodes, &byte, 1) == HCS_NO_SUCH_NODE);
    CHECK(send_block(me, NULL, 1) == HCS_BAD_ARGUMENT);
    CHECK(get_broadcast(me, &byte, 1) == HCS_OWN_BROADCAST);
    CHECK(set_signal_handler(1, NULL) == HCS_BAD_ARGUMENT);
    CHECK(set_signal_handler(HCS_OWN_MAX + 1u, twice) == HCS_RESERVED);
    CHECK(sci_read_msg(0, &byte, 1) == HCS_BAD_HANDLE && sci_unmap_shm(-3) == HCS_BAD_HANDLE);
    CHECK(sci_map_shm(me, 99) == HCS_NO_SUCH_SEGMENT);
    CHECK(safe_shared_memory_map(me, 99, 20) == HCS_TIMED_OUT);
    CHECK(safe_connect_transmit_port(me, 99, 20) == HCS_TIMED_OUT);
    CHECK(safe_connect_transmit_port(me, 99, -20) == HCS_BAD_ARGUMENT);
    CHECK(hcs_p(64) == HCS_NO_SUCH_SEMAPHORE && hcs_v(64) == HCS_NO_SUCH_SEMAPHORE);
    CHECK(sci_create_shm(1, (size_t)1 << 40) == HCS_NO_ROOM);
    CHECK(sci_lib_info(NULL) == HCS_BAD_ARGUMENT);
}

static void ports(int me, int nodes)
{
    int next = (me + 1) % nodes, before = (me + nodes - 1) % nodes, peer = -1, number = 0;
    int receive = safe_create_receive_port(5);
    CHECK(receive >= 0 && sci_create_receive_port(5) == HCS_PORT_IN_USE);
    CHECK(sci_receive_port_connected(receive, &peer) >= 0);
    int transmit = safe_connect_transmit_port(next, 5, 10000);
    CHECK(transmit >= 0 && safe_wait_for_connection(receive, 10000) == before);
    CHECK(sci_receive_port_connected(receive, &peer) == 1 && peer == before);
    CHECK(sci_connect_transmit_port(next, 5) == HCS_PORT_TAKEN);
    CHECK(sci_connect_transmit_port(next, 6) == HCS_NO_SUCH_PORT);
    CHECK(sci_write_msg(receive, &me, sizeof me) == HCS_BAD_HANDLE);
    CHECK(sci_write_msg(transmit, &me, sizeof me) == 0);
    CHECK(sci_read_msg(receive, &number, 1) == HCS_BLOCK_TOO_LONG);
    CHECK(sci_read_msg(receive, &number, sizeof number) == sizeof number && number == before);
    CHECK(barrier_sync() == 0);
    CHECK(sci_remove_transmit_port(receive) == HCS_BAD_HANDLE);
    CHECK(sci_remove_transmit_port(transmit) == 0 && sci_remove_transmit_port(transmit) < 0);
    CHECK(sci_remove_receive_port(receive) == 0 && sci_remove_receive_port(receive) < 0);
}

static void segments(int me, int nodes)
{
    int next = (me + 1) % nodes, before = (me + nodes - 1) % nodes, found = -1;
    int own = safe_shared_memory_make(3, sizeof(int)), other = sci_create_shm(4, 100);
    CHECK(own >= 0 && other >= 0 && sci_create_shm(3, 1) == HCS_SEGMENT_IN_USE);
    int map = safe_shared_memory_map(next, 3, 10000);
    CHECK(map >= 0 && hcs_segment_bytes(map) == sizeof(int));
    CHECK(hcs_write_shm(map, 0, &me, sizeof me) == 0);
    CHECK(hcs_write_shm(map, 1, &me, sizeof me) == HCS_OUTSIDE_SEGMENT);
    CHECK(barrier_sync() == 0);
    CHECK(hcs_read_shm(own, 0, &found, sizeof found) == 0 && found == before);
    CHECK(sci_remove_shm(own) == HCS_SEGMENT_MAPPED && sci_unmap_shm(own) == HCS_NOT_YOURS);
    CHECK(barrier_sync() == 0);
    CHECK(sci_unmap_shm(map) == 0 && hcs_read_shm(map, 0, &found, 1) == HCS_NO_SUCH_SEGMENT);
    CHECK(barrier_sync() == 0);
    CHECK(sci_remove_shm(own) == 0 && sci_remove_shm(other) == 0);
    int again = sci_create_shm(3, 1);
    CHECK(again >= 0 && barrier_sync() == 0);
    map = sci_map_shm(next, 3);
    CHECK(map >= 0 && sci_unmap_shm(map) == 0 && barrier_sync() == 0);
    CHECK(sci_remove_shm(again) == 0);
}

static void blocks(int me, int nodes)
{
    static char data[100000], room[100000];
    for (int from = 0; from < nodes; from++) {
        memset(data, 'a' + from, sizeof data);
        if (me == from)
            CHECK(send_broadcast(data, sizeof data) == 0);
        else
            CHECK(get_broadcast(from, room, sizeof room) == sizeof room
                  && memcmp(data, room, sizeof room) == 0);
    }
    for (int to = 0; to < nodes; to++)
        CHECK(send_block(to, &me, sizeof me) == 0);
    for (int from = 0; from < nodes; from++) {
        int found = -1;
        CHECK(get_block(from, &found, sizeof found) == sizeof found && found == from);
    }
}

static void signals(int me, int nodes)
{
    unsigned answer = 9, signal = 0;
    int from = -1, served = 0;
    if (me != 0) {
        CHECK(barrier_sync() == 0);
        CHECK(send_signal_and_wait(0, 5, &answer) == 0 && answer == 10);
        CHECK(send_signal_and_wait(0, 6, &answer) == 0 && answer == 0);
        CHECK(send_signal_and_wait(0, 7, &answer) == 0 && answer == 7);
        CHECK(send_signal_and_wait(0, 8, NULL) == 0 && send_signal(0, 9) == 0);
        CHECK(send_signal_and_wait(0, HCS_P(1), NULL) == 0);
        CHECK(send_signal_and_wait(0, HCS_V(1), NULL) == 0);
        CHECK(barrier_sync() == 0);
        return;
    }
    CHECK(set_signal_handler(5, twice) == 0 && set_signal_handler(6, ignore_signal_handler) == 0);
    CHECK(set_signal_handler(7, pass_on) == 0);
    CHECK(set_signal_handler(8, default_signal_handler) == 0);
    CHECK(service_signals(0) == 0 && barrier_sync() == 0);
    while (served < 3 * (nodes - 1)) {
        int now = service_signals(10000);
        CHECK(now >= 0);
        served += now;
    }
    CHECK(barrier_sync() == 0);
    CHECK(calls_of_handler == nodes - 1 && (nodes == 1 || in_handler == HCS_IN_HANDLER));
    /* Two kinds are kept as they are, and one was passed on with the next number, which is 8 too. */
    for (int count = 0; count < 3 * (nodes - 1); count++)
        CHECK(hcs_take_signal(&from, &signal) == 1 && (signal == 8 || signal == 9) && from > 0);
    CHECK(hcs_take_signal(&from, &signal) == 0);
}

int main(void)
{
    mistakes_before();
    CHECK(cluster_init(NULL) == 0);
    int me = hcs_node(), nodes = hcs_nodes();
    hcs_info info;
    CHECK(sci_lib_info(&info) == 0 && info.node == me && info.nodes == nodes);
    CHECK(info.ports == nodes && info.segments == 0 && info.free_bytes == 1 << 20);
    mistakes(me, nodes);
    CHECK(barrier_sync() == 0);
    ports(me, nodes);
    segments(me, nodes);
    blocks(me, nodes);
    signals(me, nodes);
    CHECK(hcs_p(2) == 0 && hcs_v(2) == 0);
    CHECK(safe_exit() == 0);
    CHECK(safe_exit() == HCS_NOT_BEGUN && barrier_sync() == HCS_NOT_BEGUN);
    CHECK(cluster_init(NULL) == HCS_BEGUN);
    if (me == 0)
        printf("%d nodes: all calls do what they should\n", nodes);
    return 0;
}
