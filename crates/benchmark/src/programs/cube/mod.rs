//! The simple communication benchmarks of Grunwald and Reed, *Benchmarking hypercube hardware and software* (1986).

pub(super) mod exchange;
pub(super) mod node_broadcast;
pub(super) mod ring_broadcast;
pub(super) mod send_and_reply;
pub(super) mod simple_transfer;
