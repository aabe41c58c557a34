//! Looks at an MPI program from within: a library that is loaded before the program's own (`LD_PRELOAD`).
//!
//! It exports functions of MPI under their own names, notes when each was called, from where and what for, and calls
//! the library's by its profiling name. What it notes lies in memory that the launcher shares ([`profile::layout`]).
//! Without that memory, or where the program's MPI is another, calls are passed on and nothing is noted. A program that
//! is run without this library pays nothing for it.
//!
//! A function here is `unsafe` as a whole where it serves one of MPI's: what makes it sound is that its caller passes
//! the pointers that the standard asks for. That is stated here once and not at each of them.
//!
//! `observed.txt` lists the observed functions; the entries are made from it and from the data of the ABI.
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
