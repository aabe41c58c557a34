//! Tests runs over TCP on this host, alone and compared with other fabrics.

use crate::lab::{Lab, eventually, signal, skip};

const SHORT: [&str; 8] =
    ["run", "ping-pong", "bandwidth", "--sizes", "8,64KiB", "--time-limit", "50ms", "--out"];

#[test]
fn the_same_test_over_shared_memory_and_tcp_stands_side_by_side() {
    let lab = Lab::new();
    for fabric in ["local", "tcp"] {
        let out = format!("{fabric}.jsonl");
        let ended = lab.succeed(&[&SHORT[..], &[&out, "--fabric", fabric]].concat());
        assert!(ended.stdout.contains("ping-pong, 2 ranks"), "{ended:#?}");
        assert_eq!(lab.records(&out)[0]["fabric"]["name"], fabric);
        assert!(lab.becomes_empty());
    }
    let ended = lab.run(&["compare", "local.jsonl", "tcp.jsonl"]);
    assert!(ended.stderr.contains("the fabric differs: A 'local', B 'tcp'"), "{ended:#?}");
    assert!(ended.stdout.contains("ping-pong time, 2 ranks, 8 B"), "{ended:#?}");
    lab.succeed(&["report", "local.jsonl", "tcp.jsonl", "-o", "both.html"]);
    let page = std::fs::read_to_string(lab.path("both.html")).unwrap();
    assert!(page.contains("local") && page.contains("tcp"));
}

#[test]
fn ranks_on_the_hosts_of_a_file_measure_too() {
    let lab = Lab::new();
    lab.write("hosts", "localhost:2  # this one\n127.0.0.1\n");
    let more = ["a.jsonl", "--fabric", "tcp", "--hosts", "hosts"];
    lab.succeed(&[&SHORT[..], &more].concat());
    assert!(!lab.measurements("a.jsonl").is_empty());
    assert!(lab.becomes_empty());
    let words = ["run", "ping-pong", "--ranks", "4", "--fabric", "tcp", "--hosts", "hosts"];
    lab.run(&words).refuses(
        2,
        &["4 ranks are too many, 3 are possible: the hosts have only so many slots", "--ranks 3"],
    );
}

#[test]
fn patterns_corner_turns_and_chains_run_on_the_hosts_of_a_file_too() {
    let lab = Lab::new();
    lab.write("hosts", "localhost\n127.0.0.1\n");
    lab.write("pair.pmp", "0: S 1 4 KiB R E\n1: R S 0 0 E\n");
    let tcp = ["--fabric", "tcp", "--hosts", "hosts", "--period", "1s", "--instances", "2"];
    let tcp = [&tcp[..], &["--miss-rate", "99%"]].concat();
    lab.write("image.toml", crate::pipelines::CHAIN_OF_TWO);
    for words in [
        &["pmp", "pair.pmp"][..],
        &["corner-turn", "--ranks", "2", "--matrix", "8x8"],
        &["pipeline", "image.toml"],
    ] {
        let out = format!("{}.jsonl", words[0]);
        lab.succeed(&[words, &tcp, &["--out", &out]].concat());
        assert!(!lab.measurements(&out).is_empty(), "{words:?}");
    }
    lab.write("hosts", "localhost\n");
    lab.run(&[&["pipeline", "image.toml"][..], &tcp].concat())
        .refuses(2, &["2 ranks are too many, 1 are possible: the hosts have only so many slots"]);
    lab.run(&["pmp", "pair.pmp", "--hosts", "hosts"])
        .refuses(2, &["--hosts is for runs over TCP", "--fabric cluster"]);
}

