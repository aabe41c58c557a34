//! The requirements of the kernels for a number type.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner};

/// A real number type.
pub trait Scalar: rustfft::FftNum {
    /// The nearest value.
    fn nearest(value: f64) -> Self;

    /// A plan of the library for forward transforms of `length` points.
    ///
    /// A function of each type, for a generic one would be compiled, and all of the library with it, in each crate that
    /// calls it.
    fn plan_forward(length: usize) -> Arc<dyn Fft<Self>>;
}

impl Scalar for f32 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as f32
    }

    fn plan_forward(length: usize) -> Arc<dyn Fft<Self>> {
        FftPlanner::new().plan_fft_forward(length)
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }

    fn plan_forward(length: usize) -> Arc<dyn Fft<Self>> {
        FftPlanner::new().plan_fft_forward(length)
    }
}
