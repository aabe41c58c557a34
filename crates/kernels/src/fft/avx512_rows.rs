//! Contiguous single-precision rows of 8 to 128 points with AVX-512, interleaved as they lie in memory.
//!
//! A vector holds eight points of one row (of two rows at 8 points). The high digits of a point's number choose the vector
//! and are transformed first, between vectors; then one exchange of vectors and lanes brings up the low digits, and the
//! results come out in natural order. A row is transposed once, where a tile of rows in lanes is transposed on its way
//! in and out: 3 exchanges and 2 swaps of parts a vector instead of 8 exchanges, and rows are walked through in the order
//! of memory. On a Zen 5 16 points ran at 101 GFLOP/s in cache and at 52 through memory, and as a tile at 91 and 25.

use std::arch::x86_64::*;

use num_complex::Complex32;

use super::tile::Job;

/// Eight complex numbers.
type Points = __m512;

/// A complex factor for each lane: real parts twice, and imaginary parts twice with the sign that a product needs.
#[derive(Clone, Copy)]
struct Factor {
    re: __m512,
    im: __m512,
}

/// The factors that the kernel of `length` takes, as [`Factor`]s in the order of their use.
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
    /// Appends the factor of which lane l is e^(-2 pi i a / b), where `turn(l)` is (a, b).
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
/// The job's memory holds the tiles, its roots are those of [`roots`], and the processor has AVX-512 foundation.
#[target_feature(enable = "avx512f,avx2,fma")]
pub(super) unsafe fn rows<const N: usize>(job: &Job<f32>) {
    // SAFETY: the caller's promise is that of the function that is called.
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
    // SAFETY: the caller vouches for two rows in each tile, for the roots and for the instructions.
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
    // SAFETY: the caller vouches for a row in each tile, for the roots and for the instructions.
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
    // SAFETY: the caller vouches for a row in each tile, for the roots and for the instructions.
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
    // SAFETY: the caller vouches for a row in each tile, for the roots and for the instructions.
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
    // SAFETY: the caller vouches for a row in each tile, for the roots and for the instructions.
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
    // SAFETY: the caller vouches for that vector of the row.
    unsafe { _mm512_loadu_ps(row.add(16 * vector)) }
}

#[inline(always)]
unsafe fn store(row: *mut f32, vector: usize, points: Points) {
    // SAFETY: the caller vouches for room for that vector of the row.
    unsafe { _mm512_storeu_ps(row.add(16 * vector), points) }
}

#[inline(always)]
unsafe fn factor(job: &Job<f32>, index: usize) -> Factor {
    // SAFETY: the caller vouches for the roots.
    unsafe {
        let at = job.roots.cast::<f32>().add(32 * index);
        Factor { re: _mm512_loadu_ps(at), im: _mm512_loadu_ps(at.add(16)) }
    }
}

#[inline(always)]
unsafe fn pick(lanes: [i64; 8]) -> __m512i {
    // SAFETY: the caller vouches for the instructions; the array is as large as a vector.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// The same lanes as points of 64 bits, which only moves look at.
#[inline(always)]
unsafe fn pd(x: Points) -> __m512d {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_castps_pd(x) }
}

#[inline(always)]
unsafe fn add(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_add_ps(a, b) }
}

#[inline(always)]
unsafe fn sub(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_sub_ps(a, b) }
}

/// Real and imaginary parts exchanged.
#[inline(always)]
unsafe fn swap(x: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_permute_ps::<0b10_11_00_01>(x) }
}

#[inline(always)]
unsafe fn times(x: Points, factor: Factor) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_fmadd_ps(x, factor.re, _mm512_mul_ps(swap(x), factor.im)) }
}

/// 1 for real parts and -1 for imaginary ones: with [`swap`], a product with -i.
#[inline(always)]
unsafe fn turn() -> __m512 {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_castpd_ps(_mm512_set1_pd(f64::from_bits(0xbf80_0000_3f80_0000))) }
}

/// `a - i b` and `a + i b`.
#[inline(always)]
unsafe fn add_and_sub_turned(a: Points, b: Points) -> (Points, Points) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let b = swap(b);
        (_mm512_fmadd_ps(b, turn(), a), _mm512_fnmadd_ps(b, turn(), a))
    }
}

#[inline(always)]
unsafe fn four([a, b, c, d]: [Points; 4]) -> [Points; 4] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (even_sum, even_difference) = (add(a, c), sub(a, c));
        let (odd_sum, odd_difference) = (add(b, d), sub(b, d));
        let (first, third) = add_and_sub_turned(even_difference, odd_difference);
        [add(even_sum, odd_sum), first, sub(even_sum, odd_sum), third]
    }
}

