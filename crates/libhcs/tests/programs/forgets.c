/* Node 1 ends without safe_exit. */
#include <hcs.h>
#include <stddef.h>

int main(void)
{
    if (cluster_init(NULL) != 0)
        return 1;
    if (hcs_node() != 1)
        safe_exit();
    return 0;
}
