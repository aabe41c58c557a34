//! Tests windows over libfabric: MPI programs, measurements, and ranks that die. Without the library they are skipped
//! by name.

use crate::lab::{Lab, signal};
use crate::launching::{compile, library};
use crate::ofi::is_here;
use crate::windows::UNFREED;

/// Program with every operation, on memory of every kind.
const WINDOWS: &str = include_str!("../../../libmpi-abi/tests/programs/windows.c");
/// Program for properties of operations that the network carries out.
const IN_NETWORK: &str = include_str!("ofi_windows.c");

#[test]
fn mpi_programs_have_windows_over_libfabric() {
    let test = "mpi_programs_have_windows_over_libfabric";
    let Some(library) = library(test).filter(|_| is_here(test)) else { return };
    for source in [WINDOWS, IN_NETWORK, UNFREED] {
        let lab = Lab::new();
        let program = compile(&lab, &library, source).display().to_string();
        for ranks in ["1", "2", "3"] {
            lab.succeed(&["launch", "-n", ranks, "--fabric", "ofi:tcp", &program]);
            assert!(lab.becomes_empty());
        }
    }
}

#[test]
fn windows_are_measured_over_libfabric() {
    if !is_here("windows_are_measured_over_libfabric") {
        return;
    }
    let lab = Lab::new();
    let words = ["run", "windows", "--sizes", "8,64KiB", "--time-limit", "50ms", "--ranks", "3"];
    let more = ["--fabric", "ofi:tcp", "--launches", "1", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &more].concat());
    let carries_out = &lab.records("run.jsonl")[0]["fabric"]["details"]["windows"];
    assert_eq!(carries_out, "writes, reads and atomic operations of the provider");
    let all = lab.measurements("run.jsonl");
    for name in ["put", "get", "accumulate", "put-stream", "accumulate-stream", "notified-put"] {
        let rates = all.iter().filter(|one| one["benchmark"] == name && one["metric"] == "rate");
        assert_eq!(rates.count(), 2, "{name}");
    }
    for name in ["halo-put", "random-access", "compare-and-swap"] {
        assert!(all.iter().any(|one| one["benchmark"] == name), "{name}");
    }
    assert!(lab.becomes_empty());
}

#[test]
fn a_rank_that_dies_at_a_window_over_libfabric_is_named() {
    if !is_here("a_rank_that_dies_at_a_window_over_libfabric_is_named") {
        return;
    }
    for name in ["put", "random-access"] {
        let lab = Lab::new();
        let words = ["run", name, "--sizes", "8", "--time-limit", "100s", "--precision", "1e-9"];
        let more = ["--ranks", "3", "--out", "run.jsonl", "--fabric", "ofi:tcp"];
        let running = lab.start(&[&words[..], &more].concat());
        signal(running.started(1), "KILL");
        running.wait().refuses(1, &["rank 1", "signal 9"]);
        assert!(lab.becomes_empty());
    }
}
