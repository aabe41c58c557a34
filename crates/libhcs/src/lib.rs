//! SCI_LIB and HCS_LIB for C programs: `libhcs.so`, with `include/hcs.h`.
//!
//! What the functions do is the business of [`services::hcs`]. Here they get handles, codes for errors and the
//! arguments of C.
//!
//! * `codes`: errors as numbers, and the words of the last one;
//! * `running`: this process as a node, and what it has open;
//! * `sci`, `hcs`, `own`: the exported functions.
//!
//! A function that takes a pointer is sound if its caller passes what the header asks for: memory of the length that it
//! says. That is stated here once.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

mod codes;
mod hcs;
mod own;
mod running;
mod sci;
