//! One tile of transforms: as many as a vector has lanes, transformed together in split form.
//!
//! In rows (contiguous transforms) the lanes come from different rows, so a tile is transposed in registers on its way in
//! and out. In columns the lanes lie side by side in memory already. Between the two there is the corner turn for
//! nothing: rows in, columns out, without the second transposition.

use std::mem::MaybeUninit;

use num_complex::Complex;

use super::Real;
use super::butterfly::{Pair, transform};
use crate::lanes::Lanes;

/// What a kernel works on. Offsets count real numbers, two to a point.
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
    /// The roots of unity between the two passes, see [`roots`].
    pub(super) roots: *const Complex<T>,
}

/// The radices of the two passes, (1, length) where one suffices.
pub(super) const fn radices(length: usize) -> (usize, usize) {
    match length {
        32 => (4, 8),
        64 => (8, 8),
        128 => (8, 16),
        _ => (1, length),
    }
}

/// The factors after the first pass: W^(n k) at `n * first + k` for column n of the second radix and point k of the first.
pub(super) fn roots<T: Real>(length: usize) -> Vec<Complex<T>> {
    let (first, second) = radices(length);
    let root = |index: usize| {
        let turns = ((index / first) * (index % first)) as f64 / length as f64;
        let angle = -2.0 * std::f64::consts::PI * turns;
        Complex::new(T::nearest(angle.cos()), T::nearest(angle.sin()))
    };
    (0..first * second).map(root).collect()
}

/// How many transforms of `N` contiguous points one tile of [`rows`] takes.
pub(super) const fn rows_per_tile<V: Lanes>(length: usize) -> usize {
    let points = V::COUNT / 2;
    if length < points { V::COUNT * points / length } else { V::COUNT }
}

/// Where a pass reads its points.
trait Source<V> {
    /// Point `n` of the tile.
    ///
    /// # Safety
    /// `n` is below the length, and the source was made for memory that holds the tile.
    unsafe fn point(&self, n: usize) -> Pair<V>;
}

/// Where a pass leaves its points.
trait Sink<V> {
    /// Takes point `k` of the tile.
    ///
    /// # Safety
    /// `k` is below the length, and the sink was made for memory that has room for the tile.
    unsafe fn put(&self, k: usize, value: Pair<V>);
}

/// The scratch of a tile; results lie in the order in which the second pass makes them.
struct Scratch<V, const N: usize>(*mut Pair<V>);

impl<V: Lanes, const N: usize> Scratch<V, N> {
    /// Where result `k` lies.
    #[inline(always)]
    const fn place(k: usize) -> usize {
        let (first, second) = radices(N);
        second * (k % first) + k / first
    }
}

impl<V: Lanes, const N: usize> Source<V> for Scratch<V, N> {
    #[inline(always)]
    unsafe fn point(&self, n: usize) -> Pair<V> {
        // SAFETY: the scratch has N points, and the caller keeps n below.
        unsafe { *self.0.add(n) }
    }
}

impl<V: Lanes, const N: usize> Sink<V> for Scratch<V, N> {
    #[inline(always)]
    unsafe fn put(&self, k: usize, value: Pair<V>) {
        // SAFETY: `place` permutes the N points of the scratch, and the caller keeps k below N.
        unsafe { self.0.add(Self::place(k)).write(value) }
    }
}

/// Columns of a matrix of complex numbers: a point of all lanes lies contiguous, the next point one pitch further on.
struct Columns<T> {
    start: *mut T,
    pitch: usize,
}

impl<V: Lanes> Source<V> for Columns<V::Element> {
    #[inline(always)]
    unsafe fn point(&self, n: usize) -> Pair<V> {
        // SAFETY: the caller vouches for COUNT complex numbers at row n.
        let (re, im) = unsafe {
            let at = self.start.add(n * self.pitch);
            V::deinterleave(V::load(at), V::load(at.add(V::COUNT)))
        };
        Pair { re, im }
    }
}

