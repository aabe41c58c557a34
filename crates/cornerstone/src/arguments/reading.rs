//! The arguments of commands that measure nothing: they read results, list what there is, or make files from results.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Format, RankCounts};

const LIST_EXAMPLES: &str = "\
Examples:
  cornerstone list                all benchmarks, by group
  cornerstone list ping-pong      what its numbers mean, and how they are measured
  cornerstone list collectives    the same of each benchmark of a group";

const REPORT_EXAMPLES: &str = "\
Examples:
  cornerstone report results/RUN.jsonl                        makes results/RUN.html
  cornerstone report before.jsonl after.jsonl -o both.html    two runs side by side
  cornerstone report RUN.jsonl --tables                       tables in the terminal";

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  cornerstone calibrate RUN.jsonl -o twin.toml          a machine, for --fabric sim:twin.toml
  cornerstone calibrate RUN.jsonl --validate            how well such machines predict this run
  cornerstone calibrate RUN.jsonl --tails --ranks 64    what pauses do to an allreduce of 64 ranks";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  cornerstone reproduce mitre-1995/4.4    one table, recomputed beside the published one
  cornerstone reproduce mitre-1995/4.4 --format csv";

const MACHINES_EXAMPLES: &str = "\
Examples:
  cornerstone machines                                      the names that --fabric sim:NAME takes
  cornerstone machines show sharc-ring                      its network, costs and sources
  cornerstone machines show sharc-ring --toml > own.toml    a copy to change, as sim:own.toml";

const FIT_EXAMPLES: &str = "\
Examples:
  cornerstone fit RUN.jsonl            start-up time and rate of each benchmark over sizes
  cornerstone fit RUN.jsonl --loggp    LogGP of each call";

#[derive(Args, Debug)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArguments {
    /// A benchmark or group to explain
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArguments {
    /// Results files
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,

    /// HTML file to make [default: beside the first results file]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print all tables of the runs, and make no HTML file
    #[arg(long, conflicts_with = "output")]
    pub(crate) tables: bool,
}

#[derive(Args, Debug)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub(crate) struct CalibrateArguments {
    /// The results file. It must have ping-pong between 2 ranks over sizes. Bandwidth, two-way-bandwidth, copy and
    /// clock-cost make the twin more accurate; clock gives it the pauses of the machine. Use `run --turns 5` if the
    /// speed of the machine changes by itself
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// The machine file to make, ending in .toml; its name becomes the name of the machine
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["validate", "tails"])]
    pub(crate) output: Option<PathBuf>,

    /// Show how well a twin made from every other size predicts the other sizes and benchmarks of the run
    #[arg(long)]
    pub(crate) validate: bool,

    /// Show what the pauses that the run's clock saw do to an allreduce, alone and beside computing: as it was measured
    /// (noise, allreduce), on the twin with the pauses, and without
    #[arg(long)]
    pub(crate) tails: bool,

    /// The numbers of ranks to predict for --tails, beside those that were measured [default: 16]
    #[arg(long, value_name = "LIST", requires = "tails")]
    pub(crate) ranks: Option<RankCounts>,
}

#[derive(Args, Debug)]
#[command(after_help = REPRODUCE_EXAMPLES)]
pub(crate) struct ReproduceArguments {
    /// A paper or one of its tables, such as mitre-1995 or mitre-1995/4.4 [default: all]
    #[arg(value_name = "PAPER[/TABLE]")]
    pub(crate) table: Option<String>,

    /// How to write the cells; json is one list of {id, unit, published, ours, how, error}
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = MACHINES_EXAMPLES)]
pub(crate) struct MachinesArguments {
    /// `show` explains a machine; without it, the built-in machines are listed
    #[command(subcommand)]
    pub(crate) action: Option<MachinesAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MachinesAction {
    /// Explain a machine: its network, the cost of a message, and the source of each number
    #[command(after_help = MACHINES_EXAMPLES)]
    Show {
        /// The name of a machine, or a machine file (ending in .toml)
        #[arg(value_name = "NAME")]
        name: String,

        /// Print the file of a built-in machine instead, as a beginning of your own
        #[arg(long)]
        toml: bool,
    },
}

#[derive(Args, Debug)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArguments {
    /// The results file
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Fit LogGP to each call on 2 to 4 ranks, and show how well it predicts the times on more ranks
    #[arg(long)]
    pub(crate) loggp: bool,

    /// The maximum length of a packet in bytes, for --loggp: each further packet of a message has a cost
    #[arg(long, value_name = "BYTES", default_value = "2048", requires = "loggp")]
    pub(crate) packet: NonZeroU64,
}
