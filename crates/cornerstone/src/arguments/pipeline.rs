//! The arguments of `pipeline`.

use std::path::PathBuf;

use benchmark::{Chain, Pacing, Pipeline};
use clap::{Args, ValueEnum};

use super::RunArguments;
use super::pattern::PeriodicArguments;

const EXAMPLES: &str = "\
Examples:
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml
      the shortest sustained period, and the time of a matrix back to back
      compared with its computing
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml --period 2ms
      how often this period is missed
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml --granularity
      the same for every possible message length
  cornerstone pipeline pipelines/fft-corner-turn-fft.toml --timing both
      compares the jitter of self-timed and synchronised stages
  cornerstone pipeline pipelines/scalable-mapping.toml --doublings 3 \\
      --stages-alone --copies --fabric sim:paragon-osf1
      with 2, 4, 8 and 16 ranks per stage: which stage limits the mapping
  cornerstone pipeline CHAIN.toml --fabric tcp --hosts HOSTS
      over TCP, on the hosts of a file
  cornerstone pipeline pipelines/paragon-fft-corner-turn-fft.toml \\
      --fabric sim:paragon-osf1
      on a simulated machine

docs/pipelines.md explains the files and the results.";

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PipelineArguments {
    /// The chain: source, stages and sink
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Only check the chain, and explain it in words
    #[arg(long)]
    pub(crate) check: bool,

    /// Measure with these numbers of rows in a message, such as 8,64; without a value, with all possible ones
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    pub(crate) granularity: Option<Vec<usize>>,

    /// When a stage works
    #[arg(long, value_enum, default_value = "self-timed")]
    pub(crate) timing: TimingOfStages,

    /// Also measure the chain doubled up to this many times: twice the rows on twice the ranks in each part, each time
    #[arg(long, value_name = "TIMES", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=10))]
    pub(crate) doublings: u32,

    /// Also measure each stage by itself, between a source and a sink with as many ranks
    #[arg(long)]
    pub(crate) stages_alone: bool,

    /// Also measure one unchanged copy of the chain with each doubled matrix: several copies that alternate use as many
    /// ranks
    #[arg(long, requires = "doublings")]
    pub(crate) copies: bool,

    #[command(flatten)]
    pub(crate) periodic: PeriodicArguments,
}

/// When a stage works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingOfStages {
    /// As soon as it has something to work on
    SelfTimed,
    /// One period after the stage before it, by the clock
    Synchronised,
    /// Both, one after the other
    Both,
}

impl PipelineArguments {
    /// Returns these arguments as arguments of `run`, with the chain that was read. `None` if the chain comes from the
    /// record of an earlier run.
    pub(crate) fn run(self, chain: Option<Chain>) -> RunArguments {
        let pacing = match self.timing {
            TimingOfStages::SelfTimed => Pacing::SelfTimed,
            TimingOfStages::Synchronised => Pacing::Synchronised,
            TimingOfStages::Both => Pacing::Both,
        };
        let rows_per_message = match (self.granularity, &chain) {
            (Some(rows), Some(chain)) if rows.is_empty() => chain.granularities(),
            (rows, _) => rows.unwrap_or_default(),
        };
        let (doublings, stages_alone, copies) = (self.doublings, self.stages_alone, self.copies);
        let pipeline =
            Pipeline { chain, rows_per_message, pacing, doublings, stages_alone, copies };
        RunArguments { pipeline: Some(pipeline), ..self.periodic.run("pipeline", None) }
    }
}
