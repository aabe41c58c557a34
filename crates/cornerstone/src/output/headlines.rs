//! The most important numbers of a run.

use std::collections::BTreeSet;

use analysis::limits::{Limits, Precision};
use benchmark::{Headline, catalogue, is_as_the_fabric_chooses, is_between_hosts};
use record::ParameterValue;

use super::entry::{Entry, mark};
use super::table;
use crate::comparison::is_of_one_launch;
use crate::wording::{percent, quantity, ranks_of, size};

/// Returns the headlines of a run at each number of ranks, below the limits that they are compared with.
pub(super) fn headlines(found: &[Entry], limits: &Limits) -> String {
    let mut rows = limit_rows(limits);
    let declared = catalogue().iter().flat_map(|benchmark| {
        benchmark.headlines.iter().map(move |headline| (benchmark.name, headline))
    });
    rows.extend(declared.flat_map(|(benchmark, headline)| rows_of(benchmark, headline, found)));
    if rows.is_empty() {
        return String::new();
    }
    let header = ["in short", "", "median", "±", "of limit", ""];
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

/// Returns a row for each number of ranks and place of a pair.
fn rows_of(benchmark: &str, headline: &Headline, found: &[Entry]) -> Vec<Vec<String>> {
    let mine: Vec<&Entry> = found
        .iter()
        .filter(|f| {
            f.measurement.benchmark == benchmark
                && f.measurement.metric == headline.metric
                && is_as_the_fabric_chooses(&f.measurement.parameters)
                && headline.size_bytes.is_none_or(|size| size == f.measurement.size_bytes)
        })
        .collect();
    let place = |f: &Entry| (f.measurement.ranks, is_between_hosts(&f.measurement.parameters));
    let places: BTreeSet<(usize, bool)> = mine.iter().map(|f| place(f)).collect();
    places
        .into_iter()
        .filter_map(|one| {
            mine.iter()
                .filter(|f| place(f) == one)
                .max_by(|a, b| {
                    let median = |f: &Entry| f.measurement.summary.median;
                    median(a).total_cmp(&median(b))
                })
                .map(|best| row(headline, best))
        })
        .collect()
}

fn row(headline: &Headline, entry: &Entry) -> Vec<String> {
    let Entry { measurement, share } = entry;
    let mut at = ranks_of(measurement);
    if headline.size_bytes.is_none() && measurement.size_bytes > 0 {
        at += &format!(", {}", size(measurement.size_bytes));
    }
    if let Some(ParameterValue::Number(points)) = measurement.parameters.get("points") {
        at += &format!(", {points} points");
    }
    let summary = &measurement.summary;
    let half_width = match measurement.is_exact() {
        true => "exact".into(),
        false if is_of_one_launch(measurement) => String::new(),
        false => percent(summary.half_width()),
    };
    vec![
        headline.words.into(),
        at,
        quantity(summary.median, &measurement.unit),
        half_width,
        share.map_or_else(String::new, |share| percent(share.share)),
        mark(measurement).into(),
    ]
}
