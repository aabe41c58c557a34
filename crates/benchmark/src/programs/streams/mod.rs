//! Latency and bandwidth as message-passing libraries are commonly compared by.

pub(super) mod bandwidth;
pub(super) mod latency;
pub(super) mod two_way_bandwidth;

/// The messages of a sample: as many as the OSU micro-benchmarks have under way at once, so that numbers compare.
const WINDOW: usize = 64;
