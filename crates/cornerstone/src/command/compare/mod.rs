//! `compare`: compares other runs with a run, number by number, or measures two commands until every number is decided.

mod in_turn;

use std::path::Path;
use std::process::ExitCode;

use analysis::compare::{ComparedRuns, Settings, Verdict, compare};
use record::Run;

use crate::arguments::{CompareArguments, Share};
use crate::comparison::{comparison_settings, timed_only};
use crate::failure::{Failure, STATUS_FAILED};
use crate::output::{comparison_table, print};
use crate::progress::note;
use crate::results;

/// Compares each run with the first. The status is 1 if a number regressed beyond the threshold.
pub(crate) fn execute(arguments: CompareArguments) -> Result<ExitCode, Failure> {
    if arguments.measure {
        return in_turn::execute(&arguments);
    }
    let before = timed_only(results::read_noting_gaps(&arguments.before)?);
    let mut regressed = false;
    for (index, path) in arguments.after.iter().enumerate() {
        if arguments.after.len() > 1 && !arguments.json {
            let (a, b) = (arguments.before.display(), path.display());
            print(&format!("{}A '{a}', B '{b}'\n\n", if index > 0 { "\n" } else { "" }))?;
        }
        regressed |= has_regressed(&before, path, &arguments)?;
    }
    Ok(status(regressed))
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
    show(&compared, arguments)
}

/// Returns a hint that two runs cannot separate a build from the state of the machine, if they seem to differ.
fn in_between(compared: &ComparedRuns) -> String {
    const HINT: &str =
        "`cornerstone compare --measure` separates builds from the state of the machine";
    if let Some(excess) = compared.excess {
        return format!(
            "most numbers differ {excess:.1} times as much as launches of one run do, and intervals are as much wider:\n\
             {HINT}\n"
        );
    }
    let differ = compared.count(Verdict::Slower) + compared.count(Verdict::Faster) > 0;
    let Settings { one_launch_tells, paired, .. } = compared.settings;
    match differ && !one_launch_tells && !paired {
        true => format!("the runs were made at different times: {HINT}\n"),
        false => String::new(),
    }
}

fn status(regressed: bool) -> ExitCode {
    if regressed { ExitCode::from(STATUS_FAILED) } else { ExitCode::SUCCESS }
}

/// Prints the comparison, and returns whether a number regressed.
fn show(compared: &ComparedRuns, arguments: &CompareArguments) -> Result<bool, Failure> {
    let text = match arguments.json {
        true => serde_json::to_string(compared).expect("numbers and text are JSON") + "\n",
        false => comparison_table(compared) + &in_between(compared),
    };
    print(&text)?;
    Ok(regresses(compared, arguments))
}

/// Returns whether a number regressed beyond the threshold.
fn regresses(compared: &ComparedRuns, arguments: &CompareArguments) -> bool {
    compared.regressions(arguments.threshold.0).next().is_some()
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
