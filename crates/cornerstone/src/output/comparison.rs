//! Compared runs as a table.

use std::fmt::Write;

use analysis::compare::{ComparedRuns, Comparison, Name, Verdict};
use analysis::launches::{launches_needed, launches_to_compare};

use super::table;
use crate::wording::{counted, percent, quantity, ranks, ratio_change, size, states_compared};

/// Returns the table with a summary.
pub(crate) fn comparison_table(compared: &ComparedRuns) -> String {
    let threshold = compared.settings.margin;
    let mut sorted: Vec<&Comparison> = compared.comparisons.iter().collect();
    sorted.sort_by_key(|comparison| place(comparison.verdict));
    let rows = sorted.iter().map(|comparison| row(comparison, threshold)).collect();
    let header = ["measurement", "A", "B", "change", "interval", "verdict"];
    let mut text = table(&header.map(String::from), 1, rows);
    let count = |verdict| sorted.iter().filter(|c| c.verdict == verdict).count();
    let _ = writeln!(
        text,
        "\n{} slower, {} faster, {} the same, {} undecided",
        count(Verdict::Slower),
        count(Verdict::Faster),
        count(Verdict::Same),
        count(Verdict::Undecided)
    );
    text += &states_compared(compared);
    text += &too_few(compared, &sorted);
    for (run, only) in [("A", &compared.only_first), ("B", &compared.only_second)] {
        if !only.is_empty() {
            let _ = writeln!(text, "{} measured in {run} only", only.len());
        }
    }
    let limit = percent(threshold);
    let regressions = compared.regressions(threshold).count();
    let _ = match (regressions, compared.open(threshold)) {
        (0, 0) => writeln!(text, "no regression beyond {limit}"),
        (0, open) => writeln!(
            text,
            "undecided if there is a regression beyond {limit}: {open} of {} may be one",
            counted(sorted.len(), "number")
        ),
        (1, _) => writeln!(text, "1 regression beyond {limit} (marked !)"),
        (many, _) => writeln!(text, "{many} regressions beyond {limit} (marked !)"),
    };
    text
}

/// Returns a hint about the numbers with too few launches for a decision. Empty if the decision does not depend on
/// launches.
fn too_few(compared: &ComparedRuns, sorted: &[&Comparison]) -> String {
    let needed = launches_to_compare(compared.settings.confidence);
    let few = |c: &&&Comparison| c.launches.iter().any(|&launches| launches < needed);
    let untold = sorted.iter().filter(few).count();
    if untold == 0 || compared.settings.one_launch_tells || compared.settings.paired {
        return String::new();
    }
    format!(
        "{} {} measured in fewer than {needed} launches, which tells nothing for sure of another one:\n\
         measure both sides again with `cornerstone run --launches {}` or more\n",
        counted(untold, "number"),
        if untold == 1 { "was" } else { "were" },
        launches_needed(compared.settings.confidence)
    )
}

/// Returns the order of the rows: regressions first, equal numbers last.
fn place(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::Undecided => 2,
        Verdict::Same => 3,
    }
}

fn row(comparison: &Comparison, threshold: f64) -> Vec<String> {
    let unit = &comparison.name.unit;
    let (change, interval) = match comparison.effect {
        Some(effect) => (
            ratio_change(effect.ratio),
            format!("{} .. {}", ratio_change(effect.low), ratio_change(effect.high)),
        ),
        None => ("-".into(), String::new()),
    };
    let verdict = match comparison.verdict {
        Verdict::Slower if comparison.is_regression(threshold) => "slower !",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    };
    vec![
        comparison_name(&comparison.name),
        quantity(comparison.first, unit),
        quantity(comparison.second, unit),
        change,
        interval,
        verdict.into(),
    ]
}

/// Returns a measurement in words.
pub(crate) fn comparison_name(name: &Name) -> String {
    let key = &name.key;
    let mut text = format!("{} {}", key.benchmark, name.metric);
    // Another program does not report its number of ranks.
    if key.ranks > 0 {
        let _ = write!(text, ", {}", ranks(key.ranks));
    }
    for (parameter, value) in &key.parameters {
        let _ = write!(text, ", {} {value}", parameter.replace('_', " "));
    }
    if key.size_bytes > 0 {
        let _ = write!(text, ", {}", size(key.size_bytes));
    }
    text
}
