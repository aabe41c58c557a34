//! Tests one-sided communication, on every fabric that needs only this host.

use crate::lab::{Lab, signal};
use crate::launching::{compile, library};

/// Program in which rank 0 finalizes while the others access its window.
pub(crate) const UNFREED: &str =
    include_str!("../../../libmpi-abi/tests/programs/windows_unfreed.c");

#[test]
fn windows_are_measured_on_real_and_simulated_fabrics() {
    let lab = Lab::new();
    for (at, fabric) in ["local", "tcp", "sim:cluster"].into_iter().enumerate() {
        let out = format!("{at}.jsonl");
        let words =
            ["run", "windows", "--sizes", "8,64KiB", "--time-limit", "50ms", "--ranks", "3"];
        let ended = lab.succeed(&[&words[..], &["--fabric", fabric, "--out", &out]].concat());
        let all = lab.measurements(&out);
        let measured = |name: &str, metric: &str| {
            all.iter().filter(|one| one["benchmark"] == name && one["metric"] == metric).count()
        };
        for name in ["put", "get", "accumulate", "put-stream", "accumulate-stream", "notified-put"]
        {
            assert_eq!(measured(name, "rate"), 2, "{name} over {fabric}: {ended:#?}");
        }
        for name in ["halo-put", "halo-messages", "random-access"] {
            assert_eq!(measured(name, "time"), 2, "{name} over {fabric}: {ended:#?}");
        }
        assert_eq!(measured("compare-and-swap", "rate"), 1, "{ended:#?}");
        let updates = all.iter().find(|one| one["metric"] == "rate" && one["unit"] == "GUP/s");
        assert_eq!(updates.unwrap()["benchmark"], "random-access");
        assert!(lab.becomes_empty());
    }
}

#[test]
fn a_rank_that_dies_at_a_window_is_named_and_ends_the_run() {
    for fabric in ["local", "tcp"] {
        for name in ["halo-put", "notified-put", "random-access"] {
            let lab = Lab::new();
            let words =
                ["run", name, "--sizes", "8", "--time-limit", "100s", "--precision", "1e-9"];
            let more = ["--ranks", "3", "--out", "run.jsonl", "--fabric", fabric];
            let running = lab.start(&[&words[..], &more].concat());
            signal(running.started(1), "KILL");
            running.wait().refuses(1, &["rank 1", "SIGKILL"]);
            assert!(lab.becomes_empty());
        }
    }
}

/// Tests between hosts and on simulated machines. The tests of the library run the program over shared memory and TCP.
#[test]
fn a_rank_in_finalize_serves_its_window_between_hosts_and_on_simulated_machines() {
    let Some(library) = library("a rank in MPI_Finalize serves its window") else { return };
    let lab = Lab::new();
    let program = compile(&lab, &library, UNFREED).display().to_string();
    let fabrics: [&[&str]; 4] = [
        &["--host", "localhost:1,127.0.0.1:2"],
        &["--fabric", "sim:fat-tree"],
        &["--fabric", "sim:sci-ring"],
        &["--fabric", "local"],
    ];
    for fabric in fabrics {
        for how in ["access", "exclusive", "all"] {
            lab.succeed(&[&["launch", "-n", "3"], fabric, &[&program, how]].concat());
        }
        assert!(lab.becomes_empty());
    }
}
