//! What the tests hold the kernels against: slow, obvious, in double precision.
#![allow(dead_code)]

use kernels::{Complex, Complex64};

/// The discrete Fourier transform by its definition, with roots from exactly reduced angles.
pub(crate) fn oracle(x: &[Complex64]) -> Vec<Complex64> {
    let n = x.len();
    let root = |index: usize| {
        let angle = -2.0 * std::f64::consts::PI * (index % n) as f64 / n as f64;
        Complex64::new(angle.cos(), angle.sin())
    };
    let roots: Vec<Complex64> = (0..n).map(root).collect();
    (0..n).map(|k| (0..n).map(|j| x[j] * roots[j * k % n]).sum()).collect()
}

/// Root mean square of the error, relative to that of the truth.
pub(crate) fn relative_rms_error(found: &[Complex64], truth: &[Complex64]) -> f64 {
    assert_eq!(found.len(), truth.len());
    let error: f64 = found.iter().zip(truth).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f64 = truth.iter().map(|b| b.norm_sqr()).sum();
    (error / size).sqrt()
}

/// Numbers that look random and are the same in every run (xorshift*, uniform in -1..1).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn singles(&mut self, count: usize) -> Vec<Complex<f32>> {
        (0..count).map(|_| Complex::new(self.real() as f32, self.real() as f32)).collect()
    }

    pub(crate) fn doubles(&mut self, count: usize) -> Vec<Complex64> {
        (0..count).map(|_| Complex::new(self.real(), self.real())).collect()
    }
}

/// In double precision, which every single fits.
pub(crate) fn widen(x: &[Complex<f32>]) -> Vec<Complex64> {
    x.iter().map(|c| Complex64::new(c.re.into(), c.im.into())).collect()
}
