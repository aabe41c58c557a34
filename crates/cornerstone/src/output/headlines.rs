//! The few numbers that a reader asks for first.

use analysis::limits::{Limits, Precision};

use contract::record::ParameterValue;

use super::entry::{Entry, mark};
use super::table;
use crate::wording::{percent, quantity, range, ranks, size};

/// A number that a reader asks for first, where a run has it.
struct Headline {
    words: &'static str,
    benchmark: &'static str,
    /// None for the one with the highest median.
    size_bytes: Option<u64>,
    metric: &'static str,
}

const HEADLINES: [Headline; 10] = [
    Headline {
        words: "8 bytes, half a round trip",
        benchmark: "ping-pong",
        size_bytes: Some(8),
        metric: "time",
    },
    Headline {
        words: "64 KiB, half a round trip",
        benchmark: "ping-pong",
        size_bytes: Some(64 << 10),
        metric: "time",
    },
    Headline {
        words: "fastest stream one way",
        benchmark: "bandwidth",
        size_bytes: None,
        metric: "rate",
    },
    Headline {
        words: "fastest streams both ways",
        benchmark: "two-way-bandwidth",
        size_bytes: None,
        metric: "rate",
    },
    Headline { words: "barrier", benchmark: "barrier", size_bytes: Some(0), metric: "time" },
    Headline {
        words: "allreduce of 8 bytes",
        benchmark: "allreduce",
        size_bytes: Some(8),
        metric: "time",
    },
    Headline {
        words: "all-to-all of 64 KiB blocks",
        benchmark: "all-to-all",
        size_bytes: Some(64 << 10),
        metric: "time",
    },
    Headline { words: "fastest FFT", benchmark: "fft", size_bytes: None, metric: "rate" },
    Headline { words: "Linpack", benchmark: "linpack", size_bytes: None, metric: "rate" },
    Headline {
        words: "fastest corner turn in memory",
        benchmark: "corner-turn-memory",
        size_bytes: None,
        metric: "rate",
    },
];

/// The headlines of a run, at each number of ranks, below the limits that they are read against.
pub(super) fn headlines(found: &[Entry], limits: &Limits) -> String {
    let mut rows = limit_rows(limits);
    rows.extend(HEADLINES.iter().flat_map(|headline| headline.rows(found)));
    if rows.is_empty() {
        return String::new();
    }
    let header = ["in short", "", "median", "interval", "of the limit", ""];
    table(&header.map(String::from), 2, rows) + "\n"
}

fn limit_rows(limits: &Limits) -> Vec<Vec<String>> {
    let row = |words: &str, at: String, value: String| {
        vec![words.into(), at, value, String::new(), String::new(), String::new()]
    };
    let hand_over = limits
        .fastest_hand_over_us()
        .map(|us| row("one cache line from core to core", String::new(), quantity(us, "us")));
    let copy = limits.copy_mb_per_s(64 << 10).filter(|_| !limits.copies.is_empty());
    let copy = copy.map(|rate| row("one core copies", size(64 << 10), quantity(rate, "MB/s")));
    let peak = |precision: Precision| {
        let rate = limits.peak_mflop_per_s(precision)?;
        let at = format!("{} precision", precision.name());
        Some(row("one core computes at most", at, quantity(rate, "MFLOP/s")))
    };
    let peaks = [Precision::Single, Precision::Double].into_iter().filter_map(peak);
    hand_over.into_iter().chain(copy).chain(peaks).collect()
}

impl Headline {
    /// A row for each number of ranks.
    fn rows(&self, found: &[Entry]) -> Vec<Vec<String>> {
        let mine: Vec<&Entry> = found
            .iter()
            .filter(|f| {
                f.measurement.benchmark == self.benchmark
                    && f.measurement.metric == self.metric
                    && self.size_bytes.is_none_or(|size| size == f.measurement.size_bytes)
            })
            .collect();
        let mut counts: Vec<usize> = mine.iter().map(|f| f.measurement.ranks).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
            .into_iter()
            .filter_map(|count| {
                mine.iter()
                    .filter(|f| f.measurement.ranks == count)
                    .max_by(|a, b| {
                        let median = |f: &Entry| f.measurement.summary.median;
                        median(a).total_cmp(&median(b))
                    })
                    .map(|best| self.row(best))
            })
            .collect()
    }

    fn row(&self, entry: &Entry) -> Vec<String> {
        let Entry { measurement, share } = entry;
        let mut at = ranks(measurement.ranks);
        if self.size_bytes.is_none() && measurement.size_bytes > 0 {
            at += &format!(", {}", size(measurement.size_bytes));
        }
        if let Some(ParameterValue::Number(points)) = measurement.parameters.get("points") {
            at += &format!(", {points} points");
        }
        let summary = &measurement.summary;
        vec![
            self.words.into(),
            at,
            quantity(summary.median, &measurement.unit),
            range(summary.ci_low, summary.ci_high, &measurement.unit),
            share.map_or_else(String::new, |share| percent(share.share)),
            mark(measurement).into(),
        ]
    }
}
