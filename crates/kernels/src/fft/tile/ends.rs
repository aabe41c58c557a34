//! The two ends of a tile: the source of points, and the destination of results.

use super::order::place;
use crate::fft::butterfly::Pair;
use crate::lanes::Complexes;

/// The destination of the results of the last pass.
pub(super) trait Sink<V>: Copy {
    /// Stores result `k`.
    ///
    /// # Safety
    /// `k` is below the length, and the sink was created for memory that has room for the tile.
    unsafe fn put(self, k: usize, value: Pair<V>);
}

/// Stores results in the scratch, in their [`place`].
#[derive(Clone, Copy)]
pub(super) struct InPlace<V, const N: usize>(pub(super) *mut Pair<V>);

impl<V: Complexes, const N: usize> Sink<V> for InPlace<V, N> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        // SAFETY: `place` permutes the N points of the scratch, and the caller guarantees k below N.
        unsafe { self.0.add(place(N, k)).write(value) }
    }
}

/// Columns of a matrix: a point of all lanes is contiguous, and the next point is one pitch further on.
#[derive(Clone, Copy)]
pub(super) struct Columns<T> {
    pub(super) start: *mut T,
    pub(super) pitch: usize,
}

impl<T: Copy> Columns<T> {
    /// Returns point `n` of all lanes.
    ///
    /// # Safety
    /// Row n has COUNT complex numbers.
    #[inline(always)]
    pub(super) unsafe fn point<V: Complexes<Element = T>>(self, n: usize) -> Pair<V> {
        // SAFETY: the caller guarantees the row.
        let (re, im) = unsafe {
            let at = self.start.add(n * self.pitch);
            V::deinterleave(V::load(at), V::load(at.add(V::COUNT)))
        };
        Pair { re, im }
    }
}

impl<V: Complexes> Sink<V> for Columns<V::Element> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave(value.re, value.im);
        // SAFETY: the caller guarantees room for COUNT complex numbers at row k.
        unsafe {
            let at = self.start.add(k * self.pitch);
            low.store(at);
            high.store(at.add(V::COUNT));
        }
    }
}

/// As [`Columns`], for lanes that were transposed into natural order; past the caches if `STREAMED`.
#[derive(Clone, Copy)]
pub(super) struct Turned<T, const STREAMED: bool>(pub(super) Columns<T>);

impl<V: Complexes, const STREAMED: bool> Sink<V> for Turned<V::Element, STREAMED> {
    #[inline(always)]
    unsafe fn put(self, k: usize, value: Pair<V>) {
        let (low, high) = V::interleave_in_order(value.re, value.im);
        // SAFETY: the caller guarantees room for COUNT complex numbers at row k, and its alignment if streamed.
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

/// Transposes a square of rows into half as many points.
#[inline(always)]
pub(super) unsafe fn gather<V: Complexes>(
    input: *const V::Element,
    pitch: usize,
    points: *mut Pair<V>,
) {
    // SAFETY: the caller guarantees a square at `input` and room for COUNT / 2 points.
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
pub(super) unsafe fn scatter<V: Complexes, const N: usize>(
    scratch: *const Pair<V>,
    output: *mut V::Element,
    pitch: usize,
) {
    for at in (0..N).step_by(V::COUNT / 2) {
        // SAFETY: the caller guarantees room for COUNT rows of N points; `at` stays below N.
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
