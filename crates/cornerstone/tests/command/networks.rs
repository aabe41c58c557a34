//! Tests machines of several networks with parts that break, and the hidden share of messages, through the built
//! command.

use serde_json::Value;

use crate::lab::Lab;

/// Two hosts of two nodes. The ring carries 8000 bytes in 80 us, the switch in 800.
const HOSTS: &str = r#"
name = "hosts"
title = "two hosts of two nodes, a ring and a switch between them"
level = "packets"

[processor]
polling_us = 0.01
floating_point_mflops = 100

[endpoint]
send_us = 0.1
receive_us = 0.1

[[inner_network]]
name = "memory"
nodes = 2
shape = "bus"
link_mb_per_s = 1000

[[inner_network]]
name = "ring"
nodes = 4
nodes_per_port = 2
shape = "ring"
link_mb_per_s = 100
packet_bytes = 1000
notice_us = 500

[network]
name = "switch"
shape = "switch"
nodes_per_port = 2
link_mb_per_s = 10
packet_bytes = 1000
notice_us = 500

[[source]]
of = ["processor", "endpoint", "inner_network", "network"]
kind = "assumed"
from = "an example"
"#;

const BUS: &str = r#"
name = "bus"
title = "eight nodes on a slow bus"

[processor]
polling_us = 0.01
floating_point_mflops = 100

[endpoint]
send_us = 1
receive_us = 1

[network]
shape = "bus"
link_mb_per_s = 1

[[source]]
of = ["processor", "endpoint", "network"]
kind = "assumed"
from = "an example"
"#;

fn metric<'a>(all: &'a [Value], benchmark: &str, name: &str) -> &'a Value {
    let is = |one: &&Value| one["benchmark"] == benchmark && one["metric"] == name;
    all.iter().find(is).unwrap_or_else(|| panic!("no {name} of {benchmark}"))
}

/// Tests a stream during faults. A link of SCI breaks after 1 s, all of SCI after 2, an ATM port after 3 and all of ATM
/// after 4. ATM is repaired after 5 s and SCI after 6; a workstation is away from 7 to 7.5 s.
#[test]
fn a_stream_over_four_networks_slows_down_in_steps_as_they_break() {
    let lab = Lab::new();
    let words = ["run", "steady-stream", "--fabric", "sim:scale-faults", "--ranks", "16"];
    let more = ["--sizes", "8192", "--duration", "8s", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &more].concat());
    let all = lab.measurements("run.jsonl");
    let rates = metric(&all, "steady-stream", "rate")["samples"].as_array().unwrap();
    let rates: Vec<f64> = rates.iter().map(|rate| rate.as_f64().unwrap()).collect();
    // Ranks 0 to 7 send to 8 to 15, two on each workstation. SCI's adapter takes 92 ns a byte.
    let sci = 1e3 / 92.0;
    // TCP/IP over ATM takes 497 us and 60 ns a byte. Both senders of a port need less than its 16.9 MB/s.
    let atm = 8192.0 / (497.0 + 0.060 * 8192.0);
    // Ethernet cuts a message into six frames, with 78 more bytes each, and has 1.25 MB/s for all.
    let ethernet = 8192.0 / ((8192.0 + 6.0 * 78.0) / 1.25);
    let expected = [
        (0.0..1.0, 8.0 * sci),
        (1.0..2.0, 6.0 * sci + 2.0 * atm),
        (2.0..3.0, 8.0 * atm),
        (3.0..4.0, 6.0 * atm + ethernet),
        (4.0..5.0, ethernet),
        (5.0..6.0, 8.0 * atm),
        (6.0..7.0, 8.0 * sci),
        (7.0..7.5, 6.0 * sci),
        (7.5..8.0, 8.0 * sci),
    ];
    for (time, rate) in expected {
        // A hundred parts of 80 ms. Those in which networks change are left out, and the two after them, in which
        // delayed messages arrive. Messages that wait for Ethernet when ATM is repaired still take half a second.
        let part = |moment: f64| (moment / 0.08).ceil() as usize;
        let unsteady = if time.start == 5.0 { 8 } else { 2 };
        let parts = &rates[part(time.start) + unsteady..part(time.end) - 1];
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        // Few messages pass over Ethernet in a second.
        let tolerance = if rate < 2.0 { 0.1 } else { 0.02 };
        assert!(
            (mean / rate - 1.0).abs() < tolerance,
            "{time:?}: {mean} and not {rate}: {rates:?}"
        );
    }
}

