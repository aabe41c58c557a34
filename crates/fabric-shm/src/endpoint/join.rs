//! How a rank that has a seat gets its endpoint.

use contract::Result;
use launcher::{LaunchOptions, Seat, system};

use super::{ShmEndpoint, ShmProcess};
use crate::collectives::Purpose;
use crate::segment::{Segment, room};
use crate::transport::Rings;

/// Returns options that run this same program as `ranks` ranks of this fabric with `job`
/// ([`LaunchOptions::new`](launcher::LaunchOptions::new)).
pub fn launch_options(ranks: usize, job: Vec<u8>) -> LaunchOptions {
    LaunchOptions { room, ..LaunchOptions::new(ranks, job) }
}

/// Joins the run if this process was started by [`launch`](launcher::launch). Returns `None` otherwise. Must be called
/// first in `main` ([`Seat::take`]).
pub fn join_if_rank() -> Option<Result<ShmProcess>> {
    Some(Seat::take()?.and_then(ShmProcess::join))
}

impl ShmEndpoint {
    /// Joins the run as a rank whose program uses the contract. Returns once all ranks have joined.
    ///
    /// # Errors
    /// If the launcher is of another build. It is informed.
    pub fn join(seat: Seat) -> Result<Self> {
        ShmEndpoint::join_as(seat, Purpose::Program)
    }

    /// As [`join`](ShmEndpoint::join), for a library in any program.
    ///
    /// # Errors
    /// As of [`join`](ShmEndpoint::join).
    pub fn join_library(seat: Seat) -> Result<Self> {
        ShmEndpoint::join_as(seat, Purpose::Library)
    }

    /// As [`join`](ShmEndpoint::join), for any purpose.
    ///
    /// # Errors
    /// As of [`join`](ShmEndpoint::join).
    pub fn join_as(seat: Seat, purpose: Purpose) -> Result<Self> {
        system::allow_cma_from_family();
        Ok(ShmEndpoint::new(Rings::begin(Segment::of(seat)?), purpose))
    }

    /// Creates a run of this process alone, without a launcher.
    ///
    /// # Errors
    /// [`Error::System`](contract::Error::System) if the system refuses the memory.
    pub fn alone() -> Result<Self> {
        ShmEndpoint::join_library(Seat::alone(room(1))?)
    }
}
