//! The services on the reference fabric and on a simulated machine. The examples and the benchmarks run them on real
//! processes.

mod active;
mod hcs;
mod history;
mod launched;
mod paslib;
mod ring;
mod tuple;

use contract::Rank;
use services::{Error, Result};

/// Runs a program on `ranks` ranks of either fabric. The reference fabric finds every circle of waiting ranks, and the
/// simulated machine delivers late.
fn on_each_fabric(ranks: usize, program: fn(&mut dyn Rank) -> Result<()>) {
    on_each(ranks, move |rank| program(rank).map_err(Error::into_contract));
}

/// As [`on_each_fabric`], for a program with the contract's errors.
fn on_each(
    ranks: usize,
    program: impl Fn(&mut dyn Rank) -> contract::Result<()> + Copy + Send + Sync + 'static,
) {
    let reference = conformance::reference::run(ranks, program);
    assert_eq!(reference, Ok(()), "reference fabric, {ranks} ranks");
    let machine = fabric_sim::machine::find("cluster").unwrap();
    let simulated = fabric_sim::run(&machine, &fabric_sim::Options::new(ranks), program);
    assert_eq!(simulated.map(drop), Ok(()), "simulated machine, {ranks} ranks");
}

/// Returns the error of the first rank that fails.
fn failure(ranks: usize, program: fn(&mut dyn Rank) -> Result<()>) -> String {
    let program = |rank: &mut dyn Rank| program(rank).map_err(Error::into_contract);
    let (rank, error) = conformance::reference::run(ranks, program).expect_err("it must fail");
    format!("rank {rank}: {error}")
}
