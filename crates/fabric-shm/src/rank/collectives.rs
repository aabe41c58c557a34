//! The collectives of this fabric. Those that are not here are the contract's own algorithms.
