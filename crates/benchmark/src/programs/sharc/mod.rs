//! The measurements of MPI-SHARC: Kohout and others, *A high-performance communication service for parallel computing on
//! distributed DSP systems* (University of Florida, 2002), section 4.

pub(in crate::programs) mod allgather;
pub(in crate::programs) mod allgather_in_place;
pub(in crate::programs) mod broadcast;
pub(in crate::programs) mod ping_pong;
