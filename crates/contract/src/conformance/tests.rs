//! The reference fabric passes the suite, which shows that it can be passed.

use super::*;
use crate::{Error, reference};

fn on_reference(case: &'static Case, ranks: usize) -> std::result::Result<(), String> {
    reference::run(ranks, |machine| case.run(machine))
        .map_err(|(rank, error)| format!("rank {rank}: {error}"))
}

#[test]
fn the_reference_fabric_passes_on_1_to_4_ranks() {
    run_all(1..=4, on_reference).unwrap();
}

#[test]
fn the_reference_fabric_passes_on_5_to_7_ranks() {
    run_all(5..=7, on_reference).unwrap();
}

#[test]
fn the_reference_fabric_passes_on_8_and_9_ranks() {
    run_all(8..=9, on_reference).unwrap();
}

#[test]
fn the_reference_fabric_passes_on_17_ranks() {
    run_all([17], on_reference).unwrap();
}

/// A fabric of processes does not find deadlocks: for it the messages alone must show each mistake.
#[test]
fn no_mistake_needs_a_fabric_that_finds_deadlocks() {
    for ranks in 2..=17 {
        for case in cases().iter().filter(|case| case.must_fail()) {
            let outcome = reference::run(ranks, |machine| case.run(machine));
            let found =
                matches!(&outcome, Err((_, error)) if !matches!(error, Error::Deadlock { .. }));
            assert!(found, "{} on {ranks} ranks: {outcome:?}", case.name);
        }
    }
}

#[test]
fn names_are_unique_and_find_their_case() {
    for case in cases() {
        assert!(std::ptr::eq(find(case.name).unwrap(), case), "{}", case.name);
    }
    assert!(find("no such case").is_none());
}
