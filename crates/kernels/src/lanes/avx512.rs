//! Lanes of AVX-512: 16 single-precision or 8 double-precision numbers.

use std::arch::x86_64::*;

use super::{Complexes, Lanes, Vector};

x86_vector! {
    /// 16 single-precision numbers. A value exists only on a processor with AVX-512 foundation.
    F32x16(__m512): 16 of f32,
    _mm512_loadu_ps, _mm512_storeu_ps, _mm512_stream_ps, transpose_f32
}

x86_lanes! {
    F32x16 of f32: _mm512_set1_ps,
    _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps
}

x86_complexes! {
    F32x16:
    deinterleave_f32, deinterleave_in_order_f32, interleave_f32, interleave_in_order_f32
}

x86_vector! {
    /// 8 double-precision numbers. A value exists only on a processor with AVX-512 foundation.
    F64x8(__m512d): 8 of f64,
    _mm512_loadu_pd, _mm512_storeu_pd, _mm512_stream_pd, transpose_f64
}

x86_lanes! {
    F64x8 of f64: _mm512_set1_pd,
    _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd
}

x86_vector! {
    /// 4 elements of 16 bytes, only to be moved. A value exists only on a processor with AVX-512 foundation.
    Wide4(__m512i): 4 of [u64; 2],
    _mm512_loadu_si512, _mm512_storeu_si512, _mm512_stream_si512, transpose_wide
}

#[inline(always)]
unsafe fn deinterleave_f32(low: __m512, high: __m512) -> (__m512, __m512) {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        let re = _mm512_shuffle_ps::<0b10_00_10_00>(low, high);
        let im = _mm512_shuffle_ps::<0b11_01_11_01>(low, high);
        (re, im)
    }
}

#[inline(always)]
unsafe fn deinterleave_in_order_f32(low: __m512, high: __m512) -> (__m512, __m512) {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        let re = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let im = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        (_mm512_permutex2var_ps(low, re, high), _mm512_permutex2var_ps(low, im, high))
    }
}

#[inline(always)]
unsafe fn interleave_f32(re: __m512, im: __m512) -> (__m512, __m512) {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe { (_mm512_unpacklo_ps(re, im), _mm512_unpackhi_ps(re, im)) }
}

#[inline(always)]
unsafe fn interleave_in_order_f32(re: __m512, im: __m512) -> (__m512, __m512) {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_ps(re, low, im), _mm512_permutex2var_ps(re, high, im))
    }
}

/// Transposes within 128 bits first, then the 128-bit groups themselves.
#[inline(always)]
unsafe fn transpose_f32(mut rows: [__m512; 16]) -> [__m512; 16] {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        // rows[4g + c]: column c of every 128-bit group, of rows 4g to 4g + 3.
        for group in 0..4 {
            let at = 4 * group;
            let low01 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[at], rows[at + 1]));
            let high01 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[at], rows[at + 1]));
            let low23 = _mm512_castps_pd(_mm512_unpacklo_ps(rows[at + 2], rows[at + 3]));
            let high23 = _mm512_castps_pd(_mm512_unpackhi_ps(rows[at + 2], rows[at + 3]));
            rows[at] = _mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23));
            rows[at + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23));
            rows[at + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23));
            rows[at + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23));
        }
        for column in 0..4 {
            let group = [rows[column], rows[column + 4], rows[column + 8], rows[column + 12]];
            let even_low = _mm512_shuffle_f32x4::<0b10_00_10_00>(group[0], group[1]);
            let odd_low = _mm512_shuffle_f32x4::<0b11_01_11_01>(group[0], group[1]);
            let even_high = _mm512_shuffle_f32x4::<0b10_00_10_00>(group[2], group[3]);
            let odd_high = _mm512_shuffle_f32x4::<0b11_01_11_01>(group[2], group[3]);
            rows[column] = _mm512_shuffle_f32x4::<0b10_00_10_00>(even_low, even_high);
            rows[column + 4] = _mm512_shuffle_f32x4::<0b10_00_10_00>(odd_low, odd_high);
            rows[column + 8] = _mm512_shuffle_f32x4::<0b11_01_11_01>(even_low, even_high);
            rows[column + 12] = _mm512_shuffle_f32x4::<0b11_01_11_01>(odd_low, odd_high);
        }
    }
    rows
}

/// As [`transpose_f32`], with two numbers in 128 bits.
#[inline(always)]
unsafe fn transpose_f64(mut rows: [__m512d; 8]) -> [__m512d; 8] {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        for pair in 0..4 {
            let (a, b) = (rows[2 * pair], rows[2 * pair + 1]);
            rows[2 * pair] = _mm512_unpacklo_pd(a, b);
            rows[2 * pair + 1] = _mm512_unpackhi_pd(a, b);
        }
        for column in 0..2 {
            let group = [rows[column], rows[column + 2], rows[column + 4], rows[column + 6]];
            let even_low = _mm512_shuffle_f64x2::<0b10_00_10_00>(group[0], group[1]);
            let odd_low = _mm512_shuffle_f64x2::<0b11_01_11_01>(group[0], group[1]);
            let even_high = _mm512_shuffle_f64x2::<0b10_00_10_00>(group[2], group[3]);
            let odd_high = _mm512_shuffle_f64x2::<0b11_01_11_01>(group[2], group[3]);
            rows[column] = _mm512_shuffle_f64x2::<0b10_00_10_00>(even_low, even_high);
            rows[column + 2] = _mm512_shuffle_f64x2::<0b10_00_10_00>(odd_low, odd_high);
            rows[column + 4] = _mm512_shuffle_f64x2::<0b11_01_11_01>(even_low, even_high);
            rows[column + 6] = _mm512_shuffle_f64x2::<0b11_01_11_01>(odd_low, odd_high);
        }
    }
    rows
}

/// Transposes four elements of 16 bytes.
#[inline(always)]
unsafe fn transpose_wide(rows: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the caller guarantees AVX-512 foundation.
    unsafe {
        let even_low = _mm512_shuffle_i64x2::<0b10_00_10_00>(rows[0], rows[1]);
        let odd_low = _mm512_shuffle_i64x2::<0b11_01_11_01>(rows[0], rows[1]);
        let even_high = _mm512_shuffle_i64x2::<0b10_00_10_00>(rows[2], rows[3]);
        let odd_high = _mm512_shuffle_i64x2::<0b11_01_11_01>(rows[2], rows[3]);
        [
            _mm512_shuffle_i64x2::<0b10_00_10_00>(even_low, even_high),
            _mm512_shuffle_i64x2::<0b10_00_10_00>(odd_low, odd_high),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(even_low, even_high),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(odd_low, odd_high),
        ]
    }
}