#[test]
fn hosts_that_make_no_sense_are_refused_with_their_place() {
    let lab = Lab::new();
    lab.write("hosts", "alpha\nbeta:none\n");
    let tcp = ["run", "ping-pong", "--fabric", "tcp"];
    let with = |more: &[&str]| lab.run(&[&tcp[..], more].concat());
    with(&["--hosts", "hosts"]).refuses(2, &["'hosts': line 2: 'beta:none'", "NAME:SLOTS"]);
    with(&["--hosts", "nowhere"]).refuses(2, &["'nowhere'"]);
    with(&["--agent", "rsh"]).refuses(2, &["--agent means nothing without --hosts"]);
    with(&["--interfaces", "eth0"]).refuses(2, &["--interfaces means nothing without --hosts"]);
    with(&["--host", "localhost:2", "--interfaces", "127.0.0.1"])
        .refuses(2, &["the address of one host", "NAME:SLOTS@127.0.0.1"]);
    // Each rank detects it; it is printed once, with the rank that came first and its host.
    for fabric in ["tcp", "cluster", "ofi"] {
        let words = ["run", "ping-pong", "--fabric", fabric, "--interfaces", "lo,nosuch0"];
        let ended = lab.run(&[&words[..], &["--host", "localhost:2,127.0.0.1:2"]].concat());
        ended.refuses(1, &["failed: listening for other ranks at 'lo nosuch0'", "lo 127.0.0.1"]);
        let hosts = ["on localhost failed", "on 127.0.0.1 failed"];
        assert!(hosts.iter().any(|host| ended.stderr.contains(host)), "{ended:#?}");
        assert_eq!(ended.stderr.matches("no interface 'nosuch0'").count(), 1, "{ended:#?}");
    }
    lab.run(&["run", "--hosts", "hosts"]).refuses(2, &["'hosts'"]);
    lab.write("hosts", "localhost:2\n");
    lab.run(&["run", "--hosts", "hosts"])
        .refuses(2, &["--hosts is for runs over TCP", "--fabric cluster"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    with(&["--hosts", "hosts", "--listen", &address]).refuses(1, &[&address, "in use"]);
    lab.write("hosts", "localhost\nsomewhere.invalid\n");
    with(&["--hosts", "hosts", "--agent", "/nowhere/agent", "--listen", "127.0.0.1:0"])
        .refuses(1, &["starting rank 1 on somewhere.invalid"]);
    assert!(lab.becomes_empty());
}

/// Returns the command line of measurements that are long enough to be interrupted.
fn long<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "run",
        "ping-pong",
        "--sizes",
        "8,16,32MiB",
        "--ranks",
        "2",
        "--time-limit",
        "30s",
        "--precision",
        "0.001%",
        "--fabric",
        "tcp",
        "--out",
        "a.jsonl",
    ];
    [&words[..], more].concat()
}

#[test]
fn a_killed_rank_is_named_and_nobody_is_left() {
    let lab = Lab::new();
    let running = lab.start(&long(&[]));
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    signal(running.rank(1).expect("the rank runs"), "KILL");
    running.wait().refuses(1, &["rank 1", "SIGKILL", "--resume a.jsonl"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_signal_ends_a_run_on_the_hosts_of_a_file_and_leaves_nobody() {
    let lab = Lab::new();
    lab.write("hosts", "localhost:2\n");
    let running = lab.start(&long(&["--hosts", "hosts"]));
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    running.signal("INT");
    running.wait().refuses(130, &["interrupted by SIGINT", "--resume a.jsonl"]);
    assert!(lab.becomes_empty());
}

#[test]
fn ranks_on_other_hosts_do_not_outlive_the_process_that_started_them() {
    let lab = Lab::new();
    lab.write("hosts", "localhost:2\n");
    let running = lab.start(&long(&["--hosts", "hosts"]));
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    running.signal("KILL");
    assert_eq!(running.wait().status, None);
    assert!(lab.becomes_empty());
}

/// Returns the processors that a process may use, as the system lists them.
fn allowed(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_string()
}

#[test]
fn ranks_of_a_host_are_kept_on_a_processor_each() {
    let own = allowed(std::process::id());
    if own.parse::<usize>().is_ok() {
        return skip("ranks of a host on a processor each", "there is one processor");
    }
    let lab = Lab::new();
    lab.write("hosts", "localhost:2\n");
    let running = lab.start(&long(&["--hosts", "hosts"]));
    assert!(eventually(|| !lab.records("a.jsonl").is_empty()), "the ranks have not begun");
    let is_rank = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("--as-a-tcp-rank")
    };
    let mut bound: Vec<String> = lab.processes().into_iter().filter(is_rank).map(allowed).collect();
    bound.sort();
    bound.dedup();
    assert_eq!(bound.len(), 2, "{bound:?}");
    assert!(bound.iter().all(|list| list.parse::<usize>().is_ok()), "{bound:?} of {own}");
    running.signal("INT");
    running.wait().refuses(130, &["interrupted by SIGINT"]);
    assert!(lab.becomes_empty());
}

#[test]
fn ranks_on_the_hosts_of_a_file_get_other_places_in_each_launch() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    lab.write("agent", "#!/bin/sh\nshift\necho \"$3\" >> places\nexec \"$@\"\n");
    let agent = lab.path("agent");
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    lab.write("hosts", "elsewhere:2\n");
    let words = ["run", "ping-pong", "--sizes", "8", "--time-limit", "60ms", "--seed", "7"];
    let there = ["--fabric", "tcp", "--hosts", "hosts", "--listen", "127.0.0.1:0"];
    let more = ["--agent", agent.to_str().unwrap(), "--launches", "3", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &there, &more].concat());
    // Two ranks in each launch: the first places, and then those that the seed and the launch determine.
    let places = std::fs::read_to_string(lab.path("places")).unwrap();
    assert_eq!(places.lines().collect::<Vec<_>>(), ["-", "-", "7:1", "7:1", "7:2", "7:2"]);
}
