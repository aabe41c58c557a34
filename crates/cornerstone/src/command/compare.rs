//! `compare`: compares other runs with a run, number by number.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use analysis::compare::{ComparedRuns, Comparison, Name, Verdict, compare};
use analysis::launches::launches_needed;
use contract::record::Run;

use crate::arguments::{CompareArguments, Share};
use crate::comparison::comparison_settings;
use crate::failure::{Failure, STATUS_FAILED};
use crate::output::{print, table};
use crate::progress::note;
use crate::results;
use crate::wording::{percent, quantity, ranks, significant, size};

/// Compares each run with the first. The status says whether a number regressed beyond the threshold.
pub(crate) fn execute(arguments: CompareArguments) -> Result<ExitCode, Failure> {
    let before = timed_only(results::read_noting_gaps(&arguments.before)?);
    let mut regressed = false;
    for (index, path) in arguments.after.iter().enumerate() {
        if arguments.after.len() > 1 {
            let (a, b) = (arguments.before.display(), path.display());
            print(&format!("{}A '{a}', B '{b}'\n\n", if index > 0 { "\n" } else { "" }))?;
        }
        regressed |= has_regressed(&before, path, &arguments)?;
    }
    Ok(if regressed { ExitCode::from(STATUS_FAILED) } else { ExitCode::SUCCESS })
}

/// Compares the run in `path` with `before`, and returns whether a number regressed.
fn has_regressed(before: &Run, path: &Path, arguments: &CompareArguments) -> Result<bool, Failure> {
    let after = timed_only(results::read_noting_gaps(path)?);
    note_differences(before, &after);
    let Share(threshold) = arguments.threshold;
    let settings = comparison_settings(before, &after, threshold);
    let compared = compare(before, &after, settings);
    if compared.comparisons.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' and '{}' have no measurement in common",
            arguments.before.display(),
            path.display()
        ))
        .hint("compare runs of the same benchmarks, ranks and sizes"));
    }
    print(&text(&compared))?;
    Ok(compared.regressions(threshold).next().is_some())
}

/// The run without metrics that were computed from another metric of the same measurement, which would count it twice.
fn timed_only(mut run: Run) -> Run {
    let timed: std::collections::BTreeSet<_> =
        run.measurements.iter().filter(|m| !m.samples.is_empty()).map(|m| m.key()).collect();
    run.measurements.retain(|m| !m.samples.is_empty() || !timed.contains(&m.key()));
    run
}

/// Notes the differences that make the runs hard to compare.
fn note_differences(before: &Run, after: &Run) {
    let [a, b] = [before, after].map(|run| &run.header().environment);
    let pairs = [
        ("host", &a.host, &b.host),
        ("processor", &a.processor, &b.processor),
        ("kernel", &a.kernel, &b.kernel),
        ("clock source", &a.clock_source, &b.clock_source),
        ("governor", &a.governor, &b.governor),
        ("fabric", &before.header().fabric.name, &after.header().fabric.name),
    ];
    for (what, a, b) in pairs.iter().filter(|(_, a, b)| a != b) {
        note(&format!("note: the {what} differs: A '{a}', B '{b}'"));
    }
}

fn text(compared: &ComparedRuns) -> String {
    let threshold = compared.settings.margin;
    let mut sorted: Vec<&Comparison> = compared.comparisons.iter().collect();
    sorted.sort_by_key(|comparison| place(comparison.verdict));
    let rows = sorted.iter().map(|comparison| row(comparison, threshold)).collect();
    let header = ["measurement", "A", "B", "change", "interval", "verdict"];
    let mut text = table(&header.map(String::from), 1, rows);
    let count = |verdict| sorted.iter().filter(|c| c.verdict == verdict).count();
    let _ = writeln!(
        text,
        "\n{} slower, {} faster, {} the same, {} that one cannot tell",
        count(Verdict::Slower),
        count(Verdict::Faster),
        count(Verdict::Same),
        count(Verdict::CannotTell)
    );
    let needed = launches_needed(compared.settings.confidence);
    let few = |c: &&&Comparison| c.launches.iter().any(|&launches| launches < needed);
    let untold = sorted.iter().filter(few).count();
    if untold > 0 && !compared.settings.one_launch_tells {
        let _ = writeln!(
            text,
            "{untold} were measured in fewer than {needed} launches, which tells nothing for sure of another one:\n\
             measure both sides again with `cornerstone run --launches {needed}` or more"
        );
    }
    for (run, only) in [("A", &compared.only_first), ("B", &compared.only_second)] {
        if !only.is_empty() {
            let _ = writeln!(text, "{} measured in {run} only", only.len());
        }
    }
    let regressions = compared.regressions(threshold).count();
    let limit = percent(threshold);
    let _ = match regressions {
        0 => writeln!(text, "no regression beyond {limit}"),
        1 => writeln!(text, "1 regression beyond {limit} (marked !)"),
        many => writeln!(text, "{many} regressions beyond {limit} (marked !)"),
    };
    text
}

/// The order of the rows: regressions first, equal numbers last.
fn place(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::CannotTell => 2,
        Verdict::Same => 3,
    }
}

fn row(comparison: &Comparison, threshold: f64) -> Vec<String> {
    let unit = &comparison.name.unit;
    let (change, interval) = match comparison.effect {
        Some(effect) => {
            (change(effect.ratio), format!("{} .. {}", change(effect.low), change(effect.high)))
        }
        None => ("-".into(), String::new()),
    };
    let verdict = match comparison.verdict {
        Verdict::Slower if comparison.is_regression(threshold) => "slower !",
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot tell",
    };
    vec![
        name(&comparison.name),
        quantity(comparison.first, unit),
        quantity(comparison.second, unit),
        change,
        interval,
        verdict.into(),
    ]
}

/// A ratio as a signed percentage.
fn change(ratio: f64) -> String {
    match 100.0 * (ratio - 1.0) {
        change if !change.is_finite() => "no bound".into(),
        change if change.abs() < 0.005 => "0 %".into(),
        change => format!("{}{} %", if change > 0.0 { "+" } else { "" }, significant(change)),
    }
}

fn name(name: &Name) -> String {
    let key = &name.key;
    let mut text = format!("{} {}, {}", key.benchmark, name.metric, ranks(key.ranks));
    for (parameter, value) in &key.parameters {
        let _ = write!(text, ", {} {value}", parameter.replace('_', " "));
    }
    if key.size_bytes > 0 {
        let _ = write!(text, ", {}", size(key.size_bytes));
    }
    text
}
