//! Tests runs over an MPI, under its launcher and with the launcher started from here. MPICH comes from the roots in
//! `CORNERSTONE_MPI_ROOTS`, from `.venv` (where `make test` installs it) or from PATH. Without one these tests are
//! skipped.

use std::path::Path;

use fabric_mpi::{Flavour, Launcher};

use crate::lab::{Ended, Lab, Running, eventually, skip};

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

/// Runs `mpiexec -n RANKS cornerstone WORDS` to its end.
fn under(mpich: &Launcher, lab: &Lab, ranks: usize, words: &[&str]) -> Ended {
    started_under(mpich, lab, ranks, words).wait()
}

/// Starts `mpiexec -n RANKS cornerstone WORDS`.
fn started_under<'a>(mpich: &Launcher, lab: &'a Lab, ranks: usize, words: &[&str]) -> Running<'a> {
    let cornerstone = lab.command(words);
    let arguments: Vec<String> =
        cornerstone.get_args().map(|word| word.to_str().unwrap().to_string()).collect();
    let mut command = mpich.command(ranks, Path::new(cornerstone.get_program()), &arguments);
    command.current_dir(lab.path(""));
    let variables = cornerstone.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(variables);
    lab.spawn(command)
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
    // One process prints, for any number of ranks.
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
    let fabric = &lab.records("a.jsonl")[0]["fabric"];
    assert_eq!(
        (&fabric["name"], &fabric["details"]["places"]),
        (&"mpi:mpich".into(), &"chosen by the MPI".into())
    );
    assert!(lab.becomes_empty());
}

