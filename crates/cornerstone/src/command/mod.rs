//! The subcommands, a module for each.

mod calibrate;
mod check;
mod compare;
mod corner_turn;
mod fit;
mod generate;
mod history;
mod launch;
mod list;
mod machines;
mod mpiexec;
mod pipeline;
mod pmp;
mod predicted;
mod replay;
mod report;
mod reproduce;
mod run;
mod sci;
mod tradeoff;

use std::process::ExitCode;

pub(crate) use launch::spawned::{WORD as SPAWNED, run as run_spawned};

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;

/// Executes the command line.
pub(crate) fn execute(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        Command::Run(arguments) => run::execute(arguments),
        Command::Pmp(arguments) => pmp::execute(arguments),
        Command::CornerTurn(arguments) => corner_turn::execute(arguments),
        Command::Pipeline(arguments) => pipeline::execute(arguments),
        Command::List(arguments) => list::execute(arguments),
        Command::Report(arguments) => report::execute(arguments),
        Command::Compare(arguments) => compare::execute(arguments),
        Command::Replay(arguments) => replay::execute(&arguments),
        Command::History(arguments) => history::execute(arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Launch(arguments) => launch::execute(arguments, &[]),
        Command::Mpiexec(arguments) => mpiexec::execute(arguments),
        Command::Calibrate(arguments) => calibrate::execute(&arguments),
        Command::Reproduce(arguments) => reproduce::execute(&arguments),
        Command::Machines(arguments) => machines::execute(&arguments),
        Command::Fit(arguments) => fit::execute(arguments),
        Command::Generate(arguments) => generate::execute(&arguments),
        Command::Sci(arguments) => sci::execute(&arguments),
        Command::Tradeoff(arguments) => tradeoff::execute(&arguments),
    }
}