#[test]
fn a_file_of_faults_or_a_trace_that_cannot_be_used_is_refused_before_anything_is_measured() {
    let lab = Lab::new();
    lab.write("words.toml", "no faults\n");
    lab.write("unknown.toml", "[[fault]]\nat_us = 1\nlink = [0, 9999]\n");
    let run = |more: &[&str]| {
        let words = ["run", "ping-pong", "--fabric", "sim:fat-tree", "--out", "run.jsonl"];
        lab.run(&[&words[..], more].concat())
    };
    run(&["--faults", "nowhere.toml"]).refuses(2, &["nowhere.toml"]);
    run(&["--faults", "words.toml"]).refuses(2, &["words.toml, line 1"]);
    run(&["--faults", "unknown.toml"]).refuses(2, &["fault 1", "node 9999"]);
    run(&["--trace", "no/folder"]).refuses(2, &["cannot write the trace to 'no/folder'"]);
    assert!(!lab.path("run.jsonl").exists());
}

#[test]
fn a_stream_goes_around_a_broken_ring_and_comes_back() {
    let lab = Lab::new();
    lab.write("hosts.toml", HOSTS);
    let fault = "[[fault]]\nat_us = 50000\nuntil_us = 100000\nnetwork = \"ring\"\nswitch = true\n";
    lab.write("faults.toml", fault);
    let words =
        ["run", "steady-stream", "--fabric", "sim:hosts.toml", "--ranks", "4", "--sizes", "8000"];
    let broken = ["--faults", "faults.toml", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &broken].concat());
    let all = lab.measurements("run.jsonl");
    let rates: Vec<f64> = metric(&all, "steady-stream", "rate")["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rate| rate.as_f64().unwrap())
        .collect();
    assert_eq!(rates.len(), 100);
    // 0.2 s in a hundred parts: the ring's 100 MB/s, the switch's 10 from part 25 to 50, and the ring again.
    let mean = |parts: std::ops::Range<usize>| {
        let count = parts.len() as f64;
        rates[parts].iter().sum::<f64>() / count
    };
    let [before, between, after] = [2..23, 28..48, 60..98].map(mean);
    assert!((80.0..101.0).contains(&before), "{rates:?}");
    assert!((5.0..11.0).contains(&between), "{rates:?}");
    assert!((80.0..101.0).contains(&after), "{rates:?}");
    // Time until the loss is detected, and 800 us for a message over each link of the switch.
    let gap = metric(&all, "steady-stream", "gap")["median"].as_f64().unwrap();
    assert!((500.0..10_000.0).contains(&gap), "{gap}");
    // Broken for 50 ms; then the messages that wait at the switch, eight of each sender, leave it.
    let recovery = metric(&all, "steady-stream", "recovery")["median"].as_f64().unwrap();
    assert!((44_000.0..70_000.0).contains(&recovery), "{recovery}");
    lab.succeed(&["report", "run.jsonl"]);
}

#[test]
fn a_stream_has_half_of_a_bus_while_another_shares_it() {
    let lab = Lab::new();
    lab.write("bus.toml", BUS);
    let words =
        ["run", "shared-stream", "--fabric", "sim:bus.toml", "--level", "packets", "--ranks", "4"];
    lab.succeed(&[&words[..], &["--sizes", "1000", "--out", "run.jsonl"]].concat());
    let all = lab.measurements("run.jsonl");
    // Returns the mean rate in the whole parts between two shares of the time. A part has four messages on average.
    let mean = |name: &str, [from, to]: [f64; 2]| {
        let samples = metric(&all, "shared-stream", name)["samples"].as_array().unwrap();
        let at = |share: f64| share * samples.len() as f64;
        let parts = &samples[at(from).ceil() as usize..at(to).floor() as usize];
        parts.iter().map(|rate| rate.as_f64().unwrap()).sum::<f64>() / parts.len() as f64
    };
    // The bus carries 1 MB/s. The other pair sends from a third of 0.2 s to two thirds, and then the eight messages
    // that it has posted, which takes 16 ms. The last message arrives after 0.208 s.
    let [alone, shared, again] =
        [[0.02, 0.31], [0.35, 0.63], [0.75, 0.98]].map(|part| mean("rate", part));
    assert!((0.95..1.01).contains(&alone) && (0.95..1.01).contains(&again), "{alone} {again}");
    assert!((0.47..0.53).contains(&shared), "{shared}");
    let others = [[0.0, 0.31], [0.35, 0.63], [0.75, 1.0]].map(|part| mean("others", part));
    assert!(others[0] == 0.0 && others[2] == 0.0, "{others:?}");
    assert!((0.47..0.53).contains(&others[1]), "{others:?}");
}

