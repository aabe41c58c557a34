/* Runs a test of MPICH that comes as a function, as a program of its own. */
#include <stdlib.h>
#include <string.h>
#include "mpitest.h"

int main(int argc, char **argv)
{
    MTest_Init(&argc, &argv);
    size_t room = 1;
    for (int i = 1; i < argc; i++)
        room += strlen(argv[i]) + 1;
    char *words = calloc(room, 1);
    for (int i = 1; i < argc; i++) {
        strcat(words, i > 1 ? " " : "");
        strcat(words, argv[i]);
    }
    int errors = run(words);
    free(words);
    MTest_Finalize(errors);
    return MTestReturnValue(errors);
}
