//! One tile of transforms: as many as a vector has lanes, transformed together in split form.
//!
//! In rows (contiguous transforms) the lanes come from different rows, so a tile is transposed in registers on its way in
//! and out. In columns the lanes lie side by side in memory already. Between the two there is the corner turn for
//! nothing: rows in, columns out, without the second transposition.

use std::mem::MaybeUninit;

use num_complex::Complex;

use super::Real;
use super::butterfly::{Pair, transform};
use crate::lanes::{Lanes, Vector};

/// What a kernel works on. Pitches count real numbers, two to a point.
pub(super) struct Job<T> {
    /// The first point of the first transform.
    pub(super) input: *const T,
    /// Where the first result goes; may equal `input` where input and output have the same shape.
    pub(super) output: *mut T,
    /// How many tiles.
    pub(super) tiles: usize,
    /// From row to row of the input (rows of transforms, or points of columns).
    pub(super) input_pitch: usize,
    /// From row to row of the output.
    pub(super) output_pitch: usize,
    /// The roots of unity between the passes, see [`roots`].
    pub(super) roots: *const Complex<T>,
    /// Room for one tile between the passes, aligned to a vector.
    pub(super) scratch: *mut T,
}

/// The radix of the first pass and the length that is left to the others; (1, length) where one pass suffices.
pub(super) const fn split(length: usize) -> (usize, usize) {
    match length {
        32 => (4, 8),
        64 => (8, 8),
        128 => (8, 16),
        256 => (16, 16),
        512 => (8, 64),
        1024 => (16, 64),
        _ => (1, length),
    }
}

/// The factors after the first pass, W^(n k) at `n * A + k` for column n of B and result k of A, followed by those of the
/// passes over the B points that are left.
pub(super) fn roots<T: Real>(length: usize) -> Vec<Complex<T>> {
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

/// Where result `k` of a transform lies in the scratch when every pass has put its results where its points were.
const fn place(length: usize, k: usize) -> usize {
    match split(length) {
        (1, _) => k,
        (first, rest) => rest * (k % first) + place(rest, k / first),
    }
}

/// How many transforms of `length` contiguous points one tile of [`rows`] takes.
pub(super) const fn rows_per_tile<V: Vector>(length: usize) -> usize {
    let points = V::COUNT / 2;
    if length < points { V::COUNT * points / length } else { V::COUNT }
}

/// Where the last pass leaves its results.
trait Sink<V>: Copy {
    /// Takes result `k`.
    ///
    /// # Safety
    /// `k` is below the length, and the sink was made for memory that has room for the tile.
    unsafe fn put(self, k: usize, value: Pair<V>);
}

/// Leaves results in the scratch, in their [`place`].
#[derive(Clone, Copy)]
struct InPlace<V, const N: usize>(*mut Pair<V>);

impl<V: Lanes, const N: usize> Sink<V> for InPlace<V, N> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        // SAFETY: `place` permutes the N points of the scratch, and the caller keeps k below N.
        unsafe { self.0.add(place(N, k)).write(value) }
    }
}

/// Columns of a matrix: a point of all lanes lies contiguous, the next point one pitch further on.
#[derive(Clone, Copy)]
struct Columns<T> {
    start: *mut T,
    pitch: usize,
}

impl<T: Copy> Columns<T> {
    /// Point `n` of all lanes.
    ///
    /// # Safety
    /// Row n holds COUNT complex numbers.
    #[inline(always)]
    unsafe fn point<V: Lanes<Element = T>>(self, n: usize) -> Pair<V> {
        // SAFETY: the caller vouches for the row.
        let (re, im) = unsafe {
            let at = self.start.add(n * self.pitch);
            V::deinterleave(V::load(at), V::load(at.add(V::COUNT)))
        };
        Pair { re, im }
    }
}

impl<V: Lanes> Sink<V> for Columns<V::Element> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave(value.re, value.im);
        // SAFETY: the caller vouches for room for COUNT complex numbers at row k.
        unsafe {
            let at = self.start.add(k * self.pitch);
            low.store(at);
            high.store(at.add(V::COUNT));
        }
    }
}

/// As [`Columns`], for lanes that were transposed into natural order; past the caches if `STREAMED`.
#[derive(Clone, Copy)]
struct Turned<T, const STREAMED: bool>(Columns<T>);

