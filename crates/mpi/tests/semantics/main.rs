//! MPI in Rust: over the reference fabric, and as ranks of the launcher.

mod groups;
mod launched;
mod objects;
mod ranks;
mod reference;
