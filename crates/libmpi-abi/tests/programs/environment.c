/* Set-up, versions, time, error classes and strings, memory, attributes, info. */
#include "check.h"

static int copies, deletes;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key;
    CHECK(extra == &copies);
    copies++;
    *(long *)out = (long)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, flag, *bound;
    long value = 0;
    MPI_Comm other;
    CHECK(MPI_Comm_create_keyval(copy, delete, &key, &copies) == MPI_SUCCESS);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)41);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_get_attr(other, key, &value, &flag);
    CHECK(flag && value == 42 && copies == 1);
    MPI_Comm_free(&other);
    CHECK(other == MPI_COMM_NULL && deletes == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 2);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    CHECK(flag && *bound >= 32767);
}

static void information(void) {
    MPI_Info info, other;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag, count, length = sizeof value;
    MPI_Info_create(&info);
    MPI_Info_set(info, "first", "one");
    MPI_Info_set(info, "second", "two");
    MPI_Info_set(info, "first", "1");
    MPI_Info_dup(info, &other);
    MPI_Info_delete(info, "first");
    MPI_Info_get_nkeys(other, &count);
    CHECK(count == 2);
    MPI_Info_get_nthkey(other, 0, key);
    CHECK(!strcmp(key, "first"));
    MPI_Info_get_string(other, "first", &length, value, &flag);
    CHECK(flag && length == 2 && !strcmp(value, "1"));
    MPI_Info_get_string(info, "first", &length, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    MPI_Info_free(&other);
    CHECK(info == MPI_INFO_NULL);
}

/* Memory has the alignment that is asked for, whatever its length and whoever gives it. */
static void alignments(void) {
    for (size_t bytes = 16; bytes <= 1 << 21; bytes *= 8) {
        char text[16];
        MPI_Info info;
        MPI_Win window;
        void *memory[8], *base;
        snprintf(text, sizeof text, "%zu", bytes);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        for (int i = 0; i < 8; i++) {
            MPI_Alloc_mem(1 + i * 3000, info, &memory[i]);
            CHECK((size_t)memory[i] % bytes == 0);
            memset(memory[i], 1, 1 + i * 3000);
        }
        for (int i = 0; i < 8; i++) MPI_Free_mem(memory[i]);
        for (int length = 33; length < 10000; length += 4000) {
            MPI_Win_allocate(length, 1, info, MPI_COMM_WORLD, &base, &window);
            CHECK((size_t)base % bytes == 0);
            memset(base, 1, length);
            MPI_Win_free(&window);
            MPI_Win_allocate_shared(length + rank, 1, info, MPI_COMM_WORLD, &base, &window);
            CHECK((size_t)base % bytes == 0);
            memset(base, 1, length + rank);
            MPI_Win_free(&window);
        }
        /* One piece for all: it begins where it must. */
        MPI_Info_set(info, "alloc_shared_noncontig", "false");
        MPI_Win_allocate_shared(17, 1, info, MPI_COMM_WORLD, &base, &window);
        CHECK(rank != 0 || (size_t)base % bytes == 0);
        MPI_Win_free(&window);
        MPI_Info_free(&info);
    }
}

static int query(void *extra, MPI_Status *status) {
    (void)extra, (void)status;
    return MPI_SUCCESS;
}
static int release(void *extra) {
    ++*(int *)extra;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int is_complete) {
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

/* A request that is freed before it is complete is released when it is. */
static void freed_early(void) {
    int released = 0;
    MPI_Request request, copy;
    MPI_Grequest_start(query, release, cancel, &released, &request);
    copy = request;
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL && released == 0);
    CHECK(MPI_Grequest_complete(copy) == MPI_SUCCESS && released == 1);
    MPI_Grequest_start(query, release, cancel, &released, &request);
    MPI_Grequest_complete(request);
    CHECK(released == 1);
    MPI_Request_free(&request);
    CHECK(released == 2);
}

int main(int argc, char **argv) {
    int flag, version, subversion, length, class, code;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    CHECK(!flag);
    begin(&argc, &argv);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Get_version(&version, &subversion);
    CHECK(version == 5 && subversion == 0);
    MPI_Abi_get_version(&version, &subversion);
    CHECK(version == 1 && subversion == 0);
    MPI_Get_library_version(text, &length);
    CHECK(length == (int)strlen(text) && strstr(text, "Cornerstone"));
    MPI_Get_processor_name(text, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
    double before = MPI_Wtime();
    while (MPI_Wtime() == before)
        ;
    CHECK(MPI_Wtime() > before && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "a code of this program");
    MPI_Error_string(code, text, &length);
    CHECK(class_of(code) == class && !strcmp(text, "a code of this program"));
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    CHECK(strstr(text, "MPI_ERR_TRUNCATE"));
    char *memory;
    CHECK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
    memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    attributes();
    information();
    alignments();
    freed_early();
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    return 0;
}