impl<V: Lanes, const STREAMED: bool> Sink<V> for Turned<V::Element, STREAMED> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave_in_order(value.re, value.im);
        // SAFETY: the caller vouches for room for COUNT complex numbers at row k, and for its alignment if streamed.
        unsafe {
            let at = self.0.start.add(k * self.0.pitch);
            if STREAMED {
                low.stream(at);
                high.stream(at.add(V::COUNT));
            } else {
                low.store(at);
                high.store(at.add(V::COUNT));
            }
        }
    }
}

/// Transforms contiguous rows, in place or into another matrix of rows.
///
/// # Safety
/// The job's memory holds `tiles` whole tiles of [`rows_per_tile`] transforms and a tile of scratch, its roots are those of
/// `N`, and the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn rows<V: Lanes<Element: Real>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        let (input, output) =
            (tile * V::COUNT * job.input_pitch, tile * V::COUNT * job.output_pitch);
        // SAFETY: the caller's promise, for this tile.
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

/// Transforms contiguous rows and leaves the results as columns: transform and corner turn in one.
///
/// # Safety
/// As for [`rows`], with `2 * N` at least `V::COUNT`; the output holds `N` rows of all transforms, each aligned to a vector
/// if `STREAMED`.
#[inline(always)]
pub(super) unsafe fn turned<V: Lanes<Element: Real>, const N: usize, const STREAMED: bool>(
    job: &Job<V::Element>,
) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's promise, for this tile.
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
/// The job's memory holds `N` rows of `tiles` times `V::COUNT` columns and a tile of scratch, its roots are those of `N`, and
/// the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn columns<V: Lanes<Element: Real>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's promise, for this tile. Input and output may be one: all points are read before the last pass,
        // or by it before it writes.
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
                256 => columns_pass::<V, 16, 16>(source, scratch, roots),
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

/// All passes over a tile of rows.
#[inline(always)]
unsafe fn from_rows<V: Lanes<Element: Real>, const N: usize>(
    input: *const V::Element,
    pitch: usize,
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    sink: impl Sink<V>,
) {
    // SAFETY: the caller vouches for input, scratch, roots and sink of N points.
    unsafe {
        match N {
            32 => rows_pass::<V, 4, 8>(input, pitch, scratch, roots),
            64 => rows_pass::<V, 8, 8>(input, pitch, scratch, roots),
            128 => rows_pass::<V, 8, 16>(input, pitch, scratch, roots),
            256 => rows_pass::<V, 16, 16>(input, pitch, scratch, roots),
            512 => rows_pass::<V, 8, 64>(input, pitch, scratch, roots),
            1024 => rows_pass::<V, 16, 64>(input, pitch, scratch, roots),
            _ => {
                for at in (0..N).step_by(V::COUNT / 2) {
                    gather::<V>(input.add(2 * at), pitch, scratch.add(at));
                }
                put_all(transform(scratch.cast::<[Pair<V>; N]>().read()), sink, 0, 1);
                return;
            }
        }
        remaining_passes::<V, N>(scratch, roots, sink);
    }
}

/// What follows the first pass.
#[inline(always)]
unsafe fn remaining_passes<V: Lanes<Element: Real>, const N: usize>(
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    sink: impl Sink<V>,
) {
    // SAFETY: the caller vouches for scratch and sink of N points, and for the roots, of which the first N are used up.
    unsafe {
        match N {
            32 => last_pass::<V, 4, 8>(scratch, sink, 0, 1),
            64 => last_pass::<V, 8, 8>(scratch, sink, 0, 1),
            128 => last_pass::<V, 8, 16>(scratch, sink, 0, 1),
            256 => last_pass::<V, 16, 16>(scratch, sink, 0, 1),
            512 | 1024 => {
                let first = N / 64;
                for k in 0..first {
                    let part = scratch.add(64 * k);
                    middle_pass::<V, 8, 8>(part, roots.add(N));
                    last_pass::<V, 8, 8>(part, sink, k, first);
                }
            }
            _ => unreachable!(),
        }
    }
}

/// The first pass from rows, a square's worth of columns at a time: `A` squares are transposed into a corner of the
/// first-level cache, and their columns transformed from there.
#[inline(always)]
unsafe fn rows_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    input: *const V::Element,
    pitch: usize,
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
) {
    let width = V::COUNT / 2;
    for first in (0..B).step_by(width) {
        let mut squares = MaybeUninit::<[[Pair<V>; 8]; A]>::uninit();
        let squares = squares.as_mut_ptr().cast::<Pair<V>>();
        for i in 0..A {
            // SAFETY: the caller vouches for COUNT rows of A * B points; a square has no more than 8 columns.
            unsafe { gather::<V>(input.add(2 * (B * i + first)), pitch, squares.add(8 * i)) };
        }
        for column in 0..width {
            // SAFETY: every index is below A * B, the length of scratch and roots; the squares were filled above.
            unsafe {
                let mut x = [squares.add(column).read(); A];
                for i in 1..A {
                    x[i] = squares.add(8 * i + column).read();
                }
                put_twiddled::<V, A, B>(x, first + column, scratch, roots);
            }
        }
    }
}

