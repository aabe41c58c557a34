//! Kinds of mistakes in the arguments and in the moment of a call: the error classes of MPI. Every run finds them.

use super::kind::{BLANK, MistakeKind};

/// The kinds.
pub(super) const OF_CALLS: &[MistakeKind] = &[
    MistakeKind {
        name: "truncated",
        messages: &[
            "MPI_Recv: MPI_ERR_TRUNCATE: a message of 16 bytes from rank 0 with tag 0 is too long for a buffer of 8 bytes (main, program.c:8)",
        ],
        title: "A message is longer than its receive",
        sections: "3.2.4",
        remedy: "receive with a count that the longest message fits; MPI_Probe tells its length",
        says: &["MPI_ERR_TRUNCATE: "],
        example: "\
int data[4] = {0};
if (rank == 0) MPI_Send(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
if (rank == 1) MPI_Recv(data, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        ..BLANK
    },
    MistakeKind {
        name: "threads",
        messages: &[],
        title: "A thread calls MPI beyond the level that was asked for",
        sections: "11.6",
        remedy: "ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or let the main thread make the calls",
        says: &["MPI_THREAD_"],
        ..BLANK
    },
    MistakeKind {
        name: "outside-of-mpi",
        messages: &["MPI_Barrier: MPI_ERR_OTHER: MPI_Finalize has been called (main, program.c:7)"],
        title: "A call before MPI_Init or after MPI_Finalize",
        sections: "11.2",
        remedy: "make the call between MPI_Init and MPI_Finalize",
        says: &["MPI_Init has not been called", "MPI_Finalize has been called"],
        example: "MPI_Finalize();\nMPI_Barrier(MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-communicator",
        messages: &[
            "MPI_Barrier: MPI_ERR_COMM: MPI_COMM_NULL is no communicator (main, program.c:8)",
        ],
        title: "Not a communicator that the call can use",
        sections: "2.5.1, 7.4",
        remedy: "pass a communicator that this rank is a member of and that was not freed; MPI_Comm_split gives \
                 MPI_COMM_NULL to ranks with MPI_UNDEFINED",
        says: &["MPI_ERR_COMM: "],
        example: "\
MPI_Comm part;
MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &part);
MPI_Barrier(part);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-datatype",
        messages: &["MPI_Bcast: MPI_ERR_TYPE: the datatype was not committed (main, program.c:9)"],
        title: "Not a datatype, or one that was not committed",
        sections: "5.1.9",
        remedy: "call MPI_Type_commit before the type is used in communication",
        says: &["MPI_ERR_TYPE: "],
        example: "\
int data[4] = {0};
MPI_Datatype pair;
MPI_Type_contiguous(2, MPI_INT, &pair);
MPI_Bcast(data, 2, pair, 0, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-rank",
        messages: &["MPI_Send: MPI_ERR_RANK: rank 2 of a communicator of 2 (main, program.c:6)"],
        title: "A rank that the communicator does not have",
        sections: "3.2.3",
        remedy: "ranks go from 0 to the size of the communicator less 1; MPI_PROC_NULL is nobody",
        says: &["MPI_ERR_RANK: "],
        example: "MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-tag",
        messages: &["MPI_Send: MPI_ERR_TAG: tag -5 (main, program.c:6)"],
        title: "An invalid tag",
        sections: "3.2.3",
        remedy: "tags go from 0 to the attribute MPI_TAG_UB; MPI_ANY_TAG is for receives",
        says: &["MPI_ERR_TAG: "],
        example: "MPI_Send(&rank, 1, MPI_INT, 1 - rank, -5, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-count",
        messages: &["MPI_Bcast: MPI_ERR_COUNT: a count of -1 (main, program.c:6)"],
        title: "A count that is negative or too large",
        sections: "3.2.2",
        remedy: "pass the number of elements, not less than 0",
        says: &["MPI_ERR_COUNT: "],
        example: "MPI_Bcast(&rank, -1, MPI_INT, 0, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-root",
        messages: &["MPI_Bcast: MPI_ERR_ROOT: root 2 of a communicator of 2 (main, program.c:6)"],
        title: "A root that the communicator does not have",
        sections: "6.2.3",
        remedy: "the root is a rank of the communicator, the same at all ranks",
        says: &["MPI_ERR_ROOT: "],
        example: "MPI_Bcast(&rank, 1, MPI_INT, 2, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-operation",
        messages: &[
            "MPI_Allreduce: MPI_ERR_OP: the operation is not defined for this datatype (main, program.c:7)",
        ],
        title: "A reduction that is not defined for the type",
        sections: "6.9.2",
        remedy: "use an operation of the table in 6.9.2 for this type, or MPI_Op_create",
        says: &["MPI_ERR_OP: "],
        example: "\
double value = rank, all;
MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-buffer",
        messages: &[
            "MPI_Allreduce: MPI_ERR_BUFFER: what is sent and what is received overlap in memory (main, program.c:7)",
        ],
        title: "Memory that is missing, or that is given to a call twice",
        sections: "2.3, 6.2.1",
        remedy: "pass two buffers, or MPI_IN_PLACE for the one that is replaced",
        says: &["MPI_ERR_BUFFER: "],
        example: "\
int value = rank;
MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-request",
        messages: &["MPI_Start: MPI_ERR_REQUEST: not a persistent request (main, program.c:9)"],
        title: "Not a request, or one in the wrong state",
        sections: "3.7, 3.9",
        remedy: "start a persistent request once, and wait for it before it is started again",
        says: &["MPI_ERR_REQUEST: "],
        example: "\
int got;
MPI_Request receive;
MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive);
MPI_Start(&receive);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-object",
        messages: &["MPI_Comm_create: MPI_ERR_GROUP: not a group (main, program.c:8)"],
        title: "Not an object of the kind that the call takes",
        sections: "2.5.1",
        remedy: "pass an object that was made and not freed",
        says: &[
            "MPI_ERR_GROUP: ",
            "MPI_ERR_INFO: ",
            "MPI_ERR_WIN: ",
            "MPI_ERR_FILE: ",
            "MPI_ERR_ERRHANDLER: ",
            "MPI_ERR_KEYVAL: ",
            "MPI_ERR_SESSION: ",
        ],
        example: "\
MPI_Group none = MPI_GROUP_NULL;
MPI_Comm part;
MPI_Comm_create(MPI_COMM_WORLD, none, &part);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-topology",
        messages: &[
            "MPI_Cart_coords: MPI_ERR_TOPOLOGY: the communicator has no Cartesian topology (main, program.c:7)",
        ],
        title: "A communicator without the topology, or dimensions that do not fit",
        sections: "8.3, 8.5",
        remedy: "pass a communicator that MPI_Cart_create or MPI_Graph_create has made; the product of the dimensions is \
                 at most its size",
        says: &["MPI_ERR_TOPOLOGY: ", "MPI_ERR_DIMS: "],
        example: "\
int coordinates[2];
MPI_Cart_coords(MPI_COMM_WORLD, rank, 2, coordinates);",
        ..BLANK
    },
    MistakeKind {
        name: "window-epoch",
        messages: &[
            "MPI_Put: MPI_ERR_RMA_SYNC: an operation on rank 1 outside of an epoch for it (main, program.c:9)",
        ],
        title: "Synchronisation of a window in the wrong order",
        sections: "12.5",
        remedy: "open an epoch (MPI_Win_fence, MPI_Win_lock, MPI_Win_start) before the access, and close it before the \
                 window is freed",
        says: &["MPI_ERR_RMA_SYNC: "],
        example: "\
int memory = 0, value = rank;
MPI_Win win;
MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
MPI_Win_free(&win);",
        ..BLANK
    },
    MistakeKind {
        name: "window-range",
        messages: &[
            "MPI_Put: MPI_ERR_RMA_RANGE: 4 bytes at offset 8 do not lie in the window of rank 1, which has 8 bytes (main, program.c:10)",
        ],
        title: "An access outside of a window",
        sections: "12.2, 12.3",
        remedy: "displacements count in the units that the target has given to the window",
        says: &["MPI_ERR_RMA_RANGE: ", "MPI_ERR_DISP: "],
        example: "\
int memory[2] = {0}, value = rank;
MPI_Win win;
MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
MPI_Win_fence(0, win);
if (rank == 0) MPI_Put(&value, 1, MPI_INT, 1, 2, 1, MPI_INT, win);
MPI_Win_fence(0, win);
MPI_Win_free(&win);",
        ..BLANK
    },
    MistakeKind {
        name: "invalid-argument",
        messages: &[
            "MPI_Type_create_subarray: MPI_ERR_ARG: 3 of 4 from 2 on, in dimension 0 (main, program.c:8)",
        ],
        title: "Another argument is wrong",
        sections: "9.4",
        remedy: "the message names the argument",
        says: &["MPI_ERR_ARG: "],
        example: "\
int sizes[] = {4}, part[] = {3}, start[] = {2};
MPI_Datatype last;
MPI_Type_create_subarray(1, sizes, part, start, MPI_ORDER_C, MPI_INT, &last);",
        ..BLANK
    },
];
