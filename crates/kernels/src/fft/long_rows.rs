//! Contiguous rows of 256 to 8192 points, one at a time. The lanes hold transforms of parts of one row.
//!
//! A row of N points is a matrix of A rows, where A is the number of lanes of a vector, and B = N / A columns. First
//! every column is transformed, a vector of columns at a time, and multiplied by roots of unity. The results are
//! transposed in registers, so that the lanes hold the A remaining transforms of B points, which are a tile like any
//! other. Its results, point after point of all lanes, are the transform in natural order: one transposition suffices.

use num_complex::Complex;

use super::butterfly::{Pair, transform};
use super::scalar::Scalar;
use super::tile::{self, Job};
use crate::lanes::{Complexes, Vector};
use crate::prefetch::prefetch_line;

/// Number of lanes of the vectors whose rows may be in parts, see [`Parts`].
pub(super) const PARTS: usize = 16;

/// Rows in parts: each row is divided into as many parts of successive points as there are lanes, which may be
/// anywhere.
pub(super) struct Parts<T> {
    /// Start of each part of the first row.
    pub(super) start: [*const T; PARTS],
    /// Distance from there to the same part of the next row, in real numbers.
    pub(super) step: [usize; PARTS],
}

/// Returns the factors between the columns and the tile, W^(n k) for a vector of columns n from result k = 1 on, real
/// and imaginary parts separately; followed by the roots of the tile.
pub(super) fn roots<V: Vector<Element: Scalar>>(length: usize) -> Vec<Complex<V::Element>> {
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
/// The job's memory contains the rows and one row of scratch, its roots are those of [`roots`], and the processor has
/// the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn rows<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
    job: &Job<V::Element>,
) {
    for row in 0..job.tiles {
        let at = 2 * A * B * row;
        // SAFETY: the caller guarantees this row.
        unsafe {
            let input = job.input.add(at);
            let points = |n: usize, first: usize| load::<V>(input.add(2 * (B * n + first)));
            one_row::<V, A, B>(job, points, job.output.add(at));
        }
    }
}

/// As [`rows`], with rows in `parts`. While one row is transformed the next one is prefetched, a cache line for each
/// that is read, because a part may be in another core's cache. A prefetch of the whole row at once is slower, and one
/// of later rows brings no advantage. See docs/measurements.md#rows-and-corner-turns.
///
/// # Safety
/// As for [`rows`], and the parts contain the rows, whatever the job's input is. The output is one of the parts, in its
/// place, or does not overlap any of them.
#[inline(always)]
pub(super) unsafe fn rows_in_parts<
    V: Complexes<Element: Scalar>,
    const A: usize,
    const B: usize,
>(
    job: &Job<V::Element>,
    parts: &Parts<V::Element>,
) {
    const { assert!(A == PARTS, "a part for each lane") };
    let mut start = parts.start;
    for row in 0..job.tiles {
        let is_last = row + 1 == job.tiles;
        // SAFETY: the caller guarantees the parts of this row and its place in the output.
        unsafe {
            let points = |n: usize, first: usize| {
                let at = start[n].add(2 * first);
                let next = if is_last { at } else { at.wrapping_add(parts.step[n]) };
                prefetch_line(next);
                prefetch_line(next.wrapping_add(V::COUNT));
                load::<V>(at)
            };
            one_row::<V, A, B>(job, points, job.output.add(2 * A * B * row));
        }
        for (start, step) in start.iter_mut().zip(parts.step) {
            *start = start.wrapping_add(step);
        }
    }
}

/// Loads the real and the imaginary parts of the points at `at`, as many as there are lanes.
#[inline(always)]
unsafe fn load<V: Complexes<Element: Scalar>>(at: *const V::Element) -> Pair<V> {
    // SAFETY: the caller guarantees the points.
    let (re, im) = unsafe { V::deinterleave_in_order(V::load(at), V::load(at.add(V::COUNT))) };
    Pair { re, im }
}

/// Transforms one row. `points(n, k)` returns as many points as there are lanes from point `B * n + k` on.
#[inline(always)]
unsafe fn one_row<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
    job: &Job<V::Element>,
    points: impl Fn(usize, usize) -> Pair<V>,
    output: *mut V::Element,
) {
    const { assert!(A == V::COUNT && B.is_multiple_of(A), "the lanes are the rows") };
    let scratch = job.scratch.cast::<Pair<V>>();
    // SAFETY: the caller guarantees B points of all lanes in the scratch, both parts of the roots, and the output. All
    // points of the row are in the scratch before the first result is written.
    unsafe {
        transposed_columns::<V, A, B>(points, scratch, job.roots.cast());
        tile::from_scratch::<V, B>(scratch, job.roots.add((A - 1) * B), output);
    }
}

/// Transforms the columns of one row, multiplies and transposes them.
#[inline(always)]
unsafe fn transposed_columns<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
    points: impl Fn(usize, usize) -> Pair<V>,
    scratch: *mut Pair<V>,
    roots: *const Pair<V>,
) {
    for group in 0..B / A {
        // SAFETY: the caller guarantees B points of scratch, and A - 1 roots for each group.
        unsafe {
            let mut x = [points(0, A * group); A];
            for n in 1..A {
                x[n] = points(n, A * group);
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
