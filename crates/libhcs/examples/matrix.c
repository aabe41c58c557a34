/* The product of two matrices by a master and workers, as in 1996: the master broadcasts the second matrix and hands out rows of the first; a
 * worker asks for a row by a signal, gets it as a block and sends the row of the product back. Semaphores guard a count in shared memory.
 *
 *     cargo build --release -p cornerstone -p libhcs
 *     cc -O2 -o matrix crates/libhcs/examples/matrix.c -Icrates/libhcs/include -Ltarget/release -Wl,-rpath,$PWD/target/release -lhcs
 *     target/release/cornerstone launch -n 4 ./matrix
 *     target/release/cornerstone launch -n 4 --fabric tcp ./matrix
 */
#include <hcs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, WANT_ROW = 1, COUNT = 1 };

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

/* A row on its way, with its number; a negative number says that there are no more. */
struct row {
    long number;
    double values[SIDE];
};

/* Ends the program if a call has failed. */
static long must(long result, const char *call)
{
    if (result < 0) {
        fprintf(stderr, "node %d: %s: %s\n", hcs_node(), call, hcs_last_error());
        exit(1);
    }
    return result;
}

static void work(void)
{
    struct row row;
    long done = 0;
    int count = must(safe_shared_memory_map(0, COUNT, 10000), "safe_shared_memory_map");

    must(get_broadcast(0, right, sizeof right), "get_broadcast");
    for (;;) {
        must(send_signal(0, WANT_ROW), "send_signal");
        must(get_block(0, &row, sizeof row), "get_block");
        if (row.number < 0)
            break;
        double result[SIDE];
        for (int column = 0; column < SIDE; column++) {
            result[column] = 0;
            for (int at = 0; at < SIDE; at++)
                result[column] += row.values[at] * right[at][column];
        }
        memcpy(row.values, result, sizeof result);
        must(send_block(0, &row, sizeof row), "send_block");
        done++;
    }
    must(hcs_p(0), "hcs_p");
    long sum;
    must(hcs_read_shm(count, 0, &sum, sizeof sum), "hcs_read_shm");
    sum += done;
    must(hcs_write_shm(count, 0, &sum, sizeof sum), "hcs_write_shm");
    must(hcs_v(0), "hcs_v");
    must(sci_unmap_shm(count), "sci_unmap_shm");
}

static void hand_out(void)
{
    int workers = hcs_nodes() - 1, from, busy[64] = {0};
    unsigned signal;
    long next = 0, ended = 0, sum = 0;
    struct row row;
    int count = must(safe_shared_memory_make(COUNT, sizeof(long)), "safe_shared_memory_make");

    must(send_broadcast(right, sizeof right), "send_broadcast");
    while (ended < workers) {
        must(service_signals(10000), "service_signals");
        while (must(hcs_take_signal(&from, &signal), "hcs_take_signal")) {
            if (busy[from]) {
                must(get_block(from, &row, sizeof row), "get_block");
                memcpy(product[row.number], row.values, sizeof row.values);
            }
            busy[from] = next < SIDE;
            row.number = next < SIDE ? next : -1;
            if (next < SIDE)
                memcpy(row.values, left[next++], sizeof row.values);
            else
                ended++;
            must(send_block(from, &row, sizeof row), "send_block");
        }
    }
    must(barrier_sync(), "barrier_sync");
    must(hcs_read_shm(count, 0, &sum, sizeof sum), "hcs_read_shm");
    must(sci_remove_shm(count), "sci_remove_shm");
    double trace = 0;
    for (int at = 0; at < SIDE; at++)
        trace += product[at][at];
    printf("%d nodes: %ld rows, the diagonal of the product sums to %.0f\n", workers + 1, sum, trace);
}

int main(void)
{
    must(cluster_init(NULL), "cluster_init");
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            left[row][column] = (row * 7 + column * 3) % 11;
            right[row][column] = (row * 5 + column) % 13;
        }
    if (hcs_node() == 0) {
        hand_out();
    } else {
        work();
        must(barrier_sync(), "barrier_sync");
    }
    must(safe_exit(), "safe_exit");
    return 0;
}
