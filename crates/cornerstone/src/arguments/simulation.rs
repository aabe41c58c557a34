//! The options of a run on a simulated machine.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fabric_sim::Level;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Simulated machines (--fabric sim:MACHINE)")]
pub(crate) struct SimulationArguments {
    /// The level of detail [default: that of the machine file]
    #[arg(long, value_enum)]
    pub(crate) level: Option<LevelChoice>,

    /// The number of ranks on each processor: rank r is on processor r / N [default: that of the benchmark or of the
    /// machine file, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_processor: Option<u32>,

    /// Whether to execute computing, so that its results can be checked; `no` only simulates its time, which is faster
    /// [default: yes]
    #[arg(long, value_enum, value_name = "ANSWER")]
    pub(crate) check_results: Option<Answer>,

    /// Faults during the run: a file of [[fault]] tables with `at_us`, `until_us` and one of `link`, `port`, `switch`
    /// and
    /// `node`, instead of those of the machine file
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,

    /// Write a trace of the run in virtual time, for Perfetto or chrome://tracing; further launches of the same run get
    /// files numbered from 2
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

/// A level on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// L1: contention only at the ends of messages; for many ranks
    Loggp,
    /// L2: packets over links, with contention everywhere
    Packets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answer {
    Yes,
    No,
}

impl SimulationArguments {
    /// Returns these arguments, completed with those of `earlier` that a results file may set.
    pub(crate) fn or(self, earlier: SimulationArguments) -> SimulationArguments {
        SimulationArguments {
            level: self.level.or(earlier.level),
            ranks_per_processor: self.ranks_per_processor.or(earlier.ranks_per_processor),
            check_results: self.check_results.or(earlier.check_results),
            ..self
        }
    }

    /// Returns the first given option, as typed, and the reason why other fabrics do not have it.
    pub(crate) fn given(&self) -> Option<(&'static str, &'static str)> {
        [
            (self.trace.is_some(), "--trace", "real ones have no virtual time"),
            (self.faults.is_some(), "--faults", "real ones break when they do"),
            (self.level.is_some(), "--level", "real ones are as detailed as they are"),
            (
                self.ranks_per_processor.is_some(),
                "--ranks-per-processor",
                "on real ones the benchmark or the launcher places ranks",
            ),
            (self.check_results.is_some(), "--check-results", "real ones always compute"),
        ]
        .into_iter()
        .find_map(|(given, option, why)| given.then_some((option, why)))
    }
}

impl From<LevelChoice> for Level {
    fn from(choice: LevelChoice) -> Level {
        match choice {
            LevelChoice::Loggp => Level::LogGp,
            LevelChoice::Packets => Level::Packets,
        }
    }
}
