//! Tests what `cornerstone launch` prints about mistakes that some ranks detect while others are in MPI_Finalize
//! (`mistakes.c`).

use crate::hangs::variants;
use crate::lab::{Ended, Lab};
use crate::launching::{lab_with, run_program as run, start_program as start};

const SOURCE: &str = include_str!("mistakes.c");
const SIMULATED: &[&str] = &["-n", "4", "--fabric", "sim:gigabit-ethernet"];

/// Checks that a launch has failed, with these words. Its status depends on which rank fails first.
fn fails(ended: &Ended, words: &[&str]) {
    assert!(!matches!(ended.status, None | Some(0)), "{ended:#?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{word:?} is missing: {ended:#?}");
    }
    assert!(!ended.stderr.contains("died"), "{ended:#?}");
}

/// The ways to launch four ranks on which calls are compared over connections.
fn over_connections(test: &str) -> Vec<&'static [&'static str]> {
    let connects = |variant: &&[&str]| {
        variant[1] == "4" && variant.iter().any(|word| ["tcp", "ofi:tcp", "--host"].contains(word))
    };
    variants(test).into_iter().filter(connects).collect()
}

fn prepared(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

/// Mistakes in which rank 2 makes another call than the others, and the words for both calls. Any rank may be the first
/// to report, so the order of the two differs.
const OTHER_CALLS: [(&str, &[&str]); 9] = [
    ("broadcast", &["in broadcast with root 0", "in broadcast with root 1"]),
    ("reduce", &["in reduce (sum of 32-bit integers) with root "]),
    ("order", &["in broadcast with root 0", "in allreduce (sum of 32-bit integers)"]),
    ("kind", &["in allgather of unequal blocks", "in gather with root 0"]),
    ("manner", &["in allreduce (sum of", "in non-blocking allreduce (sum of 32-bit integers)"]),
    ("operation", &["in allreduce (sum of 32-bit", "in allreduce (maximum of 32-bit integers)"]),
    (
        "bits",
        &["in allreduce (bitwise and of 32-bit", "in allreduce (bitwise or of 32-bit integers)"],
    ),
    ("scanned", &["in scan (sum of 32-bit integers)", "in scan (maximum of 32-bit integers)"]),
    ("type", &["(sum of 32-bit integers)", "(sum of single-precision numbers)"]),
];
/// The same with another length. A rank to which a failed one sends nothing may report first.
const OTHER_LENGTHS: [(&str, &str); 2] =
    [("length", "allreduce: the data of rank "), ("blocks", "all-to-all: the data of rank ")];
const SENT_NOTHING: &str = "another member has failed, or sent nothing where this one expects";

/// Ranks on boards and by messages in shared memory, over TCP, on one host and on several as one fabric, over libfabric
/// and in virtual time compare the same properties of a call, and report them in the same words.
#[test]
fn another_call_is_reported_in_the_same_words_on_every_fabric() {
    let test = "another call on every fabric";
    let Some(lab) = prepared(test) else { return };
    for variant in variants(test).into_iter().chain([SIMULATED]).filter(|variant| variant[1] == "4")
    {
        let calls = OTHER_CALLS.map(|(name, words)| (start(&lab, variant, name), words));
        let lengths = OTHER_LENGTHS.map(|(name, words)| (start(&lab, variant, name), words));
        for (running, words) in calls {
            let ended = running.wait();
            println!("{words:?} {variant:?}");
            fails(&ended, words);
            fails(&ended, &["collectives do not match: rank "]);
        }
        for (running, words) in lengths {
            let ended = running.wait();
            println!("{words} {variant:?}");
            let words = [words, " bytes where ", " are expected"];
            fails(&ended, if ended.stderr.contains(SENT_NOTHING) { &[] } else { &words });
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn different_roots_are_told_although_a_rank_is_through() {
    let test = "different roots although a rank is through";
    let Some(lab) = prepared(test) else { return };
    let words = ["collectives do not match", "with root 0", "with root 1"];
    for variant in over_connections(test) {
        for name in ["broadcast", "reduce", "gather"] {
            fails(&run(&lab, variant, name), &words);
        }
    }
    // Rank 1 or rank 2 is through, depending on the order.
    for ranks in ["3", "4"] {
        for _ in 0..8 {
            let ended = run(&lab, &["-n", ranks, "--fabric", "tcp"], "broadcast");
            fails(&ended, &words);
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn a_rank_that_leaves_a_collective_out_is_told_to_be_in_finalize() {
    let test = "a rank that leaves a collective out";
    let Some(lab) = prepared(test) else { return };
    for variant in variants(test).into_iter().filter(|variant| variant[1] == "4") {
        fails(&run(&lab, variant, "part"), &["in allreduce", "rank 1 ", "in MPI_Finalize"]);
        fails(&run(&lab, variant, "barrier"), &["in barrier", "rank 3 ", "in MPI_Finalize"]);
    }
    // In virtual time the others may see that it has left before they see its call.
    fails(&run(&lab, SIMULATED, "part"), &["rank 1 ", "MPI_Finalize"]);
    fails(&run(&lab, SIMULATED, "barrier"), &["rank 3 ", "MPI_Finalize"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_message_that_a_rank_in_finalize_does_not_send_is_told_with_those_that_it_has_sent() {
    let test = "a message that a rank in finalize does not send";
    let Some(lab) = prepared(test) else { return };
    let tag = "rank 0 came to MPI_Finalize before it sent a message with tag 2 that is waited for; no receive has \
               matched its message of 4 bytes with tag 1";
    let communicator = "rank 0 came to MPI_Finalize before it sent a message with tag 5 that is waited for; no receive has \
                        matched its message of 4 bytes with tag 5 in another communicator";
    let synchronous =
        "rank 1 came to MPI_Finalize before it received a message of 4 bytes with tag 3";
    let any = "rank 0 waits for a message with tag 2 of any rank, and all others have ended";
    for variant in variants(test).into_iter().filter(|variant| variant[1] == "4") {
        fails(&run(&lab, variant, "tag"), &[tag]);
        fails(&run(&lab, variant, "communicator"), &[communicator]);
        fails(&run(&lab, variant, "synchronous"), &[synchronous]);
        fails(&run(&lab, variant, "any"), &[any]);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn a_program_whose_library_is_not_found_ends_with_a_hint() {
    let Some(lab) = prepared("a program whose library is not found") else { return };
    std::fs::remove_file(lab.path("libmpi_abi.so.1")).unwrap();
    for variant in [&["-n", "2"][..], SIMULATED] {
        let hint = "if it is libmpi_abi.so.1: LD_LIBRARY_PATH=/";
        run(&lab, variant, "broadcast").refuses(127, &["libmpi_abi.so.1: cannot open", hint]);
    }
}
