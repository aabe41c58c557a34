//! The terms in which `cornerstone launch` reports hangs: the communicators, windows and roots of the program
//! (`hang_terms.c`).

use crate::lab::Lab;
use crate::launching::{lab_with, place_in, run_program as run, start_program as start};

const SOURCE: &str = include_str!("hang_terms.c");
const STATUS: i32 = 122;

/// How programs of four ranks are launched.
const VARIANTS: [&[&str]; 5] = [
    &["-n", "4"],
    &["-n", "4", "--fabric", "tcp"],
    &["-n", "4", "--fabric", "cluster"],
    &["-n", "4", "--host", "localhost:1,127.0.0.1:3"],
    &["-n", "4", "--fabric", "sim:gigabit-ethernet"],
];
const LIBFABRIC: &[&str] = &["-n", "4", "--fabric", "ofi:tcp"];

fn prepared(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

/// The ways without that of libfabric, if the machine lacks it.
fn variants(test: &str) -> Vec<&'static [&'static str]> {
    let more = crate::ofi::is_here(test).then_some(LIBFABRIC);
    VARIANTS.into_iter().chain(more).collect()
}

/// The place of a call in parentheses, as reports of hangs name it.
fn place(function: &str, remark: &str) -> String {
    format!("({})", place_in(SOURCE, function, remark))
}

#[test]
fn communicators_are_named_as_the_program_names_and_makes_them() {
    let test = "communicators are named";
    let Some(lab) = prepared(test) else { return };
    let made = |name: &str, remark| format!("made by {name} {}", place("communicators", remark));
    let of_all = "in the communicator of ranks 0 to 3";
    let first = format!("{of_all}, {}", made("MPI_Comm_dup", "first duplicate"));
    let second = format!("{of_all}, {}", made("MPI_Comm_dup", "second duplicate"));
    let split = made("MPI_Comm_split", "split");
    let words = [
        format!("for tag 4 of rank 2 in the communicator of ranks 0, 2, {split}\n"),
        "for tag 4 of rank 3 in communicator \"halves\" of ranks 1, 3\n".into(),
        format!("for tag 4 of rank 0 {first}\n"),
        format!("for tag 4 of rank 0 {second}\n"),
    ];
    let words = words.each_ref().map(String::as_str);
    for variant in variants(test) {
        let ended = run(&lab, variant, "communicators");
        ended.refuses(STATUS, &words);
        let unexpected = format!(
            "not received there so far: 1 message of 4 bytes with tag 9 of rank 0 {first}\n"
        );
        ended.refuses(STATUS, &[&unexpected]);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn collectives_of_parts_and_intercommunicators_are_named_too() {
    let test = "collectives of parts are named";
    let Some(lab) = prepared(test) else { return };
    let between = format!(
        "in the intercommunicator between ranks 0, 2 and ranks 1, 3, made by MPI_Intercomm_create {}\n",
        place("between", "between")
    );
    let later = format!("made by MPI_Comm_idup {}\n", place("later", "later"));
    for variant in variants(test) {
        let words = ["rank 2 waits in MPI_Barrier", "in communicator \"halves\" of ranks 0, 2\n"];
        run(&lab, variant, "barrier").refuses(STATUS, &words);
        run(&lab, variant, "between").refuses(STATUS, &[&between]);
        run(&lab, variant, "later").refuses(STATUS, &[&later]);
    }
    run(&lab, VARIANTS[0], "self")
        .refuses(STATUS, &["in communicator \"MPI_COMM_SELF\" of rank 3\n"]);
    assert!(lab.becomes_empty());
}

#[test]
fn waits_for_windows_are_told_in_the_terms_of_windows_on_every_fabric() {
    let test = "waits for windows are told";
    let Some(lab) = prepared(test) else { return };
    let made = format!("made by MPI_Win_allocate {}", place("open_window", "window"));
    let of_all = format!("in the window of ranks 0 to 3, {made}\n");
    let complete = format!("until rank 1 calls MPI_Win_complete {of_all}");
    let queue = "in window \"queue\" of ranks 0 to 3\n";
    let post = format!("until rank 1 calls MPI_Win_post {queue}");
    for variant in variants(test) {
        let running = ["fence", "start", "waits"].map(|name| start(&lab, variant, name));
        let words =
            [["MPI_Win_fence", &of_all], ["MPI_Win_start", &post], ["MPI_Win_wait", &complete]];
        for (running, words) in running.into_iter().zip(words) {
            running.wait().refuses(STATUS, &words);
        }
        // Only the rank that serves the memory may know who has access.
        let by_message = ["tcp", "ofi:tcp", "--host", "sim:gigabit-ethernet"];
        let served = by_message.iter().any(|word| variant.contains(word));
        for (name, holds, here) in [
            ("lock", "rank 0 holds", "which rank 0 holds, "),
            ("shared", "other ranks share", "which other ranks share, "),
        ] {
            let ended = run(&lab, variant, name);
            let waits = "rank 2 waits in MPI_Win_lock (lock, program.c:";
            match served {
                true => ended.refuses(
                    STATUS,
                    &[
                        waits,
                        &format!("for the lock of rank 1 {queue}"),
                        &format!(
                            "    {holds} the lock of this rank, for which rank 2 waits, {queue}"
                        ),
                    ],
                ),
                false => {
                    ended.refuses(
                        STATUS,
                        &[waits, &format!("for the lock of rank 1, {here}{queue}")],
                    );
                }
            }
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn members_that_name_different_roots_are_told_with_them() {
    let test = "members that name different roots";
    let Some(lab) = prepared(test) else { return };
    for variant in variants(test) {
        let ended = run(&lab, variant, "roots");
        assert_ne!(ended.status, Some(0), "{variant:?} {ended:#?}");
        for printed in ["collectives do not match", "with root 0", "with root 1"] {
            assert!(ended.stderr.contains(printed), "{printed} {variant:?} {ended:#?}");
        }
    }
    assert!(lab.becomes_empty());
}