/// The first pass from columns.
#[inline(always)]
unsafe fn columns_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    source: Columns<V::Element>,
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
) {
    for n in 0..B {
        // SAFETY: every index is below A * B, the length of source, scratch and roots.
        unsafe {
            let mut x = [source.point::<V>(n); A];
            for i in 1..A {
                x[i] = source.point(B * i + n);
            }
            put_twiddled::<V, A, B>(x, n, scratch, roots);
        }
    }
}

/// A pass that puts its results where its points were.
#[inline(always)]
unsafe fn middle_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
) {
    for n in 0..B {
        // SAFETY: every index is below A * B, the length of scratch and roots.
        unsafe {
            let mut x = [scratch.add(n).read(); A];
            for i in 1..A {
                x[i] = scratch.add(B * i + n).read();
            }
            put_twiddled::<V, A, B>(x, n, scratch, roots);
        }
    }
}

/// Transforms the `A` points of column `n` of `B` and leaves each result, times its root, in the scratch.
#[inline(always)]
unsafe fn put_twiddled<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    x: [Pair<V>; A],
    n: usize,
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
) {
    let y = transform(x);
    // SAFETY: every index is below A * B, the length of scratch and roots; `x` proves the instructions.
    unsafe {
        scratch.add(n).write(y[0]);
        for k in 1..A {
            let root = &*roots.add(n * A + k);
            let root = Pair { re: V::splat(root.re), im: V::splat(root.im) };
            scratch.add(B * k + n).write(y[k].times(root));
        }
    }
}

/// The transforms of `B` points, one for each of `A` results of the pass before. Result k goes to the sink as
/// `offset + stride * k`.
#[inline(always)]
unsafe fn last_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    scratch: *const Pair<V>,
    sink: impl Sink<V>,
    offset: usize,
    stride: usize,
) {
    for k in 0..A {
        // SAFETY: every index is below A * B, the length of the scratch; the caller vouches for the sink.
        unsafe {
            let y = transform(scratch.add(B * k).cast::<[Pair<V>; B]>().read());
            put_all(y, sink, offset + stride * k, stride * A);
        }
    }
}

#[inline(always)]
unsafe fn put_all<V: Lanes, const B: usize>(
    y: [Pair<V>; B],
    sink: impl Sink<V>,
    offset: usize,
    stride: usize,
) {
    for i in 0..B {
        // SAFETY: the caller vouches for a sink of that many results.
        unsafe { sink.put(offset + stride * i, y[i]) };
    }
}

/// Transforms that fit a vector, several to a row of the square.
#[inline(always)]
unsafe fn short_rows<V: Lanes<Element: Real>, const N: usize>(
    input: *const V::Element,
    input_pitch: usize,
    output: *mut V::Element,
    output_pitch: usize,
) {
    // SAFETY: the caller vouches for a square of numbers at `input` and room for one at `output`.
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

/// Transposes a square of rows into half as many points.
#[inline(always)]
unsafe fn gather<V: Lanes>(input: *const V::Element, pitch: usize, points: *mut Pair<V>) {
    // SAFETY: the caller vouches for a square at `input` and room for COUNT / 2 points.
    unsafe {
        let square = V::transpose(V::load_square(input, pitch));
        let columns = square.as_ref();
        for j in 0..V::COUNT / 2 {
            points.add(j).write(Pair { re: columns[2 * j], im: columns[2 * j + 1] });
        }
    }
}

/// Transposes the results in the scratch into a tile of rows, a square at a time.
#[inline(always)]
unsafe fn scatter<V: Lanes, const N: usize>(
    scratch: *const Pair<V>,
    output: *mut V::Element,
    pitch: usize,
) {
    for at in (0..N).step_by(V::COUNT / 2) {
        // SAFETY: the caller vouches for room for COUNT rows of N points; `at` stays below N.
        unsafe {
            let mut square = (*scratch).re.repeat();
            let columns = square.as_mut();
            for j in 0..V::COUNT / 2 {
                let pair = scratch.add(place(N, at + j)).read();
                columns[2 * j] = pair.re;
                columns[2 * j + 1] = pair.im;
            }
            V::store_square(V::transpose(square), output.add(2 * at), pitch);
        }
    }
}
