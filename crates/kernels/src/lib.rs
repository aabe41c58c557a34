//! Pure computation: the work of a processor between messages.
//!
//! * [`fft`]: the block FFT, many short transforms at once.
//! * [`foldfft`]: the kernel of a synthetic-aperture-radar chain, in three variants.
//! * [`fir`], [`qr`], [`cfar`]: filters, factorisation and detection, as the HPEC Challenge defines them.
//! * [`corner_turn`](fn@corner_turn): the matrix transpose in memory.
//! * [`classic`], [`whetstone`], [`dhrystone`], [`linpack`], [`stream`]: the classic processor benchmarks, written
//!   anew.
//! * [`peak`]: the core's peak, for comparison with the others.
//!
//! The crate uses no clocks, files or messages: a kernel maps slices to results, and tests compare every kernel with a
//! slow, obvious version. Vector instructions are chosen at run time ([`Instructions`]).

#![allow(
    clippy::needless_range_loop,
    reason = "an index here is a row or a lane, and means the same in several arrays"
)]

mod corner_turn;
mod dispatch;
mod error;
mod instructions;
mod lanes;
mod multiply;
mod prefetch;

pub mod cfar;
pub mod classic;
pub mod dhrystone;
pub mod fft;
pub mod fir;
pub mod foldfft;
pub mod linpack;
pub mod peak;
pub mod qr;
pub mod stream;
pub mod whetstone;

pub use corner_turn::{
    corner_turn, corner_turn_in_place, corner_turn_in_place_with, corner_turn_pitched,
    corner_turn_with,
};
pub use error::{Error, Result};
pub use instructions::Instructions;
pub use multiply::{Matrix, dot_products, multiply_add};
pub use num_complex::{Complex, Complex32, Complex64};
