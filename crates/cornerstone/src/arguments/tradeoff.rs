//! The arguments of `tradeoff`.

use benchmark::Sizes;
use clap::Args;

use super::{Format, RankCounts};

const EXAMPLES: &str = "\
Examples:
  cornerstone tradeoff sharc-ring --clock 3.75 --links 3.75
      figures 12 and 13 of MPI-SHARC, and its table 11
  cornerstone tradeoff twin.toml --links 4 --calls allreduce --ranks 2,4,8
      the gain of links four times as fast for a call, on a twin";

#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TradeoffArguments {
    /// A simulated machine (see `cornerstone machines`), or a machine file ending in .toml
    #[arg(value_name = "MACHINE")]
    pub(crate) machine: String,

    /// The factor by which processors become faster
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = factor)]
    pub(crate) clock: f64,

    /// The factor by which links become faster
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = factor)]
    pub(crate) links: f64,

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

    /// The number of ranks for --sizes
    #[arg(long, value_name = "RANKS", default_value = "8")]
    pub(crate) at: usize,

    /// The numbers of ranks at which the systems are compared, with messages of --lengths
    #[arg(long, value_name = "LIST", default_value = "2,4,8,16,32")]
    pub(crate) ranks: RankCounts,

    /// The message sizes for --ranks
    #[arg(long, value_name = "LIST", default_value = "128,4KiB")]
    pub(crate) lengths: Sizes,

    /// The format of the times; csv has one line per time, json contains everything
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 =
        text.parse().map_err(|_| "it must be a number, such as 2 or 3.75".to_owned())?;
    match factor.is_finite() && factor > 0.0 {
        true => Ok(factor),
        false => Err("it must be above 0".into()),
    }
}
