/* Every function that the library does not have: it is there, and fails when it is called, by name, through the handler. */
#include "check.h"

/* More arguments than any of them takes, all zero. */
typedef int (*Function)(long, long, long, long, long, long, long, long, long, long, long, long, long, long);

static const struct {
    const char *name;
    Function call;
} FUNCTIONS[] = {
#define UNSUPPORTED(name) {#name, (Function)(void (*)(void))name},
#include "unsupported_functions.h"
    {NULL, NULL}, /* Where it lacks none. */
};

static int calls;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    CHECK(*code == MPI_ERR_UNSUPPORTED_OPERATION);
    calls++;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    for (int i = 0; FUNCTIONS[i].name; i++) {
        char text[MPI_MAX_ERROR_STRING];
        int length, before = calls;
        int code = FUNCTIONS[i].call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (code != MPI_ERR_UNSUPPORTED_OPERATION || calls != before + 1)
            fprintf(stderr, "%s gives %d\n", FUNCTIONS[i].name, code);
        CHECK(code == MPI_ERR_UNSUPPORTED_OPERATION && calls == before + 1);
        MPI_Error_string(code, text, &length);
        CHECK(strncmp(text, FUNCTIONS[i].name, strlen(FUNCTIONS[i].name)) == 0 || strstr(text, FUNCTIONS[i].name));
    }
    MPI_Errhandler_free(&mine);
    MPI_Finalize();
    return 0;
}
