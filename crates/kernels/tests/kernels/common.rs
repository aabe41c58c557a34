//! References for the tests of kernels: slow, obvious, in double precision.
#![allow(dead_code)]

use kernels::{Complex, Complex64};
use random::SplitMix64;

/// Computes the discrete Fourier transform by its definition, with roots from exactly reduced angles.
pub(crate) fn oracle(x: &[Complex64]) -> Vec<Complex64> {
    let n = x.len();
    let root = |index: usize| {
        let angle = -2.0 * std::f64::consts::PI * (index % n) as f64 / n as f64;
        Complex64::new(angle.cos(), angle.sin())
    };
    let roots: Vec<Complex64> = (0..n).map(root).collect();
    (0..n).map(|k| (0..n).map(|j| x[j] * roots[j * k % n]).sum()).collect()
}

/// Returns the root mean square of the error, relative to that of the truth.
pub(crate) fn relative_rms_error(found: &[Complex64], truth: &[Complex64]) -> f64 {
    assert_eq!(found.len(), truth.len());
    let error: f64 = found.iter().zip(truth).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f64 = truth.iter().map(|b| b.norm_sqr()).sum();
    (error / size).sqrt()
}

/// Pseudo-random numbers that are the same in every run, uniform in -1..1.
pub(crate) struct Noise(SplitMix64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(SplitMix64::new(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    pub(crate) fn real(&mut self) -> f64 {
        2.0 * self.0.uniform() - 1.0
    }

    pub(crate) fn singles(&mut self, count: usize) -> Vec<Complex<f32>> {
        (0..count).map(|_| Complex::new(self.real() as f32, self.real() as f32)).collect()
    }

    pub(crate) fn doubles(&mut self, count: usize) -> Vec<Complex64> {
        (0..count).map(|_| Complex::new(self.real(), self.real())).collect()
    }
}

/// Converts to double precision, which represents every single exactly.
pub(crate) fn widen(x: &[Complex<f32>]) -> Vec<Complex64> {
    x.iter().map(|c| Complex64::new(c.re.into(), c.im.into())).collect()
}
