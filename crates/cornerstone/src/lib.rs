//! The parts of the command line that a test or another program can call.
#![forbid(unsafe_code)]

pub mod report;
