//! Pure computation: what a processor does between messages.
//!
//! * [`fft`]: the block FFT, many short transforms at once.
//! * [`corner_turn`](fn@corner_turn): the matrix transpose in memory.
//!
//! No clock, no file, no message: a kernel takes slices and gives results, and every kernel has a slow obvious twin that its
//! tests hold it against. Vector instructions are chosen at run time ([`Instructions`]).

#![allow(
    clippy::needless_range_loop,
    reason = "an index here is a row or a lane, and means the same in several arrays"
)]

mod corner_turn;
mod error;
mod instructions;
mod lanes;

pub mod fft;

pub use corner_turn::{
    corner_turn, corner_turn_in_place, corner_turn_in_place_with, corner_turn_with,
};
pub use error::{Error, Result};
pub use instructions::Instructions;
pub use num_complex::{Complex, Complex32, Complex64};
