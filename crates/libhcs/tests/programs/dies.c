/* Node 1 dies; the others wait for it each in another call. */
#include <hcs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char byte;
    long result = 0;
    if (cluster_init(NULL) != 0)
        return 1;
    switch (hcs_node()) {
    case 1:
        raise(SIGKILL);
        break;
    case 0:
        result = get_block(1, &byte, 1);
        break;
    case 2:
        result = send_signal_and_wait(1, 5, NULL);
        break;
    default:
        result = barrier_sync();
    }
    fprintf(stderr, "node %d got %ld: %s\n", hcs_node(), result, hcs_last_error());
    return result == HCS_FABRIC ? 3 : 1;
}
