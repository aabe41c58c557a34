// What programs that hang, and programs that only look like it, have in common. It precedes each of them.
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

// Longer than it takes to find out that ranks wait for each other for ever.
#define LONG_S 4

// Stops this process for a long time, a second from now.
static void stop_for_long(void) {
    if (fork() != 0) return;
    sleep(1);
    kill(getppid(), SIGSTOP);
    sleep(LONG_S);
    kill(getppid(), SIGCONT);
    _exit(0);
}

