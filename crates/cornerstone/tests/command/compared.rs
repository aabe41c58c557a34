//! Messages and collectives that do not match are found on every fabric, at the latest in MPI_Finalize, and named with the
//! lines of both sides (`compared.c`).

use crate::lab::Lab;
use crate::launching::{lab_with, place_in, run_program as run, start_program as start};

const SOURCE: &str = include_str!("compared.c");
const STATUS_HANG: i32 = 122;

/// How programs of three ranks are launched.
const VARIANTS: [&[&str]; 5] = [
    &["-n", "3"],
    &["-n", "3", "--fabric", "tcp"],
    &["-n", "3", "--fabric", "cluster"],
    &["-n", "3", "--host", "localhost:1,127.0.0.1:2"],
    &["-n", "3", "--fabric", "sim:cluster"],
];
const LIBFABRIC: &[&str] = &["-n", "3", "--fabric", "ofi:tcp"];

fn variants(test: &str) -> Vec<&'static [&'static str]> {
    let more = crate::ofi::is_here(test).then_some(LIBFABRIC);
    VARIANTS.into_iter().chain(more).collect()
}

/// Starts each program, and checks that it fails with all its words.
fn fail(lab: &Lab, variant: &[&str], programs: &[(&str, Vec<String>)]) {
    let running: Vec<_> = programs.iter().map(|(name, _)| start(lab, variant, name)).collect();
    for (running, (name, words)) in running.into_iter().zip(programs) {
        let ended = running.wait();
        assert!(!matches!(ended.status, None | Some(0)), "{name} {variant:?}: {ended:#?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{name} {variant:?} {word:?}: {ended:#?}");
        }
        let [_, hint] = ended.stderr.lines().collect::<Vec<_>>()[..] else {
            panic!("{name} {variant:?}: {ended:#?}");
        };
        assert!(hint.starts_with("  hint: "), "{name} {variant:?}: {ended:#?}");
    }
}

/// The place of one side of a program, in parentheses.
fn at(function: &str, side: &str) -> String {
    format!(" ({})", place_in(SOURCE, function, &format!("{side} of {function}")))
}

/// The programs whose messages do not match, with the words for them.
fn messages() -> Vec<(&'static str, Vec<String>)> {
    let typed = "message_of_another_type";
    let started = "started_message_of_another_type";
    vec![
        (
            typed,
            vec![
                format!(
                    "datatypes do not match: rank 0 sends 6 integers of 4 bytes with tag 3{}",
                    at(typed, "sent")
                ),
                format!(
                    "which rank 1 receives as 6 floating-point numbers of 4 bytes{}",
                    at(typed, "received")
                ),
            ],
        ),
        (
            started,
            vec![
                format!(
                    "rank 2 sends 1 floating-point number of 8 bytes with tag 3{}",
                    at(started, "sent")
                ),
                format!("which rank 1 receives as 1 integer of 8 bytes{}", at(started, "received")),
            ],
        ),
        (
            "never_received",
            vec![format!(
                "a message of 4 bytes with tag 7 of rank 0{} was never received by rank 2",
                at("never_received", "sent")
            )],
        ),
    ]
}

#[test]
fn data_and_messages_that_do_not_match_are_told_with_both_lines_on_every_fabric() {
    let test = "messages and collectives that do not match";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    let broadcast = "broadcast_of_another_type";
    for variant in variants(test) {
        fail(&lab, variant, &messages());
        // The fabric may find the difference before the end. Then it knows the line of one rank only.
        let calls = [
            (broadcast, vec!["do not match".into()]),
            (
                "exchange_of_another_type",
                vec!["do not match: in all-to-all of unequal blocks".into()],
            ),
            ("other_order", vec!["do not match".into(), "in broadcast with root 2".into()]),
        ];
        fail(&lab, variant, &calls);
    }
    let both = vec![
        format!("rank 0 has 2 integers of 4 bytes in a broadcast{}", at(broadcast, "first")),
        format!(
            "rank 2 has 1 floating-point number of 8 bytes{} (collective 1)",
            at(broadcast, "second")
        ),
    ];
    fail(&lab, VARIANTS[0], &[(broadcast, both)]);
    assert!(lab.becomes_empty());
}

#[test]
fn programs_that_depend_on_buffers_work_and_are_found_by_the_check() {
    let test = "programs that depend on buffers";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    let programs = [
        ("sends_first", format!("waits in MPI_Send{}", at("sends_first", "sent"))),
        (
            "broadcast_that_need_not_wait",
            format!("waits in MPI_Bcast{}", at("broadcast_that_need_not_wait", "first")),
        ),
    ];
    for variant in variants(test) {
        for (name, words) in &programs {
            assert_eq!(run(&lab, variant, name).status, Some(0), "{name} {variant:?}");
            let checked = run(&lab, &[variant, &["--check"]].concat(), name);
            checked.refuses(STATUS_HANG, &["deadlock", words, "it depends on buffers"]);
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn what_matches_by_its_elements_or_as_bytes_is_no_mistake() {
    let test = "what matches by its elements";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    for variant in variants(test) {
        for check in [&[][..], &["--check"]] {
            let ended = run(&lab, &[variant, check].concat(), "right");
            assert_eq!(ended.status, Some(0), "{variant:?} {check:?}: {ended:#?}");
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn a_receive_that_is_freed_under_way_gets_its_message_and_is_found_by_the_check() {
    let test = "a receive that is freed under way";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    for variant in variants(test) {
        assert_eq!(run(&lab, variant, "freed").status, Some(0), "{variant:?}");
        let words = format!(
            "ranks 0 to 2: MPI_Request_free{} frees the request of MPI_Irecv{}, of which nothing tells",
            at("freed", "second"),
            at("freed", "first")
        );
        let checked = run(&lab, &[variant, &["--check"]].concat(), "freed");
        checked.refuses(1, &[&words, "--check found 1 mistake"]);
    }
    assert!(lab.becomes_empty());
}
