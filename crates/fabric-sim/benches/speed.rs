//! The speed of simulation of machines, beside SimGrid's SMPI if that is installed.
//!
//! `cargo bench -p fabric-sim --bench speed` prints, for an all-to-all of 1000-byte messages on one switch, messages
//! simulated a second by both; then the time and memory of level L2 at 1024 ranks, and of 100 000 ranks at level L1,
//! and the time of a second of a saturated SCI ring of 64 nodes.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use contract::TimeSpan;
use fabric_sim::sci::study::{self, Study};
use fabric_sim::sci::{Destination, Pace, RingSettings, Traffic, TransactionKind};
use fabric_sim::{Level, Options, machine, run};

const MESSAGE_BYTES: usize = 1000;
/// Number of messages for SMPI. SimGrid's own rate for such a program is some 160 000 messages a second, so this takes
/// about a second.
const SMPI_MESSAGES: usize = 200_000;
const OURS_MESSAGES: usize = 1_000_000;

/// Runs one measurement, or each of them in a process of its own, as SMPI's are, so that none finds memory that another
/// has used.
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["messages", level, ranks] => {
            println!("{:.0}", messages_per_s(number(ranks), level_named(level)));
        }
        ["once", level, ranks] => once(level_named(level), number(ranks)),
        ["barrier-and-broadcast", ranks] => barrier_and_broadcast(number(ranks)),
        ["sci-ring", nodes] => sci_ring(number(nodes)),
        // Cargo's own words, such as --bench.
        _ => compare(),
    }
}

fn compare() {
    let smpi = smpi();
    println!(
        "all-to-all of {MESSAGE_BYTES}-byte messages on one switch, messages simulated a second"
    );
    println!(
        "{:>6} {:>12} {:>12} {:>12} {:>8}",
        "ranks", "ours, L1", "ours, L2", "SMPI", "L1/SMPI"
    );
    for ranks in [16, 256, 1024] {
        let [l1, l2] = [Level::LogGp, Level::Packets].map(|level| {
            let rate = part(&["messages", level.name(), &ranks.to_string()]);
            rate.trim().parse::<f64>().expect("a part prints a number")
        });
        let theirs = smpi.as_deref().map(|program| smpi_messages_per_s(program, ranks));
        let [theirs, ratio] = match theirs {
            Some(rate) => [format!("{rate:.0}"), format!("{:.1}", l1 / rate)],
            None => ["-".into(), "-".into()],
        };
        println!("{ranks:>6} {l1:>12.0} {l2:>12.0} {theirs:>12} {ratio:>8}");
    }
    if smpi.is_none() {
        println!("SMPI is not here: install libsimgrid-dev and simgrid to compare");
    }
    for rest in [
        &["once", "packets", "1024"][..],
        &["barrier-and-broadcast", "30000"],
        &["barrier-and-broadcast", "100000"],
        &["sci-ring", "64"],
    ] {
        print!("{}", part(rest));
    }
}

