//! `compare`: compares other runs with a run, number by number, or measures two commands until every number is decided.

mod explained;
mod in_turn;

use std::path::Path;
use std::process::ExitCode;

use analysis::compare::{ComparedRuns, Comparison, Verdict, compare, explain};
use record::Run;

use crate::arguments::{CompareArguments, Share};
use crate::comparison::{comparison_settings, note_idle, timed_only};
use crate::failure::{Failure, STATUS_FAILED, STATUS_UNDECIDED};
use crate::output::{comparison_name, comparison_table, print};
use crate::progress::note;
use crate::results;

/// Result of a comparison, the worst last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// No number regressed beyond the threshold.
    NoRegression,
    /// Whether one did is undecided.
    Undecided,
    Regression,
}

/// Compares each run with the first.
pub(crate) fn execute(arguments: CompareArguments) -> Result<ExitCode, Failure> {
    if arguments.measure {
        return in_turn::execute(&arguments);
    }
    let before = timed_only(results::read_noting_gaps(&arguments.before)?);
    let mut outcome = Outcome::NoRegression;
    for (index, path) in arguments.after.iter().enumerate() {
        if arguments.after.len() > 1 && !arguments.json {
            let (a, b) = (arguments.before.display(), path.display());
            print(&format!("{}A '{a}', B '{b}'\n\n", if index > 0 { "\n" } else { "" }))?;
        }
        outcome = outcome.max(against(&before, path, &arguments)?);
    }
    Ok(outcome.status())
}

/// Compares the run in `path` with `before`.
fn against(before: &Run, path: &Path, arguments: &CompareArguments) -> Result<Outcome, Failure> {
    let after = timed_only(results::read_noting_gaps(path)?);
    note_differences(before, &after);
    let Share(threshold) = arguments.threshold;
    let settings = comparison_settings(before, &after, threshold, arguments.stages.without());
    let compared = compare(before, &after, settings);
    if compared.comparisons.is_empty() {
        return Err(Failure::usage(format!(
            "'{}' and '{}' have no measurement in common",
            arguments.before.display(),
            path.display()
        ))
        .hint("compare runs of the same benchmarks, ranks and sizes"));
    }
    match &arguments.explain {
        Some(words) => {
            note_idle(&compared);
            let name = &explained::of_words(&compared, words)?.name;
            let lines = explain(before, &after, settings, name).expect("both runs have it");
            print(&(comparison_name(name) + "\n" + &lines.join("\n") + "\n"))?;
            Ok(Outcome::of(&compared, arguments))
        }
        None => show(&compared, arguments),
    }
}

/// Returns a hint that two runs cannot separate a build from the state of the machine, if they seem to differ.
fn in_between(compared: &ComparedRuns) -> String {
    let differs =
        |one: &Comparison| !one.exact && matches!(one.verdict, Verdict::Slower | Verdict::Faster);
    let is_requested = compared.comparisons.iter().any(differs)
        || compared.open(compared.settings.margin) > 0 && compared.shared.is_some();
    match is_requested && !compared.settings.paired {
        true => "the runs were made at different times: `cornerstone compare --measure` separates builds from the state of the machine\n".into(),
        false => String::new(),
    }
}

impl Outcome {
    fn of(compared: &ComparedRuns, arguments: &CompareArguments) -> Outcome {
        let Share(threshold) = arguments.threshold;
        match compared.regressions(threshold).next() {
            Some(_) => Outcome::Regression,
            None if compared.open(threshold) > 0 => Outcome::Undecided,
            None => Outcome::NoRegression,
        }
    }

    fn status(self) -> ExitCode {
        match self {
            Outcome::NoRegression => ExitCode::SUCCESS,
            Outcome::Undecided => ExitCode::from(STATUS_UNDECIDED),
            Outcome::Regression => ExitCode::from(STATUS_FAILED),
        }
    }
}

/// Prints the comparison, and returns its result.
fn show(compared: &ComparedRuns, arguments: &CompareArguments) -> Result<Outcome, Failure> {
    note_idle(compared);
    let text = match arguments.json {
        true => serde_json::to_string(compared).expect("numbers and text are JSON") + "\n",
        false => comparison_table(compared) + &in_between(compared),
    };
    print(&text)?;
    Ok(Outcome::of(compared, arguments))
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
