//! Any MPI as a fabric: the library is loaded when a run begins, so one build runs under all of them.
//!
//! An MPI with the standard ABI of MPI 5 (`libmpi_abi.so.1`: MPICH from 5 on, Intel MPI from 2021.16 on) is used
//! through that; Open MPI, which has its own, through a second table of constants. Everything else is refused with
//! words that say which file, what it lacks and what to do. Nothing of any MPI is needed to build this crate.
//!
//! A process that an MPI launcher started calls [`World::join`], and then runs programs on the first so many ranks
//! ([`World::first`]). The calls of [`contract::Endpoint`] go straight to their counterparts in MPI; [`MpiEndpoint`]
//! says how each is mapped, and what an MPI does not promise.

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
