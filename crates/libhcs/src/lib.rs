//! SCI_LIB and HCS_LIB for C programs: `libhcs.so`, with `include/hcs.h`.
//!
//! [`services::hcs`] implements the functions. This crate adds handles, codes for errors and the arguments of C.
//!
//! * `codes`: errors as numbers, and the words of the last one;
//! * `running`: this process as a node, and its open objects;
//! * `sci`, `hcs`, `own`: the exported functions.
//!
//! A function that takes a pointer is sound if its caller passes memory of the length that the header requires. That is
//! stated here once.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

mod codes;
mod hcs;
mod own;
mod running;
mod sci;
