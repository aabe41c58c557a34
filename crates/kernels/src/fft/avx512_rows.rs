//! Contiguous single-precision rows of 8 to 128 points with AVX-512, interleaved as they are in memory.
//!
//! A vector holds eight points of one row (of two rows at 8 points). The high digits of a point's number select the
//! vector and are transformed first, between vectors. Then one exchange of vectors and lanes brings the low digits to
//! the vectors' places, and the results are in natural order. A row is transposed once; a tile of rows in lanes is
//! transposed on its way in and on its way out. So a vector takes 3 exchanges and 2 swaps of parts instead of 8
//! exchanges, and rows are processed in the order of memory. See docs/measurements.md#rows-and-corner-turns.

mod points;

use std::arch::x86_64::*;

use num_complex::Complex32;

use super::tile::Job;
use points::*;

/// Returns the factors that the kernel of `length` needs, as [`Factor`]s in the order of their use.
pub(super) fn roots(length: usize) -> Vec<Complex32> {
    let mut table = Table::default();
    match length {
        8 => {
            table.push(|lane| (lane % 4, 8));
            table.push(|lane| (lane % 2, 4));
        }
        16 => {
            table.push(|lane| (lane, 16));
            table.push(|lane| (lane % 4, 8));
            table.push(|lane| (lane % 2, 4));
        }
        32 => {
            (1..4).for_each(|k| table.push(|lane| (k * lane, 32)));
            (1..4).for_each(|k| table.push(|lane| (k * (lane % 2), 8)));
        }
        64 => (1..8).for_each(|k| table.push(|lane| (k * lane, 64))),
        128 => (1..16).for_each(|k| table.push(|lane| (k * lane, 128))),
        _ => {}
    }
    table.0
}

#[derive(Default)]
struct Table(Vec<Complex32>);

impl Table {
    /// Appends the factor whose lane l is e^(-2 pi i a / b), where `turn(l)` is (a, b).
    fn push(&mut self, turn: impl Fn(usize) -> (usize, usize)) {
        let root = |lane| {
            let (a, b) = turn(lane);
            let angle = -2.0 * std::f64::consts::PI * a as f64 / b as f64;
            (angle.cos() as f32, angle.sin() as f32)
        };
        self.0.extend((0..8).map(|lane| Complex32::new(root(lane).0, root(lane).0)));
        self.0.extend((0..8).map(|lane| Complex32::new(-root(lane).1, root(lane).1)));
    }
}

/// Transforms rows of `N` points, 8, 16, 32, 64 or 128; a tile is one row, or two of 8 points.
///
/// # Safety
/// The job's memory contains the tiles, its roots are those of [`roots`], and the processor has AVX-512 foundation.
#[target_feature(enable = "avx512f,avx2,fma")]
pub(super) unsafe fn rows<const N: usize>(job: &Job<f32>) {
    // SAFETY: the caller's guarantee is that of the called function.
    unsafe {
        match N {
            8 => rows_of_8(job),
            16 => rows_of_16(job),
            32 => rows_of_32(job),
            64 => rows_of_64(job),
            128 => rows_of_128(job),
            _ => unreachable!("no row kernel of {N} points"),
        }
    }
}

#[inline(always)]
unsafe fn rows_of_8(job: &Job<f32>) {
    // SAFETY: the caller guarantees two rows in each tile, the roots and the instructions.
    unsafe {
        let roots = [factor(job, 0), factor(job, 1)];
        let (even, odd) = (pick([0, 4, 1, 5, 8, 12, 9, 13]), pick([2, 6, 3, 7, 10, 14, 11, 15]));
        for tile in 0..job.tiles {
            let (input, output) = (job.input.add(32 * tile), job.output.add(32 * tile));
            let (first, second) = (load(input, 0), load(input, 1));
            // Lanes after each exchange, the highest digit first: row, n1, n0; k0, row, n0; k0, row, k1.
            let (low, high) = (low_halves(first, second), high_halves(first, second));
            let (a, b) = (add(low, high), times(sub(low, high), roots[0]));
            let (low, high) = (even_quarters(a, b), odd_quarters(a, b));
            let (a, b) = (add(low, high), times(sub(low, high), roots[1]));
            let (low, high) = (low_points(a, b), high_points(a, b));
            let (a, b) = (add(low, high), sub(low, high));
            store(output, 0, _mm512_castpd_ps(_mm512_permutex2var_pd(pd(a), even, pd(b))));
            store(output, 1, _mm512_castpd_ps(_mm512_permutex2var_pd(pd(a), odd, pd(b))));
        }
    }
}

