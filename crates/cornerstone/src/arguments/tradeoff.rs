//! The arguments of `tradeoff`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use benchmark::Sizes;
use clap::Args;
use fabric_sim::topology::Shape;

use super::prediction::COMPUTE_OF_RECORDINGS;
use super::{Format, PredictionArguments, RankCounts};

const EXAMPLES: &str = "\
Examples:
  cornerstone tradeoff sharc-ring --clock 3.75 --links 3.75
      figures 12 and 13 of MPI-SHARC, and its table 11
  cornerstone tradeoff twin.toml --links 4 --calls allreduce --ranks 2,4,8
      the gain of links four times as fast for a call, on a twin
  cornerstone tradeoff cluster --pipeline pipelines/sar.toml --buffers 16
      what limits a chain of stages: each stage, the links, the buffers, the source or the sink
  cornerstone launch --fabric sim:twin.toml -n 8 --record program.rec ./program
  cornerstone tradeoff twin.toml --program program.rec --report program.html
      the gain of a program from twice the clock, half the latency, twice the link rate, another network or no pauses";

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES, mut_arg("compute", |arg| arg.help(COMPUTE_OF_RECORDINGS)))]
pub(crate) struct TradeoffArguments {
    /// A simulated machine (see `cornerstone machines`), or a machine file ending in .toml; also as sim:MACHINE
    /// [default with --program: the machine that it was recorded on]
    #[arg(value_name = "MACHINE", required_unless_present = "program", value_parser = machine)]
    pub(crate) machine: Option<String>,

    /// The factor by which processors become faster
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = factor)]
    pub(crate) clock: f64,

    /// The factor by which links become faster
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = factor)]
    pub(crate) links: f64,

    /// A recording of a program (`cornerstone launch --record`): its run is compared instead of calls
    #[arg(long, value_name = "FILE", conflicts_with_all = ["calls", "sizes", "at", "ranks", "lengths"])]
    pub(crate) program: Option<PathBuf>,

    /// A chain of stages (docs/pipelines.md): what limits it is found by making each stage --clock times as fast, the
    /// links --links times as fast, the --buffers more, and the source and the sink twice as many ranks
    #[arg(
        long,
        value_name = "FILE",
        requires = "machine",
        conflicts_with_all = ["program", "calls", "sizes", "at", "ranks", "lengths"]
    )]
    pub(crate) pipeline: Option<PathBuf>,

    /// With --pipeline: the number of buffers that are compared with the chain's own [default: twice as many]
    #[arg(long, value_name = "NUMBER", requires = "pipeline")]
    pub(crate) buffers: Option<NonZeroUsize>,

    /// With --program: which part of it the latency of links becomes, as 2 for the half
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = factor, requires = "program")]
    pub(crate) latency: f64,

    /// With --program: other shapes of the network, of the same links, such as torus:4x4x4,fat-tree:8 [default: switch]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "program")]
    pub(crate) topologies: Vec<Shape>,

    /// With --program: other machines
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "program", value_parser = machine)]
    pub(crate) machines: Vec<String>,

    /// With --program: an HTML page with a chart of the critical path in each system
    #[arg(long, value_name = "FILE", requires = "program")]
    pub(crate) report: Option<PathBuf>,

    /// The calls: benchmarks of messages between two ranks or among all
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "ping-pong,broadcast,allgather,allgather-in-place"
    )]
    pub(crate) calls: Vec<String>,

    /// The message sizes at which the systems are compared, with --at ranks
    #[arg(long, value_name = "LIST", default_value = "4,16,64,256,512,1KiB,2KiB,4KiB,8KiB,16KiB")]
    pub(crate) sizes: Sizes,

    /// The number of ranks for --sizes [default: 8, or as many as the machine has]
    #[arg(long, value_name = "RANKS")]
    pub(crate) at: Option<usize>,

    /// The numbers of ranks at which the systems are compared, with messages of --lengths [default: 2,4,8,16,32, as far
    /// as the machine has them]
    #[arg(long, value_name = "LIST")]
    pub(crate) ranks: Option<RankCounts>,

    /// The message sizes for --ranks
    #[arg(long, value_name = "LIST", default_value = "128,4KiB")]
    pub(crate) lengths: Sizes,

    /// The format of the times; csv has one line per time, json contains everything
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) prediction: PredictionArguments,
}

/// Returns the name of a machine. Other commands need the name of the fabric before it, which is accepted here.
fn machine(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.strip_prefix("sim:").unwrap_or(text).to_owned())
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 =
        text.parse().map_err(|_| "it must be a number, such as 2 or 3.75".to_owned())?;
    match factor.is_finite() && factor > 0.0 {
        true => Ok(factor),
        false => Err("it must be above 0".into()),
    }
}
