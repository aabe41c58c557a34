//! The requirements of the kernels for a number type.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner};

/// A real number type.
pub trait Scalar: rustfft::FftNum {
    /// Returns the nearest value.
    fn nearest(value: f64) -> Self;

    /// Returns a plan of the library for forward transforms of `length` points.
    ///
    /// This is a function of each type, because a generic one would be compiled, with the whole library, in each crate
    /// that calls it.
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