/// Runs this program for one measurement, and returns its output.
fn part(words: &[&str]) -> String {
    let program = std::env::current_exe().expect("the system knows what it runs");
    let output = Command::new(program).args(words).output().expect("it can be run again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn number(word: &str) -> usize {
    word.parse().expect("a number of ranks")
}

fn level_named(word: &str) -> Level {
    let named = [Level::LogGp, Level::Packets].into_iter().find(|level| level.name() == word);
    named.expect("loggp or packets")
}

/// Returns the rate at which `rounds` all-to-alls between `ranks` ranks are simulated, including the start of the
/// ranks.
fn messages_per_s(ranks: usize, level: Level) -> f64 {
    let messages = ranks * (ranks - 1);
    let rounds = OURS_MESSAGES.div_ceil(messages);
    let begin = Instant::now();
    all_to_all(ranks, level, rounds);
    (rounds * messages) as f64 / begin.elapsed().as_secs_f64()
}

fn all_to_all(ranks: usize, level: Level, rounds: usize) {
    let cluster = machine::find("cluster").expect("it is built in");
    let options = Options { level: Some(level), check_results: false, ..Options::new(ranks) };
    run(&cluster, &options, move |rank| {
        let send = vec![0; MESSAGE_BYTES * rank.size()];
        let mut receive = vec![0; MESSAGE_BYTES * rank.size()];
        (0..rounds).try_for_each(|_| rank.all_to_all(&send, &mut receive))
    })
    .expect("an all-to-all ends well");
}

fn once(level: Level, ranks: usize) {
    let begin = Instant::now();
    all_to_all(ranks, level, 1);
    let (name, seconds) = (level.name(), begin.elapsed().as_secs_f64());
    println!(
        "one of them between {ranks} ranks, {name}: {seconds:.2} s, peak {:.2} GiB",
        peak_gib()
    );
}

fn barrier_and_broadcast(ranks: usize) {
    let tree = machine::find("fat-tree").expect("it is built in");
    let begin = Instant::now();
    let options = Options { check_results: false, ..Options::new(ranks) };
    let outcome = run(&tree, &options, |rank| {
        rank.barrier()?;
        rank.broadcast(0, &mut [0; 64])
    });
    match outcome {
        Ok(outcome) => println!(
            "{ranks} ranks, one barrier and one broadcast, L1: {:.2} s for {} messages, peak {:.2} GiB",
            begin.elapsed().as_secs_f64(),
            outcome.counts.messages,
            peak_gib()
        ),
        Err((rank, error)) => println!("{ranks} ranks: rank {rank}: {error}"),
    }
}

/// Simulates a ring for a second of virtual time. All nodes send to random others whenever they have room.
fn sci_ring(nodes: usize) {
    let traffic = Traffic {
        nodes: Vec::new(),
        pace: Pace::Available,
        destination: Destination::Random,
        operation: TransactionKind::Move(64),
        priority: 0,
    };
    let study = Study {
        settings: RingSettings::ring(nodes as u32),
        traffic: vec![traffic],
        warm_up: TimeSpan::from_us(1000),
        duration: TimeSpan::from_us(1_000_000),
        joined: None,
        seed: 1,
    };
    let begin = Instant::now();
    let results = study::run(&study).expect("the settings are sound");
    println!(
        "a saturated SCI ring of {nodes} nodes, a simulated second: {:.2} s for {} packets, peak {:.2} GiB",
        begin.elapsed().as_secs_f64(),
        results.counts.sent,
        peak_gib()
    );
}

/// Returns the most memory in GiB that this process has had, as Linux counts it.
fn peak_gib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / (1024.0 * 1024.0)
}

/// Compiles the same program for SMPI, if its compiler is installed.
fn smpi() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("smpi");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("all_to_all");
    let status = Command::new("smpicc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(folder.join("all_to_all.c"))
        .status()
        .ok()?;
    status.success().then_some(program)
}

fn smpi_messages_per_s(program: &Path, ranks: usize) -> f64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("smpi");
    let messages = ranks * (ranks - 1);
    let rounds = SMPI_MESSAGES.div_ceil(messages);
    let begin = Instant::now();
    let output = Command::new("smpirun")
        .args(["-np", &ranks.to_string(), "-platform"])
        .arg(folder.join("switch.xml"))
        .arg("-hostfile")
        .arg(folder.join("hosts"))
        .args([
            "--cfg=smpi/simulate-computation:no",
            "--cfg=smpi/alltoall:pair",
            "--log=root.thres:error",
        ])
        .arg(program)
        .arg(rounds.to_string())
        .output()
        .expect("smpirun stands beside smpicc");
    if !output.status.success() {
        println!("SMPI failed: {}", String::from_utf8_lossy(&output.stderr));
        return f64::NAN;
    }
    (rounds * messages) as f64 / begin.elapsed().as_secs_f64()
}
