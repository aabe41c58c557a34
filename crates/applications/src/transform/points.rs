//! The points, and the check of their transform.

use std::f64::consts::TAU;
use std::ops::Range;

use contract::{Buffer, Error, Rank, Result};
use kernels::Complex64;
use random::mix;

pub(super) const POINT: usize = size_of::<Complex64>();

/// Returns a point, between -1 and 1 in both parts.
pub(super) fn point(seed: u64, place: usize) -> Complex64 {
    let bits = mix(mix(seed) ^ place as u64);
    let part = |bits: u64| f64::from(bits as u32) / f64::from(1u32 << 31) - 1.0;
    Complex64::new(part(bits), part(bits >> 32))
}

/// Returns the points at these places.
pub(super) fn points(seed: u64, places: Range<usize>) -> Result<Buffer> {
    let mut made = room(places.len())?;
    let room = made.elements_mut::<Complex64>().iter_mut();
    room.zip(places).for_each(|(to, place)| *to = point(seed, place));
    Ok(made)
}

/// Returns room for a number of points.
pub(super) fn room(count: usize) -> Result<Buffer> {
    let bytes = count.checked_mul(POINT);
    bytes.map_or_else(
        || Err(Error::OutOfMemory { what: format!("{count} points"), bytes: u64::MAX }),
        Buffer::try_zeroed,
    )
}

/// Checks that a transform has `count` points, a power of two.
pub(super) fn check_count(count: usize) -> Result<()> {
    match count.is_power_of_two() && count >= 4 {
        true => Ok(()),
        false => Err(Error::Program(format!(
            "a transform of {count} points cannot be made here: the points must be a power of two, 4 or more"
        ))),
    }
}

/// Returns the root of unity by which point `place` of `count` is multiplied.
pub(super) fn root(place: usize, count: usize) -> Complex64 {
    Complex64::cis(-TAU * place as f64 / count as f64)
}

/// Maximum number of points of transforms that are checked in every point.
const CHECKED_WHOLE: usize = 2048;
/// Number of points of each rank that are checked in longer ones.
const CHECKED: usize = 3;

/// Checks `found`, the points `places` of the transform, against the definition, and the sum of the squares of all
/// ranks against that of the points (Parseval). All ranks must call it. A rank may have no points.
///
/// # Errors
/// [`Error::Program`] names the first wrong point.
pub(super) fn check(
    rank: &mut dyn Rank,
    found: &[Complex64],
    places: Range<usize>,
    (count, seed): (usize, u64),
) -> Result<()> {
    let step = if count <= CHECKED_WHOLE { 1 } else { places.len().div_ceil(CHECKED).max(1) };
    // Sums of this number of terms, each of about one, are no more exact in any order of summation.
    let tolerance = 1e-10 * count as f64;
    for place in places.clone().step_by(step) {
        let exact = by_definition(place, count, seed);
        let found = found[place - places.start];
        let error = (found - exact).norm();
        if error.is_nan() || error > tolerance {
            return Err(Error::Program(format!(
                "wrong transform: point {place} of {count} is {found} where {exact} is right"
            )));
        }
    }
    let square = |sum: f64, point: Complex64| sum + point.norm_sqr();
    let given = places.map(|place| point(seed, place)).fold(0.0, square);
    let made = found.iter().copied().fold(0.0, square);
    let mut all = vec![0.0f64; 2 * rank.size()];
    let own = [given, made];
    rank.allgather(bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut all))?;
    let given: f64 = all.iter().step_by(2).sum::<f64>() * count as f64;
    let made: f64 = all.iter().skip(1).step_by(2).sum();
    match (made - given).abs() <= 1e-9 * given {
        true => Ok(()),
        false => Err(Error::Program(format!(
            "wrong transform: the squares of all points sum up to {made} where {given} is right"
        ))),
    }
}

/// Returns a point of the discrete Fourier transform by its definition.
fn by_definition(place: usize, count: usize, seed: u64) -> Complex64 {
    let term = |n: usize| {
        let turn = (n as u128 * place as u128 % count as u128) as usize;
        point(seed, n) * root(turn, count)
    };
    (0..count).map(term).sum()
}
