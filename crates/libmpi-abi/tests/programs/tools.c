/* The tools information interface: every variable can be found, described and read, before, during and after the run. */
#include "check.h"

static unsigned long counted(MPI_T_pvar_session session, const char *name, int class) {
    int index, count;
    unsigned long value = 77;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    return value;
}

static void performance(void) {
    int number, found, class, verbosity, readonly, continuous, atomic, length, words_length;
    char name[64], words[128];
    MPI_Datatype type;
    MPI_T_pvar_session session;
    CHECK(MPI_T_pvar_get_num(&number) == MPI_SUCCESS && number > 5);
    for (int i = 0; i < number; i++) {
        length = sizeof name, words_length = sizeof words;
        CHECK(MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, words, &words_length, NULL, &readonly, &continuous, &atomic) == MPI_SUCCESS);
        CHECK(length == (int)strlen(name) + 1 && words_length == (int)strlen(words) + 1);
        CHECK(type == MPI_UNSIGNED_LONG && readonly && continuous);
        CHECK(MPI_T_pvar_get_index(name, class, &found) == MPI_SUCCESS && found == i);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &found) == MPI_T_ERR_INVALID_NAME);
    }
    length = 3;
    CHECK(MPI_T_pvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strlen(name) == 2 && length > 3);
    CHECK(MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    MPI_Comm comm;
    unsigned long before = counted(session, "communicator_in_use", MPI_T_PVAR_CLASS_LEVEL);
    unsigned long failed = counted(session, "errors", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(counted(session, "communicator_in_use", MPI_T_PVAR_CLASS_LEVEL) == before + 1);
    MPI_Comm_free(&comm);
    CHECK(counted(session, "communicator_in_use", MPI_T_PVAR_CLASS_LEVEL) == before);
    MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    /* The checks of `counted` fail on purpose, four times a call. */
    CHECK(counted(session, "errors", MPI_T_PVAR_CLASS_COUNTER) > failed + 1);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
}

static void control(const char *carrier) {
    int number, found, scope, count, value = 7, old;
    char name[64], text[64];
    MPI_Datatype type;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number == 4);
    for (int i = 0; i < number; i++) {
        int length = sizeof name;
        CHECK(MPI_T_cvar_get_info(i, name, &length, NULL, &type, NULL, NULL, NULL, NULL, &scope) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_get_index(name, &found) == MPI_SUCCESS && found == i);
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS);
        CHECK(count <= (int)sizeof text);
        CHECK(MPI_T_cvar_read(handle, type == MPI_CHAR ? (void *)text : (void *)&value) == MPI_SUCCESS);
        if (type == MPI_CHAR) CHECK(strcmp(text, carrier) == 0);
        if (scope == MPI_T_SCOPE_CONSTANT) CHECK(MPI_T_cvar_write(handle, text) == MPI_T_ERR_CVAR_SET_NEVER);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_cvar_get_index("nothing", &found) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index("check_leaks", &found) == MPI_SUCCESS);
    MPI_T_cvar_handle_alloc(found, NULL, &handle, &count);
    MPI_T_cvar_read(handle, &old);
    value = !old;
    CHECK(MPI_T_cvar_write(handle, &value) == MPI_SUCCESS && MPI_T_cvar_read(handle, &found) == MPI_SUCCESS && found == value);
    MPI_T_cvar_write(handle, &old);
    MPI_T_cvar_handle_free(&handle);
    CHECK(MPI_T_cvar_read(handle, &old) == MPI_T_ERR_INVALID_HANDLE);
}

static void categories(void) {
    int number, controls, performances, others, events, all = 0, indices[64];
    CHECK(MPI_T_category_get_num(&number) == MPI_SUCCESS);
    for (int i = 0; i < number; i++) {
        char name[64];
        int length = sizeof name, found;
        CHECK(MPI_T_category_get_info(i, name, &length, NULL, NULL, &controls, &performances, &others) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == i && others == 0);
        CHECK(MPI_T_category_get_num_events(i, &events) == MPI_SUCCESS && events == 0);
        memset(indices, -1, sizeof indices);
        CHECK(MPI_T_category_get_cvars(i, 64, indices) == MPI_SUCCESS);
        CHECK(controls == 0 || indices[controls - 1] == controls - 1);
        CHECK(MPI_T_category_get_pvars(i, 64, indices) == MPI_SUCCESS);
        CHECK(performances == 0 || indices[performances - 1] == performances - 1);
        all += controls + performances;
    }
    MPI_T_cvar_get_num(&controls);
    MPI_T_pvar_get_num(&performances);
    CHECK(all == controls + performances);
    CHECK(MPI_T_category_get_index("none", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 0);
    CHECK(MPI_T_event_get_index("none", &events) == MPI_T_ERR_INVALID_NAME);
}

int main(int argc, char **argv) {
    int provided, number;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    control("");
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    control(over_tcp ? "tcp" : "local");
    performance();
    categories();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MPI_Finalize();
    CHECK(MPI_T_pvar_get_num(&number) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
