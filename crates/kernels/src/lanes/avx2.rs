//! Lanes of AVX2 with fused multiply-add: 8 single-precision or 4 double-precision numbers.

use std::arch::x86_64::*;

use super::{Complexes, Lanes, Vector};

x86_vector! {
    /// 8 single-precision numbers. A value exists only on a processor with AVX2 and fused multiply-add.
    F32x8(__m256): 8 of f32,
    _mm256_loadu_ps, _mm256_storeu_ps, _mm256_stream_ps, transpose_f32
}

x86_lanes! {
    F32x8 of f32: _mm256_set1_ps,
    _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps
}

x86_complexes! {
    F32x8:
    deinterleave_f32, deinterleave_in_order_f32, interleave_f32, interleave_in_order_f32
}

x86_vector! {
    /// 4 double-precision numbers. A value exists only on a processor with AVX2 and fused multiply-add.
    F64x4(__m256d): 4 of f64,
    _mm256_loadu_pd, _mm256_storeu_pd, _mm256_stream_pd, transpose_f64
}

x86_lanes! {
    F64x4 of f64: _mm256_set1_pd,
    _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_fmadd_pd, _mm256_fnmadd_pd
}

x86_vector! {
    /// 2 elements of 16 bytes, only to be moved. A value exists only on a processor with AVX2 and fused multiply-add.
    Wide2(__m256i): 2 of [u64; 2],
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, transpose_wide
}

#[inline(always)]
unsafe fn deinterleave_f32(low: __m256, high: __m256) -> (__m256, __m256) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let re = _mm256_shuffle_ps::<0b10_00_10_00>(low, high);
        let im = _mm256_shuffle_ps::<0b11_01_11_01>(low, high);
        (re, im)
    }
}

#[inline(always)]
unsafe fn deinterleave_in_order_f32(low: __m256, high: __m256) -> (__m256, __m256) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let first_halves = _mm256_permute2f128_ps::<0x20>(low, high);
        deinterleave_f32(first_halves, _mm256_permute2f128_ps::<0x31>(low, high))
    }
}

#[inline(always)]
unsafe fn interleave_f32(re: __m256, im: __m256) -> (__m256, __m256) {
    // SAFETY: the caller guarantees AVX2.
    unsafe { (_mm256_unpacklo_ps(re, im), _mm256_unpackhi_ps(re, im)) }
}

#[inline(always)]
unsafe fn interleave_in_order_f32(re: __m256, im: __m256) -> (__m256, __m256) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (low, high) = interleave_f32(re, im);
        (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
    }
}

/// Transposes within 128 bits first, then the halves of the vectors.
#[inline(always)]
unsafe fn transpose_f32(mut rows: [__m256; 8]) -> [__m256; 8] {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        // rows[4g + c]: column c of either half, of rows 4g to 4g + 3.
        for group in 0..2 {
            let at = 4 * group;
            let low01 = _mm256_castps_pd(_mm256_unpacklo_ps(rows[at], rows[at + 1]));
            let high01 = _mm256_castps_pd(_mm256_unpackhi_ps(rows[at], rows[at + 1]));
            let low23 = _mm256_castps_pd(_mm256_unpacklo_ps(rows[at + 2], rows[at + 3]));
            let high23 = _mm256_castps_pd(_mm256_unpackhi_ps(rows[at + 2], rows[at + 3]));
            rows[at] = _mm256_castpd_ps(_mm256_unpacklo_pd(low01, low23));
            rows[at + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low01, low23));
            rows[at + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high01, high23));
            rows[at + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high01, high23));
        }
        for column in 0..4 {
            let (a, b) = (rows[column], rows[column + 4]);
            rows[column] = _mm256_permute2f128_ps::<0x20>(a, b);
            rows[column + 4] = _mm256_permute2f128_ps::<0x31>(a, b);
        }
    }
    rows
}

/// As [`transpose_f32`], with two numbers in 128 bits.
#[inline(always)]
unsafe fn transpose_f64(mut rows: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        for pair in 0..2 {
            let (a, b) = (rows[2 * pair], rows[2 * pair + 1]);
            rows[2 * pair] = _mm256_unpacklo_pd(a, b);
            rows[2 * pair + 1] = _mm256_unpackhi_pd(a, b);
        }
        for column in 0..2 {
            let (a, b) = (rows[column], rows[column + 2]);
            rows[column] = _mm256_permute2f128_pd::<0x20>(a, b);
            rows[column + 2] = _mm256_permute2f128_pd::<0x31>(a, b);
        }
    }
    rows
}

/// Transposes two elements of 16 bytes.
#[inline(always)]
unsafe fn transpose_wide([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    // SAFETY: the caller guarantees AVX2.
    unsafe { [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)] }
}
