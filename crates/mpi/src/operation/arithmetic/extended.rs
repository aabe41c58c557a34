//! Arithmetic on C's long double, for which Rust has no type: the ten-byte numbers of the x87, in sixteen bytes.

use std::cmp::Ordering;

use crate::operation::predefined::Predefined::{self, Maximum, Minimum, Product, Sum};

/// True if this machine has such numbers.
pub(crate) const HAS_LONG_DOUBLE: bool = cfg!(target_arch = "x86_64");

/// Distance between numbers.
const STRIDE: usize = 16;

#[cfg(target_arch = "x86_64")]
macro_rules! x87 {
    ($name:ident, $instruction:literal) => {
        /// Computes target = source op target.
        unsafe fn $name(source: *const u8, target: *mut u8) {
            std::arch::asm!(
                "fld tbyte ptr [{source}]",
                "fld tbyte ptr [{target}]",
                $instruction,
                "fstp tbyte ptr [{target}]",
                source = in(reg) source,
                target = in(reg) target,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
    };
}

#[cfg(target_arch = "x86_64")]
x87!(add, "faddp st(1), st");
#[cfg(target_arch = "x86_64")]
x87!(multiply, "fmulp st(1), st");
#[cfg(target_arch = "x86_64")]
x87!(reverse_subtract, "fsubp st(1), st");

#[cfg(not(target_arch = "x86_64"))]
mod absent {
    pub(super) unsafe fn add(_: *const u8, _: *mut u8) {}
    pub(super) unsafe fn multiply(_: *const u8, _: *mut u8) {}
    pub(super) unsafe fn reverse_subtract(_: *const u8, _: *mut u8) {}
}
#[cfg(not(target_arch = "x86_64"))]
use absent::*;

/// Compares two numbers: by sign, then by exponent and mantissa, which is the order of the bits. Returns `None` for a
/// NaN.
pub(super) unsafe fn compare(one: *const u8, other: *const u8) -> Option<Ordering> {
    let key = |place: *const u8| {
        let mantissa = place.cast::<u64>().read_unaligned();
        let high = place.add(8).cast::<u16>().read_unaligned();
        let (negative, exponent) = (high >> 15 == 1, high & 0x7fff);
        let not_a_number = exponent == 0x7fff && mantissa << 1 != 0;
        let size = i128::from(exponent) << 64 | i128::from(mantissa);
        (!not_a_number).then_some(if negative { -size } else { size })
    };
    Some(key(one)?.cmp(&key(other)?))
}

/// Computes target = source op target, number by number.
///
/// # Safety
/// Both are `count` numbers.
pub(super) unsafe fn apply(op: Predefined, input: *const u8, inout: *mut u8, count: i64) {
    for index in 0..count as usize {
        let (source, target) = (input.add(index * STRIDE), inout.add(index * STRIDE));
        let order = compare(source, target);
        match op {
            Sum => add(source, target),
            Product => multiply(source, target),
            Minimum if order == Some(Ordering::Less) => std::ptr::copy(source, target, STRIDE),
            Maximum if order == Some(Ordering::Greater) => std::ptr::copy(source, target, STRIDE),
            _ => {}
        }
    }
}

/// Computes the same for complex numbers, as sums and products.
///
/// # Safety
/// Both are `count` complex numbers.
pub(super) unsafe fn apply_complex(op: Predefined, input: *const u8, inout: *mut u8, count: i64) {
    if op == Sum {
        return apply(Sum, input, inout, 2 * count);
    }
    for index in 0..count as usize {
        let [a, b] = [0, 1].map(|part| input.add((2 * index + part) * STRIDE));
        let [c, d] = [0, 1].map(|part| inout.add((2 * index + part) * STRIDE));
        // (a + bi)(c + di) = (ac - bd) + (ad + bc)i
        let mut products = [[0_u8; STRIDE]; 4];
        for (place, from) in products.iter_mut().zip([c, d, d, c]) {
            std::ptr::copy(from, place.as_mut_ptr(), STRIDE);
        }
        for (place, factor) in products.iter_mut().zip([a, b, a, b]) {
            multiply(factor, place.as_mut_ptr());
        }
        let [ac, bd, ad, bc] = &mut products;
        reverse_subtract(ac.as_ptr(), bd.as_mut_ptr());
        add(ad.as_ptr(), bc.as_mut_ptr());
        std::ptr::copy(bd.as_ptr(), c, STRIDE);
        std::ptr::copy(bc.as_ptr(), d, STRIDE);
    }
}
