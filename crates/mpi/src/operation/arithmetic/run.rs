//! Predefined operations on consecutive basic elements.

use super::each::{Places, each};
use super::{extended, half};
use crate::datatype::Kind;
use crate::operation::predefined::Predefined::{
    self, And, BitAnd, BitOr, BitXor, Maximum, Minimum, Or, Product, Sum, Xor,
};

macro_rules! integers {
    ($t:ty, $op:expr, $at:expr) => {{
        let at = $at;
        match $op {
            Sum => each::<$t>(at, |a, b| a.wrapping_add(b)),
            Product => each::<$t>(at, |a, b| a.wrapping_mul(b)),
            Minimum => each::<$t>(at, |a, b| a.min(b)),
            Maximum => each::<$t>(at, |a, b| a.max(b)),
            BitAnd => each::<$t>(at, |a, b| a & b),
            BitOr => each::<$t>(at, |a, b| a | b),
            BitXor => each::<$t>(at, |a, b| a ^ b),
            And => each::<$t>(at, |a, b| <$t>::from(a != 0 && b != 0)),
            Or => each::<$t>(at, |a, b| <$t>::from(a != 0 || b != 0)),
            Xor => each::<$t>(at, |a, b| <$t>::from((a != 0) != (b != 0))),
            _ => {}
        }
    }};
}

macro_rules! floats {
    ($t:ty, $op:expr, $at:expr) => {{
        let at = $at;
        match $op {
            Sum => each::<$t>(at, |a, b| a + b),
            Product => each::<$t>(at, |a, b| a * b),
            Minimum => each::<$t>(at, |a, b| a.min(b)),
            Maximum => each::<$t>(at, |a, b| a.max(b)),
            _ => {}
        }
    }};
}

macro_rules! complex {
    ($t:ty, $op:expr, $at:expr) => {
        each::<[$t; 2]>($at, |[a, b], [c, d]| {
            if $op == Sum { [a + c, b + d] } else { [a * c - b * d, a * d + b * c] }
        })
    };
}

/// Computes result = left op right for equal basic elements.
///
/// # Safety
/// The places hold as many elements of this kind.
pub(super) unsafe fn apply_to_run(op: Predefined, kind: Kind, at: Places) {
    if op == Predefined::Replace {
        std::ptr::copy(at.left, at.result, (at.count * kind.bytes()) as usize);
        return;
    }
    match kind.as_number() {
        Kind::Signed(1) => integers!(i8, op, at),
        Kind::Signed(2) => integers!(i16, op, at),
        Kind::Signed(4) => integers!(i32, op, at),
        Kind::Signed(8) => integers!(i64, op, at),
        Kind::Signed(16) => integers!(i128, op, at),
        Kind::Unsigned(1) | Kind::Byte | Kind::Logical(1) => integers!(u8, op, at),
        Kind::Unsigned(2) | Kind::Logical(2) => integers!(u16, op, at),
        Kind::Unsigned(4) | Kind::Logical(4) => integers!(u32, op, at),
        Kind::Unsigned(8) | Kind::Logical(8) => integers!(u64, op, at),
        Kind::Unsigned(16) | Kind::Logical(16) => integers!(u128, op, at),
        Kind::Float(2) => half::apply(op, at),
        Kind::Float(4) => floats!(f32, op, at),
        Kind::Float(8) => floats!(f64, op, at),
        Kind::Complex(4) => complex!(f32, op, at),
        Kind::Complex(8) => complex!(f64, op, at),
        Kind::LongDouble | Kind::ComplexLongDouble => {
            // These are combined in place.
            if at.right != at.result.cast_const() {
                std::ptr::copy(at.right, at.result, (at.count * kind.bytes()) as usize);
            }
            let left = at.left.cast_mut();
            if kind == Kind::LongDouble {
                extended::apply(op, left, at.result, at.count);
            } else {
                extended::apply_complex(op, left, at.result, at.count);
            }
        }
        // `Predefined::applies` admits no others.
        _ => {}
    }
}
