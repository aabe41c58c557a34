//! Contiguous rows of 256 to 8192 points, one at a time: as many transforms in the lanes as one row has columns in them.
//!
//! A row of N points is a matrix of A rows, A being the lanes of a vector, and B = N / A columns. First every column is
//! transformed, a vector of columns at a time, and multiplied by roots of unity; the results are transposed in registers, so
//! that the lanes hold the A transforms of B points that are left, and those are a tile like any other. Its results,
//! point after point of all lanes, are the transform in natural order: one transposition serves for all.

use num_complex::Complex;

use super::Real;
use super::butterfly::{Pair, transform};
use super::tile::{self, Job};
use crate::lanes::{Lanes, Vector};

/// The factors between the columns and the tile, W^(n k) for a vector of columns n from result k = 1 on, real and imaginary
/// parts apart; after them the roots of the tile.
pub(super) fn roots<V: Vector<Element: Real>>(length: usize) -> Vec<Complex<V::Element>> {
    let columns = length / V::COUNT;
    let mut parts = Vec::with_capacity(2 * length);
    for first in (0..columns).step_by(V::COUNT) {
        for k in 1..V::COUNT {
            let angle = |lane: usize| {
                let turns = ((first + lane) * k) as f64 / length as f64;
                -2.0 * std::f64::consts::PI * turns
            };
            parts.extend((0..V::COUNT).map(|lane| V::Element::nearest(angle(lane).cos())));
            parts.extend((0..V::COUNT).map(|lane| V::Element::nearest(angle(lane).sin())));
        }
    }
    let mut all: Vec<_> = parts.chunks(2).map(|two| Complex::new(two[0], two[1])).collect();
    all.extend(tile::roots::<V::Element>(columns));
    all
}

/// Transforms rows of `A * B` points, in place or into other rows; `A` is the number of lanes, and a tile is one row.
///
/// # Safety
/// The job's memory holds the rows and one row of scratch, its roots are those of [`roots`], and the processor has the
/// instructions of `V`.
#[inline(always)]
pub(super) unsafe fn rows<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    job: &Job<V::Element>,
) {
    const { assert!(A == V::COUNT && B.is_multiple_of(A), "the lanes are the rows") };
    let scratch = job.scratch.cast::<Pair<V>>();
    for row in 0..job.tiles {
        let at = 2 * A * B * row;
        // SAFETY: the caller vouches for this row, for B points of all lanes in the scratch and for both parts of the roots.
        // All points of the row are in the scratch before the first result is written.
        unsafe {
            transposed_columns::<V, A, B>(job.input.add(at), scratch, job.roots.cast());
            let roots = job.roots.add((A - 1) * B);
            tile::from_scratch::<V, B>(scratch, roots, job.output.add(at));
        }
    }
}

/// Transforms the columns of one row, multiplies and transposes them.
#[inline(always)]
unsafe fn transposed_columns<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    input: *const V::Element,
    scratch: *mut Pair<V>,
    roots: *const Pair<V>,
) {
    for group in 0..B / A {
        // SAFETY: the caller vouches for A rows of B points, B points of scratch, and A - 1 roots for each group.
        unsafe {
            let point = |n: usize| {
                let at = input.add(2 * (B * n + A * group));
                let (re, im) = V::deinterleave_in_order(V::load(at), V::load(at.add(V::COUNT)));
                Pair { re, im }
            };
            let mut x = [point(0); A];
            for n in 1..A {
                x[n] = point(n);
            }
            let y = transform(x);
            let (mut re, mut im) = (y[0].re.repeat(), y[0].im.repeat());
            for k in 1..A {
                let product = y[k].times(roots.add((A - 1) * group + k - 1).read());
                re.as_mut()[k] = product.re;
                im.as_mut()[k] = product.im;
            }
            let (re, im) = (V::transpose(re), V::transpose(im));
            for lane in 0..A {
                let pair = Pair { re: re.as_ref()[lane], im: im.as_ref()[lane] };
                scratch.add(A * group + lane).write(pair);
            }
        }
    }
}
