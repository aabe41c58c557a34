//! Kinds of mistakes that an option finds. The program goes on.

use super::kind::{Found, MistakeKind};

/// The kinds.
pub(super) const CHECKED: &[MistakeKind] = &[
    MistakeKind {
        name: "receives-overlap",
        messages: &["MPI_Irecv (main, program.c:9) receives into 4 bytes that MPI_Irecv (main, program.c:8) receives into and has not ended"],
        title: "A call uses memory that a receive under way may write",
        found: Found::Check,
        sections: "3.7.2",
        remedy: "end the receive before its memory is used, or give each call memory of its own",
        says: &["receives into and has not ended"],
        example: "\
int memory[3] = {0};
MPI_Request both[2];
MPI_Irecv(memory, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
MPI_Irecv(memory + 1, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &both[1]);
int data[2] = {1, 2};
for (int tag = 0; tag < 2; tag++) MPI_Send(data, 2, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
MPI_Waitall(2, both, MPI_STATUSES_IGNORE);",
    },
    MistakeKind {
        name: "receive-over-send",
        messages: &["MPI_Sendrecv (main, program.c:9) receives into 4 bytes that MPI_Issend (main, program.c:8) sends and has not ended"],
        title: "A call receives into memory that a send under way reads",
        found: Found::Check,
        sections: "3.7.2",
        remedy: "end the send before its memory receives something else",
        says: &["sends and has not ended"],
        example: "\
int memory = rank, other = rank;
MPI_Request send;
MPI_Issend(&memory, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
MPI_Sendrecv(&other, 1, MPI_INT, 1 - rank, 1, &memory, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Wait(&send, MPI_STATUS_IGNORE);",
    },
    MistakeKind {
        name: "send-changed",
        messages: &["the 400 bytes that MPI_Issend (main, program.c:8) sends were changed before MPI_Wait (main, program.c:11) ended it"],
        title: "The program changes data while they are sent",
        found: Found::Check,
        sections: "3.7.2, 12.3",
        remedy: "wait for the end of the operation before the data change",
        says: &["were changed before"],
        example: "\
int data[100] = {0}, got[100];
MPI_Request send;
MPI_Issend(data, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
data[0] = 5;
MPI_Recv(got, 100, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Wait(&send, MPI_STATUS_IGNORE);",
    },
    MistakeKind {
        name: "receive-written",
        messages: &["the program wrote to the 8 bytes that MPI_Irecv (main, program.c:8) receives into before MPI_Wait (main, program.c:11) ended it"],
        title: "The program writes to memory while a message is received into it",
        found: Found::Check,
        sections: "3.7.2",
        remedy: "wait for the end of the operation before the memory is used",
        says: &["the program wrote to"],
        example: "\
int memory[2] = {0}, data[2] = {7, 8};
MPI_Request receive;
MPI_Irecv(memory, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive);
memory[1] = 5;
MPI_Send(data, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
MPI_Wait(&receive, MPI_STATUS_IGNORE);",
    },
    MistakeKind {
        name: "own-overlap",
        messages: &["MPI_Sendrecv (main, program.c:7) receives into 8 bytes that it sends"],
        title: "A call receives into memory that it sends",
        found: Found::Check,
        sections: "2.3, 3.10",
        remedy: "give the call two buffers, or use MPI_Sendrecv_replace or MPI_IN_PLACE",
        says: &["that it sends"],
        example: "\
int memory[2] = {rank, rank};
MPI_Sendrecv(memory, 2, MPI_INT, 1 - rank, 0, memory, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    },
    MistakeKind {
        name: "receive-freed",
        messages: &["MPI_Request_free (main, program.c:9) frees the request of MPI_Irecv (main, program.c:8), of which nothing tells any more when its 4 bytes are there"],
        title: "The request of a receive is freed while the receive is under way",
        found: Found::Check,
        sections: "3.7.3",
        remedy: "wait for the receive; then its request is gone by itself",
        says: &["frees the request of"],
        example: "\
int got;
MPI_Request receive;
MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive);
MPI_Request_free(&receive);
MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);",
    },
    MistakeKind {
        name: "unordered-accesses",
        messages: &["MPI_Put (main, program.c:10) writes 4 bytes in the window of rank 1 that MPI_Put (main, program.c:10) of rank 1 writes, and nothing orders the two"],
        title: "Two accesses to the same memory of a window, of which one writes, are in no order",
        found: Found::Check,
        sections: "12.7",
        remedy: "end the first access (a fence, or a flush or unlock and then a message or a barrier) before the second begins, or use an exclusive lock, or one accumulate operation for both",
        says: &["and nothing orders the two"],
        example: "\
int *memory;
MPI_Win window;
MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
MPI_Win_fence(0, window);
MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
MPI_Win_fence(0, window);
MPI_Win_free(&window);",
    },
    MistakeKind {
        name: "leak",
        messages: &["not freed at MPI_Finalize: 1 communicator (main, program.c:7)"],
        title: "An object is not freed before MPI_Finalize",
        found: Found::CheckLeaks,
        sections: "2.5.1, 11.2.2",
        remedy: "free it (MPI_Comm_free, MPI_Type_free, ...), or wait for the request",
        says: &["not freed at MPI_Finalize"],
        example: "MPI_Comm copy;\nMPI_Comm_dup(MPI_COMM_WORLD, &copy);",
    },
];
