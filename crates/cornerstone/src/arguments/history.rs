//! The arguments of `history` and `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Seconds, Share, StageChoice};

const HISTORY_EXAMPLES: &str = "\
Examples:
  cornerstone history
      all numbers of the runs in results/: their levels and last changes
  cornerstone history ping-pong --folder nightly
      one benchmark, run by run
  cornerstone history --html history.html
      the same as one page with a chart for each number";

const CHECK_EXAMPLES: &str = "\
Examples:
  cornerstone check --against nightly --add 'build/cornerstone run ping-pong allreduce'
      status 1 if a number is slower than its level in nightly/ in two measurements; adds the run
  cornerstone check --against nightly --format github 'cornerstone run' >> $GITHUB_STEP_SUMMARY
      the same, as a table for GitHub's step summary";

/// The format of numbers for other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Publication {
    /// For people
    #[default]
    Table,
    /// One JSON array
    Json,
    /// Bencher Metric Format: JSON for `bencher run --adapter json`
    Bencher,
    /// Markdown for $GITHUB_STEP_SUMMARY
    Github,
    /// Prometheus' text format, for the textfile collector
    Prometheus,
}

#[derive(Args, Debug)]
#[command(after_help = HISTORY_EXAMPLES)]
pub(crate) struct HistoryArguments {
    /// Only this benchmark, run by run [default: all benchmarks, one line per number]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmark: Option<String>,

    /// The folder of results files
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub(crate) folder: PathBuf,

    /// The same as --format json: every number with all its runs and changes
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// Make a page with a chart for each number instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "format"])]
    pub(crate) html: Option<PathBuf>,

    /// The format of standard output; bencher, github and prometheus have the numbers of the latest run
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Publication,
}

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArguments {
    /// The command that measures: a `cornerstone run ...`, or a program that prints tables like the OSU
    /// micro-benchmarks
    #[arg(value_name = "COMMAND")]
    pub(crate) command: String,

    /// The folder of results files to compare with
    #[arg(long, value_name = "FOLDER")]
    pub(crate) against: PathBuf,

    /// The share by which a number must be slower in two measurements for status 1; it must also be outside of the
    /// variation at its level. The status is 3 if undecided numbers seem slower by more, or all are undecided
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) threshold: Share,

    /// The maximum time of measuring [default: 1h]
    #[arg(long, value_name = "TIME")]
    pub(crate) within: Option<Seconds>,

    /// Add the measurements to the history. An empty history is no error
    #[arg(long)]
    pub(crate) add: bool,

    #[command(flatten)]
    pub(crate) stages: StageChoice,

    /// The format of standard output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Publication,
}
