//! A library that observes an MPI program from within: it is loaded before the program's own libraries (`LD_PRELOAD`).
//!
//! It exports functions of MPI under their own names, records the time, place and arguments of each call, and calls the
//! library's function by its profiling name. The records are in memory that the launcher shares ([`profile::layout`]).
//! Without that memory, or with another MPI, calls are passed on and nothing is recorded. A program that runs without
//! this library has no costs.
//!
//! A function here is `unsafe` as a whole if it serves one of MPI's. It is sound because its caller passes the pointers
//! that the standard requires. That is stated here once and not at each of them.
//!
//! `observed.txt` lists the observed functions; the entries are generated from it and from the data of the ABI.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

mod abi;
mod bindings;
mod checks;
mod clock;
mod communicators;
mod data;
mod entries;
mod mapped;
mod mpi;
mod neighbours;
mod observe;
mod python;
mod real;
mod recorder;
mod region;
mod requests;
mod state;
mod table;
mod tool;
