//! Fabric over any MPI. The library is loaded when a run begins, so one build runs under all MPIs.
//!
//! An MPI with the standard ABI of MPI 5 (`libmpi_abi.so.1`: MPICH from 5 on, Intel MPI from 2021.16 on) is used
//! through that ABI; Open MPI, which has its own, through a second table of constants. Any other library is refused
//! with an error that names the file, its deficiency and the remedy. This crate builds without any MPI.
//!
//! A process that an MPI launcher started calls [`World::join`], and then runs programs on the first ranks
//! ([`World::first`]). Calls of [`contract::Endpoint`] map directly to calls of MPI. [`MpiEndpoint`] documents the
//! mapping, and the guarantees that an MPI does not give.

mod endpoint;
mod error;
pub mod launcher;
mod library;
mod process;
mod starting;
mod world;

pub use endpoint::{Collectives, MpiEndpoint};
pub use hosts::Skew;
pub use launcher::{Flavour, Launcher, LauncherError};
pub use library::LoadError;
pub use process::MpiProcess;
pub use world::{JoinError, Options, World};