#[test]
fn periods_of_patterns_corner_turns_and_chains_are_kept_up_over_an_mpi() {
    let Some(mpich) = mpich("periods are kept up over an MPI") else { return };
    let library = mpich.library.unwrap();
    let lab = Lab::new();
    lab.write("pair.pmp", "0: S 1 4 KiB R E\n1: R S 0 0 E\n");
    lab.write("image.toml", crate::pipelines::CHAIN_OF_TWO);
    let mpi = ["--fabric", "mpi:mpich", "--mpi-library", library.to_str().unwrap()];
    let short = ["--period", "1s", "--instances", "2", "--miss-rate", "99%"];
    for words in [
        &["pmp", "pair.pmp"][..],
        &["corner-turn", "--ranks", "2", "--matrix", "8x8"],
        &["pipeline", "image.toml"],
        &["run", "hartstone", "--ranks", "2", "--sizes", "8"],
    ] {
        let out = format!("{}.jsonl", words[words.len() - 1]);
        lab.succeed(&[words, &mpi, &short, &["--out", &out]].concat());
        let found = lab.measurements(&out);
        assert!(found.iter().any(|m| m["search"].is_object()), "{words:?}: {found:#?}");
    }
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
    // The launcher started explicitly, as any mpiexec.
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

/// Tests a signal during a measurement. The first rank measures, and the launcher only forwards the signal.
#[test]
fn an_interrupted_mpiexec_ends_in_the_middle_of_a_measurement() {
    let Some(mpich) = mpich("an interrupted mpiexec ends a measurement") else { return };
    let library = mpich.library.clone().unwrap();
    let lab = Lab::new();
    let mut words = vec!["run", "ping-pong", "--sizes", "1,1KiB", "--time-limit", "100s"];
    words.extend(["--precision", "0.0001%", "--fabric", "mpi", "--out", "a.jsonl"]);
    words.extend(["--mpi-library", library.to_str().unwrap()]);
    let running = started_under(&mpich, &lab, 2, &words);
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    running.signal("INT");
    let ended = running.wait();
    assert_ne!(ended.status, Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("interrupted by SIGINT"), "{ended:#?}");
    assert!(ended.stderr.contains("--resume a.jsonl"), "{ended:#?}");
    assert!(lab.becomes_empty(), "{ended:#?}");
}

#[test]
fn more_ranks_than_the_launcher_started_are_refused() {
    let Some(mpich) = mpich("more ranks than the launcher started are refused") else { return };
    let lab = Lab::new();
    let ended = under(&mpich, &lab, 2, &["run", "ping-pong", "--ranks", "4", "--fabric", "mpi"]);
    assert_ne!(ended.status, Some(0), "{ended:#?}");
    assert!(
        ended.stderr.contains("4 ranks are too many, 2 are possible: the MPI's launcher"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("mpiexec -n 4"), "{ended:#?}");
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
    refused("libm.so.6").refuses(2, &["'libm.so.6' is no MPI library", "--mpi-library"]);
    refused("/nowhere/libmpi_abi.so.1").refuses(2, &["/nowhere/libmpi_abi.so.1"]);
    let ended = lab
        .command(&["run", "ping-pong", "--fabric", "mpi:openmpi"])
        .env("PATH", "/nowhere")
        .output();
    let words = String::from_utf8(ended.unwrap().stderr).unwrap();
    assert!(words.contains("no mpiexec of Open MPI was found"), "{words}");
    assert!(words.contains("first in PATH"), "{words}");
    assert!(lab.measurements("a.jsonl").is_empty());
}

/// Tests `mpiexec` of MPICH or our launcher, with the library of the other: each process is alone, and none measures.
#[test]
fn a_library_of_another_mpi_than_the_launchers_is_refused() {
    let test = "a library of another MPI than the launcher's is refused";
    let (Some(mpich), Some(ours)) = (mpich(test), crate::launching::library(test)) else { return };
    let lab = Lab::new();
    let words = |library: &Path| {
        let words = ["run", "copy", "--fabric", "mpi", "--ranks", "1", "--out", "a.jsonl"];
        let library = ["--mpi-library", library.to_str().unwrap()];
        words.into_iter().chain(library).map(String::from).collect::<Vec<_>>()
    };
    let printed = |ended: Ended, launcher: &str| {
        ended.refuses(1, &["found this process alone", launcher, "has started 2", "--mpi-library"]);
        assert!(lab.measurements("a.jsonl").is_empty() && lab.becomes_empty());
    };
    let ours = words(&ours);
    printed(
        under(&mpich, &lab, 2, &ours.iter().map(String::as_str).collect::<Vec<_>>()),
        "mpiexec",
    );
    let mut by_hand = vec!["launch", "-n", "2", env!("CARGO_BIN_EXE_cornerstone")];
    let theirs = words(mpich.library.as_deref().unwrap());
    by_hand.extend(theirs.iter().map(String::as_str));
    printed(lab.run(&by_hand), "cornerstone");
}

#[test]
fn a_run_that_a_launcher_starts_several_times_is_refused_unless_it_is_over_that_mpi() {
    let lab = Lab::new();
    for fabric in ["local", "tcp", "mpi:cornerstone"] {
        let run = ["run", "ping-pong", "--fabric", fabric, "--out", "a.jsonl"];
        let words: Vec<&str> = ["launch", "-n", "2", env!("CARGO_BIN_EXE_cornerstone")]
            .into_iter()
            .chain(run)
            .collect();
        lab.run(&words).refuses(2, &["started this command 2 times", fabric, "--fabric mpi"]);
    }
    assert!(!lab.path("a.jsonl").exists());
    assert!(lab.becomes_empty());
}

/// Tests libraries, compiled for this test, that are no complete MPI of this ABI.
#[test]
fn a_library_with_another_abi_or_an_older_one_is_refused_by_name() {
    let lab = Lab::new();
    let refused = |name: &str, source: &str, words: &[&str]| {
        lab.write("library.c", source);
        let library = lab.path(name);
        let compiled = std::process::Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(lab.path("library.c"))
            .status();
        assert!(compiled.expect("the tests need a C compiler named cc").success());
        let path = library.to_str().unwrap();
        let ended = lab.run(&["run", "ping-pong", "--fabric", "mpi", "--mpi-library", path]);
        ended.refuses(2, &[&[path, "--mpi-library"], words].concat());
    };
    let version = |major: i32, status: i32| {
        format!(
            "int MPI_Init(int *c, char ***v) {{ return 0; }}\n\
             int MPI_Abi_get_version(int *a, int *b) {{ *a = {major}; *b = 0; return {status}; }}\n"
        )
    };
    let own = "int MPI_Init(int *c, char ***v) { return 0; }\n";
    refused("own.so", own, &["an ABI of its own"]);
    refused("none.so", &version(-1, 0), &["an ABI of its own"]);
    refused("failing.so", &version(1, 16), &["an ABI of its own"]);
    refused("later.so", &version(2, 0), &["has version 2.0 of MPI's ABI"]);
    refused("earlier.so", &version(0, 0), &["has version 0.0 of MPI's ABI"]);
    refused("incomplete.so", &version(1, 0), &["older than it should be: it lacks", "MPI_Bcast_c"]);
}

#[test]
fn a_rank_of_an_mpi_that_is_killed_ends_the_run_with_an_error() {
    let Some(mpich) = mpich("a rank of an MPI that is killed ends the run") else { return };
    let library = mpich.library.unwrap();
    let lab = Lab::new();
    let mut words = vec!["run", "ping-pong", "--sizes", "8", "--time-limit", "60s"];
    words.extend(["--precision", "0.0001%", "--fabric", "mpi:mpich", "--out", "a.jsonl"]);
    words.extend(["--mpi-library", library.to_str().unwrap()]);
    let running = lab.start(&words);
    let rank = || {
        let is_rank = |pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains("--as-an-mpi-rank") && name == "cornerstone\n"
        };
        lab.processes().into_iter().find(is_rank)
    };
    // A process that was found may have ended before it is killed.
    let is_killed = |pid: u32| {
        let ended = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        ended.unwrap().success()
    };
    let is_one_killed = || !lab.records("a.jsonl").is_empty() && rank().is_some_and(is_killed);
    assert!(eventually(is_one_killed), "no rank began");
    running.wait().refuses(1, &["mpiexec", "--resume a.jsonl"]);
    assert!(lab.becomes_empty());
}
