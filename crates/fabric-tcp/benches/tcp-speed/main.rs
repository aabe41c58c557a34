//! Comparison of the TCP fabric with bare sockets between the same two processes: a ping-pong and a stream as in a C
//! program, with blocking sockets and with polled sockets, alternating with the fabric.
//!
//! `cargo bench -p fabric-tcp --bench tcp-speed` prints the table. A ratio of 1 is the time or rate of a bare socket.

mod bare;
mod programs;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use fabric_tcp::Secret;
use launcher::{LaunchOptions, Seat, launch};

const SIZES: [usize; 7] = [8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

fn main() {
    if let Some(seat) = Seat::take() {
        let seat = seat.expect("joining the run");
        let (secret, job) = seat.job().split_first_chunk().expect("a secret comes first");
        let (secret, job) =
            (Secret::from_bytes(*secret), String::from_utf8_lossy(job).into_owned());
        let mut rank = fabric_tcp::local::join(seat, &secret).expect("joining the others");
        let reporter = rank.reporter();
        let outcome = programs::run(&mut rank.world(), &reporter, &job);
        std::process::exit(rank.finish(outcome));
    }
    println!(
        "{:<10} {:>10} {:>12} {:>12} {:>12} {:>7}",
        "what", "size", "ours", "blocking", "asking", "ratio"
    );
    for (program, unit) in [("ping-pong", "us"), ("stream", "MB/s")] {
        for size in SIZES {
            print(program, unit, size);
        }
    }
}

fn print(program: &str, unit: &str, size: usize) {
    let found = measure(&format!("{program} {size}"));
    let median = |name: &str| {
        let mut values = found.get(name).cloned().unwrap_or_default();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (ours, blocking, asking) = (median("ours"), median("blocking"), median("asking"));
    let best = if unit == "us" { blocking.min(asking) } else { blocking.max(asking) };
    let cell = |value: f64| format!("{value:.2} {unit}");
    println!(
        "{program:<10} {size:>10} {:>12} {:>12} {:>12} {:>7.2}",
        cell(ours),
        cell(blocking),
        cell(asking),
        ours / best
    );
}

/// Runs `job` on two ranks, and returns their reports by name.
fn measure(job: &str) -> BTreeMap<String, Vec<f64>> {
    let secret = Secret::generate().expect("the system has random numbers");
    let job = [secret.as_bytes().as_slice(), job.as_bytes()].concat();
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let ended = launch(&LaunchOptions::new(2, job), &mut |report| {
        let text = String::from_utf8_lossy(report);
        if let Some((name, value)) = text.split_once(' ') {
            values.entry(name.into()).or_default().push(value.parse().unwrap_or(f64::NAN));
        }
        ControlFlow::Continue(())
    });
    ended.unwrap_or_else(|error| panic!("{error}"));
    values
}
