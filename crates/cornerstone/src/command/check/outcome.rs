//! The results of a check for each number: in the terminal and for other programs.

use analysis::compare::{Comparison, MissingLaunches, Name};
use analysis::history::{Machine, Series};
use record::{Measurement, Run};

use super::Check;
use crate::arguments::Publication;
use crate::output::{Median, Published, comparison_name, published, table};
use crate::wording::{counted, percent, quantity, ratio_change};

/// Results of a check, apart from numbers that are fine or new.
pub(super) struct Outcome<'a> {
    /// Numbers that are slower in both measurements.
    pub(super) confirmed: Vec<Comparison>,
    /// Numbers that are slower in the first measurement only.
    pub(super) once: Vec<Comparison>,
    /// Numbers that are neither slower nor not slower.
    pub(super) undecided: Vec<Undecided>,
    /// Numbers that earlier runs measured and this one did not.
    pub(super) missing: Vec<&'a Series>,
}

/// A number that may be slower or not.
pub(super) struct Undecided {
    pub(super) comparison: Comparison,
    pub(super) lacks: MissingLaunches,
}

impl Outcome<'_> {
    /// Returns the lines for standard error, if standard output has numbers for a program.
    pub(super) fn notes(&self) -> Vec<String> {
        let undecided = self.undecided.iter().map(|one| {
            let name = comparison_name(&one.comparison.name);
            format!("note: undecided if slower: {name}: {}", one.remedy())
        });
        let missing = self.missing.iter().map(|series| {
            format!("note: in the history and not measured now: {}", comparison_name(&series.name))
        });
        undecided.chain(missing).collect()
    }

    /// Returns the numbers in a format for other programs.
    pub(super) fn published(&self, check: &Check<'_>, run: &Run, format: Publication) -> String {
        let machine = Machine::of(run.header());
        let names: Vec<Name> = run.measurements.iter().map(Name::of).collect();
        let measured = run.measurements.iter().zip(&names);
        let numbers = measured.map(|(m, name)| self.number(check, &machine, m, name));
        let missing = self.missing.iter().map(|series| Published {
            machine: &machine,
            name: &series.name,
            median: None,
            ratio: None,
            verdict: "missing",
            remark: last_measured(series),
        });
        published(&numbers.chain(missing).collect::<Vec<_>>(), format)
    }

    fn number<'n>(
        &self,
        check: &Check<'_>,
        machine: &'n Machine,
        measurement: &Measurement,
        name: &'n Name,
    ) -> Published<'n> {
        let is_in = |all: &[Comparison]| all.iter().any(|one| one.name == *name);
        let undecided = self.undecided.iter().find(|one| one.comparison.name == *name);
        let (verdict, remark) = match undecided {
            Some(one) => ("undecided", one.remedy()),
            None if is_in(&self.confirmed) => ("slower", String::new()),
            None if is_in(&self.once) => ("slower once", String::new()),
            None if check.series(name).is_none() => ("new", String::new()),
            None => ("", String::new()),
        };
        let summary = &measurement.summary;
        let level = check.level(measurement).map(|level| level.summary.median);
        Published {
            machine,
            name,
            median: Some(Median::of(summary)),
            ratio: level.filter(|level| *level > 0.0).map(|level| summary.median / level),
            verdict,
            remark,
        }
    }

    /// Returns the text for the terminal.
    pub(super) fn in_words(&self, check: &Check<'_>, run: &Run) -> String {
        let compared =
            run.measurements.iter().filter(|m| check.series(&Name::of(m)).is_some()).count();
        let limit = percent(check.arguments.threshold.0);
        let mut text = format!(
            "{} measured, of which {compared} {} a level in '{}'\n",
            counted(run.measurements.len(), "number"),
            if compared == 1 { "has" } else { "have" },
            check.arguments.against.display()
        );
        let header = ["measurement", "level", "now", "change"].map(String::from);
        for (what, all) in [
            (format!("slower by more than {limit} in both measurements"), &self.confirmed),
            ("slower only in the first measurement".into(), &self.once),
        ] {
            if !all.is_empty() {
                text += &format!("\n{what}:\n{}", table(&header, 1, all.iter().map(row).collect()));
            }
        }
        if !self.undecided.is_empty() {
            let header = header.iter().cloned().chain(["what would decide it".into()]);
            let rows = self
                .undecided
                .iter()
                .map(|one| row(&one.comparison).into_iter().chain([one.remedy()]).collect());
            let rows = table(&header.collect::<Vec<_>>(), 1, rows.collect());
            text += &format!("\nundecided, slower by more than {limit} or not:\n{rows}");
        }
        if !self.missing.is_empty() {
            let header = ["measurement", "level", "last measured"].map(String::from);
            let rows = self.missing.iter().map(|series| missing_row(series)).collect();
            text +=
                &format!("\nin the history, and not measured now:\n{}", table(&header, 1, rows));
        }
        text + &self.conclusion(compared, &limit)
    }

    fn conclusion(&self, compared: usize, limit: &str) -> String {
        let mut open = Vec::new();
        if !self.undecided.is_empty() {
            open.push(format!("{} undecided", self.undecided.len()));
        }
        if !self.missing.is_empty() {
            open.push(format!("{} not measured", self.missing.len()));
        }
        match (self.confirmed.len(), open.is_empty()) {
            (0, true) if compared == 0 => "nothing to compare with yet\n".into(),
            (0, true) => format!("nothing is slower by more than {limit}\n"),
            (0, false) => {
                format!("nothing is known to be slower by more than {limit}: {}\n", open.join(", "))
            }
            (many, true) => format!("{many} slower\n"),
            (many, false) => format!("{many} slower, {}\n", open.join(", ")),
        }
    }
}

impl Undecided {
    /// Returns the launches that would decide it.
    fn remedy(&self) -> String {
        let more = |launches: usize| counted(launches, "more launch");
        match (self.lacks.first, self.lacks.second) {
            (Some(first), Some(second)) => {
                format!("{} in the history, or {} now", more(first), more(second))
            }
            (Some(first), None) => format!("{} in the history", more(first)),
            (None, Some(second)) => format!("{} now", more(second)),
            (None, None) => "more launches on both sides, or another threshold".into(),
        }
    }
}

fn row(one: &Comparison) -> Vec<String> {
    let unit = &one.name.unit;
    vec![
        comparison_name(&one.name),
        quantity(one.first, unit),
        quantity(one.second, unit),
        one.change().map_or_else(String::new, ratio_change),
    ]
}

fn missing_row(series: &Series) -> Vec<String> {
    let level = series
        .median_of_level()
        .map_or_else(String::new, |median| quantity(median, &series.name.unit));
    vec![comparison_name(&series.name), level, last_measured(series)]
}

fn last_measured(series: &Series) -> String {
    series.points.last().map_or_else(String::new, |point| point.started.clone())
}