#[test]
fn machines_and_faults_that_cannot_be_are_told() {
    let lab = Lab::new();
    lab.write("hosts.toml", HOSTS);
    let run = |faults: &str, more: &[&str]| {
        lab.write("faults.toml", faults);
        let words = ["run", "steady-stream", "--ranks", "4", "--faults", "faults.toml"];
        let ended = lab.run(&[&words[..], more].concat());
        assert_ne!(ended.status, Some(0), "{ended:#?}");
        ended.stderr
    };
    let on_hosts = ["--fabric", "sim:hosts.toml"];
    let none = run("[[fault]]\nat_us = 5\nnetwork = \"rnig\"\nswitch = true\n", &on_hosts);
    assert!(
        none.contains("`fault.network` is `rnig`; there are `memory`, `ring`, `switch`"),
        "{none}"
    );
    let outside = run("[[fault]]\nat_us = 5\nnode = 4\n", &on_hosts);
    assert!(
        outside.contains("names node 4, but these ranks are on nodes 0 to 3: it needs 5 nodes"),
        "{outside}"
    );
    let dead = run("[[fault]]\nat_us = 5000\nnode = 3\n", &on_hosts);
    assert!(dead.contains("rank 3 died (its node 3 broke at 5000 us)"), "{dead}");
    let cut = "[[fault]]\nat_us = 5000\nnetwork = \"ring\"\nswitch = true\n\
               [[fault]]\nat_us = 5000\nnetwork = \"switch\"\nport = 2\n";
    let cut = run(cut, &on_hosts);
    assert!(cut.contains("nothing leads to it from rank"), "{cut}");
    let coarse = run(
        "[[fault]]\nat_us = 5\nnode = 1\n",
        &["--fabric", "sim:hosts.toml", "--level", "loggp"],
    );
    assert!(coarse.contains("be simulated at level loggp"), "{coarse}");
    let real = run("[[fault]]\nat_us = 5\nnode = 1\n", &["--fabric", "local"]);
    assert!(real.contains("--faults"), "{real}");
}

/// Tests the hidden share. The memory moves messages by itself, so all except the overheads is hidden: 0.2 of 8.2 us at
/// 8000 bytes.
#[test]
fn what_a_machine_does_beside_computing_is_hidden_there() {
    let lab = Lab::new();
    lab.write("switch.toml", HOSTS);
    let words = ["run", "beside-computing", "--fabric", "sim:switch.toml", "--ranks", "4"];
    lab.succeed(
        &[&words[..], &["--sizes", "8000", "--time-limit", "50ms", "--out", "run.jsonl"]].concat(),
    );
    let all = lab.measurements("run.jsonl");
    for benchmark in ["overlap", "progress"] {
        let hidden = metric(&all, benchmark, "overlap")["median"].as_f64().unwrap();
        assert!((95.0..=100.0).contains(&hidden), "{benchmark}: {hidden}");
    }
    // Nothing disturbs these processors.
    let delay = metric(&all, "noise", "delay")["median"].as_f64().unwrap();
    assert!(delay < 0.5, "{delay}");
}

/// Tests that only the pair sends. All ranks of a bus share it, so messages of the other ranks would delay those of the
/// pair.
#[test]
fn ranks_without_a_part_in_an_exchange_do_not_disturb_it() {
    let lab = Lab::new();
    lab.write("bus.toml", BUS);
    let median_us = |ranks: &str| {
        let words = ["run", "exchange", "overlap", "progress", "--fabric", "sim:bus.toml"];
        let more = ["--sizes", "1024", "--time-limit", "50ms", "--out", "run.jsonl"];
        lab.succeed(&[&words[..], &more, &["--ranks", ranks]].concat());
        let all = lab.measurements("run.jsonl");
        std::fs::remove_file(lab.path("run.jsonl")).unwrap();
        ["exchange", "overlap", "progress"]
            .map(|benchmark| metric(&all, benchmark, "time")["median"].as_f64().unwrap())
    };
    assert_eq!(median_us("2"), median_us("8"));
}

#[test]
fn overlap_and_noise_are_measured_on_real_fabrics() {
    for fabric in ["local", "tcp"] {
        let lab = Lab::new();
        let words =
            ["run", "beside-computing", "--ranks", "2", "--sizes", "64KiB", "--launches", "1"];
        let more = ["--time-limit", "20ms", "--fabric", fabric, "--out", "run.jsonl"];
        lab.succeed(&[&words[..], &more].concat());
        let all = lab.measurements("run.jsonl");
        for (benchmark, name) in
            [("overlap", "overlap"), ("progress", "overlap"), ("noise", "loss")]
        {
            assert!(metric(&all, benchmark, name)["median"].as_f64().unwrap() >= 0.0);
        }
        assert!(lab.becomes_empty());
    }
}
