//! Eight complex numbers in a vector: arithmetic, short transforms between vectors, and exchanges of points.

use std::arch::x86_64::*;

/// Eight complex numbers.
pub(super) type Points = __m512;

/// A complex factor for each lane: real parts twice, and imaginary parts twice with the sign that a product needs.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    pub(super) re: __m512,
    pub(super) im: __m512,
}

#[inline(always)]
pub(super) unsafe fn pick(lanes: [i64; 8]) -> __m512i {
    // SAFETY: the caller guarantees the instructions; the array is as large as a vector.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Returns the same lanes as points of 64 bits, for moves only.
#[inline(always)]
pub(super) unsafe fn pd(x: Points) -> __m512d {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_castps_pd(x) }
}

#[inline(always)]
pub(super) unsafe fn add(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_add_ps(a, b) }
}

#[inline(always)]
pub(super) unsafe fn sub(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_sub_ps(a, b) }
}

/// Exchanges real and imaginary parts.
#[inline(always)]
pub(super) unsafe fn swap(x: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_permute_ps::<0b10_11_00_01>(x) }
}

#[inline(always)]
pub(super) unsafe fn times(x: Points, factor: Factor) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_fmadd_ps(x, factor.re, _mm512_mul_ps(swap(x), factor.im)) }
}

/// Returns 1 for real parts and -1 for imaginary ones: with [`swap`], a product with -i.
#[inline(always)]
pub(super) unsafe fn turn() -> __m512 {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_castpd_ps(_mm512_set1_pd(f64::from_bits(0xbf80_0000_3f80_0000))) }
}

/// Returns `a - i b` and `a + i b`.
#[inline(always)]
pub(super) unsafe fn add_and_sub_turned(a: Points, b: Points) -> (Points, Points) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let b = swap(b);
        (_mm512_fmadd_ps(b, turn(), a), _mm512_fnmadd_ps(b, turn(), a))
    }
}

#[inline(always)]
pub(super) unsafe fn four([a, b, c, d]: [Points; 4]) -> [Points; 4] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let (even_sum, even_difference) = (add(a, c), sub(a, c));
        let (odd_sum, odd_difference) = (add(b, d), sub(b, d));
        let (first, third) = add_and_sub_turned(even_difference, odd_difference);
        [add(even_sum, odd_sum), first, sub(even_sum, odd_sum), third]
    }
}

#[inline(always)]
pub(super) unsafe fn eight(x: [Points; 8]) -> [Points; 8] {
    // SAFETY: the caller guarantees the instructions.
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

/// Computes the last stage of sixteen points: the odd ones times the sixteenth roots of unity, added to and subtracted
/// from the even ones.
#[inline(always)]
pub(super) unsafe fn sixteen(
    even: [Points; 8],
    mut odd: [Points; 8],
) -> ([Points; 8], [Points; 8]) {
    const COS: f32 = 0.923_879_5;
    const SIN: f32 = 0.382_683_43;
    const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
    // Real and imaginary parts of the first to the seventh power, except the fourth, which is -i.
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
    // SAFETY: the caller guarantees the instructions.
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

/// Returns the lower four points of each.
#[inline(always)]
pub(super) unsafe fn low_halves(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b) }
}

/// Returns the upper four points of each.
#[inline(always)]
pub(super) unsafe fn high_halves(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b) }
}

/// Returns points 0, 1, 4 and 5 of each.
#[inline(always)]
pub(super) unsafe fn even_quarters(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b) }
}

/// Returns points 2, 3, 6 and 7 of each.
#[inline(always)]
pub(super) unsafe fn odd_quarters(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b) }
}

/// Returns points 0, 2, 4 and 6 of each, alternating.
#[inline(always)]
pub(super) unsafe fn low_points(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_castpd_ps(_mm512_unpacklo_pd(pd(a), pd(b))) }
}

/// Returns points 1, 3, 5 and 7 of each, alternating.
#[inline(always)]
pub(super) unsafe fn high_points(a: Points, b: Points) -> Points {
    // SAFETY: the caller guarantees the instructions.
    unsafe { _mm512_castpd_ps(_mm512_unpackhi_pd(pd(a), pd(b))) }
}

/// Returns points 0, 2, 4 and 6 of the first and then of the second; and the others.
#[inline(always)]
pub(super) unsafe fn even_and_odd_points(a: Points, b: Points) -> (Points, Points) {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let even = _mm512_permutex2var_pd(pd(a), pick([0, 2, 4, 6, 8, 10, 12, 14]), pd(b));
        let odd = _mm512_permutex2var_pd(pd(a), pick([1, 3, 5, 7, 9, 11, 13, 15]), pd(b));
        (_mm512_castpd_ps(even), _mm512_castpd_ps(odd))
    }
}

/// Exchanges quarter i of vector j and quarter j of vector i.
#[inline(always)]
pub(super) unsafe fn transpose_quarters([a, b, c, d]: [Points; 4]) -> [Points; 4] {
    // SAFETY: the caller guarantees the instructions.
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

/// Exchanges point i of vector j and point j of vector i.
#[inline(always)]
pub(super) unsafe fn transpose_points(x: [Points; 8]) -> [Points; 8] {
    // SAFETY: the caller guarantees the instructions.
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
