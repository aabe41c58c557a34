//! The slow, obvious fabric: ranks as threads, one lock, plain queues.
//!
//! It is the oracle of the conformance suite, proves that the suite can be passed, and runs benchmarks in tests without
//! starting a process. Messages longer than [`EAGER_BYTES`](contract::EAGER_BYTES) wait for their receive, so a program
//! that relies on unlimited buffering is detected here: when every rank waits, all of them get [`Error::Deadlock`],
//! which names the event that each waits for. A rank that polls with `test` or `probe` does not count as waiting, since
//! it may do something else next. Polling for an event that never happens does not end by itself.

mod endpoint;
mod line;
mod machine;
mod operations;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub use endpoint::ReferenceEndpoint;

use contract::{Endpoint, Error, Process, Rank, Result};
use machine::{Aborted, Machine};

/// Runs `program` on `ranks` ranks, each in a thread, and waits for all of them.
///
/// When a rank returns an error or panics, every call of the others fails with [`Error::RankDied`], which names it.
///
/// # Errors
/// The first rank that failed, and its error; for a deadlock the lowest waiting rank.
///
/// # Panics
/// If `ranks` is zero.
pub fn run(
    ranks: usize,
    program: impl Fn(&mut dyn Rank) -> Result<()> + Sync,
) -> std::result::Result<(), (usize, Error)> {
    run_endpoints(ranks, |endpoint| {
        let mut process = Process::new(endpoint);
        let outcome = program(&mut process.world());
        process.finish(outcome);
        Ok(())
    })
}

/// As [`run`], for programs over the endpoints themselves. A program that ends without [`Endpoint::finish`] is finished
/// with its result.
///
/// # Errors
/// As for [`run`].
///
/// # Panics
/// If `ranks` is zero.
pub fn run_endpoints(
    ranks: usize,
    program: impl Fn(ReferenceEndpoint) -> Result<()> + Sync,
) -> std::result::Result<(), (usize, Error)> {
    assert!(ranks > 0, "a run has at least one rank");
    let machine = Arc::new(Machine::new(ranks));
    std::thread::scope(|scope| {
        for number in 0..ranks {
            let (machine, program) = (machine.clone(), &program);
            std::thread::Builder::new()
                .name(format!("rank {number}"))
                .spawn_scoped(scope, move || one_rank(machine, number, program))
                .expect("the system starts a thread for each rank");
        }
    });
    machine.outcome()
}

fn one_rank(
    machine: Arc<Machine>,
    number: usize,
    program: &impl Fn(ReferenceEndpoint) -> Result<()>,
) {
    let endpoint = ReferenceEndpoint::new(machine.clone(), number);
    let ended = ReferenceEndpoint::new(machine, number);
    let outcome = match catch_unwind(AssertUnwindSafe(|| program(endpoint))) {
        Ok(outcome) => outcome,
        Err(payload) if payload.is::<Aborted>() => Ok(()),
        Err(payload) => {
            let words = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Err(Error::Program(format!("the rank panicked: {words}")))
        }
    };
    ended.finish(outcome);
}

#[cfg(test)]
mod tests;
