//! The arguments of `compare`.

use std::path::PathBuf;

use analysis::compare::{STAGES, Without};
use clap::Args;
use clap::builder::PossibleValue;

use super::{Seconds, Share};

const COMPARE_EXAMPLES: &str = "\
Examples:
  cornerstone compare old.jsonl new.jsonl
      two runs, number by number
  cornerstone compare --measure 'old/cornerstone run ping-pong' 'new/cornerstone run ping-pong'
      two builds, in alternating launches, until every number is decided
  cornerstone compare --measure --within 5min 'mpiexec -n 2 osu_latency' \\
      'other/mpiexec -n 2 osu_latency'
      two MPIs, by a program that prints tables like the OSU micro-benchmarks
  cornerstone verdict old.jsonl new.jsonl --explain 'ping-pong time, 2 ranks, 8 B'
      every number from the launches of one measurement to its verdict";

/// The stages that are not applied.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StageChoice {
    /// Compare without this stage between launches and verdict
    #[arg(long, value_name = "STAGE", value_delimiter = ',', value_parser = stages())]
    without: Vec<String>,
}

fn stages() -> Vec<PossibleValue> {
    STAGES.iter().map(|stage| PossibleValue::new(stage.name).help(stage.summary)).collect()
}

impl StageChoice {
    pub(crate) fn without(&self) -> Without {
        let all = self.without.iter();
        all.fold(Without::default(), |off, name| off.and(name).expect("the name of a stage"))
    }
}

#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArguments {
    /// The results file of the reference run; with --measure, the reference command
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,

    /// The results files that are compared with A; with --measure, one command
    #[arg(value_name = "B", required = true)]
    pub(crate) after: Vec<PathBuf>,

    /// Exit with status 1 if a number is slower by more than this share, and with 3 if undecided numbers seem to be or
    /// all are undecided; changes within it count as the same
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) threshold: Share,

    /// Run the commands A and B in alternation until every number is decided. A `cornerstone run ...` is given
    /// --launches 1 and a results file; another program must print tables like the OSU micro-benchmarks
    #[arg(long)]
    pub(crate) measure: bool,

    /// The maximum time of measuring; numbers that are still undecided are marked [default: 10min]
    #[arg(long, value_name = "TIME", requires = "measure")]
    pub(crate) within: Option<Seconds>,

    /// Keep the measurements in NAME-a.jsonl and NAME-b.jsonl [default: results/TIME-HOST]
    #[arg(long, value_name = "NAME", requires = "measure")]
    pub(crate) out: Option<PathBuf>,

    /// Write the comparisons as one JSON object for each B
    #[arg(long)]
    pub(crate) json: bool,

    /// Print every number from the samples of one measurement to its verdict instead. CASE is its name in the table, or
    /// words of it that no other has
    #[arg(long, value_name = "CASE", conflicts_with_all = ["measure", "json"])]
    pub(crate) explain: Option<String>,

    #[command(flatten)]
    pub(crate) stages: StageChoice,
}
