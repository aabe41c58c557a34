//! The command line of Cornerstone, and its report for tests and other programs.
#![forbid(unsafe_code)]

mod activity;
mod arguments;
mod call_sites;
mod chain_limit;
mod choice;
mod clocks;
mod command;
mod comparison;
mod descriptors;
mod environment;
mod fabric;
mod fabric_name;
mod failure;
mod interruption;
mod linked;
mod measured;
pub mod mistakes;
mod observed_memory;
mod orphans;
mod output;
mod output_file;
mod own_line;
mod period_verdict;
mod preloaded;
mod progress;
mod rank_notes;
mod remaining;
pub mod report;
mod results;
mod source_place;
mod streams;
mod utc;
mod wording;

use std::process::ExitCode;

/// Executes the whole command: reads the command line, executes it, and returns the exit status. A process that was
/// started as a rank of a run executes its part of that run instead.
pub fn main() -> ExitCode {
    if let Some(status) = fabric::serve() {
        return status;
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == command::SPAWNED) {
        return command::run_spawned();
    }
    match arguments::read() {
        Ok(arguments) => command::execute(arguments).unwrap_or_else(|failure| failure.report()),
        Err(status) => status,
    }
}
