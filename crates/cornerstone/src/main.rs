//! The command line of Cornerstone.
#![forbid(unsafe_code)]

fn main() {}
