//! Collectives: which way each goes.
#![forbid(unsafe_code)]

pub mod plan;
