//! Finite impulse response filters over rows of complex single-precision numbers: in the time domain ([`TimeFir`]), by
//! overlapped transforms ([`FrequencyFir`]), and circular ([`Convolution`]).
//!
//! A filter of K taps h maps a row x of N points to the N + K - 1 points y[i] = sum over k of h[k] x[i - k], where x is
//! zero beyond its ends. A caller may request only the first of these points.

mod frequency;
mod time;

pub use frequency::{Convolution, FrequencyFir};
pub use time::TimeFir;

use num_complex::Complex32;

use crate::error::{Error, Result};

/// Returns the nominal operations of the HPEC Challenge for `filters` filters of `taps` taps over `points` points in
/// the time domain: a complex multiply-add is 8 operations.
pub fn time_operations(filters: usize, points: usize, taps: usize) -> f64 {
    8.0 * filters as f64 * points as f64 * taps as f64
}

/// As [`time_operations`], in the frequency domain: two transforms of 5 N log2 N operations and a product of 8 for each
/// point.
pub fn frequency_operations(filters: usize, points: usize) -> f64 {
    filters as f64 * (2.0 * crate::fft::nominal_operations(points) + 8.0 * points as f64)
}

/// Returns a chirp of `taps` points of magnitude 1, whose frequency runs once through all that the sampling
/// distinguishes: exp(i pi (k - K/2)^2 / K).
pub fn chirp(taps: usize) -> Vec<Complex32> {
    let point = |k: usize| {
        let from_middle = k as f64 - taps as f64 / 2.0;
        let angle = std::f64::consts::PI * from_middle * from_middle / taps.max(1) as f64;
        Complex32::new(angle.cos() as f32, angle.sin() as f32)
    };
    (0..taps).map(point).collect()
}

/// Returns the filter that detects [`chirp`] in noise: its conjugate, backwards. Its response to the chirp is `taps` at
/// the chirp's last point.
pub fn matched_filter(taps: usize) -> Vec<Complex32> {
    chirp(taps).iter().rev().map(Complex32::conj).collect()
}

fn check_taps(taps: &[Complex32]) -> Result<()> {
    if taps.is_empty() { Err(Error::NoTaps) } else { Ok(()) }
}

/// Checks that `output` has no more points than a filter of `taps` taps computes from `input` points.
fn check_output(input: usize, taps: usize, output: usize) -> Result<()> {
    let all = input + taps - 1;
    match output <= all {
        true => Ok(()),
        false => Err(Error::WrongLength { what: "the output", expected: all, found: output }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_of_the_hpec_challenge() {
        // The challenge's kernel description has 268.44 and 1.97 MFLOP in the time domain, 33.55 and 2.21 in the
        // frequency domain.
        assert_eq!(time_operations(64, 4096, 128), 268_435_456.0);
        assert_eq!(time_operations(20, 1024, 12), 1_966_080.0);
        // 64 (10 x 4096 x 12 + 8 x 4096); 20 (10 x 1024 x 10 + 8 x 1024).
        assert_eq!(frequency_operations(64, 4096), 33_554_432.0);
        assert_eq!(frequency_operations(20, 1024), 2_211_840.0);
    }

    #[test]
    fn a_matched_filter_answers_with_its_length() {
        for taps in [1, 2, 7, 64] {
            let (chirp, filter) = (chirp(taps), matched_filter(taps));
            let answer: Complex32 = (0..taps).map(|k| filter[k] * chirp[taps - 1 - k]).sum();
            assert!((answer - taps as f32).norm() < 1e-4 * taps as f32, "{taps}: {answer}");
        }
    }
}
