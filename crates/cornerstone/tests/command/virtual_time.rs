//! Tests which times are virtual: timeouts and other threads of programs on simulated machines (`virtual_time.c`).

use crate::lab::Lab;
use crate::predictions::{prepared_with, well};

const SOURCE: &str = include_str!("virtual_time.c");
const TWO: [&str; 4] = ["-n", "2", "--fabric", "sim:cluster"];

fn prepared(test: &str) -> Option<Lab> {
    prepared_with(test, SOURCE)
}

/// Tests programs that wait for ten minutes a dozen times. In real time, they would reach the limit of the tests.
#[test]
fn timeouts_pass_in_virtual_time() {
    let Some(lab) = prepared("timeouts pass in virtual time") else { return };
    for how in ["measured", "none"] {
        for name in ["timeouts", "deadlines"] {
            well(&lab, &[&TWO[..], &["--compute", how]].concat(), name);
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn what_is_ready_ends_a_wait_and_so_does_another_rank() {
    let Some(lab) = prepared("what is ready ends a wait") else { return };
    well(&lab, &TWO, "ready");
    well(&lab, &TWO, "between");
}

#[test]
fn other_threads_and_children_end_a_wait_in_real_time() {
    let Some(lab) = prepared("other threads and children end a wait") else { return };
    well(&lab, &TWO, "signals");
    well(&lab, &TWO, "child");
}

#[test]
fn the_computing_of_other_threads_is_told_at_the_end() {
    let Some(lab) = prepared("the computing of other threads is told") else { return };
    let warning = "other threads computed";
    let four = ["-n", "4", "--fabric", "sim:cluster", "--report=r.html", "--report=r.json"];
    let ended = well(&lab, &four, "joins");
    let printed: Vec<&str> = ended.stderr.lines().filter(|line| line.contains(warning)).collect();
    let line = "cornerstone: ranks 0, 2: other threads computed";
    assert!(printed.iter().any(|one| one.starts_with(line)), "{ended:#?}");
    assert!(printed[0].contains("virtual time does not count"), "{ended:#?}");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(lab.path("r.json")).unwrap()).unwrap();
    let remarks = report["remarks"].as_array().unwrap();
    assert!(remarks.iter().any(|one| one.as_str().unwrap().contains(warning)), "{report}");
    // If computing takes no time, neither does that of threads.
    let none = well(&lab, &[&TWO[..], &["--compute", "none"]].concat(), "joins");
    assert!(!none.stderr.contains(warning), "{none:#?}");
    let one = well(&lab, &TWO, "signals");
    assert!(!one.stderr.contains(warning), "{one:#?}");
}

#[test]
fn a_thread_that_communicates_beside_the_first_one_does_not_count() {
    let Some(lab) = prepared("a thread that communicates beside the first one") else { return };
    let ended = well(&lab, &TWO, "helps");
    assert!(ended.stderr.contains("ranks 0, 1: other threads computed"), "{ended:#?}");
}

/// Objects of C++ that live until the end of the process ask whether MPI_Finalize was called.
#[test]
fn a_handler_of_the_exit_may_call_mpi_and_read_clocks() {
    let Some(lab) = prepared("a handler of the exit may call MPI") else { return };
    let ended = well(&lab, &TWO, "exits");
    assert_eq!(ended.stderr.matches("has exited").count(), 2, "{ended:#?}");
}
