//! Objects of MPI through the Rust interface, against slow oracles.

mod files;
mod model;
mod operations;
mod random;
mod types;
