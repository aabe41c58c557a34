//! Tests runs over libfabric on this host, and on this host acting as two. Without the library they are skipped by
//! name.

use crate::cluster::{PROGRAM, sorted};
use crate::lab::{Lab, skip};
use crate::launching::{compile, library};

const SHORT: [&str; 8] =
    ["run", "ping-pong", "bandwidth", "--sizes", "8,64KiB", "--time-limit", "50ms", "--out"];

/// Returns whether libfabric is installed with its provider `tcp`. If not, prints that `test` is skipped.
pub(crate) fn is_here(test: &str) -> bool {
    match fabric_ofi::check(Some("tcp")) {
        Ok(()) => true,
        Err(error) => {
            skip(test, &error.to_string());
            false
        }
    }
}

#[test]
fn a_library_that_cannot_be_opened_is_reported_with_the_package_that_has_it() {
    let lab = Lab::new();
    lab.write("libfabric.so.1", "not a library");
    for arguments in [
        &["run", "ping-pong", "--fabric", "ofi"][..],
        &["launch", "-n", "2", "--fabric", "ofi", "true"],
        &["run", "ping-pong", "--fabric", "cluster:ofi"],
        &["launch", "-n", "2", "--fabric", "cluster:ofi", "true"],
        // Its ranks find out.
        &["run", "ping-pong", "--fabric", "cluster:ofi", "--host", "localhost:1,127.0.0.1:1"],
    ] {
        let mut command = lab.command(arguments);
        command.env("LD_LIBRARY_PATH", lab.path("."));
        let words = ["opening libfabric.so.1 for the fabric 'ofi'", "the package libfabric1"];
        lab.spawn(command).wait().refuses(1, &words);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn benchmarks_measure_over_libfabric_here_and_on_the_hosts_of_a_file() {
    if !is_here("benchmarks_measure_over_libfabric_here_and_on_the_hosts_of_a_file") {
        return;
    }
    let lab = Lab::new();
    lab.write("hosts", "localhost:2\n127.0.0.1\n");
    for (out, more) in [
        ("here.jsonl", &["--fabric", "ofi:tcp"][..]),
        ("hosts.jsonl", &["--fabric", "ofi:tcp", "--hosts", "hosts"]),
        ("cluster.jsonl", &["--fabric", "cluster:ofi:tcp"]),
        ("clusters.jsonl", &["--fabric", "cluster:ofi:tcp", "--hosts", "hosts"]),
    ] {
        let ended = lab.succeed(&[&SHORT[..], &[out], more].concat());
        // On several hosts there are pairs inside a host and between hosts.
        let hosts = more.contains(&"--hosts");
        let words = if hosts { "ping-pong, 3 ranks" } else { "ping-pong, 2 ranks" };
        assert!(ended.stdout.contains(words), "{ended:#?}");
        for place in [", inside a host", ", between hosts"] {
            assert_eq!(ended.stdout.contains(place), hosts, "{ended:#?}");
        }
        let fabric = &lab.records(out)[0]["fabric"];
        let (name, detail) = match out.starts_with("cluster") {
            true => ("cluster", "between hosts: provider"),
            false => ("ofi", "provider"),
        };
        assert_eq!(fabric["name"], name);
        let provider = fabric["details"][detail].as_str().unwrap();
        assert!(provider.starts_with("tcp"), "{provider}");
        assert!(!lab.measurements(out).is_empty() && lab.becomes_empty());
    }
}

#[test]
fn a_provider_that_is_not_there_is_refused_with_those_that_are() {
    if !is_here("a_provider_that_is_not_there_is_refused_with_those_that_are") {
        return;
    }
    let lab = Lab::new();
    let words = ["find the provider 'pigeon'", "there are: ", "tcp"];
    for fabric in ["ofi:pigeon", "cluster:ofi:pigeon"] {
        lab.run(&["run", "ping-pong", "--fabric", fabric]).refuses(2, &words);
        lab.run(&["launch", "-n", "2", "--fabric", fabric, "true"]).refuses(2, &words);
        // Other hosts may have other providers: their ranks find out.
        let hosts = ["--host", "localhost:2,127.0.0.1:2", "--fabric", fabric];
        lab.run(&[&["run", "ping-pong"], &hosts[..]].concat()).refuses(1, &words);
    }
    assert!(lab.becomes_empty());
    let words = ["'shm'", "keep messages in order", "--fabric local", "--fabric cluster"];
    lab.run(&["run", "ping-pong", "--fabric", "ofi:shm"]).refuses(2, &words);
    lab.run(&["launch", "-n", "2", "--fabric", "ofi:shm", "true"]).refuses(2, &words);
    // This excludes the layer that adds tags to datagrams.
    let mut command = lab.command(&["launch", "-n", "2", "--fabric", "ofi:udp", "true"]);
    command.env("FI_PROVIDER", "^ofi_rxd");
    let words = ["the provider 'udp', which has no tagged messages", "FI_PROVIDER=^ofi_rxd"];
    lab.spawn(command).wait().refuses(2, &words);
    for fabric in ["ofi:", "cluster:ofi:"] {
        let words = ["launch", "-n", "2", "--fabric", fabric, "true"];
        lab.run(&words).refuses(2, &["names no provider"]);
    }
    lab.run(&["launch", "-n", "2", "--fabric", "cluster:mpi", "true"])
        .refuses(2, &["'cluster:mpi' names no fabric between hosts", "'cluster:ofi' and"]);
}

#[test]
fn mpi_programs_run_over_libfabric_here_and_on_two_hosts() {
    let test = "mpi_programs_run_over_libfabric_here_and_on_two_hosts";
    let Some(library) = library(test).filter(|_| is_here(test)) else { return };
    let lab = Lab::new();
    let program = compile(&lab, &library, PROGRAM).display().to_string();
    let two = ["--host", "localhost:2,127.0.0.1:2"];
    for (fabric, hosts, each) in [
        ("ofi:tcp", &[][..], 4),
        ("ofi:tcp", &two, 2),
        ("cluster:ofi:tcp", &[], 4),
        ("cluster:ofi:tcp", &two, 2),
    ] {
        let words = [&["launch", "-n", "4", "--fabric", fabric], hosts, &[&program]].concat();
        let ended = lab.succeed(&words);
        let expected: Vec<String> =
            (0..4).map(|rank| format!("rank {rank} of 4, one of {each}")).collect();
        assert_eq!(sorted(&ended.stdout), expected, "{words:?}");
        assert!(lab.becomes_empty());
    }
    // The last rank ends with 5 after MPI_Finalize.
    for fabric in ["ofi:tcp", "cluster:ofi:tcp"] {
        let ended = lab.run(&["launch", "-n", "3", "--fabric", fabric, &program, "-1", "fails"]);
        assert_eq!(ended.status, Some(5), "{ended:#?}");
    }
}
