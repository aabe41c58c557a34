//! Messages and collectives while ranks compute.

mod computing;
pub(in crate::programs) mod exchange;
pub(in crate::programs) mod noise;
