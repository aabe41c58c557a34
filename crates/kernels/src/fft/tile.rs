//! One tile of transforms: as many as a vector has lanes, transformed together in split form.
//!
//! In rows (contiguous transforms) the lanes come from different rows, so a tile is transposed in registers on its way
//! in and out. In columns the lanes are side by side in memory already. A corner turn costs nothing extra: rows in,
//! columns out, without the second transposition.

mod ends;
mod order;
mod passes;

use num_complex::Complex;

use super::butterfly::{Pair, transform};
use super::scalar::Scalar;
use crate::lanes::{Complexes, Vector};
use ends::{Columns, InPlace, Turned, scatter};
use order::split;
use passes::{columns_pass, from_rows, in_place, put_all, remaining_passes};

/// The data of a kernel. Pitches count real numbers, two for each point.
pub(super) struct Job<T> {
    /// First point of the first transform.
    pub(super) input: *const T,
    /// Place of the first result; may equal `input` if input and output have the same shape.
    pub(super) output: *mut T,
    /// Number of tiles.
    pub(super) tiles: usize,
    /// Distance from row to row of the input (rows of transforms, or points of columns).
    pub(super) input_pitch: usize,
    /// Distance from row to row of the output.
    pub(super) output_pitch: usize,
    /// Roots of unity between the passes, see [`roots`].
    pub(super) roots: *const Complex<T>,
    /// Room for one tile between the passes, aligned to a vector.
    pub(super) scratch: *mut T,
}

/// Returns the factors after the first pass, W^(n k) at `n * A + k` for column n of B and result k of A, followed by
/// those of the passes over the remaining B points.
pub(super) fn roots<T: Scalar>(length: usize) -> Vec<Complex<T>> {
    let (first, rest) = split(length);
    let root = |index: usize| {
        let turns = ((index / first) * (index % first)) as f64 / length as f64;
        let angle = -2.0 * std::f64::consts::PI * turns;
        Complex::new(T::nearest(angle.cos()), T::nearest(angle.sin()))
    };
    let mut all: Vec<Complex<T>> = (0..length).map(root).collect();
    if first > 1 {
        all.extend(roots::<T>(rest));
    }
    all
}

/// Returns the number of transforms of `length` contiguous points in one tile of [`rows`].
pub(super) const fn rows_per_tile<V: Vector>(length: usize) -> usize {
    let points = V::COUNT / 2;
    if length < points { V::COUNT * points / length } else { V::COUNT }
}

/// Transforms contiguous rows, in place or into another matrix of rows.
///
/// # Safety
/// The job's memory contains `tiles` whole tiles of [`rows_per_tile`] transforms and a tile of scratch, its roots are
/// those of `N`, and the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn rows<V: Complexes<Element: Scalar>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        let (input, output) =
            (tile * V::COUNT * job.input_pitch, tile * V::COUNT * job.output_pitch);
        // SAFETY: the caller's guarantee, for this tile.
        unsafe {
            let (input, output) = (job.input.add(input), job.output.add(output));
            if 2 * N <= V::COUNT {
                short_rows::<V, N>(input, job.input_pitch, output, job.output_pitch);
            } else {
                let scratch = job.scratch.cast::<Pair<V>>();
                from_rows::<V, N>(
                    input,
                    job.input_pitch,
                    scratch,
                    job.roots,
                    InPlace::<V, N>(scratch),
                );
                scatter::<V, N>(scratch, output, job.output_pitch);
            }
        }
    }
}

/// Transforms contiguous rows into columns: transform and corner turn in one.
///
/// # Safety
/// As for [`rows`], with `2 * N` at least `V::COUNT`; the output has `N` rows of all transforms, each aligned to a
/// vector if `STREAMED`.
#[inline(always)]
pub(super) unsafe fn turned<V: Complexes<Element: Scalar>, const N: usize, const STREAMED: bool>(
    job: &Job<V::Element>,
) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's guarantee, for this tile.
        unsafe {
            let input = job.input.add(tile * V::COUNT * job.input_pitch);
            let start = job.output.add(tile * V::COUNT * 2);
            let sink = Turned::<_, STREAMED>(Columns { start, pitch: job.output_pitch });
            from_rows::<V, N>(input, job.input_pitch, job.scratch.cast(), job.roots, sink);
        }
    }
}

/// Transforms the columns of a matrix, in place or into another matrix.
///
/// # Safety
/// The job's memory contains `N` rows of `tiles` times `V::COUNT` columns and a tile of scratch, its roots are those of
/// `N`, and the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn columns<V: Complexes<Element: Scalar>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's guarantee, for this tile. Input and output may be the same: all points are read before
        // the last pass, or by it before it writes.
        unsafe {
            let start = job.input.add(tile * V::COUNT * 2).cast_mut();
            let source = Columns { start, pitch: job.input_pitch };
            let start = job.output.add(tile * V::COUNT * 2);
            let sink = Columns { start, pitch: job.output_pitch };
            let (scratch, roots) = (job.scratch.cast::<Pair<V>>(), job.roots);
            match N {
                32 => columns_pass::<V, 4, 8>(source, scratch, roots),
                64 => columns_pass::<V, 8, 8>(source, scratch, roots),
                128 => columns_pass::<V, 8, 16>(source, scratch, roots),
                256 => columns_pass::<V, 4, 64>(source, scratch, roots),
                512 => columns_pass::<V, 8, 64>(source, scratch, roots),
                1024 => columns_pass::<V, 16, 64>(source, scratch, roots),
                _ => {
                    let mut x = [source.point::<V>(0); N];
                    for n in 1..N {
                        x[n] = source.point(n);
                    }
                    put_all(transform(x), sink, 0, 1);
                    continue;
                }
            }
            remaining_passes::<V, N>(scratch, roots, sink);
        }
    }
}

/// Transforms `N` points of all lanes in the scratch, in natural order, and writes the results side by side: point k of
/// lane l at `k * COUNT + l`.
///
/// # Safety
/// Scratch and output have room for `N` points of all lanes, and the roots are those of `N`.
#[inline(always)]
pub(super) unsafe fn from_scratch<V: Complexes<Element: Scalar>, const N: usize>(
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    output: *mut V::Element,
) {
    let sink = Turned::<_, false>(Columns { start: output, pitch: 2 * V::COUNT });
    // SAFETY: the caller's guarantee.
    unsafe { in_place::<V, N>(scratch, roots, sink) };
}

/// Computes transforms that fit a vector, several in a row of the square.
#[inline(always)]
unsafe fn short_rows<V: Complexes<Element: Scalar>, const N: usize>(
    input: *const V::Element,
    input_pitch: usize,
    output: *mut V::Element,
    output_pitch: usize,
) {
    // SAFETY: the caller guarantees a square of numbers at `input` and room for one at `output`.
    unsafe {
        let mut square = V::transpose(V::load_square(input, input_pitch));
        let points = square.as_mut();
        for group in 0..V::COUNT / (2 * N) {
            let at = 2 * N * group;
            let mut x = [Pair { re: points[at], im: points[at + 1] }; N];
            for n in 1..N {
                x[n] = Pair { re: points[at + 2 * n], im: points[at + 2 * n + 1] };
            }
            let y = transform(x);
            for k in 0..N {
                points[at + 2 * k] = y[k].re;
                points[at + 2 * k + 1] = y[k].im;
            }
        }
        V::store_square(V::transpose(square), output, output_pitch);
    }
}
