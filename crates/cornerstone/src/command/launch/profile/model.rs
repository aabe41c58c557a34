//! The contents of a report of a program, as data. The names of the fields are those of the JSON.

use serde::Serialize;

/// The version of this format. It changes when a field changes its meaning or is removed.
pub(super) const SCHEMA: &str = "cornerstone-program-1";

/// The report of a program's run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Profile {
    pub(super) schema: &'static str,
    pub(super) generator: &'static str,
    /// The program and its arguments.
    pub(super) command: String,
    pub(super) fabric: String,
    pub(super) started: String,
    /// The outcome of the run, in words.
    pub(super) outcome: String,
    /// The number of ranks started.
    pub(super) ranks: usize,
    /// From the first rank's MPI_Init to the last call of the last.
    pub(super) run_s: f64,
    /// Warnings for the reader.
    pub(super) remarks: Vec<String>,
    pub(super) by_rank: Vec<RankRow>,
    pub(super) calls: Vec<CallRow>,
    pub(super) waits: Vec<WaitRow>,
    pub(super) critical_path: Path,
    pub(super) findings: Vec<FindingRow>,
    pub(super) messages: Vec<Pair>,
    pub(super) sizes: Vec<SizeRow>,
    /// The activities of each rank over time; only in the picture.
    #[serde(skip)]
    pub(super) strips: Vec<Strip>,
}

/// A rank.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RankRow {
    pub(super) rank: usize,
    pub(super) host: String,
    /// Its state: finalized, running, or aborted.
    pub(super) state: &'static str,
    /// From the launch to the call of MPI_Init.
    pub(super) start_s: f64,
    /// In MPI_Init.
    pub(super) init_s: f64,
    /// From the end of MPI_Init to the end of the last call.
    pub(super) run_s: f64,
    /// Of that, inside of MPI.
    pub(super) mpi_s: f64,
    /// Of that, waiting for another rank.
    pub(super) waiting_s: f64,
    pub(super) outside_s: f64,
    pub(super) calls: u64,
    /// The most memory that it had by the end of MPI_Init, and in the run.
    pub(super) init_memory_mib: f64,
    pub(super) memory_mib: f64,
}

/// A function, as it is called from one place.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CallRow {
    pub(super) function: &'static str,
    /// The function and the line of the program, as far as they are known.
    pub(super) place: String,
    /// The number of ranks that call it there.
    pub(super) ranks: usize,
    pub(super) calls: u64,
    pub(super) total_s: f64,
    /// Of the time of all ranks between MPI_Init and their last call.
    pub(super) share_of_run: f64,
    pub(super) mean_s: f64,
    pub(super) longest_s: f64,
    pub(super) waiting_s: f64,
    pub(super) bytes: u64,
    /// Of a place that receives, if the machine's limits are known: the least that its messages take, over the time
    /// that it was not waiting.
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

/// The critical path.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Path {
    pub(super) length_s: f64,
    /// The number of changes from one rank to another.
    pub(super) changes: usize,
    /// In calls of MPI, and outside.
    pub(super) mpi_s: f64,
    pub(super) outside_s: f64,
    pub(super) by_rank: Vec<PathRank>,
    /// Its parts, the longest first.
    pub(super) parts: Vec<PathRow>,
}

/// A rank's share of the path.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PathRank {
    pub(super) rank: usize,
    pub(super) total_s: f64,
}

/// A part of the path: what some ranks do.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PathRow {
    pub(super) what: String,
    pub(super) ranks: Vec<usize>,
    pub(super) total_s: f64,
    pub(super) share: f64,
}

/// A mistake in the use of memory.
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

/// Messages of about a size.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SizeRow {
    /// messages, collectives or windows.
    pub(super) kind: &'static str,
    /// The sizes: from one, below the other. Empty ones are from 0 below 1.
    pub(super) from_bytes: u64,
    pub(super) below_bytes: u64,
    pub(super) count: u64,
    pub(super) bytes: u64,
}

/// The activities of a rank over time.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) rank: usize,
    /// When it began and ended, in seconds of the run.
    pub(super) begin_s: f64,
    pub(super) end_s: f64,
    /// Of each piece of the run the shares inside of MPI, and waiting, which is a part of that.
    pub(super) pieces: Vec<(f64, f64)>,
    /// When it is on the critical path.
    pub(super) path: Vec<(f64, f64)>,
}

/// An activity of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Outside,
    Mpi,
    Waiting,
}
