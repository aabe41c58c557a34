//! Kinds of mistakes between ranks, and of ends of ranks. Every run finds them.

use super::kind::{BLANK, MistakeKind};

/// The kinds. The first whose words a message contains is its kind, so those with particular words come first.
pub(super) const ENDS: &[MistakeKind] = &[
    MistakeKind {
        name: "deadlock",
        messages: &[
            "deadlock: all ranks wait, and no message is under way\n  rank 0 waits in MPI_Recv (main, program.c:7) for tag 0 of rank 1\n  rank 1 waits in MPI_Recv (main, program.c:7) for tag 0 of rank 0",
        ],
        title: "All ranks wait for each other",
        sections: "3.5",
        remedy: "let one of the ranks make the call that another one waits for, or start it without waiting (MPI_Isend, \
                 MPI_Irecv, MPI_Sendrecv)",
        says: &["deadlock: "],
        example: "\
int got;
MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "collectives-differ",
        messages: &[
            "MPI_Finalize: MPI_ERR_OTHER: collectives do not match: rank 0 has 2 integers of 4 bytes in a broadcast (main, program.c:8), rank 1 has 1 floating-point number of 8 bytes (main, program.c:9) (collective 1)",
        ],
        title: "The ranks of a communicator call different collectives, or one with different arguments",
        sections: "6.1, 6.14",
        remedy: "let all ranks of the communicator make the same collective calls in the same order, with the same root, \
                 operation and amount of data",
        says: &[
            "collectives do not match",
            "bytes where ",
            "another member has failed, or sent nothing",
        ],
        example: "\
int pair[2] = {7, 8};
double one = 0;
if (rank == 0) MPI_Bcast(pair, 2, MPI_INT, 0, MPI_COMM_WORLD);
if (rank == 1) MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "types-differ",
        messages: &[
            "MPI_Finalize: MPI_ERR_OTHER: datatypes do not match: rank 0 sends 1 integer of 4 bytes with tag 4 (main, program.c:8), which rank 1 receives as 1 floating-point number of 4 bytes (main, program.c:9)",
        ],
        title: "A message is received as another type than it was sent",
        sections: "3.3.1",
        remedy: "give both calls the same datatype; MPI_BYTE matches every other",
        says: &["datatypes do not match"],
        example: "\
int whole = 7;
float part;
if (rank == 0) MPI_Send(&whole, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
if (rank == 1) MPI_Recv(&part, 1, MPI_FLOAT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        ..BLANK
    },
    MistakeKind {
        name: "never-received",
        messages: &[
            "MPI_Finalize: MPI_ERR_OTHER: a message of 4 bytes with tag 21 of rank 0 (main, program.c:6) was never received by rank 1",
        ],
        title: "A message is never received",
        sections: "11.2.2",
        remedy: "receive it before MPI_Finalize, or do not send it",
        says: &["was never received"],
        example: "if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 21, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "never-sent",
        messages: &[
            "MPI_Recv: MPI_ERR_PROC_ABORTED: rank 0 came to MPI_Finalize before it sent a message with tag 2 that is waited for; no receive has matched its message of 4 bytes with tag 1 (main, program.c:8)",
        ],
        title: "A rank waits for another that has come to MPI_Finalize",
        sections: "3.5, 11.2.2",
        remedy: "let the other rank make the matching call, with the same communicator, rank and tag",
        says: &["came to MPI_Finalize before"],
        example: "\
int got;
if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
if (rank == 1) MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        ..BLANK
    },
    MistakeKind {
        name: "abort",
        messages: &["the program called MPI_Abort with error code 7 (main, program.c:6)"],
        title: "The program calls MPI_Abort",
        remedy: "the program's own output says why",
        says: &["called MPI_Abort"],
        example: "if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);",
        ..BLANK
    },
    MistakeKind {
        name: "crash",
        messages: &["was killed by signal 4, SIGILL"],
        title: "A signal kills a rank",
        remedy: "run it under a debugger or with -fsanitize=address (guides/mistakes.md shows both)",
        says: &["was killed by"],
        example: "if (rank == 1) __builtin_trap();",
        ..BLANK
    },
    MistakeKind {
        name: "no-finalize",
        messages: &["ended without MPI_Finalize"],
        title: "A rank ends without MPI_Finalize",
        sections: "11.2.2",
        remedy: "call MPI_Finalize on every path to the end of the program",
        says: &["without MPI_Finalize"],
        example: "if (rank == 1) return 0;",
        ..BLANK
    },
    MistakeKind {
        name: "failed",
        messages: &["ended with status 3"],
        title: "A rank ends with a status that is not 0",
        remedy: "the program's own output says why",
        says: &["ended with status", "ended, but its status", "ended in an unknown way"],
        example: "MPI_Finalize();\nreturn rank == 1 ? 3 : 0;",
        ..BLANK
    },
];
