//! The arguments of `pmp` and `corner-turn`, which run one periodic benchmark.

use std::path::PathBuf;

use benchmark::{CornerTurn, Sizes};
use clap::{Args, ValueEnum};
use pattern::corner_turn::Design;

use super::{
    FabricChoice, HostsArguments, RESULTS, RankCounts, RealTimeArguments, RunArguments, RunFormat,
    Share, SimulationArguments,
};

const PMP_EXAMPLES: &str = "\
Examples:
  cornerstone pmp patterns/ring.pmp
      the shortest sustained period
  cornerstone pmp patterns/ring.pmp --period 5ms
      how often this period is missed, and the worst instances
  cornerstone pmp patterns/ring.pmp --check
      explains the pattern, without running it
  cornerstone pmp patterns/corner-turn-8.pmp --fabric sim:paragon-osf1
      the same on a simulated machine

A pattern has a code sequence for each node (see docs/patterns.md):
  0: S 1 256 KiB R E
      node 0 sends 256 KiB to node 1, then waits for a message
  1: R S 0 0 E
      node 1 waits for a message, then sends an empty one to node 0";

const CORNER_TURN_EXAMPLES: &str = "\
Examples:
  cornerstone corner-turn --ranks 4
      the shortest period of a corner turn of real data
  cornerstone corner-turn --ranks 2,4,8
      the same with three numbers of ranks
  cornerstone corner-turn --ranks 8 --messages-only
      its messages alone, as in the paper's table 6.1
  cornerstone corner-turn --ranks 8 --order recursive
      in the published order
  cornerstone corner-turn --ranks 16 --pattern-to ct.pmp
      writes the pattern to a file, and runs nothing

Without --matrix and --sizes each rank has 1 MiB, so messages become half as
long when the number of ranks doubles.";

/// The options of all periodic benchmarks that have a subcommand.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PeriodicArguments {
    /// Confidence of the bounds on missed deadlines [default: 95%]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<Share>,

    /// Seed of everything random, such as the data that are sent [default: 1]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// The fabric: local, tcp, cluster, ofi, sim:MACHINE, mpi or mpi:NAME, as for `cornerstone run` [default: local]
    #[arg(long, value_name = "NAME[:ARG]")]
    fabric: Option<FabricChoice>,

    /// The library of the MPI, such as /opt/mpich/lib/libmpi_abi.so.1
    #[arg(long, value_name = "FILE")]
    mpi_library: Option<PathBuf>,

    #[command(flatten)]
    real_time: RealTimeArguments,

    #[command(flatten)]
    simulation: SimulationArguments,

    #[command(flatten)]
    hosts: HostsArguments,

    /// Results file to make [default: results/TIME-HOST.jsonl]; the report is written beside it as .html
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    out: Option<PathBuf>,

    /// How to write the results to standard output
    #[arg(long, value_enum, default_value_t, help_heading = RESULTS)]
    format: RunFormat,
}

impl PeriodicArguments {
    /// Returns these options as arguments of `run`, for one benchmark.
    pub(crate) fn run(self, benchmark: &str, ranks: Option<RankCounts>) -> RunArguments {
        RunArguments {
            names: vec![benchmark.into()],
            ranks,
            confidence: self.confidence,
            seed: self.seed,
            fabric: self.fabric,
            mpi_library: self.mpi_library,
            real_time: self.real_time,
            simulation: self.simulation,
            hosts: self.hosts,
            out: self.out,
            format: self.format,
            ..RunArguments::default()
        }
    }
}

#[derive(Args, Clone, Debug)]
#[command(after_help = PMP_EXAMPLES)]
pub(crate) struct PmpArguments {
    /// The pattern
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Only check the pattern, and explain it in words
    #[arg(long)]
    pub(crate) check: bool,

    /// The number of ranks, which must be the number of nodes in the pattern [default: that number]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) ranks: Option<usize>,

    #[command(flatten)]
    pub(crate) periodic: PeriodicArguments,
}

/// The order in which blocks are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlockOrder {
    /// The published order, for 2, 4, 8, 16 ... ranks: up to n/4 messages share a link of a line
    Recursive,
    /// For any even number of ranks: about n/8 messages share a link of a line
    Balanced,
}

impl From<BlockOrder> for Design {
    fn from(order: BlockOrder) -> Design {
        match order {
            BlockOrder::Recursive => Design::Recursive,
            BlockOrder::Balanced => Design::Balanced,
        }
    }
}

#[derive(Args, Clone, Debug)]
#[command(after_help = CORNER_TURN_EXAMPLES)]
pub(crate) struct CornerTurnArguments {
    /// Numbers of ranks, such as 4 or 2,4,8
    #[arg(long, value_name = "LIST")]
    pub(crate) ranks: RankCounts,

    /// The order in which blocks are sent
    #[arg(long, value_enum, default_value = "balanced")]
    pub(crate) order: BlockOrder,

    /// The whole matrix, rows by columns, such as 512x512; ranks divide both evenly
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = matrix, conflicts_with = "sizes")]
    pub(crate) matrix: Option<(u64, u64)>,

    /// The bytes of an element: 4, 8 (a single-precision complex number) or 16
    #[arg(long, value_name = "BYTES", default_value = "8", value_parser = ["4", "8", "16"])]
    pub(crate) element: String,

    /// The length of messages, instead of the length that follows from the matrix
    #[arg(long, value_name = "LIST")]
    pub(crate) sizes: Option<Sizes>,

    /// Only send the messages, as a pattern, without turning a matrix
    #[arg(long, conflicts_with_all = ["matrix"])]
    pub(crate) messages_only: bool,

    /// Synchronise the stages of the pattern, each in its own part of the period (with --messages-only or --pattern-to)
    #[arg(long, conflicts_with = "matrix")]
    pub(crate) in_step: bool,

    /// Write the pattern to this file, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["matrix", "messages_only"])]
    pub(crate) pattern_to: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) periodic: PeriodicArguments,
}

impl CornerTurnArguments {
    /// Returns the settings of the corner turn.
    pub(crate) fn settings(&self) -> CornerTurn {
        CornerTurn {
            order: Design::from(self.order).name().into(),
            matrix: self.matrix,
            element_bytes: self.element.parse().expect("clap admits numbers only"),
        }
    }

    /// Returns these arguments as arguments of `run`, for the corner turn of real data.
    pub(crate) fn run(self) -> RunArguments {
        let settings = self.settings();
        let run = self.periodic.run("corner-turn", Some(self.ranks));
        RunArguments { sizes: self.sizes, corner_turn: Some(settings), ..run }
    }
}

fn matrix(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('x').map(|(rows, columns)| (rows.parse(), columns.parse()));
    match parts {
        Some((Ok(rows), Ok(columns))) if rows > 0 && columns > 0 => Ok((rows, columns)),
        _ => Err("a matrix is written as rows by columns, such as 512x512".into()),
    }
}
