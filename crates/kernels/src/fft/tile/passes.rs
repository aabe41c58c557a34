//! The passes over a tile: each transforms columns of as many points as fit the registers, and multiplies by roots of
//! unity.

use std::mem::MaybeUninit;

use num_complex::Complex;

use super::ends::{Columns, Sink, gather};
use crate::fft::butterfly::{Pair, transform};
use crate::fft::scalar::Scalar;
use crate::lanes::Complexes;

/// Executes all passes over a tile of rows.
#[inline(always)]
pub(super) unsafe fn from_rows<V: Complexes<Element: Scalar>, const N: usize>(
    input: *const V::Element,
    pitch: usize,
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    sink: impl Sink<V>,
) {
    // SAFETY: the caller guarantees input, scratch, roots and sink of N points.
    unsafe {
        match N {
            32 => rows_pass::<V, 4, 8>(input, pitch, scratch, roots),
            64 => rows_pass::<V, 8, 8>(input, pitch, scratch, roots),
            128 => rows_pass::<V, 8, 16>(input, pitch, scratch, roots),
            256 => rows_pass::<V, 4, 64>(input, pitch, scratch, roots),
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

/// Executes all passes over a tile that is in the scratch already.
#[inline(always)]
pub(super) unsafe fn in_place<V: Complexes<Element: Scalar>, const N: usize>(
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    sink: impl Sink<V>,
) {
    // SAFETY: the caller guarantees scratch, roots and sink of N points.
    unsafe {
        match N {
            32 => middle_pass::<V, 4, 8>(scratch, roots),
            64 => middle_pass::<V, 8, 8>(scratch, roots),
            128 => middle_pass::<V, 8, 16>(scratch, roots),
            256 => middle_pass::<V, 4, 64>(scratch, roots),
            512 => middle_pass::<V, 8, 64>(scratch, roots),
            1024 => middle_pass::<V, 16, 64>(scratch, roots),
            _ => {
                put_all(transform(scratch.cast::<[Pair<V>; N]>().read()), sink, 0, 1);
                return;
            }
        }
        remaining_passes::<V, N>(scratch, roots, sink);
    }
}

/// Executes the passes after the first.
#[inline(always)]
pub(super) unsafe fn remaining_passes<V: Complexes<Element: Scalar>, const N: usize>(
    scratch: *mut Pair<V>,
    roots: *const Complex<V::Element>,
    sink: impl Sink<V>,
) {
    // SAFETY: the caller guarantees scratch and sink of N points, and the roots, of which the first pass has used the
    // first N.
    unsafe {
        match N {
            32 => last_pass::<V, 4, 8>(scratch, sink, 0, 1),
            64 => last_pass::<V, 8, 8>(scratch, sink, 0, 1),
            128 => last_pass::<V, 8, 16>(scratch, sink, 0, 1),
            256 | 512 | 1024 => {
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

/// Executes the first pass from rows, the columns of a square at a time: `A` squares are transposed into a buffer that
/// stays in the first-level cache, and their columns are transformed from there.
#[inline(always)]
unsafe fn rows_pass<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
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
            // SAFETY: the caller guarantees COUNT rows of A * B points; a square has no more than 8 columns.
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

/// Executes the first pass from columns.
#[inline(always)]
pub(super) unsafe fn columns_pass<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
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

/// Executes a pass that stores its results in the places of its points.
#[inline(always)]
unsafe fn middle_pass<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
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

/// Transforms the `A` points of column `n` of `B` and stores each result, times its root, in the scratch.
#[inline(always)]
unsafe fn put_twiddled<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
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

/// Transforms `B` points for each of `A` results of the pass before. Result k goes to the sink as `offset + stride *
/// k`.
#[inline(always)]
unsafe fn last_pass<V: Complexes<Element: Scalar>, const A: usize, const B: usize>(
    scratch: *const Pair<V>,
    sink: impl Sink<V>,
    offset: usize,
    stride: usize,
) {
    for k in 0..A {
        // SAFETY: every index is below A * B, the length of the scratch; the caller guarantees the sink.
        unsafe {
            let y = transform(scratch.add(B * k).cast::<[Pair<V>; B]>().read());
            put_all(y, sink, offset + stride * k, stride * A);
        }
    }
}

#[inline(always)]
pub(super) unsafe fn put_all<V: Complexes, const B: usize>(
    y: [Pair<V>; B],
    sink: impl Sink<V>,
    offset: usize,
    stride: usize,
) {
    for i in 0..B {
        // SAFETY: the caller guarantees a sink of that many results.
        unsafe { sink.put(offset + stride * i, y[i]) };
    }
}
