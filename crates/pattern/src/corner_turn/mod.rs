//! Patterns that redistribute a matrix over a line of nodes: every node has a block for every other.
//!
//! In each stage of these patterns a node sends or receives one message, never both. They differ in the number of
//! messages that share a link of the line at the same time.

mod balanced;
mod recursive;
mod schedule;
#[cfg(test)]
mod tests;
mod write;

pub use schedule::{Design, NoDesign, Schedule};
pub use write::MARK;
