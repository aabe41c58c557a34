//! A history as tables.

use std::collections::BTreeSet;
use std::fmt::Write;

use analysis::changes::Change;
use analysis::history::{Machine, Series};

use super::{comparison_name, table};
use crate::wording::{counted, quantity, ratio_change, whole_percent};

/// Returns a line for each number, by machine: its level and its last change.
pub(crate) fn history_overview(all: &[Series]) -> String {
    let mut text = String::new();
    for of_machine in all.chunk_by(|a, b| a.machine == b.machine) {
        let _ = writeln!(text, "{}\n", machine(of_machine));
        let header = ["measurement", "runs", "level", "latest", "last change"].map(String::from);
        let rows = of_machine.iter().map(overview_row).collect();
        text += &table(&header, 1, rows);
        text.push('\n');
    }
    let changed = all.iter().filter(|series| !series.changes.is_empty()).count();
    let _ = writeln!(
        text,
        "{changed} of {} changed; `cornerstone history BENCHMARK` shows their runs",
        counted(all.len(), "number")
    );
    text
}

/// Returns every run of each number.
pub(crate) fn history_runs(all: &[Series]) -> String {
    let mut text = String::new();
    for of_machine in all.chunk_by(|a, b| a.machine == b.machine) {
        let _ = writeln!(text, "{}\n", machine(of_machine));
        for series in of_machine {
            let _ = writeln!(text, "{}", comparison_name(&series.name));
            let header =
                ["began", "build", "run", "median", "interval", "change"].map(String::from);
            text += &table(&header, 3, run_rows(series));
            text.push('\n');
        }
    }
    text
}

/// Returns the name of a machine in words.
pub(crate) fn machine_name(machine: &Machine) -> String {
    match machine.processors {
        0 => format!("the simulated machine {}", machine.processor),
        processors => {
            format!("{}, {processors} processors, over {}", machine.processor, machine.fabric)
        }
    }
}

fn machine(series: &[Series]) -> String {
    let points = || series.iter().flat_map(|one| &one.points);
    let mut runs: Vec<&str> = points().map(|point| point.run.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    let began = || points().map(|point| point.started.as_str());
    let (first, last) = (began().min().unwrap_or_default(), began().max().unwrap_or_default());
    let count = counted(runs.len(), "run");
    let hosts: BTreeSet<&str> = series.iter().flat_map(Series::hosts).collect();
    let on = match hosts.len() {
        0 | 1 => String::new(),
        _ => format!(", on the hosts {}", hosts.into_iter().collect::<Vec<_>>().join(", ")),
    };
    format!("{}: {count}, {first} to {last}{on}", machine_name(&series[0].machine))
}

fn overview_row(series: &Series) -> Vec<String> {
    let unit = &series.name.unit;
    let last = series.changes.last().map_or_else(String::new, |change| {
        format!("{}: {}", place_of_change(series, change), change_in_words(series, change))
    });
    let latest = series.points.last().map_or(0.0, |point| point.median);
    vec![
        comparison_name(&series.name),
        series.points.len().to_string(),
        quantity(series.median_of_level().unwrap_or(0.0), unit),
        quantity(latest, unit),
        last,
    ]
}

/// Returns the day and the build of the first run after a change.
pub(super) fn place_of_change(series: &Series, change: &Change) -> String {
    let point = &series.points[change.at];
    format!("{} {}", date(&point.started), build(&point.revision))
}

fn run_rows(series: &Series) -> Vec<Vec<String>> {
    let unit = &series.name.unit;
    let row = |(index, point): (usize, &analysis::history::Point)| {
        let change = series.changes.iter().find(|change| change.at == index);
        let remark = match change {
            Some(change) => change_in_words(series, change),
            None if point.is_of_another_state => "in another state of the machine".into(),
            None => String::new(),
        };
        vec![
            point.started.clone(),
            format!("{} {}", point.version, build(&point.revision)),
            point.run.clone(),
            quantity(point.median, unit),
            match point.exact {
                true => "exact".into(),
                false => format!("{} .. {}", quantity(point.low, unit), quantity(point.high, unit)),
            },
            remark,
        ]
    };
    series.points.iter().enumerate().map(row).collect()
}

/// Returns the size of a change, its direction (worse or better), and its significance unless it is exact.
pub(crate) fn change_in_words(series: &Series, change: &Change) -> String {
    let sure = match change.chance {
        0.0 => String::new(),
        chance => format!("{} sure", sureness(chance)),
    };
    match (change.effect, series.is_worse(change)) {
        (Some(effect), Some(worse)) => {
            let direction = if worse { "worse" } else { "better" };
            let change = format!("{} {direction}", ratio_change(effect.ratio));
            if sure.is_empty() { change } else { format!("{change}, {sure}") }
        }
        _ if sure.is_empty() => "different".into(),
        _ => sure,
    }
}

fn sureness(chance: f64) -> String {
    // If none of 499 orders exceeds a change, its chance is 1/500, so it is 99.8 % sure.
    if chance < 0.01 {
        format!("{:.1} %", 100.0 * (1.0 - chance))
    } else {
        whole_percent(1.0 - chance)
    }
}

/// Returns the first ten characters of a time: its day.
fn date(started: &str) -> String {
    started.chars().take(10).collect()
}

/// Returns a revision shortened to its first characters, with its mark if the tree was changed.
fn build(revision: &str) -> String {
    const SHORT: usize = 9;
    let mark = if revision.ends_with("-dirty") { "-dirty" } else { "" };
    revision.trim_end_matches("-dirty").chars().take(SHORT).collect::<String>() + mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_short_and_keep_their_mark() {
        assert_eq!(build("0123456789abcdef-dirty"), "012345678-dirty");
        assert_eq!(build("unknown"), "unknown");
        assert_eq!((sureness(0.002), sureness(0.01)), ("99.8 %".into(), "99 %".into()));
    }
}
