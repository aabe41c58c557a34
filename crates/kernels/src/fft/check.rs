//! The check of transforms against their definition.

use num_complex::{Complex, Complex32};

use crate::error::{Error, Result};

/// Checks a forward transform of `length` points against the definition, in double precision, for a few transforms of
/// random points from `seed`. `transform` must transform a slice of whole transforms in place.
///
/// # Errors
/// Those of `transform`; [`Error::WrongResult`] if the error of a result is larger than single precision explains.
pub fn check_forward(
    length: usize,
    seed: u64,
    mut transform: impl FnMut(&mut [Complex32]) -> Result<()>,
) -> Result<()> {
    let batch = (64 / length).max(2);
    let mut state = seed | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let input: Vec<Complex32> =
        (0..batch * length).map(|_| Complex32::new(next(), next())).collect();
    let mut found = input.clone();
    transform(&mut found)?;
    // Only some points of a long transform are checked: the definition takes length operations for each.
    for (at, x) in found.iter().enumerate().step_by((batch * length).div_ceil(256)) {
        let (points, k) = (&input[at / length * length..][..length], at % length);
        let truth = by_definition(points, k);
        let difference = (Complex::new(f64::from(x.re), f64::from(x.im)) - truth).norm();
        // The points of a spectrum are about as large as the root of the length.
        if difference.is_nan() || difference > 1e-6 * (length as f64).sqrt() * 4.0 {
            let explanation = format!("point {k} of {length} is {x}, but must be {truth}");
            return Err(Error::WrongResult { benchmark: "fft", explanation });
        }
    }
    Ok(())
}

/// Returns point `k` of the discrete Fourier transform.
fn by_definition(points: &[Complex32], k: usize) -> Complex<f64> {
    let term = |(n, x): (usize, &Complex32)| {
        let turns = (n * k % points.len()) as f64 / points.len() as f64;
        Complex::new(f64::from(x.re), f64::from(x.im))
            * Complex::cis(-2.0 * std::f64::consts::PI * turns)
    };
    points.iter().enumerate().map(term).sum()
}
