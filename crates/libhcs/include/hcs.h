/* SCI_LIB and HCS_LIB, the libraries of a cluster of 1996, for C programs: link with -lhcs and start with `cornerstone launch -n NODES PROGRAM`.
 *
 * The 32 names are those of George and others, "SCI and the scalable cluster architecture latency-hiding environment (SCALE) project" (1996), tables 4
 * and 5; their arguments are ours. docs/services.md says what each does.
 *
 * A function returns a negative code of the list below if it fails; hcs_last_error() tells why in words. Only the thread that began may call. Times are in
 * milliseconds.
 */
#ifndef HCS_H
#define HCS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HCS_OK = 0,
    HCS_FABRIC = -1,            /* the fabric failed, or a node died: the run cannot go on */
    HCS_NO_SUCH_NODE = -2,
    HCS_PORT_IN_USE = -3,
    HCS_PORT_TAKEN = -4,
    HCS_NO_SUCH_PORT = -5,
    HCS_RESERVED = -6,          /* a number above HCS_OWN_MAX */
    HCS_DIRECTORY_FULL = -7,
    HCS_BLOCK_TOO_LONG = -8,    /* for the buffer; the block is still there */
    HCS_SEGMENT_IN_USE = -9,
    HCS_NO_SUCH_SEGMENT = -10,
    HCS_SEGMENT_MAPPED = -11,
    HCS_NOT_YOURS = -12,
    HCS_NO_ROOM = -13,
    HCS_OUTSIDE_SEGMENT = -14,
    HCS_SIGNAL_TO_ONESELF = -15,
    HCS_NO_SUCH_SEMAPHORE = -16,
    HCS_TIMED_OUT = -17,
    HCS_OWN_BROADCAST = -18,
    HCS_NOT_BEGUN = -19,        /* before the beginning, after the end, or in another thread */
    HCS_BEGUN = -20,            /* begun already, or for a second time */
    HCS_IN_HANDLER = -21,       /* a signal's handler may call nothing */
    HCS_BAD_HANDLE = -22,       /* no port or segment of this node */
    HCS_BAD_ARGUMENT = -23,     /* a null pointer, a negative time */
    HCS_NO_CLUSTER = -24,       /* needs cluster_init, not sci_init_lib alone */
    HCS_OTHER = -25
};

/* The largest port, segment and signal of a program. */
#define HCS_OWN_MAX 2147483647u
/* Signals that take and give semaphore 0 to 63 of the node they go to, for send_signal_and_wait. */
#define HCS_P(semaphore) (0x80000100u + (unsigned)(semaphore))
#define HCS_V(semaphore) (0x80000200u + (unsigned)(semaphore))

/* What a cluster is made with, the same on all nodes; null for what stands here. */
typedef struct {
    long timeout_ms;     /* 60000: how long calls wait that are not told */
    size_t shared_bytes; /* 1 MiB: a node's memory for segments */
} hcs_options;

typedef struct {
    int node;
    int nodes;
    int memory_is_shared;
    int ports;
    int segments;
    size_t free_bytes;
} hcs_info;

/* A signal's handler: what it returns is the answer. */
typedef unsigned (*hcs_handler)(int from, unsigned signal);

/* SCI_LIB: the beginning and the end. */
int sci_init_lib(const hcs_options *options);
int sci_close_lib(void);
int sci_lib_info(hcs_info *info);

/* SCI_LIB: messages. Ports are handles, 0 and up. */
int sci_create_receive_port(unsigned name);
int sci_receive_port_connected(int port, int *node); /* 1 and the node, or 0 */
int sci_connect_transmit_port(int node, unsigned name);
long sci_read_msg(int port, void *buffer, size_t room); /* the length */
int sci_write_msg(int port, const void *data, size_t bytes);
int sci_remove_receive_port(int port);
int sci_remove_transmit_port(int port);

/* SCI_LIB: shared memory. Segments are handles, 0 and up. */
int sci_create_shm(unsigned key, size_t bytes);
int sci_map_shm(int node, unsigned key);
int sci_unmap_shm(int segment);
int sci_remove_shm(int segment);

/* HCS_LIB: the same, again and again until a time-out. */
int safe_shared_memory_make(unsigned key, size_t bytes);
int safe_shared_memory_map(int node, unsigned key, long timeout_ms);
int safe_create_receive_port(unsigned name);
int safe_connect_transmit_port(int node, unsigned name, long timeout_ms);
int safe_wait_for_connection(int port, long timeout_ms); /* the node */

/* HCS_LIB: blocks. */
int send_block(int node, const void *data, size_t bytes);
long get_block(int node, void *buffer, size_t room); /* the length */
int send_broadcast(const void *data, size_t bytes);
long get_broadcast(int from, void *buffer, size_t room); /* the length */

/* HCS_LIB: signals. */
int service_signals(long timeout_ms); /* how many there were */
unsigned default_signal_handler(int from, unsigned signal);
unsigned ignore_signal_handler(int from, unsigned signal);
int send_signal(int node, unsigned signal);
int send_signal_and_wait(int node, unsigned signal, unsigned *answer); /* answer may be null */
int set_signal_handler(unsigned signal, hcs_handler handler);
int barrier_sync(void);

/* HCS_LIB: the beginning and the end. */
int cluster_init(const hcs_options *options);
int safe_exit(void);

/* Ours, where the tables have no name for it. */
const char *hcs_last_error(void); /* valid until the next error; hcs_node() and hcs_nodes() keep it */
int hcs_node(void);
int hcs_nodes(void);
long hcs_segment_bytes(int segment);
int hcs_write_shm(int segment, size_t offset, const void *data, size_t bytes);
int hcs_read_shm(int segment, size_t offset, void *buffer, size_t bytes);
int hcs_take_signal(int *from, unsigned *signal); /* 1, or 0 if the default handler has kept none */
int hcs_p(unsigned semaphore); /* of the master, node 0 */
int hcs_v(unsigned semaphore);

#ifdef __cplusplus
}
#endif

#endif
