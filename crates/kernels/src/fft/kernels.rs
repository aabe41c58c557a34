//! The kernels of every length, compiled for every instruction set.

use num_complex::Complex32;

use super::tile::{self, Job};
#[cfg(target_arch = "x86_64")]
use super::{avx512_rows, long_rows, long_rows::Parts};
use crate::instructions::Instructions;
#[cfg(target_arch = "x86_64")]
use crate::lanes::avx512::F32x16;
use crate::lanes::{Array, Vector};

/// A compiled kernel. Each requires of its job what the function of the same name in [`tile`] requires.
pub(super) type Kernel = unsafe fn(&Job<f32>);

/// A compiled kernel for rows in parts.
#[cfg(target_arch = "x86_64")]
pub(super) type KernelInParts = unsafe fn(&Job<f32>, &Parts<f32>);

/// The kernels of one length for one instruction set.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// Absent if RustFFT is faster: from 256 points on, except with AVX-512.
    pub(super) rows: Option<Kernel>,
    /// As `rows`. Absent if there are no kernels for rows of 256 points and more.
    #[cfg(target_arch = "x86_64")]
    pub(super) rows_in_parts: Option<KernelInParts>,
    /// The roots for `rows`; the other kernels use those of [`tile::roots`].
    pub(super) rows_roots: fn(usize) -> Vec<Complex32>,
    /// Through the caches, and past them. Absent if a transform is shorter than half a vector, and from 2048 points on.
    pub(super) turned: Option<[Kernel; 2]>,
    /// Absent from 2048 points on.
    pub(super) columns: Option<Kernel>,
    /// Number of transforms in a tile of columns, or of turned rows.
    pub(super) lanes: usize,
    /// Number of transforms in a tile of rows.
    pub(super) rows_per_tile: usize,
}

macro_rules! compile {
    ($(#[$feature:meta])* $name:ident: $lanes:ty, streams: $streams:literal) => {
        mod $name {
            use super::*;

            $(#[$feature])*
            unsafe fn rows<const N: usize>(job: &Job<f32>) {
                // SAFETY: the caller guarantees the job and the instructions.
                unsafe { tile::rows::<$lanes, N>(job) }
            }

            $(#[$feature])*
            unsafe fn turned<const N: usize, const STREAMED: bool>(job: &Job<f32>) {
                // SAFETY: the caller guarantees the job and the instructions.
                unsafe { tile::turned::<$lanes, N, STREAMED>(job) }
            }

            $(#[$feature])*
            unsafe fn columns<const N: usize>(job: &Job<f32>) {
                // SAFETY: the caller guarantees the job and the instructions.
                unsafe { tile::columns::<$lanes, N>(job) }
            }

            fn of<const N: usize>(rows: Option<Kernel>) -> Kernels {
                Kernels {
                    rows,
                    #[cfg(target_arch = "x86_64")]
                    rows_in_parts: None,
                    rows_roots: tile::roots,
                    turned: (2 * N >= <$lanes>::COUNT)
                        .then_some([turned::<N, false>, turned::<N, $streams>]),
                    columns: Some(columns::<N>),
                    lanes: <$lanes>::COUNT,
                    rows_per_tile: tile::rows_per_tile::<$lanes>(N),
                }
            }

            pub(super) fn kernels(length: usize) -> Option<Kernels> {
                Some(match length {
                    2 => of::<2>(Some(rows::<2>)),
                    4 => of::<4>(Some(rows::<4>)),
                    8 => of::<8>(Some(rows::<8>)),
                    16 => of::<16>(Some(rows::<16>)),
                    32 => of::<32>(Some(rows::<32>)),
                    64 => of::<64>(Some(rows::<64>)),
                    128 => of::<128>(Some(rows::<128>)),
                    256 => of::<256>(None),
                    512 => of::<512>(None),
                    1024 => of::<1024>(None),
                    _ => return None,
                })
            }
        }
    };
}

// Vectors of 16 bytes, which every architecture has: wider ones are no faster, and every lane is compiled separately.
compile!(portable: Array<f32, 4>, streams: false);
#[cfg(target_arch = "x86_64")]
compile!(#[target_feature(enable = "avx2,fma")] avx2: crate::lanes::avx2::F32x8, streams: true);
#[cfg(target_arch = "x86_64")]
compile!(#[target_feature(enable = "avx512f,avx2,fma")] avx512: crate::lanes::avx512::F32x16, streams: true);

/// Transforms rows of `B` points for each lane.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn long_rows<const B: usize>(job: &Job<f32>) {
    // SAFETY: the caller guarantees the job and the instructions.
    unsafe { long_rows::rows::<F32x16, 16, B>(job) }
}

/// As [`long_rows()`], for rows in parts.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn long_rows_in_parts<const B: usize>(job: &Job<f32>, parts: &Parts<f32>) {
    // SAFETY: the caller guarantees the job, the parts and the instructions.
    unsafe { long_rows::rows_in_parts::<F32x16, 16, B>(job, parts) }
}

/// Returns the kernels of one length for AVX-512, if rows have kernels of their own.
#[cfg(target_arch = "x86_64")]
fn avx512_with_rows(length: usize) -> Option<Kernels> {
    type Rows = (Kernel, Option<KernelInParts>);
    let (rows, rows_in_parts): Rows = match length {
        8 => (avx512_rows::rows::<8>, None),
        16 => (avx512_rows::rows::<16>, None),
        32 => (avx512_rows::rows::<32>, None),
        64 => (avx512_rows::rows::<64>, None),
        128 => (avx512_rows::rows::<128>, None),
        256 => (long_rows::<16>, Some(long_rows_in_parts::<16>)),
        512 => (long_rows::<32>, Some(long_rows_in_parts::<32>)),
        1024 => (long_rows::<64>, Some(long_rows_in_parts::<64>)),
        2048 => (long_rows::<128>, Some(long_rows_in_parts::<128>)),
        4096 => (long_rows::<256>, Some(long_rows_in_parts::<256>)),
        8192 => (long_rows::<512>, Some(long_rows_in_parts::<512>)),
        _ => return avx512::kernels(length),
    };
    let tiles = avx512::kernels(length);
    Some(Kernels {
        rows: Some(rows),
        rows_in_parts,
        rows_roots: if length < 256 { avx512_rows::roots } else { long_rows::roots::<F32x16> },
        turned: tiles.and_then(|tiles| tiles.turned),
        columns: tiles.and_then(|tiles| tiles.columns),
        lanes: F32x16::COUNT,
        rows_per_tile: if length == 8 { 2 } else { 1 },
    })
}

/// Returns the kernels of one length for `instructions`, which this processor has.
pub(super) fn kernels(length: usize, instructions: Instructions) -> Option<Kernels> {
    match instructions {
        Instructions::Portable => portable::kernels(length),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => avx2::kernels(length),
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => avx512_with_rows(length),
        #[cfg(not(target_arch = "x86_64"))]
        _ => None,
    }
}
