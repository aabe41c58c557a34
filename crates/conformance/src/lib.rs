//! The conformance suite of fabrics. Only tests depend on this crate.
//!
//! A case is a plain function that every rank runs, addressed by its name: a fabric whose ranks are processes starts
//! itself again with that name, and a simulated machine runs the same function in its coroutines. A fabric's own test
//! is
//!
//! ```
//! use conformance::reference;
//!
//! let launch = |case: &'static conformance::Case, ranks: usize| {
//!     reference::run(ranks, |machine| case.run(machine))
//!         .map_err(|(rank, error)| format!("rank {rank}: {error}"))
//! };
//! // A fabric's test has 1..=9 here.
//! let runs = conformance::run_all(1..=2, launch).unwrap();
//! assert!(runs > 50);
//! ```
//!
//! A launch must end by itself. A fabric that may hang is launched with a time limit, and exceeding it is an error like
//! any other.

#![deny(unsafe_code)]

mod case;
mod check;
mod clock;
mod collectives;
mod contexts;
pub mod deaths;
mod endpoint;
mod endpoint_case;
mod in_place;
mod mismatch;
mod mistakes;
mod order;
mod posted;
mod probe;
mod random;
mod reductions;
pub mod reference;
mod refused;
mod shared_line;
mod sizes;
mod started;
mod streams;
mod suite;
mod unexpected;
mod wildcards;
mod windows;

pub use case::Case;
pub use endpoint::endpoint_cases;
pub use endpoint_case::EndpointCase;
pub use suite::{cases, find, run_all};

#[cfg(test)]
mod broken;
#[cfg(test)]
mod collective_results;
#[cfg(test)]
mod tests;
