//! `pmp`: checks, explains or runs a pattern from a file.

use std::process::ExitCode;

use benchmark::PatternText;
use pattern::Pattern;
use pattern::describe::describe;

use super::run;
use crate::arguments::{PmpArguments, RankCounts, RunArguments};
use crate::failure::Failure;
use crate::output::print;

/// Checks the pattern, and then runs it or explains it.
pub(crate) fn execute(arguments: PmpArguments) -> Result<ExitCode, Failure> {
    let PmpArguments { file, check, ranks, periodic } = arguments;
    let name = file.display().to_string();
    let text = definition_files::read_text(&file)
        .map_err(|error| Failure::usage(format!("cannot read the pattern '{name}': {error}")))?;
    let text = PatternText { name, text };
    let pattern = read(&text)?;
    let nodes = pattern.nodes.len();
    if let Some(ranks) = ranks.filter(|&ranks| ranks != nodes) {
        return Err(Failure::usage(format!(
            "'{}' has {nodes} nodes and runs with as many ranks, not {ranks}",
            text.name
        ))
        .hint("leave --ranks out"));
    }
    if check {
        print(describe(&pattern).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let run = periodic.run("pmp", Some(RankCounts(vec![nodes])));
    run::execute(RunArguments { pattern: Some(text), ..run })
}

/// Returns the pattern, or all its mistakes.
fn read(text: &PatternText) -> Result<Pattern, Failure> {
    text.read().map_err(|refusal| {
        Failure::usage(refusal.to_string())
            .hint("docs/patterns.md explains the language; `cornerstone pmp --help` has an example")
    })
}