#[inline(always)]
unsafe fn rows_of_16(job: &Job<f32>) {
    // SAFETY: the caller guarantees a row in each tile, the roots and the instructions.
    unsafe {
        let roots = [factor(job, 0), factor(job, 1), factor(job, 2)];
        for tile in 0..job.tiles {
            let (input, output) = (job.input.add(32 * tile), job.output.add(32 * tile));
            let (low, high) = (load(input, 0), load(input, 1));
            // Lanes after each exchange, the highest digit first: k0, n1, n0; k1, k0, n0; k2, k1, k0.
            let (a, b) = (add(low, high), times(sub(low, high), roots[0]));
            let (low, high) = (low_halves(a, b), high_halves(a, b));
            let (a, b) = (add(low, high), times(sub(low, high), roots[1]));
            let (low, high) = (even_quarters(a, b), odd_quarters(a, b));
            let (a, b) = (add(low, high), times(sub(low, high), roots[2]));
            let (low, high) = even_and_odd_points(a, b);
            store(output, 0, add(low, high));
            store(output, 1, sub(low, high));
        }
    }
}

#[inline(always)]
unsafe fn rows_of_32(job: &Job<f32>) {
    // SAFETY: the caller guarantees a row in each tile, the roots and the instructions.
    unsafe {
        for tile in 0..job.tiles {
            let (input, output) = (job.input.add(64 * tile), job.output.add(64 * tile));
            let mut x = four([load(input, 0), load(input, 1), load(input, 2), load(input, 3)]);
            for k in 1..4 {
                x[k] = times(x[k], factor(job, k - 1));
            }
            let mut x = four(transpose_quarters(x));
            for k in 1..4 {
                x[k] = times(x[k], factor(job, k + 2));
            }
            for half in 0..2 {
                let (low, high) = even_and_odd_points(x[2 * half], x[2 * half + 1]);
                store(output, half, add(low, high));
                store(output, half + 2, sub(low, high));
            }
        }
    }
}

#[inline(always)]
unsafe fn rows_of_64(job: &Job<f32>) {
    // SAFETY: the caller guarantees a row in each tile, the roots and the instructions.
    unsafe {
        for tile in 0..job.tiles {
            let (input, output) = (job.input.add(128 * tile), job.output.add(128 * tile));
            let mut x = [load(input, 0); 8];
            for n in 1..8 {
                x[n] = load(input, n);
            }
            x = eight(x);
            for k in 1..8 {
                x[k] = times(x[k], factor(job, k - 1));
            }
            x = eight(transpose_points(x));
            for k in 0..8 {
                store(output, k, x[k]);
            }
        }
    }
}

#[inline(always)]
unsafe fn rows_of_128(job: &Job<f32>) {
    // SAFETY: the caller guarantees a row in each tile, the roots and the instructions.
    unsafe {
        for tile in 0..job.tiles {
            let (input, output) = (job.input.add(256 * tile), job.output.add(256 * tile));
            // Sixteen points between vectors: two eights of the even and the odd ones, and a last stage.
            let mut even = [load(input, 0); 8];
            let mut odd = [load(input, 1); 8];
            for n in 1..8 {
                even[n] = load(input, 2 * n);
                odd[n] = load(input, 2 * n + 1);
            }
            let (mut low, mut high) = sixteen(eight(even), eight(odd));
            for k in 0..8 {
                if k > 0 {
                    low[k] = times(low[k], factor(job, k - 1));
                }
                high[k] = times(high[k], factor(job, k + 7));
            }
            for (half, x) in [(0, low), (1, high)] {
                let y = eight(transpose_points(x));
                for k in 0..8 {
                    store(output, 2 * k + half, y[k]);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn load(row: *const f32, vector: usize) -> Points {
    // SAFETY: the caller guarantees that vector of the row.
    unsafe { _mm512_loadu_ps(row.add(16 * vector)) }
}

#[inline(always)]
unsafe fn store(row: *mut f32, vector: usize, points: Points) {
    // SAFETY: the caller guarantees room for that vector of the row.
    unsafe { _mm512_storeu_ps(row.add(16 * vector), points) }
}

#[inline(always)]
unsafe fn factor(job: &Job<f32>, index: usize) -> Factor {
    // SAFETY: the caller guarantees the roots.
    unsafe {
        let at = job.roots.cast::<f32>().add(32 * index);
        Factor { re: _mm512_loadu_ps(at), im: _mm512_loadu_ps(at.add(16)) }
    }
}
