//! The slow, obvious fabric: ranks as threads, one lock, plain queues.
//!
//! It is the oracle of the conformance suite, shows that the suite can be passed, and runs benchmarks in tests without
//! starting a process. Messages longer than [`EAGER_BYTES`](crate::EAGER_BYTES) wait for their receive, so that a
//! program that leans on endless buffering is found out here: when every rank waits, all of them get
//! [`Error::Deadlock`], which says who waits for what. A rank that polls with `test` or `probe` does not count as
//! waiting, since it may do something else next: polling for what never comes does not end by itself.

mod line;
mod machine;
mod rank;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Error, Rank, Result};
use machine::{GivenUp, Machine};
use rank::ReferenceRank;

/// Runs `program` on `ranks` ranks, each in a thread, and waits for all of them.
///
/// When a rank returns an error or panics, every call of the others fails with [`Error::RankDied`] naming it.
///
/// # Errors
/// The first rank that failed, and why; for a deadlock the lowest rank that waits.
///
/// # Panics
/// If `ranks` is zero.
pub fn run(
    ranks: usize,
    program: impl Fn(&mut dyn Rank) -> Result<()> + Sync,
) -> std::result::Result<(), (usize, Error)> {
    assert!(ranks > 0, "a run has at least one rank");
    let machine = Machine::new(ranks);
    std::thread::scope(|scope| {
        for number in 0..ranks {
            let (machine, program) = (&machine, &program);
            std::thread::Builder::new()
                .name(format!("rank {number}"))
                .spawn_scoped(scope, move || one_rank(machine, number, program))
                .expect("the system starts a thread for each rank");
        }
    });
    machine.into_outcome()
}

fn one_rank(machine: &Machine, number: usize, program: &impl Fn(&mut dyn Rank) -> Result<()>) {
    let mut rank = ReferenceRank::new(machine, number);
    match catch_unwind(AssertUnwindSafe(|| program(&mut rank))) {
        Ok(Ok(())) => machine.end(number),
        Ok(Err(error)) => machine.fail(number, error),
        Err(payload) if payload.is::<GivenUp>() => machine.end(number),
        Err(payload) => {
            let words = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            machine.fail(number, Error::Program(format!("the rank panicked: {words}")));
        }
    }
}

#[cfg(test)]
mod tests;
