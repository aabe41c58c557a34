/* SCI_LIB alone: what needs a cluster says so, and sci_close_lib ends it. */
#include <hcs.h>
#include <stdio.h>

int main(void)
{
    hcs_options options = {5000, 4096};
    if (sci_init_lib(&options) != 0)
        return 1;
    int own = sci_create_shm(1, 4096), none = sci_create_shm(2, 1);
    int failed = own < 0 || none != HCS_NO_ROOM || barrier_sync() != HCS_NO_CLUSTER
                 || safe_exit() != HCS_NO_CLUSTER || sci_remove_shm(own) != 0;
    if (failed)
        fprintf(stderr, "node %d: %s\n", hcs_node(), hcs_last_error());
    if (sci_close_lib() != 0 || sci_close_lib() != HCS_NOT_BEGUN)
        return 1;
    return failed;
}
