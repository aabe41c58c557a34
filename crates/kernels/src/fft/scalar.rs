//! The requirements of the transforms for a number type.

use std::sync::Arc;

use rustfft::algorithm::{BluesteinsAlgorithm, Radix4};
use rustfft::{Fft, FftDirection, FftNum};

/// A real number type.
pub trait Scalar: FftNum {
    /// Returns the nearest value.
    fn nearest(value: f64) -> Self;

    /// Returns a plan of the library for forward transforms of `length` points.
    ///
    /// This is a function of each type, because a generic one would be compiled, with the whole library, in each crate
    /// that calls it.
    fn plan_forward(length: usize) -> Arc<dyn Fft<Self>>;
}

macro_rules! scalar {
    ($($real:ty),*) => {$(
        impl Scalar for $real {
            #[inline(always)]
            fn nearest(value: f64) -> Self {
                value as $real
            }

            fn plan_forward(length: usize) -> Arc<dyn Fft<Self>> {
                plan(length)
            }
        }
    )*};
}

scalar!(f32, f64);

/// Plans with the planner of the widest vectors. `FftPlanner` would choose among all planners of the library, each of
/// which contains all its algorithms: most of the code of this crate would be for processors that nobody measures.
fn plan<T: FftNum>(length: usize) -> Arc<dyn Fft<T>> {
    #[cfg(target_arch = "x86_64")]
    if let Ok(mut planner) = rustfft::FftPlannerAvx::new() {
        return planner.plan_fft_forward(length);
    }
    #[cfg(target_arch = "aarch64")]
    if let Ok(mut planner) = rustfft::FftPlannerNeon::new() {
        return planner.plan_fft_forward(length);
    }
    portable(length)
}

/// Plans without vectors: a power of two directly, another length by convolution with a power of two.
fn portable<T: FftNum>(length: usize) -> Arc<dyn Fft<T>> {
    if length.is_power_of_two() {
        return Arc::new(Radix4::new(length, FftDirection::Forward));
    }
    let inner = (2 * length - 1).next_power_of_two();
    Arc::new(BluesteinsAlgorithm::new(length, Arc::new(Radix4::new(inner, FftDirection::Forward))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    /// The transform of a wave that makes `turns` turns in its length is its length at that point, and zero elsewhere.
    #[test]
    fn a_transform_without_vectors_finds_the_turns_of_a_wave() {
        for length in [1, 2, 3, 8, 15, 32, 97, 128] {
            let turns = length / 3;
            let angle = std::f64::consts::TAU * turns as f64 / length as f64;
            let mut wave: Vec<Complex64> =
                (0..length).map(|n| Complex64::cis(angle * n as f64)).collect();
            portable(length).process(&mut wave);
            for (k, found) in wave.iter().enumerate() {
                let right = if k == turns { length as f64 } else { 0.0 };
                assert!((found - right).norm() < 1e-11, "{length} points: {found} at {k}");
            }
        }
    }
}