#[inline(always)]
unsafe fn eight(x: [Points; 8]) -> [Points; 8] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let half = _mm512_set1_ps(std::f32::consts::FRAC_1_SQRT_2);
        let even = four([x[0], x[2], x[4], x[6]]);
        let odd = four([x[1], x[3], x[5], x[7]]);
        // Without their common factor, the eighth root of unity is 1 - i, and minus its third power 1 + i.
        let (first, _) = add_and_sub_turned(odd[1], odd[1]);
        let (_, third) = add_and_sub_turned(odd[3], odd[3]);
        let (second, sixth) = add_and_sub_turned(even[2], odd[2]);
        [
            add(even[0], odd[0]),
            _mm512_fmadd_ps(first, half, even[1]),
            second,
            _mm512_fnmadd_ps(third, half, even[3]),
            sub(even[0], odd[0]),
            _mm512_fnmadd_ps(first, half, even[1]),
            sixth,
            _mm512_fmadd_ps(third, half, even[3]),
        ]
    }
}

/// The last stage of sixteen points: the odd ones times the sixteenth roots of unity, added to and taken from the even ones.
#[inline(always)]
unsafe fn sixteen(even: [Points; 8], mut odd: [Points; 8]) -> ([Points; 8], [Points; 8]) {
    const COS: f32 = 0.923_879_5;
    const SIN: f32 = 0.382_683_43;
    const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
    // Real and imaginary parts of the first to the seventh power but the fourth, which is -i.
    const ROOTS: [(f32, f32); 8] = [
        (1.0, 0.0),
        (COS, -SIN),
        (HALF, -HALF),
        (SIN, -COS),
        (0.0, -1.0),
        (-SIN, -COS),
        (-HALF, -HALF),
        (-COS, -SIN),
    ];
    let (mut low, mut high) = (even, even);
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        for k in 0..8 {
            if k == 4 {
                (low[k], high[k]) = add_and_sub_turned(even[k], odd[k]);
                continue;
            }
            if k > 0 {
                let (re, im) = ROOTS[k];
                let im = _mm512_mul_ps(turn(), _mm512_set1_ps(-im));
                odd[k] = times(odd[k], Factor { re: _mm512_set1_ps(re), im });
            }
            (low[k], high[k]) = (add(even[k], odd[k]), sub(even[k], odd[k]));
        }
    }
    (low, high)
}

/// The lower four points of each.
#[inline(always)]
unsafe fn low_halves(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b) }
}

/// The upper four points of each.
#[inline(always)]
unsafe fn high_halves(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b) }
}

/// Points 0, 1, 4 and 5 of each.
#[inline(always)]
unsafe fn even_quarters(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b) }
}

/// Points 2, 3, 6 and 7 of each.
#[inline(always)]
unsafe fn odd_quarters(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b) }
}

/// Points 0, 2, 4 and 6 of each, alternating.
#[inline(always)]
unsafe fn low_points(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_castpd_ps(_mm512_unpacklo_pd(pd(a), pd(b))) }
}

/// Points 1, 3, 5 and 7 of each, alternating.
#[inline(always)]
unsafe fn high_points(a: Points, b: Points) -> Points {
    // SAFETY: the caller vouches for the instructions.
    unsafe { _mm512_castpd_ps(_mm512_unpackhi_pd(pd(a), pd(b))) }
}

/// Points 0, 2, 4 and 6 of the first and then of the second; and the others.
#[inline(always)]
unsafe fn even_and_odd_points(a: Points, b: Points) -> (Points, Points) {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let even = _mm512_permutex2var_pd(pd(a), pick([0, 2, 4, 6, 8, 10, 12, 14]), pd(b));
        let odd = _mm512_permutex2var_pd(pd(a), pick([1, 3, 5, 7, 9, 11, 13, 15]), pd(b));
        (_mm512_castpd_ps(even), _mm512_castpd_ps(odd))
    }
}

/// Quarter i of vector j becomes quarter j of vector i.
#[inline(always)]
unsafe fn transpose_quarters([a, b, c, d]: [Points; 4]) -> [Points; 4] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let (low, high) =
            ([low_halves(a, b), low_halves(c, d)], [high_halves(a, b), high_halves(c, d)]);
        [
            even_quarters(low[0], low[1]),
            odd_quarters(low[0], low[1]),
            even_quarters(high[0], high[1]),
            odd_quarters(high[0], high[1]),
        ]
    }
}

/// Point i of vector j becomes point j of vector i.
#[inline(always)]
unsafe fn transpose_points(x: [Points; 8]) -> [Points; 8] {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let mut pairs = x;
        for pair in 0..4 {
            pairs[2 * pair] = low_points(x[2 * pair], x[2 * pair + 1]);
            pairs[2 * pair + 1] = high_points(x[2 * pair], x[2 * pair + 1]);
        }
        let even = transpose_quarters([pairs[0], pairs[2], pairs[4], pairs[6]]);
        let odd = transpose_quarters([pairs[1], pairs[3], pairs[5], pairs[7]]);
        [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
    }
}
