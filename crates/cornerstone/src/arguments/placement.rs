//! The options of `launch` for the processors of the ranks.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// The processors of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Bind {
    /// The system places and moves the ranks
    #[default]
    None,
    /// Rank r on the r-th processor that this process may use, round robin if there are more ranks
    Core,
    /// Rank r on all processors that share a cache of the third level with the processor that `core` would give it
    Cache,
    /// The same for a node of memory
    Numa,
    /// The same for a socket
    Socket,
    /// All on the first processor that this process may use
    One,
}

/// The order in which ranks take processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum MapBy {
    /// By their numbers
    #[default]
    Core,
    /// One of each cache of the third level in turn
    Cache,
    /// One of each node of memory in turn
    Numa,
    /// One of each socket in turn
    Socket,
}

#[derive(Args, Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[command(next_help_heading = "Processors of the ranks")]
pub(crate) struct PlacementArguments {
    /// The processors of the ranks
    #[arg(long, value_enum, default_value_t)]
    pub(crate) bind: Bind,

    /// The order in which ranks take the processors that --bind gives them
    #[arg(long, value_enum, default_value_t)]
    pub(crate) map_by: MapBy,

    /// The number of processors of each rank, side by side (with --bind core)
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) processors_each: u32,

    /// Print the host and the processors of each rank before the program starts
    #[arg(long)]
    pub(crate) show_places: bool,
}
