//! Compared runs as a table.

use std::fmt::Write;

use analysis::compare::{ComparedRuns, Comparison, Name, Settings, Verdict};
use analysis::launches::{launches_needed, launches_to_compare};

use super::table;
use crate::wording::{
    counted, exact_change, percent, quantity, ranks, ratio_change, size, states_compared,
};

/// Returns the table with a summary.
pub(crate) fn comparison_table(compared: &ComparedRuns) -> String {
    let threshold = compared.settings.margin;
    let mut sorted: Vec<&Comparison> = compared.comparisons.iter().collect();
    sorted.sort_by_key(|comparison| place(comparison.verdict));
    let are_exact = sorted.iter().all(|comparison| comparison.exact);
    let columns = Columns { settings: compared.settings, are_exact };
    let mut text = columns.table(&sorted);
    text += &counts(&sorted, are_exact);
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
    let untold = sorted.iter().filter(|one| !one.exact).filter(few).count();
    if untold == 0 || compared.settings.paired {
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

/// Returns how many numbers have each verdict.
fn counts(all: &[&Comparison], are_exact: bool) -> String {
    let count = |verdict| all.iter().filter(|one| one.verdict == verdict).count();
    let [slower, faster, same] = [Verdict::Slower, Verdict::Faster, Verdict::Same].map(&count);
    match are_exact {
        true => {
            format!("\n{slower} slower, {faster} faster, {same} equal; all numbers are exact\n")
        }
        false => format!(
            "\n{slower} slower, {faster} faster, {same} the same, {} undecided\n",
            count(Verdict::Undecided)
        ),
    }
}

/// The columns of the table.
struct Columns {
    settings: Settings,
    /// True if no number has launches, so that the change of the two medians is all that is compared.
    are_exact: bool,
}

impl Columns {
    fn table(&self, sorted: &[&Comparison]) -> String {
        let mut header = vec!["measurement", "A", "B", "change"];
        if !self.are_exact {
            header.extend(["launch by launch", "interval"]);
        }
        header.push("verdict");
        let header: Vec<String> = header.into_iter().map(String::from).collect();
        table(&header, 1, sorted.iter().map(|comparison| self.row(comparison)).collect())
    }

    fn row(&self, comparison: &Comparison) -> Vec<String> {
        let unit = &comparison.name.unit;
        let change = match (comparison.change(), comparison.exact) {
            (None, _) => "-".into(),
            (Some(ratio), true) => exact_change(ratio),
            (Some(ratio), false) => ratio_change(ratio),
        };
        let mut row = vec![
            comparison_name(&comparison.name),
            quantity(comparison.first, unit),
            quantity(comparison.second, unit),
            change,
        ];
        if !self.are_exact {
            row.extend(self.launches(comparison));
        }
        row.push(self.verdict(comparison).into());
        row
    }

    /// Returns the change from launch to launch, and its interval if there are enough launches for one.
    fn launches(&self, comparison: &Comparison) -> [String; 2] {
        match comparison.certain_effect(self.settings.confidence) {
            _ if comparison.exact => ["exact".into(), String::new()],
            Some(e) => [
                ratio_change(e.ratio),
                format!("{} .. {}", ratio_change(e.low), ratio_change(e.high)),
            ],
            None if comparison.compared == [0, 0] => ["no common state".into(), String::new()],
            None if comparison.effect.is_some() => ["too few launches".into(), String::new()],
            None => Default::default(),
        }
    }

    fn verdict(&self, comparison: &Comparison) -> &'static str {
        match comparison.verdict {
            Verdict::Slower if comparison.is_regression(self.settings.margin) => "slower !",
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same if comparison.exact => "equal",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        }
    }
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
