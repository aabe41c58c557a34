//! Runs over an MPI, under its launcher and with the launcher started from here. MPICH from the roots that
//! `CORNERSTONE_MPI_ROOTS` names, from `.venv` (where `make test` puts it) or from PATH; without one these tests are skipped.

use std::path::Path;

use fabric_mpi::{Flavour, Launcher};

use crate::lab::{Ended, Lab, eventually, skip};

pub(crate) fn mpich(test: &str) -> Option<Launcher> {
    let named = std::env::var_os("CORNERSTONE_MPI_ROOTS").unwrap_or_default();
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let roots = std::env::split_paths(&named).chain([installed]);
    let libraries = roots.map(|root| root.join("lib/libmpi_abi.so.1"));
    let inside = libraries.filter(|library| library.is_file()).filter_map(|library| {
        // A launcher of another installation would be found in PATH.
        let found = Launcher::find(Flavour::Mpich, Some(&library)).ok()?;
        found.mpiexec.starts_with(library.parent()?.parent()?).then_some(found)
    });
    let found =
        inside.chain(Launcher::find(Flavour::Mpich, None)).find(|one| one.library.is_some());
    if found.is_none() {
        skip(test, "MPICH is not installed");
    }
    found
}

/// `mpiexec -n RANKS cornerstone WORDS`.
fn under(mpich: &Launcher, lab: &Lab, ranks: usize, words: &[&str]) -> Ended {
    let cornerstone = lab.command(words);
    let arguments: Vec<String> =
        cornerstone.get_args().map(|word| word.to_str().unwrap().to_string()).collect();
    let mut command = mpich.command(ranks, Path::new(cornerstone.get_program()), &arguments);
    command.current_dir(lab.path(""));
    let variables = cornerstone.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(variables);
    lab.spawn(command).wait()
}

#[test]
fn one_launch_of_mpiexec_serves_measurements_on_fewer_ranks_too() {
    let Some(mpich) = mpich("one launch of mpiexec serves fewer ranks too") else { return };
    let lab = Lab::new();
    let ended = under(
        &mpich,
        &lab,
        3,
        &[
            "run",
            "ping-pong",
            "allgather",
            "--sizes",
            "8",
            "--time-limit",
            "50ms",
            "--fabric",
            "mpi",
            "--out",
            "a.jsonl",
        ],
    );
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    let records = lab.records("a.jsonl");
    assert_eq!(records[0]["fabric"]["name"], "mpi");
    assert!(records[0]["fabric"]["version"].as_str().unwrap().contains("MPICH"), "{ended:#?}");
    assert_eq!(records.last().unwrap()["kind"], "end");
    let ranks = |name: &str| {
        let all = lab.measurements("a.jsonl");
        let of_name =
            all.iter().find(|one| one["benchmark"] == name).unwrap_or_else(|| panic!("{name}"));
        of_name["ranks"].as_u64()
    };
    assert_eq!((ranks("ping-pong"), ranks("allgather")), (Some(2), Some(3)));
    // One process speaks, whatever the number of ranks.
    assert_eq!(ended.stdout.matches("ping-pong, 2 ranks").count(), 1, "{ended:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn the_launcher_is_started_and_osu_lines_come_out() {
    let Some(mpich) = mpich("the launcher is started and OSU lines come out") else { return };
    let library = mpich.library.unwrap();
    let lab = Lab::new();
    let ended = lab.succeed(&[
        "run",
        "ping-pong",
        "--sizes",
        "1,1KiB",
        "--time-limit",
        "50ms",
        "--fabric",
        "mpi:mpich",
        "--mpi-library",
        library.to_str().unwrap(),
        "--format",
        "osu",
        "--out",
        "a.jsonl",
    ]);
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with('#')).collect();
    let rows: Vec<Vec<&str>> = lines
        .iter()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| !row.is_empty())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "1024"]);
    assert!(rows.iter().all(|row| row[1].parse::<f64>().unwrap() > 0.0), "{ended:#?}");
    assert!(ended.stdout.contains("# OSU MPI Latency Test"), "{ended:#?}");
    assert_eq!(lab.records("a.jsonl")[0]["fabric"]["name"], "mpi:mpich");
    assert!(lab.becomes_empty());
}

