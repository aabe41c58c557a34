//! Compared runs as a table.

use std::fmt::Write;

use analysis::compare::{ComparedRuns, Comparison, Effect, EffectAfter, Name, Verdict};
use analysis::launches::{launches_needed, launches_to_compare};

use super::table;
use crate::wording::{
    counted, exact_change, percent, quantity, ranks, ratio_change, significant, size,
    stages_applied,
};

/// Returns the table with a summary.
pub(crate) fn comparison_table(compared: &ComparedRuns) -> String {
    let mut sorted: Vec<&Comparison> = compared.comparisons.iter().collect();
    sorted.sort_by_key(|comparison| place(comparison.verdict));
    let are_exact = sorted.iter().all(|comparison| comparison.exact);
    let columns = Columns { compared, are_exact };
    let mut text = columns.table(&sorted);
    text += &counts(&sorted, are_exact);
    text += &stages_applied(compared);
    text += &too_few(compared, &sorted);
    for (run, only) in [("A", &compared.only_first), ("B", &compared.only_second)] {
        if !only.is_empty() {
            let _ = writeln!(text, "{} measured in {run} only", only.len());
        }
    }
    text += &conclusion(compared);
    text
}

/// Returns whether there is a regression, in one line.
fn conclusion(compared: &ComparedRuns) -> String {
    let threshold = compared.settings.margin;
    let limit = percent(threshold);
    let as_printed =
        compared.comparisons.iter().filter(|one| one.is_worse_only_as_printed(threshold));
    match (compared.regressions(threshold).count(), compared.open(threshold), as_printed.count()) {
        (0, 0, 0) => format!("no regression beyond {limit}\n"),
        (0, 0, many) => format!(
            "launch by launch nothing is slower by more than {limit}; {} as printed\n",
            if many == 1 { "1 number is".into() } else { format!("{many} numbers are") }
        ),
        (0, open, _) => format!(
            "undecided if there is a regression beyond {limit}: {open} of {} may be one (marked ?)\n",
            counted(compared.comparisons.len(), "number")
        ),
        (1, ..) => format!("1 regression beyond {limit} (marked !)\n"),
        (many, ..) => format!("{many} regressions beyond {limit} (marked !)\n"),
    }
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
struct Columns<'a> {
    compared: &'a ComparedRuns,
    /// True if no number has launches, so that the change of the two medians is all that is compared.
    are_exact: bool,
}

impl Columns<'_> {
    fn table(&self, sorted: &[&Comparison]) -> String {
        let mut header = vec!["measurement", "A", "B", "change"];
        if !self.are_exact {
            header.push("launch by launch");
            header.extend(&self.compared.stages);
            header.push("interval");
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
            row.extend(comparison.steps.windows(2).map(step).collect::<Vec<_>>());
            let launches = comparison.steps.first().and_then(|step| step.effect);
            let launches = launches.map_or_else(String::new, |effect| ratio_change(effect.ratio));
            row.insert(4, if comparison.exact { "exact".into() } else { launches });
            row.push(self.interval(comparison));
        }
        row.push(self.verdict(comparison));
        row
    }

    /// Returns the interval that decides, if there are enough launches for one.
    fn interval(&self, comparison: &Comparison) -> String {
        let is_certain = |effect: &Effect| effect.reaches(self.compared.settings.confidence);
        match comparison.decided_by {
            _ if comparison.exact => String::new(),
            Some(e) if comparison.effect.is_some_and(|effect| is_certain(&effect)) => {
                format!("{} .. {}", ratio_change(e.low), ratio_change(e.high))
            }
            Some(_) if comparison.compared == [0, 0] => "no common state".into(),
            Some(_) => "too few launches".into(),
            None => String::new(),
        }
    }

    /// Returns the verdict, marked if it is a regression, or if it is open whether it is one.
    fn verdict(&self, comparison: &Comparison) -> String {
        let threshold = self.compared.settings.margin;
        let undecided = comparison.verdict == Verdict::Undecided;
        let every = self.compared.count(Verdict::Undecided) == self.compared.comparisons.len();
        let mark = match () {
            () if comparison.is_regression(threshold) => " !",
            () if undecided && (every || comparison.seems_worse(threshold)) => " ?",
            () => "",
        };
        format!("{}{mark}", comparison.verdict.word(comparison.exact))
    }
}

/// Returns what a stage does to a number: how it changes the ratio of the launches, or else the width of the interval.
fn step(around: &[EffectAfter]) -> String {
    let [Some(before), Some(after)] = [0, 1].map(|index: usize| around[index].effect) else {
        return String::new();
    };
    let width = |effect: Effect| (effect.high / effect.low).ln();
    let widens_by = width(after) / width(before);
    match after.ratio / before.ratio {
        times if (times - 1.0).abs() > 1e-9 => ratio_change(times),
        _ if (widens_by - 1.0).abs() > 1e-9 && widens_by.is_finite() => {
            format!("interval x {}", significant(widens_by))
        }
        _ => "0 %".into(),
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
