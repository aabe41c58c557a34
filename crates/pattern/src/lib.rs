//! Message-passing patterns: a small program of sends and receives for every node, repeated each period.
//!
//! The language is that of the programmable message-passing benchmark (pmp) of Games et al., *Real-Time Benchmarks for
//! Massively Parallel Processors*, MITRE 1995, section 4.3.2: one code sequence a node, of `E`, `R`, `S n b`, `W f` and
//! `L n (...)`. Comments, names for numbers, arithmetic and node ranges are ours. `docs/patterns.md` is its reference.
//!
//! * [`read`] turns text into a [`Pattern`] that is known to run, or returns its mistakes with their places;
//! * [`Cursor`] steps through a node's actions, which is all that an interpreter needs;
//! * [`stages`] returns the messages that can be under way together, and the number of them that share a link;
//! * [`corner_turn`] creates the patterns that redistribute a matrix over a line of nodes.
//!
//! The crate is pure: it does not depend on ranks, fabrics and clocks.
#![forbid(unsafe_code)]

mod check;
mod compile;
mod execution;
mod expression;
mod lexer;
mod mistake;
mod parser;
mod program;
mod read;

pub mod corner_turn;
pub mod describe;
pub mod stages;

pub use check::SHORT_BYTES;
pub use mistake::{Mistake, Refusal, TextPlace};
pub use program::{
    Action, BYTES_MAX, Cursor, LOOP_DEPTH_MAX, NODES_MAX, Node, Pattern, STEPS_MAX, Step, Totals,
};
pub use read::read;

#[cfg(test)]
mod tests;
