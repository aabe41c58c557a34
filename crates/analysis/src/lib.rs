//! From samples to summaries to models: pure functions, with no clock, no files and no fabric.
//!
//! * [`statistics`]: what the samples of one measurement say, when to stop sampling, and where the warm-up ends.
#![forbid(unsafe_code)]

pub mod statistics;

#[cfg(test)]
mod random;
