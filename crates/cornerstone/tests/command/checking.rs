//! Tests `cornerstone launch --check` with programs that have one mistake in the use of memory each, and with programs
//! that nearly have one (`checked.c`).

use crate::lab::Lab;
use crate::launching::{lab_with, run_program};

const SOURCE: &str = include_str!("checked.c");

/// Fabrics that move data by different means: by copies between processes, by a stream, by a simulation.
const VARIANTS: [&[&str]; 3] =
    [&["-n", "2"], &["-n", "2", "--fabric", "tcp"], &["-n", "2", "--fabric", "sim:cluster"]];

/// Each mistake, and the line of the output. `FIRST` and `SECOND` stand for the places of the calls.
const MISTAKES: &[(&str, &str)] = &[
    (
        "received_into_and_written",
        "the program wrote to the 40 bytes that MPI_Irecv FIRST receives into before MPI_Wait SECOND ended it",
    ),
    (
        "written_after_the_message_came",
        "the program wrote to the 40 bytes that MPI_Irecv FIRST receives into before MPI_Wait SECOND ended it",
    ),
    (
        "result_changed",
        "the program wrote to the 40 bytes that MPI_Iallreduce FIRST receives into before MPI_Test SECOND ended it",
    ),
    (
        "got_into_and_written",
        "the program wrote to the 40 bytes that MPI_Get FIRST receives into before MPI_Win_flush SECOND ended it",
    ),
    // 10 elements from the first on, and 10 from the sixth on.
    (
        "puts_of_one_epoch_overlap",
        "MPI_Put FIRST writes 20 bytes in the window of rank 1 that MPI_Put SECOND of rank 1 writes, and nothing orders the two",
    ),
    (
        "read_under_a_shared_lock_while_written",
        "MPI_Accumulate FIRST writes 4 bytes in the window of rank 0 that MPI_Get SECOND of rank 1 reads, and nothing orders the two",
    ),
    (
        "written_beyond_the_message",
        "the program wrote to the 40 bytes that MPI_Irecv FIRST receives into before MPI_Wait SECOND ended it",
    ),
    (
        "sent_while_received_into",
        "MPI_Send SECOND sends 20 bytes that MPI_Irecv FIRST receives into and has not ended",
    ),
    (
        "received_into_while_sent",
        "MPI_Recv SECOND receives into 4 bytes that MPI_Issend FIRST sends and has not ended",
    ),
    ("exchanged_in_one_memory", "MPI_Sendrecv FIRST receives into 8 bytes that it sends"),
    ("started_exchange_in_one_memory", "MPI_Isendrecv FIRST receives into 8 bytes that it sends"),
    (
        "persistent_send_changed",
        "the 40 bytes that MPI_Start FIRST sends were changed before MPI_Wait SECOND ended it",
    ),
    (
        "put_changed",
        "the 40 bytes that MPI_Put FIRST sends were changed before MPI_Win_fence SECOND ended it",
    ),
    (
        "put_with_a_request_changed",
        "the 40 bytes that MPI_Rput FIRST sends were changed before MPI_Wait SECOND ended it",
    ),
    (
        "got_into_what_is_put",
        "MPI_Get SECOND receives into 4 bytes that MPI_Put FIRST sends and has not ended",
    ),
    (
        "collective_changed",
        "the 40 bytes that MPI_Iallreduce FIRST sends were changed before MPI_Wait SECOND ended it",
    ),
    (
        "persistent_collective_changed",
        "the 40 bytes that MPI_Start FIRST sends were changed before MPI_Wait SECOND ended it",
    ),
    // 100 pieces of 4 bytes, and the 99 that two columns have in common.
    (
        "column_changed",
        "the 400 bytes that MPI_Issend FIRST sends were changed before MPI_Wait SECOND ended it",
    ),
    (
        "columns_overlap",
        "MPI_Irecv SECOND receives into 396 bytes that MPI_Irecv FIRST receives into and has not ended",
    ),
];

/// The programs without mistakes.
const RIGHT: [&str; 8] = [
    "columns",
    "read_twice",
    "fails",
    "insignificant",
    "persistent",
    "windows",
    "receives",
    "accesses_in_order",
];

