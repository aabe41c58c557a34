//! Tests programs whose ranks start other programs (`spawned.c`), and the end of all of them in each case.

use std::process::Command;

use crate::lab::{Lab, eventually};
use crate::launching::{lab_with, run_program as run};

const SOURCE: &str = include_str!("spawned.c");

/// Returns a lab with the program; `None` if our library is not built.
fn prepared(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

fn words<'a>(options: &[&'a str], program: &'a str, name: &'a str) -> Vec<&'a str> {
    [&["launch"], options, &[program, name]].concat()
}

#[test]
fn ranks_start_others_and_do_all_that_communicators_are_for_with_them() {
    let Some(lab) = prepared("ranks that start others") else { return };
    for options in [&["-n", "2"][..], &["-n", "3", "--fabric", "tcp"]] {
        let ended = run(&lab, options, "together");
        assert_eq!(ended.status, Some(0), "{options:?}: {ended:#?}");
        assert!(lab.becomes_empty(), "{options:?}");
    }
    let deep = run(&lab, &["-n", "2"], "again");
    assert_eq!((deep.status, deep.stdout.as_str()), (Some(0), "4 deep\n"), "{deep:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn a_process_that_nobody_launched_starts_others_too() {
    let Some(lab) = prepared("a process alone that starts others") else { return };
    let mut command = Command::new(lab.path("program"));
    command.env("CORNERSTONE_LAUNCHER", env!("CARGO_BIN_EXE_cornerstone")).arg("together");
    let ended = lab.spawn(lab.marked(command)).wait();
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn the_failure_of_a_run_that_ranks_started_is_told_with_its_status() {
    let Some(lab) = prepared("a run that ranks started and that fails") else { return };
    let ended = run(&lab, &["-n", "2"], "fails");
    ended.refuses(7, &["a run that a rank has started failed", "rank 0"]);
    assert!(lab.becomes_empty());
    // SIGABRT is number 6. The parent's program continues, and succeeds.
    let ended = run(&lab, &["-n", "1"], "dies");
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(128 + 6), "went on\n"), "{ended:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn every_rank_is_told_that_its_fabric_starts_no_programs() {
    let Some(lab) = prepared("ranks of a fabric that starts no programs") else { return };
    let variants = [["--fabric", "sim:cluster"], ["--host", "localhost:1,127.0.0.1:2"]];
    for (variant, name) in variants.into_iter().zip(["sim", "cluster"]) {
        let ended = run(&lab, &[&["-n", "3"], &variant[..]].concat(), "together");
        assert!(ended.status.is_some_and(|status| status != 0), "{ended:#?}");
        let why = format!(
            "MPI_Comm_spawn_multiple: MPI_ERR_SPAWN: the fabric {name} cannot reach processes of other runs, which is \
             for local and tcp alone"
        );
        assert!(ended.stderr.contains(&why), "{ended:#?}");
        assert!(lab.becomes_empty());
    }
}

#[test]
fn an_interrupt_of_the_launcher_ends_what_ranks_have_started() {
    let Some(lab) = prepared("an interrupt with processes that ranks started") else { return };
    for signal in ["INT", "TERM", "KILL"] {
        let program = lab.path("program");
        let running = lab.start(&words(&["-n", "1"], program.to_str().unwrap(), "sleeps"));
        // Two launchers, two ranks.
        assert!(eventually(|| lab.processes().len() >= 4), "{:?}", lab.processes());
        running.signal(signal);
        running.wait();
        assert!(lab.becomes_empty(), "after SIG{signal}");
    }
}
