//! A program of ranks that `cornerstone launch` has started, over the fabric that it has selected.

use std::process::ExitCode;

use contract::{Endpoint, Process, Rank, Result};
use fabric_shm::ShmEndpoint;

use crate::join::{Joined, join_from_library};

/// Joins the run for which this process was started, over the fabric that its launcher has selected. A process without
/// a launcher is a run of one rank.
///
/// # Errors
/// The failure, which the launcher also learns of.
pub fn join_launched() -> Result<Joined> {
    match ShmEndpoint::attach_library() {
        Some(launched) => join_from_library(launched?),
        None => ShmEndpoint::alone().map(Joined::SharedMemory),
    }
}

/// Executes `program` as this process's rank of the run that [`join_launched`] joins. Returns what `main` must return.
///
/// An error of the program ends the whole run, and the launcher prints it.
pub fn run(program: impl FnOnce(&mut dyn Rank) -> Result<()>) -> ExitCode {
    let status = match join_launched() {
        Ok(Joined::SharedMemory(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Tcp(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Cluster(endpoint)) => run_over(endpoint, program),
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    ExitCode::from(u8::from(status != 0))
}

fn run_over<E: Endpoint>(endpoint: E, program: impl FnOnce(&mut dyn Rank) -> Result<()>) -> i32 {
    let mut process = Process::new(endpoint);
    let outcome = program(&mut process.world());
    process.finish(outcome)
}