/// Returns the reports of `--check` for a program, each line once, without its rank and count.
fn checked(lab: &Lab, variant: &[&str], name: &str) -> Vec<String> {
    let ended = run_program(lab, &[variant, &["--check"]].concat(), name);
    let what = |line: &str| {
        let (_, what) = line.split_once(": check: ")?;
        let what = what.split_once(": ")?.1;
        Some(what.split(" (2 times)").next()?.to_string())
    };
    let mut found: Vec<String> = ended.stderr.lines().filter_map(what).collect();
    found.sort();
    found.dedup();
    match &found[..] {
        [] => {
            assert_eq!(ended.status, Some(0), "{name} {variant:?}: {ended:#?}");
            assert!(
                ended.stderr.contains("cornerstone: no mistakes found"),
                "{name} {variant:?}: {ended:#?}"
            );
        }
        _ => {
            ended.refuses(1, &["--check found "]);
            assert!(!ended.stderr.contains("no mistakes found"), "{name} {variant:?}: {ended:#?}");
        }
    }
    found
}

/// Returns the place of a call, whose line in a function ends with a remark.
fn place(function: &str, remark: &str) -> String {
    let mut lines = SOURCE.lines().enumerate();
    let begin = format!("static void {function}(void) {{");
    lines.find(|(_, line)| *line == begin).unwrap_or_else(|| panic!("no function {function}"));
    let mut own = lines.take_while(|(_, line)| *line != "}");
    let wanted = format!("// {remark}");
    let found = own.find(|(_, line)| line.ends_with(&wanted));
    let (index, _) = found.unwrap_or_else(|| panic!("no {remark} in {function}"));
    format!("({function}, program.c:{})", index + 1)
}

#[test]
fn each_mistake_in_the_use_of_memory_is_told_with_its_calls() {
    let Some(lab) = lab_with("each mistake in the use of memory", SOURCE) else { return };
    for variant in VARIANTS {
        for (name, words) in MISTAKES {
            let mut expected = (*words).to_string();
            for (word, remark) in [("FIRST", "first"), ("SECOND", "second")] {
                if words.contains(word) {
                    expected = expected.replace(word, &place(name, remark));
                }
            }
            assert_eq!(checked(&lab, variant, name), [expected], "{name} {variant:?}");
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn members_of_a_collective_that_name_different_roots_are_told_with_both_calls() {
    let Some(lab) = lab_with("members that name different roots", SOURCE) else { return };
    for variant in VARIANTS {
        let ended = run_program(&lab, &[variant, &["--check"]].concat(), "roots_differ");
        assert_ne!(ended.status, Some(0), "{ended:#?}");
        let call = place("roots_differ", "first");
        for part in ["do not match", "in broadcast with root 0", "in broadcast with root 1", &call]
        {
            assert!(ended.stderr.contains(part), "{part}: {ended:#?}");
        }
    }
}

/// Tests two collectives that use the same memory. Rank 0 is the root of the broadcast: it sends from the memory into
/// which the reduction receives, and the other rank receives there too.
#[test]
fn collectives_that_use_the_same_memory_are_told_by_what_each_rank_does() {
    let Some(lab) = lab_with("collectives that use the same memory", SOURCE) else { return };
    let name = "collectives_overlap";
    let (first, second) = (place(name, "first"), place(name, "second"));
    let of = |what: &str| {
        let reduction = format!("MPI_Iallreduce {first} receives into and has not ended");
        format!("MPI_Ibcast {second} {what} 4 bytes that {reduction}")
    };
    assert_eq!(checked(&lab, VARIANTS[0], name), [of("receives into"), of("sends")]);
}

#[test]
fn programs_that_come_close_to_a_mistake_are_not_accused() {
    let Some(lab) = lab_with("programs that come close to a mistake", SOURCE) else { return };
    for variant in VARIANTS {
        for name in RIGHT {
            assert_eq!(checked(&lab, variant, name), Vec::<String>::new(), "{name} {variant:?}");
        }
    }
}
