//! Table of measured values, their lower bounds, and the targets.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use fabric_shm::launch_options;
use launcher::{Binding, LaunchOptions, launch};

use crate::samples::{Median, Samples};

/// Target of a ratio.
enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

struct Row {
    what: &'static str,
    unit: &'static str,
    measured: Median,
    floor_name: &'static str,
    floor: Median,
    aim: Aim,
}

type Measure = fn() -> Vec<Row>;

/// Prints the rows whose name contains one of `wanted` (all if there is none). Returns 1 if a selected row misses its
/// target.
pub(crate) fn print(wanted: &[String]) -> i32 {
    let measures: [(&str, Measure); 8] = [
        ("latency", latency),
        ("bandwidth", bandwidth),
        ("barrier2", barrier_of_two),
        ("barrier8", barrier_of_eight),
        ("broadcast", broadcast),
        ("start", start_to_finish),
        ("memory2", memory_of_two),
        ("memory64", memory_of_many),
    ];
    println!(
        "{:<42} {:>26} {:>32} {:>7}  {:<8} met?",
        "what", "measured [95 %]", "floor [95 %]", "ratio", "aim"
    );
    let mut missed = 0;
    for (name, measure) in measures {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            for row in measure() {
                missed += i32::from(!row.print());
            }
        }
    }
    i32::from(missed > 0)
}

impl Row {
    fn print(&self) -> bool {
        let ratio = self.measured.value / self.floor.value;
        let (aim, met) = match self.aim {
            Aim::AtMost(limit) => (format!("<= {limit}"), ratio <= limit),
            Aim::AtLeast(limit) => (format!(">= {limit}"), ratio >= limit),
        };
        println!(
            "{:<42} {:>26} {:>32} {:>7.2}  {:<8} {}",
            self.what,
            format!("{} {}", show(self.measured), self.unit),
            format!("{} {}", show(self.floor), self.floor_name),
            ratio,
            aim,
            if met { "yes" } else { "NO" }
        );
        met
    }
}

fn show(median: Median) -> String {
    let digits = if median.value < 100.0 { 1 } else { 0 };
    format!("{:.digits$} [{:.digits$} {:.digits$}]", median.value, median.low, median.high)
}

/// Runs `job` and collects the reports of the ranks by name.
fn run(ranks: usize, binding: Binding, job: &str) -> HashMap<String, Samples> {
    let options = LaunchOptions { binding, ..launch_options(ranks, job.into()) };
    let mut values: HashMap<String, Vec<f64>> = HashMap::new();
    launch(&options, &mut |report| {
        let text = String::from_utf8_lossy(report);
        if let Some((name, value)) = text.split_once(' ') {
            values.entry(name.into()).or_default().push(value.parse().unwrap_or(f64::NAN));
        }
        ControlFlow::Continue(())
    })
    .unwrap_or_else(|error| panic!("{job}: {error}"));
    values.into_iter().map(|(name, values)| (name, Samples::new(values))).collect()
}

fn exactly(value: f64) -> Median {
    Median { value, low: value, high: value }
}

impl Median {
    fn times(self, factor: f64) -> Median {
        Median { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }
}

fn latency() -> Vec<Row> {
    let found = run(2, Binding::OneCoreEach, "latency 8");
    vec![Row {
        what: "half round trip, 8 B",
        unit: "ns",
        measured: found["measured"].median(),
        floor_name: "ns hand-over",
        floor: found["floor"].median(),
        aim: Aim::AtMost(1.6),
    }]
}

fn bandwidth() -> Vec<Row> {
    let sizes = [(64 << 10, "bandwidth, 64 KiB", 0.9), (4 << 20, "bandwidth, 4 MiB", 1.2)];
    let row = |(bytes, what, least)| {
        let found = run(2, Binding::OneCoreEach, &format!("bandwidth {bytes}"));
        Row {
            what,
            unit: "MB/s",
            measured: found["measured"].median(),
            floor_name: "MB/s copy",
            floor: found["floor"].median(),
            aim: Aim::AtLeast(least),
        }
    };
    sizes.map(row).into()
}

fn barrier_of_two() -> Vec<Row> {
    let found = run(2, Binding::OneCoreEach, "barrier");
    vec![Row {
        what: "barrier, 2 ranks",
        unit: "ns",
        measured: found["measured"].median(),
        floor_name: "ns hand-over",
        floor: found["floor"].median(),
        aim: Aim::AtMost(2.5),
    }]
}

fn barrier_of_eight() -> Vec<Row> {
    let switch = run(2, Binding::Cores(vec![0, 0]), "switch");
    let found = run(8, Binding::Cores(vec![0, 1]), "barrier");
    vec![Row {
        what: "barrier, 8 ranks on 2 cores",
        unit: "ns",
        measured: found["measured"].median(),
        floor_name: "ns 4 switches",
        floor: switch["floor"].median().times(4.0),
        aim: Aim::AtMost(2.0),
    }]
}

fn broadcast() -> Vec<Row> {
    let found = run(8, Binding::Cores(vec![0, 1]), &format!("broadcast {}", 64 << 10));
    let row = |what, name: &str| Row {
        what,
        unit: "ns",
        measured: found[name].median(),
        floor_name: "ns 7 copies",
        floor: found["floor"].median().times(7.0),
        aim: Aim::AtMost(1.0),
    };
    vec![
        row("broadcast, 64 KiB, 8 ranks on 2 cores", "measured"),
        row("the same, one after the other", "stream"),
    ]
}

fn start_to_finish() -> Vec<Row> {
    let mut times = Vec::new();
    for _ in 0..30 {
        let start = Instant::now();
        run(2, Binding::OneCoreEach, "nothing");
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    vec![Row {
        what: "start to finish, 2 ranks",
        unit: "ms",
        measured: Samples::new(times).median(),
        floor_name: "ms wanted",
        floor: exactly(30.0),
        aim: Aim::AtMost(1.0),
    }]
}

fn memory_of_two() -> Vec<Row> {
    let found = run(2, Binding::OneCoreEach, "memory");
    vec![Row {
        what: "memory of a rank, 2 ranks",
        unit: "KiB",
        measured: found["memory"].median(),
        floor_name: "KiB wanted",
        floor: exactly(4096.0),
        aim: Aim::AtMost(1.0),
    }]
}

fn memory_of_many() -> Vec<Row> {
    let of = |ranks| run(ranks, Binding::OneCoreEach, "memory")["memory"].median();
    let few = of(8);
    vec![Row {
        what: "memory of a rank, 64 ranks",
        unit: "KiB",
        measured: of(64),
        floor_name: "KiB with 8 ranks",
        floor: few,
        aim: Aim::AtMost(1.5),
    }]
}
