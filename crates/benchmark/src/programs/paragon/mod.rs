//! The communication benchmarks of Brown, Flanzbaum, Games and Ramsdell, *Real-time embedded high performance computing:
//! application benchmarks* (MITRE, 1995), section 4.

pub(super) mod adjacent_pair;
pub(super) mod many_pairs;
