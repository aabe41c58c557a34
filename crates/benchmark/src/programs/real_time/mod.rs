//! Periodic benchmarks: which period can the machine sustain?

pub(super) mod hartstone;
