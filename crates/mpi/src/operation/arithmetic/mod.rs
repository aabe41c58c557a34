//! The predefined operations on the predefined types.
//!
//! An `unsafe` function here works on memory whose length its caller guarantees. That is stated here once and not at
//! each line.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

mod apply;
mod coded;
mod each;
mod extended;
mod half;
mod locate;
mod native;
mod run;

pub(super) use apply::apply;
pub(crate) use coded::{CODED, Coded, short_reduction, word_bytes_of};
pub(crate) use extended::HAS_LONG_DOUBLE;
