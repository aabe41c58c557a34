//! MPI's objects as a Rust program sees them, against slow oracles.

mod files;
mod model;
mod operations;
mod random;
mod types;
