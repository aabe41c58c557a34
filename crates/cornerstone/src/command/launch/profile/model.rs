//! The contents of a report of a program, as data. The names of the fields are those of the JSON.

use serde::Serialize;

/// Version of this format. It changes when a field changes its meaning or is removed.
pub(super) const SCHEMA: &str = "cornerstone-program-1";

/// Report of a program's run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Profile {
    pub(super) schema: &'static str,
    pub(super) generator: &'static str,
    /// Program and its arguments.
    pub(super) command: String,
    pub(super) fabric: String,
    pub(super) started: String,
    /// Outcome of the run, in words.
    pub(super) outcome: String,
    /// Number of ranks started.
    pub(super) ranks: usize,
    /// Time from the first rank's MPI_Init to the last call of the last.
    pub(super) run_s: f64,
    /// Warnings for the reader.
    pub(super) remarks: Vec<String>,
    /// What ranks that did not end their part were doing at the end, a line each.
    pub(super) at_end: Vec<String>,
    /// How well the run used its ranks, if they computed at all.
    pub(super) efficiency: Option<Efficiency>,
    pub(super) by_rank: Vec<RankRow>,
    pub(super) calls: Vec<CallRow>,
    pub(super) waits: Vec<WaitRow>,
    pub(super) critical_path: Path,
    pub(super) findings: Vec<FindingRow>,
    pub(super) messages: Vec<Pair>,
    pub(super) sizes: Vec<SizeRow>,
    /// Activities of each rank over time. They are in the picture only.
    #[serde(skip)]
    pub(super) strips: Vec<Strip>,
}

/// The factors of the POP project (Performance Optimisation and Productivity, pop-coe.eu). The first is the product of the
/// others. Each is a share of 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Efficiency {
    /// Mean computing time of a rank, over the time of the run.
    pub(super) parallel: f64,
    /// Mean computing time of a rank, over that of the rank that computes most.
    pub(super) load_balance: f64,
    /// Computing time of the rank that computes most, over the time of the run.
    pub(super) communication: f64,
}

/// Row of a rank.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RankRow {
    pub(super) rank: usize,
    pub(super) host: String,
    /// State: finalized, running, or aborted.
    pub(super) state: &'static str,
    /// Time from the launch to the call of MPI_Init.
    pub(super) start_s: f64,
    /// Time in MPI_Init.
    pub(super) init_s: f64,
    /// Time from the end of MPI_Init to the end of the last call.
    pub(super) run_s: f64,
    /// Part of it inside of MPI.
    pub(super) mpi_s: f64,
    /// Part of that spent waiting for another rank.
    pub(super) waiting_s: f64,
    pub(super) outside_s: f64,
    pub(super) calls: u64,
    /// Most memory of the rank by the end of MPI_Init, and in the run.
    pub(super) init_memory_mib: f64,
    pub(super) memory_mib: f64,
}

/// A function that is called from one place.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CallRow {
    pub(super) function: &'static str,
    /// Function and line of the program, as far as they are known.
    pub(super) place: String,
    /// Number of ranks that call it there.
    pub(super) ranks: usize,
    pub(super) calls: u64,
    pub(super) total_s: f64,
    /// Share of the time of all ranks between MPI_Init and their last call.
    pub(super) share_of_run: f64,
    pub(super) mean_s: f64,
    pub(super) longest_s: f64,
    pub(super) waiting_s: f64,
    pub(super) bytes: u64,
    /// Of a place whose calls have a bound, if the machine's limits are known: the least that they take, over the time
    /// that they were not waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) share_of_limit: Option<f64>,
}

/// Waits of a rank at a place for another rank at a place.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WaitRow {
    /// late sender, late receiver, or collective.
    pub(super) kind: &'static str,
    pub(super) rank: usize,
    pub(super) function: &'static str,
    pub(super) place: String,
    pub(super) for_rank: usize,
    pub(super) for_function: &'static str,
    pub(super) for_place: String,
    pub(super) times: u64,
    pub(super) total_s: f64,
    pub(super) longest_s: f64,
}

/// Critical path.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Path {
    pub(super) length_s: f64,
    /// Number of changes from one rank to another.
    pub(super) changes: usize,
    /// Time in calls of MPI and of messages under way, and outside.
    pub(super) mpi_s: f64,
    pub(super) outside_s: f64,
    pub(super) by_rank: Vec<PathRank>,
    /// Parts of the path, the longest first.
    pub(super) parts: Vec<PathRow>,
}

/// A rank's share of the path.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PathRank {
    pub(super) rank: usize,
    pub(super) total_s: f64,
}

/// A part of the path: an activity of some ranks.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PathRow {
    pub(super) what: String,
    pub(super) ranks: Vec<usize>,
    pub(super) total_s: f64,
    pub(super) share: f64,
}

/// A mistake in the use of memory, or in the root of a collective.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FindingRow {
    pub(super) rank: usize,
    pub(super) what: String,
    pub(super) times: u64,
}

/// Messages from one rank to another.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Pair {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// Messages of about the same size.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SizeRow {
    /// messages, collectives or windows.
    pub(super) kind: &'static str,
    /// Bounds of the sizes, the upper one exclusive. Empty ones are from 0 to below 1.
    pub(super) from_bytes: u64,
    pub(super) below_bytes: u64,
    pub(super) count: u64,
    pub(super) bytes: u64,
}

/// Activities of a rank over time.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) rank: usize,
    /// Beginning and end of the rank, in seconds of the run.
    pub(super) begin_s: f64,
    pub(super) end_s: f64,
    /// Shares of each piece of the run inside of MPI, and waiting, which is a part of that.
    pub(super) pieces: Vec<(f64, f64)>,
    /// Spans in which it is on the critical path.
    pub(super) path: Vec<(f64, f64)>,
}

/// An activity of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Outside,
    Mpi,
    Waiting,
}