impl<V: Lanes> Sink<V> for Columns<V::Element> {
    #[inline(always)]
    unsafe fn put(&self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave(value.re, value.im);
        // SAFETY: the caller vouches for room for COUNT complex numbers at row k.
        unsafe {
            let at = self.start.add(k * self.pitch);
            low.store(at);
            high.store(at.add(V::COUNT));
        }
    }
}

/// As [`Columns`], for lanes that were transposed into natural order.
struct Turned<T>(Columns<T>);

impl<V: Lanes> Sink<V> for Turned<V::Element> {
    #[inline(always)]
    unsafe fn put(&self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave_in_order(value.re, value.im);
        // SAFETY: the caller vouches for room for COUNT complex numbers at row k.
        unsafe {
            let at = self.0.start.add(k * self.0.pitch);
            low.store(at);
            high.store(at.add(V::COUNT));
        }
    }
}

/// Transforms contiguous rows, in place or into another matrix of rows.
///
/// # Safety
/// The job's memory holds `tiles` whole tiles of [`rows_per_tile`] transforms, its roots are those of `N`, and the processor
/// has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn rows<V: Lanes<Element: Real>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        let (input, output) =
            (tile * V::COUNT * job.input_pitch, tile * V::COUNT * job.output_pitch);
        // SAFETY: the caller's promise, for this tile; the scratch holds N points and is filled by `gather`.
        unsafe {
            let (input, output) = (job.input.add(input), job.output.add(output));
            if 2 * N <= V::COUNT {
                short_rows::<V, N>(input, job.input_pitch, output, job.output_pitch);
                continue;
            }
            let mut scratch = MaybeUninit::<[Pair<V>; N]>::uninit();
            let scratch = Scratch::<V, N>(scratch.as_mut_ptr().cast());
            gather(&scratch, input, job.input_pitch);
            two_passes::<V, N>(&scratch, &scratch, job.roots);
            scatter(&scratch, output, job.output_pitch);
        }
    }
}

/// Transforms contiguous rows and leaves the results as columns: transform and corner turn in one.
///
/// # Safety
/// As for [`rows`], with `2 * N > V::COUNT` or twice `N` equal to it; the output holds `N` rows of all transforms.
#[inline(always)]
pub(super) unsafe fn turned<V: Lanes<Element: Real>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's promise, for this tile; the scratch holds N points and is filled by `gather`.
        unsafe {
            let input = job.input.add(tile * V::COUNT * job.input_pitch);
            let start = job.output.add(tile * V::COUNT * 2);
            let sink = Turned(Columns { start, pitch: job.output_pitch });
            let mut scratch = MaybeUninit::<[Pair<V>; N]>::uninit();
            let scratch = Scratch::<V, N>(scratch.as_mut_ptr().cast());
            gather(&scratch, input, job.input_pitch);
            two_passes::<V, N>(&scratch, &sink, job.roots);
        }
    }
}

/// Transforms the columns of a matrix, in place or into another matrix.
///
/// # Safety
/// The job's memory holds `N` rows of `tiles` times `V::COUNT` columns, its roots are those of `N`, and the processor has
/// the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn columns<V: Lanes<Element: Real>, const N: usize>(job: &Job<V::Element>) {
    for tile in 0..job.tiles {
        // SAFETY: the caller's promise, for this tile. Source and sink may be one place: a pass reads what it overwrites.
        unsafe {
            let start = job.input.add(tile * V::COUNT * 2).cast_mut();
            let source = Columns { start, pitch: job.input_pitch };
            let start = job.output.add(tile * V::COUNT * 2);
            let sink = Columns { start, pitch: job.output_pitch };
            two_passes::<V, N>(&source, &sink, job.roots);
        }
    }
}

