//! The peak probe: the maximum rate of floating-point operations of a core.
//!
//! It executes independent chains of fused multiply-adds, as many as keep every multiplier busy, without loads and
//! stores. A rate divided by this one is a share of the core's peak, which is measured and not taken from a data sheet.

use std::hint::black_box;

use crate::instructions::Instructions;
use crate::lanes::{Array, Lanes};

/// Precision of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// Executes `rounds` rounds with the widest instructions of this processor. Returns the number of operations, where a
/// multiply-add is two.
///
/// # Panics
/// If the chains have a wrong result: the rate of a wrong computation is meaningless.
pub fn run(precision: Precision, rounds: u64) -> u64 {
    let instructions = Instructions::best();
    let (lanes, value) = match precision {
        Precision::Single => single(instructions, rounds),
        Precision::Double => double(instructions, rounds),
    };
    // Each chain goes from 0 towards the fixed point 2 of x / 2 + 1.
    let expected = 2.0 - 2.0 * 0.5f64.powf(rounds as f64);
    assert!((value - expected).abs() < 1e-5, "a chain ended at {value}, not at {expected}");
    2 * lanes * CHAINS as u64 * rounds
}

/// Two multipliers with a latency of four or five cycles need ten chains; sixteen vectors of AVX2 leave room for
/// twelve.
const CHAINS: usize = 12;

fn single(instructions: Instructions, rounds: u64) -> (u64, f64) {
    let (lanes, value) = match instructions {
        // SAFETY: the instructions are the best that this processor has.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { (16, avx512_single(rounds)) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { (8, avx2_single(rounds)) },
        // SAFETY: portable lanes need no instructions.
        _ => unsafe { (4, chains::<Array<f32, 4>>(0.0, 0.5, 1.0, rounds)) },
    };
    (lanes, value.into())
}

fn double(instructions: Instructions, rounds: u64) -> (u64, f64) {
    match instructions {
        // SAFETY: the instructions are the best that this processor has.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { (8, avx512_double(rounds)) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { (4, avx2_double(rounds)) },
        // SAFETY: portable lanes need no instructions.
        _ => unsafe { (2, chains::<Array<f64, 2>>(0.0, 0.5, 1.0, rounds)) },
    }
}

/// Returns the value of the first lane of the last chain; the others are hidden from the optimiser, not from the core.
#[inline(always)]
unsafe fn chains<V: Lanes>(
    start: V::Element,
    factor: V::Element,
    addend: V::Element,
    rounds: u64,
) -> V::Element {
    // SAFETY: the caller guarantees the instructions; a vector is stored into room for its square.
    unsafe {
        let factor = V::splat(black_box(factor));
        let addend = V::splat(black_box(addend));
        let mut chains = [V::splat(black_box(start)); CHAINS];
        for _ in 0..rounds {
            for chain in &mut chains {
                *chain = chain.mul_add(factor, addend);
            }
        }
        let chains = black_box(chains);
        let mut room = chains[0].repeat();
        let first = room.as_mut().as_mut_ptr().cast::<V::Element>();
        chains[CHAINS - 1].store(first);
        *first
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_single(rounds: u64) -> f32 {
    // SAFETY: the caller guarantees the instructions.
    unsafe { chains::<crate::lanes::avx512::F32x16>(0.0, 0.5, 1.0, rounds) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_double(rounds: u64) -> f64 {
    // SAFETY: the caller guarantees the instructions.
    unsafe { chains::<crate::lanes::avx512::F64x8>(0.0, 0.5, 1.0, rounds) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_single(rounds: u64) -> f32 {
    // SAFETY: the caller guarantees the instructions.
    unsafe { chains::<crate::lanes::avx2::F32x8>(0.0, 0.5, 1.0, rounds) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_double(rounds: u64) -> f64 {
    // SAFETY: the caller guarantees the instructions.
    unsafe { chains::<crate::lanes::avx2::F64x4>(0.0, 0.5, 1.0, rounds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_grow_with_the_rounds() {
        for precision in [Precision::Single, Precision::Double] {
            let ten = run(precision, 10);
            assert!(ten > 0 && run(precision, 1000) == 100 * ten);
        }
    }
}
