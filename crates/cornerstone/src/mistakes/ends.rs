//! Kinds of mistakes between ranks, and of ends of ranks. Every run finds them.

use super::kind::{BLANK, MistakeKind};

/// The kinds. The first whose words a message contains is its kind, so those with particular words come first.
pub(super) const ENDS: &[MistakeKind] = &[
    MistakeKind {
        name: "deadlock",
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
int value = rank, sum = 0;
if (rank == 0) MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
MPI_Barrier(MPI_COMM_WORLD);
if (rank == 1) MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "types-differ",
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
        title: "A message is never received",
        sections: "11.2.2",
        remedy: "receive it before MPI_Finalize, or do not send it",
        says: &["was never received"],
        example: "if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 21, MPI_COMM_WORLD);",
        ..BLANK
    },
    MistakeKind {
        name: "never-sent",
        title: "A rank waits for another that has come to MPI_Finalize",
        sections: "3.5, 11.2.2",
        remedy: "let the other rank make the matching call, with the same communicator, rank and tag",
        says: &["came to MPI_Finalize before", "and all others have ended"],
        example: "\
int got;
if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
if (rank == 1) MPI_Recv(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        ..BLANK
    },
    MistakeKind {
        name: "abort",
        title: "The program calls MPI_Abort",
        remedy: "the program's own output says why",
        says: &["called MPI_Abort"],
        example: "if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);",
        ..BLANK
    },
    MistakeKind {
        name: "crash",
        title: "A signal kills a rank",
        remedy: "run it under a debugger or with -fsanitize=address (guides/mistakes.md shows both)",
        says: &["was killed by"],
        example: "if (rank == 1) __builtin_trap();",
        ..BLANK
    },
    MistakeKind {
        name: "no-finalize",
        title: "A rank ends without MPI_Finalize",
        sections: "11.2.2",
        remedy: "call MPI_Finalize on every path to the end of the program",
        says: &["without MPI_Finalize"],
        example: "if (rank == 1) return 0;",
        ..BLANK
    },
    MistakeKind {
        name: "failed",
        title: "A rank ends with a status that is not 0",
        remedy: "the program's own output says why",
        says: &["ended with status", "ended, but its status", "ended in an unknown way"],
        example: "MPI_Finalize();\nreturn rank == 1 ? 3 : 0;",
        ..BLANK
    },
];