/// Both passes; between them the points lie in a scratch of their own, unless one pass suffices.
#[inline(always)]
unsafe fn two_passes<V: Lanes<Element: Real>, const N: usize>(
    source: &impl Source<V>,
    sink: &impl Sink<V>,
    roots: *const Complex<V::Element>,
) {
    // SAFETY: the caller vouches for source, sink and roots of N points; the scratch has N.
    unsafe {
        let mut between = MaybeUninit::<[Pair<V>; N]>::uninit();
        let between = between.as_mut_ptr().cast();
        match N {
            32 => {
                first_pass::<V, 4, 8>(source, between, roots);
                second_pass::<V, 4, 8>(between, sink);
            }
            64 => {
                first_pass::<V, 8, 8>(source, between, roots);
                second_pass::<V, 8, 8>(between, sink);
            }
            128 => {
                first_pass::<V, 8, 16>(source, between, roots);
                second_pass::<V, 8, 16>(between, sink);
            }
            _ => second_pass_only::<V, N>(source, sink),
        }
    }
}

/// The transforms of `A` points, one for each of `B` columns, each result times its root.
#[inline(always)]
unsafe fn first_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    source: &impl Source<V>,
    between: *mut Pair<V>,
    roots: *const Complex<V::Element>,
) {
    for n in 0..B {
        // SAFETY: every index is below A * B, the length of source, scratch and roots.
        unsafe {
            let mut x = [source.point(n); A];
            for i in 1..A {
                x[i] = source.point(B * i + n);
            }
            let y = transform(x);
            between.add(n).write(y[0]);
            for k in 1..A {
                let root = &*roots.add(n * A + k);
                let root = Pair { re: V::splat(root.re), im: V::splat(root.im) };
                between.add(B * k + n).write(y[k].times(root));
            }
        }
    }
}

/// The transforms of `B` points, one for each of `A` results of the first pass.
#[inline(always)]
unsafe fn second_pass<V: Lanes<Element: Real>, const A: usize, const B: usize>(
    between: *const Pair<V>,
    sink: &impl Sink<V>,
) {
    for k in 0..A {
        // SAFETY: every index is below A * B, the length of scratch and sink.
        unsafe {
            let y = transform(between.add(B * k).cast::<[Pair<V>; B]>().read());
            for i in 0..B {
                sink.put(k + A * i, y[i]);
            }
        }
    }
}

#[inline(always)]
unsafe fn second_pass_only<V: Lanes<Element: Real>, const N: usize>(
    source: &impl Source<V>,
    sink: &impl Sink<V>,
) {
    // SAFETY: every index is below N.
    unsafe {
        let mut x = [source.point(0); N];
        for n in 1..N {
            x[n] = source.point(n);
        }
        let y = transform(x);
        for k in 0..N {
            sink.put(k, y[k]);
        }
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

/// Transposes a tile of rows into the scratch, a square at a time.
#[inline(always)]
unsafe fn gather<V: Lanes, const N: usize>(
    scratch: &Scratch<V, N>,
    input: *const V::Element,
    pitch: usize,
) {
    for at in (0..N).step_by(V::COUNT / 2) {
        // SAFETY: the caller vouches for COUNT rows of N points; `at` stays below N.
        unsafe {
            let square = V::transpose(V::load_square(input.add(2 * at), pitch));
            let points = square.as_ref();
            for j in 0..V::COUNT / 2 {
                scratch.0.add(at + j).write(Pair { re: points[2 * j], im: points[2 * j + 1] });
            }
        }
    }
}

/// Transposes the results in the scratch into a tile of rows, a square at a time.
#[inline(always)]
unsafe fn scatter<V: Lanes, const N: usize>(
    scratch: &Scratch<V, N>,
    output: *mut V::Element,
    pitch: usize,
) {
    for at in (0..N).step_by(V::COUNT / 2) {
        // SAFETY: the caller vouches for room for COUNT rows of N points; `at` stays below N.
        unsafe {
            let mut square = scratch.point(0).re.repeat();
            let points = square.as_mut();
            for j in 0..V::COUNT / 2 {
                let pair = scratch.point(Scratch::<V, N>::place(at + j));
                points[2 * j] = pair.re;
                points[2 * j + 1] = pair.im;
            }
            V::store_square(V::transpose(square), output.add(2 * at), pitch);
        }
    }
}
