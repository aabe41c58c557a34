//! The requirements of the kernels for a number type.

/// A real number type.
pub trait Scalar: rustfft::FftNum {
    /// The nearest value.
    fn nearest(value: f64) -> Self;
}

impl Scalar for f32 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}
