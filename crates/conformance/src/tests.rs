//! The reference fabric passes the suite, which shows that it can be passed.

use super::check::{contents, expect_contents};
use super::*;
use crate::reference;
use contract::Error;

fn on_reference(case: &'static Case, ranks: usize) -> std::result::Result<(), String> {
    reference::run(ranks, |machine| case.run(machine))
        .map_err(|(rank, error)| format!("rank {rank}: {error}"))
}

#[test]
fn the_reference_fabric_passes_on_1_2_3_and_5_ranks() {
    run_all([1, 2, 3, 5], on_reference).unwrap();
}

#[test]
fn the_reference_fabric_passes_on_8_ranks() {
    run_all([8], on_reference).unwrap();
}

#[test]
#[ignore = "long"]
fn the_reference_fabric_passes_on_other_numbers_of_ranks() {
    run_all([4, 6, 7, 9, 17], on_reference).unwrap();
}

/// A fabric of processes does not detect deadlocks. For it the messages alone, or the end of the rank that others wait
/// for, must show each mistake.
#[test]
fn no_mistake_needs_a_fabric_that_finds_deadlocks() {
    let by_messages =
        |case: &&Case| case.must_fail() && case.name != "mistakes/waiting-for-a-rank-that-ended";
    for ranks in 2..=17 {
        for case in cases().iter().filter(by_messages) {
            let outcome = reference::run(ranks, |machine| case.run(machine));
            let is_deadlock = matches!(outcome, Err((_, Error::Deadlock { .. })));
            assert!(
                outcome.is_err() && !is_deadlock,
                "{} on {ranks} ranks: {outcome:?}",
                case.name
            );
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

#[test]
fn the_reference_endpoint_passes_on_2_to_5_ranks() {
    for case in endpoint_cases::<reference::ReferenceEndpoint>() {
        for ranks in 2..=5 {
            let outcome = reference::run_endpoints(ranks, |mut endpoint| {
                let outcome = (case.program)(&mut endpoint);
                contract::Endpoint::finish(endpoint, outcome);
                Ok(())
            });
            assert_eq!(outcome, Ok(()), "{} on {ranks} ranks", case.name);
        }
    }
}

#[test]
fn the_first_byte_that_differs_is_named() {
    for bytes in 0..=20 {
        let right = contents(7, bytes);
        assert_eq!(expect_contents("it", 7, &right), Ok(()), "{bytes} bytes");
        for place in 0..bytes {
            let mut wrong = right.clone();
            wrong[place..].iter_mut().for_each(|byte| *byte ^= 1);
            let error = expect_contents("it", 7, &wrong).unwrap_err().to_string();
            let named = format!("it, {bytes} bytes: byte {place} is {:#04x}", wrong[place]);
            assert!(error.contains(&named), "{error} where {named} is expected");
        }
    }
}