#[test]
fn our_own_mpi_is_measured_as_any_other_under_our_own_launcher() {
    let test = "our own MPI is measured";
    let Some(library) = crate::launching::library(test) else { return };
    let lab = Lab::new();
    let words = |fabric, out| {
        let mut words = vec!["run", "ping-pong", "allgather", "--sizes", "8,64KiB", "--ranks", "2"];
        words.extend(["--time-limit", "50ms", "--mpi-library", library.to_str().unwrap()]);
        words.extend(["--fabric", fabric, "--out", out]);
        words
    };
    lab.succeed(&words("mpi:cornerstone", "ours.jsonl"));
    assert_eq!(lab.records("ours.jsonl")[0]["fabric"]["name"], "mpi:cornerstone");
    let times = lab.measurements("ours.jsonl");
    let of = |name: &str| {
        times.iter().filter(|one| one["benchmark"] == name && one["metric"] == "time").count()
    };
    assert_eq!((of("ping-pong"), of("allgather")), (2, 2));
    // The launcher by hand, as any mpiexec.
    let mut by_hand = vec!["launch", "-n", "2", env!("CARGO_BIN_EXE_cornerstone")];
    by_hand.extend(words("mpi", "by-hand.jsonl"));
    lab.succeed(&by_hand);
    assert_eq!(lab.measurements("by-hand.jsonl").len(), times.len());
    assert!(lab.becomes_empty());
}

#[test]
fn an_interrupted_launcher_leaves_no_rank_behind() {
    let Some(mpich) = mpich("an interrupted launcher leaves no rank behind") else { return };
    let library = mpich.library.unwrap();
    let lab = Lab::new();
    let running = lab.start(&[
        "run",
        "ping-pong",
        "--sizes",
        "1,1KiB",
        "--time-limit",
        "60s",
        "--precision",
        "0.0001%",
        "--fabric",
        "mpi:mpich",
        "--mpi-library",
        library.to_str().unwrap(),
        "--out",
        "a.jsonl",
    ]);
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    running.signal("TERM");
    let ended = running.wait();
    assert_eq!(ended.status, Some(128 + 15), "{ended:#?}");
    assert!(ended.stderr.contains("--resume a.jsonl"), "{ended:#?}");
    assert!(lab.becomes_empty(), "{ended:#?}");
}

#[test]
fn more_ranks_than_the_launcher_started_are_refused() {
    let Some(mpich) = mpich("more ranks than the launcher started are refused") else { return };
    let lab = Lab::new();
    let ended = under(&mpich, &lab, 2, &["run", "ping-pong", "--ranks", "4", "--fabric", "mpi"]);
    assert_ne!(ended.status, Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("4 ranks are too many: the MPI's launcher"), "{ended:#?}");
    assert!(lab.becomes_empty());
}

#[test]
fn what_is_no_mpi_of_the_standard_abi_is_refused_by_name() {
    let lab = Lab::new();
    let refused = |library: &str| {
        lab.run(&[
            "run",
            "ping-pong",
            "--fabric",
            "mpi",
            "--mpi-library",
            library,
            "--out",
            "a.jsonl",
        ])
    };
    refused("libm.so.6").refuses(1, &["'libm.so.6' is no MPI library", "--mpi-library"]);
    refused("/nowhere/libmpi_abi.so.1").refuses(1, &["/nowhere/libmpi_abi.so.1"]);
    let ended = lab
        .command(&["run", "ping-pong", "--fabric", "mpi:openmpi"])
        .env("PATH", "/nowhere")
        .output();
    let words = String::from_utf8(ended.unwrap().stderr).unwrap();
    assert!(words.contains("no mpiexec of Open MPI was found"), "{words}");
    assert!(lab.measurements("a.jsonl").is_empty());
}
