//! Tests that uses of the same memory of windows without an order are found, and that none with an order is
//! (`window_races.c`).

use crate::lab::Lab;
use crate::launching::lab_with;

const SOURCE: &str = include_str!("window_races.c");

const ACCESSES: [&str; 7] =
    ["put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "rput"];
const SYNCHRONISATIONS: [&str; 5] = ["fence", "post", "lock", "lock_all", "flush"];
const SECONDS: [&str; 3] = ["call", "owner", "origin"];

/// Returns the combinations that MPI permits: a call with a request needs a passive epoch (MPI 4.1, 12.3.5).
fn combinations() -> Vec<[&'static str; 3]> {
    let mut all = Vec::new();
    for access in ACCESSES {
        for how in SYNCHRONISATIONS {
            let is_passive = !["fence", "post"].contains(&how);
            if access == "rput" && !is_passive {
                continue;
            }
            all.extend(SECONDS.map(|second| [access, how, second]));
        }
    }
    all
}

/// Runs a combination with and without an order. Returns what is wrong with the reports.
fn wrong(lab: &Lab, fabric: &str, [access, how, second]: [&str; 3]) -> String {
    let run = |more: &[&str]| {
        let words = ["launch", "-n", "3", "--check", "--fabric", fabric, "--", "./program"];
        lab.run(&[&words[..], &[access, how, second], more].concat())
    };
    let mut wrong = String::new();
    let unordered = run(&[]);
    let named = match second {
        "call" => "MPI_Put (use_again, program.c:",
        "owner" => "a store before MPI_",
        _ if access == "get" => "the program wrote to the 4 bytes",
        _ => "were changed before MPI_",
    };
    if unordered.status != Some(1) || !unordered.stderr.contains(named) {
        wrong += &format!("{access} {how} {second} {fabric} is not found: {}\n", unordered.stderr);
    }
    let ordered = run(&["ordered"]);
    if ordered.status != Some(0) {
        wrong += &format!("{access} {how} {second} {fabric} has an order: {}\n", ordered.stderr);
    }
    wrong
}

fn are_right(lab: &Lab, fabric: &str, combinations: &[[&str; 3]]) {
    let wrong: String = combinations.iter().map(|one| wrong(lab, fabric, *one)).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Each access, each synchronisation and each second use once.
#[test]
fn uses_of_the_same_memory_are_found_if_they_have_no_order() {
    let Some(lab) = lab_with("uses of the same memory", SOURCE) else { return };
    let few: Vec<_> = combinations().into_iter().step_by(11).collect();
    are_right(&lab, "local", &few);
    are_right(&lab, "tcp", &few[..3]);
}

#[test]
#[ignore = "long"]
fn all_uses_of_the_same_memory_are_found_on_every_fabric() {
    let Some(lab) = lab_with("all uses of the same memory", SOURCE) else { return };
    for fabric in ["local", "tcp", "cluster", "sim:cluster"] {
        are_right(&lab, fabric, &combinations());
    }
}
